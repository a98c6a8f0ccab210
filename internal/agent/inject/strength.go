// This file computes how strongly a memory's entries match the words of a prompt.

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
	// Maximum number of words in a search; a longer prompt is reduced to its rarest words.
	maxSearchWords         = 24
	maxProseBytes          = 16 << 10 // how many bytes of a prompt are considered at most
	maxTermFrequencyFactor = 2.2      // BM25 parameter k1 + 1: maximum score of a term, divided by its weight and idf

	textLengthWeight  = .75 // BM25 parameter b: how much the length of a text reduces its score
	maxShortNoteWords = 60. // a note with at most this many words does not get a lower score because of its length

	// minEntriesForUniqueWords is a minimum number of entries in a memory. A word that occurs in only one entry counts
	// as unique only if the memory has at least so many entries, because in a smaller memory most words occur in only
	// one entry.
	minEntriesForUniqueWords = 40
)

// stackFramePattern matches the lines of a stack trace as printed by Java, JavaScript, Python and Go: the lines that
// name a place in a program, and the line that begins the trace. It does not match the error message.
var stackFramePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Exception in thread "[^"\n]*"|Traceback \(most recent call last\):|` +
		`\bat [\w$.<>/]+ ?\([^()\s]+:\d+\)|File "[^"\n]+", line \d+(, in \S+)?|goroutine \d+ \[[^\]\n]*\]:`)
})

// personWrittenText returns the part of a prompt that the person wrote. It removes the blocks of hooks, and pasted
// code, quotations and logs. If more than [maxProseBytes] bytes remain, it returns only the beginning and the end of
// the remaining text, because the request is usually there.
func personWrittenText(prompt string) string {
	var sentences []string
	size := 0
	for s := range extract.Sentences(stackFramePattern().ReplaceAllString(session.StripInsertedBlocks(prompt), " ")) {
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

// rankEntries returns the notes or turns in a memory that match the words best, each with the match's strength. It
// returns at most limit results. analyzer finds the identifiers among the words.
func (s *MemorySource) rankEntries(
	ctx context.Context,
	analyzer *analysis.Analyzer,
	queryWords string,
	f oxbow.Filter,
	limit int,
) ([]foundEntry, error) {
	q := oxbow.Query{Text: queryWords, Limit: limit, Weigh: true, Filter: f, Rank: oxbow.RankOxbow}
	if len(strings.Fields(queryWords)) > maxSearchWords {
		if err := s.keepRarestWords(ctx, &q); err != nil {
			return nil, err
		}
	}
	hits, err := s.Memory.Recall(ctx, q)
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	units := make([]foundEntry, 0, len(hits))
	identifiers := mapTermsToIdentifiers(ctx, analyzer, q.Text)
	for _, h := range hits {
		u := foundEntry{source: s, storedEntry: h.Entry}
		u.ShownEntry = session.ShownEntry{SourceKind: s.SourceKind, Name: h.Entry.Name, Version: h.Entry.Version}
		u.MinStrength = s.MinStrength
		u.promptTerms = termsFromExplanation(h.Explanation, identifiers)
		if s.SourceKind == SourceKindSessions || analysis.IsPersonTurn(h.Entry.Content) {
			u.PromptMatchStrength = gate.ComputeTurnMatchStrength(u.promptTerms)
		} else {
			adjustTermScoresForNoteLength(h.Explanation, u.promptTerms)
			u.PromptMatchStrength = gate.NoteMatchStrength(u.promptTerms, h.Entry.Content)
		}
		units = append(units, u)
	}
	return units, nil
}

// keepRarestWords reduces the query's text to the [maxSearchWords] words with the highest idf.
func (s *MemorySource) keepRarestWords(ctx context.Context, q *oxbow.Query) error {
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

// termsFromExplanation converts x, which explains the search score of an entry, to terms. Package gate computes from
// these terms how strongly the entry matches the prompt. The keys of the argument identifiers are terms. The values are
// the identifiers in the prompt that contain these terms. The result is nil if x is nil.
func termsFromExplanation(x *oxbow.Explanation, identifiers map[string]string) (terms []gate.PromptTerm) {
	if x == nil {
		return nil
	}
	for _, t := range x.Terms {
		terms = append(
			terms,
			gate.PromptTerm{
				Text:               t.Term,
				MaxScore:           maxTermFrequencyFactor * t.Weight * t.IDF,
				IDF:                t.IDF,
				Score:              t.Score,
				IsInText:           t.TF > 0,
				IsAbsentFromMemory: t.DF == 0,
				IsUniqueInMemory:   t.DF == 1 && x.Entries >= minEntriesForUniqueWords,
				Identifier:         identifiers[t.Term],
			},
		)
	}
	return terms
}

// adjustTermScoresForNoteLength adjusts the scores for a prompt's terms to the length of the note that x explains.
// terms[i] belongs to x.Terms[i].
//
// The Score of a term in the note is lower in a long note, because a long note contains more words by chance. All notes
// with at most [maxShortNoteWords] words are treated alike, because a note with four sentences answers a prompt as well
// as a note with one sentence. For a term that the note lacks, only MaxScore is set, as if the prompt contained the
// term only once.
func adjustTermScoresForNoteLength(x *oxbow.Explanation, terms []gate.PromptTerm) {
	if x == nil {
		return
	}
	length := max(1, 1-textLengthWeight+textLengthWeight*x.Length/max(x.AvgLen, maxShortNoteWords))
	for i, t := range x.Terms {
		if t.TF > 0 {
			terms[i].Score = terms[i].MaxScore * t.TF / (t.TF + (maxTermFrequencyFactor-1)*length)
		} else {
			terms[i].MaxScore = maxTermFrequencyFactor * min(t.Weight, 1) * t.IDF
		}
	}
}

// mapTermsToIdentifiers splits a text into search terms. The keys of the returned map are the terms. The value for a
// term is the identifier that contains the term. The value is "" if the text also contains the term as a separate word,
// outside of an identifier.
//
// An identifier is a name that consists of several terms, such as parse.go, legacy_sku or TypeScript. A hyphen
// separates words, except in a path. Text in a script that lacks spaces between words does not contain identifiers.
func mapTermsToIdentifiers(ctx context.Context, analyzer *analysis.Analyzer, text string) map[string]string {
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

// identifierChunks splits a text into the parts in which identifiers are searched. It splits the text at spaces, and
// yields each field that contains a slash unchanged. It splits all fields without a slash at dashes, and yields their
// nonempty parts.
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
