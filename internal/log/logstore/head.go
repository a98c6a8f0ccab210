// This file encodes heads. A head is the part of an entry that is in the snapshot, so that it can be read without the
// entry's record.

package logstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/store"
)

// errUnusableSnapshot is returned if the snapshot cannot be used. The log is then read instead.
var errUnusableSnapshot = errors.New("the snapshot cannot be used")

// snapshotLabelKeys are the keys of the labels that a snapshot contains. Profiles select and rank by these labels, and
// each has few values.
var snapshotLabelKeys = []string{store.LabelConfidence, "covered", store.LabelOrigin, "pinned", "process", "profile",
	store.LabelProject, store.LabelQuarantine, store.LabelSuspect, store.LabelTag, store.LabelTaint,
	store.LabelUnvouched}

// encodeLabelSet encodes an entry's kind and its labels whose keys are in snapshotLabelKeys. Many entries have the same
// kind and labels, and therefore the same encoding. The encoding is the kind (1 byte), then each label's key and value.
// Each key and each value is preceded by its length (uvarint).
func encodeLabelSet(e *store.Entry) string {
	b := []byte{byte(e.Kind)}
	for _, l := range e.Labels {
		if slices.Contains(snapshotLabelKeys, l.Key) {
			b = keydir.AppendLengthAndText(keydir.AppendLengthAndText(b, l.Key), l.Value)
		}
	}
	return string(b)
}

// cutLengthPrefixedText returns the length-prefixed text at the start of b, and the remaining bytes.
func cutLengthPrefixedText(b []byte) (text string, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return "", nil, errUnusableSnapshot
	}
	return string(b[size : size+int(n)]), b[size+int(n):], nil
}

// encodeNames encodes the names of an entry for a snapshot: the name and the aliases, each after its length (uvarint).
func encodeNames(e *store.Entry) string {
	b := keydir.AppendLengthAndText(nil, e.Name)
	for _, a := range e.Aliases {
		b = keydir.AppendLengthAndText(b, a)
	}
	return string(b)
}

// decodeNames sets the name and the aliases of an entry from a text that encodeNames returned.
func decodeNames(text string, e *store.Entry) error {
	name, text, ok := keydir.CutLengthAndText(text)
	e.Name, e.Aliases = name, nil
	for len(text) > 0 && ok {
		var alias string
		alias, text, ok = keydir.CutLengthAndText(text)
		e.Aliases = append(e.Aliases, alias)
	}
	if !ok {
		return errUnusableSnapshot
	}
	return nil
}

// labelSetTable contains the label sets in a snapshot file, by number. A label set is a kind and labels that entries
// share. A memory with many labels has several hundred thousand label sets. Therefore the labels of a label set are
// decoded only when they are needed.
type labelSetTable struct {
	encoded string // all encoded label sets, each after its length
	// elements of encoded, each without its length; an element is never empty, and its index is the number by which
	// the snapshot refers to the label set
	texts []string
}

// decodeLabelSetTable decodes the section b of a snapshot file, which contains the label sets. A label set is a
// combination of an entry kind and labels that at least one entry has. Entries with the same combination share a label
// set. The error matches errUnusableSnapshot if b is invalid.
func decodeLabelSetTable(b []byte) (t labelSetTable, err error) {
	const typicalSize = 32
	t.texts = make([]string, 0, len(b)/typicalSize)
	t.encoded = string(b)
	for rest := t.encoded; len(rest) > 0; {
		var text string
		var ok bool
		text, rest, ok = keydir.CutLengthAndText(rest)
		if !ok {
			return t, errUnusableSnapshot
		}
		if text == "" || !store.Kind(text[0]).Valid() {
			return t, fmt.Errorf("%w: a form has an unknown kind", errUnusableSnapshot)
		}
		t.texts = append(t.texts, text)
	}
	return t, nil
}

// labelSetKind returns the kind of entry in a text that encodeLabelSet returned.
func labelSetKind(text string) store.Kind { return store.Kind(text[0]) }

// appendLabelSetLabels decodes labels, appends them to the slice labels, and returns the extended slice. The argument
// text is a result of encodeLabelSet, so it begins with a byte for the entry's kind, and the labels follow. If the
// labels cannot be decoded, the error is errUnusableSnapshot.
func appendLabelSetLabels(labels []store.Label, text string) ([]store.Label, error) {
	for rest := text[1:]; len(rest) > 0; {
		var l store.Label
		var hasKey, hasValue bool
		l.Key, rest, hasKey = keydir.CutLengthAndText(rest)
		l.Value, rest, hasValue = keydir.CutLengthAndText(rest)
		if !hasKey || !hasValue {
			return labels, errUnusableSnapshot
		}
		labels = append(labels, l)
	}
	return labels, nil
}

// mayHaveLabelKey reports whether an entry in the snapshot may have a label with any of these keys. It only searches
// for the bytes of the keys, so the result may be true although no entry has such a label.
func (t *labelSetTable) mayHaveLabelKey(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		return strings.Contains(t.encoded, string(keydir.AppendLengthAndText(nil, key)))
	})
}

// labelSetMatcher decides whether a filter selects entries with a certain label set, which is a kind and labels that
// entries share.
type labelSetMatcher struct {
	// kindTerms contains the filter's conditions for the kind of an entry. labelTerms contains the filter's conditions
	// for labels. Conditions that every entry in the snapshot meets are left out of labelTerms, because they need not
	// be checked.
	kindTerms, labelTerms store.Filter
	// Each element belongs to a condition of the filter that requires a label. The condition can be met only if an
	// entry's encoded kind and labels contain one of these texts.
	requiredTexts [][]string
	// A label set that contains none of these texts meets all negated conditions.
	negatedTexts []string
	entry        store.Entry // reused entry into which labels are decoded before they are matched
}

// newMatcher returns a matcher for the conditions of a filter. The conditions must be about the kind or about labels
// that a snapshot contains, so that no entry must be read.
func (t *labelSetTable) newMatcher(terms []store.Term) *labelSetMatcher {
	var m labelSetMatcher
	for _, term := range terms {
		keys := []string{term.Key}
		if term.Key == "has" {
			keys = term.Values
		}
		switch {
		case term.Key == "kind":
			m.kindTerms.Terms = append(m.kindTerms.Terms, term)
		case !term.Not:
			m.labelTerms.Terms = append(m.labelTerms.Terms, term)
			m.requiredTexts = append(m.requiredTexts, requiredLabelTexts(term))
		case t.mayHaveLabelKey(keys...):
			m.labelTerms.Terms = append(m.labelTerms.Terms, term)
			for _, key := range keys {
				m.negatedTexts = append(m.negatedTexts, string(keydir.AppendLengthAndText(nil, key)))
			}
		}
	}
	return &m
}

// requiredLabelTexts returns texts for a condition about labels. The encoded labels of an entry can meet the condition
// only if they contain at least one of these texts.
func requiredLabelTexts(t store.Term) (texts []string) {
	for _, value := range t.Values {
		label := keydir.AppendLengthAndText(nil, t.Key)
		switch {
		case t.Key == "has":
			label = keydir.AppendLengthAndText(nil, value)
		// Search for the key with the value, unless the value is a confidence or contains characters outside ASCII.
		// Such a value may be encoded in several ways that meet the condition, so search only for its key.
		case t.Key != store.LabelConfidence && isASCII(value):
			label = keydir.AppendLengthAndText(label, value)
		}
		texts = append(texts, string(label))
	}
	return texts
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// matchesLabels reports whether a set of labels meets the filter's conditions for labels. The argument labelSetText is
// the set of labels as encoded by encodeLabelSet.
func (m *labelSetMatcher) matchesLabels(labelSetText string) (ok bool, err error) {
	isInText := func(needed string) bool { return strings.Contains(labelSetText, needed) }
	for _, needed := range m.requiredTexts {
		if !slices.ContainsFunc(needed, isInText) {
			return false, nil
		}
	}
	if len(m.requiredTexts) == 0 && !slices.ContainsFunc(m.negatedTexts, isInText) {
		return true, nil
	}
	m.entry.Labels, err = appendLabelSetLabels(m.entry.Labels[:0], labelSetText)
	return err == nil && m.labelTerms.Match(&m.entry), err
}

// selectMatchingSets returns a slice with a bool for each label set in t, which reports whether the filter f selects
// entries with this label set. A label set is a kind and labels that several entries have in common. The terms of f
// must be about the kind, or about labels that a snapshot contains. Times in f are ignored.
func (t *labelSetTable) selectMatchingSets(f store.Filter) (selected []bool, err error) {
	m := t.newMatcher(f.Terms)
	selected = make([]bool, len(t.texts))
	var kind byte // kind of the previous element, which is usually the same, because the texts are sorted by kind
	var selectsKind bool
	for i, text := range t.texts {
		if i == 0 || text[0] != kind {
			kind = text[0]
			selectsKind = m.kindTerms.Match(&store.Entry{Kind: labelSetKind(text)})
		}
		if !selectsKind {
			continue
		}
		selected[i], err = m.matchesLabels(text)
		if err != nil {
			return selected, err
		}
	}
	return selected, nil
}

// isLabelSetTerm reports whether the snapshot alone can decide if an entry meets a filter condition with this key and
// these values. The snapshot contains each entry's kind and its labels whose keys are in snapshotLabelKeys. If the key
// is "has", the values are label keys, and all these keys must be in snapshotLabelKeys.
func isLabelSetTerm(key string, values []string) bool {
	switch key {
	case "kind":
		return true
	case "has":
		return !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(snapshotLabelKeys, v) })
	}
	return slices.Contains(snapshotLabelKeys, key)
}

// snapshotFilterPart returns the part of a filter that can be evaluated with the data in a snapshot, without reading
// entries. The part has only the terms about labels that a snapshot contains. The part has no time limits if a limit of
// the filter is outside the range of the nanoseconds in an int64. isWholeFilter reports whether the part is the whole
// filter.
func snapshotFilterPart(f store.Filter) (part store.Filter, isWholeFilter bool) {
	for _, t := range f.Terms {
		if isLabelSetTerm(t.Key, t.Values) {
			part.Terms = append(part.Terms, t)
		}
	}
	far := func(t time.Time) bool { return !t.IsZero() && isClampedTime(clampedNanoseconds(t)) }
	if !far(f.After) && !far(f.Before) {
		part.After, part.Before = f.After, f.Before
	}
	return part, len(part.Terms) == len(f.Terms) && part.After.Equal(f.After) && part.Before.Equal(f.Before)
}

// IsSnapshotFilter reports whether a snapshot alone can decide which entries a filter selects.
func IsSnapshotFilter(f store.Filter) bool {
	_, isWholeFilter := snapshotFilterPart(f)
	return isWholeFilter
}

// clampedNanoseconds returns a time in nanoseconds since 1970. A time outside the range of int64 becomes the nearest
// value in the range.
func clampedNanoseconds(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// isClampedTime reports whether ns, a result of clampedNanoseconds, may be the nearest possible value for a time
// outside the range of int64.
func isClampedTime(ns int64) bool { return ns == math.MinInt64 || ns == math.MaxInt64 }
