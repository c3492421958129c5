package verbs

import (
	"softswitch/host/roce"
)

// notReady is the RNR NAK that is sent where a SEND finds nothing to receive it: 0.64 ms.
const notReady = roce.NotReady | 12

// readsMax bounds the responses that wait: a far end that asks for more breaks the agreement.
const readsMax = 256

// response is the answer to a READ: the packets from i on are to be sent.
type response struct {
	data []byte
	seq  uint64 // of its first packet
	i, n uint64
}

// receive is a buffer for one SEND.
type receive []byte

// PostReceive gives a buffer for one SEND of the far end. Without one the far end is told to wait.
func (q *QueuePair) PostReceive(b []byte) { q.receives = append(q.receives, b) }

// ForgetReceives takes the buffers back that no SEND has begun to fill.
func (q *QueuePair) ForgetReceives() {
	if q.inside && !q.write {
		q.receives = q.receives[:1]
		return
	}
	q.receives = nil
}

// Arrived takes the oldest message that a SEND of the far end has filled a buffer with.
func (q *QueuePair) Arrived() (b []byte, ok bool) {
	if len(q.arrived) == 0 {
		return nil, false
	}
	b = q.arrived[0]
	q.arrived = q.arrived[1:]
	return b, true
}

// request takes a packet of the far end's requester.
func (q *QueuePair) request(h *roce.Header, payload []byte) {
	count := &q.Count
	seq, ahead := nearest(q.expected, q.RemotePSN, h.PSN)
	if ahead > outstanding || ahead < -outstanding {
		count.Outside++
		return
	}
	end := seq + 1
	if h.Opcode == roce.ReadRequest {
		end = seq + q.packets(int(h.Length))
	}
	if seq > q.behind {
		count.Lost += seq - q.behind
	}
	q.behind = end
	switch {
	case ahead > 0:
		count.OutOfOrder++
		if !q.naked {
			q.naked, q.nak = true, roce.SequenceError
		}
		return
	case ahead < 0:
		q.repeated(h, seq)
		return
	}
	if q.nak = q.take(h, payload); q.nak != 0 {
		q.naked = true
		if q.nak == roce.AccessError {
			count.AccessErrors++
		}
		if !q.nak.IsNotReady() {
			q.failed = "the far end sent what it may not: NAK " + nakText(q.nak)
		}
		return
	}
	q.naked = false
	if h.Opcode == roce.ReadRequest {
		q.reads[len(q.reads)-1].seq = seq
	}
	q.expected = end
	count.Received++
	count.Bytes += uint64(len(payload))
	q.inside = h.Opcode.IsData() && !h.Opcode.Ends()
	if !q.inside {
		q.messages++
	}
	q.ack = q.ack || h.AckReq && h.Opcode != roce.ReadRequest
}

// repeated answers a packet that has been taken before.
func (q *QueuePair) repeated(h *roce.Header, seq uint64) {
	q.Count.Duplicates++
	if h.Opcode != roce.ReadRequest {
		q.ack = q.ack || h.AckReq
		return
	}
	if nak := q.read(h); nak == 0 {
		q.reads[len(q.reads)-1].seq = seq
	}
}

// take does what the expected packet asks for. It returns a NAK where that cannot be done.
func (q *QueuePair) take(h *roce.Header, payload []byte) (nak roce.Syndrome) {
	switch {
	case q.inside && (h.Opcode.Begins() || h.Opcode == roce.ReadRequest || q.write != h.Opcode.IsWrite()):
		return roce.InvalidError
	case h.Opcode == roce.ReadRequest:
		return q.read(h)
	case !q.inside && !h.Opcode.Begins():
		return roce.InvalidError
	case h.Opcode.Begins() && h.Opcode.IsWrite():
		into, ok := q.Memory.at(h.RKey, h.Address, h.Length)
		if !ok && h.Length > 0 {
			return roce.AccessError
		}
		q.write, q.into = true, into
	case h.Opcode.Begins():
		if len(q.receives) == 0 {
			return notReady
		}
		q.write, q.into = false, q.receives[0]
	}
	switch n := len(payload); {
	case n > len(q.into), n > q.MTU, !h.Opcode.Ends() && n != q.MTU, q.write && h.Opcode.Ends() && n != len(q.into):
		return roce.InvalidError
	}
	copy(q.into, payload)
	q.into = q.into[len(payload):]
	if h.Opcode.Ends() && !q.write {
		b := q.receives[0]
		q.receives = q.receives[1:]
		q.arrived = append(q.arrived, b[:len(b)-len(q.into)])
	}
	return 0
}

// read makes the response to a READ wait for its turn.
func (q *QueuePair) read(h *roce.Header) (nak roce.Syndrome) {
	b, ok := q.Memory.at(h.RKey, h.Address, h.Length)
	switch {
	case !ok && h.Length > 0:
		return roce.AccessError
	case len(q.reads) == readsMax:
		return roce.InvalidError
	}
	q.reads = append(q.reads, response{data: b, n: q.packets(len(b))})
	return 0
}

// answer takes the next packet that answers requests.
func (q *QueuePair) answer() (p Packet, ok bool) {
	msn := uint32(q.messages) & roce.PSNMask
	switch {
	case len(q.reads) > 0:
		r := &q.reads[0]
		p = Packet{
			roce.Header{Opcode: roce.ReadResponse(r.i == 0, r.i == r.n-1), PSN: psn(q.RemotePSN, r.seq+r.i), Syndrome: roce.Acked, MSN: msn},
			q.part(r.data, r.i),
		}
		q.Count.Answers++
		if r.i++; r.i == r.n {
			q.reads = q.reads[1:]
		}
	case q.nak != 0:
		p.Header = roce.Header{Opcode: roce.Acknowledge, Syndrome: q.nak, PSN: psn(q.RemotePSN, q.expected), MSN: msn}
		q.nak, q.ack = 0, false
	case q.ack:
		p.Header = roce.Header{Opcode: roce.Acknowledge, Syndrome: roce.Acked, PSN: psn(q.RemotePSN, q.expected-1), MSN: msn}
		q.ack = false
	default:
		return p, false
	}
	return p, true
}
