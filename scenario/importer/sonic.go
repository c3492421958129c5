// SONiC makes a scenario of the configurations of a fabric of SONiC switches.
//
//	NAME.json, a config_db.json of each switch --> links, speeds, priorities, profile --> scenario file
//
// What is read of a config_db.json: DEVICE_METADATA, PORT (speed, mtu, admin_status, pfc_asym), DEVICE_NEIGHBOR,
// DEVICE_NEIGHBOR_METADATA, PORT_QOS_MAP (pfc_enable, dscp_to_tc_map), DSCP_TO_TC_MAP,
// BUFFER_PG, BUFFER_PROFILE, BUFFER_POOL, CABLE_LENGTH, DEFAULT_LOSSLESS_BUFFER_PARAMETER,
// PORTCHANNEL (min_links) and PORTCHANNEL_MEMBER
// (SONiC, doc/swss-schema and the YANG models sonic-port, sonic-device_neighbor,
// sonic-buffer-pg). A neighbour of which there is no file is a host, unless its metadata says
// that it is a switch.
//
// Read in this order: this file (the files, and what comes of them), sonic_fabric.go (links), sonic_lag.go
// (links that act as one),
// sonic_priorities.go (lossless priorities and buffers), sonic_headroom.go (what headroom depends on),
// sonic_text.go.
//
// Invariants:
//   - all faults: everything that is wrong is told at once, with file, table and key;
//   - two ends: a link is there if both switches say so, with the same speed;
//   - what a scenario cannot say is a fault, or a comment at its head.
//
// What it does not do: it reads no routes, which are shortest paths in a scenario, and no
// VLANs. Links that are not all of one PortChannel stay ways of their own.

package importer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// SONiCFile is a switch's config_db.json.
type SONiCFile struct {
	Switch string // its name
	Data   []byte
}

// MaxSONiCFile limits a file, in bytes.
const MaxSONiCFile = 16 << 20

// maxSwitches limits the files of a fabric.
const maxSwitches = 10_000

// table is a table of a config_db.json: fields by key.
type table map[string]map[string]any

// configDB is what is read of a config_db.json.
type configDB struct {
	name     string
	Metadata table `json:"DEVICE_METADATA"`
	Port     table `json:"PORT"`
	Neigh    table `json:"DEVICE_NEIGHBOR"`
	About    table `json:"DEVICE_NEIGHBOR_METADATA"`
	QOS      table `json:"PORT_QOS_MAP"`
	DSCP     table `json:"DSCP_TO_TC_MAP"`
	PG       table `json:"BUFFER_PG"`
	Profile  table `json:"BUFFER_PROFILE"`
	Pool     table `json:"BUFFER_POOL"`
	Cable    table `json:"CABLE_LENGTH"`
	Channel  table `json:"PORTCHANNEL"`
	Member   table `json:"PORTCHANNEL_MEMBER"`
	// Parameter is for profiles that SONiC computes.
	Parameter table          `json:"DEFAULT_LOSSLESS_BUFFER_PARAMETER"`
	Rest      map[string]any `json:",unknown"`

	groups, cables []string // the keys of PG and Cable, in order
}

// sonicReader collects what the files say, and the faults.
type sonicReader struct {
	configs []*configDB
	byName  map[string]*configDB
	faults  []error
	notes   []string // for the head of the scenario
}

func (r *sonicReader) faultf(c *configDB, place, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("%s.json: %s: %s", c.name, place, fmt.Sprintf(format, args...)))
}

func (r *sonicReader) notef(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// SONiC is a scenario file called name, of the fabric of these switches. The error has
// a line for each fault.
func SONiC(name string, files []SONiCFile) ([]byte, error) {
	if len(files) == 0 {
		return nil, errors.New("no file: want a NAME.json for each switch")
	}
	if len(files) > maxSwitches {
		return nil, fmt.Errorf("%d files: at most %d switches", len(files), maxSwitches)
	}
	r := sonicReader{byName: map[string]*configDB{}}
	for _, f := range files {
		c := new(configDB)
		if !plain(f.Switch) {
			r.faults = append(r.faults, fmt.Errorf("%q.json: a switch's name has 1 to 32 letters, digits, \"-\", \"_\" and \".\"", f.Switch))
			continue
		}
		if err := json.Unmarshal(f.Data, c); err != nil {
			r.faults = append(r.faults, fmt.Errorf("%s.json: no config_db.json: %w", f.Switch, err))
			continue
		}
		c.name, c.groups, c.cables = f.Switch, c.PG.keys(), c.Cable.keys()
		r.texts(c)
		if host := c.Metadata.field("localhost", "hostname"); host != "" && host != f.Switch {
			r.faultf(c, "DEVICE_METADATA|localhost", "hostname is %q; the file is called by it", host)
		}
		r.configs = append(r.configs, c)
		r.byName[c.name] = c
	}
	slices.SortFunc(r.configs, func(a, b *configDB) int { return compareNames(a.name, b.name) })
	for _, c := range r.configs {
		r.known(c, "PORT_QOS_MAP", c.QOS.keys())
		r.known(c, "BUFFER_PG", c.groups)
	}
	fabric := r.fabric()
	lags := r.lags(fabric)
	r.cables(fabric)
	qos := r.qos(fabric)
	qos.mtu = r.mtu(fabric, qos.profile)
	if err := errors.Join(r.faults...); err != nil {
		return nil, err
	}
	r.headroom(fabric, qos)
	r.unused(qos.profile)
	return r.text(name, fabric, lags, qos), nil
}

// texts makes texts of the fields of c that are none, as SONiC does where it loads a file: of a number its
// digits, of a list its elements with commas between them (sonic-py-swsssdk, typed_to_raw). What is
// neither is a fault, for it would count as missing.
func (r *sonicReader) texts(c *configDB) {
	v := reflect.ValueOf(c).Elem()
	for f := range v.Type().Fields() {
		if f.Type != reflect.TypeFor[table]() {
			continue
		}
		rows := v.FieldByIndex(f.Index).Interface().(table)
		for _, key := range rows.keys() {
			for _, name := range rows.keysOf(key) {
				text, ok := textOf(rows[key][name])
				if !ok {
					what, _ := json.Marshal(rows[key][name])
					r.faultf(c, f.Tag.Get("json")+"|"+key, "%s is %s; want a text, such as \"3,4\"", name, what)
				}
				rows[key][name] = text
			}
		}
	}
}

// textOf is the text of a value of JSON, false if it has none.
func textOf(value any) (text string, ok bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(value), true
	case []any:
		var all []string
		for _, v := range value {
			one, ok := textOf(v)
			if !ok {
				return "", false
			}
			all = append(all, one)
		}
		return strings.Join(all, ","), true
	}
	return "", false
}

// plain reports whether a name can stand in a scenario.
func plain(name string) bool {
	for _, c := range []byte(name) {
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return name != "" && len(name) <= 32
}

// field is a field as text, "" if there is none or it is none.
func (t table) field(key, name string) string {
	s, _ := t[key][name].(string)
	return s
}

// keys are those of a table, in order.
func (t table) keys() []string { return keysOf(t) }

func keysOf[V any](m map[string]V) []string {
	keys := slices.Sorted(maps.Keys(m))
	slices.SortFunc(keys, compareNames)
	return keys
}

// compareNames compares names with numbers as people do: Ethernet8 before Ethernet12.
func compareNames(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		switch {
		case na > 0 && nb > 0:
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(len(x)-len(y), strings.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
		case a[0] != b[0]:
			return int(a[0]) - int(b[0])
		default:
			a, b = a[1:], b[1:]
		}
	}
	return len(a) - len(b)
}

// digits is how many s begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
