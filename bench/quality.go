// This file holds the command quality: which sets there are, and the report.

package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// tiny holds a set of a few questions in the form of LongMemEval, so that the
// command works without data.
//
//go:embed tiny
var tiny embed.FS

// dataSet is one set that quality knows.
type dataSet struct {
	name    string
	dir     string // below --data
	measure func(ctx context.Context, b *bench, data fs.FS) error
}

func dataSets() []dataSet {
	return []dataSet{
		{"longmemeval", "longmemeval-dev", measureLongMemEval},
		{"scifact", "scifact", measureSciFact},
		{"locomo", "locomo-dev", measureLoCoMo},
	}
}

func quality(b *bench, fl *flag.FlagSet) func(context.Context) error {
	var names []string
	for _, s := range dataSets() {
		names = append(names, s.name)
	}
	data := fl.String("data", "", "`DIR` that holds the sets, each in a directory of its own")
	set := fl.String("set", "", "only this `SET`: "+strings.Join(names, ", ")+" (default: all that DIR holds)")
	rank := fl.String("rank", "", "`RANKING` of the library: oxbow (its default) or seed")
	return func(ctx context.Context) error {
		ctx = withRank(ctx, *rank)
		b.title("quality", os.TempDir())
		b.printf("Ranking: %s.\n\n", cmp.Or(*rank, oxbow.RankOxbow))
		if *data == "" {
			if *set != "" && *set != "longmemeval" {
				return fmt.Errorf("measuring %s: say where it is with --data DIR", *set)
			}
			sub, err := fs.Sub(tiny, "tiny")
			if err != nil {
				return err
			}
			b.printf("The set is the tiny one that is built in: it shows that the measurement works and says nothing about quality. Give --data DIR for real sets.\n\n")
			return measureLongMemEval(ctx, b, sub)
		}
		n := 0
		for _, s := range dataSets() {
			if *set != "" && *set != s.name {
				continue
			}
			dir := os.DirFS(*data)
			if _, err := fs.Stat(dir, s.dir); errors.Is(err, fs.ErrNotExist) && *set == "" {
				b.logf("%s: left out: %s holds no %s", s.name, *data, s.dir)
				continue
			}
			sub, err := fs.Sub(dir, s.dir)
			if err != nil {
				return err
			}
			if err := s.measure(ctx, b, sub); err != nil {
				return fmt.Errorf("measuring %s: %w", s.name, err)
			}
			n++
		}
		if n == 0 {
			return fmt.Errorf("found no set %q in %s; there are %s", *set, *data, strings.Join(names, ", "))
		}
		return nil
	}
}

type rankKey struct{}

// withRank returns a context whose questions are asked of that ranking.
func withRank(ctx context.Context, rank string) context.Context {
	return context.WithValue(ctx, rankKey{}, rank)
}

func rankOf(ctx context.Context) string {
	rank, _ := ctx.Value(rankKey{}).(string)
	return rank
}
