package verbs

import (
	"softswitch/host/roce"
	"softswitch/unit"
)

// Forever is a Config.Retries that never ends. Linux's rdma_rxe takes its greatest number, 7, so
// (rxe_comp.c), while NICs of hardware give up after 7 timeouts.
const Forever = roce.Forever

// Config is what both ends of a connection have agreed on.
type Config struct {
	Local, Remote       uint32 // queue pair numbers
	LocalPSN, RemotePSN uint32 // of the first packet that either end sends
	MTU                 int    // path MTU in octets
	Window              int    // packets that may be sent and not acknowledged
	Reads               int    // READs that may be under way
	Timeout             unit.Time
	Retries             int // timeouts in a row that are borne, or Forever
	Memory              Memory
}

// ackEvery is how many packets of a message are sent at most without a request for an
// acknowledgement.
const ackEvery = 16

// outstanding bounds what is sent and not acknowledged, so that a PSN tells old from new (volume 1,
// 9.7.2).
const outstanding = 1 << 22

// QueuePair is an end of a connection. Use New to make one.
type QueuePair struct {
	Config
	failed string // why it is in the error state

	// The requester. Packets have sequence numbers from 0, of which PSNs are the low 24 bits.
	posts   []posted // that are not complete, oldest first
	end     uint64   // sequence number behind the last of them
	acked   uint64   // all below are acknowledged
	next    uint64   // to send
	sent    uint64   // the largest next so far
	since   unit.Time
	wait    unit.Time // nothing is sent until then: the far end was not ready
	rewound bool      // a gap has been noticed, and nothing was acknowledged since
	tries   int

	// The responder.
	expected uint64 // sequence number
	behind   uint64 // the packet that came last
	messages uint64 // that are complete
	inside   bool   // a message
	write    bool   // it is a WRITE
	into     []byte // where the rest of it goes
	receives []receive
	arrived  [][]byte
	reads    []response
	ack      bool
	nak      roce.Syndrome // to be sent, 0 without one
	naked    bool          // the expected packet was asked for

	Count Counters
}

// Counters are what an end has counted since the connection began.
type Counters struct {
	// Of its own requests. Sent is packets, those sent again among them.
	Sent         uint64 `json:"sent"`
	Again        uint64 `json:"again"`
	AgainBytes   uint64 `json:"again_bytes"` // payload of those
	Naks         uint64 `json:"naks"`
	NotReady     uint64 `json:"not_ready"` // RNR NAKs
	Timeouts     uint64 `json:"timeouts"`
	Responses    uint64 `json:"read_responses"` // packets that answered READs
	OutsideRange uint64 `json:"outside_range"`  // answers to packets that were never sent
	CNPs         uint64 `json:"cnps"`           // congestion notifications that came
	Done         uint64 `json:"done"`           // requests that are complete

	// Of the far end's requests. Received is packets that were taken, Bytes their payload.
	Received   uint64 `json:"received"`
	Bytes      uint64 `json:"bytes"`
	Duplicates uint64 `json:"duplicates"`   // of packets taken before
	OutOfOrder uint64 `json:"out_of_order"` // dropped behind a gap
	Outside    uint64 `json:"outside"`      // dropped: a PSN far from the one expected
	// Lost is packets that are missing between two that came one after the other, each time that they were
	// sent. Those after which nothing came before they were sent again are not seen. Of what answers READs
	// it is those missing at each gap.
	Lost uint64 `json:"lost"`
	// AccessErrors is requests for memory that the far end may not use, by key, address or length: each ends
	// the connection.
	AccessErrors uint64 `json:"access_errors"`
	Answers      uint64 `json:"answers"` // packets sent that answer READs
}

// Add adds what another connection has counted.
func (c *Counters) Add(o *Counters) {
	c.Sent, c.Again, c.AgainBytes, c.Naks = c.Sent+o.Sent, c.Again+o.Again, c.AgainBytes+o.AgainBytes, c.Naks+o.Naks
	c.NotReady, c.Timeouts, c.Responses, c.OutsideRange = c.NotReady+o.NotReady, c.Timeouts+o.Timeouts, c.Responses+o.Responses, c.OutsideRange+o.OutsideRange
	c.CNPs, c.Done, c.Received, c.Bytes = c.CNPs+o.CNPs, c.Done+o.Done, c.Received+o.Received, c.Bytes+o.Bytes
	c.Duplicates, c.OutOfOrder, c.Outside, c.Lost = c.Duplicates+o.Duplicates, c.OutOfOrder+o.OutOfOrder, c.Outside+o.Outside, c.Lost+o.Lost
	c.AccessErrors, c.Answers = c.AccessErrors+o.AccessErrors, c.Answers+o.Answers
}

// Packet is a packet to send: its headers, without those of UDP, and its payload.
type Packet struct {
	roce.Header
	Payload []byte
}

// New returns a queue pair that is ready to send and to receive.
func New(c Config) *QueuePair { return &QueuePair{Config: c} }

// Failed returns why the connection is in the error state, "" if it is not.
func (q *QueuePair) Failed() string { return q.failed }

// Receive takes a packet that is for this queue pair. payload is without the padding, and is not
// kept.
func (q *QueuePair) Receive(now unit.Time, h *roce.Header, payload []byte) {
	switch {
	case q.failed != "":
	case h.Opcode.IsData() || h.Opcode == roce.ReadRequest:
		q.request(h, payload)
	case h.Opcode == roce.Acknowledge:
		q.acknowledge(now, h)
	case h.Opcode.IsReadResponse():
		q.readResponse(now, h, payload)
	case h.Opcode == roce.Congestion:
		q.Count.CNPs++
	}
}

// Next takes the packet to send now; ok is false if there is none.
func (q *QueuePair) Next(now unit.Time) (p Packet, ok bool) {
	if p, ok = q.answer(); !ok && q.ready(now) {
		p, ok = q.nextRequest(now), true
	}
	p.DestQP = q.Remote
	p.Pad = uint8(-len(p.Payload) & 3)
	return p, ok
}

// nearest is the sequence number with this PSN that is nearest to another one, and how far ahead
// of it.
func nearest(to uint64, first, psn uint32) (seq uint64, ahead int) {
	d := int32((psn-first-uint32(to))<<8) >> 8
	return to + uint64(int64(d)), int(d)
}

func psn(first uint32, seq uint64) uint32 { return (first + uint32(seq)) & roce.PSNMask }

// packets is how many packets a message of so many octets has.
func (q *QueuePair) packets(octets int) uint64 {
	return uint64(max(1, (octets+q.MTU-1)/q.MTU))
}

// part is the payload of packet i of a message.
func (q *QueuePair) part(b []byte, i uint64) []byte {
	from := int(i) * q.MTU
	return b[from:min(len(b), from+q.MTU)]
}
