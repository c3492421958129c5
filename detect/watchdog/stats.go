package watchdog

import "softswitch/detect"

// Stats is what `show pfcwd stats` prints of a queue. The names in brackets are those
// of SONiC's COUNTERS_DB.
type Stats struct {
	Stormed  bool    `json:"stormed"`  // a storm lasts (PFC_WD_STATUS: stormed, else operational)
	Detected uint64  `json:"detected"` // storms (PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED)
	Restored uint64  `json:"restored"` // storms that are over (..._DEADLOCK_RESTORED)
	All      Packets `json:"all"`      // during all storms
	Last     Packets `json:"last"`     // during the latest one (..._LAST)
}

// Packets are frames of a queue's port and priority while storms lasted.
type Packets struct {
	Tx        uint64 `json:"tx"`         // left the queue (..._TX_PACKETS)
	TxDropped uint64 `json:"tx_dropped"` // dropped in the queue or on the way to it (..._TX_DROPPED_PACKETS)
	Rx        uint64 `json:"rx"`         // came in by the port and were admitted (..._RX_PACKETS)
	RxDropped uint64 `json:"rx_dropped"` // dropped as they came in (..._RX_DROPPED_PACKETS)
}

// Stats are q's counters at this instant; zero if its priority is not lossless.
func (w *Watchdog) Stats(q detect.Queue) Stats {
	if w.queues[q.Priority] == nil {
		return Stats{}
	}
	s := w.queues[q.Priority][q.Port]
	if s.stats.Stormed {
		s.count(w.view.Frames(q))
	}
	return s.stats
}

// After is s of a watchdog in whose place was one with the counters before.
func (s Stats) After(before Stats) Stats {
	if s.Detected == 0 {
		s.Last = before.Last
	}
	s.Detected += before.Detected
	s.Restored += before.Restored
	s.All.add(before.All)
	return s
}

func (p *Packets) add(q Packets) {
	p.Tx += q.Tx
	p.TxDropped += q.TxDropped
	p.Rx += q.Rx
	p.RxDropped += q.RxDropped
}

// count adds what was counted since the mark, which was set when the storm began.
func (s *queue) count(now detect.Frames) {
	s.stats.Last = Packets{
		Tx: now.Tx - s.mark.Tx, TxDropped: now.TxDropped - s.mark.TxDropped,
		Rx: now.Rx - s.mark.Rx, RxDropped: now.RxDropped - s.mark.RxDropped,
	}
	s.stats.All.add(s.stats.Last)
}
