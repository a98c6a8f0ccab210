// This file runs the measurement: every store of a set, every arm, every rule.

package inject

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/agent/inject"
)

// Options limit the measurement.
type Options struct {
	Stores   iter.Seq2[*Store, error] // iterated twice
	Foreign  int                      // total number of foreign questions (0 means 1,000)
	Variants int                      // number of stores that are also measured in other forms (0 means 20)
	Progress func(store string)       // called after each store if it is not nil
}

// Result contains the results of the rules.
type Result struct {
	Stores int    `json:"stores"`
	Units  int    `json:"units"`
	Rows   []*Row `json:"rows"`
}

// pool contains the answerable questions of all stores, and stores that serve as other
// people.
type pool struct {
	asks   []Ask
	stores int
	others []*Store
}

// maxOthers is the number of stores that are kept in memory to serve as other people.
const maxOthers = 12

// Run runs the measurement.
func Run(ctx context.Context, o Options) (*Result, error) {
	p, err := gather(o.Stores)
	if err != nil {
		return nil, err
	}
	if o.Foreign == 0 {
		o.Foreign = 1000
	}
	if o.Variants == 0 {
		o.Variants = 20
	}
	res, rules := new(Result), Rules()
	for _, r := range rules {
		res.Rows = append(res.Rows, newRow(r.Name))
	}
	for s, err := range o.Stores {
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		foreign := p.foreign(s, res.Stores, (o.Foreign+p.stores-1)/p.stores)
		if err := s.within(ctx, rules, res.Rows, func(b *bench) error {
			return b.plain(ctx, s, foreign, res.Stores)
		}); err != nil {
			return nil, err
		}
		// Select stores from all over the set.
		if (res.Stores+1)*o.Variants/p.stores > res.Stores*o.Variants/p.stores {
			if err := p.runVariants(ctx, s, rules, res.Rows); err != nil {
				return nil, err
			}
		}
		res.Stores++
		res.Units += len(s.Units)
		if o.Progress != nil {
			o.Progress(s.Name)
		}
	}
	for _, r := range res.Rows {
		r.Day = summarizeDay(r.spent)
	}
	return res, nil
}

// gather reads the pool.
func gather(stores iter.Seq2[*Store, error]) (p pool, err error) {
	for s, err := range stores {
		if err != nil {
			return p, err
		}
		p.stores++
		for _, a := range s.Asks {
			if !a.Unanswerable && len(a.Right) > 0 {
				p.asks = append(p.asks, a)
			}
		}
		if len(p.others) < maxOthers {
			p.others = append(p.others, s)
		}
	}
	return p, nil
}

// foreign returns at most most questions from all over the pool that the store cannot
// answer.
func (p *pool) foreign(s *Store, n, most int) []string {
	var texts []string
	for _, a := range p.asks {
		if !slices.ContainsFunc(a.From, func(from string) bool { return s.Holds[from] }) {
			texts = append(texts, a.Text)
		}
	}
	if len(texts) <= most {
		return texts
	}
	var some []string
	for i := range most {
		some = append(some, texts[(n+i*len(texts)/most)%len(texts)])
	}
	return some
}

// plain passes the questions of an unmodified store to the rules.
func (b *bench) plain(ctx context.Context, s *Store, foreign []string, n int) error {
	if err := b.askOwn(ctx, Own, s.Asks); err != nil {
		return err
	}
	var answered []Ask
	for _, q := range s.Asks {
		if q.Unanswerable {
			if err := b.runArm(ctx, Unanswerable, q.Text, nil); err != nil {
				return err
			}
		} else if len(q.Right) > 0 {
			answered = append(answered, q)
		}
	}
	for a, prompts := range map[Arm][]string{Foreign: foreign, Orders: workOrders()} {
		for _, q := range prompts {
			if err := b.runArm(ctx, a, q, nil); err != nil {
				return err
			}
		}
	}
	if err := b.again(ctx, answered); err != nil {
		return err
	}
	return b.day(ctx, dayPrompts(rand.New(rand.NewPCG(1, uint64(n))), answered, foreign))
}

// runVariants passes the questions of a store to the rules, with the store in its other forms.
func (p *pool) runVariants(ctx context.Context, s *Store, rules []Rule, rows []*Row) error {
	var others []*Store
	for _, o := range p.others {
		if o.Name != s.Name && !slices.ContainsFunc(s.Asks, func(a Ask) bool {
			return slices.ContainsFunc(a.From, func(from string) bool { return o.Holds[from] })
		}) {
			others = append(others, o)
		}
	}
	if len(others) > 0 {
		for a, v := range map[Arm]*Store{Switch: s.joinStores(others[0]), Marathon: s.beside(others)} {
			if err := v.within(ctx, rules, rows, func(b *bench) error { return b.askOwn(ctx, a, s.Asks) }); err != nil {
				return err
			}
		}
	}
	if s.In != inject.InNotes { // the output of tools is never a note
		return s.asPrinted().within(ctx, rules, rows, func(b *bench) error { return b.askOwn(ctx, Tool, s.Asks) })
	}
	return nil
}
