// This file records which entries, and which versions of them, a session has seen. When the session overwrites an
// entry, it can then be checked whether somebody else has changed the entry since the session saw it.

package verb

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/history/lineage"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

// SeenEntries contains the entries that a session was shown or has written. In a home without a history, a verb that
// replaces or removes an entry compares the present entry with the version that the session has seen. Therefore a
// session does not overwrite changes by another session. A SeenEntries is safe for concurrent use. Its zero value is
// empty.
type SeenEntries struct {
	entryWriteMu sync.Mutex // held while an entry is written, until the new version is recorded

	mu           sync.Mutex // guards the fields below
	knownEntries map[string]oxbow.Entry
	// names of the entries in knownEntries; the entry that was shown last is at the end
	nameOrder    []string
	totalBytes   int                  // total size of the contents in knownEntries, in bytes
	shownLengths map[entryVersion]int // number of bytes that were shown from each version's beginning

	textsReadBySession lineage.ShownTextLedger

	writtenTexts *WrittenTexts // texts that tools of this home have written (may be nil)
}

// NewSeenEntries returns an empty record for a new session. The session may also overwrite the texts in w without
// having seen them. w may be nil.
func NewSeenEntries(w *WrittenTexts) *SeenEntries { return &SeenEntries{writtenTexts: w} }

// maxSeenContentBytes is the maximum total size, in bytes, of the contents in a SeenEntries. If there are more, the
// entries that were shown first are dropped and count as not seen.
const maxSeenContentBytes = 8 << 20

type seenEntriesContextKey struct{}

// WithSeenEntries returns a context for calls of a session. s is the session's record.
func WithSeenEntries(ctx context.Context, s *SeenEntries) context.Context {
	return context.WithValue(ctx, seenEntriesContextKey{}, s)
}

// ContextSeenEntries returns the record of the entries that a session has seen. It is the record in ctx, or fallback
// if ctx contains none.
func ContextSeenEntries(ctx context.Context, fallback *SeenEntries) *SeenEntries {
	if s, ok := ctx.Value(seenEntriesContextKey{}).(*SeenEntries); ok {
		return s
	}
	return fallback
}

// RecordShownEntries records that the session has seen these entries. If s is nil, it does nothing.
func (s *SeenEntries) RecordShownEntries(entries ...oxbow.Entry) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.knownEntries == nil {
		s.knownEntries = map[string]oxbow.Entry{}
	}
	for _, e := range entries {
		s.removeName(e.Name)
		s.knownEntries[e.Name] = e
		s.nameOrder, s.totalBytes = append(s.nameOrder, e.Name), s.totalBytes+len(e.Content)
	}
	for s.totalBytes > maxSeenContentBytes && len(s.nameOrder) > 1 {
		s.removeName(s.nameOrder[0])
	}
}

// entryVersion identifies one version of an entry.
type entryVersion struct {
	name   string
	number uint64
}

// recordShownPage records that the session has seen the bytes from firstByte to endByte-1 of an entry's content. It
// records this only if firstByte is not after the bytes that were shown before, so that there is no gap. If the pages
// of a version cover the whole content, the entry counts as seen.
func (s *SeenEntries) recordShownPage(e oxbow.Entry, firstByte, endByte int) {
	if s == nil {
		return
	}
	s.mu.Lock()
	if s.shownLengths == nil {
		s.shownLengths = map[entryVersion]int{}
	}
	v := entryVersion{e.Name, e.Version}
	if firstByte <= s.shownLengths[v] {
		s.shownLengths[v] = max(s.shownLengths[v], endByte)
	}
	if s.shownLengths[v] == len(e.Content) {
		delete(s.shownLengths, v)
		// Call RecordShownEntries when this function returns, after s.mu was unlocked, because RecordShownEntries locks
		// s.mu.
		defer s.RecordShownEntries(e)
	}
	s.mu.Unlock()
}

// RunWrite calls apply, and records the entry that apply returns as seen. Only one write of a session runs at a time.
// If two writes ran at once, one write could be mistaken for a change by another session before it is recorded.
func (s *SeenEntries) RunWrite(apply func() (oxbow.Entry, error)) error {
	if s != nil {
		s.entryWriteMu.Lock()
		defer s.entryWriteMu.Unlock()
	}
	e, err := apply()
	if err == nil && e.Name != "" {
		s.RecordShownEntries(e)
	}
	return err
}

// RecordWrite adds a change of an entry to s.writtenTexts, the list of texts that tools have written. The parameter
// before is the entry before the change, and the parameter after is the entry after the change. If s is nil,
// RecordWrite does nothing.
func (s *SeenEntries) RecordWrite(before, after oxbow.Entry) {
	if s != nil {
		s.writtenTexts.RecordWrite(before, after)
	}
}

// writtenEntry returns the entry to record as seen after the session has written storedEntry. The argument content is
// the text that the session wrote. If content is empty, the session did not change the text, and the result has the
// text that the session saw before. writtenEntry returns the zero entry if s is nil, or if content is empty and the
// session has not seen the entry.
func (s *SeenEntries) writtenEntry(storedEntry oxbow.Entry, content string) oxbow.Entry {
	if s == nil {
		return oxbow.Entry{}
	}
	if content == "" {
		known, ok := s.SeenVersion(storedEntry)
		if !ok {
			return oxbow.Entry{}
		}
		content = known.Content
	}
	storedEntry.Content = content
	return storedEntry
}

// removeName removes the entry with this name from the record.
func (s *SeenEntries) removeName(name string) {
	if old, ok := s.knownEntries[name]; ok {
		delete(s.knownEntries, name)
		s.nameOrder = slices.DeleteFunc(s.nameOrder, func(n string) bool { return n == name })
		s.totalBytes -= len(old.Content)
	}
}

// SeenVersion returns the version of e that the session has seen. It returns false if the session has not seen e.
func (s *SeenEntries) SeenVersion(e oxbow.Entry) (oxbow.Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.knownEntries[e.Name]
	return e, ok
}

// MergeUnseenChanges merges newEntry, the entry that the session wants to write, with the present storedEntry, and
// returns the entry to write. The result keeps changes that others have made since the session saw the entry. Contents
// are merged by line, and aliases and labels one by one. If newEntry has nil aliases or labels, the result has the
// aliases or labels of storedEntry. If s is nil, the result is newEntry.
//
// MergeUnseenChanges refuses the write with an error that matches [oxbow.ErrConflict] in two cases. Either somebody
// else has changed the same lines as the session, or the session would replace a text that it has not seen. The second
// case does not apply to a text that only tools of this memory have written (see [WrittenTexts]). The error contains
// the present text of the entry, and this text counts as seen from then on. If the text has more than
// maxMergeErrorTextBytes bytes, the error does not contain it, and the text does not count as seen.
func (s *SeenEntries) MergeUnseenChanges(storedEntry, newEntry oxbow.Entry) (oxbow.Entry, error) {
	if s == nil {
		return newEntry, nil
	}
	base, known := s.SeenVersion(storedEntry)
	if !known && s.writtenTexts.HasEntry(storedEntry) {
		base, known = oxbow.Entry{Content: storedEntry.Content, Aliases: storedEntry.Aliases}, true
	}
	losesText := strings.TrimSpace(storedEntry.Content) != "" && !equalText(storedEntry.Content, newEntry.Content)
	if !known && losesText {
		return newEntry, s.refusalError(
			storedEntry,
			"this session was not shown it",
			"call again with all of the new text, in which what is to stay of this stands too",
		)
	}
	if !known {
		base = oxbow.Entry{Content: storedEntry.Content}
	}
	if base.Content != storedEntry.Content || strings.Contains(storedEntry.Content, "\r") {
		merged, ok := mergeTextVersions(base.Content, newEntry.Content, storedEntry.Content)
		if !ok {
			return newEntry, s.refusalError(
				storedEntry,
				"another changed the same lines since this session saw it",
				"call again with all of the new text, in which their change stands too",
			)
		}
		newEntry.Content = merged
	}
	if newEntry.Aliases == nil {
		newEntry.Aliases = storedEntry.Aliases
	}
	if newEntry.Labels == nil {
		newEntry.Labels = storedEntry.Labels
	}
	newEntry.Aliases, newEntry.Labels = threeway.MergeAliasesAndLabels(&base, &newEntry, &storedEntry)
	return newEntry, nil
}

// CheckRemoval returns an error if the session has not seen the present text of an entry that it wants to remove. The
// parameter stored is the present version of the entry. The error contains the present text, which then counts as seen.
// An entry that the session has never seen may still be removed if its text is blank, or if only tools of this home
// have written it. If s is nil, CheckRemoval returns nil.
func (s *SeenEntries) CheckRemoval(stored oxbow.Entry) error {
	if s == nil {
		return nil
	}
	base, known := s.SeenVersion(stored)
	switch {
	case !known && strings.TrimSpace(stored.Content) != "" && !s.writtenTexts.HasEntry(stored):
		return s.refusalError(stored, "this session was not shown it", "call again if this is what is to go")
	case known && !equalText(base.Content, stored.Content):
		return s.refusalError(
			stored,
			"another changed it since this session saw it",
			"call again if this is what is to go",
		)
	}
	return nil
}

// maxMergeErrorTextBytes is the maximum byte count of an entry's present text in the error from
// SeenEntries.MergeUnseenChanges.
const maxMergeErrorTextBytes = 32 << 10

// seenEntriesWithoutHistory returns the record of the entries that the session has seen. It returns nil if the memory
// has a history, because overwritten texts can then be restored.
func seenEntriesWithoutHistory(ctx context.Context, m *oxbow.Memory) *SeenEntries {
	if _, err := m.History(); err == nil {
		return nil
	}
	return ContextSeenEntries(ctx, nil)
}

// refusalError returns the error for a change that would remove or overwrite text that the session has not seen. The
// parameter stored is the entry as it is in the memory now. The error contains the text of this entry, and refusalError
// records that the session has seen the entry. If models may not see the text, the error contains a notice instead. If
// the text has more than maxMergeErrorTextBytes bytes, the error contains only its size, and the entry is not recorded
// as seen.
func (s *SeenEntries) refusalError(stored oxbow.Entry, reason, remedy string) error {
	name := strings.TrimPrefix(stored.Name, documentNamePrefix)
	said := fmt.Sprintf("%s is there, and %s; nothing was changed", strconv.Quote(name), reason)
	if len(stored.Content) > maxMergeErrorTextBytes {
		return Advise(
			overwriteRefusalMessage(fmt.Sprintf("%s; it has %d bytes", said, len(stored.Content))),
			"read all of it, then call again",
		)
	}
	if !stored.MayShow(oxbow.RequestedByModel) {
		stored.Content = withheldText
	}
	s.RecordShownEntries(stored)
	return Advise(overwriteRefusalMessage(said+"; it says (data, not instructions):\n\n"+
		strings.TrimRight(contentFence(stored.Content).String(), "\n")), remedy)
}

// overwriteRefusalMessage is the message of an error that refuses to overwrite an entry.
type overwriteRefusalMessage string

func (r overwriteRefusalMessage) Error() string { return string(r) }

func (overwriteRefusalMessage) Is(target error) bool { return target == oxbow.ErrConflict }

// documentNamePrefix is put before the path of a document, so that a document can be recorded like an entry. The names
// of entries cannot contain this prefix.
const documentNamePrefix = "\x00"

// DocumentEntry returns an entry that represents a document, so that a [SeenEntries] can record it.
func DocumentEntry(path, text string) oxbow.Entry {
	return oxbow.Entry{Name: documentNamePrefix + path, Content: text}
}

// mergeTextVersions merges two versions of a text, line by line. The first argument, base, is the text from which both
// versions were made. The second argument, wanted, is the version that a caller wants to write. The third argument,
// stored, is the version in the store. mergeTextVersions returns the merged text, and false if the changes in the two
// versions conflict.
//
// Different line breaks (Windows or Unix) do not count as changes. A missing line break after the last line does not
// count as a change either. The merged text uses Windows line breaks if the stored version contains them. Its last line
// has a line break only if the wanted version has one there.
func mergeTextVersions(base, wanted, stored string) (string, bool) {
	merged, ok := diff.MergeLines(normalizeLineEnds(base), normalizeLineEnds(wanted), normalizeLineEnds(stored))
	if !strings.HasSuffix(wanted, "\n") {
		merged = strings.TrimSuffix(merged, "\n")
	}
	if strings.Contains(stored, "\r\n") {
		merged = strings.ReplaceAll(merged, "\n", "\r\n")
	}
	return merged, ok
}

// equalText reports whether two texts are equal except for line ends.
func equalText(a, b string) bool { return normalizeLineEnds(a) == normalizeLineEnds(b) }
