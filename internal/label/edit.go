// This file changes the labels of many entries. A change is first planned, so that a person can check the plan. The
// plan is then applied so that a single undo reverts it.

package label

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// LabelChangePlan is a planned change of labels.
type LabelChangePlan struct {
	ChangeNote   string   // note for the change in the memory's log
	EntryChanges []Change // changes of the entries whose labels differ, ordered by entry ID
}

// Change contains an entry's labels before and after the change.
type Change struct {
	Name           string
	PlannedVersion uint64 // version of the entry when the change was planned
	LabelsBefore   []oxbow.Label
	LabelsAfter    []oxbow.Label
	EntryBytes     int // size of the entry before the change, as [oxbow.EntryBytes] returns it
}

// AddedLabels returns the labels that the entry gets.
func (c Change) AddedLabels() []oxbow.Label { return subtractLabels(c.LabelsAfter, c.LabelsBefore) }

// RemovedLabels returns the labels that the entry loses.
func (c Change) RemovedLabels() []oxbow.Label { return subtractLabels(c.LabelsBefore, c.LabelsAfter) }

func subtractLabels(ls, others []oxbow.Label) []oxbow.Label {
	var rest []oxbow.Label
	for _, l := range ls {
		if !slices.Contains(others, l) {
			rest = append(rest, l)
		}
	}
	return rest
}

// OpGroups returns the operations that apply the plan to a store, with a group for each entry. Each operation fails if
// its entry no longer has the version for which the change was planned.
func (p LabelChangePlan) OpGroups() []oxbow.OpGroup {
	groups := make([]oxbow.OpGroup, len(p.EntryChanges))
	for i, c := range p.EntryChanges {
		groups[i] = oxbow.OpGroup{
			Ops:      []oxbow.Op{oxbow.Relabel{Name: c.Name, Labels: c.LabelsAfter, If: c.PlannedVersion}},
			OldBytes: c.EntryBytes,
		}
	}
	return groups
}

// Planner plans changes of labels for the entries that a store contains at present.
type Planner func(ctx context.Context, s oxbow.Store) (LabelChangePlan, error)

// maxPlanAttempts is the maximum number of times that [ApplyPlan] plans again because another writer changed an entry.
const maxPlanAttempts = 20

// ApplyPlan creates a plan and applies it in a single change. If the entries are too large for one change, it makes
// several changes, the parts of [oxbow.CommitInParts]. maxChangeBytes is the maximum size of a change in bytes (0 means
// the default).
//
// It returns the plan, with all entries whose labels were changed, and the number of the last change. The number is 0
// if nothing was changed, or if the store does not number changes. If another writer changes an entry in between,
// ApplyPlan plans again. After an error, the changes that were made stay, and the caller can repeat the call to change
// the remaining entries.
func ApplyPlan(
	ctx context.Context,
	s oxbow.Store,
	makePlan Planner,
	maxChangeBytes int,
) (applied LabelChangePlan, seq uint64, err error) {
	o := oxbow.PartOptions{MaxBytes: maxChangeBytes}
	for n := 1; ; n++ {
		p, err := makePlan(ctx, s)
		if len(applied.EntryChanges) == 0 {
			applied.ChangeNote = p.ChangeNote
		}
		isUnused := o.EarlierParts > 0 && errors.As(err, new(*UnusedLabelsError))
		switch {
		// All selected entries have been changed: some by the earlier parts of this call, and the rest by another
		// writer.
		case isUnused:
			return applied, seq, nil
		case err != nil || len(p.EntryChanges) == 0:
			return applied, seq, err
		}
		done, err := oxbow.CommitInParts(oxbow.WithNote(ctx, p.ChangeNote), s, p.OpGroups(), o)
		applied.EntryChanges = append(applied.EntryChanges, p.EntryChanges[:done.GroupCount]...)
		o.EarlierParts += done.ChangeCount
		seq = max(seq, done.LastSeq)
		raced := errors.Is(err, oxbow.ErrConflict) || errors.Is(err, oxbow.ErrNotFound)
		if !raced || n == maxPlanAttempts {
			return applied, seq, err
		}
	}
}

// Selection selects the entries that match Filter and, if Names is not empty, have one of the names. Each name selects
// a single entry: the entry with this name, or otherwise the entry with this alias. If no entry that matches Filter has
// the name, planning a change of labels fails with an error that matches [oxbow.ErrNotFound]. If several entries share
// the alias, it fails with an [oxbow.AliasError].
type Selection struct {
	Filter oxbow.Filter
	Names  []string // names or aliases of entries
}

// entries yields the selected entries of the store s, in the order of their IDs.
func (sel Selection) entries(ctx context.Context, s oxbow.Store) iter.Seq2[oxbow.Entry, error] {
	if len(sel.Names) == 0 {
		return s.Entries(ctx, sel.Filter)
	}
	return func(yield func(oxbow.Entry, error) bool) {
		byID := map[uint64]oxbow.Entry{}
		for _, name := range sel.Names {
			e, err := oxbow.GetByNameOrAlias(ctx, s, name)
			if err == nil && !sel.Filter.Match(&e) {
				err = &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
			}
			if err != nil {
				yield(oxbow.Entry{}, err)
				return
			}
			byID[e.ID] = e
		}
		for _, id := range slices.Sorted(maps.Keys(byID)) {
			if !yield(byID[id], nil) {
				return
			}
		}
	}
}

// PlanAddLabels plans to add labels to the selected entries. An entry can have only one confidence, so a new confidence
// replaces the old one.
func PlanAddLabels(sel Selection, labels ...oxbow.Label) Planner {
	return sel.planEdit("add "+joinLabels(labels), labels, func(ls []oxbow.Label) []oxbow.Label {
		for _, l := range labels {
			if l.Key == oxbow.LabelConfidence {
				ls = slices.DeleteFunc(ls, func(o oxbow.Label) bool { return o.Key == l.Key })
			}
		}
		return append(ls, labels...)
	})
}

// PlanRemoveLabels plans to remove labels from the entries that sel selects.
func PlanRemoveLabels(sel Selection, labels ...oxbow.Label) Planner {
	return sel.planEdit("remove "+joinLabels(labels), labels, func(ls []oxbow.Label) []oxbow.Label {
		return slices.DeleteFunc(ls, func(l oxbow.Label) bool { return slices.ContainsFunc(labels, l.Is) })
	})
}

// PlanLabelUpdates plans to replace each selected entry's labels by the result of newLabels. note becomes the change's
// note in the log.
func PlanLabelUpdates(sel Selection, note string, newLabels func([]oxbow.Label) []oxbow.Label) Planner {
	return sel.planEdit(note, nil, newLabels)
}

// PlanLabelRename plans to replace oldLabel by newLabel in all entries. If entries already have newLabel, planning
// fails, because both groups of entries could not be distinguished afterwards; see [PlanMergeLabels]. If no entry has
// oldLabel, the error matches [oxbow.ErrNotFound].
func PlanLabelRename(oldLabel, newLabel oxbow.Label) Planner {
	isPlanned := false
	return func(ctx context.Context, s oxbow.Store) (LabelChangePlan, error) {
		if oldLabel == newLabel {
			return LabelChangePlan{}, &oxbow.InvalidError{
				Field:  "label",
				Value:  newLabel.String(),
				Reason: "is the old label too",
			}
		}
		isOldUsed, isNewUsed := false, false
		for e, err := range s.Entries(ctx, oxbow.Filter{}) {
			if err != nil {
				return LabelChangePlan{}, err
			}
			isOldUsed = isOldUsed || slices.ContainsFunc(e.Labels, oldLabel.Is)
			isNewUsed = isNewUsed || slices.ContainsFunc(e.Labels, newLabel.Is)
		}
		// The rename fails if entries already have newLabel, but only when the rename is planned for the first time.
		// When the rename is planned again, entries that were already renamed have newLabel.
		if isOldUsed && isNewUsed && !isPlanned {
			return LabelChangePlan{}, &oxbow.InvalidError{Field: "label", Value: newLabel.String(),
				Reason: fmt.Sprintf("is in use already; to join the two: merge %s into %s", oldLabel, newLabel)}
		}
		isPlanned = true
		return planLabelReplacement(
			ctx,
			s,
			fmt.Sprintf("rename %s to %s", oldLabel, newLabel),
			[]oxbow.Label{oldLabel},
			newLabel,
		)
	}
}

// PlanMergeLabels plans to replace each of the labels by the label target, in all entries that have such a label. The
// list labels may contain target. If it contains no other label, planning fails with an [oxbow.InvalidError]. If no
// entry has a label to replace, the error of planning matches [oxbow.ErrNotFound].
func PlanMergeLabels(labels []oxbow.Label, target oxbow.Label) Planner {
	return func(ctx context.Context, s oxbow.Store) (LabelChangePlan, error) {
		old := subtractLabels(labels, []oxbow.Label{target})
		if len(old) == 0 {
			return LabelChangePlan{}, &oxbow.InvalidError{
				Field:  "label",
				Value:  target.String(),
				Reason: "is the only one given; say what to merge into it",
			}
		}
		return planLabelReplacement(ctx, s, fmt.Sprintf("merge %s into %s", joinLabels(old), target), old, target)
	}
}

// UnusedLabelsError is returned if a change concerns labels that no entry has. It matches [oxbow.ErrNotFound].
type UnusedLabelsError struct{ Labels []oxbow.Label }

func (e *UnusedLabelsError) Error() string {
	return "no entry has the label " + strings.Join(formatLabels(e.Labels), " or ")
}

// Is reports whether the target is [oxbow.ErrNotFound].
func (*UnusedLabelsError) Is(target error) bool { return target == oxbow.ErrNotFound }

// planLabelReplacement plans a change in which each label in oldLabels is replaced by newLabel, in all entries. If no
// entry has such a label, it returns an UnusedLabelsError.
func planLabelReplacement(
	ctx context.Context,
	s oxbow.Store,
	note string,
	oldLabels []oxbow.Label,
	newLabel oxbow.Label,
) (LabelChangePlan, error) {
	p, err := Selection{}.planEdit(note, []oxbow.Label{newLabel}, func(ls []oxbow.Label) []oxbow.Label {
		n := len(ls)
		ls = slices.DeleteFunc(ls, func(l oxbow.Label) bool { return slices.ContainsFunc(oldLabels, l.Is) })
		if len(ls) < n {
			ls = append(ls, newLabel)
		}
		return ls
	})(ctx, s)
	if err == nil && len(p.EntryChanges) == 0 {
		err = &UnusedLabelsError{oldLabels}
	}
	return p, err
}

// planEdit returns a planner that replaces each selected entry's labels by the result of editLabels. editLabels may
// modify its argument. The planner fails if one of the checkedLabels is invalid.
func (sel Selection) planEdit(
	note string,
	checkedLabels []oxbow.Label,
	editLabels func([]oxbow.Label) []oxbow.Label,
) Planner {
	return func(ctx context.Context, s oxbow.Store) (LabelChangePlan, error) {
		p := LabelChangePlan{ChangeNote: "label " + note}
		for _, l := range checkedLabels {
			if err := l.Check(); err != nil {
				return p, err
			}
		}
		for e, err := range sel.entries(ctx, s) {
			if err != nil {
				return p, err
			}
			after := oxbow.SortLabels(editLabels(slices.Clone(e.Labels)))
			if slices.Equal(after, e.Labels) {
				continue
			}
			// Check the operation here, so that the error names the entry.
			if err := (oxbow.Relabel{Name: e.Name, Labels: after}).Check(); err != nil {
				return p, fmt.Errorf("labelling %q: %w", e.Name, err)
			}
			p.EntryChanges = append(p.EntryChanges, Change{
				Name:           e.Name,
				PlannedVersion: e.Version,
				LabelsBefore:   e.Labels,
				LabelsAfter:    after,
				EntryBytes:     oxbow.EntryBytes(&e),
			})
		}
		return p, nil
	}
}

func formatLabels(ls []oxbow.Label) []string {
	ss := make([]string, len(ls))
	for i, l := range ls {
		ss[i] = l.String()
	}
	return ss
}

func joinLabels(ls []oxbow.Label) string { return strings.Join(formatLabels(ls), " ") }
