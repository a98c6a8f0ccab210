// This file merges an entry that was edited in the store with its file, if the file was edited as
// well.

package exchange

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

// planFollowedChange plans the change of an entry whose file has changed and which was also edited in the store.
// The text of the file wins. Labels that were added or removed in the store stay added or removed. If the text was
// edited in the store as well, the edited text becomes an entry of its own, so that nothing is lost.
func (im *importer) planFollowedChange(it Item, old oxbow.Entry, p *batchPlan) error {
	p.planVerdict(verdictReplace, it, old, "")
	base, err := im.importedVersion(old)
	if err != nil {
		return err
	}
	e := it.Entry.Clone()
	isLost := old.Content != e.Content
	if base != nil {
		e.Labels = mergeLabels(base.Labels, old.Labels, e.Labels)
		if isLost && e.Content == base.Content { // only the labels in the file have changed
			e.Content, isLost = old.Content, false
		}
		isLost = isLost && old.Content != base.Content
	}
	if e.Content != it.Entry.Content || !slices.Equal(e.Labels, it.Entry.Labels) {
		// Write the version that consists only of the file first, because a later import uses it as
		// the base of a comparison.
		p.ops = append(p.ops, oxbow.Update{Name: e.Name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels})
	}
	if !isLost {
		return nil
	}
	return im.addConflictCopy(it, old, p)
}

// addConflictCopy plans an entry for the text that an entry had in the store.
func (im *importer) addConflictCopy(it Item, old oxbow.Entry, p *batchPlan) error {
	for n := 1; ; n++ {
		name := cleanName(old.Name, oxbow.MaxName-len(copySuffix)) + copySuffix
		if n > 1 {
			name = numberedName(name, n)
		}
		id := hashParts(name)
		owner, err := im.nameOwner(name, p)
		if err != nil {
			return err
		}
		if owner != "" {
			continue
		}
		p.names.matchStates[id] = 2
		p.ops = append(p.ops, oxbow.Add{Name: name, Kind: old.Kind, Content: old.Content,
			Labels: withoutOrigin(old.Labels)})
		p.report.Changes = append(p.report.Changes, Change{name, oxbow.VerbAdd, it.Ref})
		p.report.Notes = append(p.report.Notes, fmt.Sprintf(
			"%s: %q was edited in the memory, and its file was edited too: the file's text is in %q, the memory's in %q",
			it.Ref,
			old.Name,
			old.Name,
			name,
		))
		return nil
	}
}

// copySuffix ends the name of an entry that keeps the memory's text after a conflict.
const copySuffix = " (conflict copy)"

// mergeLabels merges the labels of a file with the changes that the store made to the labels of base. If an
// entry cannot have so many labels, the last labels that the store added are left out.
func mergeLabels(base, store, file []oxbow.Label) []oxbow.Label {
	isOwn := func(l oxbow.Label) bool { return isStamp(l) && !slices.Contains(base, l) }
	store = slices.DeleteFunc(withoutOrigin(store), isOwn)
	merged := threeway.MergeLabels(withoutOrigin(base), file, store)
	for i := len(merged) - 1; i >= 0 && len(merged) > oxbow.MaxLabels; i-- {
		if !slices.Contains(file, merged[i]) {
			merged = slices.Delete(merged, i, i+1)
		}
	}
	return merged
}

// importedVersion returns the newest version of an entry that an import wrote and nobody has edited, or nil
// if the store has none.
func (im *importer) importedVersion(old oxbow.Entry) (*oxbow.Entry, error) {
	history, err := oxbow.HistoryOf(im.store)
	if err != nil {
		return nil, nil // the store has no history
	}
	sum, _ := old.Label(markSum)
	for v, err := range history.Versions(im.ctx, old.Name) {
		switch {
		case errors.Is(err, oxbow.ErrNotFound):
			return nil, nil
		case err != nil:
			return nil, err
		case v.Verb == oxbow.VerbRemove:
			return nil, nil
		}
		if was, _ := v.Entry.Label(markSum); was == sum && !IsEdited(v.Entry) {
			e := v.Entry.Clone()
			return &e, nil
		}
	}
	return nil, nil
}
