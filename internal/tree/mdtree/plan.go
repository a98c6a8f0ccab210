// Load: the changes that make a store what a tree says.

package mdtree

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

	// Origin is that of the store. Where the manifest names it, the last dump is
	// the base of the comparison: what only the store changed since stays.
	Origin Origin

	// FilesWin takes the files' side where the files and the store were both
	// changed since the last dump; with [Replace] it also removes what was
	// added to the store since. Without it they are an error and stay.
	FilesWin bool
}

// Plan is the smallest list of changes that makes a store what a tree says.
// Its lists of names are sorted.
type Plan struct {
	Ops     []oxbow.Op // to be applied all in one
	Added   []string
	Changed []string
	Removed []string // none with [Merge]
	Same    []string
	Kept    []string // changed, added or removed in the store alone since the last dump
	Base    bool     // the last dump was the base

	Warnings []Problem // aliases in files that another entry has, too
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
// When the manifest names the store, a file that is as the last dump wrote it
// changes nothing, and neither does one that the store held since and moved on
// from. What both sides changed, each in its way, is listed in a [*FilesError]
// matching [ErrDiverged]. Without such a manifest the files win.
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
		e.Labels = withoutLocal(e.Labels)
		have[e.Name] = e
	}
	t.normalizeNames(have)
	p := &planner{tree: t, have: have, opts: opts, past: newPast(ctx, s)}
	p.Base = opts.Origin.knows(t.Memory)
	if err := p.plan(); err != nil {
		return Plan{}, fmt.Errorf("planning the load of %s: %w", t.dir, err)
	}
	for _, names := range [][]string{p.Added, p.Changed, p.Removed, p.Same, p.Kept} {
		slices.Sort(names)
	}
	return p.Plan, nil
}

// normalizeNames gives the entries of files the spelling that the store or the last dump has of
// their names, or else the normal form: some file systems and archives change the composition of
// names. If two files have the same name so, and the store does not have them both, the
// decomposed name gets a number.
func (t *Tree) normalizeNames(have map[string]oxbow.Entry) {
	used := make(map[string]int)
	for i := range t.Entries {
		used[oxbow.NormalName(t.Entries[i].Name)]++
	}
	for i := range t.Entries {
		e := &t.Entries[i]
		normal := oxbow.NormalName(e.Name)
		_, known := have[e.Name]
		_, dumped := t.base[e.Name]
		isTwin := used[normal] > 1
		if known || e.Name == normal || (dumped && !isTwin) {
			continue
		}
		if !isTwin {
			e.Name = spellingOf(normal, have)
			continue
		}
		name := normal
		for n := 2; used[name] > 0; n++ {
			name = fmt.Sprintf("%s (%d)", normal, n)
			if _, taken := have[name]; taken {
				used[name]++
			}
		}
		used[name]++
		t.warn(t.Files[i], fmt.Errorf("it is loaded as %q: another file has its name %q in another Unicode composition", name, normal))
		e.Name = name
	}
}

// spellingOf returns the spelling of a name in normal form that the store has, or the name.
func spellingOf(name string, have map[string]oxbow.Entry) string {
	for _, form := range oxbow.AllNameForms([]string{name}) {
		if _, ok := have[form]; ok {
			return form
		}
	}
	return name
}

// planner makes a plan.
type planner struct {
	Plan
	tree *Tree
	have map[string]oxbow.Entry // of the store
	opts PlanOptions
	past *past

	diverged []string // files
}

func (p *planner) plan() error {
	if p.opts.Mode == Replace {
		if err := p.planRemovals(); err != nil {
			return err
		}
	}
	problems := &ProblemsError{Dir: p.tree.dir}
	for i := range p.tree.Entries {
		ops, err := p.planEntry(i)
		if err != nil {
			return err
		}
		if err := p.unfinished(i); len(ops) > 0 && err != nil {
			problems.Add(p.tree.Files[i], err)
			continue
		}
		for _, op := range ops {
			// What is removed needs no check: the store has it.
			if _, remove := op.(oxbow.Remove); remove {
				continue
			}
			if err := op.Check(); err != nil {
				problems.Add(p.tree.Files[i], err)
				break
			}
		}
		p.Ops = append(p.Ops, ops...)
	}
	if len(p.diverged) > 0 {
		slices.Sort(p.diverged)
		return &FilesError{Dir: p.tree.dir, Err: ErrDiverged, Files: p.diverged,
			Hint: "make the files say what the memory says, or let the files win"}
	}
	p.checkAliases()
	return problems.orNil()
}

// unfinished returns why a file cannot be meant as it is: it lost all its text, as in a write that
// a full disk cut, or git could not merge it. Text or markers that the store's entry has, too, are
// no reason.
func (p *planner) unfinished(i int) error {
	want := &p.tree.Entries[i]
	e, exists := p.have[want.Name]
	if exists && isBlank(want.Content) && !isBlank(e.Content) {
		return errors.New("it has no text any more: write some, or delete the file to forget its entry")
	}
	if p.tree.marked[i] && !HasConflictMarkers(e.Content) {
		return fmt.Errorf("it %w", ErrConflictMarkers)
	}
	return nil
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// checkAliases warns of names and aliases that would lead to two entries.
func (p *planner) checkAliases() {
	touched := map[string]bool{}
	for _, name := range slices.Concat(p.Added, p.Changed, p.Removed) {
		touched[name] = true
	}
	of := map[string]string{} // by name or alias
	for name, e := range p.have {
		for _, w := range append([]string{name}, e.Aliases...) {
			if !touched[name] {
				of[w] = name
			}
		}
	}
	for i, e := range p.tree.Entries {
		if !touched[e.Name] {
			continue
		}
		for _, w := range append([]string{e.Name}, tidyAliases(e.Aliases)...) {
			if other, ok := of[w]; ok && other != e.Name {
				p.Warnings = append(p.Warnings, Problem{p.tree.Files[i], fmt.Errorf("%q is a name or alias of %q, too; oxbow remember NAME --alias changes the aliases of one", w, other)})
			}
			of[w] = e.Name
		}
	}
}

// planEntry plans what an entry of the tree changes.
func (p *planner) planEntry(i int) ([]oxbow.Op, error) {
	want := &p.tree.Entries[i]
	e, exists := p.have[want.Name]
	if exists && sameEntry(want, &e) {
		p.Same = append(p.Same, want.Name)
		return nil, nil
	}
	if p.Base {
		base, known := p.tree.base[want.Name]
		kept := known && p.tree.unedited[i]
		storeChanged := exists != known || (exists && !base.is(&e))
		if !kept && (storeChanged || !exists) {
			held, err := p.past.held(want, base)
			if err != nil {
				return nil, err
			}
			kept = held
		}
		switch {
		case kept:
			p.Kept = append(p.Kept, want.Name)
			return nil, nil
		case storeChanged && !p.opts.FilesWin:
			p.diverged = append(p.diverged, p.tree.Files[i])
			return nil, nil
		}
	}
	if !exists {
		p.Added = append(p.Added, want.Name)
		return []oxbow.Op{addOf(want)}, nil
	}
	p.Changed = append(p.Changed, want.Name)
	return opsOf(want, &e), nil
}

// planRemovals plans the removal of the entries that the tree lacks.
func (p *planner) planRemovals() error {
	in := make(map[string]bool, len(p.tree.Entries))
	for i := range p.tree.Entries {
		in[p.tree.Entries[i].Name] = true
	}
	if !p.opts.Prune {
		var files []string
		for _, g := range p.tree.Missing {
			if _, ok := p.have[g.Name]; ok {
				files = append(files, g.File)
			}
		}
		if len(files) > 0 {
			slices.Sort(files)
			return &FilesError{Dir: p.tree.dir, Err: ErrMissing, Files: files,
				Hint: "put them back, merge instead of replacing, or prune to forget their entries"}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.have)) {
		e := p.have[name]
		base, known := p.tree.base[name]
		switch {
		case in[name]:
			continue
		case !p.Base || p.opts.FilesWin || (known && base.is(&e)):
		case known:
			p.diverged = append(p.diverged, base.Path)
			continue
		default:
			p.Kept = append(p.Kept, name)
			continue
		}
		p.Removed = append(p.Removed, name)
		p.Ops = append(p.Ops, oxbow.Remove{Name: name, If: e.Version})
	}
	return nil
}

func addOf(want *oxbow.Entry) oxbow.Add {
	return oxbow.Add{Name: want.Name, Kind: want.Kind, Content: want.Content,
		Aliases: tidyAliases(want.Aliases), Labels: slices.Clone(want.Labels), Created: want.Created}
}

// opsOf returns the changes that make e what the file says.
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

// sameEntry reports whether a store's entry is what a file says. Space around
// an alias does not count, because stores take none, nor does a fraction of a
// second that only one of both has. An undated file is of any date.
func sameEntry(want, e *oxbow.Entry) bool {
	return want.Name == e.Name && want.Kind == e.Kind && want.Content == e.Content &&
		sameAliases(want.Aliases, e.Aliases) && slices.Equal(want.Labels, oxbow.SortLabels(e.Labels)) &&
		sameDate(want, e)
}

// withoutLocal returns labels without those that no file has; see [oxbow.Label.IsLocal].
func withoutLocal(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(ls), oxbow.Label.IsLocal)
}

func sameAliases(a, b []string) bool {
	return slices.Equal(a, b) || slices.Equal(tidyAliases(a), tidyAliases(b))
}

// tidyAliases returns the aliases as stores take them.
func tidyAliases(as []string) []string {
	var tidy []string
	for _, a := range as {
		a = strings.TrimSpace(a)
		if a != "" && !slices.Contains(tidy, a) {
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
