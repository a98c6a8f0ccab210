// This file runs the measurement for each test memory, with all groups of test prompts and all rules that decide what
// is shown.

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
	Stores iter.Seq2[*TestStore, error] // the test memories (the sequence is iterated twice)
	// number of questions that another memory must answer, for all memories together (0 means 1,000)
	ForeignQuestions int
	// number of memories that are also measured after they were changed to make the answer harder to find (0 means 20)
	VariantStores   int
	OnStoreMeasured func(store string) // called with the name of each memory after it was measured (may be nil)
}

// Result contains the results of all rules that decide which memories are shown to a model.
type Result struct {
	StoreCount  int           `json:"stores"`
	UnitCount   int           `json:"units"`
	RuleResults []*RuleResult `json:"rows"`
}

// questionPool contains the questions of all stores that can be answered, and stores that represent other people.
type questionPool struct {
	questions   []Question
	storeCount  int
	otherStores []*TestStore
}

// maxOtherStores is the maximum number of stores in memory that represent other people.
const maxOtherStores = 12

// RunMeasurement runs the measurement.
func RunMeasurement(ctx context.Context, o Options) (*Result, error) {
	p, err := gatherQuestions(o.Stores)
	if err != nil {
		return nil, err
	}
	if o.ForeignQuestions == 0 {
		o.ForeignQuestions = 1000
	}
	if o.VariantStores == 0 {
		o.VariantStores = 20
	}
	res, rules := new(Result), Rules()
	for _, r := range rules {
		res.RuleResults = append(res.RuleResults, newRuleResult(r.Name))
	}
	for s, err := range o.Stores {
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		foreign := p.foreignQuestions(s, res.StoreCount, (o.ForeignQuestions+p.storeCount-1)/p.storeCount)
		if err := s.withMemory(ctx, rules, res.RuleResults, func(b *memoryMeasurement) error {
			return b.measureUnmodified(ctx, s, foreign, res.StoreCount)
		}); err != nil {
			return nil, err
		}
		// Measure changed versions of o.VariantStores memories, which are chosen at equal distances among all
		// memories.
		if (res.StoreCount+1)*o.VariantStores/p.storeCount > res.StoreCount*o.VariantStores/p.storeCount {
			if err := p.measureVariants(ctx, s, rules, res.RuleResults); err != nil {
				return nil, err
			}
		}
		res.StoreCount++
		res.UnitCount += len(s.Units)
		if o.OnStoreMeasured != nil {
			o.OnStoreMeasured(s.Name)
		}
	}
	for _, r := range res.RuleResults {
		r.DayCost = summarizeDay(r.dayDecisions)
	}
	return res, nil
}

// gatherQuestions reads all stores. It returns the number of stores and the questions that can be answered. It also
// returns the first stores, whose questions serve as questions of other people, which a store cannot answer. If a
// store cannot be read, it returns an error.
func gatherQuestions(stores iter.Seq2[*TestStore, error]) (p questionPool, err error) {
	for s, err := range stores {
		if err != nil {
			return p, err
		}
		p.storeCount++
		for _, a := range s.Asks {
			if !a.Unanswerable && len(a.Right) > 0 {
				p.questions = append(p.questions, a)
			}
		}
		if len(p.otherStores) < maxOtherStores {
			p.otherStores = append(p.otherStores, s)
		}
	}
	return p, nil
}

// foreignQuestions returns at most maxQuestions questions of other memories that the memory s cannot answer. They are
// chosen at equal distances among all such questions. storeNumber is the number of the memory s. This number shifts
// the choice, so that each memory gets different questions.
func (p *questionPool) foreignQuestions(s *TestStore, storeNumber, maxQuestions int) []string {
	var texts []string
	for _, a := range p.questions {
		if !slices.ContainsFunc(a.From, func(from string) bool { return s.Holds[from] }) {
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

// measureUnmodified measures what the rules show with an unchanged memory. It passes the memory's own questions,
// foreign questions, orders for work, unanswerable questions, repeated prompts, and the prompts of a working day.
// storeNumber is the number of the memory, and the seed of the working day.
func (b *memoryMeasurement) measureUnmodified(
	ctx context.Context,
	s *TestStore,
	foreign []string,
	storeNumber int,
) error {
	if err := b.askAnswerable(ctx, OwnQuestions, s.Asks); err != nil {
		return err
	}
	var answered []Question
	for _, q := range s.Asks {
		if q.Unanswerable {
			if err := b.askAllRules(ctx, UnanswerableQuestions, q.Text, nil); err != nil {
				return err
			}
		} else if len(q.Right) > 0 {
			answered = append(answered, q)
		}
	}
	for a, prompts := range map[PromptArm][]string{ForeignQuestions: foreign, WorkOrders: workOrders()} {
		for _, q := range prompts {
			if err := b.askAllRules(ctx, a, q, nil); err != nil {
				return err
			}
		}
	}
	if err := b.measureRepeats(ctx, answered); err != nil {
		return err
	}
	return b.measureDay(ctx, dayPrompts(rand.New(rand.NewPCG(1, uint64(storeNumber))), answered, foreign))
}

// measureVariants measures what the rules show with changed versions of the memory s, in which the answers are harder
// to find.
func (p *questionPool) measureVariants(ctx context.Context, s *TestStore, rules []Rule, rows []*RuleResult) error {
	var others []*TestStore
	for _, o := range p.otherStores {
		if o.Name != s.Name && !slices.ContainsFunc(s.Asks, func(a Question) bool {
			return slices.ContainsFunc(a.From, func(from string) bool { return o.Holds[from] })
		}) {
			others = append(others, o)
		}
	}
	if len(others) > 0 {
		for a, v := range map[PromptArm]*TestStore{MixedSessions: s.interleaveSessions(others[0]), LongSession: s.withLongSession(others)} {
			if err := v.withMemory(ctx, rules, rows, func(b *memoryMeasurement) error { return b.askAnswerable(ctx, a, s.Asks) }); err != nil {
				return err
			}
		}
	}
	// Measure answers in the output of tools only if the memory contains turns, because notes contain no output of
	// tools.
	if s.In != inject.SourceNotes {
		return s.withAnswersAsToolOutput().
			withMemory(ctx, rules, rows, func(b *memoryMeasurement) error { return b.askAnswerable(ctx, ToolOutput, s.Asks) })
	}
	return nil
}
