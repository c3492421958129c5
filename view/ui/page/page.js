"use strict";
// The page: states come as server-sent events and are kept; one of them, the newest or one
// that was scrubbed to, is drawn. Nothing here knows what a deadlock is: the server says.
// Read in this order: state, stream, geometry, build, draw, panels, time, orders.

const $ = (id) => document.getElementById(id);
const NS = "http://www.w3.org/2000/svg";
const el = (name, attrs = {}, ...kids) => {
  const e = document.createElementNS(NS, name);
  for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
  e.append(...kids);
  return e;
};
const html = (name, text = "", cls = "") => {
  const e = document.createElement(name);
  e.textContent = text;
  if (cls) e.className = cls;
  return e;
};
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const HISTORY = 3000;

// ---- state

let topo = null;      // the topology
let states = [];      // all that are kept, oldest first
let at = -1;          // index of the one that is drawn
let follow = true;    // draw the newest
let playing = false;  // go on by itself, from a state that is not the newest
let gone = "";        // why no more states come
let chosen = null;    // {kind: "node" | "link", i}
const token = new URLSearchParams(location.hash.slice(1)).get("token") || "";

// ---- stream

function connect() {
  if ($("recorded")) return void recorded();
  const source = new EventSource("stream");
  source.onopen = () => linkState("connected");
  source.addEventListener("topology", (e) => begin(JSON.parse(e.data)));
  source.addEventListener("states", (e) => take(JSON.parse(e.data)));
  source.addEventListener("gone", (e) => { gone = JSON.parse(e.data); draw(); });
  source.addEventListener("ended", () => {
    source.close();
    linkState("the run has ended", true);
  });
  source.onerror = () => {
    linkState("connection lost: trying again", true);
    if (source.readyState !== EventSource.CLOSED) return; // it tries by itself
    why().then((text) => linkState(text, true));
    setTimeout(connect, 3000);
  };
}

// recorded plays what a file of a run holds: the topology and all states, packed.
async function recorded() {
  const packed = Uint8Array.from(atob($("recorded").textContent), (c) => c.charCodeAt(0));
  const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const run = JSON.parse(text);
  linkState("recorded");
  begin(run.topology);
  take(run.states);
}

// why asks why the stream was refused: an EventSource does not tell.
async function why() {
  const stop = new AbortController();
  try {
    const r = await fetch("stream", { signal: stop.signal });
    const text = r.ok ? "connection lost: trying again" : (await r.text()).trim();
    stop.abort();
    return text;
  } catch {
    return "the command that served this page has ended";
  }
}

function linkState(text, bad = false) {
  $("link-state").textContent = text;
  $("link-state").classList.toggle("bad", bad);
}

function begin(t) {
  topo = t;
  states = [];
  at = -1;
  gone = "";
  follow = t.world === "live";
  playing = !follow && !calm.matches;
  lastStatus = "";
  span = null;
  build();
}

function take(more) {
  gone = "";
  states.push(...more);
  const left = states.length - HISTORY;
  if (left > 0) {
    states.splice(0, left);
    at = Math.max(0, at - left);
  }
  if (follow) at = states.length - 1;
  else if (at < 0) at = 0;
  draw();
}

// ---- geometry

const W = 1480, H = 830, MARGIN = { x: 10, top: 20, bottom: 20 };
const place = (n) => ({ x: MARGIN.x + n.x * (W - 2 * MARGIN.x), y: MARGIN.top + n.y * (H - MARGIN.top - MARGIN.bottom) });
let size = null; // of boxes, by kind
let scale = 1;   // of what is in them

function sizes() {
  const hosts = topo.nodes.filter((n) => n.kind === "host").length;
  const row = topo.shape === "layers" ? W / Math.max(1, hosts) - 8 : 78;
  size = { host: { w: Math.max(12, Math.min(78, row)) / 2, h: 14 }, switch: { w: 58, h: 32 } };
  const switches = topo.nodes.filter((n) => n.kind === "switch");
  const rows = new Map();
  for (const n of switches) rows.set(n.y, (rows.get(n.y) || 0) + 1);
  if (topo.shape !== "ring") size.switch.w = Math.max(10, Math.min(58, W / Math.max(...rows.values(), 1) / 2 - 6));
  scale = topo.shape === "ring" ? roomFor() : 1;
  for (const s of Object.values(size)) (s.w *= scale), (s.h *= scale);
}

// roomFor is the scale, at most 1, at which no box touches another.
function roomFor() {
  const gap = 14;
  let most = 1;
  topo.nodes.forEach((a, i) => {
    for (const b of topo.nodes.slice(0, i)) {
      const p = place(a), q = place(b), s = size[a.kind], t = size[b.kind];
      most = Math.min(most, Math.max(Math.abs(p.x - q.x) / (s.w + t.w + gap), Math.abs(p.y - q.y) / (s.h + t.h + gap)));
    }
  });
  return most;
}

// lane is where a direction is drawn: on the right-hand side of its link, as one drives.
function lane(d) {
  const link = topo.links[d >> 1];
  const [a, b] = d & 1 ? [link.b, link.a] : [link.a, link.b];
  const p = place(topo.nodes[a]), q = place(topo.nodes[b]);
  const len = Math.hypot(q.x - p.x, q.y - p.y) || 1;
  const u = { x: (q.x - p.x) / len, y: (q.y - p.y) / len }, n = { x: -u.y, y: u.x };
  const clip = (i) => {
    const s = size[topo.nodes[i].kind];
    return Math.min(s.w / Math.max(1e-6, Math.abs(u.x)), s.h / Math.max(1e-6, Math.abs(u.y))) + 3;
  };
  const twin = topo.links.slice(0, d >> 1).filter((l) => (l.a === link.a && l.b === link.b) || (l.a === link.b && l.b === link.a)).length;
  const off = 5 + twin * 16 * (d & 1 ? -1 : 1);
  const from = clip(a), to = len - clip(b);
  const point = (t) => ({ x: p.x + u.x * (from + (to - from) * t) + n.x * off, y: p.y + u.y * (from + (to - from) * t) + n.y * off });
  return { point, len: to - from, mid: { x: (point(0.5).x - n.x * off), y: (point(0.5).y - n.y * off) } };
}

// ---- build: elements that a topology needs, once

let lanes = [], nodes = [], crosses = [];

function build() {
  sizes();
  document.title = topo.title + " – softswitch";
  $("title").textContent = topo.title;
  $("world").textContent = topo.world;
  $("detector").textContent = topo.detector;
  $("response").textContent = topo.response;
  for (const g of ["lanes", "badges", "nodes", "travel", "tags", "entries", "pick"]) $(g).replaceChildren();
  chosen = null;
  buildLanes();
  buildNodes();
  buildPick();
  buildControl();
  $("live").hidden = topo.world !== "live";
  $("details").replaceChildren(html("p", topo.description || "A click on the drawing, or this list, selects a switch, a host or a link."));
  $("do").replaceChildren();
}

function buildLanes() {
  lanes = [];
  crosses = [];
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
    const m = lanes[2 * i].mid;
    const text = el("text", { class: "down-text", y: -12 }, "down");
    const cross = el("g", { transform: `translate(${m.x} ${m.y})`, visibility: "hidden" }, el("path", { class: "cross big", d: "M-8-8L8 8M8-8L-8 8" }), text);
    $("badges").append(cross);
    crosses.push(cross);
    lanes[2 * i].hit = hit;
  });
}

function buildNodes() {
  nodes = topo.nodes.map((n, i) => {
    const p = place(n), drawn = size[n.kind], s = { w: drawn.w / scale, h: drawn.h / scale };
    const g = el("g", { class: "node " + n.kind, transform: `translate(${p.x} ${p.y}) scale(${scale})`, tabindex: i === 0 ? 0 : -1, role: "button", "aria-label": `${n.kind} ${n.name}`, "data-node": n.name });
    g.append(el("rect", { class: "box", x: -s.w, y: -s.h, width: 2 * s.w, height: 2 * s.h, rx: n.kind === "host" ? 12 : 6 }));
    const name = el("text", { y: n.kind === "host" ? 5 : -13 }, n.name);
    if (n.name.length * 8.5 > 2 * s.w) name.setAttribute("textLength", 2 * s.w - 6), name.setAttribute("lengthAdjust", "spacingAndGlyphs");
    g.append(name);
    const node = { g, p, s: drawn, slots: [] };
    if (n.kind === "switch") buildSlots(n, node, s.w);
    g.addEventListener("click", () => choose({ kind: "node", i }));
    g.addEventListener("keydown", (e) => nodeKey(e, i));
    $("nodes").append(g);
    return node;
  });
}

const BAR = 28; // height of a bar that is full
const TWO = 2;  // classes that a port's slot has room for

function buildSlots(n, node, half) {
  const step = (2 * half - 10) / Math.max(1, n.ports.length), width = Math.min(20, step - 2);
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

function buildControl() {
  $("control").hidden = !topo.choices;
  if (!topo.choices) return;
  $("readonly").hidden = token !== "";
  for (const b of $("orders").querySelectorAll("button, select")) b.disabled = token === "";
  fillSelect($("detectors"), topo.choices.detectors, topo.detector);
  fillSelect($("responses"), topo.choices.responses, topo.response);
}

function fillSelect(select, values, now) {
  select.replaceChildren(...values.map((v) => new Option(v, v, v === now, v === now)));
}

// ---- draw

let lastStatus = "";

function draw() {
  const s = states[at];
  if (!topo || !s) {
    if (gone) say("gone", "NO LAB", gone);
    return;
  }
  drawLanes(s);
  drawNodes(s);
  drawBadges(s);
  drawTags(s);
  drawLabels(s);
  drawWords(s);
  drawTime(s);
  drawEntries();
  drawDetails(s);
  drawMessages(s);
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
  crosses.forEach((c, i) => c.setAttribute("visibility", down.has(i) ? "visible" : "hidden"));
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
  for (const n of nodes) for (const slot of n.slots) slot.bars.slice(slot.used).forEach((b) => b.setAttribute("height", 0));
}

function drawBar(slot, g) {
  const bar = slot.bars[slot.used++], high = Math.max(1, BAR * Math.min(1, g.b / g.m)), bottom = BAR - 3;
  bar.setAttribute("y", bottom - high);
  bar.setAttribute("height", high);
  bar.setAttribute("class", g.off ? "fill off" : "fill");
  const y = bottom - BAR * Math.min(1, g.x / g.m);
  slot.limit.setAttribute("d", `M${slot.x - 1} ${y}h${slot.width + 2}`);
}

const sender = (d) => (d & 1 ? topo.links[d >> 1].b : topo.links[d >> 1].a);
const receiver = (d) => sender(d ^ 1);
const arrow = (d) => `${topo.nodes[sender(d)].name} → ${topo.nodes[receiver(d)].name}`;

function drawBadges(s) {
  for (const old of $("badges").querySelectorAll(".temporary")) old.remove();
  const classes = new Map();
  for (const q of s.paused || []) classes.set(q.d, [...(classes.get(q.d) || []), q.c]);
  const taken = [];
  for (const loop of s.deadlock ? s.deadlock.loops : []) {
    loop.forEach((q, i) => {
      const p = free(lanes[q.d], [0.6, 0.68, 0.52, 0.75], taken);
      $("badges").append(el("g", { class: "temporary", transform: `translate(${p.x} ${p.y})` }, el("circle", { class: "step", r: 12 }), el("text", { class: "step-text", y: 5 }, String(i + 1))));
    });
  }
  for (const [d, list] of classes) {
    const p = free(lanes[d], [0.27, 0.17, 0.37, 0.45, 0.1], taken), text = "‖" + list.join(","), w = 14 + 7 * text.length;
    $("badges").append(el("g", { class: "temporary", transform: `translate(${p.x} ${p.y})`, "data-paused": d },
      el("title", {}, `${arrow(d)} is paused, class ${list.join(", ")}`),
      el("rect", { class: "pause-badge", x: -w / 2, y: -9, width: w, height: 18, rx: 4 }), el("text", { class: "pause-text", y: 4.5 }, text)));
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
  const n = nodes[i], h = 24;
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
    const p = lanes[l.d].point(0.92), q = lanes[l.d].point(0.12);
    const mark = el("path", { class: "label", d: "M0-8L8 0 0 8-8 0z" }, el("title", {}, `a label of ${topo.nodes[l.o].name}`));
    const spot = (v) => `translate(${v.x}px, ${v.y}px)`;
    mark.style.transform = spot(lanes[l.d].point(0.7));
    $("travel").append(mark);
    if (moving) mark.animate([{ transform: spot(p) }, { transform: spot(q) }], { duration: 450, fill: "forwards", easing: "ease-in-out" });
  }
}

function drawWords(s) {
  const dead = s.deadlock;
  if (gone && at === states.length - 1) return say("gone", "ENDED", gone);
  const problem = s.problem ? " Not to be trusted: " + s.problem : "";
  const silent = (s.silent || []).length ? ` No answer from ${s.silent.map((i) => topo.nodes[i].name).join(", ")}.` : "";
  const words = s.words + silent + problem;
  if (dead && !dead.over) say("deadlock", "⟲ DEADLOCK", words);
  else if (dead) say("resolved", "⟲ RESOLVED", words);
  else if ((s.paused || []).length) say("paused", "‖ PAUSES", words);
  else say("ok", "✓ FLOWING", words);
}

function say(status, verdict, words) {
  document.body.dataset.status = status;
  $("verdict").textContent = verdict;
  $("words").textContent = words;
  if (status !== lastStatus && (status === "deadlock" || lastStatus === "deadlock" || status === "gone")) $("announce").textContent = words;
  lastStatus = status;
}

// ---- panels

const clock = (t) => (topo.world === "live" ? `${(t / 1000).toFixed(1)} s` : t < 10 ? `${(t * 1000).toFixed(0)} µs` : `${t.toFixed(3)} ms`);

// round is a time of the axis, and a span: no more digits than it has.
const round = (t) => (t >= 1000 ? `${+(t / 1000).toFixed(3)} s` : t >= 1 ? `${+t.toFixed(3)} ms` : `${+(1000 * t).toFixed(3)} µs`);

let drawnEntries = "";

function drawEntries() {
  const list = [];
  for (let i = at; i >= 0 && list.length < 60; i--) {
    const log = states[i].log || [];
    for (let k = log.length - 1; k >= 0; k--) list.push([i, log[k]]);
  }
  const key = list.length ? `${list[0][1].t} ${list[0][1].text} ${list.length}` : "";
  if (key === drawnEntries && $("entries").childElementCount === list.length) return;
  drawnEntries = key;
  $("entries").replaceChildren(...list.map(([i, e]) => {
    const li = html("li", "", e.k);
    li.append(html("time", clock(e.t)), html("span", e.text));
    li.addEventListener("click", () => go(i));
    return li;
  }));
}

function choose(what) {
  chosen = what;
  $("pick").value = what ? `${what.kind} ${what.i}` : "";
  buildDo();
  draw();
}

function buildDo() {
  $("do").replaceChildren();
  if (!chosen || !topo.choices || token === "") return;
  const button = (text, order) => {
    const b = html("button", text);
    b.dataset.order = order().do;
    b.addEventListener("click", () => send(order()));
    $("do").append(b);
    return b;
  };
  if (chosen.kind === "link") {
    const link = topo.links[chosen.i].name;
    button("Fail", () => ({ do: "fail", link }));
    button("Heal", () => ({ do: "heal", link }));
    return;
  }
  const n = topo.nodes[chosen.i];
  if (n.kind !== "host") return;
  const cls = field("class", "3", 3), rate = field("rate", "1Mbit/s", 9);
  button("Storm", () => ({ do: "storm", host: n.name, class: Number(cls.value) || 0 }));
  $("do").append(cls.parentNode);
  button("Slow", () => ({ do: "slow", host: n.name, rate: rate.value }));
  $("do").append(rate.parentNode);
  button("Normal", () => ({ do: "normal", host: n.name }));
}

function field(name, value, size) {
  const label = html("label", name + " "), input = document.createElement("input");
  Object.assign(input, { type: "text", value, size });
  label.append(input);
  return input;
}

function drawDetails(s) {
  if (!chosen) return;
  const rows = [];
  const direction = (d) => {
    const paused = (s.paused || []).filter((q) => q.d === d).map((q) => q.c);
    rows.push([arrow(d), `${s.load[d]} %` + (paused.length ? `, paused: class ${paused.join(", ")}` : "")]);
    for (const g of (s.groups || []).filter((g) => g.d === d)) rows.push([`— buffer at ${topo.nodes[receiver(d)].name}`, `class ${g.c}: ${g.b} of ${g.x} B${g.off ? ", XOFF" : ""}`]);
  };
  let title;
  if (chosen.kind === "link") {
    title = `link ${topo.links[chosen.i].name}` + ((s.down || []).includes(chosen.i) ? ", down" : "");
    direction(2 * chosen.i);
    direction(2 * chosen.i + 1);
  } else {
    const n = topo.nodes[chosen.i];
    title = `${n.kind} ${n.name}`;
    for (const d of n.ports) if (d >= 0) direction(d ^ 1);
    rows.push(...sums((s.sending || []).filter((h) => h.n === chosen.i)));
  }
  const table = html("table");
  table.append(...rows.map(tableRow));
  $("details").replaceChildren(html("b", title), table);
}

function tableRow([k, v]) {
  const tr = html("tr");
  tr.append(html("th", k), html("td", v));
  return tr;
}

// drawMessages shows what became of the messages of reliable connections, of all hosts.
function drawMessages(s) {
  $("messages").hidden = !s.sending;
  $("sums").replaceChildren(...sums(s.sending || []).map(tableRow));
}

// sums are the rows of a table about the messages of hosts; none for no host.
function sums(hosts) {
  if (!hosts.length) return [];
  const sum = (key) => hosts.reduce((n, h) => n + (h[key] || 0), 0), n = sum("messages");
  const rows = [
    ["flows completed", `${sum("done")} of ${sum("flows")}` + (sum("gave_up") ? `, ${sum("gave_up")} gave up` : "")],
    ["messages completed", `${n}`],
    ["time of a message", n ? `mean ${(sum("sum_ms") / n).toFixed(3)} ms, longest ${Math.max(...hosts.map((h) => h.longest_ms)).toFixed(3)} ms` : "–"],
    ["packets sent again", `${sum("again")}`],
  ];
  if (sum("cnps")) rows.push(["congestion notifications", `${sum("cnps")}`]);
  return rows;
}

// ---- time

function drawTime(s) {
  keepSeen(s.t);
  const scrub = $("scrub"), { from, to } = seen();
  scrub.min = from;
  scrub.max = to;
  scrub.value = s.t;
  scrub.setAttribute("aria-valuetext", `${clock(s.t)}: ${$("verdict").textContent}`);
  $("clock").textContent = clock(s.t);
  $("pace").textContent = pace();
  $("whole").disabled = !span;
  $("play").textContent = follow || playing ? "Pause" : "Play";
  $("live").disabled = follow;
  drawStrip();
}

// The time line: time runs evenly along it, over the span that is seen, and a state is
// drawn until the next one. A run that is played goes from state to state, so that it takes
// long where there are many: its pace is shown.
const STRIP = { edge: 8, marks: 12, band: 16, high: 10, bars: 44, height: 60 };

let span = null; // what is seen, {from, to}; null: all that there is
const SPAN = 0.01; // the shortest span: 10 µs

function whole() {
  const from = states[0].t;
  return { from, to: Math.max(states[states.length - 1].t, from + SPAN) };
}

const seen = () => span || whole();

function timeX(t) {
  const { from, to } = seen();
  return STRIP.edge + (($("strip").clientWidth - 2 * STRIP.edge) * (t - from)) / (to - from);
}

// zoom makes the span that is seen longer or shorter, about the state that is drawn.
function zoom(factor) {
  if (!states.length) return;
  const all = whole(), now = seen(), t = states[at].t, long = Math.max(SPAN, (now.to - now.from) * factor);
  const from = Math.max(all.from, Math.min(t - ((t - now.from) / (now.to - now.from)) * long, all.to - long));
  span = long >= all.to - all.from ? null : { from, to: from + long };
  draw();
}

// keepSeen moves the span to a time that is not in it.
function keepSeen(t) {
  if (!span || (t >= span.from && t <= span.to)) return;
  const all = whole(), long = span.to - span.from;
  const from = Math.max(all.from, Math.min(t - long / 2, all.to - long));
  span = { from, to: from + long };
}

// stateAt is the last state that is not after a time.
function stateAt(t) {
  let low = 0, high = states.length - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (states[mid].t <= t) low = mid;
    else high = mid - 1;
  }
  return low;
}

// pace is how much of the fabric's time a second shows from here on.
function pace() {
  if (topo.world === "live") return "";
  const next = states[Math.min(states.length - 1, at + Number($("speed").value))];
  return next === states[at] ? "" : `1 s shows ${round(+(next.t - states[at].t).toPrecision(2))}`;
}

// deadlocks are from when to when there was one, by the events and, where there was no
// room for them, by the states.
function deadlocks() {
  const spans = [];
  let from = null;
  const end = (t) => {
    spans.push([from === null ? t : from, t]);
    from = null;
  };
  for (const s of states) {
    for (const e of s.log || []) {
      if (e.k === "deadlock" && from === null) from = e.t;
      else if (e.k === "over") end(e.t);
    }
    const lasts = s.deadlock && !s.deadlock.over;
    if (lasts && from === null) from = s.t - s.deadlock.for;
    if (!lasts && from !== null) end(s.t);
  }
  if (from !== null) end(states[states.length - 1].t);
  return spans;
}

// pausedIn is how many queues are paused in a state, 1 if there were pauses since the one
// before and none is left.
const pausedIn = (s) => (s.paused || []).length || Math.min(1, s.pauses);

// drawStrip draws all states at once: paused queues as bars, deadlocks as a hatched band,
// marks, and an axis.
function drawStrip() {
  const c = $("strip"), ratio = devicePixelRatio || 1, w = c.clientWidth, h = STRIP.height;
  if (c.width !== Math.round(w * ratio) || c.height !== Math.round(h * ratio)) (c.width = Math.round(w * ratio)), (c.height = Math.round(h * ratio));
  const g = c.getContext("2d"), css = getComputedStyle(document.documentElement), colour = (n) => css.getPropertyValue(n).trim();
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, w, h);
  drawBand(g, colour);
  g.fillStyle = colour("--pause");
  const most = Math.max(1, ...states.map(pausedIn));
  states.forEach((s, i) => {
    const tall = (17 * pausedIn(s)) / most, until = states[Math.min(i + 1, states.length - 1)].t;
    const left = Math.round(timeX(s.t)), right = Math.round(timeX(until));
    if (tall > 0 && right >= 0 && left <= w) g.fillRect(left, STRIP.bars - Math.max(3, tall), Math.max(1, right - left), Math.max(3, tall));
  });
  g.fillStyle = colour("--ink");
  g.font = "12px system-ui, sans-serif";
  g.textAlign = "center";
  drawMarks(g);
  drawAxis(g, colour, w);
  g.strokeStyle = colour("--ink");
  g.lineWidth = 2;
  g.beginPath();
  g.moveTo(timeX(states[at].t), 0);
  g.lineTo(timeX(states[at].t), STRIP.bars);
  g.stroke();
}

// drawBand draws each deadlock as long as it was, or two pixels if that is less.
function drawBand(g, colour) {
  g.save();
  g.beginPath();
  for (const [from, to] of deadlocks()) g.rect(timeX(from), STRIP.band, Math.max(2, timeX(to) - timeX(from)), STRIP.high);
  g.fillStyle = colour("--core");
  g.fill();
  g.clip();
  g.strokeStyle = colour("--ground"); // what hatches the band
  g.lineWidth = 1.2;
  for (let k = 4; k < $("strip").clientWidth; k += 6) { g.beginPath(); g.moveTo(k, STRIP.band + STRIP.high); g.lineTo(k + 6, STRIP.band); g.stroke(); }
  g.restore();
}

function drawMarks(g) {
  const marks = { link: "✕", storm: "∞", declared: "▲", false: "△", act: "◆" }, last = {};
  for (const s of states) {
    for (const e of s.log || []) {
      const m = marks[e.k], x = timeX(e.t);
      if (m && !(x - last[m] < 9)) g.fillText(m, (last[m] = x), STRIP.marks);
    }
  }
}

// ticks are round times, at most one for 90 pixels.
function ticks() {
  const { from, to } = seen(), least = (90 * (to - from)) / ($("strip").clientWidth - 2 * STRIP.edge);
  const ten = 10 ** Math.floor(Math.log10(least)), step = [1, 2, 5, 10].map((k) => k * ten).find((k) => k >= least);
  const out = [];
  for (let k = Math.ceil(from / step); k * step <= to; k++) out.push(k * step);
  return out;
}

function drawAxis(g, colour, w) {
  g.strokeStyle = colour("--soft");
  g.fillStyle = colour("--soft");
  g.font = "11px system-ui, sans-serif";
  g.lineWidth = 1;
  for (const t of ticks()) {
    const x = timeX(t), text = round(t), half = g.measureText(text).width / 2;
    g.beginPath();
    g.moveTo(x, STRIP.bars);
    g.lineTo(x, STRIP.bars + 4);
    g.stroke();
    g.fillText(text, Math.min(w - half - 1, Math.max(half + 1, x)), STRIP.height - 3);
  }
}

function go(i) {
  follow = playing = false;
  at = Math.max(0, Math.min(states.length - 1, i));
  draw();
}

function toggle() {
  if (follow || playing) return go(at);
  if (topo && topo.world === "live" && at === states.length - 1) return live();
  if (at >= states.length - 1) at = 0;
  playing = true;
  draw();
}

function live() {
  playing = false;
  follow = true;
  at = states.length - 1;
  draw();
}

// An event is that something was told, that queues came to be paused or were let go, or that
// a label moved; a measure is one that is told.
const isEvent = {
  told: (i) => (states[i].log || []).length > 0,
  measure: (i) => (states[i].log || []).some((e) => e.k === "act"),
  pause: (i) => {
    const queues = (s) => (s.paused || []).map((q) => `${q.d} ${q.c}`).join();
    return i > 0 && queues(states[i]) !== queues(states[i - 1]);
  },
  label: (i) => (states[i].labels || []).length > 0,
  any: (i) => isEvent.told(i) || isEvent.pause(i) || isEvent.label(i),
};

function toEvent(way) {
  for (let i = at + way; i >= 0 && i < states.length; i += way) if (isEvent[$("by").value](i)) return go(i);
}

let stepped = 0;
function step(now) {
  requestAnimationFrame(step);
  if (!playing || now - stepped < 1000 / Number($("speed").value)) return;
  stepped = now;
  if (at < states.length - 1) {
    at++;
    if (at === states.length - 1) topo.world === "live" ? (playing = false, follow = true) : (playing = false);
    draw();
  }
}

// ---- orders

async function send(order) {
  $("answer").className = "";
  $("answer").textContent = `${order.do} …`;
  try {
    const r = await fetch("act", { method: "POST", headers: { Authorization: "Bearer " + token, "Content-Type": "application/json" }, body: JSON.stringify(order) });
    if (!r.ok) throw new Error((await r.text()).trim());
    $("answer").textContent = `done: ${Object.values(order).join(" ")}`;
  } catch (e) {
    $("answer").className = "bad";
    $("answer").textContent = e.message;
  }
}

$("start").addEventListener("click", () => send({ do: "start" }));
$("stop").addEventListener("click", () => send({ do: "stop" }));
$("restart").addEventListener("click", () => send({ do: "restart", detector: $("detectors").value, response: $("responses").value }));
$("play").addEventListener("click", toggle);
$("live").addEventListener("click", live);
$("previous").addEventListener("click", () => toEvent(-1));
$("next").addEventListener("click", () => toEvent(1));
$("scrub").addEventListener("input", () => go(stateAt(Number($("scrub").value))));
$("scrub").addEventListener("keydown", (e) => {
  const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[e.key];
  if (way) go(at + way), e.preventDefault();
});
$("in").addEventListener("click", () => zoom(1 / 4));
$("out").addEventListener("click", () => zoom(4));
$("whole").addEventListener("click", () => {
  span = null;
  draw();
});
$("strip").addEventListener("pointerdown", (e) => {
  $("strip").setPointerCapture(e.pointerId);
  drag(e);
});
$("strip").addEventListener("pointermove", (e) => e.buttons && drag(e));

// drag goes to the time under the pointer.
function drag(e) {
  if (!states.length) return;
  const { from, to } = seen(), x = e.clientX - $("strip").getBoundingClientRect().left - STRIP.edge;
  go(stateAt(Math.max(from, Math.min(to, from + ((to - from) * x) / ($("strip").clientWidth - 2 * STRIP.edge)))));
}
$("pick").addEventListener("change", () => {
  const [kind, i] = $("pick").value.split(" ");
  choose(kind ? { kind, i: Number(i) } : null);
});
addEventListener("resize", () => states.length && drawStrip());
addEventListener("keydown", (e) => {
  if (["INPUT", "SELECT", "BUTTON", "TEXTAREA"].includes(e.target.tagName)) return;
  if (e.key === " ") toggle(), e.preventDefault();
  if (e.key === "l" || e.key === "L") live();
  if (e.key === "+") zoom(1 / 4);
  if (e.key === "-") zoom(4);
});
requestAnimationFrame(step);
connect();
