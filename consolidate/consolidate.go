// This file finds entries that say what another one says, and merges them.

// Package consolidate takes out of a memory the entries that another one makes
// superfluous. It decides by rule and with no model; the rule is that of
// internal/alike: the same words in the same order, and nothing that the entry
// which stays does not say.
//
//	merges, err := consolidate.Find(ctx, m)
//	…
//	err = consolidate.Apply(ctx, m, merges)
//
// All of it is one change, which [oxbow.Memory.Undo] takes back.
package consolidate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/alike"
)

// Merge is an entry that goes because another one stays.
type Merge struct {
	Drop, Keep oxbow.Entry
	Exact      bool // their contents are the same but for white space and letter case
}

// Find returns the entries that can go, by their IDs. The same memory gives the
// same merges. Looked at are notes and facts of the world; an entry that goes and
// the one that stays are of one kind and of the same projects. An entry with the
// label tag:keep never goes, nor one whose names or labels the other cannot carry
// besides its own.
func Find(ctx context.Context, s oxbow.Store) ([]Merge, error) {
	groups := map[string][]oxbow.Entry{}
	var order []string
	for e, err := range s.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return nil, fmt.Errorf("looking for entries that say the same: %w", err)
		}
		if e.Kind != oxbow.Note && e.Kind != oxbow.World {
			continue
		}
		key := e.Kind.String() + "\x00" + strings.Join(e.Values(oxbow.LabelProject), "\x00")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], e)
	}
	var merges []Merge
	for _, key := range order {
		entries := groups[key]
		texts := make([]alike.Text, len(entries))
		for i, e := range entries {
			// The name is what few words mean something under.
			texts[i] = alike.Text{Text: e.Content, Under: e.Name}
			if isKept(e) {
				texts[i].Weight = 1
			}
		}
		heirs := map[int]oxbow.Entry{}
		for _, tw := range alike.NearDuplicates(texts) {
			drop := entries[tw.Drop]
			heir, ok := heirs[tw.Keep]
			if !ok {
				heir = entries[tw.Keep]
			}
			if isKept(drop) {
				continue
			}
			if heir, ok = inherit(heir, drop); ok {
				heirs[tw.Keep] = heir
				merges = append(merges, Merge{drop, entries[tw.Keep], tw.Exact})
			}
		}
	}
	slices.SortFunc(merges, func(a, b Merge) int {
		if a.Drop.ID < b.Drop.ID {
			return -1
		}
		return 1
	})
	return merges, nil
}

func isKept(e oxbow.Entry) bool { return slices.Contains(e.Values("tag"), "keep") }

// inherit returns an entry with the names and labels of one that goes, and whether
// it can carry them.
func inherit(keep, drop oxbow.Entry) (oxbow.Entry, bool) {
	e := keep.Clone()
	for _, name := range append([]string{drop.Name}, drop.Aliases...) {
		if name != e.Name && !slices.Contains(e.Aliases, name) {
			e.Aliases = append(e.Aliases, name)
		}
	}
	_, sure := keep.Label(oxbow.LabelConfidence)
	for _, l := range drop.Labels {
		// How sure somebody was belongs to what was said, and that stays.
		if l.Key != oxbow.LabelConfidence || !sure {
			e.Labels = append(e.Labels, l)
		}
	}
	e.Labels = oxbow.SortLabels(e.Labels)
	err := oxbow.CheckOp(oxbow.Update{Name: e.Name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels})
	return e, err == nil
}

// Apply makes the merges, all or none, in one change: each entry that stays gets
// the name of the other as an alias, and its aliases and labels. Errors match
// [oxbow.ErrConflict] or [oxbow.ErrNotFound] when one of the entries was changed
// since, and [oxbow.ErrUnsupported] when the memory keeps no history by which this
// could be taken back.
func Apply(ctx context.Context, m *oxbow.Memory, merges []Merge) error {
	if len(merges) == 0 {
		return nil
	}
	if _, ok := m.Store().(oxbow.Historian); !ok {
		return fmt.Errorf("merging entries: %w: it keeps no history by which that could be taken back", oxbow.ErrUnsupported)
	}
	heirs := map[string]oxbow.Entry{}
	var names []string
	var ops []oxbow.Op
	for _, g := range merges {
		heir, ok := heirs[g.Keep.Name]
		if !ok {
			heir = g.Keep
			names = append(names, heir.Name)
		}
		if heir, ok = inherit(heir, g.Drop); !ok {
			return &oxbow.InvalidError{Field: "entry", Value: g.Keep.Name, Reason: "cannot carry the names and labels of " + g.Drop.Name}
		}
		heirs[g.Keep.Name] = heir
		ops = append(ops, oxbow.Remove{Name: g.Drop.Name, If: g.Drop.Version})
	}
	for _, name := range names {
		e := heirs[name]
		ops = append(ops, oxbow.Update{Name: name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels, If: e.Version})
	}
	if err := m.Apply(ctx, ops...); err != nil {
		return fmt.Errorf("merging entries: %w", err)
	}
	return nil
}
