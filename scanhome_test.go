// This file contains helper functions for the tests of scans, which answer queries without an index. The functions
// create stores, make queries of any form, and convert the answers to text.

package oxbow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// scanning opens the store like a program that makes a single recall and therefore scans the index file instead of
// loading it. It sets minScanBytes to 0, so that the memory also scans small files.
func (h *indexHome) scanning(o *Options) *Memory {
	if o == nil {
		o = &Options{}
	}
	m := h.open(o)
	m.minScanBytes = 0
	return m
}

// The method without removes the index file if it exists and is not empty.
func (h *indexHome) without() {
	h.t.Helper()
	if len(h.file()) > 0 {
		if err := h.fs.Remove(indexTestFile); err != nil {
			h.t.Fatal(err)
		}
	}
}

// hasScanned reports whether the memory has answered without an index.
func hasScanned(m *Memory) bool { return m.hasOnlyScannedEntries() }

// talkative adds n random entries of many forms to the store: turns of conversations, chats, code, texts in other
// scripts, dates, and texts without words.
func (h *indexHome) talkative(r *rand.Rand, n int) {
	h.t.Helper()
	m := h.open(nil)
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	created := time.Date(2023, 5, 1, 12, 0, 0, 0, time.UTC)
	for i := range n {
		created = created.Add(time.Duration(r.IntN(100)) * time.Minute)
		e := Add{Name: fmt.Sprintf("%s %d", pick("note", "harbor plan", "getUserName", "东京"), i), Created: created,
			Labels: []Label{
				{Key: LabelProject, Value: pick("vtt", "harbor", "oxbow")},
				{Key: LabelTag, Value: pick("draft", "silver lining", "done")},
			}}
		switch r.IntN(8) {
		case 0, 1:
			e.Content = pick("Caroline: ", "Melanie: ") + pick(
				"When did you ",
				"I went ",
				"Yesterday I saw ",
			) + words(r, 8) + pick("?", ".", "!")
			e.Labels = append(e.Labels, Label{Key: "session", Value: pick("1", "2")})
		case 2:
			e.Content = "user: " + words(r, 10) + "\n\nassistant: " + words(r, 20)
		case 3:
			e.Content = pick(
				"getUserName calls internal/near.go v1.2.3",
				"user_name and userName, 1,000 e-mails",
				"C++ and C# by O'Brien",
			) + " " + words(r, 4)
		case 4:
			e.Content = pick("東京都の港にある灯台 ", "Das Café in der Straße, naïve ", "был на гавани ") + words(r, 3)
		case 5:
			e.Content = pick("!!!", "— …", "Went running, ran, using lanterns; crying she cried")
		default:
			e.Content, e.Kind = words(r, 12)+pick(" in May 2023", " 2023-05-02", " buying and bought"), Kind(r.IntN(2))
		}
		if r.IntN(4) == 0 {
			e.Aliases = []string{fmt.Sprintf("%s-%d", pick("lantern", "Schöne", "harbor_v2"), i)}
		}
		if err := m.Apply(h.t.Context(), e); err != nil {
			h.t.Fatal(err)
		}
		if i%17 == 16 {
			if err := m.Apply(h.t.Context(), Remove{Name: e.Name}); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	h.close(m)
}

// question returns a random query, which it draws with r. The query contains one to six random words, filters or
// phrases, and has random options.
func question(t *testing.T, r *rand.Rand) Query {
	t.Helper()
	words := []string{"harbor", "lanterns", "silver", "winter", "went", "running", "bought", "getUserName",
		"user_name", "near.go",
		"東京都", "港", "cafe", "Straße", "гавани", "Caroline", "Melanie", "when", "did", "yesterday", "the", "of",
		"harbro", "lantren", "goldn",
		"nothingofthis", "w7", "w19", "1000", "v1.2.3", "C++", "may", "2023", "\"in May 2023\"", "2023-05-02", "cry",
		"use",
		"project:vtt", "-tag:draft", "kind:note", "+silver", "-maple", `"silver lining"`, `-"copper falcon"`,
		"alias:lantern-3",
		"ha*", "lantern*", "c*", "2023*", "+use*", "has:session", "after:2023-05-02", "name:\"harbor plan\"",
		"project:vt", "in:nowhere"}
	var text []string
	for range 1 + r.IntN(6) {
		text = append(text, words[r.IntN(len(words))])
	}
	q, err := ParseForTest(strings.Join(text, " "), time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	q.Limit = 1 + r.IntN(30)
	q.Explain = r.IntN(2) == 0
	q.Collapse = r.IntN(4) == 0
	if r.IntN(4) == 0 {
		q.Rank = RankSeed
	}
	if r.IntN(4) == 0 {
		q.Recency, q.Now = 240*time.Hour, time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC)
	}
	if r.IntN(6) == 0 {
		q.AsOf = uint64(20 + r.IntN(60))
	}
	return q
}

// all returns as text the hits of the query q, the parsed query and, if there are no hits, the diagnosis.
func all(t *testing.T, m *Memory, q Query) string {
	t.Helper()
	hits, err := m.Recall(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	ids, err := m.RecallIDs(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	isOfHit := func(id uint64, h Hit) bool { return id == h.Entry.ID }
	if !slices.EqualFunc(ids, hits, isOfHit) {
		t.Errorf("%+v: RecallIDs = %v, which are not the IDs of the hits %+v", q, ids, deref(hits))
	}
	read, err := m.ParseQuery(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	s := fmt.Sprintf("%+v %+v", deref(hits), read)
	if len(hits) == 0 {
		d, err := m.Diagnose(t.Context(), q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		s += fmt.Sprintf(" %+v", d)
	}
	return s
}
