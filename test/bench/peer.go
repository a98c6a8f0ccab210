// This file defines the search methods that are compared (peers). oxbow's own methods are its two rankings through
// Memory.Recall, its index with stop words, and a plain scan. The other methods are other search libraries.

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// searchMethod is a way to search texts. Texts are identified by number.
type searchMethod struct {
	name  string // name of this way to search, for the flag --engines
	title string

	// build writes files into the empty directory dir. The function open reads these files later. build adds a thousand
	// texts at a time. After each thousand, it calls the function done with the number of texts that were added so far.
	build func(ctx context.Context, dir string, texts []string, done func(int)) error
	open  func(dir string) (searcher, error)

	// cuts a text or query into terms (nil for a program other than oxbow, such as SQLite)
	splitTerms func(string) []string
}

// searcher searches texts. Its method search is safe for concurrent use.
type searcher interface {
	// search returns at most limit texts that contain any of the words, best first.
	search(ctx context.Context, words string, limit int) ([]foundText, error)
	close() error
}

// foundText is a text that a search found. The score is 0 if the search program reports no scores.
type foundText struct {
	textNumber int
	score      float64
}

// textsPerBuildBatch is the number of texts written at a time.
const textsPerBuildBatch = 1000

// allSearchMethods returns all ways to search, such as oxbow and SQLite, that this program can compare.
func allSearchMethods() []searchMethod {
	ps := []searchMethod{
		oxbowSearchMethod("seed", "oxbow --rank seed", oxbow.RankSeed),
		oxbowSearchMethod("oxbow", "oxbow (default)", oxbow.RankOxbow),
		{name: "engine", title: "oxbow's index alone, stop words kept", build: buildLinesFile, open: openEngine,
			splitTerms: splitLowercaseWords},
	}
	ps = append(ps, otherSearchMethods()...)
	return append(ps, searchMethod{name: "scan", title: "plain scan", build: buildLinesFile, open: openScanSearcher})
}

// eachBatch divides the texts into batches of textsPerBuildBatch texts. For each batch, it calls the function fn with
// the index of the batch's first text and the batch. Then it calls the function reportProgress with the number of texts
// so far.
func eachBatch(
	ctx context.Context,
	texts []string,
	reportProgress func(int),
	fn func(first int, some []string) error,
) error {
	for i := 0; i < len(texts); i += textsPerBuildBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		some := texts[i:min(i+textsPerBuildBatch, len(texts))]
		if err := fn(i, some); err != nil {
			return err
		}
		reportProgress(i + len(some))
	}
	return nil
}

// oxbowSearchMethod returns oxbow as one of the search programs to compare, with the given ranking. All entries have
// the same time, so that entries with equal scores are ordered by the number of their text.
func oxbowSearchMethod(name, title, ranking string) searchMethod {
	options := func() *oxbow.Options {
		return &oxbow.Options{Ranking: ranking, Clock: func() time.Time {
			return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		}}
	}
	p := searchMethod{name: name, title: title}
	if ranking == oxbow.RankSeed {
		p.splitTerms = text.CrabtalkTerms
	}
	p.build = func(ctx context.Context, dir string, texts []string, done func(int)) error {
		m, err := oxbow.Open(filepath.Join(dir, "memory.oxbow"), options())
		if err != nil {
			return err
		}
		err = eachBatch(ctx, texts, done, func(first int, some []string) error {
			ops := make([]oxbow.Op, len(some))
			for i, s := range some {
				ops[i] = oxbow.Add{Name: fmt.Sprintf("e%07d", first+i), Content: s}
			}
			return m.Apply(ctx, ops...)
		})
		// Search once, so that oxbow builds its index here. All other compared programs also build their indexes in
		// this step.
		if err == nil {
			_, err = m.Recall(ctx, oxbow.Query{Text: "index", Limit: 1})
		}
		return errors.Join(err, m.Close())
	}
	p.open = func(dir string) (searcher, error) {
		m, err := oxbow.Open(filepath.Join(dir, "memory.oxbow"), options())
		if err != nil {
			return nil, err
		}
		return &oxbowSearcher{m}, nil
	}
	return p
}

type oxbowSearcher struct{ memory *oxbow.Memory }

func (s *oxbowSearcher) search(ctx context.Context, words string, limit int) ([]foundText, error) {
	hits, err := s.memory.Recall(ctx, oxbow.Query{Text: words, Limit: limit})
	if err != nil {
		return nil, err
	}
	fs := make([]foundText, len(hits))
	for i, h := range hits {
		n, err := strconv.Atoi(strings.TrimPrefix(h.Entry.Name, "e"))
		if err != nil {
			return nil, fmt.Errorf("entry %q has no number", h.Entry.Name)
		}
		fs[i] = foundText{n, h.Score}
	}
	return fs, nil
}

func (s *oxbowSearcher) close() error { return s.memory.Close() }

// buildLinesFile writes the texts to a file, each as a quoted string on a line of its own.
func buildLinesFile(ctx context.Context, dir string, texts []string, reportProgress func(int)) error {
	f, err := os.Create(filepath.Join(dir, "texts"))
	if err != nil {
		return err
	}
	err = eachBatch(ctx, texts, reportProgress, func(_ int, some []string) error {
		var b strings.Builder
		for _, s := range some {
			b.WriteString(strconv.Quote(s) + "\n")
		}
		if _, err := f.WriteString(b.String()); err != nil {
			return err
		}
		return f.Sync()
	})
	return errors.Join(err, f.Close())
}

func readTexts(dir string) ([]string, error) {
	f, err := os.Open(filepath.Join(dir, "texts"))
	if err != nil {
		return nil, err
	}
	defer f.Close() // ignore the error: the file is only read
	var texts []string
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			return texts, nil
		}
		if err != nil {
			return nil, err
		}
		s, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("text %d: %w", len(texts)+1, err)
		}
		texts = append(texts, s)
	}
}

// splitLowercaseWords splits a text into words of letters and digits, in lower case.
func splitLowercaseWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// indexSearcher is oxbow's search index without a store around it. It contains only the terms of the texts and not the
// texts. Unlike oxbow, it does not ignore common words in a query.
type indexSearcher struct{ x *index.Index }

func openEngine(dir string) (searcher, error) {
	texts, err := readTexts(dir)
	if err != nil {
		return nil, err
	}
	e := &indexSearcher{index.New(index.Params{})}
	for i, s := range texts {
		e.x.Put(index.DocumentOfWords(uint64(i), splitLowercaseWords(s)))
	}
	return e, nil
}

func (e *indexSearcher) search(_ context.Context, words string, limit int) ([]foundText, error) {
	hits := e.x.Searcher().Search(index.Query{Terms: index.TermsForWords(splitLowercaseWords(words)), Limit: limit})
	fs := make([]foundText, len(hits))
	for i, h := range hits {
		fs[i] = foundText{int(h.ID), h.Score}
	}
	return fs, nil
}

func (e *indexSearcher) close() error { return nil }

// scanSearcher searches all texts sequentially, like a memory without an index.
type scanSearcher struct{ lowerTexts []string }

func openScanSearcher(dir string) (searcher, error) {
	texts, err := readTexts(dir)
	if err != nil {
		return nil, err
	}
	for i, s := range texts {
		texts[i] = strings.ToLower(s)
	}
	return &scanSearcher{texts}, nil
}

func (s *scanSearcher) search(_ context.Context, words string, limit int) ([]foundText, error) {
	var fs []foundText
	for _, n := range scanWithoutIndex(s.lowerTexts, words, limit) {
		fs = append(fs, foundText{textNumber: n})
	}
	return fs, nil
}

func (s *scanSearcher) close() error { return nil }
