// This file encodes heads. A head is the part of an entry that a snapshot contains,
// so that the entry's record need not be read.

package logstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/store"
)

// errSnapshot is the error of a snapshot that cannot be used. The log is read instead.
var errSnapshot = errors.New("the snapshot cannot be used")

// snapshotLabelKeys are the keys of the labels in a snapshot: those that profiles select and rank by
// and that have few values.
var snapshotLabelKeys = []string{store.LabelConfidence, "covered", store.LabelOrigin, "pinned", "process", "profile",
	store.LabelProject, store.LabelQuarantine, store.LabelSuspect, store.LabelTag, store.LabelTaint,
	store.LabelUnvouched}

// A entryForm is a kind and a set of labels with snapshotLabelKeys, which many entries share.
type entryForm struct {
	text   string // encoded form in a snapshot
	kind   store.Kind
	labels []store.Label
}

// encodeForm returns the encoded form of an entry: the kind (1 byte), then each label's
// key and value, each preceded by its length (uvarint).
func encodeForm(e *store.Entry) string {
	b := []byte{byte(e.Kind)}
	for _, l := range e.Labels {
		if slices.Contains(snapshotLabelKeys, l.Key) {
			b = keydir.AppendText(keydir.AppendText(b, l.Key), l.Value)
		}
	}
	return string(b)
}

// cutPrefixedText returns the text at the start of b, and the remaining bytes.
func cutPrefixedText(b []byte) (text string, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return "", nil, errSnapshot
	}
	return string(b[size : size+int(n)]), b[size+int(n):], nil
}

// encodeNames returns the text of an entry in a snapshot: the name and the aliases, each after
// its length (uvarint).
func encodeNames(e *store.Entry) string {
	b := keydir.AppendText(nil, e.Name)
	for _, a := range e.Aliases {
		b = keydir.AppendText(b, a)
	}
	return string(b)
}

// decodeNames sets the name and aliases of an entry from its text in a snapshot.
func decodeNames(text string, e *store.Entry) error {
	name, text, ok := keydir.CutText(text)
	e.Name, e.Aliases = name, nil
	for len(text) > 0 && ok {
		var alias string
		alias, text, ok = keydir.CutText(text)
		e.Aliases = append(e.Aliases, alias)
	}
	if !ok {
		return errSnapshot
	}
	return nil
}

// decodeForms decodes section 10 of a snapshot.
func decodeForms(b []byte) (fs []entryForm, err error) {
	for len(b) > 0 {
		var text string
		text, b, err = cutPrefixedText(b)
		if err != nil {
			return nil, err
		}
		f, err := decodeForm(text)
		if err != nil {
			return nil, err
		}
		fs = append(fs, f)
	}
	return fs, nil
}

func decodeForm(text string) (f entryForm, err error) {
	b := []byte(text)
	if len(b) == 0 || !store.Kind(b[0]).Valid() {
		return f, fmt.Errorf("%w: a form has an unknown kind", errSnapshot)
	}
	f.text, f.kind = text, store.Kind(b[0])
	for b = b[1:]; len(b) > 0 && err == nil; {
		var l store.Label
		l.Key, b, err = cutPrefixedText(b)
		if err == nil {
			l.Value, b, err = cutPrefixedText(b)
		}
		f.labels = append(f.labels, l)
	}
	return f, err
}

// isFormTerm reports whether forms contain the labels that a filter term with this key and
// these values selects by.
func isFormTerm(key string, values []string) bool {
	switch key {
	case "kind":
		return true
	case "has":
		return !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(snapshotLabelKeys, v) })
	}
	return slices.Contains(snapshotLabelKeys, key)
}

// headFilter returns the part of a filter that can be evaluated with heads, and whether that is
// the whole filter.
func headFilter(f store.Filter) (part store.Filter, isWhole bool) {
	for _, t := range f.Terms {
		if isFormTerm(t.Key, t.Values) {
			part.Terms = append(part.Terms, t)
		}
	}
	far := func(t time.Time) bool { return !t.IsZero() && isClampedTime(clampedNanoseconds(t)) }
	if !far(f.After) && !far(f.Before) {
		part.After, part.Before = f.After, f.Before
	}
	return part, len(part.Terms) == len(f.Terms) && part.After.Equal(f.After) && part.Before.Equal(f.Before)
}

// clampedNanoseconds returns a time in nanoseconds since 1970, limited to the range of int64.
func clampedNanoseconds(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// isClampedTime reports whether nanoseconds may have limited the time.
func isClampedTime(ns int64) bool { return ns == math.MinInt64 || ns == math.MaxInt64 }
