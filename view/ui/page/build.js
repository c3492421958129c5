"use strict";
// Elements that a topology needs, made once.

let lanes = [], nodes = [];

function build() {
  sizes();
  document.title = topo.title + " – softswitch";
  $("title").textContent = topo.title;
  $("world").textContent = topo.world === "live" && !isLive() ? "recorded" : topo.world;
  for (const g of ["lanes", "badges", "nodes", "travel", "tags", "entries", "pick"]) $(g).replaceChildren();
  chosen = null;
  buildLanes();
  buildNodes();
  buildPick();
  buildControl();
  buildLegend();
  $("live").hidden = $("slowly-label").hidden = !isLive();
  $("save").hidden = !!$("recorded");
  $("details").replaceChildren(html("p", topo.description || "A click on the drawing, or this list, selects a switch, a host or a link."));
  $("do").replaceChildren();
}

function buildLanes() {
  lanes = [];
  topo.links.forEach((link, i) => {
    for (const d of [2 * i, 2 * i + 1]) {
      const g = lane(d);
      const points = [0, 0.2, 0.4, 0.6, 0.8, 1].map((t) => g.point(t)).map((p) => `${p.x.toFixed(1)},${p.y.toFixed(1)}`).join(" ");
      const line = el("polyline", { class: "lane", points, "data-dir": d });
      $("lanes").append(line);
      lanes.push({ ...g, line });
    }
    const a = lanes[2 * i].point(0), b = lanes[2 * i + 1].point(0);
    const hit = el("line", { class: "hit", x1: a.x, y1: a.y, x2: b.x, y2: b.y, "data-link": link.name }, el("title", {}, link.name));
    hit.addEventListener("click", () => choose({ kind: "link", i }));
    $("lanes").append(hit);
    lanes[2 * i].hit = hit;
  });
  for (const links of topo.lags || []) for (const t of [0.08, 0.92]) $("lanes").append(bundle(links, t));
}

// bundle is a ring round links that act as one, at a part of their way.
function bundle(links, t) {
  const from = topo.links[links[0]].a;
  const across = links.flatMap((i) => (topo.links[i].a === from ? [lanes[2 * i].point(t), lanes[2 * i + 1].point(1 - t)] : [lanes[2 * i].point(1 - t), lanes[2 * i + 1].point(t)]));
  let far = [across[0], across[1]], wide = 0;
  for (const p of across) for (const q of across) if (Math.hypot(p.x - q.x, p.y - q.y) > wide) wide = Math.hypot(p.x - q.x, p.y - q.y), far = [p, q];
  const [p, q] = far, angle = (Math.atan2(q.y - p.y, q.x - p.x) * 180) / Math.PI;
  return el("ellipse", { class: "bundle", rx: (wide / 2 + 5).toFixed(1), ry: 4, transform: `translate(${((p.x + q.x) / 2).toFixed(1)} ${((p.y + q.y) / 2).toFixed(1)}) rotate(${angle.toFixed(1)})` });
}

function buildNodes() {
  nodes = topo.nodes.map((n, i) => {
    const p = place(n), drawn = size[n.kind], k = scale[n.kind], s = { w: drawn.w / k, h: drawn.h / k };
    const g = el("g", { class: "node " + n.kind, transform: `translate(${p.x} ${p.y}) scale(${k})`, tabindex: i === 0 ? 0 : -1, role: "button", "aria-label": `${n.kind} ${n.name}`, "data-node": n.name });
    g.append(el("rect", { class: "box", x: -s.w, y: -s.h, width: 2 * s.w, height: 2 * s.h, rx: n.kind === "host" ? 12 : 6 }));
    const name = el("text", { y: baseline(n.kind) }, n.name);
    if (k < 0.6) name.style.fontSize = `${9 / k}px`;
    if (n.name.length * letter(k) > 2 * s.w) name.setAttribute("textLength", 2 * s.w - 6), name.setAttribute("lengthAdjust", "spacingAndGlyphs");
    g.append(name);
    const node = { g, p, s: drawn, slots: [] };
    if (n.kind === "switch") buildSlots(n, node, s.w);
    g.addEventListener("click", () => choose({ kind: "node", i }));
    g.addEventListener("keydown", (e) => nodeKey(e, i));
    $("nodes").append(g);
    return node;
  });
}

// baseline is where a name is written in a box.
const baseline = (kind) => (kind === "host" ? (presented() ? 8 : 5) : presented() ? -10 : -13);

// letter is the width of one, in units of a box that is scaled so.
const letter = (k) => (presented() ? 14.5 : k < 0.6 ? 5.4 / k : 8.5);

const BAR = 28; // height of a bar that is full
const TWO = 2;  // priorities that a port's slot has room for

function buildSlots(n, node, half) {
  const step = (2 * half - 10) / Math.max(1, n.ports.length), width = Math.max(1, Math.min(20, step - 2));
  n.ports.forEach((_, k) => {
    const x = -half + 5 + step * (k + 0.5) - width / 2;
    node.g.append(el("rect", { class: "slot", x, y: -3, width, height: BAR }));
    const bars = [];
    for (let c = 0; c < TWO; c++) {
      const fill = el("rect", { class: "fill", width: width / TWO, x: x + (c * width) / TWO, height: 0 });
      bars.push(fill);
      node.g.append(fill);
    }
    const limit = el("path", { class: "limit", d: "" });
    node.g.append(limit);
    node.slots.push({ x, width, bars, limit });
  });
}

// nodeKey moves between nodes by the arrow keys, to the nearest in that direction.
function nodeKey(e, i) {
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
  if (e.key === "Enter" || e.key === " ") {
    choose({ kind: "node", i });
    e.preventDefault();
    e.stopPropagation();
    return;
  }
  if (!way) return;
  e.preventDefault();
  let best = -1, least = Infinity;
  nodes.forEach((n, j) => {
    const x = n.p.x - nodes[i].p.x, y = n.p.y - nodes[i].p.y;
    const along = x * way[0] + y * way[1], aside = Math.abs(x * way[1]) + Math.abs(y * way[0]);
    if (along > 1 && along + 2 * aside < least) least = along + 2 * aside, best = j;
  });
  if (best < 0) return;
  nodes[i].g.setAttribute("tabindex", -1);
  nodes[best].g.setAttribute("tabindex", 0);
  nodes[best].g.focus();
}

function buildPick() {
  const pick = $("pick");
  pick.append(new Option("a node or link", ""));
  topo.nodes.forEach((n, i) => pick.append(new Option(`${n.kind} ${n.name}`, "node " + i)));
  topo.links.forEach((l, i) => pick.append(new Option(`link ${l.name}`, "link " + i)));
}

// buildLegend leaves out what this fabric cannot show.
function buildLegend() {
  const has = { lag: !!topo.lags, strict: topo.ends.some((e) => (e.weights || []).includes(0)), lldp: topo.ends.some((e) => e.lldp) };
  for (const li of $("legend").querySelectorAll("[data-of]")) li.hidden = !has[li.dataset.of];
}

function buildControl() {
  $("control").hidden = !topo.choices;
  if (!topo.choices) return;
  $("readonly").hidden = token !== "";
  for (const b of $("orders").querySelectorAll("button, select")) b.disabled = token === "";
  fillSelect($("detectors"), topo.choices.detectors, topo.detector);
  fillSelect($("responses"), topo.choices.responses, topo.response);
  const breaking = BREAKING.filter((r) => topo.choices.responses.includes(r));
  fillSelect($("break-by"), breaking, breaking[0]);
}

const BREAKING = ["cure", "drop", "bubble"]; // responses that a deadlock that stands is broken with, the usual one first

function fillSelect(select, values, now) {
  select.replaceChildren(...values.map((v) => new Option(v, v, v === now, v === now)));
}
