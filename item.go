// Entries as the items of a ranking, and filters as conditions on those.

package oxbow

import (
	"math"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
	"github.com/oxbow-memory/oxbow/store"
)

// indexed is an entry as data of a document.
type indexed struct {
	entry *Entry
	ranking.Memo
}

func newIndexed(e *Entry) *indexed { return &indexed{entry: e} }

// Text implements [ranking.Item]. A confidence, a file's content, kinds of personal data
// and what an entry was made from are no words, nor is what a turn of a session was shown.
func (x *indexed) Text(t *ranking.Text) {
	e := x.entry
	if quarantined(e) { // no word finds it
		*t = ranking.Text{ID: e.ID, Labels: t.Labels[:0], Created: e.Created, Updated: e.Updated}
		return
	}
	*t = ranking.Text{ID: e.ID, Name: e.Name, Aliases: e.Aliases, Labels: t.Labels[:0], Content: e.Content, Created: e.Created, Updated: e.Updated}
	for _, l := range e.Labels {
		if l.Key == "session" && t.Session == "" {
			t.Session = l.Value
		}
		if l.Key != LabelConfidence && l.Key != LabelFileBlob && l.Key != "from" && l.Key != LabelOrigin && l.Key != LabelVerified && l.Key != LabelUnvouched && l.Key != LabelApproved && !l.IsPersonal() && !(e.Kind == History && isShown(l.Key)) {
			t.Labels = append(t.Labels, l.Value)
		}
	}
}

// Keywords implements [ranking.Item]: what filters ask for.
func (x *indexed) Keywords() []string {
	e := x.entry
	ms := make([]string, 0, 3+2*len(e.Labels))
	ms = append(ms, ranking.Keyword("kind", e.Kind.String()), ranking.Keyword("by", string(e.Source.Actor)), ranking.Keyword("door", e.Source.Door))
	for _, l := range e.Labels {
		ms = append(ms, ranking.Keyword("has", l.Key))
		if hasKeywords(l.Key) {
			ms = append(ms, ranking.Keyword(l.Key, l.Value))
		}
	}
	slices.Sort(ms)
	return slices.Compact(ms)
}

// isShown reports whether labels of a key name entries that a hook put before a model.
func isShown(key string) bool { return key == "shown" || key == "used" || key == "injected" }

// hasKeywords reports whether the values of a key are keywords. A confidence is
// compared, a file's content is one of too many, and a name is found by its
// words.
func hasKeywords(key string) bool {
	return key != LabelConfidence && key != LabelFileBlob && key != "name"
}

// conditions turns a filter into what an index looks up itself: an entry that meets
// it all is one that the filter selects, unless more is true: then the filter
// has to be put to the entry, too.
func conditions(r *ranking.Scorer, f Filter) (cs []index.Clause, times *index.Range, more bool) {
	for _, t := range f.Terms {
		switch {
		case hasKeywords(t.Key):
			c := index.Clause{Not: t.Not}
			for _, v := range store.AllNameForms(t.Values) {
				c.Terms = append(c.Terms, ranking.Keyword(t.Key, v))
			}
			cs = append(cs, c)
			continue
		case t.Key == "name" && !t.Not && len(store.AllNameForms(t.Values)) == 1:
			cs = append(cs, r.Holds(t.Values[0])...)
		}
		more = true
	}
	times, far := ranking.Between(f.After, f.Before)
	return cs, times, more || far
}

// recencyLeast is the part of its score that the oldest entry keeps: being new
// is worth something, saying what is looked for is worth more.
const recencyLeast = 0.5

// moment returns the time that an entry's age is counted from. What records a
// moment, and what was read from elsewhere, is as old as what it tells of; all
// else is as old as its last change.
func moment(e *Entry) time.Time {
	switch {
	case e.Kind == Archive, e.Kind == Journal, e.Kind == History, e.Source.Actor == Imported:
		return e.Created
	}
	return e.Updated
}

// ageFactor returns what the score of an entry of that age is multiplied by:
// least + (1 − least)·2^(−age/half), 1 for what is of the future.
func ageFactor(age, half time.Duration) float64 {
	if age <= 0 {
		return 1
	}
	return recencyLeast + float64((1-recencyLeast)*math.Exp2(-float64(age)/float64(half)))
}

func quarantined(e *Entry) bool {
	_, is := e.Label(LabelQuarantine)
	return is
}
