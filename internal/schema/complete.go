package schema

import (
	"strings"

	"softswitch/internal/lists"
)

// Complete is how a setting PATH=VALUE that has begun can go on: the keys that can stand
// there, each with ".", "[0]" or "=" behind it, or behind a "=" the words that are valid.
// Entries of lists that have begun keep their numbers. Nil if nothing can stand there.
func (o *Object) Complete(begun string) (all []string) {
	if path, text, ok := strings.Cut(begun, "="); ok {
		if v := o.at(path); v != nil {
			for _, w := range v.Kind.valid() {
				if strings.HasPrefix(w, text) {
					all = append(all, path+"="+w)
				}
			}
		}
		return all
	}
	above, key := "", begun
	v := &Value{Object: o}
	if i := strings.LastIndexByte(begun, '.'); i >= 0 {
		above, key = begun[:i+1], begun[i+1:]
		v = o.at(begun[:i])
	}
	for _, k := range v.keys() {
		if strings.HasPrefix(k, key) {
			all = append(all, above+k)
		}
	}
	return all
}

// at is the value at a path, nil if there can be none.
func (o *Object) at(path string) *Value {
	v := &Value{Object: o}
	for key := range strings.SplitSeq(path, ".") {
		key, entry, isEntry := strings.Cut(key, "[")
		switch {
		case v.Map != nil:
			v = v.Map
		case v.Object == nil || v.Object.field(key) == nil:
			return nil
		default:
			v = &v.Object.field(key).Value
		}
		if isEntry {
			if v.List == nil || !strings.HasSuffix(entry, "]") {
				return nil
			}
			v = v.List
		}
		if v.One && v.List.Object != nil {
			v = v.List
		}
	}
	return v
}

// keys are those below v, with what comes behind them.
func (v *Value) keys() []string {
	switch {
	case v == nil:
	case v.Map != nil:
		return lists.Map(v.Keys.Words, func(k string) string { return k + v.Map.behind() })
	case v.Object != nil:
		return lists.Map(v.Object.Fields, func(f Field) string { return f.Key + f.Value.behind() })
	}
	return nil
}

// behind is what comes behind a key with value v: more keys, or the value itself.
func (v *Value) behind() string {
	switch {
	case v.Object != nil || v.Map != nil || v.One && v.List.Object != nil:
		return "."
	case v.List != nil && v.List.Object != nil:
		return "[0]."
	}
	return "="
}

// valid are the words of a kind that can be listed.
func (k Kind) valid() []string {
	if k.Bool {
		return []string{"true", "false"}
	}
	return k.Words
}
