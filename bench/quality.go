// This file holds the command quality: which sets there are, and the report.

package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
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
	return func(ctx context.Context) error {
		b.title("quality", os.TempDir())
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
