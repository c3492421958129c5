# Frames with ITSY TLVs and CLCM payloads, made by scapy from the byte tables in docs/format and
# nothing else, and what each says.
#
# usage: frames.py CAPTURE SEED > EXPECTED
#
# A line a frame: protocol, kind, priority, initiator, sequence number, trigger, hops, period, whether it
# is malformed; tabs between.
import random
import sys

from scapy.all import BitField, ByteField, Ether, FieldLenField, IntField, Packet, PacketListField, ShortField
from scapy.all import ConditionalField, Raw, XLongField, X3BytesField, wrpcap
from scapy.contrib.mac_control import MACControl, MACControlClassBasedFlowControl


class TLV(Packet):
    name = "LLDP organisationally specific"
    fields_desc = [
        BitField("type", 127, 7),
        BitField("length", 24, 9),
        X3BytesField("oui", 0x024954),
        ByteField("subtype", 1),
        BitField("version", 1, 4),
        BitField("kind", 0, 4),
        BitField("priority", 0, 3),
    ]


class ITSY(Packet):
    name = "ITSY"
    fields_desc = TLV.fields_desc + [
        BitField("flags", 0, 5),
        ShortField("ini_node", 0), ByteField("ini_port", 0),
        ShortField("seq", 0),
        ShortField("tri_node", 0), ByteField("tri_port", 0),
        ByteField("hops", 0),
        ByteField("period", 0),
        XLongField("auth", 0),
    ]


class Hop(Packet):
    name = "hop"
    fields_desc = [IntField("spuid", 1), ByteField("egress", 0)]

    def extract_padding(self, s):
        return "", s


class CLCM(Packet):
    name = "CLCM"
    fields_desc = TLV.fields_desc + [
        BitField("phase", 0, 5),
        ConditionalField(IntField("spuid", 0), lambda p: p.kind == 1),
        ConditionalField(IntField("nonce", 0), lambda p: p.kind == 2),
        ConditionalField(ByteField("index", 0), lambda p: p.kind == 2),
        ConditionalField(FieldLenField("count", None, fmt="B", count_of="hops"), lambda p: p.kind == 2),
        ConditionalField(PacketListField("hops", [], Hop, count_from=lambda p: p.count), lambda p: p.kind == 2),
    ]


SRC = "02:00:00:00:00:0a"
capture, rnd = sys.argv[1], random.Random(int(sys.argv[2]))
frames, lines = [], []


def message(payload):
    b = bytes(Ether(dst="01:80:c2:00:00:0e", src=SRC, type=0x88B5) / Raw(bytes(payload)))
    return Ether(b.ljust(60, b"\0"))


def pfc(cls, payload):
    enable = {"c%d_enabled" % cls: 1, "c%d_pause_time" % cls: rnd.choice([0, 1, 65535])}
    b = bytes(Ether(dst=MACControl.DEFAULT_DST_MAC, src=SRC) / MACControlClassBasedFlowControl(**enable))
    return Ether(b[:34] + bytes(payload))


def random_itsy():
    return ITSY(
        kind=rnd.randrange(15), priority=rnd.randrange(8), flags=rnd.randrange(32), ini_node=rnd.randrange(1 << 16),
        ini_port=rnd.randrange(256), seq=rnd.randrange(1 << 16), tri_node=rnd.randrange(1 << 16), tri_port=rnd.randrange(256),
        hops=rnd.randrange(256), period=rnd.randrange(256), auth=rnd.choice([0, rnd.randrange(1 << 64)]),
    )


def expect(protocol, t=None, malformed=False):
    if t is None:
        values = [""] * 9
    else:
        values = [t.kind, t.priority, t.ini_node, t.ini_port, t.seq, t.tri_node, t.tri_port, t.hops, t.period]
    lines.append("\t".join(str(v) for v in [protocol] + values + ["malformed" if malformed else "whole"]))


for i in range(300):
    t = random_itsy()
    if i % 2:
        frames.append(message(t))
        expect("ITSY", t)
    else:
        frames.append(pfc(t.priority, t))
        expect("PFC+ITSY", t)

# Plain devices: no padding to speak of.
for cls in range(8):
    frames.append(pfc(cls, bytes(26)))
    expect("MAC CTRL")

# One thing wrong.
for wrong in [dict(length=23), dict(length=0x118), dict(subtype=3), dict(version=0), dict(version=2),
              dict(kind=15)]:
    for wrap, protocol in [(message, "ITSY"), (lambda t: pfc(t.priority, t), "PFC+ITSY")]:
        t = random_itsy()
        for name, value in wrong.items():
            setattr(t, name, value)
        frames.append(wrap(t))
        expect(protocol, None, True)

for i in range(100):
    cls = rnd.randrange(8)
    if i % 2:
        m = CLCM(length=10, subtype=2, kind=1, priority=cls, spuid=1 + rnd.randrange(1 << 31))
    else:
        n = 1 + rnd.randrange(99)
        phase = rnd.randrange(2)
        hops = [Hop(spuid=1 + rnd.randrange(1 << 31), egress=rnd.randrange(256)) for _ in range(n)]
        m = CLCM(length=12 + 5 * n, subtype=2, kind=2, priority=cls, phase=phase, nonce=rnd.randrange(1 << 32),
                 index=rnd.randrange(n) if phase else n, hops=hops)
    bad = i % 10 == 0
    if bad:
        m.length += 5
    frames.append(message(m))
    expect("CLCM", None, bad)

for i, f in enumerate(frames):
    f.time = 1 + i
wrpcap(capture, frames)
print("\n".join(lines))
