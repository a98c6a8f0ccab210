// The decision: payload, pointer or silence.

// Package gate decides whether a prompt deserves a memory. It has no clock and no
// files. Its input is what a search made of the prompt, and a floor that was calibrated
// on decoys, prompts to which no memory has an answer ([Decoys]).
//
// The strength of a unit u for a prompt of terms t is
//
//	g = share · √score,  share = Σ score(t, u) ÷ Σ (k1+1)·weight(t)·idf(t)
//
// where score is that of BM25 and (k1+1)·weight·idf the most that a term can give. A
// term that no unit holds counts with the idf of a document frequency of 0: so the
// words that are missing lower the share of a foreign subject. Bench's command inject
// compares this rule with others.
package gate

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// Answer is what a prompt gets.
type Answer string

// The answers.
const (
	Silence Answer = "silence"
	Pointer Answer = "pointer" // one line that names what there is
	Payload Answer = "payload" // sentences of what was found
)

// What a unit needs besides a strength above the floor.
const (
	leastMatched = 2  // terms of the prompt that it holds
	leastSubject = 1  // of them, terms that are no steering words
	leastNamed   = 2  // the same for a pointer, which part of the prompt speaks against
	leastScore   = 6. // so that two common words are too little in a small memory, too

	// mostUnknown is the share of terms that no unit holds, by idf and without
	// steering words, above which there is a pointer only: the memory has the
	// subject, and no answer.
	mostUnknown = .2

	// companion is the part of the floor from which on a unit is shown next to one
	// above it.
	companion = .5

	// longIdentifier is how many terms an identifier has that counts as two words, because it
	// is as rare as two: three parts and the whole. So does one with an underscore. Names of
	// files and products, such as main.go and TypeScript, are in prompts of any kind.
	longIdentifier = 4

	lowest = .5 // the floor is not lower, however small a memory is
)

// Term is a term of a prompt, as a unit holds it.
type Term struct {
	Text   string
	Most   float64 // the most that it can give: (k1+1)·weight·idf
	IDF    float64 // that of a document frequency of 0 where no unit holds it
	Score  float64 // what it gives to the unit's score
	Held   bool    // the unit holds it itself
	Absent bool    // no unit holds it

	// Of is the identifier that the term is a part of, such as parse.go for parse, go and
	// parse.go; "" for a word.
	Of string
}

// Strength is how well a unit answers a prompt.
type Strength struct {
	G       float64 `json:"g"`
	Share   float64 `json:"share"`   // of what all terms could give, from 0 to 1
	Score   float64 `json:"score"`   // the sum of what they give
	Matched int     `json:"matched"` // terms that the unit holds
	Subject int     `json:"subject"` // of them, those that are no steering words
	Unknown float64 `json:"unknown"` // share of terms that no unit holds, by idf
}

// StrengthOf returns the strength of a unit that holds the terms so. The terms of an identifier
// count as one word, or as two if it is long or has an underscore.
func StrengthOf(terms []Term) Strength {
	var s Strength
	most := 0.0
	absent := 0.0
	all := 0.0
	for _, w := range words(terms) {
		most += w.Most
		s.Score += max(w.Score, 0)
		if !w.steers {
			all += w.IDF
			if w.Absent {
				absent += w.IDF
			}
		}
		if w.Held {
			s.Matched += w.count
			if !w.steers {
				s.Subject += w.count
			}
		}
	}
	if most > 0 && s.Matched >= leastMatched {
		s.Share = s.Score / most
	}
	if all > 0 {
		s.Unknown = absent / all
	}
	s.G = s.Share * math.Sqrt(s.Score)
	return s
}

// word is a word of a prompt, or an identifier.
type word struct {
	Term
	steers bool // people steer an agent by it, or it is a stop word
	count  int  // words that it counts as
}

// words returns the words of a prompt. The terms of one identifier are joined: what it can give
// is what its terms can give that some unit holds. If there are none, it is what the rarest of
// them can give.
func words(terms []Term) (all []word) {
	at := map[string]int{}
	size := map[string]int{}
	for _, t := range terms {
		w := word{t, steering()[t.Text] || analysis.IsStopWord(t.Text), 1}
		i, isJoined := at[t.Of]
		if t.Of == "" || !isJoined {
			at[t.Of] = len(all)
			size[t.Of] = 1
			all = append(all, w)
			continue
		}
		size[t.Of]++
		if size[t.Of] >= longIdentifier || strings.Contains(t.Of, "_") {
			all[i].count = 2
		}
		all[i].join(w)
	}
	return all
}

// join adds another term of the same identifier.
func (w *word) join(o word) {
	w.steers = w.steers && o.steers
	w.Held = w.Held || o.Held
	w.Score = max(w.Score, 0) + max(o.Score, 0)
	switch {
	case w.Absent == o.Absent && w.Absent:
		w.Most = max(w.Most, o.Most)
		w.IDF = max(w.IDF, o.IDF)
	case w.Absent == o.Absent:
		w.Most += o.Most
		w.IDF = max(w.IDF, o.IDF)
	case w.Absent:
		w.Most = o.Most
		w.IDF = o.IDF
		w.Absent = false
	}
}

//go:embed steering.txt
var steeringWords string

// steering returns the terms of the words by which people steer an agent.
var steering = sync.OnceValue(func() map[string]bool {
	terms := map[string]bool{}
	for line := range strings.Lines(steeringWords) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for w := range strings.FieldsSeq(line) {
			terms[analysis.Root(analysis.Fold(w))] = true
		}
	}
	return terms
})

// Floor is the strength that a unit of a memory has to be above.
type Floor float64

// Never is the floor that nothing is above.
const Never Floor = math.MaxFloat64

// decoysAbove is the share of the decoys of a language that may be above the floor.
const decoysAbove = .02

// FloorOf returns the floor for the strengths of decoys, by language: the highest of
// their 98th percentiles, since a memory is in one or two of the languages.
func FloorOf(gs map[string][]float64) Floor {
	floor := lowest
	for _, of := range gs {
		of = slices.Sorted(slices.Values(of))
		if len(of) > 0 {
			floor = max(floor, of[int(math.Ceil((1-decoysAbove)*float64(len(of))))-1])
		}
	}
	return Floor(floor)
}

// Answer returns what the prompt gets of a unit.
func (f Floor) Answer(s Strength) Answer {
	switch {
	case s.G <= float64(f) || s.Score < leastScore || s.Subject < leastSubject:
		return Silence
	case s.Unknown > mostUnknown && s.Subject < leastNamed:
		return Silence
	case s.Unknown > mostUnknown:
		return Pointer
	}
	return Payload
}

// Joins reports whether a unit may be shown next to one that gets an answer.
func (f Floor) Joins(s Strength) bool { return s.G >= companion*float64(f) }
