"use strict";
// One state, in words: the list of events, what is selected, messages.

// zero is when the scenario started last: times are told from there.
const zero = () => (states.length && states[states.length - 1].zero) || 0;
const clock = (t) => (topo.world === "live" ? `${((t - zero()) / 1000).toFixed(6)} s` : t < 10 ? `${(t * 1000).toFixed(0)} µs` : `${t.toFixed(3)} ms`);

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

let drawnSteps = "";
const STEPS = 400; // states in which steps are looked for

// drawSteps lists what the detectors did up to now, the newest first; those of the state
// that is drawn are marked. What a detector does again and again, as it verifies a deadlock
// that it has declared, is one line.
function drawSteps(s) {
  const list = [], lines = new Map();
  for (let i = at; i >= 0 && list.length < 40 && at - i < STEPS; i--) {
    const steps = states[i].steps || [];
    if (states[i].steps_left) list.push([i, { t: states[i].t, k: "note", text: `and ${states[i].steps_left} more steps` }, 1]);
    for (let k = steps.length - 1; k >= 0; k--) {
      const line = lines.get(steps[k].text);
      if (line) line[2]++;
      else lines.set(steps[k].text, (list[list.length] = [i, steps[k], 1]));
    }
  }
  const key = list.map(([i, e, times]) => `${e.t} ${times}`).join() + at;
  if (key === drawnSteps && $("steps").childElementCount === list.length) return;
  drawnSteps = key;
  $("steps").replaceChildren(...list.map(([i, e, times]) => {
    const li = html("li", "", e.k + (i === at ? " now" : ""));
    li.append(html("time", clock(e.t)), html("span", e.text + (times > 1 ? ` (${times} times)` : "")));
    li.addEventListener("click", () => go(i));
    return li;
  }));
}

function choose(what) {
  chosen = what;
  $("pick").value = what ? `${what.kind} ${what.i}` : "";
  buildDo();
  draw();
  if (what) $("chosen").scrollIntoView({ block: "nearest" });
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
    const delay = field("delay", "5ms", 6), loss = field("loss", "1%", 5), control = field("control loss", "0%", 5);
    button("Impair", () => ({ do: "impair", link, wire: { delay: delay.value, loss: loss.value, control_loss: control.value } }));
    $("do").append(delay.parentNode, loss.parentNode, control.parentNode);
    button("Carry at once", () => ({ do: "impair", link, wire: {} }));
    return;
  }
  const n = topo.nodes[chosen.i];
  if (n.kind !== "host") return;
  const priority = field("priority", "3", 3), rate = field("rate", "1Mbit/s", 9);
  button("Storm", () => ({ do: "storm", host: n.name, priority: Number(priority.value) || 0 }));
  $("do").append(priority.parentNode);
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
    rows.push([arrow(d), `${s.load[d]} %` + (paused.length ? `, paused: priority ${paused.join(", ")}` : "")]);
    for (const q of (s.starving || []).filter((q) => q.d === d)) rows.push(["— starved", `priority ${q.c}, for ${round(q.for_ms)}` + ((q.behind || []).length ? `, behind strict ${q.behind.join(", ")}` : "")]);
    for (const m of (s.mismatches || []).filter((m) => m.d === d)) rows.push([`— ≠ ${m.w}`, m.t]);
    for (const g of (s.groups || []).filter((g) => g.d === d)) rows.push([`— buffer at ${topo.nodes[receiver(d)].name}`, `priority ${g.c}: ${g.b} of ${g.x} B${g.off ? ", XOFF" : ""}`]);
    for (const l of (s.labels || []).filter((l) => l.d === d)) rows.push([`— ${l.down ? "goes" : "comes back"} here`, labelText(l)]);
    for (const m of (s.actions || []).filter((m) => m.d === d)) rows.push(["— by a response", `priority ${m.c}: ${m.w}`]);
    for (const w of (s.waits || []).filter((w) => w.from.d === d)) rows.push([`— waits for ${arrow(w.to.d)}`, `priority ${w.from.c}: ${w.b} B there, XON at ${w.x} B`]);
  };
  const waits = (d) => [...(s.paused || []), ...(s.starving || [])].some((q) => q.d === d);
  let title, setup;
  if (chosen.kind === "link") {
    const [d, e] = [2 * chosen.i, 2 * chosen.i + 1], lag = lagOf(chosen.i);
    title = `link ${topo.links[chosen.i].name}${lag ? `, one of ${lag.length} of ${topo.ends[d].lag}` : ""}${isDown(s, chosen.i) ? ", down" : ""}`;
    direction(d);
    direction(e);
    setup = compared(d, e);
  } else {
    const n = topo.nodes[chosen.i], ports = n.ports.filter((d) => d >= 0);
    title = `${n.kind} ${n.name}`;
    for (const d of ports) {
      if (isDown(s, d >> 1)) {
        rows.push([arrow(d), "down"]);
        continue;
      }
      if (n.kind === "host" || waits(d)) direction(d);
      direction(d ^ 1);
    }
    rows.push(...sums((s.sending || []).filter((h) => h.n === chosen.i)));
    setup = setups(s, ports);
  }
  const table = html("table");
  table.append(...rows.map(tableRow));
  $("details").replaceChildren(html("b", title), table, setup);
}

const isDown = (s, link) => (s.down || []).includes(link);
const lagOf = (link) => (topo.lags || []).find((links) => links.includes(link));

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

// drawConsoles shows what the guests have said, under the drawing. The states of instants do not tell:
// the last one that does holds.
function drawConsoles() {
  let i = at;
  while (i > 0 && states[i].slow) i--;
  const all = states[i].consoles || [], box = $("consoles");
  box.hidden = !all.length;
  if (box.childElementCount !== all.length) {
    box.replaceChildren(...all.map(() => {
      const figure = html("figure"), pre = html("pre");
      pre.tabIndex = 0;
      pre.setAttribute("role", "group"); // so that it has a name
      figure.append(html("figcaption"), pre);
      return figure;
    }));
  }
  all.forEach((c, k) => {
    const [caption, pre] = box.children[k].children, name = `console of ${topo.nodes[c.n].name}`;
    if (caption.textContent === name && pre.textContent === c.text) return;
    caption.textContent = name;
    pre.textContent = c.text;
    pre.setAttribute("aria-label", name);
    pre.scrollTop = pre.scrollHeight;
  });
}

// share is which part of a flow's frames was dropped, as the verdict has it.
const share = (d) => (1000 * d.frames < d.of ? "<0.1 %" : `${(Math.floor((1000 * d.frames) / d.of) / 10).toFixed(1)} %`);

// drawPrice shows of which flows responses dropped frames.
function drawPrice(s) {
  const all = s.dropped_of || [], shown = 12;
  $("price").hidden = !all.length;
  const rows = all.slice(0, shown).map((d) => [`flow ${d.flow}`, `${d.frames} frame${d.frames === 1 ? "" : "s"}, ${share(d)}${d.named ? ", named as a cause" : ""}`]);
  if (all.length > shown) rows.push(["", `and ${all.length - shown} more flows`]);
  $("dropped").replaceChildren(...rows.map(tableRow));
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
