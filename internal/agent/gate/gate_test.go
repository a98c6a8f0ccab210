// This file tests how strongly a note or a turn matches a prompt, and the floor, which is the minimum strength for
// being shown. The expected values were computed by hand.

package gate

import (
	"math"
	"testing"
)

func term(text string, idf, score float64) PromptTerm {
	return PromptTerm{Text: text, MaxScore: 2.2 * idf, IDF: idf, Score: score, IsInText: score > 0}
}

func TestStrengthOf(t *testing.T) {
	s := ComputeTurnMatchStrength([]PromptTerm{
		term("kayak", 5, 8),
		term("price", 3, 4),
		{Text: "bornholm", MaxScore: 13.2, IDF: 6, IsAbsentFromMemory: true},
	})
	// the expected share is 12 / (2.2·(5+3+6/2)), and the expected strength is share·√12
	if want := 12 / 24.2 * math.Sqrt(12); math.Abs(s.Strength-want) > 1e-9 || s.MatchedWordCount != 2 ||
		s.MatchedSubjectWordCount != 2 ||
		math.Abs(s.UnknownWordShare-6./14) > 1e-9 {
		t.Errorf("MakeStrength = %+v, want g %v, 2 terms, unknown 6/14", s, want)
	}
	if s := ComputeTurnMatchStrength([]PromptTerm{term("kayak", 5, 8)}); s.Strength != 0 || s.MatchedWordCount != 1 {
		t.Errorf("of one term: %+v, want g 0", s)
	}
	if s := ComputeTurnMatchStrength(nil); s != (PromptMatchStrength{}) {
		t.Errorf("of none: %+v", s)
	}
}

// TestIdentifiers tests that ComputeTurnMatchStrength does not count each part of an identifier as a word. For example,
// the parts type and script of TypeScript are not two more words. If a note contains the parts, the identifier counts
// as one word, or as two words if it is long. If no note contains the parts, the identifier counts as a single unknown
// word.
func TestIdentifiers(t *testing.T) {
	part := func(of, text string, idf, score float64) PromptTerm {
		w := term(text, idf, score)
		w.Identifier, w.IsAbsentFromMemory = of, score == 0
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
		if s := ComputeTurnMatchStrength(c.terms); s.MatchedWordCount != c.matched ||
			math.Abs(s.UnknownWordShare-c.unknown) > 1e-9 {
			t.Errorf(
				"%s: %d words, unknown %v; want %d and %v",
				c.name,
				s.MatchedWordCount,
				s.UnknownWordShare,
				c.matched,
				c.unknown,
			)
		}
	}
}

func TestSteeringWords(t *testing.T) {
	s := ComputeTurnMatchStrength([]PromptTerm{
		term("look", 2, 3),
		term("good", 2, 3),
		term("test", 3, 4),
		{Text: "commit", IDF: 5, IsAbsentFromMemory: true},
	})
	if s.MatchedSubjectWordCount != 0 || s.UnknownWordShare != 0 || s.MatchedWordCount != 3 {
		t.Errorf("of steering words: %+v", s)
	}
	if got := MinMatchStrength(0).AnswerKindForQuestion(s); got != AnswerSilence {
		t.Errorf("Answer = %s, want silence for steering words alone", got)
	}
}

func TestAnswer(t *testing.T) {
	sure := PromptMatchStrength{Strength: 3, Score: 12, MatchedWordCount: 2, MatchedSubjectWordCount: 2}
	for _, c := range []struct {
		name   string
		change func(*PromptMatchStrength)
		want   AnswerKind
	}{
		{"sure", func(*PromptMatchStrength) {}, AnswerQuotedSentences},
		{"at the floor", func(s *PromptMatchStrength) { s.Strength = 2 }, AnswerSilence},
		{"two common words", func(s *PromptMatchStrength) { s.Score = 5.9 }, AnswerSilence},
		{"a word nobody wrote", func(s *PromptMatchStrength) { s.UnknownWordShare = .3 }, AnswerEntryNames},
		{"one word and a word nobody wrote", func(s *PromptMatchStrength) {
			s.UnknownWordShare,
				s.MatchedSubjectWordCount = .3, 1
		},
			AnswerSilence},
		{"one word", func(s *PromptMatchStrength) { s.MatchedSubjectWordCount = 1 }, AnswerQuotedSentences},
		{"a small one", func(s *PromptMatchStrength) { s.UnknownWordShare = .1 }, AnswerQuotedSentences},
	} {
		s := sure
		c.change(&s)
		if got := MinMatchStrength(2).AnswerKindForQuestion(s); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		floor    MinMatchStrength
		g        float64
		subject  int
		question AnswerKind
		order    AnswerKind
	}{
		{.5, .9, 2, AnswerQuotedSentences, AnswerSilence},
		{.5, 1.15, 2, AnswerQuotedSentences, AnswerQuotedSentences},
		{.5, 1.9, 1, AnswerQuotedSentences, AnswerSilence},
		{1.5, 1.4, 2, AnswerSilence, AnswerSilence},
		{.5, .9, 3, AnswerQuotedSentences, AnswerSilence},
		{.5, .9, 4, AnswerQuotedSentences, AnswerQuotedSentences},
		{1, .9, 4, AnswerSilence, AnswerSilence},
	} {
		s := PromptMatchStrength{Strength: c.g, Score: 12, MatchedWordCount: 2, MatchedSubjectWordCount: c.subject}
		if got := c.floor.AnswerKindForQuestion(s); got != c.question {
			t.Errorf("floor %v, %+v: a question gets %s, want %s", c.floor, s, got, c.question)
		}
		if got := c.floor.AnswerKindForInstruction(s); got != c.order {
			t.Errorf("floor %v, %+v: an order gets %s, want %s", c.floor, s, got, c.order)
		}
	}
	if f := MinMatchStrength(2); !f.CanAccompanyStrongerText(PromptMatchStrength{Strength: 1}) ||
		f.CanAccompanyStrongerText(PromptMatchStrength{Strength: .9}) {
		t.Error("a unit joins from half of the floor on")
	}
}

func TestFloorOf(t *testing.T) {
	var english []float64
	for i := range 100 {
		english = append(english, float64(i+1)/10)
	}
	got := CalibrateMinMatchStrength(map[string][]float64{"en": english, "de": {2, 1}, "ja": nil})
	if got != 9.8 { // two of the hundred strengths are above 9.8
		t.Errorf("FloorForDecoys = %v, want 9.8", got)
	}
	if got := CalibrateMinMatchStrength(map[string][]float64{"en": {.1, .2}}); got != lowestMinMatchStrength {
		t.Errorf("FloorForDecoys of a small memory = %v, want %v", got, lowestMinMatchStrength)
	}
}
