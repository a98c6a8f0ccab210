// This file implements the command golden. For every question in the data sets, it prints the question, the hits and
// the exact bits of the hits' scores. A comparison with cmp shows whether a change affects the results of recall.

package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math"
	"os"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/bench/quality"
)

func goldenCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	data := fl.String("data", "", "`DIR` that holds the sets, each in a directory of its own")
	out := fl.String("out", "", "`FILE` to write")
	return func(ctx context.Context) error {
		if *data == "" || *out == "" {
			return fmt.Errorf("golden: say what to ask with --data DIR, and where to write with --out FILE")
		}
		f, err := os.Create(*out)
		if err != nil {
			return err
		}
		defer f.Close()
		w := bufio.NewWriter(f)
		o := quality.Options{DataFS: os.DirFS(*data), DataDir: *data,
			OnQuestionHits: func(set, unit, ranking, question string, hits []oxbow.Hit) {
				fmt.Fprintf(w, "%s %s %s %q\n", set, unit, ranking, question)
				for _, h := range hits {
					fmt.Fprintf(w, "  %016x %s\n", math.Float64bits(h.Score), h.Entry.Name)
				}
			},
			Progress: func(title string, done int) { b.logf("golden: %s, %d questions", title, done) }}
		if _, err := quality.Run(ctx, o); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
		return f.Close()
	}
}
