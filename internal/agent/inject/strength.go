// This file computes how well a memory's units answer a prompt's words.

package inject

import (
	"cmp"
	"context"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/extract"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

const (
	maxSearchWords = 24       // maximum number of words that are searched for: the prompt's rarest words
	maxProseBytes  = 16 << 10 // maximum number of a prompt's bytes that are considered
	maxTermFactor  = 2.2      // k1 + 1: the highest score of a term, divided by weight and idf

	lengthWeight   = .75 // b: how much the length of a text counts in a score
	shortNoteWords = 60. // weighted words of a note up to which its length does not count

	// minEntriesForUnique is the minimum number of entries for a word in a single entry to count as unique. In a
	// smaller memory, most words occur in a single entry only.
	minEntriesForUnique = 40
)

// stackFramePattern matches stack trace lines as Java, JavaScript, Python and Go print them. These are
// lines with a place in a program, and the line with which a trace begins. It does not match the
// message of the error.
var stackFramePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Exception in thread "[^"\n]*"|Traceback \(most recent call last\):|` +
		`\bat [\w$.<>/]+ ?\([^()\s]+:\d+\)|File "[^"\n]+", line \d+(, in \S+)?|goroutine \d+ \[[^\]\n]*\]:`)
})

// personProse returns the part of a prompt that the person wrote, without hooks' blocks and without
// pasted code, quotations and logs. For a text of more than [maxProseBytes] bytes, it returns the
// beginning and the end, because these usually contain the request.
func personProse(prompt string) string {
	var sentences []string
	size := 0
	for s := range extract.Sentences(stackFramePattern().ReplaceAllString(session.StripFences(prompt), " ")) {
		sentences = append(sentences, s+"\n")
		size += len(s) + 1
	}
	if size <= maxProseBytes {
		return strings.Join(sentences, "")
	}
	first, last := 0, len(sentences)
	for left := maxProseBytes / 2; left >= len(sentences[first]); first++ {
		left -= len(sentences[first])
	}
	for left := maxProseBytes / 2; last > first && left >= len(sentences[last-1]); last-- {
		left -= len(sentences[last-1])
	}
	return strings.Join(sentences[:first], "") + strings.Join(sentences[last:], "")
}

// rankUnits returns the best units of a memory for the words, at most limit units, each with its
// strength. The analyzer finds the identifiers among the words.
func (s *MemorySource) rankUnits(
	ctx context.Context,
	analyzer *analysis.Analyzer,
	words string,
	f oxbow.Filter,
	limit int,
) ([]foundUnit, error) {
	q := oxbow.Query{Text: words, Limit: limit, Weigh: true, Filter: f, Rank: oxbow.RankOxbow}
	if len(strings.Fields(words)) > maxSearchWords {
		if err := s.shortenQuery(ctx, &q); err != nil {
			return nil, err
		}
	}
	hits, err := s.Memory.Recall(ctx, q)
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	units := make([]foundUnit, 0, len(hits))
	identifiers := identifiersByTerm(ctx, analyzer, q.Text)
	for _, h := range hits {
		u := foundUnit{source: s, entry: h.Entry}
		u.ShownEntry = session.ShownEntry{SourceKind: s.Kind, Name: h.Entry.Name, Version: h.Entry.Version}
		u.Floor = s.Floor
		u.terms = gateTerms(h.Explanation, identifiers)
		if s.Kind == SourceSessions || analysis.IsTalkTurn(h.Entry.Content) {
			u.Strength = gate.StrengthOfTurn(u.terms)
		} else {
			compareAsNote(h.Explanation, u.terms)
			u.Strength = gate.StrengthOfNote(u.terms, h.Entry.Content)
		}
		units = append(units, u)
	}
	return units, nil
}

// shortenQuery replaces the query's text by its [maxSearchWords] words with the highest idf.
func (s *MemorySource) shortenQuery(ctx context.Context, q *oxbow.Query) error {
	read, err := s.Memory.ParseQuery(ctx, *q)
	if err != nil || len(read.Terms) <= maxSearchWords {
		return err
	}
	slices.SortStableFunc(read.Terms, func(a, b oxbow.ParsedTerm) int { return cmp.Compare(b.IDF, a.IDF) })
	var ws []string
	for _, t := range read.Terms[:maxSearchWords] {
		ws = append(ws, t.Word)
	}
	q.Text = strings.Join(ws, " ")
	return nil
}

// gateTerms returns the terms of a prompt, compared with the unit that x explains.
func gateTerms(x *oxbow.Explanation, identifiers map[string]string) (terms []gate.Term) {
	if x == nil {
		return nil
	}
	for _, t := range x.Terms {
		terms = append(
			terms,
			gate.Term{Text: t.Term, Most: maxTermFactor * t.Weight * t.IDF, IDF: t.IDF, Score: t.Score, Held: t.TF > 0,
				Absent: t.DF == 0,
				Unique: t.DF == 1 && x.Entries >= minEntriesForUnique,
				Of:     identifiers[t.Term]},
		)
	}
	return terms
}

// compareAsNote adapts the terms to a note. The length of a note of at most [shortNoteWords] words does not count:
// a ranking prefers the shortest of several texts, but a note of four sentences answers a prompt as well as a note
// of one. A word that the note does not contain counts once, even if the prompt repeats it.
func compareAsNote(x *oxbow.Explanation, terms []gate.Term) {
	if x == nil {
		return
	}
	length := max(1, 1-lengthWeight+lengthWeight*x.Length/max(x.AvgLen, shortNoteWords))
	for i, t := range x.Terms {
		if t.TF > 0 {
			terms[i].Score = terms[i].Most * t.TF / (t.TF + (maxTermFactor-1)*length)
		} else {
			terms[i].Most = maxTermFactor * min(t.Weight, 1) * t.IDF
		}
	}
}

// identifiersByTerm returns the identifiers in a text by their terms. An identifier is a name with
// several terms, such as parse.go, legacy_sku or TypeScript. A term that is also a separate word of
// the text has the value "". Words that are joined by a hyphen are separate words, except in a path. Text in a
// script without spaces does not have identifiers.
func identifiersByTerm(ctx context.Context, analyzer *analysis.Analyzer, text string) map[string]string {
	of := map[string]string{}
	for chunk := range identifierChunks(text) {
		terms := analyzer.AnalyzeQuestion(ctx, analysis.QueryText{Words: chunk}).Words
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

// identifierChunks yields the parts of a text that may be identifiers.
func identifierChunks(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for field := range strings.FieldsSeq(text) {
			if strings.Contains(field, "/") {
				if !yield(field) {
					return
				}
				continue
			}
			for part := range strings.SplitSeq(field, "-") {
				if part != "" && !yield(part) {
					return
				}
			}
		}
	}
}

func isIdeograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}
