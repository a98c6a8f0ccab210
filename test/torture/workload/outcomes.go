// This file executes single steps on a failing disk. The caller decides which outcomes are allowed.

package workload

import (
	"errors"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// PossibleOutcomes are the possible contents of a store after several steps, if it is unknown whether some of the
// steps took effect. At first, there is only one possible content.
type PossibleOutcomes struct {
	PossibleStores []*StoreModel
}

// DoStepWithoutNestedStep executes the step st of a test script, and does not check the result. If st contains a nested
// step, which another process executes in the middle of st, DoStepWithoutNestedStep does not execute the nested step.
// undoneSeq is the number of the change that a RevertStep undoes. If st is a compaction, DoStepWithoutNestedStep
// returns the number of the change. For other steps, it returns 0.
func (w *World) DoStepWithoutNestedStep(st Step, undoneSeq uint64) (uint64, error) {
	if st.Kind == BatchStep && st.OpID != "" {
		w.lastBatchStep = &st
	}
	return w.callStore(st, undoneSeq)
}

// LastUndoableSeq returns the number of the last change that can be undone. The store may have several possible
// contents. If this number is not the same for all possible contents, LastUndoableSeq returns 0.
func (o *PossibleOutcomes) LastUndoableSeq() uint64 {
	undo := o.PossibleStores[0].LastUndoableSeq()
	for _, m := range o.PossibleStores {
		if m.LastUndoableSeq() != undo {
			return 0
		}
	}
	return undo
}

// ApplyStep computes the possible results of the step st. For each model in o.PossibleStores in which the step
// succeeds, next contains the model after the step. For each model in which the step fails, expectedErrors contains the
// error.
//
// undoneSeq is the number of the change that a revert step undoes. seq is the number of the change that a compaction
// has made, or 0 if the compaction has changed nothing.
func (o *PossibleOutcomes) ApplyStep(
	w *World,
	st Step,
	undoneSeq, seq uint64,
) (next []*StoreModel, expectedErrors []error) {
	for _, m := range o.PossibleStores {
		n := m.Clone()
		if st.Kind == CompactStep {
			if seq != 0 {
				n.RecordCompaction()
			}
		} else if want := w.expectedRevertError(n, st, undoneSeq); want != nil {
			expectedErrors = append(expectedErrors, want)
			continue
		}
		next = append(next, n)
	}
	return next, expectedErrors
}

// FilterModelsByEntries returns the models that contain exactly these entries.
func FilterModelsByEntries(models []*StoreModel, wantEntries []oxbow.Entry) []*StoreModel {
	var fit []*StoreModel
	for _, m := range models {
		if m.describeDifference(wantEntries) == "" {
			fit = append(fit, m)
		}
	}
	return fit
}

// DistinctModels returns the models without those that have the same content as an earlier model.
func DistinctModels(ms []*StoreModel) []*StoreModel {
	var ds []*StoreModel
	for _, m := range ms {
		if !slices.ContainsFunc(ds, func(d *StoreModel) bool {
			return d.seq == m.seq && d.assignedIDCount == m.assignedIDCount &&
				d.describeDifference(m.Entries()) == "" &&
				maps.Equal(d.opIDs, m.opIDs)
		}) {
			ds = append(ds, m)
		}
	}
	return ds
}

// DescribeMismatches returns the differences between the entries and each model.
func DescribeMismatches(ms []*StoreModel, es []oxbow.Entry) error {
	var errs []error
	for _, m := range ms {
		errs = append(errs, errors.New(m.describeDifference(es)))
	}
	return errors.Join(errs...)
}

// StatesFromModels returns a StoreState for each model in models. Each model is a possible content of the store. The
// entries in the StoreState lack times.
func StatesFromModels(models []*StoreModel) []*StoreState {
	var ss []*StoreState
	for _, m := range models {
		ss = append(ss, &StoreState{Model: m, Entries: m.Entries()})
	}
	return ss
}

// CollectEntries returns all entries of a store.
func CollectEntries(s oxbow.Store) ([]oxbow.Entry, error) { return collectEntries(s) }

// Close closes the stores of all processes. They must not be used any more.
func (w *World) Close() error {
	var errs []error
	for _, p := range w.processes {
		if p.memory != nil {
			errs = append(errs, p.memory.Close())
			p.memory = nil
		}
	}
	return errors.Join(errs...)
}

// ReopenStore closes the store of a process and opens it again.
func (w *World) ReopenStore(process int) error {
	if m := w.processes[process].memory; m != nil {
		w.processes[process].memory = nil
		if err := m.Close(); err != nil {
			return err
		}
	}
	_, err := w.OpenedMemory(process)
	return err
}
