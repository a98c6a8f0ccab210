// The plan of what is taken back, and the one change that does it.

package revert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// What is done to an entry.
const (
	removed  = "removed"  // it was made by what is taken back
	returned = "returned" // it is as it would be without
	restored = "restored" // it was forgotten, and is there again
)

// Step is what is done to one entry.
type Step struct {
	Name string   `json:"name"`
	Did  string   `json:"did"`               // removed, returned or restored
	Took []uint64 `json:"took_back"`         // numbers of the changes
	To   uint64   `json:"version,omitempty"` // the version that it is now like, where there is one
}

// Conflict is an entry that others changed after what is taken back.
type Conflict struct {
	Name   string   `json:"name"`
	Took   []uint64 `json:"took_back"`
	Later  []uint64 `json:"later"`            // numbers of the changes of others
	By     string   `json:"by"`               // person, agent, tool or import: of the last
	Kept   []string `json:"kept"`             // content, aliases, labels, forgotten; none: the later changes had nothing left to stand on
	Reason string   `json:"reason,omitempty"` // why all was kept
}

// Plan is what a revert does.
type Plan struct {
	Changes   []uint64 // numbers of the changes that were selected
	Steps     []Step
	Conflicts []Conflict
	Derived   []Derived
	Standing  map[string]uint64 // names that carried something of it, and the version from which on

	h    oxbow.Historian
	ops  []oxbow.Op
	last map[string]uint64 // the last change of each name
}

// Make returns the plan.
func Make(ctx context.Context, h oxbow.Historian, sel Selection) (*Plan, error) {
	p := &Plan{h: h, Standing: map[string]uint64{}, last: map[string]uint64{}}
	w, err := read(ctx, h, &sel)
	if err != nil || w == nil {
		return p, err
	}
	if err := w.derive(ctx, &sel); err != nil {
		return p, err
	}
	p.Changes = w.changes
	byName := map[string][]*node{}
	var names []string // that something is taken back of
	for _, n := range w.nodes {
		name := n.Entry.Name
		byName[name] = append(byName[name], n)
		if n.out(&sel) && !n.undone && !slices.Contains(names, name) {
			names = append(names, name)
		}
		if n.derived != nil {
			n.derived.Taken = sel.Derived
			p.Derived = append(p.Derived, *n.derived)
		}
		if _, ok := p.Standing[name]; !ok && (n.selected || n.derived != nil) {
			p.Standing[name] = n.Seq
		}
	}
	for _, name := range names {
		if err := p.add(ctx, w, byName[name], &sel); err != nil {
			return p, err
		}
	}
	slices.SortFunc(p.Steps, func(a, b Step) int { return cmp.Or(cmp.Compare(a.Took[0], b.Took[0]), strings.Compare(a.Name, b.Name)) })
	return p, nil
}

// add adds what is done to one name, of which these are the versions.
func (p *Plan) add(ctx context.Context, w *window, nodes []*node, sel *Selection) error {
	name, last := nodes[0].Entry.Name, nodes[len(nodes)-1]
	before := nodes[0].prev
	var now *oxbow.Entry
	if last.Verb != oxbow.VerbRemove {
		now = &last.Entry
	}
	r := without(before, nodes, sel)
	lost, err := isLost(ctx, p.h, nodes[0])
	if err != nil {
		return err
	}
	if lost {
		p.Conflicts = append(p.Conflicts, Conflict{Name: name, Took: r.took, By: string(last.Source.Actor), Kept: []string{"all"},
			Reason: "what it said before was redacted"})
		return nil
	}
	ops := ops(now, r.now)
	if c, ok := r.conflict(now); ok {
		p.Conflicts = append(p.Conflicts, c)
	}
	if len(ops) == 0 {
		return nil
	}
	p.ops = append(p.ops, ops...)
	s := Step{Name: name, Took: r.took, Did: returned}
	switch {
	case r.now == nil:
		s.Did = removed
	case now == nil:
		s.Did = restored
	}
	if r.now != nil && len(r.later) == 0 {
		s.To = r.now.Version
	}
	p.Steps, p.last[name] = append(p.Steps, s), last.Seq
	return nil
}

// conflict returns what was kept of later changes of others, if there are some. Now
// is what the entry is. An undo is no work of its own.
func (r *replay) conflict(now *oxbow.Entry) (c Conflict, ok bool) {
	c.Kept = []string{} // in JSON no null
	for _, n := range r.later {
		if !n.restores() && !(n.Verb == oxbow.VerbRemove && r.now == nil && now == nil) {
			c.Name, c.By = n.Entry.Name, string(n.Source.Actor)
			c.Later = append(c.Later, n.Seq)
			c.Kept = append(c.Kept, r.kept(n)...)
		}
	}
	slices.Sort(c.Kept)
	c.Took, c.Kept = r.took, slices.Compact(c.Kept)
	return c, len(c.Later) > 0
}

// kept returns the parts of a later change that still stand.
func (r *replay) kept(n *node) (parts []string) {
	if r.now == nil {
		if n.Verb == oxbow.VerbRemove {
			parts = append(parts, "forgotten")
		}
		return parts
	}
	old := oxbow.Entry{}
	if n.prev != nil {
		old = *n.prev
	}
	if n.Entry.Content != old.Content {
		parts = append(parts, "content")
	}
	if !slices.Equal(n.Entry.Aliases, old.Aliases) {
		parts = append(parts, "aliases")
	}
	if !slices.Equal(n.Entry.Labels, old.Labels) {
		parts = append(parts, "labels")
	}
	return parts
}

// maxNumbers is the most numbers of changes that a note has.
const maxNumbers = 10

func numbers(seqs []uint64) string {
	var words []string
	for _, n := range seqs[:min(len(seqs), maxNumbers)] {
		words = append(words, strconv.FormatUint(n, 10))
	}
	s := strings.Join(words, ", ")
	if len(seqs) > maxNumbers {
		s += fmt.Sprintf("… (%d changes)", len(seqs))
	}
	return s
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.ops) == 0 }

// Apply carries out the plan in one change, and returns its number. An entry that
// changed since the plan was made is an error that matches [oxbow.ErrConflict].
func (p *Plan) Apply(ctx context.Context) (uint64, error) {
	if p.Empty() {
		return 0, nil
	}
	made, err := oxbow.Commit(oxbow.WithNote(ctx, noteStart+numbers(p.Changes)), p.h, p.ops...)
	if errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrNotFound) {
		err = &oxbow.ConflictError{Name: p.ops[0].Target()}
	}
	return made.Seq, err
}
