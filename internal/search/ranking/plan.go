// Plans: a query made ready for an index.

package ranking

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// Query is what is looked for.
type Query struct {
	Words    string   // what is ranked by
	Must     []string // words or phrases that a document holds, or word* for any that begins so
	Not      []string // that it does not hold
	Prefixes []string // ranked by all words that begin so
	Spans    []Span   // documents created then rank higher
	AsIs     bool     // no word is corrected

	Filter  []index.Clause          // conditions that the index looks up,
	Times   *index.Range            // nil for any
	Accept  func(id uint64) bool    // all conditions, these too; nil for none
	More    bool                    // Accept needs more than Filter and Times
	Recency func(id uint64) float64 // what a document's age makes of its score, above 0 and at most 1; nil for nothing
}

// Span is a time, half-open. A bound that is zero is open.
type Span struct{ From, To time.Time }

// Term is a word of a query and the term that is looked for.
type Term struct {
	Word, Term string
	Corrected  bool // no document holds the word: the term is one typing error away
}

// Clause is a demand of a query: a word or phrase that a document must hold, or
// must not.
type Clause struct {
	Text   string
	Not    bool
	Accept func(id uint64) bool
	Filter []index.Clause // what all that it accepts meet
}

// Plan is a query made ready for an index.
type Plan struct {
	Any       bool // nothing to rank by: the newest are wanted
	Words     []Term
	StopWords bool // only stop words, so they are looked for
	Clauses   []Clause

	terms  []index.QueryTerm
	seed   bool                 // of Seed
	when   bool                 // asks for a time
	you    bool                 // addresses a program
	found  speeches             // among the best hits of the last search
	long   []uint64             // of that search, what is ranked by its best stretch, too; rising
	accept func(id uint64) bool // filter and clauses; nil for none

	// Of the last search, the score that a turn of a talk stays below if only its
	// neighbours hold words of the query; 0 for no limit.
	besideLimit float64

	// The same for the index: what it looks up itself, and the rest.
	filter []index.Clause
	times  *index.Range
	rest   func(id uint64) bool

	recency func(id uint64) float64
}

// priorOf returns what English at large counts of a term.
func priorOf(term string) index.Prior {
	return index.Prior{N: priorTexts, DF: priorTexts * analysis.Share(term)}
}

// Ranks reports whether there is any term to rank by.
func (p *Plan) Ranks() bool { return len(p.terms) > 0 }

// Plan makes a query ready.
func (v *View) Plan(q Query) *Plan {
	r := v.r
	p := &Plan{seed: r.an == nil, accept: q.Accept, filter: q.Filter, times: q.Times, recency: q.Recency}
	if q.More {
		p.rest = q.Accept
	}
	if r.an == nil {
		p.Any = strings.TrimSpace(q.Words) == ""
		terms := text.Crabtalk(q.Words)
		p.terms = index.Any(terms)
		slices.Sort(terms)
		terms = slices.Compact(terms)
		p.Words = make([]Term, len(terms))
		for i, t := range terms {
			p.Words[i] = Term{t, t, false}
		}
		return p
	}
	v.compile(p, q.Must, false)
	v.compile(p, q.Not, true)
	var ws []analysis.Word
	ws, p.StopWords = r.an.Question(v.ctx, q.Words)
	p.when, p.you = analysis.AsksWhen(q.Words), analysis.AddressesProgram(q.Words)
	p.Words, p.terms = make([]Term, 0, len(ws)), make([]index.QueryTerm, 0, len(ws)+1)
	for _, w := range ws {
		// A word that stands several times counts more; in a question, not as often.
		pl, weight := Term{w.Word, w.Term, false}, float64(w.N)
		if len(ws) < longQuery {
			weight = math.Sqrt(weight)
		}
		if !q.AsIs && v.stats.DF(w.Term) == 0 {
			if t := analysis.Correct(w.Term, v.stats.DF); t != "" {
				pl.Term = t
				pl.Corrected = true
				weight = weight * weightSlip
			}
		}
		p.Words = append(p.Words, pl)
		p.terms = append(p.terms, index.QueryTerm{Text: pl.Term, Weight: weight, Prior: priorOf(pl.Term)})
		// A year or a month that is written as a word finds entries made then.
		if t := datePrefix + w.Word; analysis.MayDate(w.Word) && v.stats.DF(t) > 0 {
			p.terms = append(p.terms, index.QueryTerm{Text: t, Weight: weightWhen})
		}
	}
	for _, prefix := range q.Prefixes {
		ts := v.beginning(prefix)
		for _, t := range ts[:min(len(ts), mostPrefixed)] {
			p.Words = append(p.Words, Term{prefix + "*", t, false})
			p.terms = append(p.terms, index.QueryTerm{Text: t, Weight: weightPrefix})
		}
	}
	for _, d := range q.Spans {
		for _, t := range spanTerms(d) {
			p.terms = append(p.terms, index.QueryTerm{Text: t, Weight: weightWhen})
		}
	}
	// Of the same term, the heaviest counts.
	slices.SortStableFunc(p.terms, func(a, b index.QueryTerm) int {
		return cmp.Or(strings.Compare(a.Text, b.Text), cmp.Compare(b.Weight, a.Weight))
	})
	p.terms = slices.CompactFunc(p.terms, func(a, b index.QueryTerm) bool { return a.Text == b.Text })
	p.Any = len(p.Words) == 0 && len(q.Prefixes) == 0 && strings.TrimSpace(q.Words) == ""
	return p
}

// spanTerms are the terms of a date expression: of its days when it has few,
// else of its months, else of its years. An open span has none: no
// entry is nearer to it than another.
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
// entries hold first. When there is none, it is the term of the prefix taken
// for a word.
func (v *View) beginning(prefix string) []string {
	type count struct {
		term string
		df   int
	}
	var cs []count
	folded := analysis.Fold(prefix)
	for t, df := range v.Vocabulary(folded) {
		cs = append(cs, count{t, df})
	}
	if len(cs) == 0 {
		return []string{analysis.Root(folded)}
	}
	slices.SortFunc(cs, func(a, b count) int { return cmp.Or(b.df-a.df, strings.Compare(a.term, b.term)) })
	var ts []string
	for _, c := range cs {
		ts = append(ts, c.term)
	}
	return ts
}

// compile adds clauses to the plan: documents hold each of some words or phrases,
// or none of them. Of word*, that is any of the words that begin so.
func (v *View) compile(p *Plan, texts []string, not bool) {
	for _, what := range texts {
		if prefix, ok := strings.CutSuffix(what, "*"); ok {
			terms := v.beginning(prefix)
			holds := v.holdsAny(terms)
			c := Clause{what, not, func(id uint64) bool { return holds(id) != not }, []index.Clause{{Terms: terms, Not: not}}}
			p.Clauses = append(p.Clauses, c)
			p.filter = append(p.filter, c.Filter...)
			p.accept = both(p.accept, c.Accept)
			continue
		}
		seq := v.r.an.Sequence(v.ctx, what)
		holds := v.holds(seq)
		c := Clause{Text: what, Not: not, Accept: func(id uint64) bool { return holds(id) != not }}
		if len(seq) == 1 || !not {
			c.Filter = together(seq, not)
		}
		p.Clauses, p.filter = append(p.Clauses, c), append(p.filter, c.Filter...)
		p.accept = both(p.accept, c.Accept)
		if len(seq) != 1 {
			p.rest = both(p.rest, c.Accept)
		}
	}
}

// Accepts reports whether the filter and the clauses of the query select a document.
func (p *Plan) Accepts(id uint64) bool { return p.accept == nil || p.accept(id) }

// both returns the test for what both tests, the first of which may be nil,
// allow.
func both(a, b func(id uint64) bool) func(id uint64) bool {
	if a == nil {
		return b
	}
	return func(id uint64) bool { return a(id) && b(id) }
}

// holdsAny returns the test whether an entry holds one of the terms.
func (v *View) holdsAny(terms []string) func(id uint64) bool {
	var ids []uint64
	for _, t := range terms {
		ids = append(ids, v.stats.IDs(t)...)
	}
	slices.Sort(ids)
	return func(id uint64) bool {
		_, holds := slices.BinarySearch(ids, id)
		return holds
	}
}

// holds returns the test whether an entry holds the words one after another in
// one of its fields. The index has the entries that hold the rarest word; whether
// the words stand together is looked up when the test is called.
func (v *View) holds(seq []string) func(id uint64) bool {
	if len(seq) == 0 {
		return func(uint64) bool { return true } // a lone mark demands nothing
	}
	rarest := slices.MinFunc(seq, func(a, b string) int { return cmp.Compare(v.stats.DF(a), v.stats.DF(b)) })
	ids := v.stats.IDs(rarest)
	found := map[uint64]bool{}
	return func(id uint64) bool {
		holds, known := found[id]
		if known {
			return holds
		}
		if _, may := slices.BinarySearch(ids, id); !may {
			return false
		}
		if it := v.item(id); it != nil {
			holds = len(seq) == 1 || slices.ContainsFunc(v.positions(it), func(f field) bool { return f.contains(v.ctx, seq) })
		}
		found[id] = holds
		return holds
	}
}
