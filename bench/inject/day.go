// A working day: the prompts that people really write, in a realistic mix.

package inject

import (
	"context"
	"math/rand/v2"
)

// daySession is how many prompts a session of the day has.
const daySession = 25

// dayPrompts returns the prompts of a day: of a hundred, twenty-five acknowledge,
// forty give orders, fifteen paste, twelve ask of what the memory does not hold, and
// eight of what it does.
func dayPrompts(r *rand.Rand, own []Ask, foreign []string) []string {
	acks, work := splitOrders(orders())
	asks := make([]string, len(own))
	for i, q := range own {
		asks[i] = q.Text
	}
	var day []string
	for _, part := range []struct {
		n    int
		from []string
	}{{25, acks}, {40, work}, {15, pasted()}, {12, foreign}, {8, asks}} {
		for range part.n {
			if len(part.from) > 0 {
				day = append(day, part.from[r.IntN(len(part.from))])
			}
		}
	}
	r.Shuffle(len(day), func(i, j int) { day[i], day[j] = day[j], day[i] })
	return day
}

// splitOrders tells acknowledgements, which are short, from orders.
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

// day puts the prompts of a day to each rule, in sessions.
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
			b.rows[i].Spent = append(b.rows[i].Spent, d)
		}
	}
	return nil
}
