// This file holds the measurement on SciFact (BEIR): a check of the scorer
// against figures that others published for the same formula.

package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/bm25"
)

// What is published for k1 = 0.9, b = 0.4 on the test topics: by Anserini with
// Lucene, which keeps a document's length in one lossy byte, and the nDCG@10
// of the same with exact lengths.
const (
	sciFactLossyNDCG   = .6789
	sciFactLossyRecall = .9253 // at 100
	sciFactExactNDCG   = .6777
)

// paper is one abstract of the corpus.
type paper struct {
	id   uint64
	text string // title and sentences
}

// readPapers reads the corpus: a CSV of doc_id, title, abstract, structured in
// a zip, the abstract being a Python list of strings as numpy prints it.
func readPapers(data fs.FS) (papers []paper, err error) {
	b, err := fs.ReadFile(data, "scifact.zip")
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("unpacking scifact.zip: %w", err)
	}
	f, err := z.Open("corpus_train.csv")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := csv.NewReader(f)
	r.FieldsPerRecord = 4
	for n := 0; ; n++ {
		row, err := r.Read()
		if err == io.EOF {
			return papers, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the corpus: %w", err)
		}
		if n == 0 {
			continue
		}
		id, err := strconv.ParseUint(row[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("reading abstract %d: %w", n, err)
		}
		sentences, err := pythonStrings(row[2])
		if err != nil {
			return nil, fmt.Errorf("reading abstract %d: %w", id, err)
		}
		papers = append(papers, paper{id, row[1] + " " + strings.Join(sentences, " ")})
	}
}

// pythonStrings reads a list of Python string literals, with commas or only
// white space between them.
func pythonStrings(s string) ([]string, error) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "[") || !strings.HasSuffix(s, "]") {
		return nil, errors.New("is not a list")
	}
	s = s[1 : len(s)-1]
	var list []string
	for {
		s = strings.TrimLeft(s, " ,\n\r\t")
		if s == "" {
			return list, nil
		}
		quote := s[0]
		if quote != '\'' && quote != '"' {
			return nil, fmt.Errorf("has %q where a string should begin", s[:1])
		}
		var b strings.Builder
		rest := s[1:]
		for {
			if rest == "" {
				return nil, errors.New("has a string without an end")
			}
			if rest[0] == quote {
				break
			}
			if strings.HasPrefix(rest, `\'`) || strings.HasPrefix(rest, `\"`) {
				b.WriteByte(rest[1])
				rest = rest[2:]
				continue
			}
			r, multi, tail, err := strconv.UnquoteChar(rest, 0)
			if err != nil {
				return nil, fmt.Errorf("has a bad escape: %w", err)
			}
			if multi || r < 0x80 {
				b.WriteRune(r)
			} else {
				b.WriteRune(rune(byte(r))) // \xNN is a code point in Python, a byte in Go
			}
			rest = tail
		}
		list = append(list, b.String())
		s = rest[1:]
	}
}

// readTopics reads the queries, "id TAB text" a line.
func readTopics(data fs.FS) (topics [][2]string, err error) {
	r, err := openData(data, "topics.beir-v1.0.0-scifact.test.tsv")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		id, text, ok := strings.Cut(sc.Text(), "\t")
		if !ok {
			return nil, fmt.Errorf("reading topic %d: has no tab", len(topics)+1)
		}
		topics = append(topics, [2]string{id, text})
	}
	return topics, sc.Err()
}

// readQrels reads which documents are right: "topic 0 document relevance" a
// line.
func readQrels(data fs.FS) (map[string]map[string]bool, error) {
	b, err := fs.ReadFile(data, "qrels.beir-v1.0.0-scifact.test.txt")
	if err != nil {
		return nil, err
	}
	right := map[string]map[string]bool{}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		f := strings.Fields(line)
		if len(f) != 4 {
			return nil, fmt.Errorf("reading relevance %d: has %d fields, not 4", n, len(f))
		}
		if f[3] == "0" {
			continue
		}
		if right[f[0]] == nil {
			right[f[0]] = map[string]bool{}
		}
		right[f[0]][f[2]] = true
	}
	return right, nil
}

// repeated ranks as [bm25.Index.Search] does, but a term that stands twice in
// the query counts twice, as Lucene counts it.
func repeated(x *bm25.Index, terms []string, limit int) []bm25.Hit {
	times := map[string]int{}
	for _, t := range terms {
		times[t]++
	}
	if len(times) == len(terms) {
		return x.Search(bm25.Query{Terms: bm25.Any(terms), Limit: limit})
	}
	hits := x.Search(bm25.Query{Terms: bm25.Any(terms), Limit: x.Len()})
	for i := range hits {
		e, _ := x.Explain(hits[i].ID, bm25.Any(terms))
		hits[i].Score = 0
		for _, t := range e.Terms {
			hits[i].Score += float64(times[t.Term]) * t.Score
		}
	}
	slices.SortStableFunc(hits, func(a, b bm25.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(limit, len(hits))]
}

func measureSciFact(ctx context.Context, b *bench, data fs.FS) error {
	papers, err := readPapers(data)
	if err != nil {
		return err
	}
	topics, err := readTopics(data)
	if err != nil {
		return err
	}
	qrels, err := readQrels(data)
	if err != nil {
		return err
	}
	an := newLucene()
	x := bm25.New(bm25.Params{K1: .9, B: .4, CountEmpty: true})
	own := bm25.New(bm25.Params{CountEmpty: true})
	for _, p := range papers {
		terms := an.terms(p.text)
		x.Put(p.id, 0, bm25.Words(terms))
		own.Put(p.id, 0, bm25.Words(terms))
	}
	var once, twice, defaults score
	for _, t := range topics {
		if err := ctx.Err(); err != nil {
			return err
		}
		right := qrels[t[0]]
		if right == nil {
			continue
		}
		terms := an.terms(t[1])
		once.add(idsOf(x.Search(bm25.Query{Terms: bm25.Any(terms), Limit: 100})), right)
		twice.add(idsOf(repeated(x, terms, 100)), right)
		defaults.add(idsOf(own.Search(bm25.Query{Terms: bm25.Any(terms), Limit: 100})), right)
	}
	if once.n == 0 {
		return errors.New("found no topic with a relevant document")
	}
	b.printf("### SciFact: is the scorer right?\n\n")
	b.printf("Protocol: BEIR's test topics (%d) over %s abstracts, title and text as one field, through the library's scorer with an analyzer like Anserini's (UAX #29 words, no possessives, lower case, 33 stop words, Porter).\n\n", once.n, count(len(papers)))
	tab := newTable("ranked by", "k1", "b", "nDCG@10", "R@100", "nDCG@10 − exact")
	line := func(name, k1, bb string, s *score) {
		tab.row(name, k1, bb, s.cell(s.ndcg10), s.cell(s.share100), fmt.Sprintf("%+.4f", s.mean(s.ndcg10)-sciFactExactNDCG))
	}
	line("oxbow's scorer", "0.9", "0.4", &once)
	line("oxbow's scorer, repeats in a query count", "0.9", "0.4", &twice)
	tab.row("published: exact lengths", "0.9", "0.4", fmt.Sprintf("%.4f", sciFactExactNDCG), "–", "–")
	tab.row("published: Anserini, lossy lengths", "0.9", "0.4", fmt.Sprintf("%.4f", sciFactLossyNDCG), fmt.Sprintf("%.4f", sciFactLossyRecall),
		fmt.Sprintf("%+.4f", sciFactLossyNDCG-sciFactExactNDCG))
	line("oxbow's scorer, the library's own k1 and b", "1.2", "0.75", &defaults)
	tab.print(b.out)
	return nil
}

func idsOf(hits []bm25.Hit) []string {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = strconv.FormatUint(h.ID, 10)
	}
	return ids
}
