package show

import (
	"cmp"
	"slices"
	"strconv"

	"softswitch/internal/control"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/unit"
)

// Watermarks are bytes by port and priority; nil for a priority without one.
type Watermarks struct {
	Ports []portWatermarks `json:"ports"`
}

type portWatermarks struct {
	Port  string                `json:"port"`
	Bytes [unit.Priorities]*int `json:"bytes"`
}

// watermarks shows what of says of each port and priority, or of each lossless one.
func watermarks(title, column string, lossless bool, of func(p *observe.Port, priority int) int) View[Watermarks] {
	return View[Watermarks]{
		Fetch: func(e control.Endpoint) (out Watermarks, err error) {
			w, err := client.Stats[observe.Switch](e)
			if err != nil {
				return out, err
			}
			for i := range w.Ports {
				p := portWatermarks{Port: w.Ports[i].Name}
				for c := range p.Bytes {
					if !lossless || slices.Contains(w.LosslessOf(&w.Ports[i]), c) {
						n := of(&w.Ports[i], c)
						p.Bytes[c] = &n
					}
				}
				out.Ports = append(out.Ports, p)
			}
			return out, nil
		},
		Tables: one(table{title: title, header: append([]string{"Port"}, numbered(column)...)}, func(t *table, w Watermarks) {
			for _, p := range w.Ports {
				row := []string{p.Port}
				for _, n := range p.Bytes {
					if n == nil {
						row = append(row, "N/A")
					} else {
						row = append(row, strconv.Itoa(*n))
					}
				}
				t.add(row...)
			}
		}),
	}
}

// queuePort are the frames and bytes that left the egress queues of a port.
type queuePort struct {
	Port    string     `json:"port"`
	Packets priorities `json:"packets"`
	Bytes   priorities `json:"bytes"`
	Dropped priorities `json:"dropped_packets"`
}

func queuesOf(_ *observe.Switch, p *observe.Port) queuePort {
	return queuePort{p.Name, p.TxFrames, p.TxBytes, p.TxDropped}
}

func (q *queuePort) less(old *queuePort) {
	q.Packets, q.Bytes, q.Dropped = q.Packets.less(old.Packets), q.Bytes.less(old.Bytes), q.Dropped.less(old.Dropped)
}

func bufferTables(v observe.Setup) []table {
	b := v.Buffer
	settings := func(title string) table { return table{title: title, header: []string{"Setting", "Value"}, left: 2} }
	pool := settings("Pool: ingress_lossless_pool")
	mode, th := "static", b.StaticTh
	if b.DynamicTh != nil {
		mode, th = "dynamic", b.DynamicTh
	}
	pool.add("mode", mode)
	pool.add("size", strconv.Itoa(b.Pool))
	pool.add("type", "ingress")
	if h := b.HeadroomPool; h != nil {
		pool.add("xoff", strconv.Itoa(h.Size))
		pool.add("xoff of each port", strconv.Itoa(h.Port))
	}
	if b.Cell > 1 {
		pool.add("cell", strconv.Itoa(b.Cell))
	}
	profile := settings("Profile: pg_lossless (priority groups " + joinInts(v.Lossless) + ")")
	profile.add(mode+"_th", strconv.Itoa(*th))
	profile.add("pool", "ingress_lossless_pool")
	for _, f := range []struct {
		name string
		n    int
	}{{"size", b.Size}, {"xon", b.XON}, {"xon_offset", b.XONOffset}, {"xoff", b.XOFF}} {
		profile.add(f.name, strconv.Itoa(f.n))
	}
	lossy := settings("Profile: q_lossy (lossy egress queues)")
	lossy.add("static_th", strconv.Itoa(b.LossyQueue))
	tables := []table{pool, profile, lossy}
	for i := range v.Ports {
		p := &v.Ports[i]
		t := settings("Profile: pg_lossless of " + p.Name)
		if p.Lossless != nil {
			t.add("priority groups", cmp.Or(joinInts(*p.Lossless), "none"))
		}
		if p.StaticTh != nil {
			t.add("static_th", strconv.Itoa(*p.StaticTh))
			t.add("xon_offset", strconv.Itoa(*p.XONOffset))
		}
		if p.XOFF != nil {
			t.add("xoff", strconv.Itoa(*p.XOFF))
		}
		if len(t.rows) > 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

// HeadroomWatermarks shows the most headroom used, by port and priority group.
func HeadroomWatermarks() View[Watermarks] {
	return watermarks("Ingress headroom per PG:", "PG", true, func(p *observe.Port, c int) int { return p.Group[c].HeadroomWatermark })
}

// SharedWatermarks shows the most bytes held, by port and priority group.
func SharedWatermarks() View[Watermarks] {
	return watermarks("Ingress shared pool occupancy per PG:", "PG", true, func(p *observe.Port, c int) int { return p.Group[c].Watermark })
}

// QueueCounters shows frames and bytes that left, by port and queue; of queues without
// any only with *all.
func QueueCounters(all *bool) View[since[queuePort]] {
	return View[since[queuePort]]{
		Fetch: fetchSince(client.ClearQueue, queuesOf, (*queuePort).less),
		Tables: one(table{header: []string{"Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes"}},
			func(t *table, c since[queuePort]) {
				t.title = lastCached(c.Cleared)
				for _, p := range c.Ports {
					for i := range p.Packets {
						if !*all && p.Packets[i]+p.Dropped[i] == 0 {
							continue
						}
						t.add(p.Port, "UC"+strconv.Itoa(i), Thousands(p.Packets[i]), Thousands(p.Bytes[i]), Thousands(p.Dropped[i]), "N/A")
					}
				}
			}),
	}
}

// QueueWatermarks shows the most bytes that waited, by port and queue.
func QueueWatermarks() View[Watermarks] {
	return watermarks("Egress shared pool occupancy per unicast queue:", "UC", false, func(p *observe.Port, c int) int { return p.Queue[c].Watermark })
}

// BufferConfiguration shows pools and profiles, in bytes.
func BufferConfiguration() View[observe.Setup] {
	return View[observe.Setup]{Fetch: client.Setup, Tables: bufferTables}
}
