// This file plans a revert and applies the plan in a single change.

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

// The values of [Step.Did].
const (
	removed  = "removed"  // the entry was removed, because a reverted change had created it
	returned = "returned" // the entry was changed to its state without the reverted changes
	restored = "restored" // the entry, which had been removed, was added again
)

// Step describes the change to an entry.
type Step struct {
	Name string   `json:"name"`
	Did  string   `json:"did"`               // removed, returned or restored
	Took []uint64 `json:"took_back"`         // numbers of the reverted changes
	To   uint64   `json:"version,omitempty"` // version of the entry with the same text, if any
}

// Conflict is an entry that others changed after a reverted change.
type Conflict struct {
	Name  string   `json:"name"`
	Took  []uint64 `json:"took_back"`
	Later []uint64 `json:"later"` // numbers of the later changes by others
	By    string   `json:"by"`    // actor of the last later change: person, agent, tool or import
	// parts of later changes that were kept: content, aliases, labels, forgotten, or all (empty if
	// none could be kept)
	Kept   []string `json:"kept"`
	Reason string   `json:"reason,omitempty"` // why all was kept
}

// Plan is the plan of a revert.
type Plan struct {
	Changes   []uint64 // numbers of the selected changes
	Steps     []Step
	Conflicts []Conflict
	Derived   []DerivedVersion
	Taken     []oxbow.TakenAlias // aliases that are not restored, because other entries have them by now
	Standing  map[string]uint64  // for each name with text of selected or derived versions, the first such version

	h    oxbow.Historian
	ops  []oxbow.Op
	last map[string]uint64 // for each name, the number of its last change
}

// Make plans the revert of the selected versions.
func Make(ctx context.Context, h oxbow.Historian, sel Selection) (*Plan, error) {
	p := &Plan{h: h, Standing: map[string]uint64{}, last: map[string]uint64{}}
	w, err := readWindow(ctx, h, &sel)
	if err != nil || w == nil {
		return p, err
	}
	if err := w.derive(ctx, &sel); err != nil {
		return p, err
	}
	p.Changes = w.changes
	byName := map[string][]*node{}
	var names []string // entries with versions to revert
	for _, n := range w.nodes {
		name := n.Entry.Name
		byName[name] = append(byName[name], n)
		isToRevert := n.isToRevert(&sel) && !n.undone
		if isToRevert && !slices.Contains(names, name) {
			names = append(names, name)
		}
		if n.derived != nil {
			n.derived.Taken = sel.Derived
			p.Derived = append(p.Derived, *n.derived)
		}
		if _, ok := p.Standing[name]; !ok && n.isTouched() {
			p.Standing[name] = n.Seq
		}
	}
	for _, name := range names {
		if err := p.add(ctx, w, byName[name], &sel); err != nil {
			return p, err
		}
	}
	slices.SortFunc(p.Steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Took[0], b.Took[0]), strings.Compare(a.Name, b.Name))
	})
	p.ops, p.Taken, err = oxbow.WithoutTakenAliases(ctx, h, p.ops)
	return p, err
}

// add plans an entry's change. nodes are all its versions in the window.
func (p *Plan) add(ctx context.Context, w *window, nodes []*node, sel *Selection) error {
	name, last := nodes[0].Entry.Name, nodes[len(nodes)-1]
	before := nodes[0].prev
	var now *oxbow.Entry
	if last.Verb != oxbow.VerbRemove {
		now = &last.Entry
	}
	r := replayWithout(before, nodes, sel)
	lost, err := isLost(ctx, p.h, nodes[0])
	if err != nil {
		return err
	}
	if lost {
		p.Conflicts = append(
			p.Conflicts,
			Conflict{Name: name, Took: r.took, By: string(last.Source.Actor), Kept: []string{"all"},
				Reason: "what it said before was redacted"},
		)
		return nil
	}
	ops := editOps(now, r.now)
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

// conflict returns which parts of other writers' later changes are kept. ok is false if no such
// changes exist. now is the present entry. Undos and reverts do not count as later changes.
func (r *replay) conflict(now *oxbow.Entry) (c Conflict, ok bool) {
	c.Kept = []string{} // encode as [] instead of null in JSON
	for _, n := range r.later {
		if !n.isRestore() && !(n.Verb == oxbow.VerbRemove && r.now == nil && now == nil) {
			c.Name, c.By = n.Entry.Name, string(n.Source.Actor)
			c.Later = append(c.Later, n.Seq)
			c.Kept = append(c.Kept, r.keptParts(n)...)
		}
	}
	slices.Sort(c.Kept)
	c.Took, c.Kept = r.took, slices.Compact(c.Kept)
	return c, len(c.Later) > 0
}

// keptParts returns the parts that a later change modified and that remain.
func (r *replay) keptParts(n *node) (parts []string) {
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
	if !slices.Equal(oxbow.WithoutTextBy(n.Entry.Labels), oxbow.WithoutTextBy(old.Labels)) {
		parts = append(parts, "labels")
	}
	return parts
}

// maxNumbers is the maximum number of change numbers in a note.
const maxNumbers = 10

func joinNumbers(seqs []uint64) string {
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

// Empty reports whether the plan changes nothing.
func (p *Plan) Empty() bool { return len(p.ops) == 0 }

// Apply carries out the plan in a single change and returns the change's number. If an entry
// changed since the plan was made, the error matches [oxbow.ErrConflict].
func (p *Plan) Apply(ctx context.Context) (uint64, error) {
	if p.Empty() {
		return 0, nil
	}
	made, err := oxbow.Commit(oxbow.WithNote(ctx, noteStart+joinNumbers(p.Changes)), p.h, p.ops...)
	if errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrNotFound) {
		err = &oxbow.ConflictError{Name: p.ops[0].Target()}
	}
	return made.Seq, err
}
