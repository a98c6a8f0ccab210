// Plans: a query made ready for an index.

package oxbow

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/analysis"
	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/syntax"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// queryTerm is a word of a query and the term looked for.
type queryTerm struct {
	word, term string
	instead    bool // another term than the word's own, which no entry holds
}

// clause is a demand that an operator makes.
type clause struct {
	text   string
	accept func(id uint64) bool
	filter []index.Clause // what all that it accepts meet
}

// plan is a query made ready for an index.
type plan struct {
	any     bool // nothing to rank by: the newest are wanted
	words   []queryTerm
	terms   []index.QueryTerm
	seed    bool // of RankSeed
	stop    bool // only stop words
	when    bool // asks for a time
	clauses []clause
	accept  func(id uint64) bool // filter and clauses; nil for none

	// The same for the index: what it looks up itself, and the rest.
	filter []index.Clause
	times  *index.Range
	rest   func(id uint64) bool

	recency func(id uint64) float64 // what an entry's age makes of its score; nil for nothing
}

func (v *rankedView) plan(q Query) *plan {
	r := v.r
	p := &plan{seed: r.an == nil, accept: v.accept(q.Filter), recency: v.recency(q)}
	var more bool
	if p.filter, p.times, more = r.filter(q.Filter); more {
		p.rest = p.accept
	}
	words := q.Text
	if r.an == nil {
		p.any = strings.TrimSpace(words) == ""
		terms := text.Crabtalk(words)
		p.terms = index.Any(terms)
		slices.Sort(terms)
		terms = slices.Compact(terms)
		p.words = make([]queryTerm, len(terms))
		for i, t := range terms {
			p.words[i] = queryTerm{t, t, false}
		}
		return p
	}
	var prefixes []string
	if o := q.Operators; o != nil {
		words, prefixes = o.Words, o.Prefixes
		v.compile(p, o)
	}
	var ws []analysis.Word
	ws, p.stop = r.an.Question(v.ctx, words)
	p.when = analysis.AsksWhen(words)
	for _, w := range ws {
		pl, weight := queryTerm{w.Word, w.Term, false}, 1.0
		if v.stats.DF(w.Term) == 0 {
			if t := analysis.Correct(w.Term, v.stats.DF); t != "" {
				pl.term, pl.instead, weight = t, true, weightSlip
			}
		}
		p.words = append(p.words, pl)
		p.terms = append(p.terms, index.QueryTerm{Text: pl.term, Weight: weight})
		// A year or a month that is written as a word finds entries made then.
		if t := datePrefix + w.Word; v.stats.DF(t) > 0 {
			p.terms = append(p.terms, index.QueryTerm{Text: t, Weight: weightWhen})
		}
	}
	for _, prefix := range prefixes {
		for _, t := range v.beginning(prefix) {
			p.words = append(p.words, queryTerm{prefix + "*", t, false})
			p.terms = append(p.terms, index.QueryTerm{Text: t, Weight: weightPrefix})
		}
	}
	for _, d := range q.Dates {
		for _, t := range spanTerms(d) {
			p.terms = append(p.terms, index.QueryTerm{Text: t, Weight: weightWhen})
		}
	}
	// Of the same term, the heaviest counts.
	slices.SortStableFunc(p.terms, func(a, b index.QueryTerm) int {
		return cmp.Or(strings.Compare(a.Text, b.Text), cmp.Compare(b.Weight, a.Weight))
	})
	p.terms = slices.CompactFunc(p.terms, func(a, b index.QueryTerm) bool { return a.Text == b.Text })
	p.any = len(p.words) == 0 && len(prefixes) == 0 && strings.TrimSpace(words) == ""
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
// entries hold first, at most mostPrefixed. When there is none, it is the term
// of the prefix taken for a word.
func (v *rankedView) beginning(prefix string) []string {
	type count struct {
		term string
		df   int
	}
	var cs []count
	folded := analysis.Fold(prefix)
	for t, df := range v.words(folded) {
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

// words yields the terms that begin so and are words, as [index.Index.Terms]
// does.
func (v *rankedView) words(prefix string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for t, df := range v.stats.Terms(prefix) {
			if !isKeyword(t) && !strings.HasPrefix(t, datePrefix) && !yield(t, df) {
				return
			}
		}
	}
}

// compile adds the clauses of must and not to the plan.
func (v *rankedView) compile(p *plan, o *Operators) {
	for i, list := range [][]string{o.Must, o.Not} {
		for _, what := range list {
			sign, not := "+", i == 1
			if not {
				sign = "-"
			}
			seq := v.r.an.Sequence(v.ctx, what)
			holds := v.holds(seq)
			c := clause{text: sign + syntax.QuoteValue(what), accept: func(id uint64) bool { return holds(id) != not }}
			if len(seq) == 1 || !not {
				c.filter = together(seq, not)
			}
			p.clauses, p.filter = append(p.clauses, c), append(p.filter, c.filter...)
			if p.accept = both(p.accept, c.accept); len(seq) != 1 {
				p.rest = both(p.rest, c.accept)
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
// one of its fields. The index has the entries that hold the rarest word; whether
// the words stand together is looked up when the test is called.
func (v *rankedView) holds(seq []string) func(id uint64) bool {
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
		if e := v.entry(id); e != nil {
			holds = len(seq) == 1 || slices.ContainsFunc(v.fieldWords(e), func(f fieldWords) bool { return f.contains(v.ctx, seq) })
		}
		found[id] = holds
		return holds
	}
}

// fieldWords are the words of a field, and where each stands.
type fieldWords struct {
	words []string
	at    map[string][]int
}

// fieldWords returns the words of an entry's fields. Those of the last entry are
// kept: all phrases of a query are looked for in one entry before the next.
func (v *rankedView) fieldWords(e *indexed) []fieldWords {
	if v.last != e {
		v.last, v.lastWords = e, v.lastWords[:0]
		for _, f := range fieldsOf(e.Entry) {
			w := fieldWords{v.r.an.Sequence(v.ctx, f.Text), map[string][]int{}}
			for i, word := range w.words {
				w.at[word] = append(w.at[word], i)
			}
			v.lastWords = append(v.lastWords, w)
		}
	}
	return v.lastWords
}

// contains reports whether the words of seq stand one after another in the field,
// until ctx is done.
func (f *fieldWords) contains(ctx context.Context, seq []string) bool {
	rarest := 0
	for i, w := range seq {
		if len(f.at[w]) < len(f.at[seq[rarest]]) {
			rarest = i
		}
	}
	for n, at := range f.at[seq[rarest]] {
		if n%256 == 255 && ctx.Err() != nil {
			return false
		}
		if i := at - rarest; i >= 0 && i+len(seq) <= len(f.words) && slices.Equal(f.words[i:i+len(seq)], seq) {
			return true
		}
	}
	return false
}

// query returns what the plan asks of the index.
func (p *plan) query(limit int) index.Query {
	return index.Query{Terms: p.terms, Limit: limit, Filter: p.filter, Range: p.times, Accept: p.rest, Factor: p.recency}
}

// selection returns what a plan without anything to rank by asks of the index.
func (p *plan) selection(limit int) index.Query {
	if p.seed { // whose documents without words have no keywords either
		return index.Query{Limit: limit, Accept: p.accept}
	}
	return p.query(limit)
}

// search returns the hits of a plan.
func (v *rankedView) search(p *plan, limit int) []Hit {
	if len(p.terms) == 0 {
		return nil
	}
	r, asked := v.r, limit
	if r.talks.Load() { // then it is likely that more are wanted
		asked = pool(limit)
	}
	found := v.x.Search(p.query(asked))
	if r.an != nil {
		talk := slices.ContainsFunc(found[:min(len(found), limit, turnLook)], func(h index.Hit) bool { return v.found(h).ofTurn().is })
		if talk && asked < pool(limit) {
			found = v.x.Search(p.query(pool(limit)))
		}
		if talk {
			found = v.turns(p, found, limit)
		}
		if r.talks.Load() != talk {
			r.talks.Store(talk)
		}
	}
	found = found[:min(len(found), limit)]
	hits := make([]Hit, 0, len(found))
	for _, h := range found {
		if e := v.found(h); e != nil { // else it could not be read
			hits = append(hits, Hit{Entry: *e.Entry, Score: h.Score})
		}
	}
	return hits
}
