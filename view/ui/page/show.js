"use strict";
// A show: runs that are over, told in acts. The space bar ends an act, or begins the next.

const ACT = 7; // seconds that an act takes, at most

let act = 0; // the one that is told

function playShow(it) {
  show = it;
  for (const r of show.runs) delete r.topology.choices;
  linkState(`${show.acts.length} acts`);
  $("act").hidden = false;
  document.body.classList.add("show");
  const side = /&act=(\d+)/.exec(location.hash);
  if (side) document.body.classList.add("side");
  goAct(side ? Number(side[1]) : 0);
}

// goAct begins an act.
function goAct(i) {
  act = Math.max(0, Math.min(show.acts.length - 1, i));
  const a = show.acts[act], run = show.runs[a.run];
  until = Infinity;
  if (states !== run.states) {
    begin(run.topology);
    states = run.states;
  }
  go(a.from);
  until = a.to;
  playing = !calm.matches && a.to > a.from;
  if (calm.matches) go(a.to);
  $("act-number").textContent = `${act + 1} / ${show.acts.length}`;
  $("act-title").textContent = a.title;
  $("act-text").textContent = a.text;
  $("act-before").disabled = act === 0;
  draw();
}

// onward ends the act that is being told, or begins the next; after the last the first.
function onward() {
  if (playing) return go(until);
  goAct(act === show.acts.length - 1 ? 0 : act + 1);
}

const actRate = () => (show.acts[act].to - show.acts[act].from) / ACT;

// compare shows the same fabric without a response and with the last one, side by side.
function compareRuns() {
  const box = $("sides");
  if (document.body.classList.contains("side")) return;
  if (!box.hidden) {
    box.hidden = true;
    box.replaceChildren();
    return;
  }
  box.hidden = false;
  for (const i of [show.acts.findLastIndex((a) => a.run === 0), show.acts.length - 1]) {
    const frame = document.createElement("iframe");
    frame.title = show.acts[i].title;
    frame.src = `${location.href.split("#")[0]}#show&act=${i}`;
    box.append(frame);
  }
  const back = html("button", "✕ back");
  back.addEventListener("click", compareRuns);
  box.append(back);
  back.focus();
}

// present makes the page one for the back of a room, or as it was.
function present(on) {
  document.body.classList.toggle("present", on);
  if (on && document.documentElement.requestFullscreen) document.documentElement.requestFullscreen().catch(() => {});
  if (!on && document.fullscreenElement) document.exitFullscreen();
  if (!topo) return;
  const was = chosen;
  build();
  chosen = was;
  draw();
}
