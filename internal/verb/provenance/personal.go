// This file adds a label for each kind of personal data that an entry's text contains, whoever
// wrote the text.

package provenance

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
)

// labelPersonalData returns the changes with a label for each kind of personal data in the text that the entry will
// have. Old labels for personal data are removed, and callers cannot set or remove such labels. labelledIndexes
// contains the indexes of the changes that already have these labels.
func labelPersonalData(
	ctx context.Context,
	store oxbow.Store,
	ops []oxbow.Op,
	labelledIndexes map[int]bool,
) []oxbow.Op {
	out := make([]oxbow.Op, 0, len(ops))
	staged := newEntriesAfterChanges(len(ops)) // the entries in the state after all earlier ops in the loop
	for i, op := range ops {
		name := op.Target()
		old, found := staged.findByName(name)
		if !found && needsOldEntry(op) {
			var err error
			old, err = store.Get(ctx, name)
			if err != nil {
				out = append(out, op) // the entry cannot be read, and the store will report the error
				continue
			}
		}
		e := op.ApplyTo(old)
		if labelledIndexes[i] {
			staged.setEntry(name, e)
			out = append(out, op)
			continue
		}
		had := e.Labels
		e.Labels = personalEntryLabels(&e)
		staged.setEntry(name, e)
		out = append(out, withLabels(op, e.Labels))
		if a, ok := op.(oxbow.Alias); ok && !slices.Equal(had, e.Labels) {
			out = append(out, oxbow.Relabel{Name: a.Name, Labels: e.Labels})
		}
	}
	return out
}

// needsOldEntry reports whether the entry must be read before the change, because the change does not contain all
// parts of the entry that determine its labels.
func needsOldEntry(op oxbow.Op) bool {
	switch op.(type) {
	case oxbow.Alias, oxbow.Relabel:
		return true
	}
	return false
}

// withLabels returns the change with other labels. A change that cannot set labels, such as a removal, is returned
// unchanged.
func withLabels(op oxbow.Op, labels []oxbow.Label) oxbow.Op {
	switch o := op.(type) {
	case oxbow.Add:
		o.Labels = labels
		return o
	case oxbow.Update:
		o.Labels = labels
		return o
	case oxbow.Relabel:
		o.Labels = labels
		return o
	}
	return op
}

// personalEntryLabels returns the labels of an entry, including labels for the personal data in its text.
func personalEntryLabels(e *oxbow.Entry) []oxbow.Label {
	texts := append([]string{e.Name, e.Content}, e.Aliases...)
	for _, l := range e.Labels {
		if !l.IsPersonal() {
			texts = append(texts, l.Value)
		}
	}
	return withPersonalLabels(e.Labels, screen.ExamineTexts(nil, texts).PersonalDataKinds)
}

// withPersonalLabels returns the labels with a label for each kind of personal data. It removes old labels for
// personal data. If there would be more than MaxLabels labels, the last kinds get none. The result is sorted.
func withPersonalLabels(labels []oxbow.Label, kinds []screen.PersonalKind) []oxbow.Label {
	out := slices.DeleteFunc(oxbow.SortLabels(labels), oxbow.Label.IsPersonal)
	switch {
	case len(kinds) > 0:
		for _, k := range kinds {
			if len(out) < oxbow.MaxLabels {
				out = append(out, oxbow.Label{Key: oxbow.LabelPersonal, Value: string(k)})
			}
		}
		return oxbow.SortLabels(out)
	case len(out) == 0:
		return nil
	}
	return out
}
