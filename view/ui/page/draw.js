"use strict";
// One state, drawn.

let lastStatus = "";

function draw() {
  stale = false;
  const s = states[at];
  if (!topo || !s) {
    if (gone) say("gone", "NO LAB", gone);
    return;
  }
  drawLanes(s);
  drawNodes(s);
  drawBadges(s);
  drawMeasures(s);
  drawTags(s);
  drawLabels(s);
  drawWaits(s);
  drawWords(s);
  drawWith(s);
  drawTime(s);
  drawEntries();
  drawSteps(s);
  drawDetails(s);
  drawMessages(s);
  drawPrice(s);
}

function drawLanes(s) {
  const cls = lanes.map((_, d) => {
    const load = s.load[d];
    return load === 0 ? "lane" : load < 25 ? "lane load1" : load < 50 ? "lane load2" : load < 80 ? "lane load3" : "lane load4";
  });
  for (const q of s.paused || []) cls[q.d] = "lane paused";
  if (s.deadlock) {
    const over = s.deadlock.over ? " over" : "";
    if (!over) for (const q of s.deadlock.victims || []) cls[q.d] = "lane victim";
    for (const q of s.deadlock.core) cls[q.d] = "lane core" + over;
  }
  const down = new Set(s.down || []);
  lanes.forEach((l, d) => {
    const c = down.has(d >> 1) ? "lane down" : cls[d];
    if (l.cls !== c) l.line.setAttribute("class", (l.cls = c));
  });
  crosses.forEach((c, i) => { // one that is not seen is not there: text that is laid out costs
    if (down.has(i) !== c.isConnected) down.has(i) ? $("badges").append(c) : c.remove();
  });
}

function drawNodes(s) {
  const loop = new Set(), silent = new Set(s.silent || []);
  for (const q of s.deadlock ? s.deadlock.core : []) loop.add(sender(q.d));
  nodes.forEach((n, i) => {
    n.g.classList.toggle("in-loop", loop.has(i));
    n.g.classList.toggle("silent", silent.has(i));
    n.g.classList.toggle("is-trigger", !!s.declared && s.declared.trigger === i);
    n.g.classList.toggle("on", !!chosen && chosen.kind === "node" && chosen.i === i);
    for (const slot of n.slots) slot.used = 0;
  });
  for (const l of lanes) if (l.hit) l.hit.classList.remove("on");
  if (chosen && chosen.kind === "link") lanes[2 * chosen.i].hit.classList.add("on");
  for (const g of s.groups || []) {
    const node = sender(g.d ^ 1), slot = nodes[node].slots[topo.nodes[node].ports.indexOf(g.d ^ 1)];
    if (slot && slot.used < TWO) drawBar(slot, g);
  }
  for (const n of nodes) for (const slot of n.slots) slot.bars.slice(slot.used).forEach((b) => put(b, { height: 0 }));
}

function drawBar(slot, g) {
  const bar = slot.bars[slot.used++], high = Math.max(1, BAR * Math.min(1, g.b / g.m)), bottom = BAR - 3;
  put(bar, { y: (bottom - high).toFixed(1), height: high.toFixed(1), class: g.off ? "fill off" : "fill" });
  const y = bottom - BAR * Math.min(1, g.x / g.m);
  put(slot.limit, { d: `M${slot.x - 1} ${y.toFixed(1)}h${slot.width + 2}` });
}

const sender = (d) => (d & 1 ? topo.links[d >> 1].b : topo.links[d >> 1].a);
const receiver = (d) => sender(d ^ 1);
const arrow = (d) => `${topo.nodes[sender(d)].name} → ${topo.nodes[receiver(d)].name}`;

function drawBadges(s) {
  for (const old of $("badges").querySelectorAll(".temporary")) old.remove();
  const priorities = new Map();
  for (const q of s.paused || []) priorities.set(q.d, [...(priorities.get(q.d) || []), q.c]);
  const taken = [];
  for (const loop of s.deadlock ? s.deadlock.loops : []) {
    loop.forEach((q, i) => {
      const p = free(lanes[q.d], [0.6, 0.68, 0.52, 0.75], taken);
      $("badges").append(el("g", { class: "temporary", transform: `translate(${p.x} ${p.y})` }, el("circle", { class: "step", r: 12 }), el("text", { class: "step-text", y: 5 }, String(i + 1))));
    });
  }
  for (const [d, list] of priorities) {
    const p = free(lanes[d], [0.27, 0.17, 0.37, 0.45, 0.1], taken), text = "‖" + list.join(","), w = 14 + 7 * text.length;
    $("badges").append(el("g", { class: "temporary", transform: `translate(${p.x} ${p.y})`, "data-paused": d },
      el("title", {}, `${arrow(d)} is paused, priority ${list.join(", ")}`),
      el("rect", { class: "pause-badge", x: -w / 2, y: -9, width: w, height: 18, rx: 4 }), el("text", { class: "pause-text", y: 4.5 }, text)));
  }
}

// drawMeasures writes what responses do to a queue at its sender.
function drawMeasures(s) {
  for (const m of s.actions || []) {
    const p = lanes[m.d].point(0.5), w = 12 + 6.6 * m.w.length;
    $("badges").append(el("g", { class: "temporary", transform: `translate(${p.x} ${p.y})`, "data-action": m.w },
      el("title", {}, `${arrow(m.d)}, priority ${m.c}: ${m.w}, by a response`),
      el("rect", { class: "action-badge", x: -w / 2, y: -9, width: w, height: 18, rx: 9 }), el("text", { class: "action-text", y: 4 }, m.w)));
  }
}

// free is the first of these places along a lane that is far enough from all that are taken,
// and takes it; the first of all if none is.
function free(lane, places, taken) {
  const clear = (p) => taken.every((t) => Math.hypot(t.x - p.x, t.y - p.y) > 32);
  const p = places.map(lane.point).find(clear) || lane.point(places[0]);
  taken.push(p);
  return p;
}

function drawTags(s) {
  $("tags").replaceChildren();
  for (const i of s.storms || []) tag(i, "‖∞ STORM", "storm", 92, 1).setAttribute("data-storm", topo.nodes[i].name);
  for (const i of s.slow_hosts || []) tag(i, "SLOW", "storm", 56, 1).setAttribute("data-slow", topo.nodes[i].name);
  const d = s.declared;
  if (!d) return;
  if (d.trigger >= 0) {
    const t = tag(d.trigger, "★ INITIAL TRIGGER", "trigger", 172, -1);
    t.setAttribute("data-trigger", topo.nodes[d.trigger].name);
  }
  tag(d.node, d.true ? "declared it" : "declared, not true", "finder", d.true ? 92 : 140, 1);
}

// tag writes under or over a node.
function tag(i, text, cls, width, side) {
  const n = nodes[i], big = document.body.classList.contains("present") ? 1.25 : 1, h = 24 * big;
  width *= big;
  const y = n.p.y + side * (n.s.h + h / 2 + 5);
  const x = Math.min(W - width / 2 - 4, Math.max(width / 2 + 4, n.p.x));
  const g = el("g", { class: "tag " + cls, transform: `translate(${x} ${Math.min(H - h / 2 - 2, Math.max(h / 2 + 2, y))})` },
    el("rect", { x: -width / 2, y: -h / 2, width, height: h }), el("text", { y: 5 }, text));
  $("tags").append(g);
  return g;
}

// drawLabels lets labels travel upstream; where motion is not wanted, or time stands still,
// they stand half way.
function drawLabels(s) {
  $("travel").replaceChildren();
  const moving = (follow || playing) && !calm.matches;
  for (const l of (s.labels || []).slice(0, 80)) {
    const [from, to] = l.down ? [0.12, 0.92] : [0.92, 0.12], p = lanes[l.d].point(from), q = lanes[l.d].point(to);
    const shape = l.down ? { class: "label asks", r: 7 } : { class: "label", d: "M0-8L8 0 0 8-8 0z" };
    const mark = el(l.down ? "circle" : "path", shape, el("title", {}, labelText(l)));
    mark.addEventListener("click", () => choose({ kind: "link", i: l.d >> 1 }));
    const spot = (v) => `translate(${v.x}px, ${v.y}px)`;
    mark.style.transform = spot(lanes[l.d].point(l.down ? 0.3 : 0.7));
    $("travel").append(mark);
    if (moving) mark.animate([{ transform: spot(p) }, { transform: spot(q) }], { duration: 450, fill: "forwards", easing: "ease-in-out" });
  }
}

const labelText = (l) => `${l.down ? "a question about " : ""}label ${topo.nodes[l.o].name}#${l.seq}`;

// drawWaits draws what waits for what: from the priority group at the far end of a queue to the
// queue that its bytes are in. All of it, or what hangs together with what is selected.
function drawWaits(s) {
  $("waits").replaceChildren();
  if (!$("show-waits").checked) return;
  for (const w of s.waits || []) {
    const a = lanes[w.from.d], b = lanes[w.to.d], p = a.point(0.86), q = b.point(0.14), n = nodes[receiver(w.from.d)].p;
    const path = el("path", { class: w.b > w.x ? "wait for-good" : "wait", d: `M${p.x} ${p.y}Q${n.x} ${n.y} ${q.x} ${q.y}`, "data-wait": `${w.from.d} ${w.to.d}` },
      el("title", {}, waitText(w)));
    $("waits").append(path);
  }
}

const waitText = (w) => `${arrow(w.from.d)} waits for ${arrow(w.to.d)}: ${w.b} B of priority ${w.from.c} are there, XON is at ${w.x} B`;

function drawWords(s) {
  if (gone && at === states.length - 1) return say("gone", "ENDED", gone);
  const problem = s.problem ? " Not to be trusted: " + s.problem : "";
  const silent = (s.silent || []).length ? ` No answer from ${s.silent.map((i) => topo.nodes[i].name).join(", ")}.` : "";
  say(s.status, STATUS[s.status], s.brief + problem, s.words + silent + problem);
}

const STATUS = { deadlock: "⟲ DEADLOCK", storm: "∞ STORM", cured: "✓ CURED", paused: "‖ PAUSED", flowing: "✓ FLOWING", idle: "IDLE" };

// drawWith shows what the switches run, and offers to break a deadlock that stands now.
function drawWith(s) {
  const run = s.with || topo, dead = s.deadlock && !s.deadlock.over;
  $("detector").textContent = run.detector;
  $("response").textContent = run.response;
  $("breaks").hidden = !(dead && topo.choices && token !== "" && at === states.length - 1);
}

let said = 0; // when the sentence was written last
const READ = 100; // ms that it stays while states go by: nobody reads faster, and it costs a frame

function say(status, verdict, brief, words = brief) {
  if ((playing || follow) && at < states.length - 1 && status === lastStatus && performance.now() - said < READ) return;
  said = performance.now();
  if (document.body.dataset.status !== status) document.body.dataset.status = status;
  if ($("verdict").textContent !== verdict) $("verdict").textContent = verdict;
  if ($("brief").textContent !== brief) $("brief").textContent = brief;
  if ($("words").textContent !== words) $("words").textContent = words;
  if (status !== lastStatus && (status === "deadlock" || lastStatus === "deadlock" || status === "gone")) $("announce").textContent = words;
  lastStatus = status;
}
