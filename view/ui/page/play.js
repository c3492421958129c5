"use strict";
// Which state is drawn, and when the next one is.

let until = Infinity; // the state at which an act ends

function go(i) {
  follow = playing = false;
  at = Math.max(0, Math.min(states.length - 1, i));
  draw();
}

function toggle() {
  if (follow || playing) return go(at);
  if (topo && isLive() && at === states.length - 1) return live();
  if (at >= states.length - 1) at = 0;
  playing = true;
  draw();
}

function live() {
  playing = false;
  $("slowly").checked = false;
  follow = true;
  at = states.length - 1;
  draw();
}

// An event is that something was told, that queues came to be paused or were let go, or that
// a label moved; an action is one that is told.
const isEvent = {
  told: (i) => (states[i].log || []).length > 0,
  action: (i) => (states[i].log || []).some((e) => e.k === "act"),
  pause: (i) => {
    const queues = (s) => (s.paused || []).map((q) => `${q.d} ${q.c}`).join();
    return i > 0 && queues(states[i]) !== queues(states[i - 1]);
  },
  label: (i) => (states[i].labels || []).length > 0,
  step: (i) => (states[i].steps || []).length > 0,
  any: (i) => isEvent.told(i) || isEvent.pause(i) || isEvent.label(i),
};

function toEvent(way) {
  for (let i = at + way; i >= 0 && i < states.length; i += way) if (isEvent[$("by").value](i)) return go(i);
}

// isStory: something is told there, or a label moves in a deadlock.
const isStory = (s) => (s.log || []).length > 0 || (s.deadlock && !s.deadlock.over && (s.labels || []).length > 0);

// isKey: what the hand of who orders, or a detector, or a response has brought.
const KEYS = new Set(["deadlock", "declared", "false", "over", "link", "storm", "response", "restart", "verdict"]);
const isKey = (s) => (s.log || []).some((e) => KEYS.has(e.k));

// The bounds of the page's clock, in ms: what has come is drawn, or left out, within LAG. In slow
// motion it may wait for SLOW_LAG, and goes by in SLOW_PACE, were the pace to stay: it is slower the
// less there is.
const LAG = 500, SLOW_LAG = 30000, SLOW_PACE = 8000;

let stepped = 0;

// step draws, if there is anything new to be seen.
function step(now) {
  requestAnimationFrame(step);
  if (goOn(now) || stale) draw();
}

// goOn goes on, if it is time to, and reports whether it did. What is followed goes from regular
// state to regular state at once, and slowly where there are those of instants at which something
// happened; a browser that draws too few a second to keep up leaves out what is no part of the
// story, and of the story what is late: detail, and never time.
function goOn(now) {
  const last = Math.min(until, states.length - 1);
  if (!(playing || follow) || at >= last) {
    stepped = now;
    return false;
  }
  const bound = inSlowMotion() ? SLOW_LAG : LAG;
  const left = inSlowMotion() ? SLOW_PACE : Math.max(1, states[last].came + bound - now);
  const catchUp = follow ? (1000 * (last - at)) / left : 0; // states a second
  const rate = Math.max(Number($("speed").value), catchUp, show ? actRate() : 0);
  if ((playing || states[at + 1].slow) && now - stepped < 1000 / rate) return false;
  let steps = Math.floor((now - stepped) / 1000 * catchUp);
  stepped = now;
  const late = follow ? now - bound : -Infinity, part = inSlowMotion() ? isStory : isKey;
  do at++; while (at < last && (states[at].came < late || (--steps > 0 && !part(states[at]))));
  while (follow && at < last && !states[at].slow && !states[at + 1].slow) at++;
  if (playing && at === last) {
    playing = false;
    follow = isLive();
  }
  return true;
}

const inSlowMotion = () => follow && $("slowly").checked;

// lag is how far behind what has come the page is, in ms of the clock on the wall.
const lag = (now) => (at < states.length - 1 ? now - states[at + 1].came : 0);
