// Load: the changes that make a store what a tree says.

package mdtree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// Mode says what happens to entries of the store that the tree lacks.
type Mode uint8

// The modes.
const (
	Merge   Mode = iota // they stay
	Replace             // they are removed
)

// PlanOptions change how a tree is compared with a store. Nil and zero fields
// mean the default.
type PlanOptions struct {
	Mode Mode

	// Prune lets [Replace] remove entries whose files are gone since the last
	// dump. Without it they are an error, since a copy of a tree may lack
	// files by accident.
	Prune bool
}

// Plan is the smallest list of changes that makes a store what a tree says.
// Its lists of names are sorted.
type Plan struct {
	Ops     []oxbow.Op // to be applied all in one
	Added   []string
	Changed []string
	Removed []string // none with [Merge]
	Same    []string
}

// Plan compares the tree with a store and changes neither. The caller gives
// Ops to one call of [oxbow.Store.Apply]: they are then one change, which can be
// undone. They carry the versions they were made for; when the store has
// changed since, Apply fails with [oxbow.ErrConflict].
//
// A change of kind or of date is a removal and an addition of the same name. A
// file without a date leaves that of the store. Aliases are trimmed, and empty
// and repeated ones left out, because no store takes them.
//
// Entries that no store can take are listed in a [*ProblemsError]. With
// [Replace], files that are gone give a [*FilesError] matching [ErrMissing]
// unless Prune is set.
func (t *Tree) Plan(ctx context.Context, s oxbow.Store, o *PlanOptions) (Plan, error) {
	opts := PlanOptions{}
	if o != nil {
		opts = *o
	}
	have := make(map[string]oxbow.Entry)
	for e, err := range s.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return Plan{}, fmt.Errorf("planning the load of %s: %w", t.dir, err)
		}
		have[e.Name] = e
	}
	var p Plan
	if opts.Mode == Replace {
		if err := t.planRemovals(&p, have, opts.Prune); err != nil {
			return Plan{}, fmt.Errorf("planning the load of %s: %w", t.dir, err)
		}
	}
	problems := &ProblemsError{Dir: t.dir}
	for i := range t.Entries {
		want := &t.Entries[i]
		e, exists := have[want.Name]
		var ops []oxbow.Op
		switch {
		case !exists:
			p.Added = append(p.Added, want.Name)
			ops = []oxbow.Op{addOf(want)}
		case sameEntry(want, &e):
			p.Same = append(p.Same, want.Name)
		default:
			p.Changed = append(p.Changed, want.Name)
			ops = opsOf(want, &e)
		}
		for _, op := range ops {
			// What is removed needs no check: the store has it.
			if _, remove := op.(oxbow.Remove); remove {
				continue
			}
			if err := oxbow.CheckOp(op); err != nil {
				problems.add(t.Files[i], err)
				break
			}
		}
		p.Ops = append(p.Ops, ops...)
	}
	if err := problems.orNil(); err != nil {
		return Plan{}, err
	}
	for _, names := range [][]string{p.Added, p.Changed, p.Removed, p.Same} {
		slices.Sort(names)
	}
	return p, nil
}

// planRemovals plans the removal of the entries that the tree lacks.
func (t *Tree) planRemovals(p *Plan, have map[string]oxbow.Entry, prune bool) error {
	in := make(map[string]bool, len(t.Entries))
	for i := range t.Entries {
		in[t.Entries[i].Name] = true
	}
	if !prune {
		var files []string
		for _, g := range t.Missing {
			if _, ok := have[g.Name]; ok {
				files = append(files, g.File)
			}
		}
		if len(files) > 0 {
			slices.Sort(files)
			return &FilesError{Dir: t.dir, Err: ErrMissing, Files: files,
				Hint: "put them back, merge instead of replacing, or prune to forget their entries"}
		}
	}
	for name := range have {
		if !in[name] {
			p.Removed = append(p.Removed, name)
		}
	}
	slices.Sort(p.Removed)
	for _, name := range p.Removed {
		p.Ops = append(p.Ops, oxbow.Remove{Name: name, If: have[name].Version})
	}
	return nil
}

func addOf(want *oxbow.Entry) oxbow.Add {
	return oxbow.Add{Name: want.Name, Kind: want.Kind, Content: want.Content,
		Aliases: tidyAliases(want.Aliases), Labels: slices.Clone(want.Labels), Created: want.Created}
}

// opsOf returns the changes that make e what the draft says.
func opsOf(want, e *oxbow.Entry) []oxbow.Op {
	if want.Kind != e.Kind || !sameDate(want, e) {
		add := addOf(want)
		if sameDate(want, e) {
			add.Created = e.Created
		}
		return []oxbow.Op{oxbow.Remove{Name: e.Name, If: e.Version}, add}
	}
	aliases, labels := sameAliases(want.Aliases, e.Aliases), slices.Equal(want.Labels, oxbow.SortLabels(e.Labels))
	switch {
	case want.Content == e.Content && labels:
		return []oxbow.Op{oxbow.Alias{Name: e.Name, Aliases: tidyAliases(want.Aliases), If: e.Version}}
	case want.Content == e.Content && aliases:
		return []oxbow.Op{oxbow.Relabel{Name: e.Name, Labels: slices.Clone(want.Labels), If: e.Version}}
	}
	return []oxbow.Op{oxbow.Update{Name: e.Name, Content: want.Content,
		Aliases: tidyAliases(want.Aliases), Labels: slices.Clone(want.Labels), If: e.Version}}
}

// sameDraft reports whether a store's entry is what a draft says. Space around
// an alias does not count, because stores take none, nor does a fraction of a
// second that only one of both has. An undated draft is of any date.
func sameEntry(want, e *oxbow.Entry) bool {
	return want.Name == e.Name && want.Kind == e.Kind && want.Content == e.Content &&
		sameAliases(want.Aliases, e.Aliases) && slices.Equal(want.Labels, oxbow.SortLabels(e.Labels)) &&
		sameDate(want, e)
}

func sameAliases(a, b []string) bool {
	return slices.Equal(a, b) || slices.Equal(tidyAliases(a), tidyAliases(b))
}

// tidyAliases returns the aliases as stores take them.
func tidyAliases(as []string) []string {
	var tidy []string
	for _, a := range as {
		if a = strings.TrimSpace(a); a != "" && !slices.Contains(tidy, a) {
			tidy = append(tidy, a)
		}
	}
	return tidy
}

func sameDate(want, e *oxbow.Entry) bool {
	if want.Created.IsZero() || want.Created.Equal(e.Created) {
		return true
	}
	return want.Created.Unix() == e.Created.Unix() && (want.Created.Nanosecond() == 0) != (e.Created.Nanosecond() == 0)
}
