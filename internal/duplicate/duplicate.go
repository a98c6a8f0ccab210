// Package duplicate finds entries that duplicate another entry, and merges them.
package duplicate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/history/lineage"
	"github.com/oxbow-memory/oxbow/internal/search/sametext"
)

// Duplicate is an entry to remove, and the entry that remains in its place.
type Duplicate struct {
	DroppedEntry, KeptEntry oxbow.Entry
	// The contents of DroppedEntry and KeptEntry differ only in white space and letter case.
	Exact bool
}

// FindDuplicates returns the entries that can be removed because another entry has the same words in the same order
// (see [sametext.FindNearDuplicates]). It removes nothing itself. The result is sorted by ID, and depends only on the
// entries.
//
// FindDuplicates compares only notes and world facts, and only entries of the same kind and the same projects. It keeps
// an entry that has the label tag:keep, and an entry whose names and labels do not fit into the remaining entry. An
// entry that is withheld from models as suspicious is neither returned nor used as the remaining entry. Otherwise a
// harmless text would be withheld after the removal, too.
//
// The function progress is called with the number of analyzed entries and the total number. It may be nil.
func FindDuplicates(ctx context.Context, s oxbow.Store, progress func(done, total int)) ([]Duplicate, error) {
	groups := map[string][]oxbow.Entry{} // entries by kind and projects
	done, total := 0, 0
	for e, err := range s.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return nil, fmt.Errorf("looking for entries that say the same: %w", err)
		}
		isCompared := e.Kind == oxbow.Note || e.Kind == oxbow.World
		if !isCompared || !e.MayShow(oxbow.WithoutLabels) {
			continue
		}
		projects := strings.Join(e.Values(oxbow.LabelProject), "\x00")
		key := fmt.Sprint(e.Kind, "\x00", e.MayShow(oxbow.Unasked), "\x00", projects)
		groups[key] = append(groups[key], e)
		total++
	}
	var dups []Duplicate
	for _, entries := range groups {
		some, err := findDuplicatesInGroup(ctx, entries, func(n int) {
			if progress != nil {
				progress(done+n, total)
			}
		})
		if err != nil {
			return nil, err
		}
		done += len(entries)
		dups = append(dups, some...)
	}
	slices.SortFunc(dups, func(a, b Duplicate) int { return cmp.Compare(a.DroppedEntry.ID, b.DroppedEntry.ID) })
	return dups, nil
}

// findDuplicatesInGroup returns the duplicates among the entries of a group. An entry is a duplicate only if its names
// and labels can be added to the entry that is kept. An entry with the label tag:keep is never returned as a duplicate.
// findDuplicatesInGroup does not change the entries. It calls the function progress with the number of analyzed
// entries.
func findDuplicatesInGroup(
	ctx context.Context,
	entries []oxbow.Entry,
	progress func(done int),
) (dups []Duplicate, err error) {
	texts := make([]sametext.Passage, len(entries))
	for i, e := range entries {
		// Entries are compared by content. If an entry has only few words, its name is compared as well.
		texts[i] = sametext.Passage{Text: e.Content, Heading: e.Name}
		if hasTagKeep(e) {
			texts[i].KeepPriority = 1
		}
	}
	near, err := sametext.FindNearDuplicates(ctx, texts, progress)
	if err != nil {
		return nil, err
	}
	heirs := map[int]oxbow.Entry{}
	for _, d := range near {
		drop := entries[d.DroppedIndex]
		heir, ok := heirs[d.KeptIndex]
		if !ok {
			heir = entries[d.KeptIndex]
		}
		if hasTagKeep(drop) {
			continue
		}
		heir, ok = mergeEntryInto(heir, drop)
		if ok {
			heirs[d.KeptIndex] = heir
			dups = append(dups, Duplicate{drop, entries[d.KeptIndex], d.IsExactDuplicate})
		}
	}
	return dups, nil
}

func hasTagKeep(e oxbow.Entry) bool { return slices.Contains(e.Values("tag"), "keep") }

// mergeEntryInto merges two entries. It returns a copy of the first entry (the parameter keptEntry), to which the names
// and labels from the second entry (the parameter droppedEntry) are added. The copy also gets a label that names the
// second entry as a source. The bool result is false if the merged entry is not valid, for example because it has too
// many labels.
func mergeEntryInto(keptEntry, droppedEntry oxbow.Entry) (oxbow.Entry, bool) {
	e := keptEntry.Clone()
	for _, name := range append([]string{droppedEntry.Name}, droppedEntry.Aliases...) {
		if name != e.Name && !slices.Contains(e.Aliases, name) {
			e.Aliases = append(e.Aliases, name)
		}
	}
	_, sure := keptEntry.Label(oxbow.LabelConfidence)
	for _, l := range droppedEntry.Labels {
		// The confidence label of the removed entry is about its own content. Copy it only if the remaining entry has
		// none.
		if l.Key != oxbow.LabelConfidence || !sure {
			e.Labels = append(e.Labels, l)
		}
	}
	if sources := (oxbow.Label{Key: lineage.SourceLabel, Value: lineage.FormatSource(droppedEntry.Name,
		droppedEntry.Version)}); sources.Check() == nil {
		e.Labels = append(e.Labels, sources)
	}
	e.Labels = oxbow.SortLabels(e.Labels)
	err := oxbow.Update{Name: e.Name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels}.Check()
	return e, err == nil
}

// RemoveDuplicates removes the DroppedEntry of each duplicate in dups, and updates the KeptEntry. All removals and
// updates are a single change, which [oxbow.Memory.Undo] can undo. The KeptEntry gets the name and aliases of the
// DroppedEntry as aliases, the labels of the DroppedEntry, and a label that names the DroppedEntry as a source. If
// dryRun is set, nothing is changed, but RemoveDuplicates returns the same errors.
//
// The error matches [oxbow.ErrConflict] or [oxbow.ErrNotFound] if an entry has changed meanwhile, and
// [oxbow.ErrUnsupported] if the memory lacks a history. It is an [oxbow.InvalidError] if one of the entries is withheld
// from models, or if the KeptEntry cannot have all names and labels.
func RemoveDuplicates(ctx context.Context, m *oxbow.Memory, dups []Duplicate, dryRun bool) error {
	if len(dups) == 0 {
		return nil
	}
	if _, err := m.History(); err != nil {
		return fmt.Errorf(
			"merging entries: %w: it keeps no history by which that could be taken back",
			oxbow.ErrUnsupported,
		)
	}
	heirs := map[string]oxbow.Entry{}
	var names []string
	var ops []oxbow.Op
	for _, d := range dups {
		heir, ok := heirs[d.KeptEntry.Name]
		if !ok {
			heir = d.KeptEntry
			names = append(names, heir.Name)
		}
		isFlagged := !d.KeptEntry.MayShow(oxbow.WithoutLabels) || !d.DroppedEntry.MayShow(oxbow.WithoutLabels)
		if isFlagged || d.KeptEntry.MayShow(oxbow.Unasked) != d.DroppedEntry.MayShow(oxbow.Unasked) {
			return &oxbow.InvalidError{
				Field:  "entry",
				Value:  d.DroppedEntry.Name,
				Reason: "or what stays for it is held back from models",
			}
		}
		heir, ok = mergeEntryInto(heir, d.DroppedEntry)
		if !ok {
			return &oxbow.InvalidError{
				Field:  "entry",
				Value:  d.KeptEntry.Name,
				Reason: "cannot carry the names and labels of " + d.DroppedEntry.Name,
			}
		}
		heirs[d.KeptEntry.Name] = heir
		ops = append(ops, oxbow.Remove{Name: d.DroppedEntry.Name, If: d.DroppedEntry.Version})
	}
	for _, name := range names {
		e := heirs[name]
		ops = append(
			ops,
			oxbow.Update{Name: name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels, If: e.Version},
		)
	}
	apply := m.Apply
	if dryRun {
		apply = m.DryRun
	}
	if err := apply(ctx, ops...); err != nil {
		return fmt.Errorf("merging entries: %w", err)
	}
	return nil
}
