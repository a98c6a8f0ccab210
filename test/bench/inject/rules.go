// This file defines the rules that decide which notes and turns of a memory are shown to a model for a prompt: oxbow's
// rule, and the rules of other systems.

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

// Decision says which texts of the memory a rule shows for a prompt.
type Decision struct {
	AnswerKind   gate.AnswerKind
	ShownUnitIDs []string // IDs of the texts that are shown, or of the texts that are only mentioned by name
	// token count of the text (only for oxbow, because other systems' rules produce no text)
	TextTokens   int
	DecisionTime time.Duration // time in which the rule decided what to show, including the search (only for oxbow)
}

// ruleSession is a session in which a rule decides for each prompt what is shown to the model.
type ruleSession interface {
	decideAnswer(ctx context.Context, prompt string) (Decision, error)
}

// Rule decides which texts of the memory are shown to a model for a prompt.
type Rule struct {
	Name         string
	startSession func(m *openedMemory) ruleSession
}

// OxbowRule is the name of the rule by which oxbow decides what to show to a model.
const OxbowRule = "oxbow"

// fixedStrengthThreshold is a minimum for how well a text matches a prompt. It is the same for all memories. With it,
// a text is shown for 5 % of the questions about other people's memories, in that half of LongMemEval that was used
// for development.
const fixedStrengthThreshold = 2.36

// Rules returns the rules whose decisions about what to show are compared. The last rule is oxbow's. All others rank
// by BM25, and decide about each of the first three hits separately. They do not consider earlier prompts of the
// session.
func Rules() []Rule {
	var rules []Rule
	for _, r := range []struct {
		name  string
		fires func(m *openedMemory, s unitStrength) bool
	}{
		{"any match", func(_ *openedMemory, s unitStrength) bool { return s.matchedTerms >= 1 }},
		{"two words", func(_ *openedMemory, s unitStrength) bool { return s.matchedTerms >= 2 }},
		{"a rare word", func(_ *openedMemory, s unitStrength) bool { return s.hasRareTerm }},
		{"BM25 ≥ 12, coverage ≥ .5", func(_ *openedMemory, s unitStrength) bool { return s.bm25 >= 12 && s.coverage >= .5 }},
		{"coverage × √BM25, fixed", func(_ *openedMemory, s unitStrength) bool { return s.combinedStrength() > fixedStrengthThreshold }},
		{"the same, by decoys", func(m *openedMemory, s unitStrength) bool { return s.combinedStrength() > m.decoyThreshold }},
	} {
		rules = append(rules, Rule{r.name, func(m *openedMemory) ruleSession { return &unitRule{m, r.fires} }})
	}
	return append(
		rules,
		Rule{OxbowRule, func(m *openedMemory) ruleSession { return &oxbowSession{memory: m, state: newState()} }},
	)
}

// unitStrength describes how well a note or turn matches a prompt according to BM25. Oxbow's own rule does not use it.
// The rules that imitate other systems do.
type unitStrength struct {
	matchedTerms int
	bm25         float64
	coverage     float64 // the matched terms' total IDF, divided by all terms' total IDF
	hasRareTerm  bool    // a matched term occurs in at most 1 % of the entries
}

func strengthOfHit(x *oxbow.Explanation) (s unitStrength) {
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

// combinedStrength is the number by which oxbow originally decided how well a text matches a prompt: coverage × √BM25,
// if at least two words match.
func (s unitStrength) combinedStrength() float64 {
	if s.matchedTerms < 2 {
		return 0
	}
	return s.coverage * math.Sqrt(s.bm25)
}

// unitRule is a rule that decides for each hit of a search separately whether the hit is shown to the model.
type unitRule struct {
	memory    *openedMemory
	showsUnit func(m *openedMemory, s unitStrength) bool
}

func (r *unitRule) decideAnswer(ctx context.Context, prompt string) (Decision, error) {
	hits, err := r.memory.recallByBM25(ctx, prompt)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{AnswerKind: gate.AnswerSilence}
	for _, h := range hits {
		if h.Explanation != nil && r.showsUnit(r.memory, strengthOfHit(h.Explanation)) {
			d.AnswerKind = gate.AnswerPayload
			d.ShownUnitIDs = append(d.ShownUnitIDs, r.memory.unitIDByEntryName[h.Entry.Name])
		}
	}
	return d, nil
}

// oxbowSession is a session in which oxbow's rule decides which texts are shown to the model. Its state records the
// texts that were shown.
type oxbowSession struct {
	memory *openedMemory
	state  inject.ShownState
}

func newState() inject.ShownState {
	return inject.ShownState{Shown: map[string]int{}, Prints: map[string]bool{}}
}

func (o *oxbowSession) decideAnswer(ctx context.Context, prompt string) (Decision, error) {
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
		o.memory.memorySource,
	)
	d := Decision{AnswerKind: gate.AnswerKind(b.Answer), TextTokens: b.Tokens, DecisionTime: time.Since(start)}
	if err != nil {
		return Decision{}, err
	}
	if d.AnswerKind == "" {
		d.AnswerKind = gate.AnswerSilence
	}
	for _, s := range b.ShownEntries {
		d.ShownUnitIDs = append(d.ShownUnitIDs, o.memory.unitIDByEntryName[s.Name])
		o.state.Shown[inject.EntryKey(s)] = o.state.Prompt
	}
	for _, p := range b.Fingerprints {
		o.state.Prints[p] = true
	}
	o.state.Tokens += b.Tokens
	return d, nil
}

// calibrateThresholds computes how strong a match must be before it is shown, for this memory. It searches for decoys,
// which are prompts that have nothing to do with the memory. decoyThreshold results from the BM25 strengths of their
// matches, and StrengthFloor is the threshold of oxbow's rule. If the memory cannot be searched, it returns an error.
func (m *openedMemory) calibrateThresholds(ctx context.Context) error {
	var gs []float64
	for _, d := range gate.DecoyPrompts() {
		hits, err := m.recallByBM25(ctx, d.Text)
		if err != nil {
			return err
		}
		best := 0.0
		for _, h := range hits {
			best = max(best, strengthOfHit(h.Explanation).combinedStrength())
		}
		gs = append(gs, best)
	}
	slices.Sort(gs)
	m.decoyThreshold = gs[len(gs)*98/100]
	c, _, err := m.memorySource.CalibrateFloor(ctx)
	m.memorySource.StrengthFloor = c.Floor
	return err
}
