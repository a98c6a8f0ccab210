// This file finds the versions to revert. These are the selected versions, and the versions whose texts were derived
// from them.

// Package revert undoes selected changes of a memory in a single new change. The later work of other writers is kept.
package revert

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/history/lineage"
)

// Selection says which versions to revert.
type Selection struct {
	// SelectsVersion reports whether a version is selected. In c, only the number, the time, the source and the note
	// of the change are set.
	SelectsVersion func(c *oxbow.Change, v *oxbow.Version) bool

	// SelectsSource reports whether a value of the label [lineage.Label] names a selected thing outside the memory,
	// such as a session's turn. If SelectsSource is nil, no such thing is selected.
	SelectsSource func(value string) bool

	// WithDerived is set if versions that were derived from selected versions are also reverted.
	WithDerived bool
}

// DerivedVersion is a version that was made from a selected version, either directly or through other derived
// versions.
type DerivedVersion struct {
	Name       string `json:"name"`
	Seq        uint64 `json:"seq"`
	SourceName string `json:"from"` // the version's source, as NAME@SEQ or the name of a turn
	FoundBy    string `json:"how"`  // how the source was recognized: "from", "merged" or "words"
	// IsReverted is set if this version is reverted as well.
	IsReverted bool         `json:"taken_back,omitempty"`
	Source     oxbow.Source `json:"-"`
}

// versionNode is a version in the part of the log from the first selected version on.
type versionNode struct {
	oxbow.Version
	previous       *oxbow.Entry // the entry as it was before this version (nil if the entry did not exist)
	isSelected     bool
	derivedVersion *DerivedVersion
	// An undo has reverted this version, or the version is itself an undo. It does not affect the present entry.
	isUndone bool
}

// isRestore reports whether an undo or a revert wrote the version, so that it contains no new work.
func (n *versionNode) isRestore() bool {
	return n.Verb == oxbow.VerbRestore || strings.HasPrefix(n.Note, revertNotePrefix)
}

// isToRevert reports whether the version is to be reverted.
func (n *versionNode) isToRevert(sel *Selection) bool {
	return n.isSelected || (n.derivedVersion != nil && sel.WithDerived)
}

// isSelectedOrDerived reports whether the version is selected, or derived from a selected version.
func (n *versionNode) isSelectedOrDerived() bool {
	return n.isSelected || n.derivedVersion != nil
}

// revertWindow is the part of the log from the first selected version on. Its nodes are sorted by age, oldest first.
type revertWindow struct {
	nodes           []*versionNode
	storeBefore     oxbow.Store // the memory as it was before the first selected version
	selectedChanges []uint64    // numbers of the changes that contain a selected version
}

// readRevertWindow reads the changes from the first change with a selected version on, and the memory as it was
// before. It returns nil if no version is selected.
func readRevertWindow(ctx context.Context, h oxbow.Historian, sel *Selection) (*revertWindow, error) {
	first := uint64(0)
	for c, err := range h.Log(ctx) {
		if err != nil {
			return nil, err
		}
		if sel.hasVersionOf(&c) {
			first = c.Seq
		}
	}
	if first == 0 {
		return nil, nil
	}
	w, undone := &revertWindow{}, map[uint64]bool{}
	for c, err := range h.Log(ctx) {
		if err != nil {
			return nil, err
		}
		if c.Seq < first {
			break
		}
		w.addChange(&c, sel, undone)
		if !includesRevertsSince(&c, first) {
			continue
		}
		if !undone[c.Seq] && !sel.hasVersionOf(&c) {
			w.markUndoneChanges(&c, undone)
		}
	}
	slices.Reverse(w.nodes)
	slices.Reverse(w.selectedChanges)
	var err error
	w.storeBefore, err = h.AsOf(ctx, first-1)
	if err != nil {
		return nil, err
	}
	return w, w.linkPrevious(ctx)
}

// includesRevertsSince reports whether a change reverts other changes, and none of these is before the change with
// number first.
func includesRevertsSince(c *oxbow.Change, first uint64) bool {
	return len(c.Reverts) > 0 && slices.Min(c.Reverts) >= first
}

// hasVersionOf reports whether the selection contains a version of the change.
func (sel *Selection) hasVersionOf(c *oxbow.Change) bool {
	return slices.ContainsFunc(c.Versions, func(v oxbow.Version) bool { return sel.SelectsVersion(c, &v) })
}

// addChange adds the versions of a change to the window. Changes must be added from the newest to the oldest.
// readRevertWindow reverses the order afterwards.
func (w *revertWindow) addChange(c *oxbow.Change, sel *Selection, undone map[uint64]bool) {
	if sel.hasVersionOf(c) && !undone[c.Seq] {
		w.selectedChanges = append(w.selectedChanges, c.Seq)
	}
	for _, v := range slices.Backward(c.Versions) {
		if !v.Erased { // Skip an erased version, because its text is not known.
			w.nodes = append(
				w.nodes,
				&versionNode{Version: v, isSelected: sel.SelectsVersion(c, &v), isUndone: undone[c.Seq]},
			)
		}
	}
}

// markUndoneChanges is called for a change that is an undo and that was added last. It marks this change, and all
// changes that this change undid.
func (w *revertWindow) markUndoneChanges(c *oxbow.Change, undone map[uint64]bool) {
	for _, s := range c.Reverts {
		undone[s] = true
	}
	for _, n := range slices.Backward(w.nodes) {
		if n.Seq != c.Seq {
			break
		}
		n.isUndone = true
	}
}

// linkPrevious sets the field previous of all nodes.
func (w *revertWindow) linkPrevious(ctx context.Context) error {
	now := map[string]*oxbow.Entry{}
	for _, n := range w.nodes {
		name := n.Entry.Name
		old, ok := now[name]
		if !ok {
			var err error
			old, err = getEntryOrNil(ctx, w.storeBefore, name)
			if err != nil {
				return err
			}
		}
		n.previous, now[name] = old, nil
		if n.Verb != oxbow.VerbRemove {
			now[name] = &n.Entry
		}
	}
	return nil
}

// getEntryOrNil returns the entry with a name, or nil if it does not exist.
func getEntryOrNil(ctx context.Context, s oxbow.Store, name string) (*oxbow.Entry, error) {
	e, err := s.Get(ctx, name)
	if errors.Is(err, oxbow.ErrNotFound) {
		return nil, nil
	}
	return &e, err
}

// findDerived finds the versions that were derived from selected versions. A version is a copy only if it contains
// words that were not in the memory before the version's source was written. Finding the first occurrence of words is
// expensive. Therefore a first pass without it checks whether any version has words in common with a source.
func (w *revertWindow) findDerived(ctx context.Context, sel *Selection) error {
	shared := w.traceDerived(sel, nil)
	if len(shared) == 0 {
		return nil
	}
	known := map[lineage.Gram]uint64{}
	note := func(content string, seq uint64) {
		for _, g := range lineage.HashGrams(content) {
			if _, ok := known[g]; !ok && shared[g] {
				known[g] = seq
			}
		}
	}
	for e, err := range w.storeBefore.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return err
		}
		note(e.Content, e.Version)
	}
	for _, n := range w.nodes {
		note(n.Entry.Content, n.Seq)
		if n.derivedVersion != nil {
			n.derivedVersion = nil
		}
	}
	w.traceDerived(sel, known)
	return nil
}

// derivationTrace records, version by version, which text selected and derived versions have left in the memory.
type derivationTrace struct {
	selection *Selection
	// number of the change in which each gram first occurred (nil in the first pass)
	firstChangeByGram   map[lineage.Gram]uint64
	firstVersionsByName map[string]*versionNode // for each name, the first selected or derived version
	// Grams that selected and derived versions wrote, each with its version.
	writersByGram map[lineage.Gram]*versionNode
	sharedGrams   map[lineage.Gram]bool // grams in writersByGram that later versions contain
}

// traceDerived sets the field derivation of all derived versions. The result contains the grams that derived versions
// have in common with their sources.
func (w *revertWindow) traceDerived(sel *Selection, firstOccurrence map[lineage.Gram]uint64) map[lineage.Gram]bool {
	t := &derivationTrace{
		sel,
		firstOccurrence,
		map[string]*versionNode{},
		map[lineage.Gram]*versionNode{},
		map[lineage.Gram]bool{},
	}
	for from := 0; from < len(w.nodes); {
		to := from
		for to < len(w.nodes) && w.nodes[to].Seq == w.nodes[from].Seq {
			to++
		}
		t.traceVersions(w.nodes[from:to])
		from = to
	}
	return t.sharedGrams
}

// traceVersions examines the versions of one change.
func (t *derivationTrace) traceVersions(nodes []*versionNode) {
	for _, n := range nodes {
		if n.isSelectedOrDerived() || n.isUndone {
			continue
		}
		from, how := t.findDerivationCause(n)
		t.markDerived(n, from, how)
	}
	t.markMerges(nodes)
	for _, n := range nodes {
		t.recordVersionText(n)
	}
}

func (t *derivationTrace) markDerived(n *versionNode, from, how string) {
	if from != "" {
		n.derivedVersion = &DerivedVersion{
			Name:       n.Entry.Name,
			Seq:        n.Seq,
			SourceName: from,
			FoundBy:    how,
			Source:     n.Source,
		}
	}
}

// recordVersionText records the text that a version has left in the memory.
func (t *derivationTrace) recordVersionText(n *versionNode) {
	name := n.Entry.Name
	switch {
	case !n.isSelectedOrDerived() && n.isUndone:
		if first := t.firstVersionsByName[name]; first != nil && first.isUndone {
			delete(t.firstVersionsByName, name)
		}
	case !n.isSelectedOrDerived():
		if n.Verb == oxbow.VerbRemove {
			delete(t.firstVersionsByName, name)
		}
	default:
		if t.firstVersionsByName[name] == nil {
			t.firstVersionsByName[name] = n
		}
		for _, g := range addedGrams(n) {
			if _, ok := t.writersByGram[g]; !ok {
				t.writersByGram[g] = n
			}
		}
	}
}

// addedGrams returns the grams that the version contains and the previous version of the entry does not.
func addedGrams(n *versionNode) []lineage.Gram {
	if n.previous == nil || n.Verb == oxbow.VerbRemove {
		return lineage.HashGrams(n.Entry.Content)
	}
	if n.previous.Content == n.Entry.Content {
		return nil
	}
	old := map[lineage.Gram]bool{}
	for _, g := range lineage.HashGrams(n.previous.Content) {
		old[g] = true
	}
	return slices.DeleteFunc(lineage.HashGrams(n.Entry.Content), func(g lineage.Gram) bool { return old[g] })
}

// findDerivationCause returns the source from which a version was derived, and how this was recognized. Both are ""
// if the version is not derived.
func (t *derivationTrace) findDerivationCause(n *versionNode) (from, how string) {
	if n.Verb == oxbow.VerbRemove || n.isRestore() {
		return "", ""
	}
	from = t.sourceFromLabels(n)
	if from != "" {
		return from, lineage.ByLabel
	}
	from = t.sourceFromText(n)
	if from != "" {
		return from, lineage.ByWords
	}
	return "", ""
}

// sourceFromLabels returns a selected or derived source that a new label of the version names, or "".
func (t *derivationTrace) sourceFromLabels(n *versionNode) string {
	for _, v := range n.Entry.Values(lineage.SourceLabel) {
		if n.previous != nil && slices.Contains(n.previous.Values(lineage.SourceLabel), v) {
			continue
		}
		if t.namesSelectedOrDerived(v) || t.selection.namesSource(v) {
			return v
		}
	}
	return ""
}

// namesSource reports whether a source label names something outside the memory that is selected.
func (sel *Selection) namesSource(label string) bool {
	return sel.SelectsSource != nil && sel.SelectsSource(label)
}

// namesSelectedOrDerived reports whether a source label names a version of an entry that is not older than the entry's
// first selected or derived version.
func (t *derivationTrace) namesSelectedOrDerived(source string) bool {
	name, seq, ok := lineage.ParseSource(source)
	first := t.firstVersionsByName[name]
	return ok && first != nil && first.Seq <= seq
}

// sourceFromText returns the selected or derived version from which the new text of n was copied, or "". It records the
// grams that both have in common.
func (t *derivationTrace) sourceFromText(n *versionNode) (from string) {
	if n.previous != nil && n.previous.Content == n.Entry.Content {
		return ""
	}
	for _, g := range lineage.HashGrams(n.Entry.Content) {
		s := t.writersByGram[g]
		if s == nil {
			continue
		}
		t.sharedGrams[g] = true
		if from == "" && t.isGramNewSince(g, s.Seq) {
			from = lineage.FormatSource(s.Entry.Name, s.Seq)
		}
	}
	return from
}

// isGramNewSince reports whether a gram first occurred in the change with number seq, or later. In the first pass,
// this is not known, and isGramNewSince returns true.
func (t *derivationTrace) isGramNewSince(g lineage.Gram, seq uint64) bool {
	if t.firstChangeByGram == nil {
		return true
	}
	first, ok := t.firstChangeByGram[g]
	return ok && first >= seq
}

// markMerges marks versions that were derived by a merge of entries. In a merge, an entry is removed, and its name
// becomes an alias of another entry in the same change. If either version contains text of a selected or derived
// version, both count as derived.
func (t *derivationTrace) markMerges(nodes []*versionNode) {
	gone := map[string]*versionNode{}
	for _, n := range nodes {
		if n.Verb != oxbow.VerbRemove || n.isRestore() {
			continue
		}
		if !n.isSelected && !n.isUndone {
			gone[n.Entry.Name] = n
		}
	}
	if len(gone) == 0 {
		return
	}
	for _, n := range nodes {
		if n.Verb == oxbow.VerbRemove || n.isSelected {
			continue
		}
		parts, from := []*versionNode{n}, t.firstVersionsByName[n.Entry.Name]
		for _, a := range n.Entry.Aliases {
			if o := gone[a]; o != nil {
				parts, from = append(parts, o), cmp.Or(from, t.firstVersionsByName[a])
			}
		}
		if from == nil || len(parts) == 1 {
			continue
		}
		for _, o := range parts {
			t.markDerived(o, lineage.FormatSource(from.Entry.Name, from.Seq), lineage.ByMerge)
		}
	}
}

// revertNotePrefix begins the note of a change that is a revert.
const revertNotePrefix = "revert of "
