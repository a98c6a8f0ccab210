// This file tests which notes state a rule. It also tests how the strength with which a note matches a prompt differs
// from the strength of a turn of a conversation.

package gate

import (
	"math"
	"testing"
)

func TestStatesRule(t *testing.T) {
	for content, want := range map[string]bool{
		"Never retry a call of the payment gateway.":     true,
		"The laboratory can’t read a longer column.":     true,
		"Exports are sorted, because the bank needs it.": true,
		"Die Warteschlange darf erst nachts laufen.":     true,
		"Les sauvegardes ne doivent pas quitter Lyon.":   true,
		"禁止删除旧的备份":                                       true,
		"本番では必ず確認する":                                     true,
		"The queue runs on port 6001.":                   false,
		"Notable: the nozzle is blue.":                   false,
		"Das Tor steht in Kiel.":                         false,
		"":                                               false,
	} {
		if got := isRuleText(content); got != want {
			t.Errorf("statesRule(%q) = %t, want %t", content, got, want)
		}
	}
}

func TestStrengthOfNote(t *testing.T) {
	const plain, rule = "The kayak costs 90.", "The kayak must not cost more than 90."
	shared := []PromptTerm{term("kayak", 5, 8), term("price", 3, 4)}
	unique := []PromptTerm{term("kayak", 5, 8), term("price", 3, 4)}
	unique[0].IsUniqueInMemory = true
	steering := []PromptTerm{term("kayak", 5, 8), term("price", 3, 4), term("fix", 1, 0)}
	steering[2].IsUniqueInMemory = true
	own := 12 / (2.2 * 8) * math.Sqrt(12)
	for _, c := range []struct {
		name    string
		terms   []PromptTerm
		content string
		want    float64
	}{
		{"a description", shared, plain, own / 1.6},
		{"a rule", shared, rule, own},
		{"a description with a word of its own", unique, plain, own},
		{"a rule with a word of its own", unique, rule, own * 1.6},
		{"a word that the note does not contain", steering, plain, 12 / (2.2 * 9) * math.Sqrt(12) / 1.6},
	} {
		if s := NoteMatchStrength(c.terms, c.content); math.Abs(s.Strength-c.want) > 1e-9 {
			t.Errorf("%s: strength %v, want %v", c.name, s.Strength, c.want)
		}
	}
	// NoteMatchStrength compares a note's score with the highest score that the six heaviest words of the prompt can
	// reach. Therefore 20 lighter words do not change the strength. ComputeTurnMatchStrength counts all words, so the
	// strength is lower.
	long := append([]PromptTerm{}, shared...)
	for range 4 {
		long = append(long, term("heavy", 4, 0))
	}
	six := NoteMatchStrength(long, rule)
	for range 20 {
		long = append(long, term("light", 2, 0))
	}
	if got := NoteMatchStrength(long, rule); got.Strength != six.Strength ||
		ComputeTurnMatchStrength(long).Strength >= six.Strength {
		t.Errorf(
			"of 26 words %v, of the six heaviest %v, as a turn %v",
			got.Strength,
			six.Strength,
			ComputeTurnMatchStrength(long).Strength,
		)
	}
}

func TestNotesHaveTheirOwnFloors(t *testing.T) {
	for _, c := range []struct {
		floor           MinMatchStrength
		g               float64
		question, order AnswerKind
	}{
		{.5, .85, AnswerSilence, AnswerSilence},
		{.5, .95, AnswerQuotedSentences, AnswerSilence},
		{.5, 1.3, AnswerQuotedSentences, AnswerQuotedSentences},
		{1.5, 1.3, AnswerSilence, AnswerSilence},
	} {
		s := PromptMatchStrength{
			Strength:                c.g,
			Score:                   12,
			MatchedWordCount:        5,
			MatchedSubjectWordCount: 5,
			isNoteMatch:             true,
		}
		if got := c.floor.AnswerKindForQuestion(s); got != c.question {
			t.Errorf("floor %v, strength %v: a question gets %s, want %s", c.floor, c.g, got, c.question)
		}
		if got := c.floor.AnswerKindForInstruction(s); got != c.order {
			t.Errorf("floor %v, strength %v: an order gets %s, want %s", c.floor, c.g, got, c.order)
		}
	}
}
