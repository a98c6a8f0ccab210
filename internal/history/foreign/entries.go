// This file defines which entries contain foreign text. Foreign text is text by others, or text for which nobody
// vouches. This file also reads these entries.

// Package foreign finds entries whose foreign text is repeated in a new text. Foreign text was written by others, or
// nobody vouches for it.
//
// An index file next to the log contains keys of the entries with foreign text (see [fingerprint.TextKey]). A new text
// must be compared only with the few entries that have a key in common with it. A comparison with all entries would
// have the same result.
package foreign

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// foreignTextReason tells why the text of an entry is foreign.
type foreignTextReason uint64

const (
	reasonTaintedEntry foreignTextReason = iota
	// the entry has the label unvouched, because its author or origin is not trusted
	reasonUnvouched
	// The entry has the label origin, because its source is less trusted than its author.
	reasonLessTrustedSource
	reasonWrittenByOthers // an import or another system wrote the entry
	reasonNone            // None of the reasons above applies, so the text is not foreign.
)

// For each reason why a text counts as foreign, filterTermsByReason contains the search term that finds the entries
// with this reason. If an entry matches several terms, the first one counts.
var filterTermsByReason = []oxbow.Term{
	reasonTaintedEntry:      {Key: "has", Values: []string{oxbow.LabelTaint}},
	reasonUnvouched:         {Key: "has", Values: []string{oxbow.LabelUnvouched}},
	reasonLessTrustedSource: {Key: "has", Values: []string{oxbow.LabelOrigin}},
	reasonWrittenByOthers:   {Key: "by", Values: []string{string(oxbow.Imported), string(oxbow.Foreign)}},
}

func foreignTextReasonOf(e *oxbow.Entry) foreignTextReason {
	for c, term := range filterTermsByReason {
		if (oxbow.Filter{Terms: []oxbow.Term{term}}).Match(e) {
			return foreignTextReason(c)
		}
	}
	return reasonNone
}

// ComparableText returns an entry's content, name and aliases as one text, one after the other on separate lines. Other
// texts are compared with it to find out whether they repeat words of the entry.
func ComparableText(e *oxbow.Entry) string {
	return strings.Join(append([]string{e.Content, e.Name}, e.Aliases...), "\n")
}

// hashEntryOrigin returns a hash of the entry's origin. The origin consists of the trust in the entry, the sources that
// influenced its text (LabelTaint), and the reasons why no person vouches for the text (LabelUnvouched). A text that
// repeats the entry gets the same origin. If a text repeats two entries with the same hash, the second entry therefore
// adds no information.
func hashEntryOrigin(e *oxbow.Entry) uint64 {
	h := fnv.New64a()
	for _, values := range [][]string{
		e.Values(oxbow.LabelTaint),
		e.Values(oxbow.LabelUnvouched),
		{string(e.Trust())},
	} {
		for _, v := range values {
			_, _ = h.Write(append([]byte(v), 0)) // Write never returns an error.
		}
		_, _ = h.Write([]byte{1})
	}
	return h.Sum64()
}

// eachMatchingEntry calls fn for each entry that matches at least one of the terms. It calls fn once for each entry, in
// the order of the terms, until fn returns an error. The argument terms must be filterTermsByReason or its first
// elements.
func eachMatchingEntry(ctx context.Context, store oxbow.Store, terms []oxbow.Term, fn func(*oxbow.Entry) error) error {
	// Terms for which the entries were already read. The next filter contains them in negated form, so that no entry is
	// returned twice.
	var seen []oxbow.Term
	for _, term := range terms {
		f := oxbow.Filter{Terms: append(slices.Clone(seen), term)}
		isKnown := true
		for e, err := range store.Entries(ctx, f) {
			if errors.Is(err, oxbow.ErrUnsupported) || errors.Is(err, oxbow.ErrInvalid) {
				isKnown = false // The store lacks support for labels, so no entry in it has this label.
				break
			}
			if err == nil {
				err = fn(&e)
			}
			if err != nil {
				return err
			}
		}
		if isKnown {
			term.Not = true
			seen = append(seen, term)
		}
	}
	return nil
}
