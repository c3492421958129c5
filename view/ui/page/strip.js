"use strict";
// The time line.

function drawTime(s) {
  keepSeen(s.t);
  const scrub = $("scrub"), { from, to } = seen();
  scrub.min = from;
  scrub.max = to;
  scrub.value = s.t;
  scrub.setAttribute("aria-valuetext", `${clock(s.t)}: ${$("verdict").textContent}`);
  $("clock").textContent = clock(s.t);
  $("pace").textContent = pace();
  const behind = inSlowMotion() ? `SLOW MOTION, ${(lag(performance.now()) / 1000).toFixed(0)} s behind: L for live` : "";
  $("behind").hidden = !behind;
  if ($("behind").textContent !== behind) $("behind").textContent = behind;
  $("whole").disabled = !span;
  $("play").textContent = follow || playing ? "Pause" : "Play";
  $("live").disabled = follow && at === states.length - 1;
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
  const behind = states[states.length - 1].t - states[at].t;
  if (follow && behind > 0) return `${round(+behind.toPrecision(2))} behind`;
  if (isLive() && !states[Math.min(states.length - 1, at + 1)].slow) return "";
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
    if (lasts && from === null) from = s.t - s.deadlock.for_ms;
    if (!lasts && from !== null) end(s.t);
  }
  if (from !== null) end(states[states.length - 1].t);
  return spans;
}

// pausedIn is how many queues are paused in a state, 1 if there were pauses since the one
// before and none is left.
const pausedIn = (s) => (s.paused || []).length || Math.min(1, s.pauses);

const still = document.createElement("canvas"); // the strip without the cursor
let stillOf = ""; // what it was drawn of

// drawStrip draws all states at once: paused queues as bars, deadlocks as a hatched band,
// marks, an axis, and the cursor.
function drawStrip() {
  const c = $("strip"), ratio = devicePixelRatio || 1, w = c.clientWidth, wide = Math.round(w * ratio), high = Math.round(STRIP.height * ratio);
  if (!wide) return; // it is not shown
  const css = getComputedStyle(document.documentElement), colour = (n) => css.getPropertyValue(n).trim(), { from, to } = seen();
  const key = [topo.title, topo.response, states.length, states[0].t, zero(), from, to, wide, colour("--ground")].join(" ");
  if (key !== stillOf || c.width !== wide || c.height !== high) {
    stillOf = key;
    for (const e of [c, still]) (e.width = wide), (e.height = high);
    drawStill(still.getContext("2d"), ratio, colour, w);
  }
  const g = c.getContext("2d");
  g.setTransform(1, 0, 0, 1, 0, 0);
  g.clearRect(0, 0, wide, high);
  g.drawImage(still, 0, 0);
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.strokeStyle = colour("--ink");
  g.lineWidth = 2;
  g.beginPath();
  g.moveTo(timeX(states[at].t), 0);
  g.lineTo(timeX(states[at].t), STRIP.bars);
  g.stroke();
}

function drawStill(g, ratio, colour, w) {
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
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
  const marks = { link: "✕", storm: "∞", declared: "▲", false: "△", act: "◆", response: "◆", restart: "↻" }, last = {};
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
  for (let k = Math.ceil((from - zero()) / step); k * step + zero() <= to; k++) out.push(k * step + zero());
  return out;
}

function drawAxis(g, colour, w) {
  g.strokeStyle = colour("--soft");
  g.fillStyle = colour("--soft");
  g.font = "11px system-ui, sans-serif";
  g.lineWidth = 1;
  for (const t of ticks()) {
    const x = timeX(t), text = (t < zero() ? "−" : "") + round(Math.abs(t - zero())), half = g.measureText(text).width / 2;
    g.beginPath();
    g.moveTo(x, STRIP.bars);
    g.lineTo(x, STRIP.bars + 4);
    g.stroke();
    g.fillText(text, Math.min(w - half - 1, Math.max(half + 1, x)), STRIP.height - 3);
  }
}
