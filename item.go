// This file adapts entries and filters to package ranking.

package oxbow

import (
	"math"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
	"github.com/oxbow-memory/oxbow/store"
)

// rankedEntryItem wraps an entry for package ranking, which indexes and scores it.
type rankedEntryItem struct {
	entry *Entry
	ranking.ItemTextCache
}

func newRankedEntryItem(e *Entry) *rankedEntryItem { return &rankedEntryItem{entry: e} }

// FillText implements [ranking.Item]. Some labels' values are not searchable: confidence, file hashes, kinds of
// personal data, an entry's sources, trust, and for a session's turn the entries that a hook had shown to the model.
func (x *rankedEntryItem) FillText(t *ranking.ItemText) {
	e := x.entry
	// a quarantined entry has no searchable text here, because queries must ignore the entry
	if !e.MayShow(BySearch) {
		*t = ranking.ItemText{ID: e.ID, LabelValues: t.LabelValues[:0], Created: e.Created, Updated: e.Updated}
		return
	}
	*t = ranking.ItemText{
		ID:          e.ID,
		Name:        e.Name,
		Aliases:     e.Aliases,
		LabelValues: t.LabelValues[:0],
		Content:     e.Content,
		Created:     e.Created,
		Updated:     e.Updated,
	}
	for _, l := range e.Labels {
		if l.Key == "session" && t.Session == "" {
			t.Session = l.Value
		}
		isUnsearched := slices.Contains(unsearchedLabelKeys, l.Key) || l.IsPersonal()
		if !isUnsearched && !(e.Kind == History && isShownEntriesKey(l.Key)) {
			t.LabelValues = append(t.LabelValues, l.Value)
		}
	}
}

// Keywords implements [ranking.Item]. The keywords are the values that filters can select
// by.
func (x *rankedEntryItem) Keywords() []string {
	e := x.entry
	ms := make([]string, 0, 3+2*len(e.Labels))
	ms = append(
		ms,
		ranking.KeywordTerm("kind", e.Kind.String()),
		ranking.KeywordTerm("by", string(e.Source.Actor)),
		ranking.KeywordTerm("door", e.Source.Door),
	)
	for _, l := range e.Labels {
		ms = append(ms, ranking.KeywordTerm("has", l.Key))
		if isIndexedAsKeyword(l.Key) {
			ms = append(ms, ranking.KeywordTerm(l.Key, l.Value))
		}
	}
	slices.Sort(ms)
	return slices.Compact(ms)
}

// unsearchedLabelKeys are keys of labels with values that people do not search for,
// such as hashes.
var unsearchedLabelKeys = []string{
	LabelConfidence,
	LabelFileBlob,
	labelImportDigest,
	"from",
	LabelOrigin,
	LabelVerified,
	LabelUnvouched,
	LabelApproved,
	LabelTextBy,
}

// labelImportDigest is the key of the label with which an import recognizes that an entry was edited. Its value is a
// digest, which no two entries share.
const labelImportDigest = "import-sum"

// isShownEntriesKey reports whether a label key's values are names of entries that a hook had shown to a model.
func isShownEntriesKey(key string) bool { return key == "shown" || key == "used" || key == "injected" }

// isIndexedAsKeyword reports whether the values of a label key are indexed as keywords.
// Confidences are compared as numbers, file hashes and digests have too many values, and names are
// found by their words.
func isIndexedAsKeyword(key string) bool {
	switch key {
	case LabelConfidence, LabelFileBlob, labelImportDigest, "name":
		return false
	}
	return true
}

// convertFilterToClauses converts a filter to clauses and a time range that the index can evaluate. The index cannot
// evaluate all conditions of a filter. If needsEntryMatch is true, the clauses and the time range select too many
// entries, and the caller must also call f.Match for each entry.
func convertFilterToClauses(
	r *ranking.Scorer,
	f Filter,
) (cs []index.TermCondition, timeRange *index.TimeRange, needsEntryMatch bool) {
	for _, t := range f.Terms {
		switch {
		case isIndexedAsKeyword(t.Key):
			c := index.TermCondition{IsNegated: t.Not}
			for _, v := range store.AllNameForms(t.Values) {
				c.Terms = append(c.Terms, ranking.KeywordTerm(t.Key, v))
			}
			cs = append(cs, c)
			continue
		case t.Key == "name" && !t.Not && len(store.AllNameForms(t.Values)) == 1:
			cs = append(cs, r.WordClauses(t.Values[0])...)
		}
		needsEntryMatch = true
	}
	timeRange, far := ranking.CreationRange(f.After, f.Before)
	return cs, timeRange, needsEntryMatch || far
}

// oldestEntryScoreFactor is the factor for the oldest entries. Age halves a score at most, because
// a good match matters more than a recent entry.
const oldestEntryScoreFactor = 0.5

// ageStartTime returns the time from which the age of an entry is counted. For entries that
// record a moment and for imported entries, this is the creation time. For all others, it
// is the time of the last change.
func ageStartTime(e *Entry) time.Time {
	switch {
	case e.Kind == Archive, e.Kind == Journal, e.Kind == History, e.Source.Actor == Imported:
		return e.Created
	}
	return e.Updated
}

// ageFactor returns the score factor for an entry of this age: oldestEntryScoreFactor + (1 −
// oldestEntryScoreFactor)·2^(−age/halfLife), or 1 if the age is negative.
func ageFactor(age, halfLife time.Duration) float64 {
	if age <= 0 {
		return 1
	}
	return oldestEntryScoreFactor + float64((1-oldestEntryScoreFactor)*math.Exp2(-float64(age)/float64(halfLife)))
}
