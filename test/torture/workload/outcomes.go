// This file executes single steps on a failing disk. The caller decides which outcomes are allowed.

package workload

import (
	"errors"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// Outcomes are the possible contents of a store after several steps, if the outcome of some steps is unknown. It
// begins with a single model.
type Outcomes struct {
	Models []*Model
}

// DoStepAlone executes a step without nested steps and checks. undo is the number of the change that a Revert undoes.
// For a compaction, it returns the number of the change.
func (w *World) DoStepAlone(st Step, undo uint64) (uint64, error) {
	if st.Kind == Batch && st.OpID != "" {
		w.lastBatch = &st
	}
	return w.callStore(st, undo)
}

// LastUndoable returns the number of the change that can be undone in all models, or 0.
func (o *Outcomes) LastUndoable() uint64 {
	undo := o.Models[0].LastUndoable()
	for _, m := range o.Models {
		if m.LastUndoable() != undo {
			return 0
		}
	}
	return undo
}

// ApplyStep executes a step in each model. It returns the models in which the step succeeds, after the step, and the
// errors of the other models.
func (o *Outcomes) ApplyStep(w *World, st Step, undo, seq uint64) (next []*Model, wants []error) {
	for _, m := range o.Models {
		n := m.Clone()
		if st.Kind == Compact {
			if seq != 0 {
				n.Compact()
			}
		} else if want := w.expectedRevertError(n, st, undo); want != nil {
			wants = append(wants, want)
			continue
		}
		next = append(next, n)
	}
	return next, wants
}

// FilterMatching returns the models that contain exactly these entries.
func FilterMatching(ms []*Model, es []oxbow.Entry) []*Model {
	var fit []*Model
	for _, m := range ms {
		if m.describeDifference(es) == "" {
			fit = append(fit, m)
		}
	}
	return fit
}

// WithoutDuplicates returns the models without duplicates.
func WithoutDuplicates(ms []*Model) []*Model {
	var ds []*Model
	for _, m := range ms {
		if !slices.ContainsFunc(ds, func(d *Model) bool {
			return d.seq == m.seq && d.idCount == m.idCount && d.describeDifference(m.Entries()) == "" &&
				maps.Equal(d.opIDs, m.opIDs)
		}) {
			ds = append(ds, m)
		}
	}
	return ds
}

// CompareModels returns the differences between the entries and each model.
func CompareModels(ms []*Model, es []oxbow.Entry) error {
	var errs []error
	for _, m := range ms {
		errs = append(errs, errors.New(m.describeDifference(es)))
	}
	return errors.Join(errs...)
}

// ModelStates returns a state for each model. Its times are unknown.
func ModelStates(ms []*Model) []*State {
	var ss []*State
	for _, m := range ms {
		ss = append(ss, &State{Model: m, Entries: m.Entries()})
	}
	return ss
}

// CollectEntries returns all entries of a store.
func CollectEntries(s oxbow.Store) ([]oxbow.Entry, error) { return collect(s) }

// Close closes the stores of all processes. They must not be used any more.
func (w *World) Close() error {
	var errs []error
	for _, p := range w.procs {
		if p.memory != nil {
			errs = append(errs, p.memory.Close())
			p.memory = nil
		}
	}
	return errors.Join(errs...)
}

// Restart closes the store of a process and opens it again.
func (w *World) Restart(i int) error {
	if m := w.procs[i].memory; m != nil {
		w.procs[i].memory = nil
		if err := m.Close(); err != nil {
			return err
		}
	}
	_, err := w.Memory(i)
	return err
}
