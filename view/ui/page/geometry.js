"use strict";
// Where nodes and links are drawn.

const W = 1480, H = 850, MARGIN = { x: 10, top: 20, bottom: 40 }; // tags of the lowest hosts are below these
const place = (n) => ({ x: MARGIN.x + n.x * (W - 2 * MARGIN.x), y: MARGIN.top + n.y * (H - MARGIN.top - MARGIN.bottom) });
let size = null;  // of boxes, by kind: half of what they are wide and high
let scale = null; // of what is in them

function sizes() {
  const px = (b) => ({ w: b.w * (W - 2 * MARGIN.x), h: b.h * (H - MARGIN.top - MARGIN.bottom) });
  size = { switch: px(topo.switch_box), host: px(topo.host_box) };
  scale = { switch: size.switch.h / 32, host: size.host.h / 14 };
}

// lane is where a direction is drawn: on the right-hand side of its link, as one drives. point is a part
// of its way, or so far to the right of that.
function lane(d) {
  const link = topo.links[d >> 1], ends = [place({ x: link.x1, y: link.y1 }), place({ x: link.x2, y: link.y2 })];
  const [p, q] = d & 1 ? ends.reverse() : ends;
  const len = Math.hypot(q.x - p.x, q.y - p.y) || 1;
  const u = { x: (q.x - p.x) / len, y: (q.y - p.y) / len }, n = { x: -u.y, y: u.x };
  const off = Math.min(5, 2.5 + 2.5 * scale.switch), from = Math.min(3, len * 0.15), to = len - from;
  const point = (t, by = 0) => ({ x: p.x + u.x * (from + (to - from) * t) + n.x * (off + by), y: p.y + u.y * (from + (to - from) * t) + n.y * (off + by) });
  return { point };
}
