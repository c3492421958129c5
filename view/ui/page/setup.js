"use strict";
// What is set at ports, in words.

// setupOf is what is set at a port, as names and values: an empty value if a host has none.
function setupOf(e) {
  return [
    ["lossless", e.lossless.join(", ") || "none"],
    ["pauses", { tx: "sends, ignores what comes", rx: "honours, sends none" }[e.pfc] || "sends and honours"],
    ["trust", { dscp: "DSCP", pcp: "802.1Q tag" }[e.trust] || ""],
    ["headroom", e.weights ? `${e.headroom || 0} B a group` : ""],
    ["scheduler", e.weights ? scheduler(e.weights) : ""],
    ["LLDP", e.lldp ? "spoken" : ""],
  ];
}

// scheduler says how the priorities share a port, in words.
function scheduler(weights) {
  const strict = [], by = new Map();
  weights.forEach((w, c) => (w === 0 ? strict.unshift(c) : by.set(w, [...(by.get(w) || []), c])));
  const parts = strict.length ? [`strict ${strict.join(", ")}`] : [];
  if (by.size === 1) parts.push(strict.length ? "others alike" : "all alike");
  else for (const [w, list] of [...by].sort((a, b) => b[0] - a[0])) parts.push(`weight ${w}: ${list.join(", ")}`);
  return parts.join("; ");
}

// compared is a table of what is set at the two ends of a link; ≠ is before what has to be alike, and is not.
function compared(d, e) {
  const table = html("table", "", "setup"), head = html("tr"), ends = [topo.ends[d], topo.ends[e]];
  head.append(html("th", "port"), ...[d, e].map((x, i) => html("td", `${topo.nodes[sender(x)].name} ${ends[i].port}`, "end")));
  table.append(head);
  const [a, b] = ends.map(setupOf);
  a.forEach(([k, v], i) => {
    const tr = html("tr"), differs = k === "lossless" && v !== b[i][1];
    tr.append(html("th", (differs ? "≠ " : "") + k, differs ? "differs" : ""), html("td", v || "–"), html("td", b[i][1] || "–"));
    if (v || b[i][1]) table.append(tr);
  });
  return table;
}

// setups is a table of what is set at the ports of a node: once for those that are alike.
function setups(s, ports) {
  const groups = new Map(), table = html("table", "", "setup");
  for (const d of ports) {
    const key = JSON.stringify(setupOf(topo.ends[d]));
    groups.set(key, [...(groups.get(key) || []), d]);
  }
  for (const [key, of] of groups) {
    table.append(tableRow(["at", groups.size === 1 && of.length > 1 ? "all ports" : of.map((d) => topo.ends[d].port).join(", ")]));
    table.append(...JSON.parse(key).filter(([, v]) => v).map(tableRow));
  }
  for (const lag of new Set(ports.map((d) => topo.ends[d].lag).filter((l) => l))) {
    const members = ports.filter((d) => topo.ends[d].lag === lag), down = members.filter((d) => isDown(s, d >> 1));
    table.append(tableRow([lag, `${members.map((d) => topo.ends[d].port).join(", ")}: ` + (down.length ? `${down.map((d) => topo.ends[d].port).join(", ")} down` : "all up")]));
  }
  return table;
}
