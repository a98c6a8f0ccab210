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

// VersionSelection says which versions to revert.
type VersionSelection struct {
	// SelectsVersion reports whether a version is selected. In c, only the number, the time, the source and the note
	// of the change are set.
	SelectsVersion func(c *oxbow.Change, v *oxbow.Version) bool

	// SelectsSource reports whether a value of the label [lineage.SourceLabel] names something outside the memory, such
	// as a session's turn, from which all entries are to be reverted. If SelectsSource is nil, only SelectsVersion
	// counts.
	SelectsSource func(value string) bool

	// IncludesCopiedVersions is set if versions that were derived from selected versions are also reverted.
	IncludesCopiedVersions bool
}

// CopiedVersion is a version of an entry that contains text of another version which is to be reverted. The text may
// have been copied through several versions.
type CopiedVersion struct {
	Name string `json:"name"`
	Seq  uint64 `json:"seq"`
	// where the text comes from: an entry's version, as NAME@SEQ, or the name of a session's turn
	SourceName string `json:"from"`
	// how the origin of the text was recognized: "from" (by a label), "merged" (entries were merged) or "words" (by
	// equal words)
	RecognitionMethod string `json:"how"`
	// IsReverted is set if this version is reverted as well.
	IsReverted bool         `json:"taken_back,omitempty"`
	Source     oxbow.Source `json:"-"`
}

// loggedVersion is a version of an entry that was written when the first version to revert was written, or later.
type loggedVersion struct {
	oxbow.Version
	previousEntry  *oxbow.Entry // the entry as it was before this version (nil if the entry did not exist)
	isToBeReverted bool
	derivedVersion *CopiedVersion
	// An undo has reverted this version, or an undo wrote it. In both cases, the version contains no new work that is
	// in the present entry.
	isUndoRelated bool
}

// isRestore reports whether an undo or a revert wrote this version of an entry. Such a version only restores old text,
// so it contains no new work.
func (n *loggedVersion) isRestore() bool {
	return n.Verb == oxbow.VerbRestore || strings.HasPrefix(n.Note, revertNotePrefix)
}

// isToRevert reports whether the version is to be reverted. This is the case if the caller selected the version. If sel
// includes copied versions, it is also the case for a version that contains text copied from a reverted version.
func (n *loggedVersion) isToRevert(sel *VersionSelection) bool {
	return n.isToBeReverted || (n.derivedVersion != nil && sel.IncludesCopiedVersions)
}

// isAffectedByRevert reports whether the caller selected the version n for the revert, or n contains text of a selected
// version. A version of the second kind is reverted only if the selection includes copied versions.
func (n *loggedVersion) isAffectedByRevert() bool {
	return n.isToBeReverted || n.derivedVersion != nil
}

// revertLogWindow is the part of the log from the first selected version on. Its versions are sorted by age, oldest
// first.
type revertLogWindow struct {
	versions                []*loggedVersion
	storeBeforeFirstVersion oxbow.Store // the memory right before the first version to revert; the caller closes it
	selectedChanges         []uint64    // numbers of the changes with a version that the caller wants to revert
}

// readRevertLogWindow reads a part of the log. The part begins with the oldest change that contains a version selected
// for the revert by sel. It ends with the newest change. readRevertLogWindow also opens the memory in the state before
// the oldest of these changes. It returns nil without an error if sel selects no version.
func readRevertLogWindow(ctx context.Context, h oxbow.Historian, sel *VersionSelection) (*revertLogWindow, error) {
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
	w, undone := &revertLogWindow{}, map[uint64]bool{}
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
			w.markUndoAndUndone(&c, undone)
		}
	}
	slices.Reverse(w.versions)
	slices.Reverse(w.selectedChanges)
	var err error
	w.storeBeforeFirstVersion, err = h.AsOf(ctx, first-1)
	if err != nil {
		return nil, err
	}
	if err := w.setPreviousEntries(ctx); err != nil {
		return nil, errors.Join(err, w.storeBeforeFirstVersion.Close())
	}
	return w, nil
}

// includesRevertsSince reports whether the change c reverts other changes, and all of them have the number
// firstChangeNumber or a higher number.
func includesRevertsSince(c *oxbow.Change, firstChangeNumber uint64) bool {
	return len(c.Reverts) > 0 && slices.Min(c.Reverts) >= firstChangeNumber
}

// hasVersionOf reports whether the change contains a version that is to be reverted.
func (sel *VersionSelection) hasVersionOf(c *oxbow.Change) bool {
	return slices.ContainsFunc(c.Versions, func(v oxbow.Version) bool { return sel.SelectsVersion(c, &v) })
}

// addChange adds all versions in the change c to the window w, except erased versions. It also adds the number of the
// change to w.selectedChanges, if sel selects one of the versions and the map undoRelatedChanges does not contain the
// change. The caller must add the newest change first and the oldest change last. readRevertLogWindow reverses the
// order afterwards.
func (w *revertLogWindow) addChange(c *oxbow.Change, sel *VersionSelection, undoRelatedChanges map[uint64]bool) {
	if sel.hasVersionOf(c) && !undoRelatedChanges[c.Seq] {
		w.selectedChanges = append(w.selectedChanges, c.Seq)
	}
	for _, v := range slices.Backward(c.Versions) {
		if !v.Erased { // Skip an erased version, because its text is not known.
			w.versions = append(
				w.versions,
				&loggedVersion{
					Version:        v,
					isToBeReverted: sel.SelectsVersion(c, &v),
					isUndoRelated:  undoRelatedChanges[c.Seq],
				},
			)
		}
	}
}

// markUndoAndUndone adds the numbers of all changes that the change c undid to the map undone. It also sets
// isUndoRelated for the versions in c. The change c must be an undo, and must be the change that was last added to the
// window w.
func (w *revertLogWindow) markUndoAndUndone(c *oxbow.Change, undone map[uint64]bool) {
	for _, s := range c.Reverts {
		undone[s] = true
	}
	for _, n := range slices.Backward(w.versions) {
		if n.Seq != c.Seq {
			break
		}
		n.isUndoRelated = true
	}
}

// setPreviousEntries sets the field previousEntry of each version. The field then points to the entry as it was right
// before this version, or is nil if the entry did not exist.
func (w *revertLogWindow) setPreviousEntries(ctx context.Context) error {
	now := map[string]*oxbow.Entry{}
	for _, n := range w.versions {
		name := n.Entry.Name
		old, ok := now[name]
		if !ok {
			var err error
			old, err = getEntryOrNil(ctx, w.storeBeforeFirstVersion, name)
			if err != nil {
				return err
			}
		}
		n.previousEntry, now[name] = old, nil
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

// findCopiedVersions finds the versions in w whose text was copied from a version to revert, and sets their field
// derivedVersion.
//
// A later version may have words in common with a version to revert although it was not copied from that version,
// because older entries may contain the same words. Therefore findCopiedVersions must find out in which change these
// words first occurred. For this, it reads all entries that existed before the first version to revert. This is
// expensive, so findCopiedVersions does it only if some versions have words in common.
func (w *revertLogWindow) findCopiedVersions(ctx context.Context, sel *VersionSelection) error {
	shared := w.traceCopiedVersions(sel, nil)
	if len(shared) == 0 {
		return nil
	}
	known := map[lineage.WordGram]uint64{}
	note := func(content string, seq uint64) {
		for _, g := range lineage.HashWordGrams(content) {
			if _, ok := known[g]; !ok && shared[g] {
				known[g] = seq
			}
		}
	}
	for e, err := range w.storeBeforeFirstVersion.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return err
		}
		note(e.Content, e.Version)
	}
	for _, n := range w.versions {
		note(n.Entry.Content, n.Seq)
		if n.derivedVersion != nil {
			n.derivedVersion = nil
		}
	}
	w.traceCopiedVersions(sel, known)
	return nil
}

// copiedTextTracer is used to follow text through the memory. It reads the versions in order. It records the words that
// were written by the versions to revert, and the words that were written by later versions that copied from these
// versions.
type copiedTextTracer struct {
	versionsToRevert *VersionSelection
	// number of the change in which each sequence of six words first occurred (nil while these numbers are not yet
	// known)
	firstChangeByGram map[lineage.WordGram]uint64
	// for each entry name, the first version that is to be reverted or that copied from such a version
	firstAffectedVersionByName map[string]*loggedVersion
	// For each hash of six consecutive words, the version that wrote these words. Only versions to revert and versions
	// that copied from them are contained.
	sourceVersionByWordHash map[lineage.WordGram]*loggedVersion
	// hashes of words in sourceVersionByWordHash that were found again in a version after the version that wrote them
	laterVersionWordHashes map[lineage.WordGram]bool
}

// traceCopiedVersions finds the versions in w that contain text of a version that is to be reverted. It sets the field
// derivedVersion of each version that it finds.
//
// The map firstChangeByGram maps the hash of a few consecutive words to the number of the change that first contained
// these words. Therefore traceCopiedVersions can ignore words that were known before. If the map is nil, all words of a
// version to be reverted count as new. traceCopiedVersions returns the hashes of the words that a version to be
// reverted has in common with a later version.
func (w *revertLogWindow) traceCopiedVersions(
	sel *VersionSelection,
	firstChangeByGram map[lineage.WordGram]uint64,
) map[lineage.WordGram]bool {
	t := &copiedTextTracer{
		sel,
		firstChangeByGram,
		map[string]*loggedVersion{},
		map[lineage.WordGram]*loggedVersion{},
		map[lineage.WordGram]bool{},
	}
	for from := 0; from < len(w.versions); {
		to := from
		for to < len(w.versions) && w.versions[to].Seq == w.versions[from].Seq {
			to++
		}
		t.traceCopiesInVersions(w.versions[from:to])
		from = to
	}
	return t.laterVersionWordHashes
}

// traceCopiesInVersions finds the versions in one change that contain text from a version to revert, because the text
// was copied or merged. It marks these versions. It then records the texts of all versions in the change, so that
// copies in later changes are found.
func (t *copiedTextTracer) traceCopiesInVersions(nodes []*loggedVersion) {
	for _, n := range nodes {
		if n.isAffectedByRevert() || n.isUndoRelated {
			continue
		}
		from, how := t.findCopySource(n)
		t.markAsCopied(n, from, how)
	}
	t.markMerges(nodes)
	for _, n := range nodes {
		t.recordVersionText(n)
	}
}

func (t *copiedTextTracer) markAsCopied(n *loggedVersion, sourceName, recognitionMethod string) {
	if sourceName != "" {
		n.derivedVersion = &CopiedVersion{
			Name:              n.Entry.Name,
			Seq:               n.Seq,
			SourceName:        sourceName,
			RecognitionMethod: recognitionMethod,
			Source:            n.Source,
		}
	}
}

// recordVersionText records the words that the version n added, if n is affected by the revert. A version is affected
// if it is to be reverted, or if it contains text of a version that is to be reverted. Later versions with the same
// words may be copies of n.
//
// recordVersionText also maintains firstAffectedVersionByName, which contains the first affected version of each entry.
// If n is not affected, the entry's element is deleted in two cases:
//
//   - An undo wrote or reverted n, and an undo also wrote or reverted the entry's first affected version. The field
//     isUndoRelated shows this.
//   - No undo wrote or reverted n, and n removes the entry.
func (t *copiedTextTracer) recordVersionText(n *loggedVersion) {
	name := n.Entry.Name
	switch {
	case !n.isAffectedByRevert() && n.isUndoRelated:
		if first := t.firstAffectedVersionByName[name]; first != nil && first.isUndoRelated {
			delete(t.firstAffectedVersionByName, name)
		}
	case !n.isAffectedByRevert():
		if n.Verb == oxbow.VerbRemove {
			delete(t.firstAffectedVersionByName, name)
		}
	default:
		if t.firstAffectedVersionByName[name] == nil {
			t.firstAffectedVersionByName[name] = n
		}
		for _, g := range addedWordHashes(n) {
			if _, ok := t.sourceVersionByWordHash[g]; !ok {
				t.sourceVersionByWordHash[g] = n
			}
		}
	}
}

// addedWordHashes returns the hashes of the words that the version n added to the entry: the words that the previous
// version does not contain. If there is no previous version, or if n removes the entry, it returns the hashes of all
// words in the content.
func addedWordHashes(n *loggedVersion) []lineage.WordGram {
	if n.previousEntry == nil || n.Verb == oxbow.VerbRemove {
		return lineage.HashWordGrams(n.Entry.Content)
	}
	if n.previousEntry.Content == n.Entry.Content {
		return nil
	}
	old := map[lineage.WordGram]bool{}
	for _, g := range lineage.HashWordGrams(n.previousEntry.Content) {
		old[g] = true
	}
	return slices.DeleteFunc(lineage.HashWordGrams(n.Entry.Content), func(g lineage.WordGram) bool { return old[g] })
}

// findCopySource returns the source from which a version was derived, and how this was recognized. Both are ""
// if the version is not derived.
func (t *copiedTextTracer) findCopySource(n *loggedVersion) (sourceName, recognitionMethod string) {
	if n.Verb == oxbow.VerbRemove || n.isRestore() {
		return "", ""
	}
	sourceName = t.findSourceInLabels(n)
	if sourceName != "" {
		return sourceName, lineage.FoundByLabel
	}
	sourceName = t.findSourceByText(n)
	if sourceName != "" {
		return sourceName, lineage.FoundByCopiedWords
	}
	return "", ""
}

// findSourceInLabels returns the value of a source label that the version n added to its entry. A source label names
// the text from which a version was made. findSourceInLabels returns a value only if the value names one of these
// sources:
//
//   - a version that is to be reverted
//   - a version that was made from a version that is to be reverted
//   - a source outside the memory that the caller selected, such as a turn
//
// If n added no label with such a value, findSourceInLabels returns "".
func (t *copiedTextTracer) findSourceInLabels(n *loggedVersion) string {
	for _, v := range n.Entry.Values(lineage.SourceLabel) {
		if n.previousEntry != nil && slices.Contains(n.previousEntry.Values(lineage.SourceLabel), v) {
			continue
		}
		if t.isAffectedVersion(v) || t.versionsToRevert.isSelectedSource(v) {
			return v
		}
	}
	return ""
}

// isSelectedSource reports whether the caller selected the source with the given label, so that the entries that were
// made from it are to be reverted. The source is outside the memory, such as a turn of a session.
func (sel *VersionSelection) isSelectedSource(label string) bool {
	return sel.SelectsSource != nil && sel.SelectsSource(label)
}

// isAffectedVersion reports whether the version that source names is affected by the revert: it is to be reverted, or
// may contain text of such a version. The argument source has the form NAME@SEQ. The version counts as affected if SEQ
// is not lower than the number of the entry's first affected version. For any other text, the result is false.
func (t *copiedTextTracer) isAffectedVersion(source string) bool {
	name, seq, ok := lineage.ParseSource(source)
	first := t.firstAffectedVersionByName[name]
	return ok && first != nil && first.Seq <= seq
}

// findSourceByText returns the name of the version from which the text of version n was copied. It returns "" if it
// finds no such version, or if n did not change the entry's content. The possible sources are versions that are to be
// reverted, and versions whose text was copied from them. A source is recognized by six consecutive words that also
// occur in n. findSourceByText adds the hashes of all such words to laterVersionWordHashes.
func (t *copiedTextTracer) findSourceByText(n *loggedVersion) (sourceName string) {
	if n.previousEntry != nil && n.previousEntry.Content == n.Entry.Content {
		return ""
	}
	for _, g := range lineage.HashWordGrams(n.Entry.Content) {
		s := t.sourceVersionByWordHash[g]
		if s == nil {
			continue
		}
		t.laterVersionWordHashes[g] = true
		if sourceName == "" && t.areWordsNewSince(g, s.Seq) {
			sourceName = lineage.FormatSource(s.Entry.Name, s.Seq)
		}
	}
	return sourceName
}

// areWordsNewSince reports whether the six consecutive words with the hash wordHash first occurred in the memory in
// change number changeNumber or later. If these words never occurred, it returns false. If t.firstChangeByGram is nil,
// the first occurrences were not determined, and areWordsNewSince returns true.
func (t *copiedTextTracer) areWordsNewSince(wordHash lineage.WordGram, changeNumber uint64) bool {
	if t.firstChangeByGram == nil {
		return true
	}
	first, ok := t.firstChangeByGram[wordHash]
	return ok && first >= changeNumber
}

// markMerges finds merges in the versions of one change, which are passed in nodes. In a merge, one or more entries are
// removed, and their names become aliases of another entry. If an entry in a merge contains text of a version that will
// be reverted, this text may now be in the merged entry. In this case, markMerges marks the new versions of all entries
// in the merge as copied from the reverted version.
func (t *copiedTextTracer) markMerges(nodes []*loggedVersion) {
	gone := map[string]*loggedVersion{}
	for _, n := range nodes {
		if n.Verb != oxbow.VerbRemove || n.isRestore() {
			continue
		}
		if !n.isToBeReverted && !n.isUndoRelated {
			gone[n.Entry.Name] = n
		}
	}
	if len(gone) == 0 {
		return
	}
	for _, n := range nodes {
		if n.Verb == oxbow.VerbRemove || n.isToBeReverted {
			continue
		}
		parts, from := []*loggedVersion{n}, t.firstAffectedVersionByName[n.Entry.Name]
		for _, a := range n.Entry.Aliases {
			if o := gone[a]; o != nil {
				parts, from = append(parts, o), cmp.Or(from, t.firstAffectedVersionByName[a])
			}
		}
		if from == nil || len(parts) == 1 {
			continue
		}
		for _, o := range parts {
			t.markAsCopied(o, lineage.FormatSource(from.Entry.Name, from.Seq), lineage.FoundByMerge)
		}
	}
}

// revertNotePrefix begins the note of a change that is a revert.
const revertNotePrefix = "revert of "
