// This file chooses which sentences of a memory entry are quoted to the model.

package inject

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/session/extract"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

const (
	// maximum number of sentences from the best entry, besides a sentence that states the entry's conclusion
	maxSentencesOfStrongestEntry = 2
	// maximum number of sentences from each weaker entry, besides a sentence that states the entry's conclusion
	maxSentencesOfWeakerEntry = 1
	maxSentenceChars          = 200 // maximum length of a sentence in characters
	// maximum length of a quoted sentence if the whole text would otherwise be too long
	maxShortenedSentenceChars = 120
	maxScoredSentences        = 1_000 // maximum number of sentences that are considered for quoting in one entry
)

// quotableSentence is a sentence of a memory entry that may be quoted to the model.
type quotableSentence struct {
	text             string
	index            int
	promptTermIDFSum float64 // sum of the inverse document frequencies of the prompt terms in the sentence
	isConclusion     bool
}

// quotedEntry is an entry of the memory with the sentences that are quoted from it for a prompt.
type quotedEntry struct {
	*foundEntry
	sentences []quotedSentence
}

// quotedSentence is a sentence of an entry that is quoted to the model.
type quotedSentence struct {
	quotableSentence
	shownText   string // part of the sentence that is shown to the model, on one line
	fingerprint string // fingerprint of the whole sentence, of which shownText may be only a part
}

// quotedText returns the quoted sentences, joined to one text.
func (q *quotedEntry) quotedText() string {
	var all []string
	for _, s := range q.sentences {
		all = append(all, s.shownText)
	}
	return strings.Join(all, " ")
}

// shortenSentences shortens each sentence to at most [maxShortenedSentenceChars] characters. It reports whether any
// sentence became shorter.
func (q *quotedEntry) shortenSentences() (isShorter bool) {
	for i := range q.sentences {
		s := &q.sentences[i]
		if short := JoinToOneLine(text.Snippet(s.quotableSentence.text, q.snippetWords(),
			maxShortenedSentenceChars)); len(
			short,
		) < len(
			s.shownText,
		) {
			s.shownText = short
			isShorter = true
		}
	}
	return isShorter
}

// dropLowestScoredSentence removes the quoted sentence that matches the prompt worst, which is the one with the lowest
// score. If several sentences have the lowest score, it removes the last one.
func (q *quotedEntry) dropLowestScoredSentence() {
	at := 0
	for i, s := range q.sentences {
		if s.promptTermIDFSum <= q.sentences[at].promptTermIDFSum {
			at = i
		}
	}
	q.sentences = slices.Delete(q.sentences, at, at+1)
}

// selectSentences chooses the entry's sentences to quote and returns them in the text's order. It chooses the
// maxSentences sentences with the highest scores, and the best sentence that states a conclusion. It never chooses a
// sentence that the prompt contains (promptFingerprints). From the chosen sentences, it removes the sentences that the
// session was already shown (shownFingerprints). It chooses no other sentences instead.
func (u *foundEntry) selectSentences(
	promptFingerprints, shownFingerprints map[string]bool,
	maxSentences int,
) quotedEntry {
	content := u.textWithoutToolOutput()
	all := u.scoreSentences(content)
	if len(all) == 0 { // The entry contains no sentences. For example, it contains code, a table or a list of figures.
		all = append(
			all,
			quotableSentence{text: text.Snippet(content, u.snippetWords(), maxSentenceChars), promptTermIDFSum: 1},
		)
	}
	best := slices.Clone(all)
	slices.SortStableFunc(
		best,
		func(a, b quotableSentence) int { return cmp.Compare(b.promptTermIDFSum, a.promptTermIDFSum) },
	)
	var chosen []quotableSentence
	concluded := false
	for i, c := range best {
		if promptFingerprints[sentenceFingerprint(c.text)] {
			continue
		}
		take := len(chosen) < maxSentences && (c.promptTermIDFSum > 0 || i == 0)
		isConclusion := c.isConclusion && c.promptTermIDFSum > 0
		if isConclusion && !concluded {
			take, concluded = true, true
		}
		if take {
			chosen = append(chosen, c)
		}
	}
	slices.SortFunc(chosen, func(a, b quotableSentence) int { return cmp.Compare(a.index, b.index) })
	q := quotedEntry{foundEntry: u}
	for _, c := range chosen {
		said := JoinToOneLine(text.Snippet(c.text, u.snippetWords(), maxSentenceChars))
		if said != "" && !shownFingerprints[sentenceFingerprint(said)] {
			q.sentences = append(q.sentences, quotedSentence{c, said, sentenceFingerprint(said)})
		}
	}
	return q
}

// scoreSentences returns the first [maxScoredSentences] sentences of content with their scores, without headings.
func (u *foundEntry) scoreSentences(content string) (all []quotableSentence) {
	idf := map[string]float64{}
	var terms []string
	for _, t := range u.promptTerms {
		if t.IsInText {
			idf[t.Text] = t.IDF
			terms = append(terms, t.Text)
		}
	}
	find := analysis.NewTermFinder(analysis.NewTermSet(terms, nil))
	concluded := map[string]bool{}
	for _, s := range extract.FindConclusions(content) {
		concluded[s] = true
	}
	for s := range extract.Sentences(content) {
		if len(all) == maxScoredSentences {
			break
		}
		if isHeading(s) {
			continue
		}
		c := quotableSentence{text: s, index: len(all), isConclusion: concluded[s]}
		held := map[string]bool{}
		find.FindInText(context.Background(), s, func(term string, _ int) {
			if !held[term] {
				held[term] = true
				c.promptTermIDFSum += idf[term]
			}
		})
		all = append(all, c)
	}
	return all
}

// isHeading reports whether a sentence only introduces the next lines, because it ends with a colon.
func isHeading(s string) bool {
	s = strings.TrimRight(s, "*_ ")
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：")
}

// snippetWords returns the prompt's terms that the found entry contains, in lower case. A snippet of the entry shows
// the text around these words.
func (u *foundEntry) snippetWords() (ws []string) {
	for _, t := range u.promptTerms {
		if t.IsInText {
			ws = append(ws, strings.ToLower(t.Text))
		}
	}
	return ws
}
