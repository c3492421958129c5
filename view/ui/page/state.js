"use strict";
// What the page is made of, and what it knows. States come from the server and are kept; one
// of them, the newest or one that was gone to, is drawn. Nothing here knows what a deadlock is:
// the server says. The files share their names; read them in the order of index.html.

const $ = (id) => document.getElementById(id);
const NS = "http://www.w3.org/2000/svg";
const el = (name, attrs = {}, ...kids) => {
  const e = document.createElementNS(NS, name);
  for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
  e.append(...kids);
  return e;
};
// put sets attributes that have another value: what is set is laid out anew.
const put = (e, attrs) => {
  for (const [k, v] of Object.entries(attrs)) if (e.getAttribute(k) !== String(v)) e.setAttribute(k, v);
};
const html = (name, text = "", cls = "") => {
  const e = document.createElement(name);
  e.textContent = text;
  if (cls) e.className = cls;
  return e;
};
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const HISTORY = 6000;

let topo = null;      // the topology
const isLive = () => topo.world === "live" && !$("recorded") && !show; // there is more to come
let states = [];      // all that are kept, oldest first
let at = -1;          // index of the one that is drawn
let follow = true;    // draw the newest
let playing = false;  // go on by itself, from a state that is not the newest
let stale = false;    // states have come since the page was drawn
let gone = "";        // why no more states come
let show = null;       // {runs, acts}
let chosen = null;    // {kind: "node" | "link", i}
const token = new URLSearchParams(location.hash.slice(1)).get("token") || "";
