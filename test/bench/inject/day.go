// This file measures working days: a realistic mixture of prompts as people write them.

package inject

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/gate"
)

// Day is the cost of a day's prompts.
type Day struct {
	Prompts  int `json:"prompts"`
	Payloads int `json:"payloads"`
	Pointers int `json:"pointers"`
	// mean tokens per prompt; tokens and times are only known for oxbow's rule
	Mean   float64       `json:"tokens_mean"`
	P50    int           `json:"tokens_p50"`
	P99    int           `json:"tokens_p99"`
	Took50 time.Duration `json:"ns_p50"`
	Took99 time.Duration `json:"ns_p99"`
}

// summarizeDay summarizes the decisions for the prompts.
func summarizeDay(ds []Decision) (d Day) {
	var tokens []int
	var took []time.Duration
	sum := 0
	for _, one := range ds {
		switch one.Answer {
		case gate.Payload:
			d.Payloads++
		case gate.Pointer:
			d.Pointers++
		}
		sum += one.Tokens
		tokens, took = append(tokens, one.Tokens), append(took, one.Took)
	}
	d.Prompts = len(ds)
	if d.Prompts == 0 {
		return d
	}
	slices.Sort(tokens)
	slices.Sort(took)
	middle, end := (d.Prompts-1)/2, min(d.Prompts*99/100, d.Prompts-1)
	d.Mean = float64(sum) / float64(d.Prompts)
	d.P50 = tokens[middle]
	d.P99 = tokens[end]
	d.Took50, d.Took99 = took[middle], took[end]
	return d
}

// daySession is the number of prompts in a session.
const daySession = 25

// dayPrompts returns the prompts of a day. Of a hundred prompts, 25 are acknowledgements, 40
// are orders, 15 are pasted texts, 12 are questions that the memory cannot answer, and 8 are
// questions that it can answer.
func dayPrompts(r *rand.Rand, own []Ask, foreign []string) []string {
	acks, work := splitOrders(workOrders())
	asks := make([]string, len(own))
	for i, q := range own {
		asks[i] = q.Text
	}
	var day []string
	for _, part := range []struct {
		n    int
		from []string
	}{{25, acks}, {40, work}, {15, pastedTexts()}, {12, foreign}, {8, asks}} {
		for range part.n {
			if len(part.from) > 0 {
				day = append(day, part.from[r.IntN(len(part.from))])
			}
		}
	}
	r.Shuffle(len(day), func(i, j int) { day[i], day[j] = day[j], day[i] })
	return day
}

// splitOrders separates acknowledgements, which are short, from orders.
func splitOrders(all []string) (acks, work []string) {
	for _, o := range all {
		if len([]rune(o)) < 16 {
			acks = append(acks, o)
		} else {
			work = append(work, o)
		}
	}
	return acks, work
}

// day passes the prompts of a day to each rule, in sessions.
func (b *bench) day(ctx context.Context, prompts []string) error {
	for i, r := range b.rules {
		var c conversation
		for n, p := range prompts {
			if n%daySession == 0 {
				c = r.begin(b.m)
			}
			d, err := c.ask(ctx, p)
			if err != nil {
				return err
			}
			b.rows[i].spent = append(b.rows[i].spent, d)
		}
	}
	return nil
}
