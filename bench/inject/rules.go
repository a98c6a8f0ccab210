// The rules that decide what a prompt gets: those of others, and ours.

package inject

import (
	"context"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/gate"
	"github.com/oxbow-memory/oxbow/inject"
)

// Decision is what a prompt got.
type Decision struct {
	Answer gate.Answer
	Units  []string      // ids of those shown or pointed to
	Tokens int           // of ours: others are not asked for a text
	Took   time.Duration // of ours, the search included
}

// conversation is a session with a memory, in which a rule decides.
type conversation interface {
	ask(ctx context.Context, prompt string) (Decision, error)
}

// Rule decides what a prompt gets.
type Rule struct {
	Name  string
	begin func(m *memory, f gate.Floor) conversation
}

// Rules returns the rules that are compared, ours last. Those of others rank by
// BM25, look at each of the first three hits, and know nothing of what the session
// was shown before.
func Rules() []Rule {
	rules := []Rule{}
	for _, r := range []struct {
		name  string
		fires func(entries int, terms []oxbow.TermScore, s gate.Strength) bool
	}{
		{"any match", func(_ int, _ []oxbow.TermScore, s gate.Strength) bool { return s.Matched >= 1 }},
		{"two words", func(_ int, _ []oxbow.TermScore, s gate.Strength) bool { return s.Matched >= 2 }},
		{"a rare word", func(n int, terms []oxbow.TermScore, _ gate.Strength) bool {
			return slices.ContainsFunc(terms, func(t oxbow.TermScore) bool { return t.Score > 0 && t.DF*100 <= n })
		}},
		{"BM25 ≥ 12, half of the words", func(_ int, _ []oxbow.TermScore, s gate.Strength) bool {
			return s.Score >= 12 && s.Coverage >= .5
		}},
		{"a fixed threshold", func(_ int, _ []oxbow.TermScore, s gate.Strength) bool { return s.Matched >= 2 && s.G > fixed }},
	} {
		rules = append(rules, Rule{r.name, func(m *memory, _ gate.Floor) conversation { return &unitRule{m, r.fires} }})
	}
	return append(rules, Rule{Ours, func(m *memory, f gate.Floor) conversation {
		return &ours{m: m, floor: f, state: newState()}
	}})
}

// Ours is the name of the rule that the library has.
const Ours = "oxbow"

// fixed is a threshold of the strength that gives 5 % of the foreign questions of
// the development half of LongMemEval a payload, for all memories alike.
const fixed = 2.36

// unitRule is a rule that looks at one unit at a time, and at nothing else.
type unitRule struct {
	m     *memory
	fires func(entries int, terms []oxbow.TermScore, s gate.Strength) bool
}

func (r *unitRule) ask(ctx context.Context, prompt string) (Decision, error) {
	hits, err := r.m.plain(ctx, prompt)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{Answer: gate.Silence}
	for _, h := range hits {
		if x := h.Explanation; x != nil && r.fires(x.Entries, x.Terms, strength(x)) {
			d.Answer = gate.Payload
			d.Units = append(d.Units, r.m.ids[h.Entry.Name])
		}
	}
	return d, nil
}

// strength returns the strength of the unit that an explanation is of.
func strength(x *oxbow.Explanation) gate.Strength {
	terms := make([]gate.Term, len(x.Terms))
	for i, t := range x.Terms {
		terms[i] = gate.Term{Text: t.Term, IDF: t.IDF, Score: t.Score}
	}
	return gate.StrengthOf(terms)
}

// ours is a session in which the library decides, and remembers what it showed.
type ours struct {
	m     *memory
	floor gate.Floor
	state inject.State
}

func newState() inject.State {
	return inject.State{Shown: map[string]int{}, Prints: map[string]bool{}}
}

func (o *ours) ask(ctx context.Context, prompt string) (Decision, error) {
	o.state.Prompt++
	start := time.Now()
	b, err := inject.ForPrompt(ctx, inject.Prompt{Text: prompt, Client: client, Session: "this one", Now: o.m.Options().Clock(), State: o.state},
		inject.Source{In: o.m.in, Memory: o.m.Memory, Filter: o.m.filter, Floor: o.floor})
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

// floorOf calibrates the library's rule on a memory.
func (m *memory) floorOf(ctx context.Context) (gate.Floor, error) {
	var gs []float64
	for _, d := range gate.Decoys() {
		hits, err := m.Recall(ctx, oxbow.Query{Text: d, Filter: m.filter, Limit: shown, Explain: true})
		if err != nil {
			return gate.Floor{}, err
		}
		best := 0.0
		for _, h := range hits {
			if s := strength(h.Explanation); s.Matched >= gate.LeastMatched {
				best = max(best, s.G)
			}
		}
		gs = append(gs, best)
	}
	return gate.FloorOf(gs), nil
}
