// How strongly the units of a memory answer words.

package inject

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/extract"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

const (
	mostWords = 24       // of a prompt: those that count most
	mostProse = 16 << 10 // bytes of a prompt that are looked at
	saturated = 2.2      // k1 + 1
)

// prose returns what a person wrote of a prompt: not what hooks put there, nor blocks of
// code, quotations and logs that were pasted. Of a very long text it returns the begin and
// the end, because one of these says what is wanted.
func prose(prompt string) string {
	var sentences []string
	size := 0
	for s := range extract.Sentences(session.Strip(prompt)) {
		sentences = append(sentences, s+"\n")
		size += len(s) + 1
	}
	if size <= mostProse {
		return strings.Join(sentences, "")
	}
	first, last := 0, len(sentences)
	for left := mostProse / 2; left >= len(sentences[first]); first++ {
		left -= len(sentences[first])
	}
	for left := mostProse / 2; last > first && left >= len(sentences[last-1]); last-- {
		left -= len(sentences[last-1])
	}
	return strings.Join(sentences[:first], "") + strings.Join(sentences[last:], "")
}

// strengths returns the best units of a memory for words, with their strengths.
func (s *Source) strengths(ctx context.Context, words string, f oxbow.Filter, most int) ([]unit, error) {
	q := oxbow.Query{Text: words, Limit: most, Weigh: true, Filter: f, Rank: oxbow.RankOxbow}
	if len(strings.Fields(words)) > mostWords {
		if err := s.shorten(ctx, &q); err != nil {
			return nil, err
		}
	}
	hits, err := s.Memory.Recall(ctx, q)
	if err != nil {
		return nil, err
	}
	units := make([]unit, 0, len(hits))
	identifiers := identifiersIn(ctx, q.Text)
	for _, h := range hits {
		u := unit{src: s, entry: h.Entry, terms: termsOf(h.Explanation, identifiers)}
		u.Shown = session.Shown{In: s.In, Name: h.Entry.Name, Version: h.Entry.Version}
		u.Strength, u.Floor = gate.StrengthOf(u.terms), s.Floor
		units = append(units, u)
	}
	return units, nil
}

// shorten makes the words of a query those that count most.
func (s *Source) shorten(ctx context.Context, q *oxbow.Query) error {
	read, err := s.Memory.ParseQuery(ctx, *q)
	if err != nil || len(read.Terms) <= mostWords {
		return err
	}
	slices.SortStableFunc(read.Terms, func(a, b oxbow.ParsedTerm) int { return cmp.Compare(b.IDF, a.IDF) })
	var ws []string
	for _, t := range read.Terms[:mostWords] {
		ws = append(ws, t.Word)
	}
	q.Text = strings.Join(ws, " ")
	return nil
}

// termsOf returns the terms of a prompt as a unit holds them.
func termsOf(x *oxbow.Explanation, identifiers map[string]string) (terms []gate.Term) {
	if x == nil {
		return nil
	}
	for _, t := range x.Terms {
		terms = append(
			terms,
			gate.Term{Text: t.Term, Most: saturated * t.Weight * t.IDF, IDF: t.IDF, Score: t.Score, Held: t.TF > 0,
				Absent: t.DF == 0,
				Of:     identifiers[t.Term]},
		)
	}
	return terms
}

// identifiersIn returns, by term, the identifiers of a text, which have several terms: names such
// as parse.go, legacy_sku and TypeScript. A term that is also a word of the text is left out.
// Words that a hyphen joins are words. Scripts without spaces have no identifiers.
func identifiersIn(ctx context.Context, text string) map[string]string {
	analyzer := analysis.NewAnalyzer()
	of := map[string]string{}
	for chunk := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || r == '-' }) {
		terms, _ := analyzer.Question(ctx, chunk)
		name := ""
		if len(terms) > 1 && !strings.ContainsFunc(chunk, isIdeograph) {
			name = chunk
		}
		for _, t := range terms {
			if was, seen := of[t.Term]; !seen || was != "" {
				of[t.Term] = name
			}
		}
	}
	return of
}

func isIdeograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}
