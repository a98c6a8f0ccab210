// This file implements the command named "words". It counts how frequent common words are in the chats of the data set
// LongMemEval. Package analysis embeds the result.

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/test/bench/quality"
)

func wordsCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	data := fl.String("data", "", "`DIR` that holds LongMemEval")
	return func(ctx context.Context) error {
		if *data == "" {
			return errors.New("words: say where LongMemEval is with --data DIR")
		}
		s, err := quality.FindSource(os.DirFS(*data), *data, "longmemeval")
		if err != nil {
			return err
		}
		// set of the texts, because several questions have the same session in their history
		texts := map[string]bool{}
		for q, err := range s.Questions() {
			if err != nil {
				return err
			}
			for _, session := range q.Sessions {
				for _, turn := range session.Turns {
					texts[turn.Text] = true
				}
			}
		}
		b.printCommonTerms(ctx, maps.Keys(texts), len(texts))
		return ctx.Err()
	}
}

// minTextsPerThousand is the number of texts in a thousand that must contain a term, so that the term counts as common.
const minTextsPerThousand = 2

// printCommonTerms prints each common term that consists of letters, and how many texts in a thousand contain it.
func (b *bench) printCommonTerms(ctx context.Context, texts func(func(string) bool), textCount int) {
	an := analysis.NewAnalyzer()
	df := map[string]int{}
	for text := range texts {
		terms := an.TermSequence(ctx, text)
		slices.Sort(terms)
		for _, t := range slices.Compact(terms) {
			df[t]++
		}
	}
	perMille := func(t string) int { return int(math.Round(1000 * float64(df[t]) / float64(textCount))) }
	terms := slices.SortedFunc(maps.Keys(df), func(a, b string) int {
		return cmp.Or(perMille(b)-perMille(a), cmp.Compare(a, b))
	})
	for _, t := range terms {
		if s := perMille(t); s >= minTextsPerThousand && strings.IndexFunc(t, func(r rune) bool {
			return !unicode.IsLetter(r)
		}) < 0 {
			b.printf("%s %d\n", t, s)
		}
	}
}
