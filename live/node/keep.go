package node

import (
	"encoding/json"
	"fmt"

	"softswitch/live"
	"softswitch/unit"
)

// instant is the argument of "keep", and of "stats" that are to be as of then: a point of
// CLOCK_MONOTONIC. Without one, stats are as of now.
type instant struct {
	At unit.Time `json:"at"`
}

func readInstant(args json.RawMessage) (i instant, err error) {
	if len(args) > 0 {
		err = readArguments(args, &i)
	}
	return i, err
}

// keeper keeps what a machine is at an instant that was told before, so that what nodes
// are asked one after the other is as of one time.
type keeper[T any] struct {
	kept *kept[T] // guarded by the node's lock; nil: nothing was told
}

type kept[T any] struct {
	at    unit.Time
	taken bool
	value T
}

// keep lets take be called at the instant that args tell, instead of one told before.
func (k *keeper[T]) keep(n *live.Node, args json.RawMessage, take func() T) error {
	i, err := readInstant(args)
	if err != nil {
		return err
	}
	next := &kept[T]{at: i.At}
	if !n.Appoint(i.At, func() { next.value, next.taken = take(), true }) {
		return fmt.Errorf("keep: %d ns of CLOCK_MONOTONIC is past; valid: a time to come", i.At)
	}
	n.Do(func(unit.Time) { k.kept = next })
	return nil
}

// of is what was kept of an instant.
func (k *keeper[T]) of(n *live.Node, at unit.Time) (value T, err error) {
	n.Do(func(unit.Time) {
		if k.kept == nil || k.kept.at != at || !k.kept.taken {
			err = fmt.Errorf("stats: nothing was kept of %d ns: it is to come, or this process was not told of it", at)
			return
		}
		value = k.kept.value
	})
	return value, err
}

// stats is what the machine is now, or was at the instant in args; complete adds to that
// what may take its time. The log tells of all that it is made of.
func (k *keeper[T]) stats(n *live.Node, args json.RawMessage, now func() T, complete func(*T, unit.Time)) (value T, err error) {
	i, err := readInstant(args)
	if err != nil {
		return value, err
	}
	if i.At == 0 {
		n.Sync()
		return now(), nil
	}
	if value, err = k.of(n, i.At); err != nil {
		return value, err
	}
	n.Sync()
	complete(&value, i.At)
	return value, nil
}
