// This file tests that queries with phrases find the same entries with the signatures of an index and without.

package oxbow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// phraseWords are words of several scripts, compounds, and different forms of the same word.
var phraseWords = []string{"the", "The", "of", "cat", "cats", "Café", "cafe", "getUserName", "user-name", "user",
	"name", "v1.2.3-rc1", "1,000", "東京都", "京都", "don't", "internal/near.go", "bought", "buy", "👨‍👩‍👧", "C++", "harbor"}

// TestPhrases compares the hits of queries with phrases with a comparison of each entry's text. Some entries are in the
// index file, and others were added, changed or forgotten since. The index file is written again several times.
func TestPhrases(t *testing.T) {
	seed := rand.Uint64()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	r := rand.New(rand.NewPCG(seed, 0))
	h := newIndexHome(t, 300)
	m := h.open(nil)
	text := func(n int) string {
		kinds := 2 + r.IntN(len(phraseWords)-1)
		var words []string
		for range 1 + r.IntN(n) {
			words = append(words, phraseWords[r.IntN(kinds)])
		}
		return strings.Join(words, []string{" ", ", ", "\n\n"}[r.IntN(3)])
	}
	change := func() {
		name := fmt.Sprint("entry ", r.IntN(500))
		e, err := m.Get(t.Context(), name)
		content := text(1 + r.IntN(60))
		if r.IntN(8) == 0 {
			content = "user: " + text(20) + "\n\nassistant: " + text(20)
		}
		switch {
		case err != nil:
			_, err = m.Remember(t.Context(), Entry{
				Name:    name,
				Content: content,
				Aliases: []string{strings.ReplaceAll(text(3), "\n", " ") + fmt.Sprint(" ", r.Int())},
				Labels:  []Label{{Key: LabelTag, Value: "the harbor"}},
				Created: time.Unix(1776162225+r.Int64N(1000), 0),
			})
		case r.IntN(4) == 0:
			err = m.Forget(t.Context(), name)
		default:
			err = m.Apply(t.Context(), Update{Name: e.Name, Content: content})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for i := range 500 {
		switch {
		case i%100 == 0: // Change many entries, and write the index file again.
			for range 400 {
				change()
			}
			if err := m.MakeIndex(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := m.Checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.close(m)
			m = h.open(nil)
		case i%3 == 0:
			change()
		}
		o := &Operators{Words: text(3)}
		for range 1 + r.IntN(2) {
			phrase := text(4)
			if r.IntN(10) == 0 {
				phrase = "the harbor"
			}
			if r.IntN(3) > 0 {
				o.Must = append(o.Must, phrase)
				o.Words += " " + phrase
			} else {
				o.Not = append(o.Not, phrase)
			}
		}
		if r.IntN(10) == 0 {
			o.Words = ""
		}
		q := Query{Text: o.Words, Operators: o, Limit: 1 + r.IntN(30)}
		got, err := m.Recall(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := recallAll(t, m, q)
		if !slices.EqualFunc(got, want, func(a, b Hit) bool { return a.Entry.ID == b.Entry.ID && a.Score == b.Score }) {
			t.Fatalf("%+v finds %v\nwant %v", o, names(got), names(want))
		}
		found += len(got)
	}
	if found < 1000 {
		t.Errorf("%d hits in all", found)
	}
	h.close(m)
}
