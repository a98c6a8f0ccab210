// This file defines the arms of the measurement: kinds of prompts, with the result that is
// counted for each.

package inject

import (
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/agent/gate"
)

// Arm is a kind of prompts.
type Arm string

// Arms, with the result that is counted for each: prompts for which a right unit was shown,
// prompts for which any unit was shown, or prompts for which a unit was shown again.
const (
	Own          Arm = "own"          // question that the memory answers; counted: the right entry is shown
	Foreign      Arm = "foreign"      // question that another memory of the set answers; counted: any entry is shown
	Orders       Arm = "orders"       // work order; counted: any entry is shown
	Unanswerable Arm = "unanswerable" // question about the memory's subjects without an answer; counted: a payload
	Again        Arm = "again"        // prompt that was answered before, word for word; counted: a unit is shown again
	Paraphrase   Arm = "paraphrase"   // such a prompt in other words; counted: a unit is shown again
	Switch       Arm = "switch"       // like own, with another person's session joined to each; counted as in own
	Marathon     Arm = "marathon"     // like own, next to a session with 1,500 turns by others; counted as in own
	Tool         Arm = "tool"         // like own, if only a tool printed the answer; counted: that output is shown
)

// Arms returns the arms in the order of a table.
func Arms() []Arm {
	return []Arm{Own, Foreign, Orders, Unanswerable, Again, Paraphrase, Switch, Marathon, Tool}
}

// Row contains the results of a rule.
type Row struct {
	Rule     string         `json:"rule"`
	Arms     map[Arm]*Count `json:"arms"`
	Pointers map[Arm]*Count `json:"pointers"` // prompts that got a pointer, among the same prompts
	Day      Day            `json:"day"`

	spent []Decision // decisions for the prompts of days
}

func newRow(rule string) *Row {
	r := &Row{Rule: rule, Arms: map[Arm]*Count{}, Pointers: map[Arm]*Count{}}
	for _, a := range Arms() {
		r.Arms[a], r.Pointers[a] = new(Count), new(Count)
	}
	return r
}

// add counts an answer.
func (r *Row) add(a Arm, d Decision, right map[string]bool) {
	r.Arms[a].add(d.Answer == gate.Payload && (right == nil || d.hasRight(right)))
	r.Pointers[a].add(d.Answer == gate.Pointer && (right == nil || d.hasRight(right)))
}

// hasRight reports whether a unit of the decision is in right.
func (d *Decision) hasRight(right map[string]bool) bool {
	return slices.ContainsFunc(d.Units, func(id string) bool { return right[id] })
}

// bench is one memory, and the rows in which its answers are counted.
type bench struct {
	m     *memory
	rules []Rule
	rows  []*Row
}

// within opens the memory of a store and calls fn with it.
func (s *Store) within(ctx context.Context, rules []Rule, rows []*Row, fn func(*bench) error) (err error) {
	m, err := s.openMemory(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close(ctx)) }()
	return fn(&bench{m, rules, rows})
}

// runArm passes a prompt to each rule, in a new session, and counts the answer. If right is
// nil, it counts any shown unit.
func (b *bench) runArm(ctx context.Context, a Arm, prompt string, right map[string]bool) error {
	for i, r := range b.rules {
		d, err := r.begin(b.m).ask(ctx, prompt)
		if err != nil {
			return err
		}
		b.rows[i].add(a, d, right)
	}
	return nil
}

// askOwn passes the questions that the store answers to the rules.
func (b *bench) askOwn(ctx context.Context, a Arm, asks []Ask) error {
	for _, q := range asks {
		if q.Unanswerable || len(q.Right) == 0 {
			continue
		}
		if err := b.runArm(ctx, a, q.Text, q.Right); err != nil {
			return err
		}
	}
	return nil
}

// again passes each question in two sessions. The first session then gets the same question again, and
// the second a paraphrase. For the first answers that showed or named a unit, again counts how often
// the second answer has the same unit.
func (b *bench) again(ctx context.Context, asks []Ask) error {
	for _, q := range asks {
		for i, r := range b.rules {
			for _, a := range []Arm{Again, Paraphrase} {
				c := r.begin(b.m)
				first, err := c.ask(ctx, q.Text)
				if err != nil {
					return err
				}
				if first.Answer == gate.Silence {
					continue
				}
				text := q.Text
				if a == Paraphrase {
					text = paraphrase(text)
				}
				second, err := c.ask(ctx, text)
				if err != nil {
					return err
				}
				before := map[string]bool{}
				for _, id := range first.Units {
					before[id] = true
				}
				b.rows[i].add(a, second, before)
			}
		}
	}
	return nil
}
