// Plays the plan that compare.py writes in ns-3: output-queued switches with PFC (IEEE 802.1Q, clause
// 36), hosts that send UDP and obey pauses, links with rate and delay. Scheduler, packets and headers
// are ns-3's; switch, host and port are below, and share no code with softswitch.
//
//   pfc PLAN TRACE fifo|port
//
// PLAN has a line for each thing; times are in ns, rates in bit/s, lengths in bytes without FCS:
//
//   duration TIME
//   overhead LENGTH                          what each frame takes of a wire beside its bytes
//   switch NAME XOFF XON ROOM QUANTA REFRESH   a priority group of each port pauses at XOFF and resumes
//                                              at XON; above ROOM frames are lost
//   host NAME
//   port NODE NAME RATE                        in the order of the ports of NODE
//   link NODE PORT NODE PORT DELAY             ports by name
//   flow NUMBER HOST PRIORITY TTL RATE FRAME START STOP SIZE   STOP and SIZE 0: without end
//   route NODE FLOW PORT
//
// TRACE, unless "-", gets a line for each frame that begins to leave: TIME NODE PORT KIND FLOW LENGTH, with
// KIND data, pause or resume, and the priority instead of FLOW where it is no data. On standard output are
// frame-hops, events, frames lost for want of room and seconds of processor time of the run.
//
// Of events at one time the first scheduled is the first (fifo), or they go by port, in the order of the
// plan, what leaves before what arrives (port): softswitch's order. Time has picoseconds, which only hold
// that order: all durations are in whole nanoseconds, rounded up.
#include <ns3/core-module.h>
#include <ns3/network-module.h>
#include <ns3/ethernet-header.h>
#include <ns3/ipv4-header.h>
#include <ns3/udp-header.h>

#include <algorithm>
#include <ctime>
#include <cstdio>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

using namespace ns3;

namespace {

constexpr int priorities = 8;
constexpr int64_t never = INT64_MAX;
constexpr uint32_t pauseLength = 60;
constexpr uint16_t macControl = 0x8808;
constexpr int64_t portsMax = 500; // two events of each, a picosecond apart, have place in a nanosecond

uint32_t wireOverhead; // what a frame takes of the wire beside its bytes
bool byPort;
FILE* trace;
uint64_t hops, lost;

int64_t now() { return Simulator::Now().GetPicoSeconds() / 1000; }

// at schedules what happens to a port at a time in ns: what leaves (arrival 0), or arrives (1).
void at(int64_t time, int id, int arrival, std::function<void()> what)
{
    int64_t ps = time * 1000 + (byPort ? 2 * id + arrival : 0);
    Simulator::Schedule(PicoSeconds(std::max<int64_t>(ps - Simulator::Now().GetPicoSeconds(), 0)), what);
}

int64_t frameTime(uint32_t bytes, int64_t rate)
{
    return ((bytes + wireOverhead) * 8 * 1000000000LL + rate - 1) / rate;
}

// PfcHeader is what follows the Ethernet header of a PFC frame.
class PfcHeader : public Header
{
  public:
    uint16_t opcode = 0x0101;
    uint16_t enable = 0;
    uint16_t quanta[priorities] = {};

    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("PfcHeader").SetParent<Header>().AddConstructor<PfcHeader>();
        return id;
    }
    TypeId GetInstanceTypeId() const override { return GetTypeId(); }
    uint32_t GetSerializedSize() const override { return 4 + 2 * priorities; }
    void Print(std::ostream& os) const override { os << "PFC " << enable; }
    void Serialize(Buffer::Iterator i) const override
    {
        i.WriteHtonU16(opcode);
        i.WriteHtonU16(enable);
        for (auto q : quanta) i.WriteHtonU16(q);
    }
    uint32_t Deserialize(Buffer::Iterator i) override
    {
        opcode = i.ReadNtohU16();
        enable = i.ReadNtohU16();
        for (auto& q : quanta) q = i.ReadNtohU16();
        return GetSerializedSize();
    }
};

struct Machine;

struct Waiting // a frame in an egress queue
{
    Ptr<Packet> packet;
    int in;        // port by which it came, -1 at its sender
    int priority;
    uint16_t flow;
};

struct Port
{
    Machine* machine;
    std::string name;
    int id; // in the order of the plan
    int64_t rate;
    Port* peer = nullptr;
    int64_t delay = 0;

    bool busy = false;
    Waiting sending;
    std::deque<Waiting> queues[priorities];
    int backlog = 0; // priorities whose queue is not empty, as bits
    int64_t pausedUntil[priorities] = {};

    // Of the priority groups of the ingress.
    int64_t bytes[priorities] = {};
    bool xoff[priorities] = {};
    int told = 0; // priorities whose pause has left and is to be repeated, as bits
    int64_t refreshAt[priorities] = {};
    std::deque<int> toTell; // priorities for which a pause or resume is to leave

    bool paused(int c) const { return pausedUntil[c] > now(); }
    void tell(int c)
    {
        if (std::find(toTell.begin(), toTell.end(), c) == toTell.end()) toTell.push_back(c);
    }
};

struct Flow
{
    uint16_t number;
    int priority, ttl;
    int64_t rate;
    uint32_t frame;
    int64_t stop, size, due, sent = 0;
};

struct Machine
{
    std::string name;
    bool isSwitch;
    int64_t xoff = 0, xon = 0, room = 0, refresh = 0;
    uint16_t quanta = 0;
    std::vector<Port*> ports;
    std::map<uint16_t, Port*> routes; // by the UDP source port, which tells flows apart
    std::vector<Flow> flows;
    size_t turn = 0; // of the flows
    int64_t patience = 0;
    int64_t wakes = 0; // when a flow is looked for next, if that is to come

    void receive(Port* p, Ptr<Packet> packet);
    void receivePause(Port* p, Ptr<Packet> packet);
    void forward(Port* p, Ptr<Packet> packet);
    void leave(Port* p, Waiting w, const char* kind);
    void left(Port* p);
    void transmit(Port* p);
    void transmitAll();
    bool transmitPause(Port* p);
    bool transmitQueue(Port* p);
    bool transmitFlow(Port* p);
};

std::vector<Machine*> machines;
std::vector<Port*> allPorts;

constexpr uint16_t firstPort = 49152; // UDP source port of flow 0

Ptr<Packet> withHeaders(Ptr<Packet> packet, Ipv4Header& ip)
{
    EthernetHeader ethernet(false);
    ethernet.SetLengthType(0x0800);
    packet->AddHeader(ip);
    packet->AddHeader(ethernet);
    return packet;
}

// receive takes a frame that has arrived as a whole (store and forward).
void Machine::receive(Port* p, Ptr<Packet> packet)
{
    hops++;
    EthernetHeader ethernet(false);
    packet->RemoveHeader(ethernet);
    if (ethernet.GetLengthType() == macControl)
        receivePause(p, packet);
    else if (isSwitch)
        forward(p, packet);
    transmitAll();
}

void Machine::receivePause(Port* p, Ptr<Packet> packet)
{
    PfcHeader pfc;
    packet->RemoveHeader(pfc);
    for (int c = 0; c < priorities; c++)
    {
        if (!(pfc.enable >> c & 1)) continue;
        p->pausedUntil[c] = now() + pfc.quanta[c] * 512 * 1000000000LL / p->rate;
        if (pfc.quanta[c] > 0) at(p->pausedUntil[c], p->id, 0, [=] { transmit(p); });
    }
}

void Machine::forward(Port* p, Ptr<Packet> packet)
{
    uint32_t length = packet->GetSize() + EthernetHeader(false).GetSerializedSize();
    Ipv4Header ip;
    packet->RemoveHeader(ip);
    UdpHeader udp;
    packet->PeekHeader(udp);
    uint16_t flow = udp.GetSourcePort() - firstPort;
    int c = ip.GetTos() >> 5;
    if (ip.GetTtl() <= 1) return;
    if (p->bytes[c] + length > room)
    {
        lost++;
        return;
    }
    ip.SetTtl(ip.GetTtl() - 1);
    p->bytes[c] += length;
    if (!p->xoff[c] && p->bytes[c] >= xoff)
    {
        p->xoff[c] = true;
        p->tell(c);
    }
    int in = std::find(ports.begin(), ports.end(), p) - ports.begin();
    auto route = routes.find(flow);
    NS_ABORT_MSG_IF(route == routes.end(), "flow " << flow << " comes to " << name << ", where it has no route");
    Port* out = route->second;
    out->queues[c].push_back({withHeaders(packet, ip), in, c, flow});
    out->backlog |= 1 << c;
}

// leave begins to send a frame. The far end has it when all of it, and the gap, have left.
void Machine::leave(Port* p, Waiting w, const char* kind)
{
    uint32_t length = w.packet->GetSize();
    int64_t end = now() + frameTime(length, p->rate);
    if (trace)
        std::fprintf(trace, "%ld %s %s %s %d %u\n", now(), name.c_str(), p->name.c_str(), kind,
                     kind[0] == 'd' ? w.flow : w.priority, length);
    p->busy = true;
    p->sending = w;
    Port* far = p->peer;
    Ptr<Packet> copy = w.packet->Copy();
    at(end, p->id, 0, [=] { left(p); });
    at(end + p->delay, far->id, 1, [=] { far->machine->receive(far, copy); });
}

// left releases the bytes of a frame that has left.
void Machine::left(Port* p)
{
    p->busy = false;
    Waiting w = p->sending;
    p->sending.packet = nullptr;
    if (w.in >= 0)
    {
        Port* in = ports[w.in];
        in->bytes[w.priority] -= w.packet->GetSize();
        if (in->xoff[w.priority] && in->bytes[w.priority] <= xon)
        {
            in->xoff[w.priority] = false;
            in->tell(w.priority);
        }
    }
    transmit(p);
    transmitAll();
}

void Machine::transmitAll()
{
    for (auto p : ports) transmit(p);
}

// transmit sends the next frame of a port that is idle: pauses before data.
void Machine::transmit(Port* p)
{
    for (int c = 0; p->told >> c; c++)
        if (p->told >> c & 1 && p->refreshAt[c] <= now()) p->tell(c);
    if (!p->busy && !transmitPause(p) && !transmitQueue(p)) transmitFlow(p);
}

// transmitPause tells the far end of a priority group what it is now.
bool Machine::transmitPause(Port* p)
{
    if (p->toTell.empty()) return false;
    int c = p->toTell.front();
    p->toTell.pop_front();
    PfcHeader pfc;
    pfc.enable = 1 << c;
    pfc.quanta[c] = p->xoff[c] ? quanta : 0;
    EthernetHeader ethernet(false);
    ethernet.SetLengthType(macControl);
    auto packet = Create<Packet>(pauseLength - pfc.GetSerializedSize() - ethernet.GetSerializedSize());
    packet->AddHeader(pfc);
    packet->AddHeader(ethernet);
    p->told &= ~(1 << c);
    if (p->xoff[c])
    {
        p->told |= 1 << c;
        p->refreshAt[c] = now() + refresh;
        at(p->refreshAt[c], p->id, 0, [=] { transmit(p); });
    }
    leave(p, {packet, -1, c, 0}, p->xoff[c] ? "pause" : "resume");
    return true;
}

bool Machine::transmitQueue(Port* p)
{
    for (int c = 0; p->backlog >> c; c++)
    {
        if (!(p->backlog >> c & 1) || p->paused(c)) continue;
        Waiting w = p->queues[c].front();
        p->queues[c].pop_front();
        if (p->queues[c].empty()) p->backlog &= ~(1 << c);
        leave(p, w, "data");
        return true;
    }
    return false;
}

// transmitFlow sends a frame of a host's flow that is due: round robin. The next is due when it would
// have left at the flow's rate, at a wire of which it takes as much as here. A flow that waited for the
// others of its host may catch up, one that waited for a pause may not.
bool Machine::transmitFlow(Port* p)
{
    int64_t next = never;
    for (size_t i = 0; i < flows.size(); i++)
    {
        size_t k = (turn + i) % flows.size();
        Flow& f = flows[k];
        bool over = f.stop && std::max(f.due, now()) >= f.stop || f.size && f.sent >= f.size;
        if (over || p->paused(f.priority)) continue;
        if (f.due > now())
        {
            next = std::min(next, f.due);
            continue;
        }
        turn = k + 1;
        int64_t length = f.size ? std::min<int64_t>(f.frame, std::max<int64_t>(f.size - f.sent, 60)) : f.frame;
        UdpHeader udp;
        udp.SetSourcePort(firstPort + f.number);
        udp.SetDestinationPort(4791);
        Ipv4Header ip;
        ip.SetTtl(f.ttl);
        ip.SetTos(f.priority << 5);
        ip.SetProtocol(17);
        ip.SetPayloadSize(length - 14 - 20);
        auto packet = Create<Packet>(length - 14 - 20 - 8);
        packet->AddHeader(udp);
        f.sent += length;
        f.due = std::max(f.due, now() - patience) + frameTime(length, f.rate);
        leave(p, {withHeaders(packet, ip), -1, f.priority, f.number}, "data");
        return true;
    }
    if (next < never && (wakes <= now() || next < wakes))
    {
        wakes = next;
        at(next, p->id, 0, [=] { transmit(p); });
    }
    return false;
}

Machine* machine(const std::string& name)
{
    for (auto m : machines)
        if (m->name == name) return m;
    NS_FATAL_ERROR("plan: no node " << name);
    return nullptr;
}

Port* port(const std::string& node, const std::string& name)
{
    for (auto p : machine(node)->ports)
        if (p->name == name) return p;
    NS_FATAL_ERROR("plan: no port " << name << " of " << node);
    return nullptr;
}

// read makes the machines of a plan, and returns its duration.
int64_t read(const char* file)
{
    std::ifstream plan(file);
    int64_t duration = 0;
    for (std::string line; std::getline(plan, line);)
    {
        std::istringstream in(line);
        std::string what, node, name;
        in >> what;
        if (what == "duration")
            in >> duration;
        else if (what == "overhead")
            in >> wireOverhead;
        else if (what == "switch" || what == "host")
        {
            auto m = new Machine;
            m->isSwitch = what == "switch";
            in >> m->name;
            if (m->isSwitch) in >> m->xoff >> m->xon >> m->room >> m->quanta >> m->refresh;
            machines.push_back(m);
        }
        else if (what == "port")
        {
            auto p = new Port;
            in >> node >> p->name >> p->rate;
            p->machine = machine(node);
            p->id = allPorts.size();
            p->machine->ports.push_back(p);
            allPorts.push_back(p);
        }
        else if (what == "link")
        {
            std::string farNode, farName;
            int64_t delay;
            in >> node >> name >> farNode >> farName >> delay;
            Port *a = port(node, name), *b = port(farNode, farName);
            a->peer = b, b->peer = a, a->delay = b->delay = delay;
        }
        else if (what == "flow")
        {
            Flow f;
            in >> f.number >> node >> f.priority >> f.ttl >> f.rate >> f.frame >> f.due >> f.stop >> f.size;
            auto m = machine(node);
            m->flows.push_back(f);
        }
        else if (what == "route")
        {
            uint16_t flow;
            in >> node >> flow >> name;
            machine(node)->routes[flow] = port(node, name);
        }
        else
            NS_FATAL_ERROR("plan: " << line);
        NS_ABORT_MSG_IF(!in, "plan: " << line);
    }
    NS_ABORT_MSG_IF(allPorts.size() > portsMax, "plan: more than " << portsMax << " ports");
    return duration;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 4)
    {
        std::cerr << "usage: pfc PLAN TRACE fifo|port\n";
        return 2;
    }
    Time::SetResolution(Time::PS);
    byPort = std::string(argv[3]) == "port";
    if (std::string(argv[2]) != "-") trace = std::fopen(argv[2], "w");
    int64_t duration = read(argv[1]);
    for (auto m : machines)
    {
        if (m->isSwitch) continue;
        // A flow that waits for the others of its host may catch up by one frame of each.
        if (!m->flows.empty()) m->patience = (m->flows.size() - 1) * frameTime(1514, m->ports[0]->rate);
        at(0, m->ports[0]->id, 0, [=] { m->transmit(m->ports[0]); });
    }
    Simulator::SetScheduler(ObjectFactory("ns3::PriorityQueueScheduler")); // the fastest of ns-3's here
    Simulator::Stop(PicoSeconds(duration * 1000 + 999));
    std::clock_t begin = std::clock();
    Simulator::Run();
    double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
    std::printf("hops %lu events %lu lost %lu seconds %.3f\n", hops, Simulator::GetEventCount(), lost, seconds);
    if (trace) std::fclose(trace);
    return 0;
}
