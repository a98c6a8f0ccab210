// This file holds the command quality: the measurement of oxbow bench quality,
// as tables of Markdown.

package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/quality"
)

// tiny holds a set of a few questions in the form of LongMemEval, so that the
// command works without data.
//
//go:embed tiny
var tiny embed.FS

func qualityCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	data := fl.String("data", "", "`DIR` that holds the sets, each in a directory of its own")
	set := fl.String("set", "", "only this `SET`: "+strings.Join(quality.SetNames(), ", ")+" (default: all that DIR holds)")
	return func(ctx context.Context) error {
		o := quality.Options{Data: tiny, Progress: func(title string, done int) { b.logf("quality: %s, %d questions", title, done) }}
		var from fs.FS = tiny
		if *data != "" {
			from = os.DirFS(*data)
		}
		o.Data, o.Root = from, *data
		if *set != "" {
			o.Sets = []string{*set}
		}
		r, err := quality.Run(ctx, o)
		if err != nil && (r == nil || len(r.Results) == 0) {
			return err
		}
		if len(r.Results) == 0 {
			return fmt.Errorf("measuring quality: there is no set; say where one is with --data DIR")
		}
		b.title("quality", os.TempDir())
		if *data == "" {
			b.printf("The set is the tiny one that is built in: it shows that the measurement works and says nothing about quality. Give --data DIR for real sets.\n\n")
		}
		b.report(r)
		return err // of a set that could not be read
	}
}

// report prints the report.
func (b *bench) report(r *quality.Report) {
	share := func(x float64) string { return strings.TrimPrefix(fmt.Sprintf("%.4f", x), "0") }
	if p := r.Proof; p.Proved {
		b.printf("The scorer is proved: SciFact with k1 0.9, b 0.4 gives nDCG@10 %s, as published.\n\n", share(p.NDCG))
	} else {
		b.printf("The scorer is not proved: %s.\n\n", p.Why)
	}
	t := newTable("set", "ranking", "n", "any@1", "any@5", "any@10", "all@5", "nDCG@10", "MRR")
	for _, res := range r.Results {
		for _, row := range res.Rows {
			name := res.Title + " " + res.Unit
			if row.Group != "" {
				name += ", " + row.Group
			}
			t.row(name, row.Ranking, count(row.N), share(row.Any1), share(row.Any5), share(row.Any10), share(row.All5), share(row.NDCG), share(row.MRR))
		}
	}
	t.print(b.out)
	for _, res := range r.Results {
		b.printf("%s %s: %s entries in %s memories, from %s. %s\n\n", res.Title, res.Unit, count(res.Entries), count(res.Memories), strings.Join(res.Files, ", "), res.Protocol)
	}
	for _, m := range r.Missing {
		b.printf("Not there: %s: %s, from %s\n\n", m.Title, m.Expect, m.From)
	}
}
