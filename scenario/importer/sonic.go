// SONiC makes a scenario of the configurations of a fabric of SONiC switches.
//
//	NAME.json, a config_db.json of each switch --> tables --> links, priorities, buffers --> scenario file
//
// What becomes of each field of a config_db.json is in sonic_ledger.go, by the YANG models of
// sonic-net/sonic-buildimage (src/sonic-yang-models). A neighbour of which there is no file is a
// host, unless there are files of others and its metadata says that it is a switch.
//
// Read in this order: this file (the files, and what comes of them), sonic_read.go (tables), sonic_ledger.go
// (what is used), sonic_fabric.go (links and hosts), sonic_subnets.go (links that only addresses tell of),
// sonic_lag.go (links that act as one),
// sonic_priorities.go (lossless priorities, and how a port tells them), sonic_buffers.go (profiles and pools),
// sonic_headroom.go (what headroom depends on), sonic_dynamic.go (the headroom that SONiC computes),
// sonic_egress.go (schedulers and marks), sonic_watchdog.go, sonic_text.go.
//
// Invariants:
//   - all faults: what is wrong is told at once, with file, table and key;
//   - two ends: a link is there if both switches say so, with the same speed;
//   - what a scenario cannot say is a fault, or a comment at its head.
//
// What it does not do: it takes over no addresses and no routes; a scenario has its own.

package importer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"softswitch/topo"
	"softswitch/unit"
)

// SONiCFile is a switch's config_db.json.
type SONiCFile struct {
	Switch string // the name of the file without .json, of the switch too if its hostname is not in it
	Data   []byte
}

// MaxSONiCFile limits a file, in bytes, and MaxSONiCFiles all of them together.
const (
	MaxSONiCFile  = 16 << 20
	MaxSONiCFiles = 512 << 20
)

// maxSwitches limits the files of a fabric, maxPorts the links of a switch.
const (
	maxSwitches = 10_000
	maxPorts    = 256
)

// sonicReader collects what the files say, and the faults.
type sonicReader struct {
	tally
	configs []*configDB
	byName  map[string]*configDB
	faults  []error
	more    int  // faults beyond maxFaults
	broken  bool // a file is none of a switch
}

// maxFaults limits the faults that are told of.
const maxFaults = 100

func (r *sonicReader) faultf(c *configDB, place, format string, args ...any) {
	r.fault(fmt.Errorf("%s.json: %s: %s", c.file, place, fmt.Sprintf(format, args...)))
}

func (r *sonicReader) fault(err error) {
	if slices.ContainsFunc(r.faults, func(other error) bool { return other.Error() == err.Error() }) {
		return
	}
	if len(r.faults) == maxFaults {
		r.more++
		return
	}
	r.faults = append(r.faults, err)
}

// err is all faults, nil if there is none.
func (r *sonicReader) err() error {
	if r.more > 0 {
		return errors.Join(append(r.faults, fmt.Errorf("and %s", unit.Count(r.more, "more error")))...)
	}
	return errors.Join(r.faults...)
}

// SONiC makes a scenario called name of the fabric of these switches, which goes by routing; "" is what
// the files suggest. The error has a line for each fault.
func SONiC(name string, files []SONiCFile, routing Routing) (Imported, error) {
	if len(files) == 0 {
		return Imported{}, errors.New("no file: want a NAME.json for each switch")
	}
	if len(files) > maxSwitches {
		return Imported{}, fmt.Errorf("%d files: at most %d switches", len(files), maxSwitches)
	}
	r := sonicReader{byName: map[string]*configDB{}}
	r.ledger = sonicLedger
	for _, f := range files {
		r.add(f, len(files) == 1)
	}
	if r.broken {
		return Imported{}, r.err()
	}
	slices.SortFunc(r.configs, func(a, b *configDB) int { return compareNames(a.name, b.name) })
	for _, c := range r.configs {
		r.knownPorts(c)
		r.knownMembers(c)
	}
	if r.broken {
		return Imported{}, r.err()
	}
	f := r.fabric()
	f.lags = r.lags(f.links)
	r.cables(f.links)
	q := r.qos(f.links)
	b := r.buffers(f.links, q)
	mtu := r.mtu(f.links, b)
	if err := r.err(); err != nil {
		return Imported{}, err
	}
	r.headroom(f.links, q, b, mtu)
	e := r.egress(f.links, q)
	if err := r.err(); err != nil {
		return Imported{}, err
	}
	r.spare()
	by := r.routing()
	if routing != "" {
		by = routing.since("--routing says so")
	}
	return r.text(name, f, q, b, e, mtu, by), nil
}

// add reads a file; alone is whether there is no other.
func (r *sonicReader) add(f SONiCFile, alone bool) {
	c := &configDB{file: quoted(f.Switch), tables: map[string]table{}, taken: map[string]bool{}}
	if !r.read(c, f.Data) {
		return
	}
	c.name = cmp.Or(c.field("DEVICE_METADATA", "localhost", "hostname"), f.Switch)
	if alone && !topo.ValidName(c.name) {
		r.tell("The switch, %s, is called switch here", quoted(c.name))
		c.name = "switch"
	}
	switch other := r.byName[c.name]; {
	case !topo.ValidName(c.name):
		r.faultf(c, "DEVICE_METADATA|localhost", "hostname is %q; want a letter, then up to 31 letters, digits, \"-\", \"_\" and \".\"", c.name)
		return
	case other != nil:
		r.faultf(c, "DEVICE_METADATA|localhost", "hostname is %q, and so it is in %s.json", c.name, other.file)
		return
	case c.name != f.Switch && !alone:
		r.tellAt(c.file+".json", "it is the file of another name than its hostname, which counts")
	}
	c.index()
	r.configs = append(r.configs, c)
	r.byName[c.name] = c
}

// clos are the types of switches of a Clos, whose tiers BGP keeps apart.
var clos = []string{"ToRRouter", "LeafRouter", "SpineRouter", "BackEndToRRouter", "BackEndLeafRouter", "UpperSpineRouter", "LowerSpineRouter", "FabricSpineRouter"}

// routing is what the files suggest.
func (r *sonicReader) routing() routes {
	for _, c := range r.configs {
		if len(c.keys("BGP_NEIGHBOR")) > 0 {
			return RoutingBGP.since(c.file + ".json has BGP_NEIGHBOR")
		}
		if n := c.field("DEVICE_METADATA", "localhost", "bgp_asn"); n != "" && !strings.EqualFold(n, "none") {
			return RoutingBGP.since(c.file + ".json has a bgp_asn")
		}
		if kind := c.field("DEVICE_METADATA", "localhost", "type"); slices.Contains(clos, kind) {
			return RoutingBGP.since(c.name + " is a " + kind + ", of a Clos")
		}
	}
	return RoutingIGP.since("no file has BGP_NEIGHBOR or a bgp_asn")
}

// spare tells of the rows that nothing refers to.
func (r *sonicReader) spare() {
	for _, c := range r.configs {
		for _, name := range slices.Sorted(maps.Keys(c.tables)) {
			if r.ledger[name].spare == "" {
				continue
			}
			for _, key := range c.keys(name) {
				if c.taken[name+"|"+key] {
					continue
				}
				at, row := c.name, key
				if ports, rest, keyed := cutLast(key, "|"); keyed {
					at, row = c.name+" "+quoted(ports), rest
				}
				r.seeSpare(name, row, at)
			}
		}
	}
}

// cutLast is strings.Cut at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
