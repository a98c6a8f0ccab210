// This file implements the command named "tokens". It measures how much oxbow's estimated number of tokens differs from
// a tokenizer's count.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/tiktoken-go/tokenizer"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
)

// tokenCountTextBytes is the approximate size, in bytes, of the texts whose tokens are counted. A long entry has about
// this size.
const tokenCountTextBytes = 4000

// maxTextsPerDataSet is the maximum number of texts whose tokens are counted in each data set that tokenCountDataSets
// lists. The counted texts are evenly distributed over the data set.
const maxTextsPerDataSet = 300

// tokenCountDataSets contains sets of texts, of the kinds that memories contain, on which oxbow's estimate of token
// counts is tested.
var tokenCountDataSets = []struct {
	name string
	read func(data fs.FS) ([]string, error)
}{
	{
		"LoCoMo: talks between people",
		func(d fs.FS) ([]string, error) { return entryTexts(readLoCoMoEntries(d, false)) },
	},
	{"LongMemEval: chats with a program", func(d fs.FS) ([]string, error) {
		var ts []string
		err := eachSession(d, func(_, text string) error { ts = append(ts, text); return nil })
		return ts, err
	}},
	{"QMSum: meetings", func(d fs.FS) ([]string, error) { return entryTexts(readMeetingEntries(d)) }},
	{"lines of Go", func(d fs.FS) ([]string, error) { return entryTexts(readSourceLines(d, true)) }},
	{"this project: Markdown", func(fs.FS) ([]string, error) { return readFilesWithExtension("../..", ".md") }},
	{"this project: Go", func(fs.FS) ([]string, error) { return readFilesWithExtension("../..", ".go") }},
	{
		"made up: small numbers with commas",
		func(fs.FS) ([]string, error) { return randomTexts("0123456789", 2, ", "), nil },
	},
	{"made up: base64 of random bytes", func(fs.FS) ([]string, error) {
		return randomTexts("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 76, "\n"), nil
	}},
	{"made up: words of random letters", func(fs.FS) ([]string, error) {
		return randomTexts("abcdefghijklmnopqrstuvwxyz", 6, " "), nil
	}},
}

// randomTexts returns a single long text, which consists of random words that no tokenizer has learned. The argument
// letters contains the letters of the words, and the argument size is how many letters each word has. The string in the
// argument separator separates the words.
func randomTexts(letters string, size int, separator string) []string {
	rng := rand.New(rand.NewPCG(1, 0))
	var b strings.Builder
	for b.Len() < 20*tokenCountTextBytes {
		for range size {
			b.WriteByte(letters[rng.IntN(len(letters))])
		}
		b.WriteString(separator)
	}
	return []string{b.String()}
}

func entryTexts(es []projectLabelledEntry, err error) ([]string, error) {
	ts := make([]string, len(es))
	for i, e := range es {
		ts[i] = e.text
	}
	return ts, err
}

// readFilesWithExtension returns the texts of the files with this extension below dir, without test data.
func readFilesWithExtension(dir, ext string) ([]string, error) {
	var ts []string
	fsys := os.DirFS(dir)
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		isSkipped := d.Name() == "testdata" || d.Name() == ".git"
		if isSkipped && d.IsDir() {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(p) != ext {
			return nil
		}
		b, err := fs.ReadFile(fsys, p)
		ts = append(ts, string(b))
		return err
	})
	return ts, err
}

func tokensCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	data := fl.String("data", "", "`DIR` that holds locomo-dev, longmemeval-dev, qmsum-val and linedrift-dev")
	return func(ctx context.Context) error {
		if *data == "" {
			return errors.New("measuring tokens: say where the sets are with --data DIR")
		}
		b.printTitle("tokens", os.TempDir())
		b.printf(
			"Protocol: up to %d pieces of about %d bytes of each set, spread over all of it; prompt.Tokens divided "+
				"by the count of the tokenizer. Below 1 the estimate is too low; a budget of prompt.Pack allows for "+
				"%.3f.\n\n",
			maxTextsPerDataSet, tokenCountTextBytes, 100/float64(prompt.EstimateFactorPercent),
		)
		t := newTable("texts", "pieces", "of", "lowest", "p5", "median", "p95", "highest", "all together")
		for _, name := range []tokenizer.Encoding{tokenizer.Cl100kBase, tokenizer.O200kBase} {
			codec, err := tokenizer.Get(name)
			if err != nil {
				return fmt.Errorf("opening the tokenizer %s: %w", name, err)
			}
			for _, s := range tokenCountDataSets {
				texts, err := s.read(os.DirFS(*data))
				if err != nil {
					return fmt.Errorf("reading %s: %w", s.name, err)
				}
				e, err := compareTokenEstimates(
					ctx,
					sampleEvenly(equalizeTextSizes(texts), maxTextsPerDataSet),
					codec.Count,
				)
				if err != nil {
					return fmt.Errorf("counting %s: %w", s.name, err)
				}
				t.addRow(
					append(
						[]string{s.name, formatCount(len(e.estimatedToCountedRatios)), string(name)},
						e.tableCells()...)...)
				b.logf("tokens: %s, %s", s.name, name)
			}
		}
		b.emitTable(t)
		return nil
	}
}

// equalizeTextSizes joins the texts and splits the result into texts of about tokenCountTextBytes bytes.
func equalizeTextSizes(texts []string) []string {
	return splitText(strings.Join(texts, "\n\n"), tokenCountTextBytes)
}

// sampleEvenly returns at most maxCount elements of the slice all. The elements are evenly distributed over the slice.
func sampleEvenly[T any](all []T, maxCount int) []T {
	if len(all) <= maxCount {
		return all
	}
	some := make([]T, max(maxCount, 0))
	for i := range some {
		some[i] = all[i*len(all)/maxCount]
	}
	return some
}

// tokenEstimateStats compares estimated with counted numbers of tokens.
type tokenEstimateStats struct {
	estimatedToCountedRatios       []float64 // estimated divided by counted number of tokens for each text, in ascending order
	estimatedTokens, countedTokens int
}

func compareTokenEstimates(
	ctx context.Context,
	texts []string,
	count func(string) (int, error),
) (e tokenEstimateStats, err error) {
	for _, s := range texts {
		if err := ctx.Err(); err != nil {
			return e, err
		}
		n, err := count(s)
		if err != nil {
			return e, err
		}
		if n == 0 {
			continue
		}
		g := prompt.EstimateTokens(s)
		e.estimatedTokens += g
		e.countedTokens += n
		e.estimatedToCountedRatios = append(e.estimatedToCountedRatios, float64(g)/float64(n))
	}
	slices.Sort(e.estimatedToCountedRatios)
	if len(e.estimatedToCountedRatios) == 0 {
		return e, errors.New("there are no texts")
	}
	return e, nil
}

func (e tokenEstimateStats) tableCells() []string {
	at := func(q float64) string {
		return fmt.Sprintf("%.2f", e.estimatedToCountedRatios[int(q*float64(len(e.estimatedToCountedRatios)-1)+0.5)])
	}
	return []string{
		at(0),
		at(0.05),
		at(0.5),
		at(0.95),
		at(1),
		fmt.Sprintf("%.2f", float64(e.estimatedTokens)/float64(e.countedTokens)),
	}
}
