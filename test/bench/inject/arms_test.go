// This file tests the scorer with cases whose results were computed by hand.

package inject

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/gate"
)

// scripted is a session with prepared decisions. Each call of decideAnswer returns the next decision. The field left
// contains the decisions that were not returned yet.
type scripted struct{ left []Decision }

func (s *scripted) decideAnswer(context.Context, string) (Decision, error) {
	d := s.left[0]
	s.left = s.left[1:]
	return d, nil
}

// script returns a rule for tests. Each of its sessions returns the decisions ds in order, beginning with the first.
func script(ds ...Decision) DisplayRule {
	return DisplayRule{"script", func(*openedMemory) displayRuleSession { return &scripted{ds} }}
}

func show(a gate.AnswerKind, units ...string) Decision {
	return Decision{AnswerKind: a, ShownUnitIDs: units}
}

func TestScorer(t *testing.T) {
	right := map[string]bool{"b": true, "c": true}
	asks := []Question{
		{Text: "has no right unit"},
		{Text: "cannot be answered", AnswerUnitIDs: right, Unanswerable: true},
		{Text: "is answered", AnswerUnitIDs: right},
	}
	for _, c := range []struct {
		name              string
		d                 Decision
		own, any          int // expected number of matches for one prompt
		ownPoint, anyPoin int
	}{
		{"silence", show(gate.AnswerSilence), 0, 0, 0, 0},
		{"a wrong unit", show(gate.AnswerQuotedSentences, "a", "d"), 0, 1, 0, 0},
		{"a right one last", show(gate.AnswerQuotedSentences, "a", "d", "c"), 1, 1, 0, 0},
		{"a pointer to a right one", show(gate.AnswerEntryNames, "b"), 0, 0, 1, 1},
		{"a pointer to a wrong one", show(gate.AnswerEntryNames, "a"), 0, 0, 0, 1},
	} {
		row := newRuleResult("script")
		b := &memoryMeasurement{rules: []DisplayRule{script(c.d)}, ruleResults: []*RuleResult{row}}
		if err := b.askAnswerableQuestions(t.Context(), AnswerableQuestions, asks); err != nil {
			t.Fatal(err)
		}
		if err := b.askAllRules(t.Context(), OtherMemoryQuestions, "anything", nil); err != nil {
			t.Fatal(err)
		}
		for _, w := range []struct {
			what string
			got  *PromptMatchCount
			want PromptMatchCount
		}{
			{"own", row.QuotedTextMatchCounts[AnswerableQuestions], PromptMatchCount{1, c.own}}, {"own, pointers", row.NameOnlyMatchCounts[AnswerableQuestions], PromptMatchCount{1, c.ownPoint}},
			{"foreign", row.QuotedTextMatchCounts[OtherMemoryQuestions], PromptMatchCount{1, c.any}},
			{"foreign, pointers", row.NameOnlyMatchCounts[OtherMemoryQuestions], PromptMatchCount{1, c.anyPoin}},
		} {
			if *w.got != w.want {
				t.Errorf("%s: %s is %+v, want %+v", c.name, w.what, *w.got, w.want)
			}
		}
	}
}

// TestScorerOfRepeats tests measureRepeatedPrompts, which asks a question in two sessions. In one session the same
// question follows, and in the other a paraphrase. If the first answer shows nothing, the question must not count. The
// second answer must count as a repetition if it shows a note that the first answer has shown.
func TestScorerOfRepeats(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second Decision
		want          PromptMatchCount
	}{
		{"nothing at first", show(gate.AnswerSilence), show(gate.AnswerQuotedSentences, "a"), PromptMatchCount{0, 0}},
		{"the same", show(gate.AnswerQuotedSentences, "a", "b"), show(gate.AnswerQuotedSentences, "c", "b"), PromptMatchCount{1, 1}},
		{"another", show(gate.AnswerQuotedSentences, "a", "b"), show(gate.AnswerQuotedSentences, "c"), PromptMatchCount{1, 0}},
		{"nothing then", show(gate.AnswerQuotedSentences, "a"), show(gate.AnswerSilence), PromptMatchCount{1, 0}},
		{"shown after a pointer to it", show(gate.AnswerEntryNames, "a"), show(gate.AnswerQuotedSentences, "a"), PromptMatchCount{1, 1}},
	} {
		row := newRuleResult("script")
		b := &memoryMeasurement{rules: []DisplayRule{script(c.first, c.second)}, ruleResults: []*RuleResult{row}}
		if err := b.measureRepeatedPrompts(t.Context(), []Question{{Text: "Where is it?", AnswerUnitIDs: map[string]bool{"a": true}}}); err != nil {
			t.Fatal(err)
		}
		if *row.QuotedTextMatchCounts[RepeatedPrompts] != c.want ||
			*row.QuotedTextMatchCounts[ParaphrasedPrompts] != c.want {
			t.Errorf(
				"%s: %+v and %+v, want %+v",
				c.name,
				*row.QuotedTextMatchCounts[RepeatedPrompts],
				*row.QuotedTextMatchCounts[ParaphrasedPrompts],
				c.want,
			)
		}
	}
}

func TestDay(t *testing.T) {
	var ds []Decision
	for i := range 100 {
		ds = append(ds, Decision{AnswerKind: gate.AnswerSilence, DecisionTime: time.Duration(i)})
	}
	ds[3] = Decision{AnswerKind: gate.AnswerQuotedSentences, TextTokens: 300, DecisionTime: 500}
	ds[40] = Decision{AnswerKind: gate.AnswerEntryNames, TextTokens: 40, DecisionTime: 40}
	ds[41] = Decision{AnswerKind: gate.AnswerQuotedSentences, TextTokens: 160, DecisionTime: 41}
	want := WorkingDayCost{
		Prompts:              100,
		PromptsWithQuotes:    2,
		PromptsWithNamesOnly: 1,
		MeanPromptTokens:     5,
		MedianTokens:         0,
		TokensP99:            300,
		MedianDecisionTime:   50,
		TimeP99:              500,
	}
	if got := summarizeWorkingDay(ds); got != want {
		t.Errorf("the day is %+v, want %+v", got, want)
	}
	if got := summarizeWorkingDay(nil); got != (WorkingDayCost{}) {
		t.Errorf("a day without prompts is %+v", got)
	}
}

// TestWilson compares confidence intervals with values in a table.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		count     PromptMatchCount
		low, high float64
	}{
		{PromptMatchCount{10, 0}, 0, .2775}, {PromptMatchCount{10, 5}, .2366, .7634}, {PromptMatchCount{10, 8}, .4902, .9433},
		{PromptMatchCount{10, 10}, .7225, 1}, {PromptMatchCount{}, 0, 1},
	} {
		if low, high := c.count.ConfidenceInterval(); math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%+v is from %.4f to %.4f, want %.4f to %.4f", c.count, low, high, c.low, c.high)
		}
	}
}
