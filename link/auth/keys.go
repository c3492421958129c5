package auth

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Keys are the keys of links, by name. AllLinks stands for those that are not named.
type Keys map[string][]Key

// AllLinks is the name, in a file of keys, of all links that it does not name.
const AllLinks = "*"

// Of are the keys of a link, nil if it has none.
func (k Keys) Of(link string) []Key {
	if keys, ok := k[link]; ok {
		return keys
	}
	return k[AllLinks]
}

// File is the content of a file of these keys, as ParseKeys reads it.
func (k Keys) File() (text []byte) {
	for _, link := range slices.Sorted(maps.Keys(k)) {
		text = append(text, link...)
		for _, key := range k[link] {
			text = fmt.Appendf(text, " %x", key[:])
		}
		text = append(text, '\n')
	}
	return text
}

// String hides the keys.
func (k Keys) String() string { return fmt.Sprintf("(keys of %d links)", len(k)) }

// GoString hides the keys.
func (k Keys) GoString() string { return k.String() }

// ParseKeys reads a file of keys: a line for each link, its name and one or two keys of 32
// hexadecimal digits, the one to sign with first. What follows # is a comment. The error has
// all faults, as "file:line: what is wrong", and never a key.
func ParseKeys(file string, data []byte) (Keys, error) {
	keys := Keys{}
	var faults []error
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		if err := keys.add(fields[0], fields[1:]); err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %s%w", file, n, named(fields[0]), err))
		}
	}
	if err := lines.Err(); err != nil {
		faults = append(faults, fmt.Errorf("%s: %w", file, err))
	}
	if len(faults) == 0 && len(keys) == 0 {
		faults = append(faults, fmt.Errorf("%s: no key: write a line such as `LINK KEY`, the key in 32 hexadecimal digits", file))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return keys, nil
}

// named is the beginning of what is said of a link: its name, unless that could be a key, which a
// line without a name begins with.
func named(link string) string {
	if strings.Contains(link, "--") || link == AllLinks {
		return "link " + link + ": "
	}
	return ""
}

// add adds the keys of a link.
func (k Keys) add(link string, texts []string) error {
	switch _, twice := k[link]; {
	case twice:
		return errors.New("the link has a line already")
	case len(texts) == 0 || len(texts) > KeysMax:
		return fmt.Errorf("%d keys; write a link's name, and one key, or two while they are changed", len(texts))
	}
	var all []Key
	for i, text := range texts {
		b, err := hex.DecodeString(text)
		switch {
		case err != nil && len(text) == hex.EncodedLen(len(Key{})):
			return fmt.Errorf("key %d is not hexadecimal", i+1)
		case err != nil || len(b) != len(Key{}):
			return fmt.Errorf("key %d has %d digits; write 32 hexadecimal ones", i+1, len(text))
		case slices.Contains(all, Key(b)):
			return errors.New("the two keys are the same")
		}
		all = append(all, Key(b))
	}
	k[link] = all
	return nil
}
