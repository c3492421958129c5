"use strict";
// Where states come from: server-sent events, or the file itself.

function connect() {
  if ($("recorded")) return void recorded();
  if (location.hash.startsWith("#show")) {
    fetch("show.json").then((r) => r.json()).then(playShow, () => linkState("the command that served this page has ended", true));
    return;
  }
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
  if (run.acts) return playShow(run);
  linkState("recorded");
  delete run.topology.choices;
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
  follow = isLive();
  playing = !follow && !calm.matches;
  lastStatus = "";
  span = null;
  build();
}

// take takes states that have come. They are seen with the next frame, however many messages come
// before it: a browser that has no time to draw would have less with each.
function take(more) {
  gone = "";
  const now = performance.now();
  for (const s of more) s.came = now;
  states.push(...more);
  const left = states.length - HISTORY;
  if (left > 0) {
    states.splice(0, left);
    at = Math.max(0, at - left);
  }
  if (follow && (at < 0 || calm.matches || document.hidden)) at = states.length - 1;
  else if (at < 0) at = Math.max(0, states.findIndex((_, i) => isEvent.any(i)) - 1); // what is before is idle
  stale = true;
}
