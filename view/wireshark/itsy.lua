-- What deadlock detection adds to flow control, in Wireshark and tshark: the ITSY TLV in
-- the padding of PFC frames (IEEE 802.1Qbb) and in message frames of one hop, and in the
-- latter laps, quests and the Credit Loop Control Messages too.
--
--   ethertype 0x8808 --> chain: stock dissector (macc), then the padding --> itsy
--   ethertype 0x88b5 --> itsy: to 01:80:c2:00:00:0e? --> itsy, clcm or gfc
--                              else: data, as without this file
--
-- Filters: itsy, itsy.kind == "label", itsy.initiator.node == 5, itsy.malformed, itsy.home,
-- itsy.diagnosis.kind == "lap", clcm, clcm.spuid, gfc.stage ... The byte tables are docs/format/itsy.md,
-- clcm.md and gfc.md.
-- A TLV is judged as the switch judges it: fields in the order in which they lie, and of
-- one that is refused no field is shown but those that led there. Of a lap or a quest the
-- head is judged; what follows is data.

local TLV_LEN = 26      -- octets of an ITSY TLV
local PFC_PADDING = 20  -- offset in MAC Control, behind opcode, class-enable vector and timers
local PFC_OPCODE = 0x0101
local PFC_TAG, MESSAGE_TAG = 52, 32 -- where a frame has its tag
local PFC_TYPE, MESSAGE_TYPE = 0x8808, 0x88b5
local MESSAGE_LEN = 46  -- octets behind the EtherType of an ITSY message
local NEAREST_BRIDGE = "0180c200000e"
local OUI = 0x024954

local RATE_HEAD, RATE_LEN = "FE070249540411", 9 -- of a rate message up to its kind
local ORGANISATION, SUBTYPE_ITSY, SUBTYPE_CLCM, SUBTYPE_DIAGNOSIS = 127, 1, 2, 3

local KINDS = {
  [0] = "period", "checking", "temporal-check", "label", "query", "grant", "walk", "ack",
  "claim", "seal", "bubble", "reserve", "trigger", "found", "hello",
}
local LABEL, QUERY, WALK, ACK, CLAIM, BUBBLE, RESERVE, HELLO = 3, 4, 6, 7, 8, 10, 11, 14

-- What a flag says, by kind.
local FLAGS = {
  [3] = { [1] = "proves a deadlock if it comes home", [2] = "has passed the initial trigger", [4] = "its owner has declared a deadlock", [8] = "the initial trigger is the host that the port faces" },
  [7] = { [1] = "a walk failed" },
  [8] = { [1] = "back upstream: no way round here" },
  [10] = { [1] = "back upstream: a priority group has no reserve", [2] = "the loop moves already: lend what there is" },
  [11] = { [1] = "the answer: room for so many" },
  [14] = { [1] = "the answer to a challenge", [2] = "the last counter that was believed" },
}
local DECLARED, HOST = 4, 8 -- of a label

local LAP, QUEST = 1, 2
-- Octets of a lap and a quest, and how far each has come, by kind.
local DIAGNOSIS_LEN, DIAGNOSIS_HOPS = { [LAP] = 417, [QUEST] = 121 }, { [LAP] = 13, [QUEST] = 21 }
local DIAGNOSIS_HEAD_LEN = 13
local MAX_QUEST_HOPS = 64
local QUEST_FLAGS = { [1] = "it has left the loop", [2] = "answered", [4] = "the queue is the loop's" }
local ANSWERED = 2

-- Loaded twice, from the plugin folder and by -X lua_script, it is there once.
local first, itsy = pcall(Proto, "itsy", "ITSY deadlock detection")
if not first then return end
local clcm = Proto("clcm", "Credit Loop Control Message")
local gfc = Proto("gfc", "Gentle Flow Control")
-- The name under which MAC Control is taken over; it never stands in a tree.
local chain = Proto("itsy_chain", "MAC Control, then ITSY")

local head = {
  type = ProtoField.uint16("itsy.tlv.type", "TLV type", base.DEC, nil, 0xfe00),
  length = ProtoField.uint16("itsy.tlv.length", "TLV length", base.DEC, nil, 0x01ff),
  oui = ProtoField.uint24("itsy.tlv.oui", "OUI", base.HEX),
  subtype = ProtoField.uint8("itsy.tlv.subtype", "Subtype", base.DEC, { [SUBTYPE_ITSY] = "ITSY", [SUBTYPE_CLCM] = "CLCM", [SUBTYPE_DIAGNOSIS] = "ITSY diagnosis" }),
}

local f = {
  version = ProtoField.uint8("itsy.version", "Version", base.DEC, nil, 0xf0),
  kind = ProtoField.uint8("itsy.kind", "Kind", base.DEC, KINDS, 0x0f),
  priority = ProtoField.uint8("itsy.priority", "Priority", base.DEC, nil, 0xe0),
  sender = ProtoField.string("itsy.sender", "Sender"),
  flags = ProtoField.uint8("itsy.flags", "Flags", base.HEX, nil, 0x1f),
  initiator_node = ProtoField.uint16("itsy.initiator.node", "Initiator switch"),
  initiator_port = ProtoField.uint8("itsy.initiator.port", "Initiator port"),
  seq = ProtoField.uint16("itsy.seq", "Sequence number"),
  trigger_node = ProtoField.uint16("itsy.trigger.node", "Initial trigger switch"),
  trigger_port = ProtoField.uint8("itsy.trigger.port", "Initial trigger port"),
  hops = ProtoField.uint8("itsy.hops", "Hops"),
  period = ProtoField.uint8("itsy.period", "XOFF period"),
  auth = ProtoField.uint64("itsy.auth", "Authentication tag", base.HEX),
  number = ProtoField.uint16("itsy.number", "Number on its link"),
  hello_counter = ProtoField.uint64("itsy.hello.counter", "Counter"),
  hello_value = ProtoField.uint64("itsy.hello.value", "Nonce, or counter"),
  verdict = ProtoField.string("itsy.auth.verdict", "The tag is"),
  link = ProtoField.string("itsy.auth.link", "Link"),
}

local g = {
  kind = ProtoField.uint8("itsy.diagnosis.kind", "Kind", base.DEC, { [LAP] = "lap", [QUEST] = "quest" }, 0x0f),
  owner_node = ProtoField.uint16("itsy.diagnosis.owner.node", "Owner switch"),
  owner_port = ProtoField.uint8("itsy.diagnosis.owner.port", "Owner port"),
  rank = ProtoField.uint16("itsy.diagnosis.rank", "Rank of the label that was declared"),
  hops = ProtoField.uint8("itsy.diagnosis.hops", "Hops"),
  about = ProtoField.uint32("itsy.diagnosis.about", "About flow", base.HEX),
  data = ProtoField.bytes("itsy.diagnosis.data", "Data"),
}

local c = {
  version = ProtoField.uint8("clcm.version", "Version", base.DEC, nil, 0xf0),
  kind = ProtoField.uint8("clcm.kind", "Kind", base.DEC, { "election", "path" }, 0x0f),
  priority = ProtoField.uint8("clcm.priority", "Priority", base.DEC, nil, 0xe0),
  phase = ProtoField.uint8("clcm.phase", "Phase", base.DEC, { [0] = "detection", "release" }, 0x1f),
  spuid = ProtoField.uint32("clcm.spuid", "SPUID", base.HEX),
  nonce = ProtoField.uint32("clcm.nonce", "Nonce", base.HEX),
  index = ProtoField.uint8("clcm.index", "Index (CurIndex)"),
  hops = ProtoField.uint8("clcm.hops", "Hops"),
  egress = ProtoField.uint8("clcm.egress", "Egress port"),
}
local r = {
  priority = ProtoField.uint8("gfc.priority", "Priority", base.DEC, nil, 0xe0),
  stage = ProtoField.uint8("gfc.stage", "Stage: 2^stage times slower than the link"),
}
local ELECTION, PATH = 1, 2
local CLCM_HEAD_LEN, ELECTION_LEN, PATH_LEN, HOP_LEN, MAX_HOPS = 8, 12, 14, 5, 99

local bad = ProtoExpert.new("itsy.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
local foreign = ProtoExpert.new("itsy.foreign", "The padding is neither zero nor ITSY", expert.group.UNDECODED, expert.severity.WARN)
local cut = ProtoExpert.new("itsy.cut", "The capture has not kept all of the frame", expert.group.UNDECODED, expert.severity.WARN)
local unpaused = ProtoExpert.new("itsy.priority.not_enabled", "The frame does not speak of the TLV's priority", expert.group.PROTOCOL, expert.severity.WARN)
local home = ProtoExpert.new("itsy.home", "A label came home", expert.group.SEQUENCE, expert.severity.NOTE)
local declared = ProtoExpert.new("itsy.declared", "The label's owner has declared a deadlock", expert.group.SEQUENCE, expert.severity.NOTE)
local forged = ProtoExpert.new("itsy.auth.wrong", "The authentication tag is wrong", expert.group.SECURITY, expert.severity.WARN)
local clcm_bad = ProtoExpert.new("clcm.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)

local function values(...)
  local all = {}
  for _, t in ipairs({ ... }) do
    for _, v in pairs(t) do all[#all + 1] = v end
  end
  return all
end

itsy.fields = values(head, f, g)
clcm.fields = values(c)
gfc.fields = values(r)
itsy.experts = { bad, foreign, cut, unpaused, home, declared, forged }
itsy.prefs.keys = Pref.string("File of keys", "", "Keys of authenticated links, by which tags are judged: a line with the name of a link and its key, or two")
itsy.prefs.names = Pref.string("File of names", "", "Names of ports, for captures that have none: a line with a port's number, address and name, as softswitch decode wireshark --names writes it")
clcm.experts = { clcm_bad }

local eth_dst = Field.new("eth.dst")
local eth_src = Field.new("eth.src")
local description = Field.new("frame.interface_description")
local direction = Field.new("frame.packet_flags_direction")
local interface = Field.new("frame.interface_name")
local INBOUND = 1

-- receiver is the number of the switch that has received this frame, nil if the capture
-- does not say: those of softswitch describe an interface as "switch 5 port 2".
local function receiver()
  local way, at = direction(), description()
  if not way or way.value ~= INBOUND or not at then return nil end
  return tonumber(at.value:match("^switch (%d+) "))
end

local function is_zero(tvb)
  return not tvb:raw():find("[^\0]")
end

-- open_named opens a file that a preference names. It returns nil if none is named, or if it cannot be
-- read, which it reports.
local function open_named(path)
  if path == "" then return nil end
  local file, why = io.open(path)
  if not file then report_failure("itsy: " .. why) end
  return file
end

-- names are those of ports by their numbers: of the interfaces of which control frames have come. given are
-- those of the file in the preferences, by number and by address.
local names, given, given_of = {}, {}, nil

local function load_names()
  if given_of == itsy.prefs.names then return end
  given, given_of = {}, itsy.prefs.names
  local file = open_named(given_of)
  if not file then return end
  for line in file:lines() do
    local number, address, name = line:match("^(%S+) (%S+) (%S+)$")
    if name then given[number], given[address] = name, name end
  end
  file:close()
end

-- add_sender adds the name of the port that sent a frame.
local function add_sender(root)
  load_names()
  local src = eth_src()
  local name = src and given[src.range:bytes():tohex(true, ":")]
  if name then root:add(f.sender, name):set_generated() end
end

local function learn_name()
  local at, name = description(), interface()
  local node, port = (at and at.value or ""):match("^switch (%d+) port (%d+)$")
  if node and name then names[node .. "." .. port] = name.value end
end

local function node_port(node, port)
  local number = string.format("%d.%d", node:uint(), port:uint())
  local name = names[number] or given[number]
  return name and string.format("%s (%s)", name, number) or number
end

-- judge_head adds the octets that every TLV of ours begins with. It returns the reason for
-- which this is none, and whether that makes it somebody else's. A want_length of nil is any.
local function judge_head(tvb, tree, want_length, want_subtype)
  tree:add(head.type, tvb(0, 2))
  if tvb(0, 2):bitfield(0, 7) ~= ORGANISATION then return "wrong TLV type; want 127", true end
  tree:add(head.length, tvb(0, 2))
  if want_length and tvb(0, 2):bitfield(7, 9) ~= want_length then return "wrong TLV length; want " .. want_length end
  tree:add(head.oui, tvb(2, 3))
  if tvb(2, 3):uint() ~= OUI then return "wrong OUI; want 02-49-54", true end
  tree:add(head.subtype, tvb(5, 1))
  if tvb(5, 1):uint() ~= want_subtype then return "wrong subtype; want " .. want_subtype end
end

-- has reports whether a flag is among flags.
local function has(flags, flag) return math.floor(flags / flag) % 2 == 1 end

-- add_flags adds the octet of priority and flags: with the meanings of the flags that are set,
-- as far as they have one.
local function add_flags(tvb, tree, meanings)
  local flags, said = tvb(7, 1):bitfield(3, 5), {}
  for i = 0, 4 do
    local meaning = meanings[2 ^ i]
    if meaning and has(flags, 2 ^ i) then said[#said + 1] = meaning end
  end
  tree:add(f.priority, tvb(7, 1))
  local item = tree:add(f.flags, tvb(7, 1))
  if #said > 0 then item:append_text(": " .. table.concat(said, "; ")) end
end

local function judge_fields(tvb, tree)
  local version, kind = tvb(6, 1):bitfield(0, 4), tvb(6, 1):bitfield(4, 4)
  tree:add(f.version, tvb(6, 1))
  if version ~= 1 then return "unknown version; want 1" end
  tree:add(f.kind, tvb(6, 1))
  if not KINDS[kind] then return "unknown kind; want 0 (period) to " .. #KINDS .. " (" .. KINDS[#KINDS] .. ")" end
end

-- What a kind makes of the octet of the hops.
local HOPS_TEXT = { [QUERY] = " (patience of the initiator)", [WALK] = " (port of the initiator by which the walk left)", [RESERVE] = " (frames)" }

local function add_fields(tvb, tree)
  local kind = tvb(6, 1):bitfield(4, 4)
  add_flags(tvb, tree, FLAGS[kind] or {})
  tree:add(f.initiator_node, tvb(8, 2))
  tree:add(f.initiator_port, tvb(10, 1))
  tree:add(f.seq, tvb(11, 2))
  tree:add(f.trigger_node, tvb(13, 2))
  tree:add(f.trigger_port, tvb(15, 1))
  local item = tree:add(f.hops, tvb(16, 1))
  if kind == LABEL and has(tvb(7, 1):bitfield(3, 5), HOST) then
    item:append_text(" (255ths of the pausing priority group's bytes that waited for that host)")
  end
  if HOPS_TEXT[kind] then item:append_text(HOPS_TEXT[kind]) end
  local period = tree:add(f.period, tvb(17, 1))
  if kind >= QUERY and kind <= ACK then period:append_text(" (priority of the initiator's priority group)") end
  if kind >= CLAIM and kind <= BUBBLE then period:append_text(" (frames of room that the loop needs)") end
  if kind == RESERVE then period:append_text(" (number of the message)") end
  item = tree:add(f.auth, tvb(18, 8))
  if is_zero(tvb(18, 8)) then item:append_text(" (off)") end
end

-- summary is the TLV in a line: label priority 3 from 5.2 seq 9 trigger 7.1 host's share 88 % period 12.
local function summary(tvb)
  local kind, flags = tvb(6, 1):bitfield(4, 4), tvb(7, 1):bitfield(3, 5)
  local none = kind == LABEL and is_zero(tvb(11, 2))
  local parts = { (none and "no " or "") .. KINDS[kind], "priority " .. tvb(7, 1):bitfield(0, 3) }
  if kind ~= 0 and not none then
    parts[#parts + 1] = "from " .. node_port(tvb(8, 2), tvb(10, 1)) .. " seq " .. tvb(11, 2):uint()
    if not is_zero(tvb(13, 3)) then parts[#parts + 1] = "trigger " .. node_port(tvb(13, 2), tvb(15, 1)) end
    if kind ~= LABEL then
      parts[#parts + 1] = "hops " .. tvb(16, 1):uint()
    elseif has(flags, HOST) then
      parts[#parts + 1] = string.format("host's share %d %%", math.floor((100 * tvb(16, 1):uint() + 127) / 255))
    end
  end
  parts[#parts + 1] = "period " .. tvb(17, 1):uint()
  if flags ~= 0 then parts[#parts + 1] = string.format("flags %#04x", flags) end
  if not is_zero(tvb(18, 8)) then parts[#parts + 1] = "auth " .. tvb(18, 8):bytes():tohex(true) end
  return table.concat(parts, " ")
end

-- remark adds what is worth a second look in a TLV that is whole.
local function remark(tvb, tree)
  if tvb(6, 1):bitfield(4, 4) ~= LABEL or is_zero(tvb(11, 2)) then return end
  if tvb(8, 2):uint() == receiver() then
    tree:add_proto_expert_info(home, "The label of " .. node_port(tvb(8, 2), tvb(10, 1)) .. " came home")
  end
  if has(tvb(7, 1):bitfield(3, 5), DECLARED) then tree:add_proto_expert_info(declared) end
end

-- refuse marks what is not as it should be, in the tree and the column.
local function refuse(tree, pinfo, info, reason)
  tree:append_text(": " .. reason)
  tree:add_proto_expert_info(info, reason)
  pinfo.cols.info:append(" [" .. reason .. "]")
end

-- AES-128 and its CMAC (RFC 4493) on lists of octets, for captures whose frames have tags:
-- Wireshark has no such thing for Lua, and no Lua of Wireshark's versions has the same operators
-- on bits. xor[a * 256 + b] is what it says.
local xor, sbox

local function make_tables()
  local nibble = {}
  for a = 0, 15 do
    for b = 0, 15 do
      local n = 0
      for i = 0, 3 do
        if math.floor(a / 2 ^ i) % 2 ~= math.floor(b / 2 ^ i) % 2 then n = n + 2 ^ i end
      end
      nibble[a * 16 + b] = n
    end
  end
  xor = {}
  for a = 0, 255 do
    for b = 0, 255 do
      xor[a * 256 + b] = nibble[math.floor(a / 16) * 16 + math.floor(b / 16)] * 16 + nibble[a % 16 * 16 + b % 16]
    end
  end
  -- The S-box: p goes through the powers of 3 in GF(2^8), q through those of its inverse.
  sbox = { [0] = 0x63 }
  local power = {} -- power[i] is 3^i
  local p = 1
  for i = 0, 254 do
    power[i] = p
    local double = p * 2 % 256
    if p >= 128 then double = xor[double * 256 + 0x1b] end
    p = xor[p * 256 + double]
  end
  for i = 0, 254 do
    local q, s = power[(255 - i) % 255], 0x63
    for turn = 0, 4 do
      s = xor[s * 256 + (q * 2 ^ turn % 256 + math.floor(q / 2 ^ (8 - turn)))]
    end
    sbox[power[i]] = s
  end
end

local function double(v)
  local d = v * 2 % 256
  return v >= 128 and xor[d * 256 + 0x1b] or d
end

-- expand makes the 176 octets of the round keys, from 0.
local function expand(key)
  local w, rcon = {}, 1
  for i = 0, 15 do w[i] = key[i + 1] end
  for i = 16, 175, 4 do
    local t = { w[i - 4], w[i - 3], w[i - 2], w[i - 1] }
    if i % 16 == 0 then
      t = { xor[sbox[t[2]] * 256 + rcon], sbox[t[3]], sbox[t[4]], sbox[t[1]] }
      rcon = double(rcon)
    end
    for k = 0, 3 do w[i + k] = xor[w[i - 16 + k] * 256 + t[k + 1]] end
  end
  return w
end

-- encrypt is AES-128 of a block of 16 octets, from 1, with round keys w.
local function encrypt(w, block)
  local s = {}
  for i = 0, 15 do s[i] = xor[block[i + 1] * 256 + w[i]] end
  for round = 1, 10 do
    local t = {}
    for i = 0, 15 do t[i] = sbox[s[(i + 4 * (i % 4)) % 16]] end
    if round < 10 then
      for c = 0, 12, 4 do
        local a, b, d, e = t[c], t[c + 1], t[c + 2], t[c + 3]
        local all = xor[xor[a * 256 + b] * 256 + xor[d * 256 + e]]
        local function mix(x, y) return xor[xor[x * 256 + all] * 256 + double(xor[x * 256 + y])] end
        t[c], t[c + 1], t[c + 2], t[c + 3] = mix(a, b), mix(b, d), mix(d, e), mix(e, a)
      end
    end
    for i = 0, 15 do s[i] = xor[t[i] * 256 + w[16 * round + i]] end
  end
  local out = {}
  for i = 0, 15 do out[i + 1] = s[i] end
  return out
end

local function subkey(k)
  local d = {}
  for i = 1, 16 do d[i] = k[i] * 2 % 256 + (i < 16 and math.floor(k[i + 1] / 128) or 0) end
  if k[1] >= 128 then d[16] = xor[d[16] * 256 + 0x87] end
  return d
end

-- new_mac makes ready to compute codes with a key of 16 octets.
local function new_mac(key)
  local w, zero = expand(key), {}
  for i = 1, 16 do zero[i] = 0 end
  local k1 = subkey(encrypt(w, zero))
  return { w = w, whole = k1, part = subkey(k1) }
end

-- code is the CMAC of a list of octets.
local function code(mac, text)
  local x, n = {}, math.max(1, math.ceil(#text / 16))
  for i = 1, 16 do x[i] = 0 end
  for block = 1, n do
    local last, whole = block == n, block * 16 <= #text
    for i = 1, 16 do
      local at = (block - 1) * 16 + i
      local v = text[at] or (at == #text + 1 and 0x80 or 0)
      if last then v = xor[v * 256 + (whole and mac.whole or mac.part)[i]] end
      x[i] = xor[x[i] * 256 + v]
    end
    x = encrypt(mac.w, x)
  end
  return x
end

-- The keys of the file in the preferences, by link: lists of what new_mac makes. What is no line
-- of a link is left out: softswitch says what is wrong with it.
local keys, keys_of = {}, nil

local function load_keys()
  if keys_of == itsy.prefs.keys then return end
  keys, keys_of = {}, itsy.prefs.keys
  local file = open_named(keys_of)
  if not file then return end
  if not xor then make_tables() end
  for line in file:lines() do
    local words = {}
    for word in line:gsub("#.*", ""):gmatch("%S+") do words[#words + 1] = word end
    for i = 2, #words do
      local key = {}
      for octet in words[i]:gmatch("%x%x") do key[#key + 1] = tonumber(octet, 16) end
      if #key == 16 and words[1] ~= "*" then
        local name = { ("softswitch link " .. words[1]):byte(1, -1) }
        keys[words[1]] = keys[words[1]] or {}
        table.insert(keys[words[1]], new_mac(code(new_mac(key), name)))
      end
    end
  end
  file:close()
end

-- What is known of those who send, by address: link, and the counter as two numbers, its upper
-- 48 bits and its lower 16. judged are the verdicts, by the number of the frame.
local senders, judged = {}, {}

function itsy.init()
  names, given_of = {}, nil
  senders, judged, keys_of = {}, {}, nil
end

-- frame_octets are those of a frame whose octets behind the EtherType are tvb.
local function frame_octets(tvb, ethertype)
  local all = {}
  local function add(bytes)
    for i = 0, bytes:len() - 1 do all[#all + 1] = bytes:get_index(i) end
  end
  add(eth_dst().range:bytes())
  add(eth_src().range:bytes())
  all[13], all[14] = math.floor(ethertype / 256), ethertype % 256
  add(tvb:bytes())
  return all
end

-- is_right reports whether one of these keys makes the code of a frame whose tag is at octet at.
local function is_right(macs, frame, at, upper, lower)
  local text = {}
  for i = 1, 6 do text[i] = math.floor(upper / 256 ^ (6 - i)) % 256 end
  text[7], text[8] = math.floor(lower / 256), lower % 256
  for i = 9, 16 do text[i] = 0 end
  for i, v in ipairs(frame) do text[16 + i] = (i > at and i <= at + 8) and 0 or v end
  for _, mac in ipairs(macs) do
    local c, same = code(mac, text), true
    for i = 1, 6 do same = same and c[i] == frame[at + 2 + i] end
    if same then return true end
  end
  return false
end

local function judge_tag(frame, at, hello)
  local src = tostring(eth_src().value)
  local lower = frame[at + 1] * 256 + frame[at + 2]
  if hello then
    local upper = 0
    for i = 41, 46 do upper = upper * 256 + frame[i] end
    for link, macs in pairs(keys) do
      if frame[47] * 256 + frame[48] == lower and is_right(macs, frame, at, upper, lower) then
        senders[src] = { link = link, upper = upper, lower = lower }
        return "believed", link
      end
    end
    return "wrong"
  end
  local s = senders[src]
  if not s then return "unknown" end
  local ahead = (lower - s.lower) % 65536
  local upper = s.upper
  if ahead < 32768 and lower < s.lower then upper = upper + 1 end
  if ahead >= 32768 and lower > s.lower then upper = upper - 1 end
  if not is_right(keys[s.link], frame, at, upper, lower) then return "wrong", s.link end
  if ahead < 32768 then s.upper, s.lower = upper, lower end
  return "believed", s.link
end

-- add_verdict adds what the tag of a frame is worth, if there are keys: at is where it begins in
-- the frame.
local function add_verdict(frame_tvb, ethertype, at, hello, pinfo, tree)
  load_keys()
  if not next(keys) or frame_tvb:len() < frame_tvb:reported_len() then return end
  local known = judged[pinfo.number]
  if not known then
    local frame = frame_octets(frame_tvb, ethertype)
    local none = true
    for i = at + 1, at + 8 do none = none and frame[i] == 0 end
    known = { "missing" }
    if not none then known = { judge_tag(frame, at, hello) } end
    judged[pinfo.number] = known
  end
  tree:add(f.verdict, known[1]):set_generated()
  if known[2] then tree:add(f.link, known[2]):set_generated() end
  if known[1] == "wrong" then
    tree:add_proto_expert_info(forged)
    pinfo.cols.info:append(" [wrong tag]")
  end
end

-- dissect_itsy adds the TLV of tvb, which begins with it, and returns its tree if it is
-- whole. in_message: it is not padding. lost: the capture has not kept the frame's end.
local function dissect_itsy(tvb, pinfo, root, in_message, lost)
  local tree = root:add(itsy, tvb(0, math.min(tvb:len(), TLV_LEN)))
  pinfo.cols.protocol = in_message and "ITSY" or "PFC+ITSY"
  if tvb:len() < TLV_LEN then
    refuse(tree, pinfo, lost and cut or bad, "truncated; want " .. TLV_LEN .. " octets, there are " .. tvb:len())
    return
  end
  if in_message and is_zero(tvb(0, TLV_LEN)) then
    refuse(tree, pinfo, bad, "a message that carries nothing")
    return
  end
  local reason, other = judge_head(tvb, tree, TLV_LEN - 2, SUBTYPE_ITSY)
  reason = reason or judge_fields(tvb, tree)
  if reason then
    refuse(tree, pinfo, other and not in_message and foreign or bad, reason)
    return
  end
  add_fields(tvb, tree)
  tree:append_text(", " .. summary(tvb))
  pinfo.cols.info:append((in_message and "" or "; ") .. summary(tvb))
  remark(tvb, tree)
  return tree
end

local function add_clcm_priority(tvb, tree)
  tree:add(c.priority, tvb(7, 1))
  tree:add(c.phase, tvb(7, 1))
end

local function judge_election(tvb, tree)
  if tvb(0, 2):bitfield(7, 9) ~= ELECTION_LEN - 2 then return "wrong TLV length; want 10" end
  if tvb:len() < ELECTION_LEN then return "truncated; want 12 octets" end
  add_clcm_priority(tvb, tree)
  tree:add(c.spuid, tvb(8, 4))
  if tvb(7, 1):bitfield(3, 5) ~= 0 then return "unknown phase; want 0 for an election" end
  if is_zero(tvb(8, 4)) then return "SPUID 0; want 1 or more" end
end

-- judge_path_length wants a path's hops to fit into its TLV and the TLV into the frame.
local function judge_path_length(tvb, tree)
  if tvb:len() < PATH_LEN then return "truncated; want 14 octets and 5 a hop" end
  local hops, length = tvb(13, 1):uint(), tvb(0, 2):bitfield(7, 9) + 2
  local want = PATH_LEN + HOP_LEN * hops
  add_clcm_priority(tvb, tree)
  tree:add(c.nonce, tvb(8, 4))
  tree:add(c.index, tvb(12, 1))
  tree:add(c.hops, tvb(13, 1))
  if hops == 0 or hops > MAX_HOPS or length < want then
    return "path does not fit its TLV; want 1 to 99 hops, as many as the length has room for"
  end
  if length ~= want then return "wrong TLV length; want 12 and 5 a hop" end
  if tvb:len() < length then return "truncated; want 14 octets and 5 a hop" end
end

local function judge_path_hops(tvb, tree)
  for i = 0, tvb(13, 1):uint() - 1 do
    local at = PATH_LEN + HOP_LEN * i
    tree:add(c.spuid, tvb(at, 4)):append_text(" (hop " .. i .. ")")
    tree:add(c.egress, tvb(at + 4, 1)):append_text(" (hop " .. i .. ")")
    if is_zero(tvb(at, 4)) then return "SPUID 0; want 1 or more" end
  end
end

local function judge_path(tvb, tree)
  local reason = judge_path_length(tvb, tree)
  if reason then return reason end
  local phase, index, hops = tvb(7, 1):bitfield(3, 5), tvb(12, 1):uint(), tvb(13, 1):uint()
  if phase > 1 then return "unknown phase; want 0 (detection) or 1 (release)" end
  if phase == 0 and index ~= hops or phase == 1 and index >= hops then
    return "index beyond the path; want the number of hops for a detection, less for a release"
  end
  return judge_path_hops(tvb, tree)
end

-- clcm_summary is the message in a line: release priority 3 nonce 01020304 hop 1 of 2.
local function clcm_summary(tvb)
  local priority = tvb(7, 1):bitfield(0, 3)
  if tvb(6, 1):bitfield(4, 4) == ELECTION then
    return string.format("election priority %d SPUID %08x", priority, tvb(8, 4):uint())
  end
  local nonce, index, hops = tvb(8, 4):uint(), tvb(12, 1):uint(), tvb(13, 1):uint()
  if tvb(7, 1):bitfield(3, 5) == 0 then
    return string.format("detection priority %d nonce %08x hops %d", priority, nonce, hops)
  end
  return string.format("release priority %d nonce %08x hop %d of %d", priority, nonce, index, hops)
end

local JUDGES = { [ELECTION] = judge_election, [PATH] = judge_path }

local function judge_clcm(tvb, tree)
  if tvb:len() < CLCM_HEAD_LEN then return "truncated; want 12 octets for an election, 14 and 5 a hop for a path" end
  local reason = judge_head(tvb, tree, nil, SUBTYPE_CLCM)
  if reason then return reason end
  tree:add(c.version, tvb(6, 1))
  if tvb(6, 1):bitfield(0, 4) ~= 1 then return "unknown version; want 1" end
  tree:add(c.kind, tvb(6, 1))
  local judge = JUDGES[tvb(6, 1):bitfield(4, 4)]
  if not judge then return "unknown kind; want 1 (election) or 2 (path)" end
  return judge(tvb, tree)
end

-- add_long_verdict is add_verdict for a message that is no ITSY TLV: its tag is the end of the frame.
local function add_long_verdict(tvb, pinfo, tree)
  if tvb:len() > MESSAGE_LEN then add_verdict(tvb, MESSAGE_TYPE, 14 + tvb:len() - 8, false, pinfo, tree) end
end

-- dissect_as puts a message into the tree as judge reads it, and summary into the columns;
-- malformed is what it is called if judge refuses it.
local function dissect_as(tvb, pinfo, tree, judge, summary, malformed)
  local reason = judge(tvb, tree)
  if reason then
    local lost = tvb:len() < tvb:reported_len() and reason:find("^truncated")
    refuse(tree, pinfo, lost and cut or malformed, reason)
    return
  end
  tree:append_text(", " .. summary(tvb))
  pinfo.cols.info:append(summary(tvb))
end

local function dissect_clcm(tvb, pinfo, root)
  pinfo.cols.protocol = "CLCM"
  local tree = root:add(clcm, tvb(0))
  dissect_as(tvb, pinfo, tree, judge_clcm, clcm_summary, clcm_bad)
  add_long_verdict(tvb, pinfo, tree)
end

-- is_subtype tells a message by its OUI and subtype, whatever else is wrong with it.
local function is_subtype(tvb, subtype)
  return tvb:len() >= 6 and tvb(0, 1):uint() >= 2 * ORGANISATION and tvb(2, 3):uint() == OUI and tvb(5, 1):uint() == subtype
end

-- dissect_rate reads a rate message; what is not whole is no rate message.
local function dissect_rate(tvb, pinfo, root)
  pinfo.cols.protocol = "GFC"
  local tree = root:add(gfc, tvb(0))
  tree:add(r.priority, tvb(7, 1))
  tree:add(r.stage, tvb(8, 1))
  local summary = string.format("rate priority %d stage %d", tvb(7, 1):bitfield(0, 3), tvb(8, 1):uint())
  tree:append_text(", " .. summary)
  pinfo.cols.info:append(summary)
  add_long_verdict(tvb, pinfo, tree)
end

-- judge_head_fields judges what a lap and a quest begin with.
local function judge_head_fields(tvb, tree, kind)
  add_flags(tvb, tree, kind == QUEST and QUEST_FLAGS or {})
  if tvb(7, 1):bitfield(3, 5) > (kind == QUEST and 7 or 0) then return "unknown flags; want none of a lap, 1, 2 and 4 of a quest" end
  tree:add(g.owner_node, tvb(8, 2))
  if is_zero(tvb(8, 2)) then return "no owner; want a switch" end
  tree:add(g.owner_port, tvb(10, 1))
  tree:add(g.rank, tvb(11, 2))
end

local function judge_about(tvb, tree)
  tree:add(g.about, tvb(13, 4))
  if is_zero(tvb(13, 4)) then return "about nothing; want a flow" end
  if tvb(21, 1):uint() > MAX_QUEST_HOPS then return "too many hops; want at most " .. MAX_QUEST_HOPS end
end

local function judge_diagnosis(tvb, tree)
  if tvb:len() < DIAGNOSIS_HEAD_LEN then return "truncated; want 417 octets for a lap, 121 for a quest" end
  local reason = judge_head(tvb, tree, nil, SUBTYPE_DIAGNOSIS)
  if reason then return reason end
  tree:add(f.version, tvb(6, 1))
  if tvb(6, 1):bitfield(0, 4) ~= 1 then return "unknown version; want 1" end
  local kind = tvb(6, 1):bitfield(4, 4)
  tree:add(g.kind, tvb(6, 1))
  local length = DIAGNOSIS_LEN[kind]
  if not length then return "unknown kind; want 1 (lap) or 2 (quest)" end
  if tvb(0, 2):bitfield(7, 9) ~= length - 2 then return "wrong TLV length; want " .. length - 2 end
  if tvb:len() < length then return "truncated; want " .. length .. " octets, there are " .. tvb:len() end
  reason = judge_head_fields(tvb, tree, kind) or kind == QUEST and judge_about(tvb, tree)
  if reason then return reason end
  local at = DIAGNOSIS_HOPS[kind]
  tree:add(g.hops, tvb(at, 1))
  tree:add(g.data, tvb(at + 1, length - at - 1))
end

-- diagnosis_summary is the message in a line: quest priority 3 from 5.2 rank 9 about flow 0a0b0c0d
-- hops 2, answered.
local function diagnosis_summary(tvb)
  local kind, flags = tvb(6, 1):bitfield(4, 4), tvb(7, 1):bitfield(3, 5)
  local from = string.format("priority %d from %s rank %d", tvb(7, 1):bitfield(0, 3), node_port(tvb(8, 2), tvb(10, 1)), tvb(11, 2):uint())
  local hops = " hops " .. tvb(DIAGNOSIS_HOPS[kind], 1):uint()
  if kind == LAP then return "lap " .. from .. hops end
  local answered = has(flags, ANSWERED) and ", answered" or ""
  return string.format("quest %s about flow %08x%s%s", from, tvb(13, 4):uint(), hops, answered)
end

local function dissect_diagnosis(tvb, pinfo, root)
  pinfo.cols.protocol = "ITSY"
  local tree = root:add(itsy, tvb(0))
  dissect_as(tvb, pinfo, tree, judge_diagnosis, diagnosis_summary, bad)
  add_long_verdict(tvb, pinfo, tree)
end

-- pfc is the PFC frame for whose padding chain calls itsy, nil if it is called for a message:
-- the class-enable vector, whether the capture has lost the frame's end, and what is behind its
-- EtherType.
local pfc

local function dissect_padding(tvb, pinfo, root, of)
  local tree = dissect_itsy(tvb, pinfo, root, false, of.cut)
  if tree then add_verdict(of.frame, PFC_TYPE, PFC_TAG, false, pinfo, tree) end
  if tree and math.floor(of.enabled / 2 ^ tvb(7, 1):bitfield(0, 3)) % 2 == 0 then
    tree:add_proto_expert_info(unpaused)
  end
end

local function dissect_message(tvb, pinfo, root)
  local to = eth_dst()
  if not to or to.range:bytes():tohex(true) ~= NEAREST_BRIDGE then return 0 end
  pinfo.cols.info = ""
  learn_name()
  add_sender(root)
  if is_subtype(tvb, SUBTYPE_CLCM) then
    dissect_clcm(tvb, pinfo, root)
    return tvb:len()
  end
  if is_subtype(tvb, SUBTYPE_DIAGNOSIS) then
    dissect_diagnosis(tvb, pinfo, root)
    return tvb:len()
  end
  if tvb:len() >= RATE_LEN and tvb(0, 7):bytes():tohex() == RATE_HEAD then
    dissect_rate(tvb, pinfo, root)
    return tvb:len()
  end
  local tree = dissect_itsy(tvb, pinfo, root, true, tvb:len() < tvb:reported_len())
  if tree and tvb:reported_len() ~= MESSAGE_LEN then
    local long = tvb:reported_len() > MESSAGE_LEN
    refuse(tree, pinfo, bad, "message frame " .. (long and "longer" or "shorter") .. " than 60 bytes")
  elseif tree then
    local hello = tvb(6, 1):bitfield(4, 4) == HELLO
    if hello then
      tree:add(f.hello_counter, tvb(26, 8))
      tree:add(f.hello_value, tvb(34, 8))
    elseif tvb:len() >= 28 then
      tree:add(f.number, tvb(26, 2))
    end
    add_verdict(tvb, MESSAGE_TYPE, MESSAGE_TAG, hello, pinfo, tree)
  end
  return tvb:len()
end

function itsy.dissector(tvb, pinfo, root)
  local of = pfc
  pfc = nil
  if not of then return dissect_message(tvb, pinfo, root) end
  dissect_padding(tvb, pinfo, root, of)
  return tvb:len()
end

local ethertypes = DissectorTable.get("ethertype")
local mac_control = ethertypes:get_dissector(0x8808)

function chain.dissector(tvb, pinfo, root)
  pcall(mac_control.call, mac_control, tvb, pinfo, root) -- of a frame that is cut it says so itself
  learn_name()
  add_sender(root)
  if tvb:len() > PFC_PADDING and tvb(0, 2):uint() == PFC_OPCODE and not is_zero(tvb(PFC_PADDING)) then
    pfc = { enabled = tvb(3, 1):uint(), cut = tvb:len() < tvb:reported_len(), frame = tvb }
    Dissector.get("itsy"):call(tvb(PFC_PADDING):tvb(), pinfo, root)
  end
  return tvb:len()
end

ethertypes:add(0x8808, chain)
ethertypes:add(0x88b5, itsy)
