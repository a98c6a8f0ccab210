// This file reads SciFact (BEIR): paper abstracts, and claims that some of the abstracts support or refute.

package quality

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// sciFactData contains the papers and questions of the data set SciFact.
type sciFactData struct {
	papers    []SciFactText
	questions []CaseQuestion
}

// readSciFact reads the files of a SciFact source.
func readSciFact(s *DataSetSource) (*sciFactData, error) {
	bad := func(i int, err error) error { return &DataError{File: s.Files[i], Err: err} }
	c := new(sciFactData)
	var err error
	var topics [][2]string
	var right map[string]map[string]bool
	if strings.HasSuffix(s.Files[0], ".zip") {
		c.papers, err = readZippedPapers(s.fsys, s.Files[0])
		if err != nil {
			return nil, bad(0, err)
		}
		topics, err = readTabSeparatedQueries(s.fsys, s.Files[1])
		if err != nil {
			return nil, bad(1, err)
		}
	} else {
		for p, err := range eachBEIRObject(s.fsys, s.Files[0]) {
			if err != nil {
				return nil, bad(0, err)
			}
			c.papers = append(c.papers, p)
		}
		for q, err := range eachBEIRObject(s.fsys, s.Files[1]) {
			if err != nil {
				return nil, bad(1, err)
			}
			topics = append(topics, [2]string{q.ID, q.Text})
		}
	}
	right, err = readRelevantDocuments(s.fsys, s.Files[2])
	if err != nil {
		return nil, bad(2, err)
	}
	for _, t := range topics {
		if right[t[0]] != nil {
			c.questions = append(c.questions, CaseQuestion{Text: t[1], RelevantIDs: right[t[0]]})
		}
	}
	if len(c.questions) == 0 {
		return nil, bad(2, fmt.Errorf("judges none of the %d queries of %s", len(topics), s.Files[1]))
	}
	return c, nil
}

// SciFactText is an abstract or a query in the data set SciFact. A query has no title. A SciFactText is one line of
// corpus.jsonl or queries.jsonl.
type SciFactText struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func eachBEIRObject(fsys fs.FS, name string) iter.Seq2[SciFactText, error] {
	return func(yield func(SciFactText, error) bool) {
		n := 0
		for o, err := range eachObject[SciFactText](fsys, name) {
			n++
			isWhole := o.ID != "" && strings.TrimSpace(o.Title+o.Text) != ""
			if err == nil && !isWhole {
				err = fmt.Errorf("object %d has no _id or no text", n)
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

// readZippedPapers reads the corpus in the form that its authors publish: a zip file with a CSV file with
// the columns doc_id, title, abstract and structured. The abstract is a Python list of strings as
// printed by numpy.
func readZippedPapers(fsys fs.FS, name string) (papers []SciFactText, err error) {
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("unpacking it: %w", err)
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
			return nil, fmt.Errorf("the corpus: %w", err)
		}
		if n == 0 {
			continue
		}
		sentences, err := parsePythonStrings(row[2])
		if err != nil {
			return nil, fmt.Errorf("abstract %s: %w", row[0], err)
		}
		papers = append(papers, SciFactText{row[0], row[1], strings.Join(sentences, " ")})
	}
}

// parsePythonStrings parses a list of Python string literals, separated by commas or only by white space.
func parsePythonStrings(s string) ([]string, error) {
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

// readTabSeparatedQueries reads the queries, with "id TAB text" in each line.
func readTabSeparatedQueries(fsys fs.FS, name string) (topics [][2]string, err error) {
	for l, err := range readLines(fsys, name) {
		if err != nil {
			return nil, err
		}
		id, text, ok := strings.Cut(l.text, "\t")
		if !ok {
			return nil, fmt.Errorf("line %d has no tab", l.number)
		}
		topics = append(topics, [2]string{id, text})
	}
	return topics, nil
}

// readRelevantDocuments reads the relevant documents of each query. The result maps the ID of a query to a set of
// document IDs. Each line has the form "query 0 document relevance". If the first line contains the names of the
// columns, the 0 is missing. Documents with a relevance of 0 or less are left out.
func readRelevantDocuments(fsys fs.FS, name string) (map[string]map[string]bool, error) {
	right := map[string]map[string]bool{}
	for l, err := range readLines(fsys, name) {
		if err != nil {
			return nil, err
		}
		f := strings.Fields(l.text)
		if l.number == 1 && f[0] == "query-id" {
			continue
		}
		if len(f) == 4 {
			f = slices.Delete(f, 1, 2)
		}
		if len(f) != 3 {
			return nil, fmt.Errorf("line %d has %d fields, not 3 or 4", l.number, len(f))
		}
		grade, err := strconv.Atoi(f[2])
		if err != nil {
			return nil, fmt.Errorf("line %d: %q is not a relevance", l.number, f[2])
		}
		if grade <= 0 {
			continue
		}
		if right[f[0]] == nil {
			right[f[0]] = map[string]bool{}
		}
		right[f[0]][f[1]] = true
	}
	return right, nil
}

// readSciFactCases yields one test case, whose entries are all abstracts of the data set SciFact.
func readSciFactCases(s *DataSetSource) iter.Seq2[TestCase, error] {
	return func(yield func(TestCase, error) bool) {
		c, err := readSciFact(s)
		if err != nil {
			yield(TestCase{}, err)
			return
		}
		var es []MemoryEntry
		for i, p := range c.papers {
			es = append(es, MemoryEntry{fmt.Sprintf("a%05d", i+1), p.ID, strings.TrimSpace(p.Title + "\n\n" +
				p.Text), defaultDate})
		}
		yield(TestCase{"abstracts", es, c.questions}, nil)
	}
}
