// The arms: the kinds of prompts that are put to each rule, and what is counted of
// the answers.

package inject

import (
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/agent/gate"
)

// Arm is a kind of prompts.
type Arm string

// The arms, and what is counted of each: how many prompts had a right unit among
// those shown, how many had anything, or how many were shown a unit again.
const (
	Own          Arm = "own"          // a question that the memory answers: right shown
	Foreign      Arm = "foreign"      // one that another memory of the set answers: anything shown
	Orders       Arm = "orders"       // work orders: anything shown
	Unanswerable Arm = "unanswerable" // a question of the memory's subjects without an answer: a payload
	Again        Arm = "again"        // a prompt that was answered, word for word: a unit again
	Paraphrase   Arm = "paraphrase"   // the same in other words: a unit again
	Switch       Arm = "switch"       // own, each session joined with one of another person: right shown
	Marathon     Arm = "marathon"     // own, next to a session of 1,500 turns of others: right shown
	Tool         Arm = "tool"         // own, where only a tool printed the answer: that shown
)

// Arms returns the arms in the order of a table.
func Arms() []Arm {
	return []Arm{Own, Foreign, Orders, Unanswerable, Again, Paraphrase, Switch, Marathon, Tool}
}

// Row is what a rule did.
type Row struct {
	Rule     string         `json:"rule"`
	Arms     map[Arm]*Count `json:"arms"`
	Pointers map[Arm]*Count `json:"pointers"` // what got a pointer, of the same prompts
	Day      Day            `json:"day"`

	spent []Decision // of the prompts of days
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
	r.Arms[a].add(d.Answer == gate.Payload && (right == nil || d.has(right)))
	r.Pointers[a].add(d.Answer == gate.Pointer && (right == nil || d.has(right)))
}

// has reports whether one of the units is among the right ones.
func (d *Decision) has(right map[string]bool) bool {
	return slices.ContainsFunc(d.Units, func(id string) bool { return right[id] })
}

// bench is one memory, and the rows that its answers are counted in.
type bench struct {
	m     *memory
	rules []Rule
	rows  []*Row
}

// within makes the memory of a store and calls fn with it.
func (s *Store) within(ctx context.Context, rules []Rule, rows []*Row, fn func(*bench) error) (err error) {
	m, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close(ctx)) }()
	return fn(&bench{m, rules, rows})
}

// put puts a prompt to each rule, in a session of its own, and counts the answer.
// A nil right counts whatever is shown.
func (b *bench) put(ctx context.Context, a Arm, prompt string, right map[string]bool) error {
	for i, r := range b.rules {
		d, err := r.begin(b.m).ask(ctx, prompt)
		if err != nil {
			return err
		}
		b.rows[i].add(a, d, right)
	}
	return nil
}

// own puts the questions that the store answers.
func (b *bench) own(ctx context.Context, a Arm, asks []Ask) error {
	for _, q := range asks {
		if q.Unanswerable || len(q.Right) == 0 {
			continue
		}
		if err := b.put(ctx, a, q.Text, q.Right); err != nil {
			return err
		}
	}
	return nil
}

// again puts each question in a session twice, and then in other words, and counts
// how often a unit came again of those questions that were shown one.
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
