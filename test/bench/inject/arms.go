// This file defines the arms of the measurement. An arm is a kind of prompts, together with the result that is counted
// for them.

package inject

import (
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/agent/gate"
)

// PromptArm is a group of test prompts, such as questions that the memory can answer. The matches of each arm are
// counted separately.
type PromptArm string

// These are the arms. For each, the comment says which prompts it contains, and which result is counted as a match.
const (
	OwnQuestions PromptArm = "own" // questions that the memory can answer; match: the right entry is shown
	// questions that only another memory of the set can answer; match: any entry is shown
	ForeignQuestions PromptArm = "foreign"
	WorkOrders       PromptArm = "orders" // work orders; match: any entry is shown
	// questions about subjects of the memory that it cannot answer; match: a payload is shown
	UnanswerableQuestions PromptArm = "unanswerable"
	// prompts that are repeated word for word; match: the same unit is shown again
	RepeatedPrompts PromptArm = "again"
	// prompts that are repeated in other words; match: the same unit is shown again
	ParaphrasedPrompts PromptArm = "paraphrase"
	// like own, with memories whose sessions are mixed with another person's
	MixedSessions PromptArm = "switch"
	// like own, with memories that also contain a session with 1,500 turns by other people
	LongSession PromptArm = "marathon"
	// like own, with memories in which only the output of a tool contains the answer; match: this output is shown
	ToolOutput PromptArm = "tool"
)

// Arms returns the arms in the order of the rows in a table.
func Arms() []PromptArm {
	return []PromptArm{
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

// RuleResult contains the results of a single rule.
type RuleResult struct {
	RuleName      string                    `json:"rule"`
	PayloadCounts map[PromptArm]*MatchCount `json:"arms"`
	// number of prompts for which a pointer is shown, among the same prompts
	PointerCounts map[PromptArm]*MatchCount `json:"pointers"`
	DayCost       DayCost                   `json:"day"`

	dayDecisions []Decision // decisions about the prompts of working days
}

func newRuleResult(rule string) *RuleResult {
	r := &RuleResult{
		RuleName:      rule,
		PayloadCounts: map[PromptArm]*MatchCount{},
		PointerCounts: map[PromptArm]*MatchCount{},
	}
	for _, a := range Arms() {
		r.PayloadCounts[a], r.PointerCounts[a] = new(MatchCount), new(MatchCount)
	}
	return r
}

// addDecision counts a decision about a prompt of the arm.
func (r *RuleResult) addDecision(a PromptArm, d Decision, rightUnits map[string]bool) {
	r.PayloadCounts[a].addPrompt(
		d.AnswerKind == gate.AnswerPayload && (rightUnits == nil || d.showsRightUnit(rightUnits)),
	)
	r.PointerCounts[a].addPrompt(
		d.AnswerKind == gate.AnswerPointer && (rightUnits == nil || d.showsRightUnit(rightUnits)),
	)
}

// showsRightUnit reports whether right contains a unit of the decision.
func (d *Decision) showsRightUnit(rightUnits map[string]bool) bool {
	return slices.ContainsFunc(d.ShownUnitIDs, func(id string) bool { return rightUnits[id] })
}

// memoryMeasurement passes test prompts to several rules, which decide with the same memory. It counts each rule's
// answers in one element of results.
type memoryMeasurement struct {
	memory  *openedMemory
	rules   []Rule
	results []*RuleResult
}

// withMemory creates a memory with the units of the store, and calls fn with it. Then it checks and closes the memory.
// It returns an error if the memory cannot be created, if fn fails, or if the check finds damage.
func (s *TestStore) withMemory(
	ctx context.Context,
	rules []Rule,
	rows []*RuleResult,
	fn func(*memoryMeasurement) error,
) (err error) {
	m, err := s.openMemory(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.checkAndClose(ctx)) }()
	return fn(&memoryMeasurement{m, rules, rows})
}

// askAllRules passes a prompt to each rule, each time in a new session, and counts the decision in the arm. If right
// is not nil, a decision only matches if it shows one of the units in right. If rightUnits is nil, each decision that
// shows a unit matches.
func (b *memoryMeasurement) askAllRules(
	ctx context.Context,
	a PromptArm,
	prompt string,
	rightUnits map[string]bool,
) error {
	for i, r := range b.rules {
		d, err := r.startSession(b.memory).decideAnswer(ctx, prompt)
		if err != nil {
			return err
		}
		b.results[i].addDecision(a, d, rightUnits)
	}
	return nil
}

// askAnswerable asks each rule the questions that the store can answer.
func (b *memoryMeasurement) askAnswerable(ctx context.Context, a PromptArm, questions []Question) error {
	for _, q := range questions {
		if q.Unanswerable || len(q.Right) == 0 {
			continue
		}
		if err := b.askAllRules(ctx, a, q.Text, q.Right); err != nil {
			return err
		}
	}
	return nil
}

// measureRepeats measures how often a unit is shown a second time in a session. It asks each question in two new
// sessions. In the first session, it then repeats the question. In the second session, it then asks a paraphrase. If
// the first decision shows a unit or points to it, and the second decision has one of the same units, this is a match.
func (b *memoryMeasurement) measureRepeats(ctx context.Context, questions []Question) error {
	for _, q := range questions {
		for i, r := range b.rules {
			for _, a := range []PromptArm{RepeatedPrompts, ParaphrasedPrompts} {
				c := r.startSession(b.memory)
				first, err := c.decideAnswer(ctx, q.Text)
				if err != nil {
					return err
				}
				if first.AnswerKind == gate.AnswerSilence {
					continue
				}
				text := q.Text
				if a == ParaphrasedPrompts {
					text = paraphrase(text)
				}
				second, err := c.decideAnswer(ctx, text)
				if err != nil {
					return err
				}
				before := map[string]bool{}
				for _, id := range first.ShownUnitIDs {
					before[id] = true
				}
				b.results[i].addDecision(a, second, before)
			}
		}
	}
	return nil
}
