// This file chooses the sentences of a unit that are shown.

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
	mostSentences = 2     // maximum sentences of the strongest unit, in addition to a conclusion
	moreSentences = 1     // maximum sentences of each other unit, in addition to a conclusion
	mostShown     = 200   // maximum characters of each sentence
	moreShown     = 120   // maximum characters per sentence in later units of a large block
	mostLooked    = 1_000 // maximum number of a unit's sentences that are considered
)

// candidate is a sentence of a unit that may be shown.
type candidate struct {
	text         string
	at           int
	score        float64 // sum of idf for the prompt's terms in the sentence
	isConclusion bool
}

// quote is a unit with the sentences to show.
type quote struct {
	*unit
	sentences []sentence
}

// sentence is a sentence of a quote.
type sentence struct {
	candidate
	shown string // the part of the sentence that is shown, on one line
	print string // fingerprint of shown before it was shortened
}

// text returns the text that is shown of the unit.
func (q *quote) text() string {
	var all []string
	for _, s := range q.sentences {
		all = append(all, s.shown)
	}
	return strings.Join(all, " ")
}

// shorten shortens the sentences to [moreShown] characters. It reports whether any sentence was
// longer.
func (q *quote) shorten() (isShorter bool) {
	for i := range q.sentences {
		s := &q.sentences[i]
		if short := OneLine(text.Snippet(s.candidate.text, q.snippetWords(), moreShown)); len(short) < len(s.shown) {
			s.shown = short
			isShorter = true
		}
	}
	return isShorter
}

// dropWeakest removes the sentence with the lowest score, the last of several.
func (q *quote) dropWeakest() {
	at := 0
	for i, s := range q.sentences {
		if s.score <= q.sentences[at].score {
			at = i
		}
	}
	q.sentences = slices.Delete(q.sentences, at, at+1)
}

// quote returns the unit's sentences to show, in text order. These are the maxSentences sentences
// with the best scores, and the best sentence that states a conclusion. Sentences whose fingerprint
// is in asked are not chosen. Chosen sentences whose fingerprint is in shown are left out of the
// result.
func (u *unit) quote(asked, shown map[string]bool, maxSentences int) quote {
	content := u.spokenText()
	all := u.scoreSentences(content)
	if len(all) == 0 { // without prose, such as code, a table or a list of figures
		all = append(all, candidate{text: text.Snippet(content, u.snippetWords(), mostShown), score: 1})
	}
	best := slices.Clone(all)
	slices.SortStableFunc(best, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	var chosen []candidate
	concluded := false
	for i, c := range best {
		if asked[fingerprint(c.text)] {
			continue
		}
		take := len(chosen) < maxSentences && (c.score > 0 || i == 0)
		isConclusion := c.isConclusion && c.score > 0
		if isConclusion && !concluded {
			take, concluded = true, true
		}
		if take {
			chosen = append(chosen, c)
		}
	}
	slices.SortFunc(chosen, func(a, b candidate) int { return cmp.Compare(a.at, b.at) })
	q := quote{unit: u}
	for _, c := range chosen {
		said := OneLine(text.Snippet(c.text, u.snippetWords(), mostShown))
		if said != "" && !shown[fingerprint(said)] {
			q.sentences = append(q.sentences, sentence{c, said, fingerprint(said)})
		}
	}
	return q
}

// scoreSentences returns the first [mostLooked] sentences of content, with their scores for the prompt.
// Headings are left out.
func (u *unit) scoreSentences(content string) (all []candidate) {
	idf := map[string]float64{}
	var terms []string
	for _, t := range u.terms {
		if t.Held {
			idf[t.Text] = t.IDF
			terms = append(terms, t.Text)
		}
	}
	find := analysis.NewFinder(analysis.NewChoice(terms, nil))
	concluded := map[string]bool{}
	for _, s := range extract.FindConclusions(content) {
		concluded[s] = true
	}
	for s := range extract.EachSentence(content) {
		if len(all) == mostLooked {
			break
		}
		if isHeading(s) {
			continue
		}
		c := candidate{text: s, at: len(all), isConclusion: concluded[s]}
		held := map[string]bool{}
		find.FindPositions(context.Background(), s, func(term string, _ int) {
			if !held[term] {
				held[term] = true
				c.score += idf[term]
			}
		})
		all = append(all, c)
	}
	return all
}

// isHeading reports whether a sentence only introduces the next lines: it ends with a colon.
func isHeading(s string) bool {
	s = strings.TrimRight(s, "*_ ")
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：")
}

// snippetWords returns the terms of the prompt that the unit contains, in lower case, for a snippet.
func (u *unit) snippetWords() (ws []string) {
	for _, t := range u.terms {
		if t.Held {
			ws = append(ws, strings.ToLower(t.Text))
		}
	}
	return ws
}
