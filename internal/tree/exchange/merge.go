// This file merges the text of an entry with the text of the file from which the entry was imported. It is needed if
// the entry was edited in the store and the file was edited as well.

package exchange

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

// planChangeOfEditedEntry plans the change of an entry that was edited in the store and whose file has changed, too.
// Labels that were added or removed in the store stay added or removed. If only one side changed the text, its text is
// used. If both did, the file's text is used, and the store's text becomes another entry, so that nothing is lost.
func (im *importer) planChangeOfEditedEntry(it Item, old oxbow.Entry, p *batchPlan) error {
	// First plan a change to exactly the text of the file. This version of the entry is always stored, even if a
	// merged version follows, because a later import compares it with the file.
	p.addItemOperations(decisionReplaceEntry, it, old, "")
	base, err := im.importedVersion(old)
	if err != nil {
		return err
	}
	merged := it.Entry.Clone()
	// set if the text in the store must be copied to another entry, because the text of the file replaces it
	needsCopy := false
	switch {
	case base == nil:
		// The version that was imported last is unknown, so it cannot be determined whether the text was changed in
		// the file or in the store. Keep both texts if they differ.
		needsCopy = old.Content != it.Entry.Content
	case it.Entry.Content == base.Content:
		merged.Content = old.Content // In the file, only the labels have changed.
	default:
		isEditedInStore := old.Content != base.Content
		needsCopy = isEditedInStore && old.Content != it.Entry.Content
	}
	if base != nil {
		merged.Labels = mergeLabels(base.Labels, old.Labels, it.Entry.Labels)
	}
	// If the merge of file and store differs from the file, add a second change that writes the merged entry.
	if merged.Content != it.Entry.Content || !slices.Equal(merged.Labels, it.Entry.Labels) {
		p.changeOps = append(p.changeOps, oxbow.Update{
			Name:    merged.Name,
			Content: merged.Content,
			Aliases: merged.Aliases,
			Labels:  merged.Labels,
		})
	}
	if needsCopy {
		return im.addConflictCopy(it, old, p)
	}
	return nil
}

// addConflictCopy plans a new entry with the text of the stored entry old. The new entry is needed if both the entry
// and its file were edited. In this case, the text of the file (the parameter it) replaces the text of the entry old,
// and the new entry keeps the replaced text. The name of the new entry is the name of old with a suffix, and with a
// number if this name is used already. addConflictCopy also adds a note about the conflict to the report p.report.
func (im *importer) addConflictCopy(it Item, old oxbow.Entry, p *batchPlan) error {
	for n := 1; ; n++ {
		name := makeValidName(old.Name, oxbow.MaxName-len(conflictCopySuffix)) + conflictCopySuffix
		if n > 1 {
			name = numberedName(name, n)
		}
		id := digestParts(name)
		owner, err := im.findNameOwner(name, p)
		if err != nil {
			return err
		}
		if owner != "" {
			continue
		}
		p.namesUsedInBatch.importStateByEntry[id] = 2
		p.changeOps = append(p.changeOps, oxbow.Add{Name: name, Kind: old.Kind, Content: old.Content,
			Labels: omitOriginLabels(old.Labels)})
		p.report.Changes = append(p.report.Changes, Change{name, oxbow.VerbAdd, it.Position})
		p.report.Notes = append(p.report.Notes, fmt.Sprintf(
			"%s: %q was edited in the memory, and its file was edited too: the file's text is in %q, the memory's in %q",
			it.Position,
			old.Name,
			old.Name,
			name,
		))
		return nil
	}
}

// conflictCopySuffix ends the name of an entry that keeps the store's text after a conflict.
const conflictCopySuffix = " (conflict copy)"

// mergeLabels merges two lists of labels of one entry. The list store contains the entry's labels in the store, and the
// list file contains the entry's labels in its file. The list base contains the labels that both had after the last
// import. The result contains the labels in the list file, changed by the differences between the lists base and store.
// Labels that oxbow itself added to the stored entry are omitted. If the result has more than oxbow.MaxLabels labels,
// the last labels that are not in the list file are omitted.
func mergeLabels(base, store, file []oxbow.Label) []oxbow.Label {
	isOwn := func(l oxbow.Label) bool { return isLabelSetByProgram(l) && !slices.Contains(base, l) }
	store = slices.DeleteFunc(omitOriginLabels(store), isOwn)
	merged := threeway.MergeLabels(omitOriginLabels(base), file, store)
	for i := len(merged) - 1; i >= 0 && len(merged) > oxbow.MaxLabels; i-- {
		if !slices.Contains(file, merged[i]) {
			merged = slices.Delete(merged, i, i+1)
		}
	}
	return merged
}

// importedVersion returns the newest version of an entry that an import wrote, with the same import digest as the entry
// old, and that was not edited. It returns nil if the history does not contain such a version, or if the store has no
// history.
func (im *importer) importedVersion(old oxbow.Entry) (*oxbow.Entry, error) {
	history, err := oxbow.HistoryOf(im.store)
	if err != nil {
		return nil, nil // The store has no history.
	}
	sum, _ := old.Label(importDigestLabelKey)
	for v, err := range history.Versions(im.ctx, old.Name) {
		switch {
		case errors.Is(err, oxbow.ErrNotFound):
			return nil, nil
		case err != nil:
			return nil, err
		case v.Verb == oxbow.VerbRemove:
			return nil, nil
		}
		if was, _ := v.Entry.Label(importDigestLabelKey); was == sum && !IsEdited(v.Entry) {
			e := v.Entry.Clone()
			return &e, nil
		}
	}
	return nil, nil
}
