"use strict";
// Which state is drawn, and when the next one is.

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
