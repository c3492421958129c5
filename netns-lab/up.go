package netnslab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"softswitch/internal/safefile"
	"softswitch/unit"
)

// StepError says at which step making a lab failed. The lab was then rolled back;
// failures of that are in Err too.
type StepError struct {
	Number, Of int // from 1
	Step       string
	Err        error
}

func (e *StepError) Error() string {
	return fmt.Sprintf("netnslab: step %d of %d (%s): %v", e.Number, e.Of, e.Step, e.Err)
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// ExistsError says that a lab of the name is up and must not be replaced.
type ExistsError struct {
	Name string
	// Owner is the pid of the program that uses it and will remove it, 0 for none.
	Owner int
}

func (e *ExistsError) Error() string {
	what := "a lab of that name is up, made from another description"
	if e.Owner != 0 {
		what = fmt.Sprintf("process %d plays on a lab of that name", e.Owner)
	}
	return fmt.Sprintf("netnslab: lab %s: %s: give this one another name (--name), or remove that one with: softswitch lab destroy %[1]s", e.Name, what)
}

// Up makes the lab and returns its state when every process is ready. The processes
// keep running when this program ends.
//
// An existing lab of that name is left as it is if it was made from the same input, is
// complete and has all its namespaces, links and processes, even if links are down or
// processes are stopped. It is removed first if it is abandoned (its maker died, or the
// machine was rebooted), or if it was made from the same input and something of it is
// gone. Any other lab of that name is an *ExistsError, unless lab.Replace. It is also
// an error if a namespace exists with a name that the lab needs and is not the lab's.
// In both cases nothing is changed.
//
// If a step fails, or ctx ends, everything is removed again; the error is a *StepError.
// progress gets a few lines of text; nil for none.
func Up(ctx context.Context, lab Lab, progress io.Writer) (*State, error) {
	progress = cmp.Or(progress, io.Discard)
	lab = lab.withDefaults()
	steps, err := Plan(lab, Dir(lab.Name))
	if err != nil {
		return nil, err
	}
	return unlessThere(lab, progress, func(st *State) (*State, error) {
		if err := begin(st); err != nil {
			return nil, err
		}
		return build(ctx, st, steps, progress)
	})
}

// unlessThere makes a lab, or returns the state of one that is as the input wants it. No
// other process changes labs meanwhile.
func unlessThere(lab Lab, progress io.Writer, create func(*State) (*State, error)) (st *State, err error) {
	err = whileLocked(lab.Name, progress, func(boot string) (err error) {
		if st, err = keep(lab, boot, progress); st == nil && err == nil {
			st, err = create(newState(lab, Dir(lab.Name), boot))
		}
		return err
	})
	return st, err
}

// keep returns the state of an existing lab that is as the input wants it. If it is
// not, keep removes it and returns nil.
func keep(lab Lab, boot string, progress io.Writer) (*State, error) {
	st, err := LoadDir(Dir(lab.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, noRecord(lab.Name, err, progress)
	}
	why := st.differs(lab, boot)
	if why == "" {
		fmt.Fprintf(progress, "lab %s is up already\n", lab.Name)
		return st, nil
	}
	if !lab.Replace && !st.left(lab, boot) {
		return nil, &ExistsError{lab.Name, st.Owner.PID}
	}
	fmt.Fprintf(progress, "lab %s: %s: removing it first\n", lab.Name, why)
	return nil, st.remove(boot, progress)
}

// left reports whether the lab is abandoned, or was made from the same input.
func (st *State) left(lab Lab, boot string) bool {
	return st.Boot != boot || !st.Complete || st.Input == fingerprint(lab) || st.Owner.PID != 0 && st.Owner.status() == "dead"
}

// differs returns why the lab cannot be left as it is, "" if it can.
func (st *State) differs(lab Lab, boot string) string {
	if st.Boot == boot && st.Complete && st.Input != fingerprint(lab) {
		return "it was made from another description"
	}
	if err := st.problem(boot); err != nil {
		return err.Error()
	}
	return ""
}

// begin makes sure that nothing is in the way and writes the first state.
func begin(st *State) error {
	if err := prepareNamespaceDir(); err != nil {
		return fmt.Errorf("netnslab: %w", err)
	}
	var taken []string
	for _, n := range st.Nodes {
		if path := filepath.Join(NamespaceDir, n.Namespace); exists(path) {
			taken = append(taken, path)
		}
	}
	l, err := findLost(st.Name)
	switch {
	case err != nil:
		return err
	case !l.empty():
		return fmt.Errorf("netnslab: the record of an earlier lab %s is lost: %s", st.Name, l.remedy())
	}
	if len(taken) > 0 {
		return fmt.Errorf("netnslab: lab %s: not ours and in the way: %s; give the lab another name or remove them with `ip netns del`", st.Name, strings.Join(taken, ", "))
	}
	if err := safefile.MkdirAll(st.dir, 0o755); err != nil {
		return fmt.Errorf("netnslab: %w", err)
	}
	checkpoint()
	if err := st.save(); err != nil {
		os.Remove(st.dir) // nothing is in it, unless it was there before
		return err
	}
	return nil
}

// build carries out the steps and, if one fails, rolls back.
func build(ctx context.Context, st *State, steps []Step, progress io.Writer) (*State, error) {
	b := &builder{st: st, seats: map[string]*seat{}, kids: map[int]process{}, progress: progress}
	defer b.close()
	began := time.Now()
	i, err := b.walk(ctx, steps)
	if err == nil {
		st.Complete = true
		err = st.save()
	}
	if err != nil {
		i = min(i, len(steps)-1)
		b.close()
		fmt.Fprintf(progress, "lab %s: step %d failed: rolling back\n", st.Name, i+1)
		return nil, &StepError{Number: i + 1, Of: len(steps), Step: steps[i].String(), Err: errors.Join(err, st.remove(st.Boot, progress))}
	}
	fmt.Fprintf(progress, "lab %s: %s, %s up in %v\n", st.Name, unit.Count(len(st.Nodes), "node"), unit.Count(len(st.Links), "link"), time.Since(began).Round(time.Millisecond))
	return st, nil
}

// walk carries out the steps. It returns the index of the step that failed.
func (b *builder) walk(ctx context.Context, steps []Step) (int, error) {
	phase, began := "", time.Now()
	for i := 0; i < len(steps); {
		if err := ctx.Err(); err != nil {
			return i, err
		}
		if steps[i].phase != phase {
			b.note(phase, began)
			phase, began = steps[i].phase, time.Now()
		}
		var err error
		if phase == namespacePhase {
			i, err = b.namespaces(ctx, steps, i)
		} else if err = steps[i].do(ctx, b); err == nil {
			checkpoint()
			i++
		}
		if err != nil {
			return i, b.explain(err)
		}
	}
	b.note(phase, began)
	return len(steps), b.explain(b.allRun())
}

// namespaces carries out the steps from the first on that make namespaces, those of the
// nodes side by side: for most of the time that it takes, the kernel makes them wait. It
// returns the index of the step after them, or of one that failed.
func (b *builder) namespaces(ctx context.Context, steps []Step, first int) (int, error) {
	var nodes [][]int // indices of steps
	next := first
	for ; next < len(steps) && steps[next].phase == namespacePhase; next++ {
		if next == first || steps[next].at != steps[next-1].at {
			nodes = append(nodes, nil)
		}
		nodes[len(nodes)-1] = append(nodes[len(nodes)-1], next)
	}
	if err := b.makeNamespaces(); err != nil {
		return first, err
	}
	failed := make([]int, len(nodes))
	err := sideBySide(len(nodes), func(n int) error {
		for _, i := range nodes[n] {
			failed[n] = i
			if err := errors.Join(ctx.Err(), steps[i].do(ctx, b)); err != nil {
				return err
			}
			checkpoint()
		}
		failed[n] = next
		return nil
	})
	return slices.Min(failed), err
}

func (b *builder) note(phase string, began time.Time) {
	if phase != "" {
		fmt.Fprintf(b.progress, "  %-14s %v\n", phase, time.Since(began).Round(time.Millisecond))
	}
}

// explain adds the node and the end of its log to the error of a dead process.
func (b *builder) explain(err error) error {
	dead, ok := errors.AsType[*deadError](err)
	if !ok {
		return err
	}
	for _, n := range b.st.Nodes {
		switch {
		case n.PID != dead.PID:
		case n.Hosting != 0:
			return fmt.Errorf("%w, which runs %s and %d other nodes; the end of its log:\n%s", err, n.Name, b.st.beside(&n), tail(hostingPlace(b.st.dir, n.Hosting).Dir))
		default:
			return fmt.Errorf("node %s: %w; the end of its log:\n%s", n.Name, err, tail(n.Dir))
		}
	}
	return err
}
