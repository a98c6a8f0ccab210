// This file defines the arms of the measurement: kinds of prompts, with the result that is
// counted for each.

package inject

import (
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/agent/gate"
)

// Arm is one group of test prompts, such as questions that the memory can answer. Each arm has its own count of
// matches.
type Arm string

// Arms, with the result that is counted for each: prompts for which a right unit was shown,
// prompts for which any unit was shown, or prompts for which a unit was shown again.
const (
	OwnQuestions Arm = "own" // question that the memory answers; counted: the right entry is shown
	// Question that another memory of the set answers; counted: any entry is shown.
	ForeignQuestions Arm = "foreign"
	WorkOrders       Arm = "orders" // work order; counted: any entry is shown
	// Question about the memory's subjects without an answer; counted: a payload.
	UnanswerableQuestions Arm = "unanswerable"
	// Prompt that was answered before, word for word; counted: a unit is shown again.
	RepeatedPrompts    Arm = "again"
	ParaphrasedPrompts Arm = "paraphrase" // such a prompt in other words; counted: a unit is shown again
	// Like own, with another person's session joined to each; counted as in own.
	MixedSessions Arm = "switch"
	// Like own, next to a session with 1,500 turns by others; counted as in own.
	LongSession Arm = "marathon"
	// Like own, if only a tool printed the answer; counted: that output is shown.
	ToolOutput Arm = "tool"
)

// Arms returns the arms in the order of a table.
func Arms() []Arm {
	return []Arm{
		OwnQuestions,
		ForeignQuestions,
		WorkOrders,
		UnanswerableQuestions,
		RepeatedPrompts,
		ParaphrasedPrompts,
		MixedSessions,
		LongSession,
		ToolOutput,
	}
}

// RuleResult contains the results of a rule.
type RuleResult struct {
	Rule          string              `json:"rule"`
	PayloadCounts map[Arm]*MatchCount `json:"arms"`
	PointerCounts map[Arm]*MatchCount `json:"pointers"` // prompts that got a pointer, among the same prompts
	Day           DayCost             `json:"day"`

	dayDecisions []Decision // decisions for the prompts of days
}

func newRuleResult(rule string) *RuleResult {
	r := &RuleResult{Rule: rule, PayloadCounts: map[Arm]*MatchCount{}, PointerCounts: map[Arm]*MatchCount{}}
	for _, a := range Arms() {
		r.PayloadCounts[a], r.PointerCounts[a] = new(MatchCount), new(MatchCount)
	}
	return r
}

// addDecision counts an answer.
func (r *RuleResult) addDecision(a Arm, d Decision, right map[string]bool) {
	r.PayloadCounts[a].addPrompt(d.Answer == gate.AnswerPayload && (right == nil || d.hasRight(right)))
	r.PointerCounts[a].addPrompt(d.Answer == gate.AnswerPointer && (right == nil || d.hasRight(right)))
}

// hasRight reports whether a unit of the decision is in right.
func (d *Decision) hasRight(right map[string]bool) bool {
	return slices.ContainsFunc(d.Units, func(id string) bool { return right[id] })
}

// memoryBench passes test prompts to several rules, which decide with the same memory. It counts the answers of each
// rule in one element of results.
type memoryBench struct {
	memory  *memory
	rules   []Rule
	results []*RuleResult
}

// withMemory creates a memory with the units of the store and calls fn with it. Afterwards it checks and closes the
// memory. It fails if the memory cannot be created, if fn fails, or if the check finds damage.
func (s *Store) withMemory(
	ctx context.Context,
	rules []Rule,
	rows []*RuleResult,
	fn func(*memoryBench) error,
) (err error) {
	m, err := s.openMemory(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close(ctx)) }()
	return fn(&memoryBench{m, rules, rows})
}

// askAllRules passes a prompt to each rule, each time in a new session, and counts the decision in the arm. If right
// is not nil, a decision only matches if it shows one of the units in right. If right is nil, each decision that shows
// a unit matches.
func (b *memoryBench) askAllRules(ctx context.Context, a Arm, prompt string, right map[string]bool) error {
	for i, r := range b.rules {
		d, err := r.startSession(b.memory).decide(ctx, prompt)
		if err != nil {
			return err
		}
		b.results[i].addDecision(a, d, right)
	}
	return nil
}

// askAnswerable passes the questions that the store answers to the rules.
func (b *memoryBench) askAnswerable(ctx context.Context, a Arm, asks []Question) error {
	for _, q := range asks {
		if q.Unanswerable || len(q.Right) == 0 {
			continue
		}
		if err := b.askAllRules(ctx, a, q.Text, q.Right); err != nil {
			return err
		}
	}
	return nil
}

// measureRepeats measures how frequently a unit is shown a second time in a session. It asks each question in two new
// sessions. In the first session it then repeats the question, and in the second session it asks a paraphrase. If the
// first decision showed or named a unit, the second decision matches if it has one of the same units.
func (b *memoryBench) measureRepeats(ctx context.Context, asks []Question) error {
	for _, q := range asks {
		for i, r := range b.rules {
			for _, a := range []Arm{RepeatedPrompts, ParaphrasedPrompts} {
				c := r.startSession(b.memory)
				first, err := c.decide(ctx, q.Text)
				if err != nil {
					return err
				}
				if first.Answer == gate.AnswerSilence {
					continue
				}
				text := q.Text
				if a == ParaphrasedPrompts {
					text = paraphrase(text)
				}
				second, err := c.decide(ctx, text)
				if err != nil {
					return err
				}
				before := map[string]bool{}
				for _, id := range first.Units {
					before[id] = true
				}
				b.results[i].addDecision(a, second, before)
			}
		}
	}
	return nil
}
