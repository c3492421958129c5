"use strict";
// Where nodes and links are drawn.

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
