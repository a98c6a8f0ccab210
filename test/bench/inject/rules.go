// This file defines the rules that decide what is shown for a prompt: oxbow's rule, and the rules of other systems.

package inject

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
)

// Decision says what is shown for a prompt.
type Decision struct {
	Answer gate.AnswerKind
	Units  []string // IDs of the units that are shown or to which the pointer refers
	// number of tokens of the text (only for oxbow, because the rules of other systems produce no text)
	Tokens int
	Took   time.Duration // time for the decision including the search (only for oxbow)
}

// ruleSession is a session in which a rule decides about prompts.
type ruleSession interface {
	decide(ctx context.Context, prompt string) (Decision, error)
}

// Rule decides what is shown for a prompt.
type Rule struct {
	Name         string
	startSession func(m *memory) ruleSession
}

// OxbowRule is the name of oxbow's rule.
const OxbowRule = "oxbow"

// fixedThreshold is a minimum of the strength that is the same for all memories. With it, 5 % of the foreign questions
// in LongMemEval's development half get a payload.
const fixedThreshold = 2.36

// Rules returns the rules that are compared. The last rule is oxbow's. All others rank by BM25, and decide about each
// of the first three hits separately. They do not consider earlier prompts of the session.
func Rules() []Rule {
	var rules []Rule
	for _, r := range []struct {
		name  string
		fires func(m *memory, s strength) bool
	}{
		{"any match", func(_ *memory, s strength) bool { return s.matchedTerms >= 1 }},
		{"two words", func(_ *memory, s strength) bool { return s.matchedTerms >= 2 }},
		{"a rare word", func(_ *memory, s strength) bool { return s.hasRareTerm }},
		{"BM25 ≥ 12, coverage ≥ .5", func(_ *memory, s strength) bool { return s.bm25 >= 12 && s.coverage >= .5 }},
		{"coverage × √BM25, fixed", func(_ *memory, s strength) bool { return s.combined() > fixedThreshold }},
		{"the same, by decoys", func(m *memory, s strength) bool { return s.combined() > m.decoyThreshold }},
	} {
		rules = append(rules, Rule{r.name, func(m *memory) ruleSession { return &unitRule{m, r.fires} }})
	}
	return append(
		rules,
		Rule{OxbowRule, func(m *memory) ruleSession { return &oxbowSession{memory: m, state: newState()} }},
	)
}

// strength describes how well a unit matches a prompt according to BM25. It is used by the rules of other systems.
type strength struct {
	matchedTerms int
	bm25         float64
	coverage     float64 // sum of the matched terms' IDF, divided by the sum of all terms' IDF
	hasRareTerm  bool    // a matched term occurs in at most 1 % of the entries
}

func explainStrength(x *oxbow.Explanation) (s strength) {
	held, all := 0.0, 0.0
	for _, t := range x.Terms {
		all += t.IDF
		if t.Score > 0 {
			held += t.IDF
			s.matchedTerms++
			s.bm25 += t.Score
			s.hasRareTerm = s.hasRareTerm || t.DF*100 <= x.Entries
		}
	}
	if all > 0 {
		s.coverage = held / all
	}
	return s
}

// combined is the strength that oxbow's rule used originally: coverage × √BM25, if at least two words match.
func (s strength) combined() float64 {
	if s.matchedTerms < 2 {
		return 0
	}
	return s.coverage * math.Sqrt(s.bm25)
}

// unitRule is a rule that decides about each unit separately.
type unitRule struct {
	memory *memory
	fires  func(m *memory, s strength) bool
}

func (r *unitRule) decide(ctx context.Context, prompt string) (Decision, error) {
	hits, err := r.memory.recallByBM25(ctx, prompt)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{Answer: gate.AnswerSilence}
	for _, h := range hits {
		if h.Explanation != nil && r.fires(r.memory, explainStrength(h.Explanation)) {
			d.Answer = gate.AnswerPayload
			d.Units = append(d.Units, r.memory.unitIDs[h.Entry.Name])
		}
	}
	return d, nil
}

// oxbowSession is a session in which oxbow's rule decides. Its state records the texts that were shown.
type oxbowSession struct {
	memory *memory
	state  inject.ShownState
}

func newState() inject.ShownState {
	return inject.ShownState{Shown: map[string]int{}, Prints: map[string]bool{}}
}

func (o *oxbowSession) decide(ctx context.Context, prompt string) (Decision, error) {
	o.state.Prompt++
	start := time.Now()
	b, err := inject.BlockForPrompt(
		ctx,
		inject.Prompt{
			Text:    prompt,
			Client:  clientName,
			Session: "this one",
			Now:     o.memory.Options().Clock(),
			State:   o.state,
		},
		o.memory.source,
	)
	d := Decision{Answer: gate.AnswerKind(b.Answer), Tokens: b.Tokens, Took: time.Since(start)}
	if err != nil {
		return Decision{}, err
	}
	if d.Answer == "" {
		d.Answer = gate.AnswerSilence
	}
	for _, s := range b.ShownEntries {
		d.Units = append(d.Units, o.memory.unitIDs[s.Name])
		o.state.Shown[inject.EntryKey(s)] = o.state.Prompt
	}
	for _, p := range b.Fingerprints {
		o.state.Prints[p] = true
	}
	o.state.Tokens += b.Tokens
	return d, nil
}

// calibrateThresholds computes the thresholds that depend on the memory. These are decoyThreshold, from the BM25
// strengths of the decoys, and the floor of oxbow's rule. If the memory cannot be searched, it returns an error.
func (m *memory) calibrateThresholds(ctx context.Context) error {
	var gs []float64
	for _, d := range gate.Decoys() {
		hits, err := m.recallByBM25(ctx, d.Text)
		if err != nil {
			return err
		}
		best := 0.0
		for _, h := range hits {
			best = max(best, explainStrength(h.Explanation).combined())
		}
		gs = append(gs, best)
	}
	slices.Sort(gs)
	m.decoyThreshold = gs[len(gs)*98/100]
	c, _, err := m.source.CalibrateFloor(ctx)
	m.source.Floor = c.Floor
	return err
}
