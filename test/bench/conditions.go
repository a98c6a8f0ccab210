// This file implements the command conditions, which measures queries with conditions.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/query"
)

// queryShapes are the kinds of queries that are measured. Each W is replaced by a random word, and each C by one of the
// twenty most frequent words. The first shape is the plain query, with which the other shapes are compared.
var queryShapes = []struct {
	name, text string
	query      oxbow.Query // further fields of the query
}{
	{"two words", "W W", oxbow.Query{}},
	{"`project:p3`", "W W project:p3", oxbow.Query{}},
	{"`project:p3` alone", "project:p3", oxbow.Query{}},
	{"`after:2025-03-01`", "W W after:2025-03-01", oxbow.Query{}},
	{"`after:2025-03-01` alone", "after:2025-03-01", oxbow.Query{}},
	{"`name:note-77`", "W W name:note-77", oxbow.Query{}},
	{"without a frequent word", "W W -C", oxbow.Query{}},
	{"with a required word", "W W +W", oxbow.Query{}},
	{"with a phrase", `W W "W W"`, oxbow.Query{}},
	{"with a phrase of frequent words", `W W "C C"`, oxbow.Query{}},
	{"without a phrase", `W W -"C C"`, oxbow.Query{}},
	{"a prefix of two letters", "W W Pre*", oxbow.Query{}},
	{"a misspelt word", "W W Typo", oxbow.Query{}},
	{"collapse", "W W", oxbow.Query{Collapse: true}},
	{"explain", "W W", oxbow.Query{Explain: true}},
	{"limit 100", "W W", oxbow.Query{Limit: 100}},
	{"recency", "W W", oxbow.Query{Recency: 30 * 24 * time.Hour}},
}

// queryConditionsRun is one run of the command conditions.
type queryConditionsRun struct {
	*bench
	rounds int
	rnd    *rand.Rand
	now    time.Time
}

func conditionsCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	r := &queryConditionsRun{bench: b, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	sizes := fl.String("n", "100000", "entries in the store, `N,N…`")
	fl.IntVar(&r.rounds, "rounds", 300, "queries of each kind, in turns")
	b.addDirFlag(fl)
	return func(ctx context.Context) error {
		counts, err := parseNumbers(*sizes)
		if err != nil {
			return err
		}
		if r.rounds < 1 {
			return errors.New("measuring conditions: --rounds must be above 0")
		}
		if _, ok := processorTime(); !ok {
			return errors.New("measuring conditions: the processor time of this process is unknown on this system")
		}
		dir, remove, err := b.tempDir()
		if err != nil {
			return err
		}
		defer remove()
		b.printTitle("conditions", dir)
		head := []string{"query"}
		rows := make([][]string, len(queryShapes))
		for i, s := range queryShapes {
			rows[i] = []string{s.name}
		}
		for i, n := range counts {
			r.rnd = rand.New(rand.NewPCG(1, uint64(n)))
			costs, err := r.measureQueryShapes(ctx, filepath.Join(dir, fmt.Sprint(i, ".oxbow")), n)
			if err != nil {
				return err
			}
			head = append(head, formatCount(n)+": p50", "p99", "p50 ×", "p99 ×")
			for k, c := range costs {
				rows[k] = append(
					rows[k],
					formatDuration(c.p50()),
					formatDuration(c.quantile(.99)),
					formatRatio(c.p50(), costs[0].p50()),
					formatRatio(c.quantile(.99), costs[0].quantile(.99)),
				)
			}
		}
		t := newTable(head...)
		for _, row := range rows {
			t.addRow(row...)
		}
		b.emitTable(t)
		return nil
	}
}

// randomWord returns a random word. Words with small numbers are more frequent.
func (r *queryConditionsRun) randomWord() string {
	return fmt.Sprintf("w%d", int(20_000*r.rnd.Float64()*r.rnd.Float64()*r.rnd.Float64()))
}

func (r *queryConditionsRun) entry(i int) oxbow.Add {
	var text strings.Builder
	for text.Len() < 230 {
		text.WriteString(r.randomWord() + " ")
	}
	return oxbow.Add{
		Name:    fmt.Sprintf("note-%d", i),
		Content: text.String(),
		Created: r.now.AddDate(-2, 0, 0).Add(time.Duration(r.rnd.IntN(60_000_000)) * time.Second),
		Labels:  []oxbow.Label{{Key: oxbow.LabelProject, Value: fmt.Sprint("p", r.rnd.IntN(20))}},
	}
}

// queryText returns a random query of the given shape. For example, the shape "W -C" becomes a random word, and a
// frequent word that must be missing (see queryShapes).
func (r *queryConditionsRun) queryText(queryShape string) string {
	var text strings.Builder
	for i := 0; i < len(queryShape); i++ {
		switch rest := queryShape[i:]; {
		case strings.HasPrefix(rest, "Pre*"):
			fmt.Fprintf(&text, "w%d*", 10+r.rnd.IntN(90))
			i += len("Pre*") - 1
		case strings.HasPrefix(rest, "Typo"):
			text.WriteString(r.randomWord() + "x")
			i += len("Typo") - 1
		case rest[0] == 'W':
			text.WriteString(r.randomWord())
		case rest[0] == 'C':
			fmt.Fprintf(&text, "w%d", r.rnd.IntN(20))
		default:
			text.WriteByte(rest[0])
		}
	}
	return text.String()
}

// measureQueryShapes fills a memory with entryCount entries, and returns the processor times of the queries of each
// kind.
func (r *queryConditionsRun) measureQueryShapes(
	ctx context.Context,
	path string,
	entryCount int,
) (costs []timings, err error) {
	m, err := oxbow.Open(path, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	for from := 0; from < entryCount; from += 1000 {
		ops := make([]oxbow.Op, 0, 1000)
		for i := from; i < min(from+1000, entryCount); i++ {
			ops = append(ops, r.entry(i))
		}
		if err := m.Apply(ctx, ops...); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(m.MakeIndex(ctx), m.Checkpoint(ctx)); err != nil {
		return nil, err
	}
	costs = make([]timings, len(queryShapes))
	for round := range r.rounds + r.rounds/5 {
		for k, s := range queryShapes {
			q, err := query.Parse(r.queryText(s.text), r.now)
			if err != nil {
				return nil, err
			}
			q.Collapse, q.Explain = s.query.Collapse, s.query.Explain
			q.Limit = s.query.Limit
			q.Recency = s.query.Recency
			q.Now = r.now
			before, _ := processorTime()
			if _, err := m.Recall(ctx, q); err != nil {
				return nil, err
			}
			after, _ := processorTime()
			if round >= r.rounds/5 { // The first rounds fill the caches.
				costs[k] = append(costs[k], after-before)
			}
		}
	}
	return costs, nil
}
