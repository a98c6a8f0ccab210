// This file changes the labels of many entries. A change is first planned, so that a person can check the plan. The
// plan is then applied as a single change of the memory, so that a single undo reverts it.

package label

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// Plan is a planned change of labels.
type Plan struct {
	Note    string   // note for the change in the memory's log
	Changes []Change // changes of the entries whose labels differ, in order of entry ID
}

// Change contains an entry's labels before and after the change.
type Change struct {
	Name    string
	Version uint64 // version of the entry when the change was planned
	Before  []oxbow.Label
	After   []oxbow.Label
}

// AddedLabels returns the labels that the entry gets.
func (c Change) AddedLabels() []oxbow.Label { return subtractLabels(c.After, c.Before) }

// RemovedLabels returns the labels that the entry loses.
func (c Change) RemovedLabels() []oxbow.Label { return subtractLabels(c.Before, c.After) }

func subtractLabels(ls, others []oxbow.Label) []oxbow.Label {
	var rest []oxbow.Label
	for _, l := range ls {
		if !slices.Contains(others, l) {
			rest = append(rest, l)
		}
	}
	return rest
}

// Ops returns the operations that apply the plan to a store. Each operation fails if its entry no longer has the
// version for which the change was planned.
func (p Plan) Ops() []oxbow.Op {
	ops := make([]oxbow.Op, len(p.Changes))
	for i, c := range p.Changes {
		ops[i] = oxbow.Relabel{Name: c.Name, Labels: c.After, If: c.Version}
	}
	return ops
}

// Planner creates a plan for the present entries of a store.
type Planner func(ctx context.Context, s oxbow.Store) (Plan, error)

// maxAttempts is the maximum number of times that [Apply] plans again because another writer changed an entry.
const maxAttempts = 20

// Apply creates a plan and applies it in a single change. It returns the plan and the number of the change. The number
// is 0 if the plan is empty, or if the store does not number changes. If another writer changes an entry in between,
// Apply plans again.
func Apply(ctx context.Context, s oxbow.Store, plan Planner) (p Plan, seq uint64, err error) {
	for n := 1; ; n++ {
		p, err = plan(ctx, s)
		if err != nil || len(p.Changes) == 0 {
			return p, 0, err
		}
		made, err := oxbow.Commit(oxbow.WithNote(ctx, p.Note), s, p.Ops()...)
		if raced := errors.Is(err, oxbow.ErrConflict) || errors.Is(err, oxbow.ErrNotFound); !raced || n == maxAttempts {
			return p, made.Seq, err
		}
	}
}

// Selection selects the entries that match Filter and, if Names is not empty, have one of the names. If no entry has
// one of the names, planning fails with an error that matches [oxbow.ErrNotFound].
type Selection struct {
	Filter oxbow.Filter
	Names  []string // names or aliases of entries
}

// PlanAdd plans to add labels to the selected entries. An entry can have only one confidence, so a new confidence
// replaces the old one.
func PlanAdd(sel Selection, labels ...oxbow.Label) Planner {
	return sel.planEdit("add "+joinLabels(labels), labels, func(ls []oxbow.Label) []oxbow.Label {
		for _, l := range labels {
			if l.Key == oxbow.LabelConfidence {
				ls = slices.DeleteFunc(ls, func(o oxbow.Label) bool { return o.Key == l.Key })
			}
		}
		return append(ls, labels...)
	})
}

// PlanRemove plans to remove labels from the selected entries.
func PlanRemove(sel Selection, labels ...oxbow.Label) Planner {
	return sel.planEdit("remove "+joinLabels(labels), labels, func(ls []oxbow.Label) []oxbow.Label {
		return slices.DeleteFunc(ls, func(l oxbow.Label) bool { return slices.ContainsFunc(labels, l.Is) })
	})
}

// PlanSetLabels plans to replace the labels of each selected entry by the result of change. note becomes the note of
// the change in the log.
func PlanSetLabels(sel Selection, note string, change func([]oxbow.Label) []oxbow.Label) Planner {
	return sel.planEdit(note, nil, change)
}

// PlanRename plans to replace the label old by the label now in all entries. If entries already have the label now,
// planning fails, because both groups of entries could not be distinguished afterwards; see [PlanMerge]. If no entry
// has the label old, the error matches [oxbow.ErrNotFound].
func PlanRename(old, now oxbow.Label) Planner {
	return func(ctx context.Context, s oxbow.Store) (Plan, error) {
		if old == now {
			return Plan{}, &oxbow.InvalidError{Field: "label", Value: now.String(), Reason: "is the old label too"}
		}
		isOldUsed, isNewUsed := false, false
		for e, err := range s.Entries(ctx, oxbow.Filter{}) {
			if err != nil {
				return Plan{}, err
			}
			isOldUsed = isOldUsed || slices.ContainsFunc(e.Labels, old.Is)
			isNewUsed = isNewUsed || slices.ContainsFunc(e.Labels, now.Is)
		}
		if isOldUsed && isNewUsed {
			return Plan{}, &oxbow.InvalidError{Field: "label", Value: now.String(),
				Reason: fmt.Sprintf("is in use already; to join the two: merge %s into %s", old, now)}
		}
		return planReplace(ctx, s, fmt.Sprintf("rename %s to %s", old, now), []oxbow.Label{old}, now)
	}
}

// PlanMerge plans to replace each of the labels by target in all entries. labels may contain target. If no entry has
// any of the other labels, the error matches [oxbow.ErrNotFound].
func PlanMerge(labels []oxbow.Label, target oxbow.Label) Planner {
	return func(ctx context.Context, s oxbow.Store) (Plan, error) {
		old := subtractLabels(labels, []oxbow.Label{target})
		if len(old) == 0 {
			return Plan{}, &oxbow.InvalidError{
				Field:  "label",
				Value:  target.String(),
				Reason: "is the only one given; say what to merge into it",
			}
		}
		return planReplace(ctx, s, fmt.Sprintf("merge %s into %s", joinLabels(old), target), old, target)
	}
}

// UnusedError is returned if a change concerns labels that no entry has. It matches [oxbow.ErrNotFound].
type UnusedError struct{ Labels []oxbow.Label }

func (e *UnusedError) Error() string {
	return "no entry has the label " + strings.Join(labelTexts(e.Labels), " or ")
}

// Is reports whether the target is [oxbow.ErrNotFound].
func (*UnusedError) Is(target error) bool { return target == oxbow.ErrNotFound }

// planReplace plans to replace each label in old by the label now in all entries.
func planReplace(ctx context.Context, s oxbow.Store, note string, old []oxbow.Label, now oxbow.Label) (Plan, error) {
	p, err := Selection{}.planEdit(note, []oxbow.Label{now}, func(ls []oxbow.Label) []oxbow.Label {
		n := len(ls)
		ls = slices.DeleteFunc(ls, func(l oxbow.Label) bool { return slices.ContainsFunc(old, l.Is) })
		if len(ls) < n {
			ls = append(ls, now)
		}
		return ls
	})(ctx, s)
	if err == nil && len(p.Changes) == 0 {
		err = &UnusedError{old}
	}
	return p, err
}

// planEdit returns a planner that replaces the labels of each selected entry by the result of edit. edit may modify
// its argument. The planner fails if a label in check is invalid.
func (sel Selection) planEdit(note string, check []oxbow.Label, edit func([]oxbow.Label) []oxbow.Label) Planner {
	return func(ctx context.Context, s oxbow.Store) (Plan, error) {
		p := Plan{Note: "label " + note}
		for _, l := range check {
			if err := l.Check(); err != nil {
				return p, err
			}
		}
		wanted, seen := map[string]bool{}, map[string]bool{}
		for _, n := range sel.Names {
			wanted[oxbow.NormalName(n)] = true
		}
		for e, err := range s.Entries(ctx, sel.Filter) {
			if err != nil {
				return p, err
			}
			if len(wanted) > 0 && !hasWantedName(&e, wanted, seen) {
				continue
			}
			after := oxbow.SortLabels(edit(slices.Clone(e.Labels)))
			if slices.Equal(after, e.Labels) {
				continue
			}
			// Check the operation here, so that the error names the entry.
			if err := (oxbow.Relabel{Name: e.Name, Labels: after}).Check(); err != nil {
				return p, fmt.Errorf("labelling %q: %w", e.Name, err)
			}
			p.Changes = append(p.Changes, Change{e.Name, e.Version, e.Labels, after})
		}
		for _, n := range sel.Names {
			if !seen[oxbow.NormalName(n)] {
				return p, &oxbow.NameError{Name: n, Err: oxbow.ErrNotFound}
			}
		}
		return p, nil
	}
}

// hasWantedName reports whether a name or alias of the entry is in wanted. It adds these names to seen.
func hasWantedName(e *oxbow.Entry, wanted, seen map[string]bool) (named bool) {
	for _, word := range append([]string{e.Name}, e.Aliases...) {
		word = oxbow.NormalName(word)
		if wanted[word] {
			seen[word], named = true, true
		}
	}
	return named
}

func labelTexts(ls []oxbow.Label) []string {
	ss := make([]string, len(ls))
	for i, l := range ls {
		ss[i] = l.String()
	}
	return ss
}

func joinLabels(ls []oxbow.Label) string { return strings.Join(labelTexts(ls), " ") }
