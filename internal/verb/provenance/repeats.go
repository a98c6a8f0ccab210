// This file finds foreign text that a change repeats. Foreign text is text that sessions of the home have read, and
// text from entries for which nobody vouches.

package provenance

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/history/foreign"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// repeatedForeignTexts lists the texts by others that a change of the memory repeats word for word.
type repeatedForeignTexts struct {
	// names of the calls that returned the repeated text, or the taints (labels that name such calls) of the entry with
	// the repeated text
	foreignTextSources   []string
	unvouchedSources     []string
	repeatsImportedEntry bool // the change of the memory repeats an entry that was imported
}

func (r *repeatedForeignTexts) hasRepeats() bool {
	return len(r.foreignTextSources)+len(r.unvouchedSources) > 0 || r.repeatsImportedEntry
}

func (r *repeatedForeignTexts) addSources(newForeignSources, newUnvouchedSources []string) {
	r.foreignTextSources, r.unvouchedSources = appendMissing(
		r.foreignTextSources,
		newForeignSources,
	), appendMissing(
		r.unvouchedSources,
		newUnvouchedSources,
	)
}

func appendMissing(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// labelKeyIfMultiWord returns a list with the key of the label l if the key has several words, because such a key may
// contain a sentence. It returns nil for a single word and for the keys in originRecordLabelKeys.
func labelKeyIfMultiWord(l oxbow.Label) []string {
	if strings.ContainsAny(l.Key, "-_") && !slices.Contains(originRecordLabelKeys, l.Key) {
		return []string{l.Key}
	}
	return nil
}

// textBeforeAndAfter returns the text that the op writes, and the text of the entry before the op. The text
// previousText has lines with the content, the name, the aliases and the label values of oldEntry. The text writtenText
// has the same lines, as far as the op contains them. If the op only changes labels, it contains only the values of new
// labels.
//
// Labels with which programs record where an entry comes from are omitted. If others may have written the text of
// oldEntry (it is tainted), or if nobody vouches for it, previousText is empty.
func textBeforeAndAfter(op oxbow.Op, oldEntry oxbow.Entry) (writtenText, previousText string) {
	join := func(name, content string, aliases []string, labels []oxbow.Label) string {
		lines := append([]string{content, name}, aliases...)
		for _, l := range labels {
			if !slices.Contains(originRecordLabelKeys, l.Key) {
				lines = append(lines, l.Value)
				lines = append(lines, labelKeyIfMultiWord(l)...)
			}
		}
		return strings.Join(lines, "\n")
	}
	if !isTaintedOrUnvouched(
		&oldEntry,
	// If the old text may come from others, leave previousText empty. Then a change that writes the same text again
	// counts as a repetition of their text.
	) {
		previousText = join(oldEntry.Name, oldEntry.Content, oldEntry.Aliases, oldEntry.Labels)
	}
	switch o := op.(type) {
	case oxbow.Add:
		writtenText = join(o.Name, o.Content, o.Aliases, o.Labels)
	case oxbow.Update:
		writtenText = join("", o.Content, o.Aliases, o.Labels)
	// Relabel lists all labels of the entry. Use only new labels, because an unchanged label, as in an approval, does
	// not repeat text.
	case oxbow.Relabel:
		added := slices.DeleteFunc(slices.Clone(o.Labels), func(l oxbow.Label) bool {
			return slices.Contains(oldEntry.Labels, l)
		})
		writtenText = join("", "", nil, added)
	case oxbow.Alias:
		writtenText = join("", "", o.Aliases, nil)
	}
	return writtenText, previousText
}

// originRecordLabelKeys are the keys of labels with which programs record a text's origin. The values of such labels
// do not count as text that a change writes.
var originRecordLabelKeys = []string{oxbow.LabelTaint, oxbow.LabelSuspect, oxbow.LabelQuarantine, oxbow.LabelOrigin,
	oxbow.LabelVerified, oxbow.LabelUnvouched, "from", "import", "import-id", "import-sum"}

func isTaintedOrUnvouched(e *oxbow.Entry) bool {
	return slices.ContainsFunc(e.Labels, func(l oxbow.Label) bool {
		return l.Key == oxbow.LabelTaint || l.Key == oxbow.LabelUnvouched
	})
}

// findRepeats returns, for each change in ops, the foreign texts that its new text repeats word for word. Foreign texts
// are texts that sessions have read, and texts of entries that cannot be trusted, because others wrote them or nobody
// vouches for them.
//
// If areChangesUnvouched is set, the caller distrusts all changes anyway. In this case, findRepeats skips entries that
// are not tainted. A tainted entry contains text by others that no person has approved.
func findRepeats(
	ctx context.Context,
	store oxbow.Store,
	ops []oxbow.Op,
	provenanceData verb.ProvenanceData,
	areChangesUnvouched bool,
) []repeatedForeignTexts {
	c := foreignRepeatFinder{
		entryNames:           make([]string, len(ops)),
		newTexts:             make([]string, len(ops)),
		replacedTexts:        make([]string, len(ops)),
		foreignRepeatsByText: make([]repeatedForeignTexts, len(ops)),
	}
	staged := newEntriesAfterChanges(len(ops))
	for i, op := range ops {
		name := op.Target()
		old, ok := staged.findByName(name)
		if _, adds := op.(oxbow.Add); !ok && !adds {
			old, _ = store.Get(ctx, name) // ignore the error, because the store will report it
		}
		c.entryNames[i] = name
		c.newTexts[i], c.replacedTexts[i] = textBeforeAndAfter(op, old)
		staged.setEntry(name, op.ApplyTo(old))
	}
	c.findRepeatsOfSessionTexts(provenanceData)
	c.areChangesUnvouched = areChangesUnvouched
	c.findInEntries(ctx, store, provenanceData)
	return c.foreignRepeatsByText
}

// foreignRepeatFinder compares the new texts of changes with texts that others wrote. It finds the foreign texts that
// the new texts repeat word for word.
type foreignRepeatFinder struct {
	entryNames              []string // for each text, the name of its entry (or "")
	newTexts, replacedTexts []string
	foreignRepeatsByText    []repeatedForeignTexts
	areChangesUnvouched     bool // nobody vouches for the changes: even a text without repetitions is untrusted
}

// findRepeatsOfSessionTexts finds repetitions of texts that sessions have read.
func (c *foreignRepeatFinder) findRepeatsOfSessionTexts(k verb.ProvenanceData) {
	if k.Fingerprints == nil {
		return
	}
	for i, m := range k.Fingerprints.FindRepeats(c.newTexts, c.replacedTexts) {
		c.foreignRepeatsByText[i].addSources(m.ForeignTextLabels, m.UnknownAuthorLabels)
	}
}

// unvouchedReasonNotCompared is a value of the label with the key "unvouched". An entry gets this label if its text
// could not be compared with all unvouched entries. This happens if the memory is damaged. It also happens if the
// memory is not stored in oxbow's log and contains so many unvouched entries that comparing them would take too long.
const unvouchedReasonNotCompared = "not-compared"

// findInEntries finds the entries by untrusted authors whose text is repeated by a new text in c.newTexts. These are
// tainted entries (written after an agent had read text by others), unvouched entries (nobody vouches for their text)
// and imported entries. findInEntries records the repetitions of each new text in c.foreignRepeatsByText. If the texts
// cannot be compared with the entries, for example because the memory is damaged, every text that is not blank is
// recorded as unvouched. findInEntries returns no error, because damage must not prevent changes of the memory.
func (c *foreignRepeatFinder) findInEntries(ctx context.Context, store oxbow.Store, k verb.ProvenanceData) {
	texts := foreign.Texts{
		EntryNames:                 c.entryNames,
		Texts:                      c.newTexts,
		IgnoredTexts:               c.replacedTexts,
		ComparesOnlyTaintedEntries: c.areChangesUnvouched,
	}
	add := func(e *oxbow.Entry, i int) {
		c.foreignRepeatsByText[i].addSources(e.Values(oxbow.LabelTaint), e.Values(oxbow.LabelUnvouched))
		c.foreignRepeatsByText[i].repeatsImportedEntry = c.foreignRepeatsByText[i].repeatsImportedEntry ||
			e.Trust() == oxbow.TrustImported
	}
	err := foreign.ErrTooManyEntries
	if tainted := verb.ContextTaintedEntries(ctx); tainted != nil && c.areChangesUnvouched {
		err = findRepeatsOfTaintedEntries(ctx, store, k.ComparisonMemory, tainted, &texts, add)
	}
	if errors.Is(err, foreign.ErrTooManyEntries) {
		err = k.ComparisonMemory.CallWithReadOnlyStore(store, func(store oxbow.Store, index *foreign.Index) error {
			return index.EachRepeatedEntry(ctx, store, k.Memory, &texts, add)
		})
	}
	if err == nil {
		return
	}
	for i, text := range c.newTexts {
		if strings.TrimSpace(text) != "" {
			c.foreignRepeatsByText[i].addSources(nil, []string{unvouchedReasonNotCompared})
		}
	}
}

// findRepeatsOfTaintedEntries calls addRepeat for each tainted entry that one of the texts repeats, with the index i of
// this text. A tainted entry contains text by other authors that no person has approved. If taintedEntries does not
// contain these entries yet, they are read from the memory and kept there for later calls.
//
// If there are too many tainted entries, the error matches foreign.ErrTooManyEntries. The caller must then search an
// index of the texts for the repeats, which is faster in this case.
func findRepeatsOfTaintedEntries(
	ctx context.Context,
	store oxbow.Store,
	comparisonMemory *verb.ReadOnlyMemory,
	taintedEntries *verb.TaintedEntries,
	texts *foreign.Texts,
	addRepeat func(e *oxbow.Entry, i int),
) error {
	read := func(keep func(*oxbow.Entry) error) error {
		// close the second memory reader now, because it needs memory for all entries, and this run will probably not
		// use it again
		defer comparisonMemory.Close()
		return comparisonMemory.CallWithReadOnlyStore(store, func(store oxbow.Store, _ *foreign.Index) error {
			return foreign.EachTaintedEntry(ctx, store, keep)
		})
	}
	return texts.EachRepeatedEntryIn(
		func(compare func(*oxbow.Entry) error) error { return taintedEntries.Each(read, compare) },
		addRepeat,
	)
}

// recordPersonTexts records that the texts in a person's changes are the person's own, even if they repeat foreign
// text. If a person approves an entry, its text also becomes the person's own. Errors are ignored. If recording fails,
// the text counts as a repetition of foreign text until the foreign text's fingerprint expires after 14 days.
func recordPersonTexts(ctx context.Context, store oxbow.Store, ops []oxbow.Op, provenanceData verb.ProvenanceData) {
	if provenanceData.Fingerprints == nil {
		return
	}
	var texts []string
	for _, op := range ops {
		s, _ := textBeforeAndAfter(op, oxbow.Entry{})
		if o, ok := op.(oxbow.Relabel); ok && !isTaintedOrUnvouched(&oxbow.Entry{Labels: o.Labels}) {
			if old, err := store.Get(ctx, o.Name); err == nil &&
				// A Relabel that removes the labels taint and unvouched approves the entry. Examine the entry's text
				// as if the op wrote it.
				isTaintedOrUnvouched(&old) {
				s += "\n" + old.Content
			}
		}
		if strings.TrimSpace(s) != "" {
			texts = append(texts, s)
		}
	}
	_ = provenanceData.Fingerprints.AcceptMatchedWords(provenanceData.Fingerprints.FindRepeats(texts, nil)...)
}
