package dataplane

import (
	"math/rand/v2"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// noSubnet is of a switch that bridges all ports.
func noSubnet(unit.Port) int { return -1 }

// made is an address that nobody else has.
func made(i int) unit.MAC { return 0x02ee00000000 + unit.MAC(i) }

// speak is a broadcast of n stations with made-up addresses at port 0, the first of
// which is number first.
func (s *testSwitch) speak(first, n int) {
	s.t.Helper()
	for i := range n {
		s.receive(0, plain(unit.Broadcast, made(first+i), 60))
		s.drain(1)
		s.drain(2)
	}
}

// A host that makes up addresses gets half the table. What it sends beyond is
// forwarded, counted and not learned; those behind other ports are learned as ever.
func TestMadeUpAddressesLeaveRoom(t *testing.T) {
	s := newTestSwitch(t, 3, withoutStations)
	const room = macTableMax / 2
	s.speak(0, room)
	s.wantNoDrops()
	s.speak(room, 3)
	s.wantDrops(0, map[Reason]uint64{OddMACTable: 3})
	s.receive(1, plain(made(room), stationMAC(1), 60))
	s.wantNoDrops()
	s.wantData(0, plain(made(room), stationMAC(1), 60))
	s.wantData(2, plain(made(room), stationMAC(1), 60)) // flooded
	s.receive(2, plain(stationMAC(1), stationMAC(2), 60), plain(made(7), stationMAC(2), 60))
	s.wantData(1, plain(stationMAC(1), stationMAC(2), 60))
	s.wantData(0, plain(made(7), stationMAC(2), 60))
	s.wantNothing(0, 1, 2)
}

// When entries have aged there is room again, and they are taken out as new stations
// come.
func TestFullMACTableAges(t *testing.T) {
	s := newTestSwitch(t, 3, withoutStations)
	const room = macTableMax / 2
	s.speak(0, room)
	s.advance(macAge)
	s.speak(7, 1) // stays young
	s.advance(1)
	s.speak(room, room-1)
	s.wantNoDrops()
	if n := len(s.macs.entries); n != room {
		t.Errorf("%d entries, want %d: those that have aged are gone", n, room)
	}
	if _, ok := s.macs.lookup(s.now, -1, made(7)); !ok {
		t.Error("a young station was forgotten")
	}
	if _, ok := s.macs.lookup(s.now, -1, made(8)); ok {
		t.Error("an aged station is known")
	}
}

// The table against a slow one, which looks at every entry: who was learned is found
// where it was seen last until it has aged, and the counts are right.
func TestMACTableAgainstReferenceModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	static := []Station{{made(0), 3}, {made(1), 2}}
	table := newMACTable(static, noSubnet)
	type seen struct {
		at   unit.Time
		port unit.Port
	}
	model := map[unit.MAC]seen{}
	now := unit.Time(0)
	for range 50_000 {
		now += unit.Time(rng.IntN(2)) * unit.Second / 8
		mac, in := made(rng.IntN(3000)), unit.Port(rng.IntN(4))
		switch _, known := table.index[stationKey(-1, mac)]; {
		case rng.IntN(5000) == 0:
			table.forget(in)
			for mac, s := range model {
				if s.port == in {
					delete(model, mac)
				}
			}
		case table.hear(now, mac, in):
			model[mac] = seen{now, in}
		case known || int(table.shares[in]) < macTableMax-len(table.entries):
			t.Fatalf("%v at %d is refused", mac, in)
		}
		mac = made(rng.IntN(3000))
		want, ok := model[mac]
		ok = ok && want.at+macAge >= now
		for _, s := range static {
			if s.MAC == mac {
				want, ok = seen{port: s.Port}, true
			}
		}
		if port, found := table.lookup(now, -1, mac); found != ok || ok && port != want.port {
			t.Fatalf("%v: found %v at %d, want %v at %d", mac, found, port, ok, want.port)
		}
	}
	var count shares
	for i, e := range table.entries {
		if table.index[e.key] != int32(i) {
			t.Errorf("%v is entry %d, and the index says %d", e.mac, i, table.index[e.key])
		}
		if !e.static {
			count[e.port]++
		}
	}
	if count != table.shares || len(table.index) != len(table.entries) {
		t.Errorf("learned %v, counted %v; %d entries, %d in the index", table.shares, count, len(table.entries), len(table.index))
	}
}

// hear is what a switch does with the source address of a frame.
func (t *macTable) hear(now unit.Time, mac unit.MAC, in unit.Port) bool {
	key := stationKey(-1, mac)
	return t.refresh(now, key, mac, in) || t.learn(now, key, mac, in)
}

// fullMACTable is a table that two ports have filled as far as they may.
func fullMACTable() macTable {
	t := newMACTable(nil, noSubnet)
	for i := range 2 * macTableMax {
		t.hear(0, made(i), unit.Port(i%2))
	}
	return t
}

// A station that is known, one that is new and refused, and one that takes the place of
// one that has aged.
func BenchmarkLearn(b *testing.B) {
	b.Run("known", func(b *testing.B) {
		t := fullMACTable()
		for b.Loop() {
			t.hear(unit.Second, made(1), 1)
		}
	})
	b.Run("refused", func(b *testing.B) {
		t := fullMACTable()
		for n := 0; b.Loop(); n++ {
			t.hear(unit.Second, 0x040000000000+unit.MAC(n), 1)
		}
	})
	b.Run("replaced", func(b *testing.B) {
		t, now := fullMACTable(), unit.Time(0)
		for n := 0; b.Loop(); n++ {
			now += macAge / 1024
			t.hear(now, 0x040000000000+unit.MAC(n), 1)
		}
	})
}
