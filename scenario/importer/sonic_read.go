package importer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// table is a table of a config_db.json: the fields of rows by their keys, as texts.
type table map[string]map[string]string

// configDB is what is read of a config_db.json.
type configDB struct {
	name, file string
	tables     map[string]table
	taken      map[string]bool // rows, as TABLE|KEY, that something refers to

	order    map[string][]string // the keys of tables, in order
	groups   map[string][]share  // by port: its rows of BUFFER_PG
	queues   map[string][]share  // by port: its rows of QUEUE
	qos      map[string]string   // by port: its row of PORT_QOS_MAP
	aliases  map[string]string   // ports by their aliases
	cables   map[string]string   // by port: its row of CABLE_LENGTH
	channels map[string]string   // by port: its PortChannel
	routed   map[string]bool     // ports with an address, where addresses tell of links
}

// share is the row of a port for some of its eight priorities.
type share struct{ from, to, row string }

// maxFields limits the rows and fields of a file, in tables of which some are used.
const maxFields = 200_000

// read reads the tables of a file into c and looks all of its fields up in the ledger. False if
// it is no config_db.json.
func (r *sonicReader) read(c *configDB, data []byte) bool {
	d := sonicDecoder{r: r, c: c, Decoder: newDecoder(data)}
	twice, err := repeated(d.Decoder, data)
	if err == nil {
		d.Decoder, d.stale = newDecoder(data), twice.stale
		err = d.file()
	}
	if err == nil {
		if len(twice.first) > 0 {
			r.tellAt(c.file+".json", "it has keys more than once, and the last one counts, as in SONiC: %s", &twice)
		}
		return true
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = errors.New("it ends in the midst of a table")
	}
	at := d.InputOffset()
	if wrong := new(jsontext.SyntacticError); errors.As(err, &wrong) {
		at = wrong.ByteOffset
	}
	line := 1 + bytes.Count(data[:min(int(at), len(data))], []byte("\n"))
	r.fault(fmt.Errorf("%s.json:%d: no config_db.json: %s", c.file, line, cut(err.Error())))
	r.broken = true
	return false
}

// newDecoder reads JSON as Python's json does, by which SONiC reads: a key may come more than once.
func newDecoder(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
}

// sonicDecoder reads one file.
type sonicDecoder struct {
	r *sonicReader
	c *configDB
	*jsontext.Decoder
	stale  map[int64]bool // values that do not count, by the offset behind their key
	fields int            // so far
}

// file reads an object of tables. A key with "|" is a row of a table, as Redis has it.
func (d *sonicDecoder) file() error {
	if kind := d.PeekKind(); kind != '{' && kind != 0 {
		return errors.New("it is no object; want one whose keys are tables, such as \"PORT\"")
	}
	err := d.object(func(name string) error {
		if name, row, keyed := strings.Cut(name, "|"); keyed {
			return d.row(name, row)
		}
		return d.table(name)
	})
	if err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return cmp.Or(err, errors.New("something follows behind the object"))
	}
	return nil
}

// object reads an object, whose values of reads.
func (d *sonicDecoder) object(of func(key string) error) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		read := of
		if d.stale[d.InputOffset()] {
			read = func(string) error { return d.SkipValue() }
		}
		if err := read(t.String()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// empty skips a value that says nothing: null, "" or an object without rows is what is left of a table.
func (d *sonicDecoder) empty() (bool, error) {
	switch d.PeekKind() {
	case 'n':
		return true, d.SkipValue()
	case '"':
		v, err := d.ReadToken()
		if err == nil && v.String() != "" {
			err = fmt.Errorf("%s is %q; want an object", d.StackPointer(), v.String())
		}
		return true, err
	}
	return false, nil
}

// table reads a table.
func (d *sonicDecoder) table(name string) error {
	f, known := d.r.ledger[name]
	if !known || f.whole() {
		return d.skipTable(name)
	}
	if none, err := d.empty(); none {
		return err
	}
	if kind := d.PeekKind(); kind != '{' {
		return d.wrong(quoted(name), "want an object of rows")
	}
	return d.object(func(key string) error { return d.row(name, key) })
}

// skipTable passes over a table of which nothing is used, and keeps its name if it has something.
func (d *sonicDecoder) skipTable(name string) error {
	v, err := d.ReadValue()
	if text := string(v); err == nil && text != "null" && text != `""` && strings.Trim(text, "{} \t\r\n") != "" {
		d.r.see(name, "", d.c.file+".json")
	}
	return err
}

// row reads a row of a table.
func (d *sonicDecoder) row(name, key string) error {
	if f, known := d.r.ledger[name]; !known || f.whole() {
		d.r.see(name, "", d.c.file+".json")
		return d.SkipValue()
	}
	place := name + "|" + key
	if d.PeekKind() != '{' {
		return d.wrong(quoted(place), "want an object of fields")
	}
	rows := d.c.tables[name]
	if rows == nil {
		rows = table{}
		d.c.tables[name] = rows
	}
	if d.fields++; d.fields > maxFields {
		return fmt.Errorf("more than %d rows and fields", maxFields)
	}
	if rows[key] == nil {
		rows[key] = map[string]string{}
	}
	return d.object(func(field string) error { return d.field(name, key, field, rows[key]) })
}

// field reads a field, and looks it up in the ledger.
func (d *sonicDecoder) field(name, key, field string, to map[string]string) error {
	if d.fields++; d.fields > maxFields {
		return fmt.Errorf("more than %d rows and fields", maxFields)
	}
	what, _ := d.r.ledger.of(name, field)
	if what != isUsed {
		if field != "NULL" { // what Redis has in a row without fields
			d.r.see(name, field, d.c.file+" "+quoted(key))
		}
		return d.SkipValue()
	}
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	if v.Kind() == 'n' { // what SONiC's programs write for what they do not know
		d.r.tellAt(d.c.file+" "+quoted(name+"|"+key), "%s is null: it counts as missing", quoted(field))
		return nil
	}
	text, ok := textOf(v)
	if !ok {
		v.Compact()
		d.r.faultf(d.c, quoted(name+"|"+key), "%s is %s; want a text, such as \"3,4\"", quoted(field), cut(string(v)))
	}
	to[field] = text
	return nil
}

// wrong passes over a value of another kind than it has to be.
func (d *sonicDecoder) wrong(place, want string) error {
	v, err := d.ReadValue()
	if err == nil {
		v.Compact()
		d.r.faultf(d.c, place, "it is %s; %s", cut(string(v)), want)
	}
	return err
}

// cut is a value for a fault, which is not much longer than a line.
func cut(value string) string {
	if len(value) > 2*width {
		return strings.ToValidUTF8(value[:2*width], "") + "..."
	}
	return value
}

// textOf is the text of a value of JSON, as SONiC makes one where it loads a file: of a number its
// digits, of a list its elements with commas between them (sonic-net/sonic-py-swsssdk, typed_to_raw).
// False if it has none: it would count as missing.
func textOf(v jsontext.Value) (text string, ok bool) {
	switch v.Kind() {
	case '"':
		b, err := jsontext.AppendUnquote(nil, v)
		return string(b), err == nil
	case '0':
		n, err := strconv.ParseFloat(string(v), 64)
		return strconv.FormatFloat(n, 'f', -1, 64), err == nil
	case 't', 'f':
		return string(v), true
	case '[':
		d := jsontext.NewDecoder(bytes.NewBuffer(v))
		d.ReadToken()
		var all []string
		for d.PeekKind() != ']' {
			one, err := d.ReadValue()
			if err != nil || one.Kind() == '[' {
				return "", false
			}
			text, ok := textOf(one)
			if !ok {
				return "", false
			}
			all = append(all, text)
		}
		return strings.Join(all, ","), true
	}
	return "", false
}

// index makes the ways by which rows are found.
func (c *configDB) index() {
	c.neighbours()
	c.order = map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(c.tables)) {
		c.order[name] = keysOf(c.tables[name])
	}
	c.groups, c.queues = c.shares("BUFFER_PG"), c.shares("QUEUE")
	c.qos, c.aliases, c.cables, c.channels = map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}
	c.routed = map[string]bool{}
	for _, key := range c.keys("PORTCHANNEL_MEMBER") { // "PortChannel1|Ethernet0"
		channel, port, _ := strings.Cut(key, "|")
		c.channels[port] = channel
	}
	for _, key := range c.keys("PORT_QOS_MAP") {
		for _, port := range strings.Split(key, ",") {
			if _, ok := c.qos[port]; !ok {
				c.qos[port] = key
			}
		}
	}
	for _, port := range c.keys("PORT") {
		if alias := c.tables["PORT"][port]["alias"]; alias != "" {
			c.aliases[alias] = port
		}
	}
	for _, key := range c.keys("CABLE_LENGTH") {
		for _, port := range keysOf(c.tables["CABLE_LENGTH"][key]) {
			if _, ok := c.cables[port]; !ok || c.tables["CABLE_LENGTH"][key][port] != "" {
				c.cables[port] = key
			}
		}
	}
}

// neighbours makes rows by port of those rows of DEVICE_NEIGHBOR whose key is the neighbour: the port is
// their local_port then, as in files of older releases.
func (c *configDB) neighbours() {
	rows := c.tables["DEVICE_NEIGHBOR"]
	for _, key := range keysOf(rows) {
		row := rows[key]
		port := row["local_port"]
		if c.has("PORT", key) || !c.has("PORT", port) || rows[port] != nil {
			continue
		}
		delete(rows, key)
		rows[port] = map[string]string{"name": cmp.Or(row["name"], key), "port": row["port"], "type": row["type"]}
	}
}

// shares are the rows of a table whose keys are "Ethernet0,Ethernet4|3-4", by port.
func (c *configDB) shares(name string) map[string][]share {
	of := map[string][]share{}
	for _, key := range c.keys(name) {
		ports, which, keyed := cutLast(key, "|")
		if !keyed {
			continue
		}
		from, to, two := strings.Cut(which, "-")
		if !two {
			to = from
		}
		for _, port := range strings.Split(ports, ",") {
			of[port] = append(of[port], share{from, to, key})
		}
	}
	return of
}

// rowOf finds the row of a port that is of a priority, "" if there is none.
func rowOf(shares []share, priority int) string {
	for _, s := range shares {
		from, err1 := strconv.Atoi(s.from)
		to, err2 := strconv.Atoi(s.to)
		if err1 == nil && err2 == nil && from <= priority && priority <= to {
			return s.row
		}
	}
	return ""
}

// field is a field of a row, "" if there is none.
func (c *configDB) field(name, key, field string) string {
	row, ok := c.tables[name][key]
	if ok {
		c.taken[name+"|"+key] = true
	}
	return row[field]
}

// has reports whether a table has a row.
func (c *configDB) has(name, key string) bool { return c.tables[name][key] != nil }

// keys are the keys of the rows of a table, in order.
func (c *configDB) keys(name string) []string { return c.order[name] }

// fieldsOf are the names of the fields of a row, in order.
func (c *configDB) fieldsOf(name, key string) []string { return keysOf(c.tables[name][key]) }

// port is a field of PORT_QOS_MAP of a port.
func (c *configDB) portQOS(port, field string) string {
	return c.field("PORT_QOS_MAP", c.qos[port], field)
}

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
