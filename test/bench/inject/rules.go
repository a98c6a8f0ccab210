// This file defines the rules that decide which block is shown for a prompt: oxbow's rule and the rules
// of other systems.

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

// Decision is the decision of a rule about a prompt.
type Decision struct {
	Answer gate.Answer
	Units  []string      // IDs of the units that are shown or to which the pointer refers
	Tokens int           // size of the text, only for oxbow, because the rules of other systems produce no text
	Took   time.Duration // only for oxbow; includes the search
}

// conversation is a session with a memory in which a rule decides.
type conversation interface {
	ask(ctx context.Context, prompt string) (Decision, error)
}

// Rule decides which block is shown for a prompt.
type Rule struct {
	Name  string
	begin func(m *memory) conversation
}

// Ours is the name of oxbow's rule.
const Ours = "oxbow"

// fixed is a threshold of the strength for all memories. With this floor, 5 % of the foreign questions in
// LongMemEval's development half get a payload.
const fixed = 2.36

// Rules returns the rules that are compared. The last rule is oxbow's. Each other rule ranks by
// BM25 and decides about each of the first three hits separately, without regard to earlier prompts
// of the session.
func Rules() []Rule {
	var rules []Rule
	for _, r := range []struct {
		name  string
		fires func(m *memory, s strength) bool
	}{
		{"any match", func(_ *memory, s strength) bool { return s.matched >= 1 }},
		{"two words", func(_ *memory, s strength) bool { return s.matched >= 2 }},
		{"a rare word", func(_ *memory, s strength) bool { return s.rare }},
		{"BM25 ≥ 12, coverage ≥ .5", func(_ *memory, s strength) bool { return s.bm25 >= 12 && s.coverage >= .5 }},
		{"coverage × √BM25, fixed", func(_ *memory, s strength) bool { return s.g() > fixed }},
		{"the same, by decoys", func(m *memory, s strength) bool { return s.g() > m.decoyed }},
	} {
		rules = append(rules, Rule{r.name, func(m *memory) conversation { return &unitRule{m, r.fires} }})
	}
	return append(rules, Rule{Ours, func(m *memory) conversation { return &ours{m: m, state: newState()} }})
}

// strength describes how well a unit matches according to BM25, for the rules of other systems.
type strength struct {
	matched  int
	bm25     float64
	coverage float64 // IDF sum of the matched terms ÷ IDF sum of all terms
	rare     bool    // it contains a term that at most 1 % of the entries contain
}

func explainStrength(x *oxbow.Explanation) (s strength) {
	held, all := 0.0, 0.0
	for _, t := range x.Terms {
		all += t.IDF
		if t.Score > 0 {
			held += t.IDF
			s.matched++
			s.bm25 += t.Score
			s.rare = s.rare || t.DF*100 <= x.Entries
		}
	}
	if all > 0 {
		s.coverage = held / all
	}
	return s
}

// g is the original strength of oxbow's rule: coverage × √BM25, if at least two words match.
func (s strength) g() float64 {
	if s.matched < 2 {
		return 0
	}
	return s.coverage * math.Sqrt(s.bm25)
}

// unitRule is a rule that only depends on one unit at a time.
type unitRule struct {
	m     *memory
	fires func(m *memory, s strength) bool
}

func (r *unitRule) ask(ctx context.Context, prompt string) (Decision, error) {
	hits, err := r.m.plain(ctx, prompt)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{Answer: gate.Silence}
	for _, h := range hits {
		if h.Explanation != nil && r.fires(r.m, explainStrength(h.Explanation)) {
			d.Answer = gate.Payload
			d.Units = append(d.Units, r.m.ids[h.Entry.Name])
		}
	}
	return d, nil
}

// ours is a session in which oxbow decides. Its state records the shown text.
type ours struct {
	m     *memory
	state inject.State
}

func newState() inject.State {
	return inject.State{Shown: map[string]int{}, Prints: map[string]bool{}}
}

func (o *ours) ask(ctx context.Context, prompt string) (Decision, error) {
	o.state.Prompt++
	start := time.Now()
	b, err := inject.ForPrompt(
		ctx,
		inject.Prompt{Text: prompt, Client: client, Session: "this one", Now: o.m.Options().Clock(), State: o.state},
		o.m.source,
	)
	d := Decision{Answer: gate.Answer(b.Answer), Tokens: b.Tokens, Took: time.Since(start)}
	if err != nil {
		return Decision{}, err
	}
	if d.Answer == "" {
		d.Answer = gate.Silence
	}
	for _, s := range b.Shown {
		d.Units = append(d.Units, o.m.ids[s.Name])
		o.state.Shown[inject.Key(s)] = o.state.Prompt
	}
	for _, p := range b.Prints {
		o.state.Prints[p] = true
	}
	o.state.Tokens += b.Tokens
	return d, nil
}

// calibrate sets the thresholds of the rules that have one for each memory.
func (m *memory) calibrate(ctx context.Context) error {
	var gs []float64
	for _, d := range gate.Decoys() {
		hits, err := m.plain(ctx, d.Text)
		if err != nil {
			return err
		}
		best := 0.0
		for _, h := range hits {
			best = max(best, explainStrength(h.Explanation).g())
		}
		gs = append(gs, best)
	}
	slices.Sort(gs)
	m.decoyed = gs[len(gs)*98/100]
	c, _, err := m.source.Calibrate(ctx)
	m.source.Floor = c.Floor
	return err
}
