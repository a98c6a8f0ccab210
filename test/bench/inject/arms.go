// This file defines the arms, which are groups of test prompts. The measurement counts what a model is shown for the
// prompts of each arm. For each arm, this file says which answer to a prompt is counted.

package inject

import (
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/agent/gate"
)

// PromptGroup is a group of test prompts, such as questions that the memory can answer. The results of each group are
// counted separately.
type PromptGroup string

// These are the groups of test prompts. The comment at each says which prompts the group contains, and in which case a
// prompt is counted as a match.
const (
	// Questions that the memory can answer. A prompt matches if the entry with the answer is shown.
	AnswerableQuestions PromptGroup = "own"
	// Questions that only the memory of another person can answer. A prompt matches if any entry is shown.
	OtherMemoryQuestions PromptGroup = "foreign"
	// Orders for work, which need no memory. A prompt matches if any entry is shown.
	TaskPrompts PromptGroup = "orders"
	// Questions about subjects that the memory contains, but without the answer. A prompt matches if the text of an
	// entry is shown.
	UnanswerableQuestions PromptGroup = "unanswerable"
	// Prompts that a person repeats word for word. A prompt matches if the same entry is shown again.
	RepeatedPrompts PromptGroup = "again"
	// Prompts that a person repeats in other words. A prompt matches if the same entry is shown again.
	ParaphrasedPrompts PromptGroup = "paraphrase"
	// the same as AnswerableQuestions, but the sessions in the memory are mixed with the sessions of another person
	MixedMemoryQuestions PromptGroup = "switch"
	// the same as AnswerableQuestions, but the memory also contains a session with 1,500 turns by other people
	LongSessionQuestions PromptGroup = "marathon"
	// The same as AnswerableQuestions, but only the output of a tool contains the answer. A prompt matches if this
	// output is shown.
	ToolOutputQuestions PromptGroup = "tool"
)

// PromptGroups returns the groups of test prompts in the same order as the rows in the result table.
func PromptGroups() []PromptGroup {
	return []PromptGroup{
		AnswerableQuestions,
		OtherMemoryQuestions,
		TaskPrompts,
		UnanswerableQuestions,
		RepeatedPrompts,
		ParaphrasedPrompts,
		MixedMemoryQuestions,
		LongSessionQuestions,
		ToolOutputQuestions,
	}
}

// RuleResult contains the results of a single rule, which decides which memories are shown to a model for a prompt.
type RuleResult struct {
	RuleName              string                            `json:"rule"`
	QuotedTextMatchCounts map[PromptGroup]*PromptMatchCount `json:"arms"`
	// number of prompts in each group for which only entry names are shown
	NameOnlyMatchCounts map[PromptGroup]*PromptMatchCount `json:"pointers"`
	WorkingDayCost      WorkingDayCost                    `json:"day"`

	workingDayDecisions []Decision // what this rule showed for each prompt of the simulated working days
}

func newRuleResult(rule string) *RuleResult {
	r := &RuleResult{
		RuleName:              rule,
		QuotedTextMatchCounts: map[PromptGroup]*PromptMatchCount{},
		NameOnlyMatchCounts:   map[PromptGroup]*PromptMatchCount{},
	}
	for _, a := range PromptGroups() {
		r.QuotedTextMatchCounts[a], r.NameOnlyMatchCounts[a] = new(PromptMatchCount), new(PromptMatchCount)
	}
	return r
}

// addDecision adds the decision d of a rule about a prompt to the counts of the prompt group. The prompt is a match in
// r.QuotedTextMatchCounts if the rule quotes sentences, and in r.NameOnlyMatchCounts if the rule shows only entry
// names. If expectedUnitIDs is not nil, it is a match only if one of these notes or turns is shown. The prompt is
// counted in both fields, even without a match.
func (r *RuleResult) addDecision(group PromptGroup, d Decision, expectedUnitIDs map[string]bool) {
	r.QuotedTextMatchCounts[group].addPrompt(
		d.AnswerKind == gate.AnswerQuotedSentences && (expectedUnitIDs == nil || d.showsExpectedUnit(expectedUnitIDs)),
	)
	r.NameOnlyMatchCounts[group].addPrompt(
		d.AnswerKind == gate.AnswerEntryNames && (expectedUnitIDs == nil || d.showsExpectedUnit(expectedUnitIDs)),
	)
}

// showsExpectedUnit reports whether the decision shows at least one unit (a note or turn of the memory) that answers
// the question. expectedUnits contains the IDs of these units.
func (d *Decision) showsExpectedUnit(expectedUnits map[string]bool) bool {
	return slices.ContainsFunc(d.ShownUnitIDs, func(id string) bool { return expectedUnits[id] })
}

// memoryMeasurement passes test prompts to several rules. Each rule decides what is shown to a model. All rules use the
// same memory. ruleResults contains the counts for each rule, in the order of the field rules.
type memoryMeasurement struct {
	memory      *openedMemory
	rules       []DisplayRule
	ruleResults []*RuleResult
}

// withMemory creates a memory with the texts of the test store, and calls fn with it. Then it checks and closes the
// memory. It returns an error if the memory cannot be created, if fn fails, or if the check finds damage.
func (s *TestMemory) withMemory(
	ctx context.Context,
	rules []DisplayRule,
	ruleResults []*RuleResult,
	fn func(*memoryMeasurement) error,
) (err error) {
	m, err := s.openMemory(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.checkStoreAndClose(ctx)) }()
	return fn(&memoryMeasurement{m, rules, ruleResults})
}

// askAllRules passes a prompt to each rule, each time in a new session, and adds the rule's decision to the results for
// the prompt group. If expectedUnitIDs is not nil, the prompt is a match only if the rule shows one of these notes or
// turns. Otherwise it is a match if the rule shows anything.
func (b *memoryMeasurement) askAllRules(
	ctx context.Context,
	group PromptGroup,
	prompt string,
	expectedUnitIDs map[string]bool,
) error {
	for i, r := range b.rules {
		d, err := r.startSession(b.memory).decideAnswer(ctx, prompt)
		if err != nil {
			return err
		}
		b.ruleResults[i].addDecision(group, d, expectedUnitIDs)
	}
	return nil
}

// askAnswerableQuestions passes questions to all rules that decide whether to show an entry. It skips a question if the
// memory does not contain the answer. The results are counted for the prompt group that the parameter group names.
func (b *memoryMeasurement) askAnswerableQuestions(ctx context.Context, group PromptGroup, questions []Question) error {
	for _, q := range questions {
		if q.Unanswerable || len(q.AnswerUnitIDs) == 0 {
			continue
		}
		if err := b.askAllRules(ctx, group, q.Text, q.AnswerUnitIDs); err != nil {
			return err
		}
	}
	return nil
}

// measureRepeatedPrompts measures how often a rule shows the same note or turn a second time in a session. For each
// question and each rule, it starts two sessions and asks the question in both. Then it repeats the question word for
// word in one session, and asks a paraphrase of the question in the second session. The second answer counts as a
// repetition if it shows a note or turn that the first answer has shown. A session without a first answer is skipped.
func (b *memoryMeasurement) measureRepeatedPrompts(ctx context.Context, questions []Question) error {
	for _, q := range questions {
		for i, r := range b.rules {
			for _, a := range []PromptGroup{RepeatedPrompts, ParaphrasedPrompts} {
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
				b.ruleResults[i].addDecision(a, second, before)
			}
		}
	}
	return nil
}
