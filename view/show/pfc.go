package show

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/unit"
)

// priorities are numbers by priority.
type priorities [unit.Priorities]uint64

func (c priorities) less(old priorities) priorities {
	for i := range c {
		c[i] -= old[i]
	}
	return c
}

func (c priorities) cells(name string) []string {
	return append([]string{name}, lists.Map(c[:], Thousands)...)
}

func sum(all ...[unit.Priorities]uint64) (s priorities) {
	for _, a := range all {
		for i, n := range a {
			s[i] += n
		}
	}
	return s
}

// PFCCounters are PFC frames by port and priority since they were cleared.
type PFCCounters = since[PFCPort]

type PFCPort struct {
	Port    string       `json:"port"`
	Rx      priorities   `json:"rx"`
	Tx      priorities   `json:"tx"`
	Pause   uint64       `json:"rx_pause_8023,omitempty"` // 802.3x PAUSE frames that were honoured
	History []pfcHistory `json:"history"`
	InVain  []inVain     `json:"in_vain,omitempty"`
}

// inVain is a priority in which the far end went on sending while it was paused.
type inVain struct {
	Priority int    `json:"priority"`
	Pauses   uint64 `json:"pauses_in_vain"`
	Frames   uint64 `json:"rx_unheeded"`
	Lost     uint64 `json:"unheeded_lost"`
}

// pfcHistory is what received pauses did to an egress queue.
type pfcHistory struct {
	Priority    int       `json:"priority"`
	Transitions uint64    `json:"rx_pause_transitions"`
	Total       unit.Time `json:"total_rx_pause_ns"`
	Recent      unit.Time `json:"recent_rx_pause_ns"`
	RecentAt    unit.Time `json:"recent_rx_pause_at_ns"`
	Paused      bool      `json:"paused"`
}

func (p *PFCPort) less(old *PFCPort) {
	p.Rx, p.Tx = p.Rx.less(old.Rx), p.Tx.less(old.Tx)
	p.Pause -= old.Pause
	for k := range p.History {
		p.History[k].Transitions -= old.History[k].Transitions
		p.History[k].Total -= old.History[k].Total
	}
	for k := range p.InVain {
		n := &p.InVain[k]
		if at := slices.IndexFunc(old.InVain, func(o inVain) bool { return o.Priority == n.Priority }); at >= 0 {
			o := old.InVain[at]
			n.Pauses, n.Frames, n.Lost = n.Pauses-o.Pauses, n.Frames-o.Frames, n.Lost-o.Lost
		}
	}
	p.InVain = lists.Where(p.InVain, func(n inVain) bool { return n.Frames > 0 })
}

// pfcOf is the PFC counters of port p of w. Received resumes count as PFC frames too.
func pfcOf(w *observe.Switch, p *observe.Port) PFCPort {
	out := PFCPort{Port: p.Name, Pause: p.RxPause8023, Rx: sum(p.RxPause, p.RxResume), Tx: sum(p.TxPause, p.TxResume, p.TxRefresh)}
	for _, c := range w.LosslessOf(p) {
		h := pfcHistory{
			Priority: c, Transitions: p.Pause[c].Count, Total: p.Pause[c].Total(p.Paused[c], w.At),
			Recent: p.Pause[c].Last, RecentAt: p.Pause[c].Start, Paused: p.Paused[c],
		}
		if h.Paused {
			h.Recent = w.At - h.RecentAt
		}
		out.History = append(out.History, h)
		if p.RxUnheeded[c] > 0 {
			out.InVain = append(out.InVain, inVain{c, p.PausesInVain[c], p.RxUnheeded[c], p.UnheededLost[c]})
		}
	}
	return out
}

func lastCached(cleared string) string {
	if cleared == "" {
		return ""
	}
	return "Last cached time was " + cleared
}

func pfcHistoryTable(c PFCCounters) table {
	t := table{
		title:  lastCached(c.Cleared),
		header: []string{"Port", "Priority", "RX Pause Transitions", "Total RX Pause Time MS", "Recent RX Pause Time MS", "Recent RX Pause Timestamp"},
	}
	for _, p := range c.Ports {
		for _, h := range p.History {
			t.add(p.Port, "PFC"+strconv.Itoa(h.Priority), Thousands(h.Transitions), Milliseconds(h.Total), Milliseconds(h.Recent), clock(h.RecentAt))
		}
	}
	return t
}

func joinInts(ns []int) string {
	return strings.Join(lists.Map(ns, strconv.Itoa), ",")
}

// whole formats t in whole milliseconds.
func whole(t unit.Time) string { return strconv.FormatInt(int64(t/unit.Millisecond), 10) }

func pair(a, b uint64) string { return fmt.Sprintf("%d/%d", a, b) }

// PFC shows PFC frames received and sent, by port and priority; with *history, what the
// received pauses did to each queue.
func PFC(history *bool) View[PFCCounters] {
	return View[PFCCounters]{
		Fetch: fetchSince(client.ClearPFC, pfcOf, (*PFCPort).less),
		Tables: func(c PFCCounters) []table {
			if *history {
				return []table{pfcHistoryTable(c)}
			}
			rx, tx := table{title: lastCached(c.Cleared), header: append([]string{"Port Rx"}, numbered("PFC")...)}, table{header: append([]string{"Port Tx"}, numbered("PFC")...)}
			pause := table{header: []string{"Port Rx", "802.3x PAUSE"}}
			vain := table{header: []string{"Port", "Priority", "Pauses in vain", "Frames after them", "Lost by it"}}
			for _, p := range c.Ports {
				rx.add(p.Rx.cells(p.Port)...)
				tx.add(p.Tx.cells(p.Port)...)
				if p.Pause > 0 {
					pause.add(p.Port, Thousands(p.Pause))
				}
				for _, n := range p.InVain {
					vain.add(p.Port, "PFC"+strconv.Itoa(n.Priority), Thousands(n.Pauses), Thousands(n.Frames), Thousands(n.Lost))
				}
			}
			return append([]table{rx, tx}, lists.Where([]table{pause, vain}, func(t table) bool { return len(t.rows) > 0 })...)
		},
	}
}

// LosslessPriorities shows the lossless priorities of each interface; where some interface does not both
// send and honour pauses, what each does with them; and where some does not trust the DSCP, what each trusts.
func LosslessPriorities() View[observe.Setup] {
	return View[observe.Setup]{
		Fetch: client.Setup,
		Tables: func(v observe.Setup) []table {
			t := table{header: []string{"Interface", "Lossless priorities"}, left: 2}
			asymmetric := slices.ContainsFunc(v.Ports, func(p observe.PortSetup) bool { return p.PFC != "" })
			if asymmetric {
				t.header, t.left = append(t.header, "PFC"), t.left+1
			}
			tagged := slices.ContainsFunc(v.Ports, func(p observe.PortSetup) bool { return p.Trust == "pcp" })
			if tagged {
				t.header, t.left = append(t.header, "Trust"), t.left+1
			}
			for i := range v.Ports {
				row := []string{v.Ports[i].Name, joinInts(v.LosslessOf(&v.Ports[i]))}
				if asymmetric {
					row = append(row, cmp.Or(v.Ports[i].PFC, "both"))
				}
				if tagged {
					row = append(row, v.Ports[i].Trust)
				}
				t.add(row...)
			}
			return []table{t}
		},
	}
}

// WatchdogConfig shows the configuration of the PFC watchdog, by port.
func WatchdogConfig() View[*observe.Watchdog] {
	return View[*observe.Watchdog]{
		Fetch: client.Watchdog,
		Merge: true, Empty: "No PFC watchdog runs.",
		Tables: func(w *observe.Watchdog) []table {
			t := table{header: []string{"PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME", "POLL INTERVAL"}}
			if w == nil {
				return []table{t}
			}
			action := w.Action
			switch {
			case w.BigRed:
				action = "drop (BIG_RED_SWITCH)"
			case w.Idle:
				action += " (counter polling disabled)"
			}
			for _, p := range w.Ports {
				t.add(p, action, whole(w.Detection), whole(w.Restoration), whole(w.Poll))
			}
			return []table{t}
		},
	}
}

// Stormed reports whether a queue of some of the switches has a storm.
func Stormed(all []*observe.Watchdog) bool {
	return slices.ContainsFunc(all, func(w *observe.Watchdog) bool {
		return w != nil && slices.ContainsFunc(w.Queues, func(q observe.WatchdogQueue) bool { return q.Stormed && !q.Unwatched })
	})
}

// WatchdogStats shows the storms that PFC watchdogs saw, also those that were stopped; with
// *empty also the queues without one.
func WatchdogStats(empty *bool) View[*observe.Watchdog] {
	return View[*observe.Watchdog]{
		Fetch: client.Watchdog,
		Merge: true, Empty: "No PFC watchdog has seen a storm.",
		Tables: func(w *observe.Watchdog) []table {
			t := table{header: []string{"QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP", "TX LAST OK/DROP", "RX LAST OK/DROP"}}
			if w == nil {
				return []table{t}
			}
			for _, q := range w.Queues {
				if q.Detected == 0 && !*empty {
					continue
				}
				status := "operational"
				switch {
				case q.Unwatched:
					status = "N/A"
				case q.Stormed:
					status = "stormed"
				}
				t.add(fmt.Sprintf("%s:%d", q.Port, q.Priority), status, pair(q.Detected, q.Restored),
					pair(q.All.Tx, q.All.TxDropped), pair(q.All.Rx, q.All.RxDropped), pair(q.Last.Tx, q.Last.TxDropped), pair(q.Last.Rx, q.Last.RxDropped))
			}
			return []table{t}
		},
	}
}
