"use strict";
// Badges on links and tags at nodes. None lies on another, on a node, or off the drawing: each takes the
// first of its places that is free.

const CELL = 60;
let taken = new Map(); // boxes in which something is drawn, by the cells of the drawing that they touch

const rect = (p, w, h) => ({ left: p.x - w / 2, right: p.x + w / 2, top: p.y - h / 2, bottom: p.y + h / 2 });
const presented = () => document.body.classList.contains("present");

// cells are those that a box touches.
function* cells(b) {
  for (let x = Math.floor(b.left / CELL); x <= b.right / CELL; x++) for (let y = Math.floor(b.top / CELL); y <= b.bottom / CELL; y++) yield 1000 * x + y;
}

function occupy(box) {
  for (const c of cells(box)) taken.has(c) ? taken.get(c).push(box) : taken.set(c, [box]);
}

// under is how much of a box is taken.
function under(a) {
  let sum = 0;
  for (const c of cells(a)) for (const b of taken.get(c) || []) {
    const w = Math.min(a.right, b.right) - Math.max(a.left, b.left), h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (w > 0 && h > 0) sum += w * h;
  }
  return sum;
}

// settle finds the first of some places at which something so large lies on nothing, if need be
// drawn smaller, or else that at which it lies on least; and occupies it.
function settle(places, w, h, large) {
  let best = null;
  for (const k of [large, large * 0.8, large * 0.65, large * 0.5]) {
    for (const at of places()) {
      const p = { x: Math.min(W - (k * w) / 2 - 2, Math.max((k * w) / 2 + 2, at.x)), y: Math.min(H - (k * h) / 2 - 2, Math.max((k * h) / 2 + 2, at.y)) };
      const box = rect(p, k * w + 2, k * h + 2), on = under(box);
      if (!best || on < best.on) best = { p, k, box, on };
      if (on === 0) {
        occupy(box);
        return best;
      }
    }
  }
  occupy(best.box);
  return best;
}

const SLIDE = Array.from({ length: 45 }, (_, i) => ((i & 1 ? 1 : -1) * ((i + 1) >> 1)) / 50);

// along are places on a lane, the nearest to a part of its way first, and then beside it.
const along = (lane, part) => function* () {
  for (const aside of [0, 16, -16, 32, -32, 48, -48, 64, -64]) for (const by of SLIDE) if (part + by >= 0.03 && part + by <= 0.97) yield lane.point(part + by, aside);
};

function badge(places, w, h, attrs, ...kids) {
  const { p, k } = settle(places, w, h, presented() ? 1.5 : 1);
  const transform = `translate(${p.x.toFixed(1)} ${p.y.toFixed(1)}) scale(${k})`;
  $("badges").append(el("g", { class: "temporary", transform, ...attrs }, ...kids));
}

function drawBadges(s) {
  for (const old of $("badges").querySelectorAll(".temporary")) old.remove();
  for (const i of s.down || []) drawDown(i);
  for (const loop of s.deadlock ? s.deadlock.loops : []) {
    loop.forEach((q, i) => badge(along(lanes[q.d], 0.6), 25, 25, {}, el("circle", { class: "step", r: 12 }), el("text", { class: "step-text", y: 5 }, String(i + 1))));
  }
  const priorities = new Map();
  for (const q of s.paused || []) priorities.set(q.d, [...(priorities.get(q.d) || []), q.c]);
  for (const [d, list] of priorities) {
    const text = "‖" + list.join(","), w = 14 + 7 * text.length;
    badge(along(lanes[d], 0.27), w, 18, { "data-paused": d },
      el("title", {}, `${arrow(d)} is paused, priority ${list.join(", ")}`),
      el("rect", { class: "pause-badge", x: -w / 2, y: -9, width: w, height: 18, rx: 4 }), el("text", { class: "pause-text", y: 4.5 }, text));
  }
  for (const q of s.starving || []) {
    const text = "∅ starved " + q.c, w = 14 + 6.6 * text.length, behind = (q.behind || []).join(", ");
    badge(along(lanes[q.d], 0.2), w, 18, { "data-starved": q.d },
      el("title", {}, `${arrow(q.d)}: priority ${q.c} starves` + (behind ? ` behind strict priority ${behind}` : "")),
      el("rect", { class: "starved-badge", x: -w / 2, y: -9, width: w, height: 18, rx: 4 }), el("text", { class: "starved-text", y: 4 }, text));
  }
  for (const m of s.mismatches || []) {
    badge(along(lanes[m.d], 0.15), 48, 18, { "data-mismatch": m.w },
      el("title", {}, m.t),
      el("rect", { class: "action-badge", x: -24, y: -9, width: 48, height: 18, rx: 4 }), el("text", { class: "action-text", y: 4 }, "≠ " + m.w));
  }
  for (const m of s.actions || []) {
    const w = 12 + 6.6 * m.w.length;
    badge(along(lanes[m.d], 0.5), w, 18, { "data-action": m.w },
      el("title", {}, `${arrow(m.d)}, priority ${m.c}: ${m.w}, by a response`),
      el("rect", { class: "action-badge", x: -w / 2, y: -9, width: w, height: 18, rx: 9 }), el("text", { class: "action-text", y: 4 }, m.w));
  }
  for (const links of topo.lags || []) drawLAG(s, links);
}

// drawLAG labels links that act as one, with how many of them are up.
function drawLAG(s, links) {
  const up = links.filter((i) => !(s.down || []).includes(i)).length, text = `LAG ${up}/${links.length}`, w = 14 + 6.6 * text.length;
  badge(along(lanes[2 * links[links.length >> 1]], 0.5), w, 18, { "data-lag": topo.links[links[0]].name, class: up < links.length ? "temporary short" : "temporary" },
    el("title", {}, `${topo.ends[2 * links[0]].lag}: ${links.map((i) => topo.links[i].name).join(", ")} act as one; ${up} of ${links.length} up`),
    el("rect", { class: "lag-badge", x: -w / 2, y: -9, width: w, height: 18, rx: 4 }), el("text", { class: "lag-text", y: 4 }, text));
}

// drawDown crosses out a link, on its middle line.
function drawDown(i) {
  const [a, b] = [lanes[2 * i], lanes[2 * i + 1]], middle = (t, by) => {
    const p = a.point(t, by), q = b.point(1 - t, -by);
    return { x: (p.x + q.x) / 2, y: (p.y + q.y) / 2 };
  };
  badge(along({ point: middle }, 0.5), 38, 36, { "data-down": topo.links[i].name },
    el("path", { class: "cross big", d: "M-8 0L8 16M8 0L-8 16" }), el("text", { class: "down-text", y: -5 }, "down"));
}

function drawTags(s) {
  $("tags").replaceChildren();
  taken = new Map();
  for (const n of nodes) occupy(rect(n.p, 2 * n.s.w + 4, 2 * n.s.h + 4));
  const d = s.declared;
  drawCause(s);
  for (const i of s.storms || []) tag(i, "‖∞ STORM", "storm", 92, 1).setAttribute("data-storm", topo.nodes[i].name);
  for (const i of s.slow_hosts || []) tag(i, "SLOW", "storm", 56, 1).setAttribute("data-slow", topo.nodes[i].name);
  if (d) tag(d.node, d.true ? "declared it" : "declared, not true", "finder", d.true ? 92 : 140, 1);
}

// drawCause marks the likely cause where its place is known, else what is declared to be the initial trigger.
function drawCause(s) {
  const d = s.declared, i = starred(d);
  if (d && d.cause_dir >= 0) write(along(lanes[d.cause_dir], (s.down || []).includes(d.cause_dir >> 1) ? 0.6 : 0.3), CAUSE, "trigger", 150).setAttribute("data-cause", arrow(d.cause_dir));
  else if (i >= 0 && i === d.cause_host) tag(i, CAUSE, "trigger", 150, -1).setAttribute("data-cause", topo.nodes[i].name);
  else if (i >= 0) tag(i, "★ INITIAL TRIGGER", "trigger", 172, -1).setAttribute("data-trigger", topo.nodes[i].name);
}

// starred is the node that is marked so, -1 for none.
const starred = (d) => (!d || d.cause_dir >= 0 ? -1 : d.cause_host >= 0 ? d.cause_host : d.trigger);

const CAUSE = "★ LIKELY CAUSE", TAG = 24; // high
const tagScale = () => (presented() ? 1.25 : 1);

// tag writes under or over a node, or else beside it.
function tag(i, text, cls, width, side) {
  const n = nodes[i], large = tagScale();
  const up = n.s.h + (TAG * large) / 2 + 5, aside = n.s.w + (width * large) / 2 + 5;
  const places = [[0, up * side], [0, -up * side], [aside, 0], [-aside, 0], [aside, up * side], [-aside, up * side], [aside, -up * side], [-aside, -up * side]];
  return write(() => places.map(([x, y]) => ({ x: n.p.x + x, y: n.p.y + y })), text, cls, width);
}

// write writes a tag at one of some places.
function write(places, text, cls, width) {
  const { p, k } = settle(places, width, TAG, tagScale());
  const g = el("g", { class: "tag " + cls, transform: `translate(${p.x.toFixed(1)} ${p.y.toFixed(1)}) scale(${k})` },
    el("rect", { x: -width / 2, y: -TAG / 2, width, height: TAG }), el("text", { y: 5 }, text));
  $("tags").append(g);
  return g;
}
