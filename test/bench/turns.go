// This file implements the command "turns". The command measures how long recalls take if the hits are turns of
// conversations. The default ranking ranks such turns together with their neighbours.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/bench/quality"
	"github.com/oxbow-memory/oxbow/vfs"
)

func turnsCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	data := fl.String("data", "", "`DIR` that holds locomo-dev, or LoCoMo as published")
	copies := fl.Int("copies", 1, "how many times each talk is in the memory")
	rounds := fl.Int("rounds", 5, "how many times each question is asked")
	return func(ctx context.Context) error {
		if *data == "" {
			return errors.New("measuring turns: say where the talks are with --data DIR")
		}
		if *copies < 1 || *rounds < 1 {
			return errors.New("measuring turns: --copies and --rounds must be above 0")
		}
		return b.measureTurns(ctx, *data, *copies, *rounds)
	}
}

// measureTurns measures how long each ranking needs to answer the questions of the data set LoCoMo. One memory contains
// all turns of the conversations, copied as often as copyCount says. Each question is asked rounds times with each
// ranking. measureTurns prints a table with the times.
func (b *bench) measureTurns(ctx context.Context, dataDir string, copyCount, rounds int) (err error) {
	ops, asks, err := readConversationOps(dataDir, copyCount)
	if err != nil {
		return err
	}
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if err := m.Apply(ctx, ops...); err != nil {
		return err
	}
	rankings := []string{oxbow.RankSeed, oxbow.RankOxbow}
	took, spentOn := make([]timings, len(rankings)), make([]time.Duration, len(rankings))
	const batch = 20 // The rankings alternate after this number of questions.
	for round := range rounds + 1 {
		for from := 0; from < len(asks); from += batch {
			for i, rank := range rankings {
				start := cpuOrWallTime()
				for _, q := range asks[from:min(from+batch, len(asks))] {
					var t timings
					if err := t.timeCall(func() error {
						_, err := m.Recall(ctx, oxbow.Query{Text: q, Rank: rank, Limit: 10})
						return err
					}); err != nil {
						return err
					}
					if round > 0 { // Do not count the first round, because it builds the index of each ranking.
						took[i] = append(took[i], t...)
					}
				}
				if round > 0 {
					spentOn[i] += cpuOrWallTime() - start
				}
			}
		}
	}
	b.printTitle("turns", os.TempDir())
	b.printf(
		"%s turns of LoCoMo in one memory, its %s questions, each %d times, 10 hits, the rankings in turns of %d.\n\n",
		formatCount(len(ops)), formatCount(len(asks)), rounds, batch,
	)
	t := newTable("ranking", "p50", "p95", "p99", "p50 ÷ seed", "processor time", "÷ seed")
	for i, rank := range rankings {
		mean := func(i int) time.Duration { return spentOn[i] / time.Duration(len(took[i])) }
		t.addRow(
			rank,
			formatDuration(took[i].p50()),
			formatDuration(took[i].quantile(.95)),
			formatDuration(took[i].quantile(.99)),
			fmt.Sprintf("%.2f", float64(took[i].p50())/float64(took[0].p50())),
			formatDuration(mean(i)),
			fmt.Sprintf("%.2f", float64(mean(i))/float64(mean(0))),
		)
	}
	b.emitTable(t)
	return nil
}

// readConversationOps reads the data set LoCoMo from the directory data. ops are the operations that add all turns of
// the conversations to a memory, each turn copies times under different names. questions contains each question of the
// data set once.
func readConversationOps(data string, copies int) (ops []oxbow.Op, questions []string, err error) {
	src, err := quality.FindSource(os.DirFS(data), ".", "locomo")
	if err != nil {
		return nil, nil, err
	}
	for copied := range copies {
		n := 0
		for talk, err := range src.Conversations() {
			if err != nil {
				return nil, nil, err
			}
			n++
			for _, e := range talk.Turns {
				ops = append(
					ops,
					oxbow.Add{
						Name:    fmt.Sprintf("talk %d.%d %s", n, copied+1, e.Name),
						Content: e.Text,
						Created: e.Date,
					},
				)
			}
			for _, q := range talk.Questions {
				if copied == 0 {
					questions = append(questions, q.Text)
				}
			}
		}
	}
	return ops, questions, nil
}
