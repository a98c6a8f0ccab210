// The decision: payload, pointer or silence.

// Package gate decides whether a prompt deserves a memory. It knows no clock and no
// files: it is given what a search made of the prompt, and thresholds that were
// calibrated on decoys, prompts to which no memory has an answer ([Decoys]).
//
// The strength of a unit u for a prompt of terms t is
//
//	g = coverage · √score,  coverage = Σ idf(t in u) ÷ Σ idf(t)
//
// where a term that no document holds counts with the idf of a document frequency
// of 0: so a foreign subject is seen by the words that are missing.
package gate

import (
	"math"
	"slices"
)

// Answer is what a prompt gets.
type Answer string

// The answers.
const (
	Silence Answer = "silence"
	Pointer Answer = "pointer" // one line that says what there is
	Payload Answer = "payload" // sentences of what was found
)

// LeastMatched is the fewest terms of a prompt that a unit must hold.
const LeastMatched = 2

// Term is a term of a prompt, as a unit holds it.
type Term struct {
	Text  string
	IDF   float64 // that of a document frequency of 0 where no document holds it
	Score float64 // what it gives to the unit's score; 0 where the unit does not hold it
}

// Strength is how well a unit answers a prompt.
type Strength struct {
	G        float64 `json:"g"`
	Coverage float64 `json:"coverage"` // from 0 to 1
	Score    float64 `json:"score"`    // the sum of the terms' scores
	Matched  int     `json:"matched"`  // terms that the unit holds
}

// StrengthOf returns the strength of a unit that holds the terms so.
func StrengthOf(terms []Term) Strength {
	var s Strength
	held, all := 0.0, 0.0
	for _, t := range terms {
		all += t.IDF
		if t.Score > 0 {
			held += t.IDF
			s.Score += t.Score
			s.Matched++
		}
	}
	if all > 0 {
		s.Coverage = held / all
	}
	s.G = s.Coverage * math.Sqrt(s.Score)
	return s
}

// Floor are the thresholds of a memory.
type Floor struct {
	Pointer float64 `json:"pointer"` // above it there is a pointer,
	Payload float64 `json:"payload"` // above it a payload
}

// The shares of decoys that may be above the thresholds.
const (
	sharePointer = .10
	sharePayload = .02
)

// FloorOf returns the thresholds for the strengths of decoys, which it sorts. Without
// any there is no threshold, and nothing is above it.
func FloorOf(gs []float64) Floor {
	slices.Sort(gs)
	at := func(share float64) float64 {
		if len(gs) == 0 {
			return math.MaxFloat64
		}
		return gs[min(len(gs)-1, int(math.Ceil((1-share)*float64(len(gs))))-1)]
	}
	return Floor{at(sharePointer), at(sharePayload)}
}

// Answer returns the answer for a unit.
func (f Floor) Answer(s Strength) Answer {
	switch {
	case s.Matched < LeastMatched || s.G <= f.Pointer:
		return Silence
	case s.G <= f.Payload:
		return Pointer
	}
	return Payload
}
