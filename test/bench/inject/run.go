// This file measures what is shown to a model. For each test memory, it passes all groups of test prompts to all rules.
// A rule decides which entries are shown for a prompt.

package inject

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/agent/inject"
)

// Options configure the measurement.
type Options struct {
	TestMemories iter.Seq2[*TestMemory, error] // the test memories (the sequence is iterated twice)
	// Number of questions from other memories, for all memories together (0 means 1,000). Each memory is asked
	// questions that only another memory can answer.
	OtherMemoryQuestionCount int
	// number of memories that are also measured after they were changed to make the answer harder to find (0 means 20)
	ChangedMemoryCount int
	OnMemoryMeasured   func(store string) // called with the name of each memory after it was measured (may be nil)
}

// MeasurementResult contains the results of all rules that decide which memories are shown to a model.
type MeasurementResult struct {
	StoreCount  int           `json:"stores"`
	UnitCount   int           `json:"units"`
	RuleResults []*RuleResult `json:"rows"`
}

// questionPool contains the questions of all stores, without the questions that have no answer. It also contains some
// stores that represent the memories of other people.
type questionPool struct {
	questions   []Question
	storeCount  int
	otherStores []*TestMemory
}

// maxOtherPeopleMemories is the maximum number of test memories that are kept to represent other people's memories.
const maxOtherPeopleMemories = 12

// RunMeasurement measures which texts each rule in DisplayRules shows for test prompts. It measures each memory in
// o.TestMemories and, for some of these memories, also changed versions. The result contains the counts for each rule.
func RunMeasurement(ctx context.Context, o Options) (*MeasurementResult, error) {
	p, err := gatherQuestions(o.TestMemories)
	if err != nil {
		return nil, err
	}
	if o.OtherMemoryQuestionCount == 0 {
		o.OtherMemoryQuestionCount = 1000
	}
	if o.ChangedMemoryCount == 0 {
		o.ChangedMemoryCount = 20
	}
	res, rules := new(MeasurementResult), DisplayRules()
	for _, r := range rules {
		res.RuleResults = append(res.RuleResults, newRuleResult(r.Name))
	}
	for s, err := range o.TestMemories {
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		foreign := p.selectOtherMemoryQuestions(
			s,
			res.StoreCount,
			(o.OtherMemoryQuestionCount+p.storeCount-1)/p.storeCount,
		)
		if err := s.withMemory(ctx, rules, res.RuleResults, func(b *memoryMeasurement) error {
			return b.measureUnchangedMemory(ctx, s, foreign, res.StoreCount)
		}); err != nil {
			return nil, err
		}
		// Measure changed versions of o.ChangedMemoryCount memories, which are chosen at equal distances among all
		// memories.
		if (res.StoreCount+1)*o.ChangedMemoryCount/p.storeCount > res.StoreCount*o.ChangedMemoryCount/p.storeCount {
			if err := p.measureChangedMemories(ctx, s, rules, res.RuleResults); err != nil {
				return nil, err
			}
		}
		res.StoreCount++
		res.UnitCount += len(s.Units)
		if o.OnMemoryMeasured != nil {
			o.OnMemoryMeasured(s.Name)
		}
	}
	for _, r := range res.RuleResults {
		r.WorkingDayCost = summarizeWorkingDay(r.workingDayDecisions)
	}
	return res, nil
}

// gatherQuestions reads all stores. The result contains the number of stores, and the questions that can be answered.
// It also contains the first stores, up to maxOtherPeopleMemories. They represent other people: the questions about one
// of these stores cannot be answered from any other store. If a store cannot be read, gatherQuestions returns an error.
func gatherQuestions(stores iter.Seq2[*TestMemory, error]) (p questionPool, err error) {
	for s, err := range stores {
		if err != nil {
			return p, err
		}
		p.storeCount++
		for _, a := range s.Questions {
			if !a.Unanswerable && len(a.AnswerUnitIDs) > 0 {
				p.questions = append(p.questions, a)
			}
		}
		if len(p.otherStores) < maxOtherPeopleMemories {
			p.otherStores = append(p.otherStores, s)
		}
	}
	return p, nil
}

// selectOtherMemoryQuestions returns at most maxQuestions questions that the memory s cannot answer, because their
// sources are in other memories. They are spread evenly over all such questions. storeNumber, the number of the memory
// s, determines the first question, so that each memory gets different questions.
func (p *questionPool) selectOtherMemoryQuestions(s *TestMemory, storeNumber, maxQuestions int) []string {
	var texts []string
	for _, a := range p.questions {
		if !slices.ContainsFunc(a.SourceNames, func(from string) bool { return s.SourceNames[from] }) {
			texts = append(texts, a.Text)
		}
	}
	if len(texts) <= maxQuestions {
		return texts
	}
	var some []string
	for i := range maxQuestions {
		some = append(some, texts[(storeNumber+i*len(texts)/maxQuestions)%len(texts)])
	}
	return some
}

// measureUnchangedMemory measures which texts the rules show with an unchanged memory. It passes these prompts to the
// rules: the memory's own questions, questions for other memories (otherMemoryQuestions), orders for work, unanswerable
// questions, repeated prompts, and the prompts of a working day. storeNumber is the memory's number. It is also the
// seed for the random numbers that select the prompts of the working day.
func (b *memoryMeasurement) measureUnchangedMemory(
	ctx context.Context,
	s *TestMemory,
	otherMemoryQuestions []string,
	storeNumber int,
) error {
	if err := b.askAnswerableQuestions(ctx, AnswerableQuestions, s.Questions); err != nil {
		return err
	}
	var answered []Question
	for _, q := range s.Questions {
		if q.Unanswerable {
			if err := b.askAllRules(ctx, UnanswerableQuestions, q.Text, nil); err != nil {
				return err
			}
		} else if len(q.AnswerUnitIDs) > 0 {
			answered = append(answered, q)
		}
	}
	for a, prompts := range map[PromptGroup][]string{OtherMemoryQuestions: otherMemoryQuestions, TaskPrompts: workOrderPrompts()} {
		for _, q := range prompts {
			if err := b.askAllRules(ctx, a, q, nil); err != nil {
				return err
			}
		}
	}
	if err := b.measureRepeatedPrompts(ctx, answered); err != nil {
		return err
	}
	return b.measureWorkingDay(
		ctx,
		workingDayPrompts(rand.New(rand.NewPCG(1, uint64(storeNumber))), answered, otherMemoryQuestions),
	)
}

// measureChangedMemories measures which texts the rules show if it is harder to find the answers. For this purpose, it
// makes up to three changed copies of the test memory s, measures the rules with each copy, and adds each measurement
// to ruleResults. The memory s itself is not changed.
func (p *questionPool) measureChangedMemories(
	ctx context.Context,
	s *TestMemory,
	rules []DisplayRule,
	ruleResults []*RuleResult,
) error {
	var others []*TestMemory
	for _, o := range p.otherStores {
		if o.Name != s.Name && !slices.ContainsFunc(s.Questions, func(a Question) bool {
			return slices.ContainsFunc(a.SourceNames, func(from string) bool { return o.SourceNames[from] })
		}) {
			others = append(others, o)
		}
	}
	if len(others) > 0 {
		for a, v := range map[PromptGroup]*TestMemory{MixedMemoryQuestions: s.interleaveSessions(others[0]), LongSessionQuestions: s.withLongSession(others)} {
			if err := v.withMemory(ctx, rules, ruleResults, func(b *memoryMeasurement) error { return b.askAnswerableQuestions(ctx, a, s.Questions) }); err != nil {
				return err
			}
		}
	}
	// Measure answers in the output of tools only if the memory contains turns, because notes contain no output of
	// tools.
	if s.SourceKind != inject.SourceKindNotes {
		return s.withAnswersAsToolOutput().
			withMemory(ctx, rules, ruleResults, func(b *memoryMeasurement) error {
				return b.askAnswerableQuestions(ctx, ToolOutputQuestions, s.Questions)
			})
	}
	return nil
}
