package node

import (
	"encoding/json"
	"fmt"

	"softswitch/live"
	"softswitch/node/client"
	"softswitch/unit"
)

// instant is the argument of "keep", and of a request for "stats" as of that instant.
// Without one, stats are as of now.
type instant client.Instant

func readInstant(args json.RawMessage) (i instant, err error) {
	if len(args) > 0 {
		err = readArguments(args, &i)
	}
	return i, err
}

// keeper takes a snapshot of a machine at an instant that is announced beforehand, so
// that nodes asked one after the other all report the same instant.
type keeper[T any] struct {
	kept *kept[T] // guarded by the node's lock; nil if no instant was announced
}

type kept[T any] struct {
	at    unit.Time
	taken bool
	value T
}

// keep schedules take for the instant in args, replacing an earlier request.
func (k *keeper[T]) keep(n *live.Node, args json.RawMessage, take func() T) error {
	i, err := readInstant(args)
	if err != nil {
		return err
	}
	next := &kept[T]{at: i.At}
	if !n.Appoint(i.At, func() { next.value, next.taken = take(), true }) {
		return fmt.Errorf("keep: %d ns of CLOCK_MONOTONIC is in the past; valid: a later time", i.At)
	}
	n.Do(func(unit.Time) { k.kept = next })
	return nil
}

// of returns the snapshot of an instant.
func (k *keeper[T]) of(n *live.Node, at unit.Time) (value T, err error) {
	n.Do(func(unit.Time) {
		if k.kept == nil || k.kept.at != at || !k.kept.taken {
			err = fmt.Errorf("stats: no snapshot of %d ns: that time has not come, or this process was not asked to keep one", at)
			return
		}
		value = k.kept.value
	})
	return value, err
}

// stats is the state of the machine now, or at the instant in args; complete adds the
// parts that may take time. The event log then contains everything that led to that
// state.
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
