// This file holds the measurement on LongMemEval: which session of a long
// history of chats answers a question.

package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/exchange"
	"github.com/oxbow-memory/oxbow/internal/bm25"
	"github.com/oxbow-memory/oxbow/vfs"
)

// question is one line of questions.jsonl: what is asked, among which sessions,
// and which of them hold the answer.
type question struct {
	ID       string      `json:"question_id"` // ends in _abs when no session answers in full
	Type     string      `json:"question_type"`
	Text     string      `json:"question"`
	Answers  []string    `json:"answer_session_ids"`
	Haystack [][2]string `json:"haystack"` // session id, date as 2023/04/30 (Sun) 13:59
}

// haystackDate is the form of a date in a haystack.
const haystackDate = "2006/01/02 (Mon) 15:04"

// openData opens a file of a set, unpacked, where it may be packed by gzip.
func openData(data fs.FS, name string) (io.ReadCloser, error) {
	f, err := data.Open(name + ".gz")
	if errors.Is(err, fs.ErrNotExist) {
		return data.Open(name)
	}
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("unpacking %s.gz: %w", name, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// readQuestions reads questions.jsonl.
func readQuestions(data fs.FS) ([]question, error) {
	r, err := openData(data, "questions.jsonl")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var qs []question
	d := json.NewDecoder(bufio.NewReader(r))
	for {
		var q question
		err := d.Decode(&q)
		if err == io.EOF {
			return qs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading question %d: %w", len(qs)+1, err)
		}
		qs = append(qs, q)
	}
}

// readSessions reads sessions.jsonl as the chat importer does, and returns the
// text of each session by its id.
func readSessions(data fs.FS) (map[string]string, error) {
	r, err := openData(data, "sessions.jsonl")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	texts := map[string]string{}
	for item, err := range exchange.ReadChat(r, "sessions.jsonl", nil) {
		if err != nil {
			return nil, err
		}
		texts[item.Entry.Name] = item.Entry.Content
	}
	return texts, nil
}

// straw is one session of a haystack.
type straw struct {
	name string // of its entry
	id   string // of the session
	text string
	date time.Time
}

// straws returns the sessions of the question's haystack in order. One that
// stands there twice counts once. The names say nothing about the session: the
// ids would give the answer away, since those of answers begin with "answer".
func (q *question) straws(texts map[string]string) ([]straw, error) {
	var ss []straw
	seen := map[string]bool{}
	for _, h := range q.Haystack {
		if seen[h[0]] {
			continue
		}
		seen[h[0]] = true
		text, ok := texts[h[0]]
		if !ok {
			return nil, fmt.Errorf("question %s names session %q, which is not there", q.ID, h[0])
		}
		date, err := time.Parse(haystackDate, h[1])
		if err != nil {
			return nil, fmt.Errorf("question %s, session %q: %w", q.ID, h[0], err)
		}
		ss = append(ss, straw{fmt.Sprintf("s%04d", len(ss)+1), h[0], text, date})
	}
	for _, id := range q.Answers {
		if !seen[id] {
			return nil, fmt.Errorf("question %s is answered by session %q, which is not in its haystack", q.ID, id)
		}
	}
	return ss, nil
}

// right returns the ids of the sessions that answer the question.
func (q *question) right() map[string]bool {
	m := map[string]bool{}
	for _, id := range q.Answers {
		m[id] = true
	}
	return m
}

// haystack is a memory that holds sessions, one entry each.
type haystack struct {
	*oxbow.Memory
	ids map[string]string // of the session, by the name of its entry
}

// remember writes the sessions into a memory of their own, each at its date.
// The caller closes it.
func remember(ctx context.Context, ss []straw) (*haystack, error) {
	var now time.Time
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem(), Ranking: rankOf(ctx), Clock: func() time.Time { return now }})
	if err != nil {
		return nil, err
	}
	h := &haystack{m, map[string]string{}}
	for _, s := range ss {
		now = s.date
		h.ids[s.name] = s.id
		if err := m.Apply(ctx, oxbow.Add{Name: s.name, Kind: oxbow.Archive, Content: s.text, Created: s.date}); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	return h, nil
}

// recall returns the ids of the first limit hits.
func (h *haystack) recall(ctx context.Context, query string, limit int) ([]string, error) {
	hits, err := h.Recall(ctx, oxbow.Query{Text: query, Limit: limit})
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(hits))
	for i, hit := range hits {
		ids[i] = h.ids[hit.Entry.Name]
	}
	return ids, nil
}

// remembered returns the ids of the first limit hits in a fresh memory of the
// sessions.
func remembered(ctx context.Context, ss []straw, query string, limit int) (ids []string, err error) {
	h, err := remember(ctx, ss)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	return h.recall(ctx, query, limit)
}

// stemmed asks the bare scorer with Lucene's analyzer for English: what
// stemming is worth on the same sessions.
func stemmed(ss []straw, query string, limit int, an *lucene) []string {
	x := bm25.New(bm25.Params{})
	for i, s := range ss {
		x.Put(uint64(i), s.date.UnixNano(), bm25.Words(an.terms(s.text)))
	}
	var ids []string
	for _, h := range x.Search(bm25.Query{Terms: bm25.Any(an.terms(query)), Limit: limit}) {
		ids = append(ids, ss[h.ID].id)
	}
	return ids
}

func measureLongMemEval(ctx context.Context, b *bench, data fs.FS) error {
	qs, err := readQuestions(data)
	if err != nil {
		return err
	}
	texts, err := readSessions(data)
	if err != nil {
		return err
	}
	const limit = 10
	var all, answered, stems score
	byType := map[string]*score{}
	an := newLucene()
	sessions := 0
	for i, q := range qs {
		if err := ctx.Err(); err != nil {
			return err
		}
		ss, err := q.straws(texts)
		if err != nil {
			return err
		}
		sessions += len(ss)
		ids, err := remembered(ctx, ss, q.Text, limit)
		if err != nil {
			return fmt.Errorf("question %s: %w", q.ID, err)
		}
		right := q.right()
		all.add(ids, right)
		if !strings.HasSuffix(q.ID, "_abs") {
			answered.add(ids, right)
		}
		if byType[q.Type] == nil {
			byType[q.Type] = new(score)
		}
		byType[q.Type].add(ids, right)
		stems.add(stemmed(ss, q.Text, limit, an), right)
		b.logf("longmemeval: %d of %d", i+1, len(qs))
	}
	b.printf("### LongMemEval: sessions that answer a question\n\n")
	b.printf("Protocol: %d questions, each over a fresh memory of its own haystack (%.1f sessions on average), one entry a session with the text of user and assistant, neutral names, written at the session's date; recall with the question's text, limit %d, nothing tuned. Any: a right session is among the first k; all: every right session is. MRR looks at the first %d. Questions without an answer (_abs) count, with the sessions that the set names for them, in all rows but the second.\n\n",
		len(qs), float64(sessions)/float64(max(len(qs), 1)), limit, limit)
	t := newTable("ranked by", "n", "any@1", "any@5", "any@10", "all@5", "nDCG@10", "MRR")
	line := func(name string, s *score) {
		t.row(name, count(s.n), s.cell(s.any1), s.cell(s.any5), s.cell(s.any10), s.cell(s.all5), s.cell(s.ndcg10), s.cell(s.mrr))
	}
	line("oxbow", &all)
	line("oxbow, answerable questions", &answered)
	for _, typ := range slices.Sorted(maps.Keys(byType)) {
		line("oxbow, "+typ, byType[typ])
	}
	line("same scorer with Lucene's English terms", &stems)
	t.print(b.out)
	return nil
}
