package config

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"softswitch/link/impair"
	"softswitch/unit"
)

// rateUnits from the smallest on, with their powers of ten.
var rateUnits = [...]struct {
	name  string
	power int
}{{"bit/s", 0}, {"kbit/s", 3}, {"Mbit/s", 6}, {"Gbit/s", 9}, {"Tbit/s", 12}}

// maxRate keeps all arithmetic with rates within 64 bits.
const maxRate = 1000e12

// ParseRate parses a rate such as "100Mbit/s", "2.5Gbit/s" or "0", which is unlimited.
// It is exact: a fraction of a bit per second is an error.
func ParseRate(s string) (unit.Rate, error) {
	if s == "0" {
		return 0, nil
	}
	bad := fmt.Errorf(`%q is not a rate: write a number and bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s, such as "100Mbit/s", or "0" for unlimited; at most 1000Tbit/s`, s)
	end := strings.LastIndexAny(s, "0123456789.") + 1
	number, name := s[:end], strings.TrimSpace(s[end:])
	for _, u := range rateUnits {
		if u.name != name {
			continue
		}
		r, ok := scaled(number, u.power)
		if !ok {
			return 0, bad
		}
		return unit.Rate(r), nil
	}
	return 0, bad
}

// scaled is the decimal number x 10^power if that is whole, above zero and at most
// maxRate.
func scaled(number string, power int) (int64, bool) {
	n, ok := decimal(number, power)
	return n, ok && n > 0 && n <= maxRate
}

// decimal is the decimal number x 10^power if that is whole and fits.
func decimal(number string, power int) (int64, bool) {
	whole, fraction, point := strings.Cut(number, ".")
	if whole == "" || point && fraction == "" || len(fraction) > power {
		return 0, false
	}
	n, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", power-len(fraction)), 10, 63)
	return int64(n), err == nil
}

// FormatRate writes r in the largest unit that does not exceed it, exactly:
// "2.5Gbit/s"; 0 is "0". ParseRate reads it back.
func FormatRate(r unit.Rate) string {
	if r <= 0 {
		return "0"
	}
	digits := strconv.FormatInt(int64(r), 10)
	u := rateUnits[min((len(digits)-1)/3, len(rateUnits)-1)]
	whole, fraction := digits[:len(digits)-u.power], strings.TrimRight(digits[len(digits)-u.power:], "0")
	if fraction != "" {
		whole += "." + fraction
	}
	return whole + u.name
}

// maxTime keeps sums of times within 64 bits.
const maxTime = 1000 * time.Hour

// ParseTime parses a duration such as "10ms" or "1.5s". It must be 0 to 1000h; "" is an
// error.
func ParseTime(s string) (unit.Time, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > maxTime {
		return 0, fmt.Errorf(`%q is not a time: write a number and ns, us, ms, s, m or h, such as "10ms"; at most 1000h`, s)
	}
	return unit.Time(d), nil
}

// FormatTime writes t as ParseTime reads it: "1.5s".
func FormatTime(t unit.Time) string { return time.Duration(t).String() }

// nsPerMetre is how long light takes for a metre of fibre: 198,000 km/s.
const nsPerMetre = 1e9 / 198e6

// ParseCable parses the length of a cable in metres, such as "300m", and returns how long a frame
// takes for it at 5.05 ns a metre. It is at most 1s.
func ParseCable(s string) (unit.Time, error) {
	number, ok := strings.CutSuffix(s, "m")
	thousandths, whole := decimal(number, 3)
	if t := float64(thousandths) / 1000 * nsPerMetre; ok && whole && t <= 1e9 {
		return unit.Time(t), nil
	}
	return 0, fmt.Errorf(`%q is not the length of a cable: write metres, such as "300m"; at most 198000000m, in which light is under way for a second`, s)
}

// CableOf is how many metres of fibre take this long.
func CableOf(t unit.Time) (metres float64) { return float64(t) / nsPerMetre }

// ParseMAC parses a unicast MAC address such as "02:00:00:01:00:03" into the low 48
// bits. A group address and the zero address are errors.
func ParseMAC(s string) (uint64, error) {
	var raw [8]byte
	ok := len(s) == 17
	for i := 2; ok && i < 17; i += 3 {
		ok = s[i] == ':'
	}
	if ok {
		_, err := hex.Decode(raw[2:], []byte(strings.ReplaceAll(s, ":", "")))
		ok = err == nil
	}
	mac := binary.BigEndian.Uint64(raw[:])
	if !ok || mac == 0 || mac>>40&1 != 0 {
		return 0, fmt.Errorf(`%q is not the MAC address of a station: write six bytes such as "02:00:00:01:00:03", the first of them even`, s)
	}
	return mac, nil
}

// FormatMAC writes the low 48 bits of mac as ParseMAC reads them.
func FormatMAC(mac uint64) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x",
		byte(mac>>40), byte(mac>>32), byte(mac>>24), byte(mac>>16), byte(mac>>8), byte(mac))
}

// ParseAddr parses the IPv4 address of a station, such as "10.0.1.2", into its
// big-endian value.
func ParseAddr(s string) (uint32, error) {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is4() || a.IsMulticast() || a.IsUnspecified() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return 0, fmt.Errorf(`%q is not the IPv4 address of a station: write four numbers such as "10.0.1.2"`, s)
	}
	return addrValue(a), nil
}

// FormatAddr writes the big-endian value a as ParseAddr reads it.
func FormatAddr(a uint32) string {
	return netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)}).String()
}

// ParsePrefix parses an IPv4 prefix such as "10.0.1.0/24" into its big-endian address
// and its length, 0 to 32. Bits set behind the prefix are an error.
func ParsePrefix(s string) (addr uint32, bits int, err error) {
	p, err := netip.ParsePrefix(s)
	if err != nil || !p.Addr().Is4() {
		return 0, 0, fmt.Errorf(`%q is not an IPv4 prefix: write an address and a length such as "10.0.1.0/24"`, s)
	}
	if p != p.Masked() {
		return 0, 0, fmt.Errorf("%q has bits set behind the prefix: write %q", s, p.Masked())
	}
	return addrValue(p.Addr()), p.Bits(), nil
}

// ParseInterface parses a host's address with its prefix length, such as "10.0.1.2/24".
func ParseInterface(s string) (addr uint32, bits int, err error) {
	p, err := netip.ParsePrefix(s)
	if err == nil {
		addr, err = ParseAddr(p.Addr().String())
	}
	if err != nil || p.Bits() > 30 || p == p.Masked() || addr|math.MaxUint32>>p.Bits() == addr {
		return 0, 0, fmt.Errorf(`%q is not a host's IPv4 address with its prefix length: write it as "10.0.1.2/24", neither the first nor the last of the prefix`, s)
	}
	return addr, p.Bits(), nil
}

func addrValue(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

// ParseListen splits a listen address, "127.0.0.1:9100" or "[::1]:9100", into host and
// port. The host defaults to 127.0.0.1: ":9100" or "9100".
func ParseListen(s string) (host, port string, err error) {
	port = s
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		host, port = s[:i], s[i+1:]
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", "", fmt.Errorf("%q: port %q; valid: host:port with a port of 0 to 65535, such as 127.0.0.1:9100", s, port)
	}
	return cmp.Or(host, "127.0.0.1"), port, nil
}

// ParsePercent parses a share such as "1%" or "0.05%", with at most two digits after the
// point, into parts of [impair.Whole].
func ParsePercent(s string) (int, error) {
	number, ok := strings.CutSuffix(s, "%")
	n, scalable := decimal(number, 2)
	if !ok || !scalable || n > impair.Whole {
		return 0, fmt.Errorf(`%q is not a share: write 0%% to 100%%, with at most two digits after the point, such as "0.5%%"`, s)
	}
	return int(n), nil
}

// FormatPercent writes parts of [impair.Whole] so that ParsePercent reads them back.
func FormatPercent(n int) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%02d", n/100, n%100), "0"), ".") + "%"
}
