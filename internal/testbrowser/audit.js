// What a program can check of WCAG 2.2 without the tree of the browser; see Tab.Audit.
() => {
  const faults = [];
  const shown = (e) => e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && e.getClientRects().length > 0;
  const name = (e) => `${e.tagName.toLowerCase()}${e.id ? "#" + e.id : ""}${e.classList.length ? "." + [...e.classList].join(".") : ""}`;
  if (!document.documentElement.lang) faults.push("the page has no language (3.1.1)");
  if (!document.title) faults.push("the page has no title (2.4.2)");
  for (const landmark of ["header", "main", "footer"]) if (!document.querySelector(landmark)) faults.push(`there is no ${landmark} (1.3.1)`);
  if (!document.querySelector("[aria-live], [role=status], [role=alert]")) faults.push("no region tells of changes (4.1.3)");

  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) faults.push(`two elements are called ${id} (4.1.2)`);
  for (const attr of ["for", "aria-labelledby", "aria-describedby", "aria-controls"]) {
    for (const e of document.querySelectorAll(`[${attr}]`)) for (const id of e.getAttribute(attr).split(/\s+/)) if (!document.getElementById(id)) faults.push(`${name(e)}: ${attr} names ${id}, which is not there (4.1.2)`);
  }
  let level = 0;
  for (const h of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const n = Number(h.tagName[1]);
    if (n > level + 1) faults.push(`${name(h)} "${h.textContent}" follows a heading of level ${level} (1.3.1)`);
    level = n;
  }
  for (const e of document.querySelectorAll("[tabindex]")) if (Number(e.getAttribute("tabindex")) > 0) faults.push(`${name(e)} changes the order of the focus (2.4.3)`);
  for (const e of document.querySelectorAll("[aria-hidden=true]")) if (e.matches("button, a, input, select, [tabindex]") || e.querySelector("button, a, input, select, [tabindex]")) faults.push(`${name(e)} is hidden and takes the focus (4.1.2)`);
  for (const e of document.querySelectorAll("button, select, input:not([type=checkbox])")) {
    const r = e.getBoundingClientRect();
    if (shown(e) && (r.height < 23.5 && e.type !== "range" || r.width < 23.5)) faults.push(`${name(e)} is ${Math.round(r.width)}x${Math.round(r.height)} pixels, less than 24 (2.5.8)`);
  }
  for (const e of document.querySelectorAll("img:not([alt]), iframe:not([title])")) faults.push(`${name(e)} has no text in its place (1.1.1)`);

  // contrast: the colour of each text against the first ground behind it that is opaque
  const rgb = (text) => {
    const g = document.createElement("canvas").getContext("2d");
    g.fillStyle = text;
    g.fillRect(0, 0, 1, 1);
    return [...g.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => {
    for (let p = e; p; p = p.parentElement) {
      const box = p.ownerSVGElement && [...p.children].find((c) => ["rect", "circle"].includes(c.tagName));
      const c = rgb(box && box !== e ? getComputedStyle(box).fill : getComputedStyle(p).backgroundColor);
      if (c[3] > 250) return c;
    }
    return [255, 255, 255, 255];
  };
  const seen = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || ["SCRIPT", "STYLE", "OPTION", "title"].includes(e.tagName) || !shown(e) || e.closest(":disabled")) continue;
    const style = getComputedStyle(e), ink = rgb(e.ownerSVGElement ? style.fill : style.color), back = ground(e);
    const [a, b] = [light(ink), light(back)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05), px = parseFloat(style.fontSize);
    const least = px >= 24 || (px >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const key = `${name(e)} ${ratio.toFixed(2)}`;
    if (ratio < least && !seen.has(key)) seen.add(key), faults.push(`${name(e)} "${walk.currentNode.textContent.trim().slice(0, 30)}" has a contrast of ${ratio.toFixed(2)}, less than ${least} (1.4.3)`);
  }
  return faults;
}
