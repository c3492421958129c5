"use strict";
// Orders to a lab, and what the user presses.

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
$("respond").addEventListener("click", () => send({ do: "response", response: $("responses").value }));
$("break").addEventListener("click", () => send({ do: "response", response: $("break-by").value }));
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
$("act-before").addEventListener("click", () => goAct(act - 1));
$("act-next").addEventListener("click", onward);
$("act-sides").addEventListener("click", compareRuns);
$("presents").addEventListener("click", () => present(!document.body.classList.contains("present")));
$("slowly").addEventListener("change", draw);
$("show-waits").addEventListener("change", draw);
$("pick").addEventListener("change", () => {
  const [kind, i] = $("pick").value.split(" ");
  choose(kind ? { kind, i: Number(i) } : null);
});
addEventListener("resize", () => states.length && drawStrip());
addEventListener("keydown", (e) => {
  if (show && (e.key === "b" || e.key === "B")) return compareRuns();
  if (["INPUT", "SELECT", "BUTTON", "TEXTAREA"].includes(e.target.tagName)) return;
  if (e.key === " ") show ? onward() : toggle(), e.preventDefault();
  if (show && ["PageDown", "ArrowRight"].includes(e.key) && e.target === document.body) onward();
  if (show && ["PageUp", "ArrowLeft"].includes(e.key) && e.target === document.body) goAct(act - 1);
  if (show && e.key === "Home") goAct(0);
  if (e.key === "p" || e.key === "P") present(!document.body.classList.contains("present"));
  if ((e.key === "l" || e.key === "L") && topo && isLive()) live();
  if ((e.key === "s" || e.key === "S") && topo && isLive()) $("slowly").click();
  if (e.key === "w" || e.key === "W") $("show-waits").click();
  if (e.key === "+") zoom(1 / 4);
  if (e.key === "-") zoom(4);
});
requestAnimationFrame(step);
connect();
