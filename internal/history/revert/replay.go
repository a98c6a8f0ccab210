// This file computes the state that an entry would have if some of its versions had never been written. It applies all
// other changes again, separately for each part of the entry.

package revert

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

// entryChangeReplay is the state of an entry while a revert computes the entry anew, by applying its changes again
// without the changes to revert.
type entryChangeReplay struct {
	entry *oxbow.Entry // the entry as it would be without the versions to revert (nil if it would not exist)
	// For each text that only reverted versions contain, the entry that the revert would put in place of the version
	// with this text (nil if the entry would not exist).
	replacementByRevertedText map[string]*oxbow.Entry
	textsOfKeptVersions       map[string]bool // texts of the entry's versions that are not reverted
	revertedVersionNumbers    []uint64        // numbers of the reverted versions
	// versions after the first reverted version, without the reverted versions
	versionsToReapply []*loggedVersion
}

// replayUnrevertedVersions computes an entry as if some of its versions had never been written. The parameter
// initialEntry is the state of the entry before the first version in the list versions, or nil if the entry did not
// exist. replayUnrevertedVersions begins with this state and applies the change of each version in the list. It skips
// the versions that are to be reverted, and the versions that an undo has already reverted. The field entry of the
// result is the computed entry.
func replayUnrevertedVersions(
	initialEntry *oxbow.Entry,
	versions []*loggedVersion,
	sel *VersionSelection,
) *entryChangeReplay {
	r := &entryChangeReplay{
		entry:                     initialEntry,
		replacementByRevertedText: map[string]*oxbow.Entry{},
		textsOfKeptVersions:       map[string]bool{},
	}
	if initialEntry != nil {
		r.textsOfKeptVersions[initialEntry.Content] = true
	}
	for _, n := range versions {
		content := n.Entry.Content
		switch {
		case n.isUndoRelated:
			continue
		case n.isToRevert(sel):
			r.revertedVersionNumbers = append(r.revertedVersionNumbers, n.Seq)
			if n.Verb != oxbow.VerbRemove && !r.hadContent(content) {
				r.replacementByRevertedText[content] = r.entry
			}
			continue
		case n.Verb == oxbow.VerbRemove:
			r.entry = nil
		default:
			r.entry = r.reapplyChange(n)
			if !n.isRestore() {
				r.textsOfKeptVersions[content] = true
				delete(r.replacementByRevertedText, content)
			}
		}
		if len(r.revertedVersionNumbers) > 0 {
			r.versionsToReapply = append(r.versionsToReapply, n)
		}
	}
	return r
}

// hadContent reports whether an earlier version of the entry had the content.
func (r *entryChangeReplay) hadContent(content string) bool {
	_, isBad := r.replacementByRevertedText[content]
	return isBad || r.textsOfKeptVersions[content]
}

// reapplyChange applies the change that the version n made to r.entry. r.entry is the entry as it would be without the
// reverted versions. The change is the difference between n.previousEntry and n.Entry. reapplyChange returns the
// resulting entry, or nil if the entry would not exist. It modifies only the parts of the entry that the change
// modified.
//
// The change may have restored a text that only reverted versions contain. In this case, reapplyChange uses the entry
// that r.replacementByRevertedText contains for this text.
func (r *entryChangeReplay) reapplyChange(n *loggedVersion) *oxbow.Entry {
	old := oxbow.Entry{}
	if n.previousEntry != nil {
		old = *n.previousEntry
	}
	e := oxbow.Entry{Name: n.Entry.Name, Kind: n.Entry.Kind, Created: n.Entry.Created}
	if r.entry != nil {
		e = r.entry.Clone()
	}
	if content, ok := r.contentAfterChange(n, old.Content); ok {
		e.Content = content
	} else {
		return nil
	}
	e.Aliases, e.Labels = threeway.MergeAliasesAndLabels(&old, &n.Entry, &e)
	// The merged entry would have too many labels or aliases, so use only the labels and aliases of n.
	if threeway.NewAddOp(&e).Check() != nil {
		e.Aliases, e.Labels = n.Entry.Aliases, n.Entry.Labels
	}
	return &e
}

// contentAfterChange applies the change that version n made to the entry r.entry, and returns the resulting text. The
// parameter previousContent is the entry's text right before version n was written.
//   - If version n did not change the text, the result is the text of r.entry.
//   - If version n restored a text that is now reverted, the result is the text that replaces the reverted text.
//   - If version n edited an existing text, its edit is merged into the text of r.entry.
//   - In all other cases, and if the merge fails, the result is the text of version n.
//
// The result ok is false if the entry would not exist.
func (r *entryChangeReplay) contentAfterChange(n *loggedVersion, previousContent string) (content string, ok bool) {
	content = n.Entry.Content
	if n.previousEntry != nil && content == previousContent {
		if r.entry == nil {
			return "", false
		}
		return r.entry.Content, true
	}
	if n.isRestore() {
		was, ok := r.replacementByRevertedText[content]
		if !ok {
			return content, true
		}
		if was == nil {
			return "", false
		}
		return was.Content, true
	}
	if n.previousEntry == nil || r.entry == nil {
		return content, true
	}
	if merged, ok := diff.MergeLines(previousContent, content, r.entry.Content); ok && merged != "" {
		return merged, true
	}
	return content, true
}

// entryEditOps returns the operations that change one version of an entry into another. The argument from is the
// version before the operations, and the argument to is the version after them. Either may be nil, which means that the
// entry does not exist. The operations fail if the store has another version than from. The result is nil if both
// versions are equal.
func entryEditOps(from, to *oxbow.Entry) []oxbow.Op {
	switch {
	case from == nil && to == nil:
		return nil
	case from == nil:
		return []oxbow.Op{threeway.NewAddOp(to)}
	case to == nil:
		return []oxbow.Op{oxbow.Remove{Name: from.Name, If: from.Version}}
	}
	isSameText := from.Kind == to.Kind && from.Content == to.Content
	if isSameText && slices.Equal(from.Aliases, to.Aliases) && slices.Equal(from.Labels, to.Labels) {
		return nil
	}
	return threeway.NewReplaceVersionOps(from, to)
}

// isPreviousVersionRedacted reports whether the text of the entry version before n was redacted.
func isPreviousVersionRedacted(ctx context.Context, h oxbow.Historian, n *loggedVersion) (bool, error) {
	if n.Prev == 0 {
		return false, nil
	}
	if n.previousEntry != nil && n.previousEntry.Version == n.Prev {
		// The previous version was read, so it is not redacted: the text of a redacted version cannot be read.
		return false, nil
	}
	for v, err := range h.Versions(ctx, n.Entry.Name) {
		if err != nil {
			return false, err
		}
		if v.Seq == n.Prev {
			return v.Erased, nil
		}
	}
	return false, nil
}
