package buffer

import (
	"fmt"
	"slices"
	"unsafe"

	"softswitch/unit"
)

// group is the account of one lossless priority group.
type group struct {
	bytes, headroom       int32
	bytesMax, headroomMax int32
	extra                 int32 // added to the shared bytes that it may use
	xoff                  bool
	period                uint8
	in                    unit.Port
}

// MMU keeps the accounts of one switch: bytes per priority group (ingress port, priority) in
// its reserved, shared and headroom areas, and M(priority group, queue). It is owned by
// one machine.
//
// The zero value is not usable; NewMMU makes one.
type MMU struct {
	cfg    Config
	shared int // bytes of the shared pool in use
	extra  int // bytes of the shared pool that groups may use in addition, in use or not
	// index of a priority among the lossless ones, -1 for a lossy priority
	index    [unit.Priorities]int8
	lossless int // number of lossless priorities
	groups   []group
	rules    []Rule  // by port
	raised   Rule    // scratch: of a group with an extra threshold
	shares   bool    // Config.Shares
	stale    bool    // Moved may have something to say
	told     []int32 // by group: what Moved said of it last; nil if the pool is not shared
	short    bool    // a headroom is in use for want of pool, or was and some is in use since
	high     int     // groups that use their headroom
	held     []int32 // M, [priority group][queue] over lossless priorities
	width    int     // queues of held: ports x lossless priorities
	open     int     // groups that are XOFF
	xoffs    []int32 // headroom of a group, by port
	rooms    []int32 // by port: bytes in the headrooms of its groups, slack apart; nil without a pool of headroom
	pooled   int     // bytes of the pool of headroom in use
}

// NewMMU makes the accounts for c; the error is Check's.
func NewMMU(c Config) (*MMU, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	m := &MMU{cfg: c, lossless: c.Lossless.Len()}
	n := int8(0)
	for cl := range unit.Priority(unit.Priorities) {
		m.index[cl] = -1
		if c.Lossless.Has(cl) {
			m.index[cl] = n
			n++
		}
	}
	m.width = c.Ports * m.lossless
	m.groups = make([]group, m.width)
	if m.shares = c.Shares(); m.shares {
		m.told = make([]int32, m.width)
	}
	for i := range m.groups {
		m.groups[i].in = unit.Port(i / m.lossless)
	}
	for in := range unit.Port(c.Ports) {
		m.rules = append(m.rules, c.Rule(in))
		m.xoffs = append(m.xoffs, int32(c.XOFF(in)))
	}
	if c.HeadroomPool != nil {
		m.rooms = make([]int32, c.Ports)
	}
	m.held = make([]int32, m.width*m.width)
	return m, nil
}

// Verdict is the MMU's answer to a frame.
type Verdict uint8

// Verdicts.
const (
	Accepted     Verdict = iota // within the reserved and shared areas
	InHeadroom                  // above the XOFF threshold
	HeadroomFull                // dropped: the upstream did not stop in time
)

// Admit charges a frame of n bytes ([Config.Charge]) to the priority group (in, priority) of a lossless
// priority: all to its reserved and shared areas, or all to its headroom, of which what limit and pool allow
// moves on. xoff says that this frame made the priority group XOFF: its period has grown by one. One that is
// refused does too, or a sender to a group without headroom would never be paused. A priority
// group that is at its XOFF threshold and not above XON, which is the same where xon_offset is 0, does not
// pause: nobody would resume it.
func (m *MMU) Admit(in unit.Port, priority unit.Priority, n int) (v Verdict, xoff bool) {
	g := m.group(in, priority)
	n = m.cfg.Charge(n)
	usual := int(g.bytes - g.headroom)
	before, after := m.above(usual), m.above(usual+n)
	limit := m.limitOf(g)
	switch {
	case after <= limit && m.shared+after-before <= m.cfg.Shared:
		m.shared += after - before
	case m.hasHeadroom(g, n):
		v = InHeadroom
		m.setHeadroom(g, int(g.headroom)+n)
	default:
		v, n = HeadroomFull, 0
	}
	g.bytes += int32(n)
	if g.headroom > 0 {
		m.drainHeadroom(g)
		g.headroomMax = max(g.headroomMax, g.headroom)
	}
	g.bytesMax = max(g.bytesMax, g.bytes)
	if !g.xoff && (v == HeadroomFull || g.headroom > 0 || int(g.bytes) >= m.cfg.Profile.Size+limit) && int(g.bytes) > m.xonOf(g) {
		g.xoff, xoff = true, true
		g.period++
		m.open++
	}
	return v, xoff
}

// hasHeadroom reports whether the headroom of g has room for n bytes more.
func (m *MMU) hasHeadroom(g *group, n int) bool {
	if int(g.headroom)+n > int(m.xoffs[g.in])+m.cfg.Profile.Slack {
		return false
	}
	return m.rooms == nil || m.poolAfter(g, int(g.headroom)+n) <= max(m.cfg.HeadroomPool.Bytes, m.pooled)
}

// poolAfter is how many bytes of the pool of headroom would be in use if g had n in its headroom.
func (m *MMU) poolAfter(g *group, n int) int {
	own, xoff := m.cfg.HeadroomPool.Port, int(m.xoffs[g.in])
	was := int(m.rooms[g.in])
	now := was + min(n, xoff) - min(int(g.headroom), xoff)
	return m.pooled + max(0, now-own) - max(0, was-own)
}

// Release takes a frame of n bytes from the priority group (in, priority): from its headroom first. What is
// left in the headroom moves to the shared area as far as the limit and the pool allow. xon says that the
// priority group fell to its XON threshold by it.
func (m *MMU) Release(in unit.Port, priority unit.Priority, n int) (xon bool) {
	g := m.group(in, priority)
	n = m.cfg.Charge(n)
	if int(g.bytes) < n {
		panic(fmt.Sprintf("buffer: release of %d bytes from priority group (%d, %d) that holds %d", n, in, priority, g.bytes))
	}
	fromHeadroom := min(int(g.headroom), n)
	usual := int(g.bytes - g.headroom)
	m.shared -= m.above(usual) - m.above(usual-(n-fromHeadroom))
	g.bytes -= int32(n)
	if fromHeadroom > 0 {
		m.setHeadroom(g, int(g.headroom)-fromHeadroom)
	}
	return g.xoff && m.resume(g)
}

// Reopened finds a priority group that is XOFF although it is at or below its XON
// threshold, and makes it XON. Others that release make such priority groups: a dynamic threshold
// rises by it, and a pool that was full has room for what waits in a headroom. Call it
// after each Release until ok is false.
func (m *MMU) Reopened() (in unit.Port, priority unit.Priority, ok bool) {
	if m.open == 0 || !m.cfg.Profile.Dynamic && !m.short {
		return 0, 0, false
	}
	return m.reopened()
}

func (m *MMU) reopened() (in unit.Port, priority unit.Priority, ok bool) {
	for i := range m.groups {
		if g := &m.groups[i]; (m.cfg.Profile.Dynamic || g.headroom > 0) && m.resume(g) {
			return unit.Port(i / m.lossless), m.priority(i % m.lossless), true
		}
	}
	return 0, 0, false
}

// resume makes g XON if it holds no more than its XON threshold. That is never above what it
// may hold outside its headroom, so the headroom is empty then.
func (m *MMU) resume(g *group) bool {
	if !g.xoff {
		return false
	}
	m.drainHeadroom(g)
	if int(g.bytes) > m.xonOf(g) {
		return false
	}
	g.xoff = false
	m.open--
	return true
}

// HasMoved reports whether Moved may find one.
func (m *MMU) HasMoved() bool { return m.stale }

// Moved finds a priority group of which outside, what it has outside its headroom, is another than
// Moved said before, while it has bytes in its headroom; or whose headroom is empty again,
// for which outside is 0. That decides when it resumes only where the pool is shared
// ([Config.Shares]), and elsewhere there is none: after each change, where HasMoved, call it until ok is false.
func (m *MMU) Moved() (in unit.Port, priority unit.Priority, outside, headroom int, ok bool) {
	for i := range m.groups {
		g := &m.groups[i]
		now := g.bytes - g.headroom
		if g.headroom == 0 {
			now = 0
		}
		if now != m.told[i] {
			m.told[i] = now
			return g.in, m.priority(i % m.lossless), int(now), int(g.headroom), true
		}
	}
	m.stale = false
	return 0, 0, 0, 0, false
}

// SetExtra raises the thresholds of the priority group (in, priority) by n bytes, which replaces
// what it was given before; 0 takes it back. What the priority group has in its headroom moves to the
// shared area as far as the new threshold allows. xon says that the priority group resumes by
// it. ok is false, and nothing changes, if the shared pool has not n bytes that are
// neither in use nor given to another.
func (m *MMU) SetExtra(in unit.Port, priority unit.Priority, n int) (xon, ok bool) {
	g := m.group(in, priority)
	if n > int(g.extra) && m.shared+m.extra-int(g.extra)+n > m.cfg.Shared {
		return false, false
	}
	m.extra += n - int(g.extra)
	g.extra = int32(n)
	return m.resume(g), true
}

// drainHeadroom moves what g has in its headroom to its reserved and shared areas, as far as
// its limit and the pool allow.
func (m *MMU) drainHeadroom(g *group) {
	if g.headroom == 0 {
		return
	}
	usual, r := int(g.bytes-g.headroom), m.rule(g)
	limit := r.Size + r.limit(m.shared)
	move := max(0, min(int(g.headroom), r.room(m.shared, usual)-usual))
	m.shared += m.above(usual+move) - m.above(usual)
	m.setHeadroom(g, int(g.headroom)-move)
	m.short = m.short || g.headroom > 0 && usual+move < limit
}

func (m *MMU) setHeadroom(g *group, n int) {
	switch was := g.headroom > 0; {
	case n > 0 && !was:
		m.high++
	case n == 0 && was:
		m.high--
	}
	if int(g.headroom) != n {
		if m.rooms != nil {
			m.pooled = m.poolAfter(g, n)
			m.rooms[g.in] += int32(min(n, int(m.xoffs[g.in])) - min(int(g.headroom), int(m.xoffs[g.in])))
		}
		g.headroom = int32(n)
		m.stale = m.shares
	}
	m.short = m.short && m.high > 0
}

// Extra is by how much the thresholds of the priority group are raised, in bytes.
func (m *MMU) Extra(in unit.Port, priority unit.Priority) int {
	return int(m.group(in, priority).extra)
}

// Room is how many bytes ([Config.Charge]), in frames of any length, the priority group (in, priority) takes
// for sure before its state changes: before it goes XOFF, or, while it is, before its headroom is full. What
// other priority groups take of the shared pool counts too.
func (m *MMU) Room(in unit.Port, priority unit.Priority) int {
	g, p := m.group(in, priority), m.cfg.Profile
	usual := int(g.bytes - g.headroom)
	room := p.Size + m.limitOf(g) - usual
	switch {
	case !p.Dynamic:
	case p.DynamicTh >= 0: // each byte lowers the limit by alpha bytes
		room /= 1 + 1<<p.DynamicTh
	default:
		room = room << -p.DynamicTh / (1 + 1<<-p.DynamicTh)
	}
	pool := m.cfg.Shared - m.shared + max(0, p.Size-usual)
	if g.xoff {
		return max(min(room, pool), m.headroomLeft(g))
	}
	if p.Dynamic || m.rule(g).XONOffset > 0 {
		room-- // what reaches the threshold is XOFF, unless it is at XON too
	}
	return max(0, min(room, pool))
}

// Kept is how many bytes ([Config.Charge]) the priority group (in, priority), which is XOFF, takes for sure,
// outside its headroom and then in it, whatever others take of the shared pool, or of a pool of headroom, by
// then, as long as nothing more is lent. With dynamic thresholds nothing outside is sure. Of a pool of headroom
// the port's own part is, where it has one lossless priority, and else nothing.
func (m *MMU) Kept(in unit.Port, priority unit.Priority) (outside, headroom int) {
	g := m.group(in, priority)
	if !m.cfg.Profile.Dynamic {
		others := m.cfg.staticShares() - m.cfg.Rule(in).StaticTh + m.extra - int(g.extra)
		for i := range m.groups { // one that was lent more may hold more than it may use now
			o := &m.groups[i]
			if o != g {
				others += max(0, m.above(int(o.bytes-o.headroom))-m.rules[o.in].StaticTh-int(o.extra))
			}
		}
		outside = max(0, m.cfg.Profile.Size+min(m.limitOf(g), m.cfg.Shared-others)-int(g.bytes-g.headroom))
	}
	headroom = int(m.xoffs[in]) - int(g.headroom)
	switch {
	case m.rooms == nil:
	case m.cfg.LosslessAt(in).Len() == 1:
		headroom = min(headroom, m.cfg.HeadroomPool.Port-int(m.rooms[in]))
	default:
		headroom = 0
	}
	return outside, max(0, headroom)
}

// headroomLeft is how many bytes the headroom of g has left.
func (m *MMU) headroomLeft(g *group) int {
	left := int(m.xoffs[g.in]) - int(g.headroom)
	if m.rooms != nil {
		left = min(left, max(0, m.cfg.HeadroomPool.Port-int(m.rooms[g.in]))+m.cfg.HeadroomPool.Bytes-m.pooled)
	}
	return left
}

// AtOnce is how many bytes a far end like this one may send to a port at once. It is half
// of the smaller of
//
//   - what a priority group takes before it goes XOFF if those of all other ports hold as much:
//     one burst leaves while the next one comes, and where nothing is congested nothing
//     pauses;
//   - the headroom: the other half is for what still arrives until the pause takes effect.
//
// With DefaultProfile it is 30720 / 2 = 15360 bytes: ten frames of 1514. Where frames are charged
// whole cells it is as much less as the shortest frames, or those a byte longer than a cell, are
// charged more.
func (m *MMU) AtOnce(in unit.Port) int {
	n := min(m.cfg.Profile.Size+m.share(in), int(m.xoffs[in])) / 2
	if m.cfg.Cell > 1 {
		n /= max(2, (m.cfg.Charge(shortest)+shortest-1)/shortest)
	}
	return n
}

// share is how many shared bytes a priority group of a port may use before XOFF if one priority group of
// each port uses as many.
func (m *MMU) share(in unit.Port) int {
	p, ports, shared := m.cfg.Profile, m.cfg.Ports, m.cfg.Shared
	switch {
	case m.cfg.Thresholds != nil:
		return min(m.cfg.Thresholds[in].StaticTh, shared/ports)
	case !p.Dynamic:
		return min(p.StaticTh, shared/ports)
	case p.DynamicTh >= 0: // n = alpha x (shared - ports x n)
		return shared << p.DynamicTh / (1 + ports<<p.DynamicTh)
	}
	return shared / (1<<-p.DynamicTh + ports)
}

// AdmitLossy reports whether an egress queue of a lossy priority that holds queued
// bytes takes n more.
func (m *MMU) AdmitLossy(queued, n int) bool { return queued+n <= m.cfg.LossyQueue }

// Hold adds n charged bytes (or takes them, n < 0) to M((in, inPriority), (out, outPriority))
// and returns it. A lossy priority holds nothing.
func (m *MMU) Hold(in unit.Port, inPriority unit.Priority, out unit.Port, outPriority unit.Priority, n int) int {
	i, j := m.index[inPriority], m.index[outPriority]
	if i < 0 || j < 0 {
		return 0
	}
	h := &m.held[(int(in)*m.lossless+int(i))*m.width+int(out)*m.lossless+int(j)]
	*h += int32(n)
	if *h < 0 {
		panic(fmt.Sprintf("buffer: M((%d, %d), (%d, %d)) fell to %d", in, inPriority, out, outPriority, *h))
	}
	return int(*h)
}

// Held is M((in, inPriority), (out, outPriority)) in bytes: what is charged to the
// priority group and waits in the queue.
func (m *MMU) Held(in unit.Port, inPriority unit.Priority, out unit.Port, outPriority unit.Priority) int {
	return m.Hold(in, inPriority, out, outPriority, 0)
}

// Lossless reports whether priority is lossless.
func (m *MMU) Lossless(priority unit.Priority) bool { return m.index[priority] >= 0 }

// XOFF reports whether the priority group is XOFF, and its period. A lossy priority never is.
func (m *MMU) XOFF(in unit.Port, priority unit.Priority) (on bool, period uint8) {
	if m.index[priority] < 0 {
		return false, 0
	}
	g := m.group(in, priority)
	return g.xoff, g.period
}

// Bytes is what the priority group holds, and how much of it in the headroom.
func (m *MMU) Bytes(in unit.Port, priority unit.Priority) (bytes, headroom int) {
	if m.index[priority] < 0 {
		return 0, 0
	}
	g := m.group(in, priority)
	return int(g.bytes), int(g.headroom)
}

// Watermark is the most that the priority group held since ClearWatermarks.
func (m *MMU) Watermark(in unit.Port, priority unit.Priority) (bytes, headroom int) {
	if m.index[priority] < 0 {
		return 0, 0
	}
	g := m.group(in, priority)
	return int(g.bytesMax), int(g.headroomMax)
}

// ClearWatermarks resets every watermark to the present bytes.
func (m *MMU) ClearWatermarks() {
	for i := range m.groups {
		g := &m.groups[i]
		g.bytesMax, g.headroomMax = g.bytes, g.headroom
	}
}

// XON is the number of bytes at or below which the priority group (in, priority) resumes: see
// [Rule.XON]. With a dynamic threshold, an extra one or a pool that is short, it is the
// present value.
func (m *MMU) XON(in unit.Port, priority unit.Priority) int { return m.xonOf(m.group(in, priority)) }

// PoolUse is how much of the pool the priority group (in, priority) would use if it held only left of its
// bytes: headroom is released first.
func (m *MMU) PoolUse(in unit.Port, priority unit.Priority, left int) int {
	g := m.group(in, priority)
	return m.above(min(left, int(g.bytes-g.headroom)))
}

// XONIf is what XON would be if the priority group held only left of its bytes, and all priority groups
// together used pool bytes of the shared pool.
func (m *MMU) XONIf(in unit.Port, priority unit.Priority, left, pool int) int {
	g := m.group(in, priority)
	return m.rule(g).XON(pool, min(left, int(g.bytes-g.headroom)))
}

// Shared is the use of the shared pool in bytes.
func (m *MMU) Shared() int { return m.shared }

// HeadroomPool is the use of the pool of headroom in bytes, 0 without one.
func (m *MMU) HeadroomPool() int { return m.pooled }

// Charge is [Config.Charge].
func (m *MMU) Charge(n int) int { return m.cfg.Charge(n) }

// Shares is [Config.Shares].
func (m *MMU) Shares() bool { return m.shares }

// Config is what the MMU was made with.
func (m *MMU) Config() Config { return m.cfg }

// CounterBytes is the memory of the accounts: what the buffer manager keeps
// whether or not a detector reads it.
func (m *MMU) CounterBytes() int {
	return len(m.held)*4 + len(m.groups)*int(unsafe.Sizeof(group{})) + (len(m.told)+len(m.rooms))*4
}

func (m *MMU) group(in unit.Port, priority unit.Priority) *group {
	return &m.groups[int(in)*m.lossless+int(m.index[priority])]
}

func (m *MMU) priority(index int) unit.Priority {
	if cl := slices.Index(m.index[:], int8(index)); cl >= 0 {
		return unit.Priority(cl)
	}
	panic(fmt.Sprintf("buffer: no priority has index %d", index))
}

// above is the part of bytes that lies above the reserved minimum.
func (m *MMU) above(bytes int) int { return max(bytes-m.cfg.Profile.Size, 0) }

// limitOf is how many shared bytes g may use now.
func (m *MMU) limitOf(g *group) int { return m.rule(g).limit(m.shared) }

func (m *MMU) xonOf(g *group) int { return m.rule(g).XON(m.shared, int(g.bytes-g.headroom)) }

// rule is the rule by which g resumes, until the next call.
func (m *MMU) rule(g *group) *Rule {
	if g.extra == 0 {
		return &m.rules[g.in]
	}
	m.raised = m.rules[g.in]
	m.raised.Extra = int(g.extra)
	return &m.raised
}
