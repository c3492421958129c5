#!/usr/bin/env python3
"""Play scenarios in ns-3 and in softswitch, and print how far the two are apart.

ns-3 is Debian's; its PFC switch and hosts are pfc.cc beside this file, which shares no code with softswitch.
Both play the plan of one file: softswitch compiles it (softswitch lab export), and this program hands
rates, thresholds and flows of what it compiled to ns-3. Ways of flows are those that softswitch's hash
chose, read from its capture. Detectors and jitter are off in both, and reliable connections send UDP.

From each world comes a list of all frames with the time at which they begin to leave, and all figures are
taken from these two lists in the same way:

  first pause   when the first pause begins to leave, after the first flow has begun
  onset         the last moment at which a byte of data left a port of the ring, likewise; the ring are the ports
                that at the end are paused and wait for each other by the frames that they hold
  goodput       bytes that arrived of a flow until the earliest onset, or without a deadlock all, by the time since
                it began

ns-3 plays each plan twice: with events of one time in softswitch's order, and in its own, in which the one that
was scheduled first is the first.

Exit status: 0 all figures agree within 1 %, with softswitch's order; 1 not; 2 it could not be played.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))

SCENARIOS = {
    "ring": "scenarios/hu-fig4.yaml",
    "fat-tree": "scenarios/fattree-on-loop.yaml",
    "hpcc": "scripts/ns3/hpcc/topology.txt",
}
LIMIT = 1.0  # per cent
OVERHEAD = 24  # what a frame takes of a wire beside its bytes: preamble 8, FCS 4, interpacket gap 12
# What ns-3's switch, hosts and links know of softswitch's files; a file that has more is refused. Keys that say nothing
# of how frames are forwarded are among them.
NODE_KEYS = "name id ports port mtu trust pfc buffer subnets routes router_id arp mac hash_seed detector response live address gateway gateway_mac rx_buffer flows bin".split()
PORT_KEYS = "name mac peer_mac peer rate xoff".split()
BUFFER_KEYS = "pool size static_th xon xon_offset xoff lossy_queue".split()
FLOW_KEYS = "number name to src_port priority rate frame ttl transport start stop size".split()
FAULTS = "cable control_loss_per_mille loss duplicate reorder".split()
LINK_KEYS = "link rate delay jitter mtu".split()
PACKAGES = "apt-get install libns3-dev g++ python3-yaml"


def fail(text):
    print("compare.py: " + text, file=sys.stderr)
    sys.exit(2)


try:
    import yaml
except ImportError:
    fail("Python has no yaml: " + PACKAGES)


def known(keys, mapping, place):
    """Refuses a mapping with other keys than these."""
    for k in mapping:
        if k not in keys:
            fail("%s: %s: ns-3's model has no %s; it plays files with %s alone" % (place, k, k, ", ".join(keys)))


def run(*command):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return p.returncode, p.stdout, p.stderr


def must(*command):
    code, out, err = run(*command)
    if code != 0:
        fail("%s: exit status %d: %s" % (" ".join(command), code, err.strip() or out.strip()))
    return out


def build():
    """Compile pfc.cc into build/ns3, unless it is there and newer; its path."""
    source, program = os.path.join(here, "pfc.cc"), os.path.join(root, "build", "ns3", "pfc")
    if os.path.exists(program) and os.path.getmtime(program) >= os.path.getmtime(source):
        return program
    if not shutil.which("g++") or not any(
        os.path.exists(os.path.join(d, "ns3", "core-module.h")) for d in ("/usr/include", "/usr/local/include")
    ):
        fail("ns-3 or a compiler is missing: " + PACKAGES)
    os.makedirs(os.path.dirname(program), exist_ok=True)
    must("g++", "-O2", "-std=c++17", "-o", program, source, "-lns3-internet", "-lns3-network", "-lns3-core")
    return program


def ns(text):
    """A time of a file, such as 279.616µs, in ns."""
    total, rest = 0.0, str(text)
    unit = {"s": 1e9, "ms": 1e6, "us": 1e3, "µs": 1e3, "ns": 1, "m": 60e9, "h": 3600e9}
    for n, u in re.findall(r"([0-9.]+)(ms|us|µs|ns|s|m|h)", rest):
        total += float(n) * unit[u]
    return round(total)


def bps(text):
    """A rate of a file, such as 40Gbit/s, in bit/s."""
    m = re.fullmatch(r"([0-9.]+)([kMGT]?)bit/s", str(text))
    if not m:
        fail("rate %r: not a number of bit/s" % text)
    return round(float(m[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[m[2]])


def frame_time(length, rate):
    """How long a frame takes, in ns, rounded up."""
    return -(-length * 8 * 10**9 // rate)


def adapted(file, directory):
    """A copy of a scenario with what only one of the two worlds has taken out of it; what was is said."""
    if file.endswith("topology.txt"):
        text = must(softswitch, "import", "hpcc", file, os.path.join(os.path.dirname(file), "flow.txt"), os.path.join(os.path.dirname(file), "config.txt"))
    else:
        with open(file) as f:
            text = f.read()
    s, changed = yaml.safe_load(text), []
    for key in ("congestion", "expect", "expect_for"):
        if s.pop(key, None) is not None and key == "congestion":
            changed.append("no congestion control")
    for place in [s["topology"]] + s["topology"].get("overrides", []):
        if place.pop("jitter", None) is not None:
            changed.append("no jitter")
    for o in s["topology"].get("overrides", []):
        known(LINK_KEYS, o, "%s: topology.overrides" % file)
    for k in FAULTS:
        if k in s["topology"]:
            fail("%s: topology.%s: ns-3's links are without faults, and have a delay" % (file, k))
    for f in s["flows"]:
        if f.get("transport", "udp") != "udp":
            f["transport"] = "udp"
            f["frame"] = 1000
            changed.append("UDP instead of reliable connections")
    first = min(ns(f.get("start", "0s")) for f in s["flows"])
    for e in s.get("events", []):
        if e["do"] != "fail" or ns(e["at"]) > first:
            fail("%s: event %s at %s: ns-3 plays only links that fail before the first flow begins" % (file, e["do"], e["at"]))
    s["detector"] = "none"
    path = os.path.join(directory, "scenario.yaml")
    with open(path, "w") as f:
        json.dump(s, f)  # JSON is YAML
    return path, s, sorted(set(changed))


class Plan:
    """What softswitch compiled of a scenario."""

    def __init__(self, path, scenario, directory):
        exported = os.path.join(directory, "exported")
        must(softswitch, "lab", "export", path, "--containerlab", exported)
        self.nodes = []
        for name in os.listdir(os.path.join(exported, "nodes")):
            with open(os.path.join(exported, "nodes", name)) as f:
                self.nodes.append(yaml.safe_load(f))
        self.nodes.sort(key=lambda n: n["id"])
        with open(os.path.join(exported, scenario["name"] + ".clab.yml")) as f:
            links = yaml.safe_load(f)["topology"]["links"]
        for n in self.nodes:
            known(NODE_KEYS, n, n["name"])
            known(BUFFER_KEYS, n.get("buffer", {}), n["name"] + ": buffer")
            for p in n.get("ports", []):
                known(PORT_KEYS, p, "%s: port %s" % (n["name"], p["name"]))
            for f in n.get("flows", []):
                known(FLOW_KEYS, f, "%s: flow %s" % (n["name"], f["name"]))
        self.duration = ns(scenario["duration"])
        self.rate, self.far, self.delay, self.flows = {}, {}, {}, {}
        for n in self.nodes:
            for p in n.get("ports", []) + [n[k] for k in ("port",) if k in n]:
                self.rate[n["name"], p["name"]] = bps(p["rate"])
            for f in n.get("flows", []):
                self.flows[f["number"]] = dict(f, host=n["name"], from_address=n["address"].split("/")[0])
        own = {n["name"] for n in self.nodes if "address" in n}
        for l in links:
            a, b = ((e["node"], e["interface"]) for e in l["endpoints"])
            self.far[a], self.far[b] = b, a
            self.delay[a] = self.delay[b] = self.delay_of(scenario["topology"], a, b)
        self.hosts = own
        if len({f["priority"] for f in self.flows.values()}) > 1:
            fail("flows have several priorities; ns-3's switch has no scheduler like softswitch's")

    @staticmethod
    def delay_of(topology, a, b):
        names = {"%s--%s" % (a[0], b[0]), "%s--%s" % (b[0], a[0])}
        for o in topology.get("overrides", []):
            if o.get("link") in names and "delay" in o:
                return ns(o["delay"])
        return ns(topology.get("delay", "0s"))

    def write(self, path, frames, overhead=OVERHEAD):
        """The plan as ns-3's program reads it, with the ways that flows took in frames."""
        out = ["duration %d" % self.duration, "overhead %d" % overhead]
        for n in self.nodes:
            if n["name"] in self.hosts:
                out.append("host " + n["name"])
                continue
            b, pfc = n["buffer"], n["pfc"]
            limit = b["size"] + b["static_th"]
            out.append("switch %s %d %d %d %d %d" % (n["name"], limit, max(b["xon"], limit - b["xon_offset"]), limit + self.headroom(n), pfc["quanta"], ns(pfc["refresh"])))
        for (node, port), rate in self.rate.items():
            out.append("port %s %s %d" % (node, port, rate))
        for a, b in self.far.items():
            if a < b:
                out.append("link %s %s %s %s %d" % (a + b + (self.delay[a],)))
        for number, f in sorted(self.flows.items()):
            rate = self.rate[f["host"], "eth0"] if f["rate"] == "line" else bps(f["rate"])
            out.append("flow %d %s %d %d %d %d %d %d %d" % (number, f["host"], f["priority"], f["ttl"], rate, f["frame"], ns(f.get("start", "0s")), ns(f.get("stop", "0s")), f.get("size", 0)))
        ways = {}
        for _, node, port, kind, flow, _ in frames:
            if kind != "data" or node in self.hosts:
                continue
            if ways.setdefault((node, flow), port) != port:
                fail("frames of flow %s leave %s by %s and by %s; ns-3 plays flows of one way" % (self.flows[flow]["name"], node, ways[node, flow], port))
        for _, node, port, kind, flow, _ in frames:
            far = self.far[node, port][0]
            if kind == "data" and far not in self.hosts and (far, flow) not in ways:
                fail("no frame of flow %s leaves %s, so that its way is not known" % (self.flows[flow]["name"], far))
        out += ["route %s %d %s" % (node, flow, port) for (node, flow), port in sorted(ways.items())]
        with open(path, "w") as f:
            f.write("\n".join(out) + "\n")

    @staticmethod
    def headroom(n):
        return max([n["buffer"]["xoff"]] + [p.get("xoff", 0) for p in n["ports"]])


def capture(path, plan):
    """The frames of a pcapng of softswitch, as pfc.cc writes them."""
    by_address = {(f["from_address"], f["src_port"]): n for n, f in plan.flows.items()}
    frames, interfaces = [], []
    with open(path, "rb") as f:
        while head := f.read(8):
            kind, size = struct.unpack("<II", head)
            body = f.read(size - 8)
            if kind == 1:
                interfaces.append(interface_name(body))
            if kind != 6:
                continue
            i, high, low, _, length = struct.unpack_from("<IIIII", body)
            data, (node, port) = body[20:], interfaces[i]
            time = high << 32 | low
            ether = struct.unpack_from(">H", data, 12)[0]
            if ether == 0x8808:
                enable = struct.unpack_from(">H", data, 16)[0]
                c = enable.bit_length() - 1
                quanta = struct.unpack_from(">H", data, 18 + 2 * c)[0]
                frames.append((time, node, port, "pause" if quanta else "resume", c, length))
            elif ether == 0x0800 and data[23] == 17:
                source = ".".join(str(b) for b in data[26:30]), struct.unpack_from(">H", data, 34)[0]
                frames.append((time, node, port, "data", by_address[source], length))
            else:
                fail("%s: a frame of type %#x, which ns-3 does not play" % (path, ether))
    return frames


def interface_name(block):
    at = 8
    while at < len(block) - 4:
        code, n = struct.unpack_from("<HH", block, at)
        if code == 2:
            return tuple(block[at + 4 : at + 4 + n].decode().split(":", 1))
        at += 4 + (n + 3) // 4 * 4
    return ("?", "?")


def listed(path):
    """The frames of a trace of pfc.cc."""
    frames = []
    with open(path) as f:
        for line in f:
            time, node, port, kind, of, length = line.split()
            frames.append((int(time), node, port, kind, int(of), int(length)))
    return frames


class World:
    """What the frames of one world tell."""

    def __init__(self, plan, frames, overhead=OVERHEAD):
        self.plan, self.frames, self.overhead = plan, frames, overhead
        self.start = min(ns(f.get("start", "0s")) for f in plan.flows.values())
        self.pauses = sum(1 for f in frames if f[3] == "pause")
        self.first_pause = min((f[0] for f in frames if f[3] == "pause"), default=None)
        self.ring = self.find_ring()
        self.onset = max((self.end_of(f) for f in frames if f[3] == "data" and f[1:3] in self.ring), default=None)

    def end_of(self, f):
        return f[0] + frame_time(f[5] + self.overhead, self.plan.rate[f[1:3]])

    def find_ring(self):
        """The ports that at the end are paused and wait for each other: what came of a flow waits at the next."""
        paused, held, ways, came = {}, {}, {}, set()
        for _, node, port, kind, flow, _ in self.frames:
            far = self.plan.far[node, port]
            if kind != "data":
                paused[far] = kind == "pause"
                continue
            ways[node, flow] = node, port
            came.add((node, port, far[0], flow))
            held[node, flow] = held.get((node, flow), 0) - 1
            held[far[0], flow] = held.get((far[0], flow), 0) + 1
        waits = {}
        for node, port, far, flow in came:
            out = ways.get((far, flow))
            if out and held[far, flow] > 0 and paused.get((node, port)) and paused.get(out):
                waits.setdefault((node, port), set()).add(out)
        return {p for p in waits if p in reach(waits, p)}

    def goodput(self, number, until):
        """Mbit/s of a flow since it began, until a time or, if that is None, its last arrival."""
        arrived = [
            (self.end_of(f) + self.plan.delay[f[1:3]], f[5])
            for f in self.frames
            if f[3] == "data" and f[4] == number and self.plan.far[f[1:3]][0] in self.plan.hosts
        ]
        if until is None:
            until = max((at for at, _ in arrived), default=self.plan.duration)
        time = until - ns(self.plan.flows[number].get("start", "0s"))
        return sum(length for at, length in arrived if at <= until) * 8000 / time


def reach(graph, start):
    """What is reached from start by one step or more."""
    seen, todo = set(), list(graph.get(start, ()))
    while todo:
        n = todo.pop()
        if n not in seen:
            seen.add(n)
            todo.extend(graph.get(n, ()))
    return seen


def row(name, unit, ours, theirs, own):
    return {"figure": name, "unit": unit, "softswitch": ours, "ns3": theirs, "difference_percent": apart(ours, theirs), "ns3_own_order": own, "own_order_difference_percent": apart(ours, own)}


def apart(ours, theirs):
    """How far theirs is from ours in per cent, None where only one world has the figure."""
    if ours == theirs:
        return 0.0
    return 100 * (theirs - ours) / ours if ours and theirs else None


def since(world, time):
    return None if time is None else time - world.start


def play_ns3(pfc, plan, plan_file, trace, order, overhead):
    """What ns-3 makes of a plan, and what its program says of the run."""
    say(trace)
    said = must(pfc, plan_file, trace, order).split()
    return World(plan, listed(trace), overhead), dict(zip(said[::2], said[1::2]))


def say(what):
    """Show at a terminal what is being done."""
    if sys.stderr.isatty():
        print("\r\033[K" + what, end="", file=sys.stderr, flush=True)


def compare(name, pfc, directory, overhead):
    file = os.path.join(root, SCENARIOS[name]) if name in SCENARIOS else name
    path, scenario, changed = adapted(file, directory)
    plan = Plan(path, scenario, directory)
    pcap, plan_file = os.path.join(directory, "softswitch.pcapng"), os.path.join(directory, "plan")
    say(pcap)
    verdict = simulate(path, "--pcap", pcap)
    ours = World(plan, capture(pcap, plan))
    plan.write(plan_file, ours.frames, overhead)
    theirs, said = play_ns3(pfc, plan, plan_file, os.path.join(directory, "ns3-port"), "port", overhead)
    own, own_said = play_ns3(pfc, plan, plan_file, os.path.join(directory, "ns3-fifo"), "fifo", overhead)
    say("")

    worlds = (ours, theirs, own)
    until = min((w.onset for w in worlds if w.onset is not None), default=None)
    rows = [
        row("first pause", "ns", *(since(w, w.first_pause) for w in worlds)),
        row("onset", "ns", *(since(w, w.onset) for w in worlds)),
    ]
    for number, f in sorted(plan.flows.items()):
        rows.append(row("goodput " + f["name"], "Mbit/s", *(w.goodput(number, until) for w in worlds)))
    lost = int(said["lost"]) + int(own_said["lost"])
    return {
        "scenario": name if name in SCENARIOS else os.path.splitext(os.path.basename(name))[0],
        "file": os.path.relpath(file, root),
        "changed": changed,
        "ring": sorted("%s:%s" % p for p in ours.ring),
        "ring_ns3": sorted("%s:%s" % p for p in theirs.ring),
        "oracle_onset_ns": verdict["onset_ns"] - ours.start if verdict["deadlock"] else None,
        "frames": len(ours.frames),
        "frames_ns3": len(theirs.frames),
        "frames_same": len(set(ours.frames) & set(theirs.frames)),
        "lost_ns3": lost,
        "rows": rows,
        "agree": ours.ring == theirs.ring
        and lost == 0
        and all(r["difference_percent"] is not None and abs(r["difference_percent"]) <= LIMIT for r in rows),
    }


def simulate(path, *flags):
    """The verdict of softswitch."""
    code, out, err = run(softswitch, "sim", "run", path, "--json", *flags)
    if code == 2:
        fail("%s: %s" % (path, err.strip()))
    return json.loads(out)


def measure(pairs, pfc, directory):
    """The speed of both on a fat-tree at 40 Gbit/s, in turns: frame-hops a second of processor time."""
    path, scenario, _ = adapted(os.path.join(here, "permutation.yaml"), directory)
    plan = Plan(path, scenario, directory)
    pcap, plan_file = os.path.join(directory, "softswitch.pcapng"), os.path.join(directory, "plan")
    simulate(path, "--pcap", pcap, "--set", "duration=200us")
    plan.write(plan_file, capture(pcap, plan))
    rows = []
    for i in range(pairs):
        commands = [[pfc, plan_file, "-", "port"], [softswitch, "sim", "run", path]]
        took = {}
        for c in commands if i % 2 else reversed(commands):
            out, took[c[0]] = timed(*c)
            if c[0] == pfc:
                hops = int(out.split()[1])
        rows.append({"softswitch_hops_per_s": hops / took[softswitch], "ns3_hops_per_s": hops / took[pfc], "ratio": took[pfc] / took[softswitch]})
        say("%d of %d pairs" % (i + 1, pairs))
    say("")
    return {"frame_hops": hops, "pairs": rows, "ratio_median": statistics.median(r["ratio"] for r in rows)}


def timed(*command):
    """What a command prints, and its processor time in seconds."""
    before = os.times()
    out = must(*command)
    after = os.times()
    return out, after.children_user + after.children_system - before.children_user - before.children_system


def speed_text(s):
    print("{:,} frame-hops a run; of both one processor\n".format(s["frame_hops"]))
    print("%-12s %s" % ("", "frame-hops per second of processor time: median (least, most)"))
    for name, key in ("softswitch", "softswitch_hops_per_s"), ("ns-3", "ns3_hops_per_s"):
        v = [p[key] / 1e6 for p in s["pairs"]]
        print("%-12s %.2f million (%.2f, %.2f)" % (name, statistics.median(v), min(v), max(v)))
    v = [p["ratio"] for p in s["pairs"]]
    print("%-12s %.1f (%.1f, %.1f), of %d pairs" % ("ratio", statistics.median(v), min(v), max(v), len(v)))


def text(results):
    line = "%-9s %-13s %12s %12s %9s %14s %9s"
    print(line % ("scenario", "figure", "softswitch", "ns-3", "apart", "own order", "apart"))
    for r in results:
        for x in r["rows"]:
            values = [shown(x[k], x["unit"]) for k in ("softswitch", "ns3", "ns3_own_order")]
            shares = ["-" if x[k] is None else "%.3f %%" % x[k] for k in ("difference_percent", "own_order_difference_percent")]
            print(line % (r["scenario"], x["figure"], values[0], values[1], shares[0], values[2], shares[1]))
    print("\npauses and onsets in ns, goodput in Mbit/s\n")
    for r in results:
        print("%s: %s, %s" % (r["scenario"], r["file"], ", ".join(r["changed"]) or "as it is"))
        print("  {:,} frames, in ns-3 {:,}; {:,} are the same to the nanosecond".format(r["frames"], r["frames_ns3"], r["frames_same"]))
        if r["oracle_onset_ns"] is not None:
            print("  the oracle's onset: {:,} ns".format(r["oracle_onset_ns"]))
        if r["ring"] or r["ring_ns3"]:
            print("  ring: %s%s" % (" ".join(r["ring"]) or "none", "" if r["ring"] == r["ring_ns3"] else "; in ns-3: " + (" ".join(r["ring_ns3"]) or "none")))
        if r["lost_ns3"]:
            print("  ns-3 lost %d frames" % r["lost_ns3"])
    print("\n" + ("all agree within 1 %" if all(r["agree"] for r in results) else "not all agree within 1 %"))


def shown(value, unit):
    if value is None:
        return "none"
    return "{:,}".format(value) if unit == "ns" else "{:,.3f}".format(value)


def main():
    global softswitch
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", nargs="*", default=list(SCENARIOS), help="%s, a scenario file, or a topology.txt of HPCC beside its flow.txt and config.txt; default: the three names" % ", ".join(SCENARIOS))
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--overhead", type=int, default=OVERHEAD, metavar="BYTES", help="what a frame takes of a wire beside its bytes in ns-3 alone (default: %(default)s, as in softswitch: preamble, FCS and gap)")
    parser.add_argument("--speed", type=int, metavar="PAIRS", help="measure the speed of both instead, in so many alternating runs")
    parser.add_argument("--keep", metavar="DIR", help="make this folder and keep plans and lists of frames in it")
    parser.add_argument("--softswitch", default=os.path.join(root, "bin", "softswitch"), help="the program (default: bin/softswitch)")
    a = parser.parse_args()
    softswitch = a.softswitch
    if not os.access(softswitch, os.X_OK):
        fail("there is no program %s; run make first" % softswitch)
    for s in a.scenario:
        if s not in SCENARIOS and not os.path.exists(s):
            fail("%s: neither a file nor one of %s" % (s, ", ".join(SCENARIOS)))
    if a.overhead < 0:
        fail("--overhead %d: at least 0 bytes" % a.overhead)
    if a.speed is not None and a.speed < 1:
        fail("--speed %d: at least 1 pair" % a.speed)
    pfc = build()
    directory = a.keep or tempfile.mkdtemp(prefix="ns3-")
    try:
        if a.keep:
            os.makedirs(a.keep)
        if a.speed:
            result = measure(a.speed, pfc, directory)
        else:
            result = [compare(s, pfc, subfolder(directory, i), a.overhead) for i, s in enumerate(a.scenario)]
    except OSError as e:
        fail(str(e))
    finally:
        if not a.keep:
            shutil.rmtree(directory, ignore_errors=True)
    if a.json:
        json.dump(result, sys.stdout, indent=2)
        print()
    elif a.speed:
        speed_text(result)
    else:
        text(result)
    sys.exit(0 if a.speed or all(r["agree"] for r in result) else 1)


def subfolder(directory, i):
    path = os.path.join(directory, str(i))
    os.mkdir(path)
    return path


main()
