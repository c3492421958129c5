package mutant_test

// statements are the defects that are planted into the switch's own code, in the order of their numbers.
var statements = []statement{
	{
		number: 1, name: "no PFC is honoured", file: "dataplane/control.go", function: "receivePause",
		was:   `s.heed(detect.Queue{Port: in, Priority: c}, pf.Quanta[c], of, mine)`,
		is:    `_, _ = of, mine`,
		cases: []string{"R01"},
	},
	{
		number: 2, name: "any bit pauses all lossless priorities", file: "dataplane/control.go", function: "receivePause",
		was: `s.heed(detect.Queue{Port: in, Priority: c}, pf.Quanta[c], of, mine)`,
		is: `for set := s.lossless; set != 0; set &= set - 1 {
			s.heed(detect.Queue{Priority: set.First(), Port: in}, pf.Quanta[c], of, mine)
		}`,
		cases: []string{"R01"},
	},
	{
		number: 3, name: "bit n pauses priority n + 1", file: "dataplane/control.go", function: "receivePause",
		was:   `s.heed(detect.Queue{Port: in, Priority: c}, pf.Quanta[c], of, mine)`,
		is:    `s.heed(detect.Queue{Priority: (c + 1) & 7, Port: in}, pf.Quanta[c], of, mine)`,
		cases: []string{"R01"},
	},
	{
		number: 4, name: "bits are read from the other end", file: "dataplane/control.go", function: "receivePause",
		was: `t.Auth = 0`,
		is: `was := pf.Enable
		pf.Enable = 0
		for n := range unit.Priority(unit.Priorities) {
			if was.Has(n) {
				pf.Enable.Add(7 - n)
			}
		}`,
		cases: []string{"R01", "R13"},
	},
	{
		number: 5, name: "quanta 0 is ignored", file: "dataplane/control.go", function: "heed",
		was:   `s.endPause(q.Port, q.Priority, event.Resumed)`,
		cases: []string{"R04"},
	},
	{
		number: 6, name: "quanta 0 of one priority resumes all", file: "dataplane/control.go", function: "heed",
		was: `s.endPause(q.Port, q.Priority, event.Resumed)`,
		is: `for set := p.paused; set != 0; set &= set - 1 {
			s.endPause(q.Port, set.First(), event.Resumed)
		}`,
		cases: []string{"R08"},
	},
	{
		number: 7, name: "a quantum has 1024 bit times", file: "unit/unit.go", function: "QuantaTime",
		was:   `return Time(int64(q) * 512 * int64(Second) / int64(r))`,
		is:    `return Time(int64(q) * 1024 * int64(Second) / int64(r))`,
		cases: []string{"R05"},
	},
	{
		number: 8, name: "a quantum is one of 10 Gbit/s", file: "dataplane/control.go", function: "heed",
		was:   `s.startPause(q, s.now+p.cfg.Rate.QuantaTime(quanta), t, hasPeriod)`,
		is:    `s.startPause(q, unit.Rate(10_000_000_000).QuantaTime(quanta)+s.now, t, hasPeriod)`,
		cases: []string{"R05"},
	},
	{
		number: 9, name: "the bytes of quanta are swapped", file: "dataplane/control.go", function: "heed",
		was:   `s.startPause(q, s.now+p.cfg.Rate.QuantaTime(quanta), t, hasPeriod)`,
		is:    `s.startPause(q, p.cfg.Rate.QuantaTime(quanta<<8|quanta>>8)+s.now, t, hasPeriod)`,
		cases: []string{"R05"},
	},
	{
		number: 10, name: "quanta have 15 bits", file: "dataplane/control.go", function: "heed",
		was:   `s.startPause(q, s.now+p.cfg.Rate.QuantaTime(quanta), t, hasPeriod)`,
		is:    `s.startPause(q, p.cfg.Rate.QuantaTime(quanta&0x7fff)+s.now, t, hasPeriod)`,
		cases: []string{"R05"},
	},
	{
		number: 11, name: "a pause never ends by itself", file: "dataplane/pause.go", function: "expire",
		was:   `s.endPause(out, c, event.Expired)`,
		cases: []string{"R05", "R10"},
	},
	{
		number: 12, name: "a pause adds to what is left", file: "dataplane/pause.go", function: "startPause",
		was:   `z.until = until`,
		is:    `z.until = max(0, z.until-s.now) + until`,
		cases: []string{"R06"},
	},
	{
		number: 13, name: "a pause of a paused priority is ignored", file: "dataplane/pause.go", function: "startPause",
		was: `z.until = until`,
		is: `if fresh {
			z.until = 0 + until
		}`,
		cases: []string{"R06"},
	},
	{
		number: 14, name: "the longer of two pauses counts", file: "dataplane/pause.go", function: "startPause",
		was:   `z.until = until`,
		is:    `z.until = max(z.until, until)`,
		cases: []string{"R06"},
	},
	{
		number: 15, name: "timers of clear bits count", file: "dataplane/control.go", function: "receivePause",
		was: `t.Auth = 0`,
		is: `for n, q := range pf.Quanta {
			if q > 0 {
				pf.Enable.Add(unit.Priority(n))
			}
		}`,
		cases: []string{"R07"},
	},
	{
		number: 16, name: "lossy priorities are paused", file: "dataplane/control.go", function: "receivePause",
		was:   `p.count.Drops[OddPFCPriority]++`,
		is:    `s.heed(detect.Queue{Port: in, Priority: c}, pf.Quanta[c], itsyhdr.TLV{}, false)`,
		cases: []string{"R09"},
	},
	{
		number: 18, name: "a pause at one port stops the priority at all", file: "dataplane/control.go", function: "receivePause",
		was: `s.heed(detect.Queue{Port: in, Priority: c}, pf.Quanta[c], of, mine)`,
		is: `for n := range s.ports {
			s.heed(detect.Queue{Priority: c, Port: unit.Port(n)}, pf.Quanta[c], of, mine)
		}`,
		cases: []string{"R03", "R16"},
	},
	{
		number: 19, name: "pauses wait for the end of those of the port", file: "dataplane/transmit.go", function: "Transmit",
		was: `n = s.transmitControl(out, fs)`,
		is: `if p.paused == 0 {
			n = s.transmitControl(out, fs[:len(fs):len(fs)])
		} else if p.sendable() == 0 {
			return 0, next
		}`,
		cases: []string{"R14"},
	},
	{
		number: 20, name: "a link that goes down forgets when a pause ends", file: "dataplane/switch.go", function: "flush",
		was:   `s.endPause(n, c, event.Expired)`,
		is:    `p.pauses[c].until = unit.Never`,
		cases: []string{"R15"},
	},
	{
		number: 19, name: "own pauses wait behind data", file: "dataplane/transmit.go", function: "Transmit",
		was:   `n = s.transmitControl(out, fs)`,
		is:    `n = s.transmitData(out, fs); n += s.transmitControl(out, fs[n:])`,
		cases: []string{"T09"},
	},
	{
		number: 21, name: "PFC to any address is believed", file: "pfcframe/parse.go", function: "Parse",
		was:   `return Frame{}, nil, ErrAddress`,
		cases: []string{"M01"},
	},
	{
		number: 22, name: "unknown opcodes are read as PFC", file: "pfcframe/parse.go", function: "checkHeader",
		was:   `return ErrOpcode`,
		is:    `return nil`,
		cases: []string{"M02"},
	},
	{
		number: 23, name: "the vector is 16 bits folded to 8", file: "pfcframe/parse.go", function: "Parse",
		was: `f.Enable = unit.PrioritySet(b[offParams+1])`,
		is: `f.Enable = unit.PrioritySet(b[offParams] | b[offParams+1])
			b[offParams], b[offParams+1] = 0, byte(f.Enable)`,
		cases: []string{"M03"},
	},
	{
		number: 24, name: "short frames are read with what lay in the slot before", file: "pfcframe/parse.go", function: "Pad",
		was:   `b = append(b, 0)`,
		is:    `b = b[:len(b)+1]`,
		cases: []string{"M04"},
	},
	{
		number: 26, name: "PAUSE stops all classes", file: "dataplane/control.go", function: "receivePause8023",
		was:   "s.drop(f, DropPause8023)\n\t\treturn",
		cases: []string{"M07"},
	},
	{
		number: 27, name: "01:80:c2:00:00:01 is flooded", file: "dataplane/parse.go", function: "Parse",
		was: `i.Kind, i.Reason = parseControl(f.Data)`,
		is: `if i.Kind, i.Reason = parseControl(f.Data); i.Kind == kindBad {
			i.Kind, i.Reason = kindData, 0
		}`,
		cases: []string{"M08"},
	},
	{
		number: 28, name: "after 1000 malformed frames no PFC is honoured", file: "dataplane/control.go", function: "receivePause",
		was: `s.heed(detect.Queue{Port: in, Priority: c}, pf.Quanta[c], of, mine)`,
		is: `bad := uint64(0)
			for _, n := range p.count.Drops {
				bad += n
			}
			if bad < 1000 {
				s.heed(detect.Queue{Port: in, Priority: c}, pf.Quanta[c], of, mine)
			}`,
		cases: []string{"M09"},
	},
	{
		number: 29, name: "no XOFF is ever sent", file: "dataplane/pause.go", function: "pausePG",
		was:   `s.sendPause(b.Port, b.Priority)`,
		cases: []string{"T01"},
	},
	{
		number: 39, name: "the watchdog is one poll late", file: "detect/watchdog/watchdog.go", function: "detect",
		was:   `s.left = w.cfg.Detection`,
		is:    `s.left = w.cfg.Detection + w.cfg.Poll`,
		cases: []string{"W01"},
	},
	{
		number: 39, name: "the watchdog looks at pauses alone", file: "detect/watchdog/watchdog.go", function: "stuck",
		was:   `return now.agrees(old)`,
		is:    `return s.was.paused && old.paused`,
		cases: []string{"W07"},
	},
	{
		number: 30, name: "XON is never sent, refreshes go on", file: "dataplane/control.go", function: "buildPause",
		was: `if on {
		pf.Quanta[c] = s.cfg.Quanta
		t = s.detector.Label(s.now, detect.PG{Port: out, Priority: c})
	}`,
		is:    `on, pf.Quanta[c] = true, s.cfg.Quanta`,
		cases: []string{"T02"},
	},
	{
		number: 33, name: "no refresh", file: "dataplane/pause.go", function: "sendRefreshes",
		was:   `s.sendPause(in, c)`,
		cases: []string{"W07"},
	},
	{
		number: 35, name: "the pause leaves by another ingress port", file: "dataplane/pause.go", function: "pausePG",
		was:   `s.sendPause(b.Port, b.Priority)`,
		is:    `s.sendPause((b.Port+1)%unit.Port(len(s.ports)), b.Priority)`,
		cases: []string{"T06"},
	},
	{
		number: 36, name: "headroom counts lossy bytes", file: "buffer/mmu.go", function: "hasHeadroom",
		was: `if int(g.headroom)+n > int(m.xoffs[g.in])+m.cfg.Profile.Slack {
		return false
	}`,
		is: `if int(g.headroom)+n+m.pooled > int(m.xoffs[g.in])+m.cfg.Profile.Slack {
			return false
		}`,
		cases: []string{"N03"},
	},
	{
		// The other half of it: without a pool, pooled is free to hold them.
		number: 36, name: "headroom counts lossy bytes", file: "buffer/mmu.go", function: "AdmitLossy",
		was: `return queued+n <= m.cfg.LossyQueue`,
		is: `m.pooled = queued + n
		return queued+n <= m.cfg.LossyQueue`,
	},
	{
		number: 36, name: "headroom is half of what is set", file: "buffer/mmu.go", function: "NewMMU",
		was:   `m.xoffs = append(m.xoffs, int32(c.XOFF(in)))`,
		is:    `m.xoffs = append(m.xoffs, int32(c.XOFF(in)/2))`,
		cases: []string{"N05", "B03"},
	},
	{
		number: 37, name: "the head of a queue is dropped at each resume", file: "dataplane/pause.go", function: "endPause",
		was: `s.ready.Add(out)`,
		is: `s.ready.Add(out)
		if how == event.Resumed && p.queues[priority].Head() != nil {
			s.drop(s.pop(out, priority), DropHeadroom)
		}`,
		cases: []string{"N02"},
	},
	{
		number: 37, name: "the head of a queue is sent twice at each resume", file: "dataplane/pause.go", function: "endPause",
		was: `p.count.PausedTime[priority] += lasted`,
		is: `p.count.PausedTime[priority] += lasted
		if f := p.queues[priority].Head(); f != nil && how == event.Resumed {
			s.mmu.Hold(f.In, f.InPriority, out, priority, s.mmu.Charge(f.Len))
			p.queues[priority].Push(s.pool.Copy(f))
		}`,
		cases: []string{"N07"},
	},
	{
		number: 38, name: "a moved station is not followed while its class is paused", file: "dataplane/receive.go", function: "learn",
		was: `if s.macs.refresh(s.now, key, mac, at) {
		s.before.src = mac
	} else if s.isStation(mac) && !s.macs.learn(s.now, key, mac, at) {
		s.ports[in].count.Drops[OddMACTable]++
	}`,
		is: `old, known := s.macs.lookup(s.now, s.ports[in].subnet, mac)
		moves := known && old != at && s.ports[old].paused.Has(f.Info.Priority)
		if !moves && !s.macs.refresh(s.now, key, mac, at) && s.isStation(mac) {
			s.macs.learn(s.now, key, mac, at)
		}`,
		cases: []string{"N08"},
	},
	{
		number: 40, name: "dwrr forgets the weight of a class that is paused", file: "dataplane/schedule.go", function: "grant",
		was: `p.deficit[gone.First()] = 0`,
		is: `p.deficit[gone.First()] = 0
			if p.paused.Has(gone.First()) {
				p.quanta[gone.First()] = min(p.quanta[0], p.quanta[7])
			}`,
		cases: []string{"Q03"},
	},
	{
		number: 40, name: "dwrr lets a class make up for its pauses", file: "dataplane/schedule.go", function: "spend",
		was: `p.deficit[c] -= int32(n + unit.WireOverhead)`,
		is: `if p.count.PausedTime[c] > 0 {
			p.count.PausedTime[c] = max(0, p.count.PausedTime[c]-4*p.cfg.Rate.FrameTime(n))
		} else {
			p.deficit[c] -= int32(n + unit.WireOverhead)
		}`,
		cases: []string{"Q03"},
	},
	{
		number: 40, name: "ECN marks frames that are not ECT", file: "dataplane/ecn.go", function: "mark",
		was: `if ecn := ip.ECN(); ecn == ether.NotECT || ecn == ether.CE || !over && !m.early(p.queues[c].Bytes()) {
		return
	}`,
		is: `if !over && !m.early(p.queues[c].Bytes()) {
			return
		}`,
		cases: []string{"Q04"},
	},
}
