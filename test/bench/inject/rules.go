// This file defines the rules that decide which notes and turns from a memory are shown to a model for a prompt:
// oxbow's rule, and the rules of other systems.

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

// displayRuleSession is a session in which a rule decides for each prompt which text the model is shown.
type displayRuleSession interface {
	decideAnswer(ctx context.Context, prompt string) (Decision, error)
}

// DisplayRule decides which texts of the memory are shown to a model for a prompt.
type DisplayRule struct {
	Name         string
	startSession func(m *openedMemory) displayRuleSession
}

// OxbowRuleName is the name of the rule by which oxbow decides what to show to a model.
const OxbowRuleName = "oxbow"

// fixedMinMatchStrength is a minimum for how well a text matches a prompt. It is the same for all memories. It was
// chosen with the half of LongMemEval that is used for development: for 5 % of the questions about other people's
// memories, a text was shown by mistake.
const fixedMinMatchStrength = 2.36

// DisplayRules returns the rules that the benchmark compares. A rule decides which search results (hits) are shown to
// an agent for a prompt. The last rule is the rule that oxbow uses. All other rules rank the hits by BM25, and decide
// about each of the first three hits separately. They do not consider earlier prompts of the session. The limit of the
// rule "the same, by decoys" was computed with prompts that have nothing to do with the memory.
func DisplayRules() []DisplayRule {
	var rules []DisplayRule
	for _, r := range []struct {
		name  string
		fires func(m *openedMemory, s hitMatchStrength) bool
	}{
		{"any match", func(_ *openedMemory, s hitMatchStrength) bool { return s.matchedTermCount >= 1 }},
		{"two words", func(_ *openedMemory, s hitMatchStrength) bool { return s.matchedTermCount >= 2 }},
		{"a rare word", func(_ *openedMemory, s hitMatchStrength) bool { return s.matchesRareTerm }},
		{"BM25 ≥ 12, coverage ≥ .5", func(_ *openedMemory, s hitMatchStrength) bool { return s.bm25 >= 12 && s.termCoverage >= .5 }},
		{"coverage × √BM25, fixed", func(_ *openedMemory, s hitMatchStrength) bool { return s.coverageTimesBM25() > fixedMinMatchStrength }},
		{"the same, by decoys", func(m *openedMemory, s hitMatchStrength) bool { return s.coverageTimesBM25() > m.decoyStrengthLimit }},
	} {
		rules = append(
			rules,
			DisplayRule{r.name, func(m *openedMemory) displayRuleSession { return &perHitRule{m, r.fires} }},
		)
	}
	return append(
		rules,
		DisplayRule{OxbowRuleName, func(m *openedMemory) displayRuleSession {
			return &oxbowSession{memory: m, state: newSessionShownTexts()}
		}},
	)
}

// hitMatchStrength describes how well a note or turn matches a prompt according to BM25. Oxbow's own rule does not
// use it. The rules that imitate other systems do.
type hitMatchStrength struct {
	matchedTermCount int
	bm25             float64
	termCoverage     float64 // the matched terms' total IDF, divided by all terms' total IDF
	matchesRareTerm  bool    // a matched term occurs in at most 1 % of the entries
}

func matchStrengthOfHit(x *oxbow.Explanation) (s hitMatchStrength) {
	held, all := 0.0, 0.0
	for _, t := range x.Terms {
		all += t.IDF
		if t.Score > 0 {
			held += t.IDF
			s.matchedTermCount++
			s.bm25 += t.Score
			s.matchesRareTerm = s.matchesRareTerm || t.DF*100 <= x.Entries
		}
	}
	if all > 0 {
		s.termCoverage = held / all
	}
	return s
}

// coverageTimesBM25 returns the strength of a match between a text and a prompt: coverage × √BM25. If fewer than two
// words match, it returns 0. The first versions of oxbow used this strength to decide whether the text is shown.
func (s hitMatchStrength) coverageTimesBM25() float64 {
	if s.matchedTermCount < 2 {
		return 0
	}
	return s.termCoverage * math.Sqrt(s.bm25)
}

// perHitRule is a rule that decides for each hit of a search separately whether the hit is shown to the model.
type perHitRule struct {
	memory   *openedMemory
	showsHit func(m *openedMemory, s hitMatchStrength) bool
}

func (r *perHitRule) decideAnswer(ctx context.Context, prompt string) (Decision, error) {
	hits, err := r.memory.recallByBM25(ctx, prompt)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{AnswerKind: gate.AnswerSilence}
	for _, h := range hits {
		if h.Explanation != nil && r.showsHit(r.memory, matchStrengthOfHit(h.Explanation)) {
			d.AnswerKind = gate.AnswerQuotedSentences
			d.ShownUnitIDs = append(d.ShownUnitIDs, r.memory.unitIDByEntryName[h.Entry.Name])
		}
	}
	return d, nil
}

// oxbowSession is a session in which oxbow's rule decides which texts are shown to the model. Its state records the
// texts that were shown.
type oxbowSession struct {
	memory *openedMemory
	state  inject.SessionShownTexts
}

func newSessionShownTexts() inject.SessionShownTexts {
	return inject.SessionShownTexts{LastPromptByEntryKey: map[string]int{}, SentenceFingerprints: map[string]bool{}}
}

func (o *oxbowSession) decideAnswer(ctx context.Context, prompt string) (Decision, error) {
	o.state.PromptNumber++
	start := time.Now()
	b, err := inject.ComposeBlockForPrompt(
		ctx,
		inject.Prompt{
			Text:       prompt,
			Client:     clientName,
			Session:    "this one",
			Now:        o.memory.Options().Clock(),
			ShownTexts: o.state,
		},
		o.memory.memorySource,
	)
	d := Decision{AnswerKind: gate.AnswerKind(b.AnswerKind), TextTokens: b.TokenCount, DecisionTime: time.Since(start)}
	if err != nil {
		return Decision{}, err
	}
	if d.AnswerKind == "" {
		d.AnswerKind = gate.AnswerSilence
	}
	for _, s := range b.ShownEntries {
		d.ShownUnitIDs = append(d.ShownUnitIDs, o.memory.unitIDByEntryName[s.Name])
		o.state.LastPromptByEntryKey[inject.ShownEntryKey(s)] = o.state.PromptNumber
	}
	for _, p := range b.SentenceFingerprints {
		o.state.SentenceFingerprints[p] = true
	}
	o.state.Tokens += b.TokenCount
	return d, nil
}

// calibrateThresholds computes how strong a match must be before it is shown, for this memory. It searches for decoys,
// which are prompts that have nothing to do with the memory. It sets m.decoyStrengthLimit to the strength that 98 % of
// the decoys' best BM25 matches do not exceed. It sets m.memorySource.MinStrength to the threshold that oxbow itself
// uses. If the memory cannot be searched, it returns an error.
func (m *openedMemory) calibrateThresholds(ctx context.Context) error {
	var gs []float64
	for _, d := range gate.DecoyPrompts() {
		hits, err := m.recallByBM25(ctx, d.Text)
		if err != nil {
			return err
		}
		best := 0.0
		for _, h := range hits {
			best = max(best, matchStrengthOfHit(h.Explanation).coverageTimesBM25())
		}
		gs = append(gs, best)
	}
	slices.Sort(gs)
	m.decoyStrengthLimit = gs[len(gs)*98/100]
	c, _, err := m.memorySource.CalibrateMinStrength(ctx)
	m.memorySource.MinStrength = c.MinStrength
	return err
}
