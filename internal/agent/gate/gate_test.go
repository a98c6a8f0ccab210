// This file tests how strongly a note or a turn matches a prompt, and the floor, which is the minimum strength for
// being shown. The expected values were computed by hand.

package gate

import (
	"math"
	"testing"
)

func term(text string, idf, score float64) PromptTerm {
	return PromptTerm{Text: text, Most: 2.2 * idf, IDF: idf, Score: score, Held: score > 0}
}

func TestStrengthOf(t *testing.T) {
	s := TurnMatchStrength([]PromptTerm{
		term("kayak", 5, 8),
		term("price", 3, 4),
		{Text: "bornholm", Most: 13.2, IDF: 6, Absent: true},
	})
	// the expected share is 12 / (2.2·(5+3+6/2)), and the expected strength is share·√12
	if want := 12 / 24.2 * math.Sqrt(12); math.Abs(s.Strength-want) > 1e-9 || s.MatchedWords != 2 ||
		s.MatchedSubjectWords != 2 ||
		math.Abs(s.UnknownWordShare-6./14) > 1e-9 {
		t.Errorf("MakeStrength = %+v, want g %v, 2 terms, unknown 6/14", s, want)
	}
	if s := TurnMatchStrength([]PromptTerm{term("kayak", 5, 8)}); s.Strength != 0 || s.MatchedWords != 1 {
		t.Errorf("of one term: %+v, want g 0", s)
	}
	if s := TurnMatchStrength(nil); s != (PromptMatchStrength{}) {
		t.Errorf("of none: %+v", s)
	}
}

// TestIdentifiers tests that TurnMatchStrength does not count each part of an identifier as a word. For example, the
// parts type and script of TypeScript are not two more words. If a note contains the parts, the identifier counts as
// one word, or as two words if it is long. If no note contains the parts, the identifier counts as a single unknown
// word.
func TestIdentifiers(t *testing.T) {
	part := func(of, text string, idf, score float64) PromptTerm {
		w := term(text, idf, score)
		w.Of, w.Absent = of, score == 0
		return w
	}
	for _, c := range []struct {
		name    string
		terms   []PromptTerm
		matched int
		unknown float64
	}{
		{
			"a product",
			[]PromptTerm{
				part("TypeScript", "type", 3, 4),
				part("TypeScript", "script", 4, 4),
				part("TypeScript", "typescript", 5, 8),
			},
			1,
			0,
		},
		{
			"a file",
			[]PromptTerm{part("main.go", "main", 3, 4), part("main.go", "go", 4, 4), part("main.go", "main.go", 5, 8)},
			1,
			0,
		},
		{"with an underscore", []PromptTerm{part("queue_depth", "queue", 3, 4), part("queue_depth", "depth", 4, 4)}, 2,
			0},
		{
			"a path with an underscore",
			[]PromptTerm{part("dags/queue_depth.py", "queue", 3, 4), part("dags/queue_depth.py", "depth", 4, 4)},
			1,
			0,
		},
		{
			"a path with many parts",
			[]PromptTerm{part("libs/kit/load.py", "libs", 3, 4), part("libs/kit/load.py", "kit", 4, 4),
				part("libs/kit/load.py", "load", 4, 4), part("libs/kit/load.py", "py", 4, 4)},
			1,
			0,
		},
		{
			"with three parts",
			[]PromptTerm{
				part("getUserName", "get", 3, 4),
				part("getUserName", "user", 4, 4),
				part("getUserName", "name", 4, 4),
				part("getUserName", "getusername", 5, 8),
			},
			2,
			0,
		},
		{
			"one that no unit has",
			[]PromptTerm{term("drop", 5, 5), term("column", 5, 5), part("legacy_sku", "legacy", 6, 0),
				part("legacy_sku", "sku", 6, 0), part("legacy_sku", "legacy_sku", 6, 0)},
			2,
			6. / 16,
		},
		{
			"a part that a unit has",
			[]PromptTerm{
				term("drop", 5, 5),
				part("old_sku", "old_sku", 6, 0),
				part("old_sku", "sku", 5, 5),
				part("old_sku", "old", 6, 0),
			},
			3,
			0,
		},
	} {
		if s := TurnMatchStrength(c.terms); s.MatchedWords != c.matched ||
			math.Abs(s.UnknownWordShare-c.unknown) > 1e-9 {
			t.Errorf(
				"%s: %d words, unknown %v; want %d and %v",
				c.name,
				s.MatchedWords,
				s.UnknownWordShare,
				c.matched,
				c.unknown,
			)
		}
	}
}

func TestSteeringWords(t *testing.T) {
	s := TurnMatchStrength([]PromptTerm{
		term("look", 2, 3),
		term("good", 2, 3),
		term("test", 3, 4),
		{Text: "commit", IDF: 5, Absent: true},
	})
	if s.MatchedSubjectWords != 0 || s.UnknownWordShare != 0 || s.MatchedWords != 3 {
		t.Errorf("of steering words: %+v", s)
	}
	if got := MinStrength(0).AnswerKindForQuestion(s); got != AnswerSilence {
		t.Errorf("Answer = %s, want silence for steering words alone", got)
	}
}

func TestAnswer(t *testing.T) {
	sure := PromptMatchStrength{Strength: 3, Score: 12, MatchedWords: 2, MatchedSubjectWords: 2}
	for _, c := range []struct {
		name   string
		change func(*PromptMatchStrength)
		want   AnswerKind
	}{
		{"sure", func(*PromptMatchStrength) {}, AnswerQuotes},
		{"at the floor", func(s *PromptMatchStrength) { s.Strength = 2 }, AnswerSilence},
		{"two common words", func(s *PromptMatchStrength) { s.Score = 5.9 }, AnswerSilence},
		{"a word nobody wrote", func(s *PromptMatchStrength) { s.UnknownWordShare = .3 }, AnswerEntryPointers},
		{"one word and a word nobody wrote", func(s *PromptMatchStrength) {
			s.UnknownWordShare,
				s.MatchedSubjectWords = .3, 1
		},
			AnswerSilence},
		{"one word", func(s *PromptMatchStrength) { s.MatchedSubjectWords = 1 }, AnswerQuotes},
		{"a small one", func(s *PromptMatchStrength) { s.UnknownWordShare = .1 }, AnswerQuotes},
	} {
		s := sure
		c.change(&s)
		if got := MinStrength(2).AnswerKindForQuestion(s); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		floor    MinStrength
		g        float64
		subject  int
		question AnswerKind
		order    AnswerKind
	}{
		{.5, .9, 2, AnswerQuotes, AnswerSilence},
		{.5, 1.15, 2, AnswerQuotes, AnswerQuotes},
		{.5, 1.9, 1, AnswerQuotes, AnswerSilence},
		{1.5, 1.4, 2, AnswerSilence, AnswerSilence},
		{.5, .9, 3, AnswerQuotes, AnswerSilence},
		{.5, .9, 4, AnswerQuotes, AnswerQuotes},
		{1, .9, 4, AnswerSilence, AnswerSilence},
	} {
		s := PromptMatchStrength{Strength: c.g, Score: 12, MatchedWords: 2, MatchedSubjectWords: c.subject}
		if got := c.floor.AnswerKindForQuestion(s); got != c.question {
			t.Errorf("floor %v, %+v: a question gets %s, want %s", c.floor, s, got, c.question)
		}
		if got := c.floor.AnswerKindForInstruction(s); got != c.order {
			t.Errorf("floor %v, %+v: an order gets %s, want %s", c.floor, s, got, c.order)
		}
	}
	if f := MinStrength(2); !f.CanBeShownWithStronger(PromptMatchStrength{Strength: 1}) ||
		f.CanBeShownWithStronger(PromptMatchStrength{Strength: .9}) {
		t.Error("a unit joins from half of the floor on")
	}
}

func TestFloorOf(t *testing.T) {
	var english []float64
	for i := range 100 {
		english = append(english, float64(i+1)/10)
	}
	got := MinStrengthFromDecoys(map[string][]float64{"en": english, "de": {2, 1}, "ja": nil})
	if got != 9.8 { // two of the hundred strengths are above 9.8
		t.Errorf("FloorForDecoys = %v, want 9.8", got)
	}
	if got := MinStrengthFromDecoys(map[string][]float64{"en": {.1, .2}}); got != lowestMinStrength {
		t.Errorf("FloorForDecoys of a small memory = %v, want %v", got, lowestMinStrength)
	}
}
