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
  drawTags(s);
  drawBadges(s);
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
  drawConsoles();
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
}

function drawNodes(s) {
  const loop = new Set(), silent = new Set(s.silent || []);
  for (const q of s.deadlock ? s.deadlock.core : []) loop.add(sender(q.d));
  nodes.forEach((n, i) => {
    n.g.classList.toggle("in-loop", loop.has(i));
    n.g.classList.toggle("silent", silent.has(i));
    n.g.classList.toggle("is-trigger", starred(s.declared) === i);
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
// nic is the node that a direction leaves, with the NIC if it is a host with several.
const nic = (d) => topo.nodes[sender(d)].name + (manyNICs(topo.nodes[sender(d)]) ? ` ${topo.ends[d].port}` : "");
const manyNICs = (n) => n.kind === "host" && n.ports.length > 1;
const arrow = (d) => `${nic(d)} → ${nic(d ^ 1)}${(/#.*/.exec(topo.links[d >> 1].name) || [""])[0]}`;

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

const STATUS = { deadlock: "⟲ DEADLOCK", storm: "∞ STORM", cured: "✓ CURED", starved: "∅ STARVED", paused: "‖ PAUSED", flowing: "✓ FLOWING", idle: "IDLE" };

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
