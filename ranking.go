// This file holds the rankings: which terms an entry is found by, which a query
// looks for.

package oxbow

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow/internal/analysis"
	"github.com/oxbow-memory/oxbow/internal/bm25"
	"github.com/oxbow-memory/oxbow/internal/syntax"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// The rankings.
const (
	// RankOxbow is BM25 over name, aliases, labels, speaker and body, each
	// with a weight; words are stemmed, identifiers whole and in parts,
	// diacritics folded, and the query's stop words left out.
	RankOxbow = "oxbow"

	// RankSeed is crabtalk's ranking (its RFC 0150) to the last term: content
	// and aliases, not the name, with its analyzer.
	RankSeed = "seed"
)

func checkRanking(name string) error {
	if name == RankOxbow || name == RankSeed {
		return nil
	}
	return &InvalidError{Field: "rank", Value: text.Clip(name, 40), Reason: "is not one of " + RankOxbow + ", " + RankSeed}
}

// The parameters of RankOxbow, fitted to LongMemEval, LoCoMo, QMSum and SciFact;
// docs/benchmarks-recall.md says what each is worth.
const (
	oxbowK1 = 1.2
	oxbowB  = 0.5

	// Weights of a word, in sixteenths.
	weightName      = 32
	weightAlias     = 32
	weightLabel     = 16
	weightBody      = 16
	weightAssistant = 6 // what a program said, in a chat
	weightDate      = 16

	// Weights of a query's terms beside those of its words, which weigh 1.
	weightSlip   = 0.8 // a correction
	weightWhen   = 0.5 // the date that the query names
	weightPrefix = 0.8 // a word that begins so
	mostPrefixed = 32  // words that a prefix stands for
	mostDays     = 31  // days that a date expression is looked for by
)

// ranking is one way to rank.
type ranking struct {
	name  string
	index *bm25.Index
	an    *analysis.Analyzer // of questions; nil for RankSeed
	texts *analysis.Analyzer // of entries: no question waits for one to be cut
	talks atomic.Bool        // the last search found turns of a talk
}

func newRanking(name string) *ranking {
	r := &ranking{name: name, index: bm25.New(paramsOf(name))}
	if name != RankSeed {
		r.an, r.texts = analysis.NewAnalyzer(), analysis.NewAnalyzer()
	}
	return r
}

// paramsOf returns the constants of a ranking's formula.
func paramsOf(ranking string) bm25.Params {
	if ranking == RankSeed {
		return bm25.Params{}
	}
	return bm25.Params{K1: oxbowK1, B: oxbowB}
}

func (r *ranking) put(e *Entry) {
	var d bm25.Doc
	r.cut(e, &d, new([]string))
	r.index.Put(e.ID, e.Updated.UnixNano(), d)
}

// cut makes d what an entry is found by. The room that d and words have is used
// again.
func (r *ranking) cut(e *Entry, d *bm25.Doc, words *[]string) {
	if r.texts == nil {
		ws := text.AppendCrabtalk((*words)[:0], e.Content)
		for _, a := range e.Aliases {
			ws = text.AppendCrabtalk(ws, a)
		}
		*words = ws
		bm25.SetWords(d, ws)
	} else {
		r.texts.SetDoc(d, fieldsOf(e))
		for _, t := range dateTerms(e.Created) {
			d.Terms = append(d.Terms, bm25.Term{Text: t, TF: weightDate})
		}
	}
	if r.texts == nil && len(d.Terms) == 0 {
		return // it does not count
	}
	for _, m := range marks(e) {
		d.Terms = append(d.Terms, bm25.Term{Text: m, TF: 1})
	}
	d.Time = stamp(e.Created)
}

// fieldsOf cuts an entry into the fields that it is found by.
func fieldsOf(e *Entry) []analysis.Field {
	return appendFields(make([]analysis.Field, 0, 2+len(e.Aliases)+len(e.Labels)), e)
}

func appendFields(fs []analysis.Field, e *Entry) []analysis.Field {
	fs = append(fs, analysis.Field{Name: "name", Text: e.Name, Weight: weightName})
	for _, a := range e.Aliases {
		fs = append(fs, analysis.Field{Name: "alias", Text: a, Weight: weightAlias})
	}
	for _, l := range e.Labels {
		if l.Key != LabelConfidence && l.Key != LabelFileBlob {
			fs = append(fs, analysis.Field{Name: "label", Text: l.Value, Weight: weightLabel})
		}
	}
	return append(fs, analysis.Dialogue(e.Content, weightBody, weightAssistant)...)
}

// datePrefix begins the terms of dates. No word of a text has a colon in it.
const datePrefix = "date:"

// dateTerms are the terms of the day that t is in, UTC: day, month, year, and
// the month's name.
func dateTerms(t time.Time) []string {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	day := t.Format(datePrefix + "2006-01-02")
	return []string{day, day[:len(day)-len("-02")], day[:len(day)-len("-01-02")], monthTerms[t.Month()]}
}

// monthTerms are the terms of the months' names.
var monthTerms = func() (terms [13]string) {
	for m := time.January; m <= time.December; m++ {
		terms[m] = datePrefix + strings.ToLower(m.String())
	}
	return terms
}()

// planned is a word of a query and the term looked for.
type planned struct {
	word, term string
	instead    bool // another term than the word's own, which nobody holds
}

// condition is a demand that an operator makes.
type condition struct {
	text  string
	allow func(id uint64) bool
	where []bm25.Clause // what all that it allows meet
}

// plan is a query made ready for an index.
type plan struct {
	any        bool // nothing to rank by: the newest are wanted
	words      []planned
	terms      []bm25.QueryTerm
	stop       bool // only stop words
	when       bool // asks for a time
	conditions []condition
	allow      func(id uint64) bool // filter and conditions; nil for none

	// The same for the index: what it looks up itself, and the rest.
	where []bm25.Clause
	times *bm25.Times
	rest  func(id uint64) bool

	recency func(id uint64) float64 // what an entry's age makes of its score; nil for nothing
}

func (r *ranking) plan(s *shelf, q Query) *plan {
	p := &plan{allow: s.allow(q.Filter), recency: s.recency(q)}
	var more bool
	if p.where, p.times, more = r.where(q.Filter); more {
		p.rest = p.allow
	}
	words := q.Text
	if r.an == nil {
		p.any = strings.TrimSpace(words) == ""
		terms := text.Crabtalk(words)
		p.terms = bm25.Any(terms)
		slices.Sort(terms)
		terms = slices.Compact(terms)
		p.words = make([]planned, len(terms))
		for i, t := range terms {
			p.words[i] = planned{t, t, false}
		}
		return p
	}
	var prefixes []string
	if o := q.Operators; o != nil {
		words, prefixes = o.Words, o.Prefixes
		r.demand(s, p, o)
	}
	var ws []analysis.Word
	ws, p.stop = r.an.Question(words)
	p.when = analysis.AsksWhen(words)
	for _, w := range ws {
		pl, weight := planned{w.Word, w.Term, false}, 1.0
		if r.index.DF(w.Term) == 0 {
			if t := analysis.Correct(w.Term, r.index.DF); t != "" {
				pl.term, pl.instead, weight = t, true, weightSlip
			}
		}
		p.words = append(p.words, pl)
		p.terms = append(p.terms, bm25.QueryTerm{Text: pl.term, Weight: weight})
		// A year or a month that is written as a word finds entries made then.
		if t := datePrefix + w.Word; r.index.DF(t) > 0 {
			p.terms = append(p.terms, bm25.QueryTerm{Text: t, Weight: weightWhen})
		}
	}
	for _, prefix := range prefixes {
		for _, t := range r.beginning(prefix) {
			p.words = append(p.words, planned{prefix + "*", t, false})
			p.terms = append(p.terms, bm25.QueryTerm{Text: t, Weight: weightPrefix})
		}
	}
	for _, d := range q.Dates {
		for _, t := range spanTerms(d) {
			p.terms = append(p.terms, bm25.QueryTerm{Text: t, Weight: weightWhen})
		}
	}
	// Of the same term, the heaviest counts.
	slices.SortStableFunc(p.terms, func(a, b bm25.QueryTerm) int {
		return cmp.Or(strings.Compare(a.Text, b.Text), cmp.Compare(b.Weight, a.Weight))
	})
	p.terms = slices.CompactFunc(p.terms, func(a, b bm25.QueryTerm) bool { return a.Text == b.Text })
	p.any = len(p.words) == 0 && len(prefixes) == 0 && strings.TrimSpace(words) == ""
	return p
}

// spanTerms are the terms of a date expression: of its days when it has few,
// else of its months, else of its years. An open span has none: nobody is
// nearer to it.
func spanTerms(d Span) []string {
	if d.From.IsZero() || d.To.IsZero() {
		return nil
	}
	// In the zone that the span is of, a day's length before or after may be
	// 23 hours; noon is always within its day.
	last := d.To.Add(-time.Second)
	var ts []string
	for _, step := range []struct {
		layout        string
		years, months int
		days          int
	}{{"2006-01-02", 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}} {
		ts = ts[:0]
		y, m, day := d.From.Date()
		if step.days == 0 {
			day = 1
		}
		for t := time.Date(y, m, day, 12, 0, 0, 0, d.From.Location()); len(ts) <= mostDays; t = t.AddDate(step.years, step.months, step.days) {
			s := datePrefix + t.Format(step.layout)
			if t.Format(step.layout) > last.Format(step.layout) {
				break
			}
			ts = append(ts, s)
		}
		if len(ts) <= mostDays {
			if step.days == 1 && len(ts) >= 28 && d.From.Day() == 1 && last.AddDate(0, 0, 1).Day() == 1 && d.From.Month() == last.Month() {
				continue // a whole month
			}
			return ts
		}
	}
	return nil
}

// beginning returns the terms that begin with the prefix, those that most
// entries hold first, at most mostPrefixed. When there is none, it is the term
// of the prefix taken for a word.
func (r *ranking) beginning(prefix string) []string {
	type count struct {
		term string
		df   int
	}
	var cs []count
	folded := analysis.Fold(prefix)
	for t, df := range r.words(folded) {
		cs = append(cs, count{t, df})
	}
	if len(cs) == 0 {
		return []string{analysis.Root(folded)}
	}
	slices.SortFunc(cs, func(a, b count) int { return cmp.Or(b.df-a.df, strings.Compare(a.term, b.term)) })
	var ts []string
	for _, c := range cs[:min(len(cs), mostPrefixed)] {
		ts = append(ts, c.term)
	}
	return ts
}

// words yields the terms that begin so and are words, as [bm25.Index.Terms]
// does.
func (r *ranking) words(prefix string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for t, df := range r.index.Terms(prefix) {
			if !isMark(t) && !strings.HasPrefix(t, datePrefix) && !yield(t, df) {
				return
			}
		}
	}
}

// demand adds the conditions of must and not to the plan.
func (r *ranking) demand(s *shelf, p *plan, o *Operators) {
	for i, list := range [][]string{o.Must, o.Not} {
		for _, what := range list {
			sign, not := "+", i == 1
			if not {
				sign = "-"
			}
			seq := r.an.Sequence(what)
			holds := r.holds(s, seq)
			c := condition{text: sign + syntax.QuoteValue(what), allow: func(id uint64) bool { return holds(id) != not }}
			if len(seq) == 1 || !not {
				c.where = together(seq, not)
			}
			p.conditions, p.where = append(p.conditions, c), append(p.where, c.where...)
			if p.allow = both(p.allow, c.allow); len(seq) != 1 {
				p.rest = both(p.rest, c.allow)
			}
		}
	}
}

// both returns the test for what both tests, the first of which may be nil,
// allow.
func both(a, b func(id uint64) bool) func(id uint64) bool {
	if a == nil {
		return b
	}
	return func(id uint64) bool { return a(id) && b(id) }
}

// holds returns the test whether an entry holds the words one after another in
// one of its fields. The index says who holds the rarest of them; whether they
// stand together is looked up when somebody asks.
func (r *ranking) holds(s *shelf, seq []string) func(id uint64) bool {
	if len(seq) == 0 {
		return func(uint64) bool { return true } // a lone mark demands nothing
	}
	rarest := slices.MinFunc(seq, func(a, b string) int { return cmp.Compare(r.index.DF(a), r.index.DF(b)) })
	ids := r.index.IDs(rarest)
	found := map[uint64]bool{}
	return func(id uint64) bool {
		holds, known := found[id]
		if known {
			return holds
		}
		if _, may := slices.BinarySearch(ids, id); !may {
			return false
		}
		if e := s.doc(id); e != nil {
			holds = slices.ContainsFunc(fieldsOf(e), func(f analysis.Field) bool {
				return len(seq) == 1 && f.Name != "speaker" || stands(r.an.Sequence(f.Text), seq)
			})
		}
		found[id] = holds
		return holds
	}
}

func stands(text, seq []string) bool {
	for i := range len(text) - len(seq) + 1 {
		if slices.Equal(text[i:i+len(seq)], seq) {
			return true
		}
	}
	return false
}

// query returns what the plan asks of the index.
func (p *plan) query(limit int) bm25.Query {
	return bm25.Query{Terms: p.terms, Limit: limit, Where: p.where, Times: p.times, Allow: p.rest, Factor: p.recency}
}

// search returns the hits of a plan.
func (r *ranking) search(s *shelf, p *plan, limit int) []Hit {
	if len(p.terms) == 0 {
		return nil
	}
	asked := limit
	if r.talks.Load() { // then it is likely that more are wanted
		asked = pool(limit)
	}
	found := r.index.Search(p.query(asked))
	if r.an != nil {
		talk := slices.ContainsFunc(found[:min(len(found), limit, turnLook)], func(h bm25.Hit) bool { return isTurn(s.doc(h.ID)) })
		if talk && asked < pool(limit) {
			found = r.index.Search(p.query(pool(limit)))
		}
		if talk {
			found = r.turns(s, p, found, limit)
		}
		if r.talks.Load() != talk {
			r.talks.Store(talk)
		}
	}
	found = found[:min(len(found), limit)]
	hits := make([]Hit, 0, len(found))
	for _, h := range found {
		if e := s.doc(h.ID); e != nil { // else it could not be read
			hits = append(hits, Hit{Entry: *e, Score: h.Score})
		}
	}
	return hits
}
