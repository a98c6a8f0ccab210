// This file tests the comparison with peers, which are other search programs and methods. Each peer must find the right
// texts. If a peer that this package implements returns a wrong answer, the comparison must detect the mistake.

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// TestPeersFind tests that each peer, which is a search method that oxbow is compared with, stores all texts. For each
// query, the peer must list first the only text that fits.
func TestPeersFind(t *testing.T) {
	texts := make([]string, 1200) // more than one batch
	for i := range texts {
		texts[i] = "The ferry of the morning carries stones."
	}
	texts[7] = "An otter sleeps beside the river, and nobody saw it."
	texts[1100] = "Herons, three of them; a heron more: the HERON!"
	ps := allSearchMethods()
	if len(ps) < 7 {
		t.Fatalf("%d peers, want at least 7", len(ps))
	}
	for _, p := range ps {
		dir := t.TempDir()
		last := 0
		if err := p.build(t.Context(), dir, texts, func(done int) { last = done }); err != nil || last != len(texts) {
			t.Errorf("%s: build() = %v after %d texts", p.name, err, last)
			continue
		}
		s, err := p.open(dir)
		if err != nil {
			t.Errorf("%s: open() = %v", p.name, err)
			continue
		}
		for words, want := range map[string]int{"otter asleep": 7, "the heron": 1100, "nobody \"": 7} {
			fs, err := s.search(t.Context(), words, 5)
			if err != nil || len(fs) == 0 || fs[0].textNumber != want {
				t.Errorf("%s: search(%q) = %v, %v, want text %d first", p.name, words, fs, err, want)
			}
			if len(fs) > 5 {
				t.Errorf("%s: search(%q) gives %d hits, want at most 5", p.name, words, len(fs))
			}
		}
		if fs, err := s.search(t.Context(), "zzyzx", 5); err != nil || len(fs) > 0 {
			t.Errorf("%s: finds %v, %v for a word that is nowhere", p.name, fs, err)
		}
		if o, ok := s.(*oxbowSearcher); ok {
			r, err := o.memory.Check(t.Context())
			if err != nil || len(r.Problems) > 0 || r.Entries != len(texts) {
				t.Errorf("%s: Check() = %+v, %v", p.name, r, err)
			}
		}
		if err := s.close(); err != nil {
			t.Errorf("%s: close() = %v", p.name, err)
		}
		// The cost in a new process is reported.
		c, err := runSearchMethodProcess(t.Context(), searchMethodJob{p.name, dir, []string{"otter", "heron"}})
		if err != nil || c.FirstAnswerTime <= 0 {
			t.Errorf("%s: runPeerProcess() = %+v, %v", p.name, c, err)
		}
		if n, err := dirSize(dir); err != nil || n < 1000 {
			t.Errorf("%s: has %d bytes on disk, %v", p.name, n, err)
		}
	}
	if _, err := runSearchMethodProcess(t.Context(), searchMethodJob{"nobody", t.TempDir(), []string{"x"}}); err == nil {
		t.Error("a process for a peer that does not exist ended well")
	}
}

// TestExhaustive compares scores with values computed by hand: two texts with two words and one word, N
// = 2, avgdl = 1.5. "red" is in both: idf = ln(0.5/2.5 + 1) = 0.18232. In the second text, dl = 1:
// 2.2/(1 + 1.2·(0.25 + 0.75/1.5)) = 2.2/1.9. In the first, dl = 2: 2.2/(1 + 1.2·1.25) = 2.2/2.5.
func TestExhaustive(t *testing.T) {
	x := newExhaustiveIndex([]string{"red blue", "red"}, strings.Fields)
	fs := x.search("red red green")
	if len(fs) != 2 || fs[0].textNumber != 1 || fs[1].textNumber != 0 {
		t.Fatalf("search() = %v", fs)
	}
	for i, want := range []float64{.18232156 * 2.2 / 1.9, .18232156 * 2.2 / 2.5} {
		if d := fs[i].score - want; d > 1e-7 || d < -1e-7 {
			t.Errorf("score %d = %v, want %v", i, fs[i].score, want)
		}
	}
}

func TestSameTop(t *testing.T) {
	all := []foundText{{4, 3}, {2, 2}, {9, 2}, {1, 1}}
	for _, tt := range []struct {
		got []foundText
		ok  bool
	}{
		{[]foundText{{4, 3}, {2, 2}, {9, 2}}, true},
		{[]foundText{{4, 3}, {9, 2}, {2, 2 + 1e-12}}, true}, // equal scores
		{[]foundText{{4, 3}, {2, 2}}, false},
		{[]foundText{{4, 3}, {2, 2}, {1, 1}}, false},
		{[]foundText{{4, 3}, {2, 2}, {1, 2}}, false}, // text 1 has another score
		{[]foundText{{4, 3}, {2, 2}, {2, 2}}, false},
		{[]foundText{{4, 3.1}, {2, 2}, {9, 2}}, false},
		{[]foundText{{4, 3}, {2, 2}, {7, 2}}, false},
	} {
		if err := checkTopHits(tt.got, all, 3); (err == nil) != tt.ok {
			t.Errorf("checkTopHits(%v) = %v, want none: %v", tt.got, err, tt.ok)
		}
	}
}

// liar is a searcher that omits the best hit of another searcher.
type liar struct{ searcher }

func (l liar) search(ctx context.Context, words string, limit int) ([]foundText, error) {
	fs, err := l.searcher.search(ctx, words, limit+1)
	return fs[1:], err
}

func TestCheckPeerSeesWhatIsMissed(t *testing.T) {
	texts := splitText(walks(), 200)
	for _, p := range allSearchMethods() {
		if p.splitTerms == nil {
			continue
		}
		dir := t.TempDir()
		if err := p.build(t.Context(), dir, texts, func(int) {}); err != nil {
			t.Fatal(err)
		}
		s, err := p.open(dir)
		if err != nil {
			t.Fatal(err)
		}
		queries := []string{"quiet river stones", "the people of heronham", "muddy"}
		if err := checkSearchMethod(t.Context(), &p, s, texts, queries); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		if err := checkSearchMethod(t.Context(), &p, liar{s}, texts, queries); err == nil {
			t.Errorf("%s: nobody saw that the best was missing", p.name)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}

func TestPeersCommand(t *testing.T) {
	dir := t.TempDir()
	args := []string{"peers", "--text", textDir(t), "--sizes", "3,200", "--queries", "60", "--budget", "1m",
		"--rate", "1ms", "--dir", dir}
	out := runBench(t, args...)
	for _, want := range []string{
		"### 3 texts",
		"### 200 texts",
		"those of exhaustive scoring for all of 60 queries tried",
		"put together from sentences of all, drawn at random (seed 1)",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("output without %q:\n%s", want, out)
		}
	}
	_, table, _ := strings.Cut(out, "### 200 texts")
	for _, p := range allSearchMethods() {
		row := cells(t, table, p.title)
		if row[1] != "60" || row[2] == "0 ns" || row[3] == "–" || row[4] != "–" || row[8] == "–" ||
			row[14] == "0.000" {
			t.Errorf("row %q", row)
		}
	}
	if row := cells(t, table, "oxbow --rank seed"); (row[6] != "1.00×" && row[6] != "–") || row[7] != "1.00×" {
		t.Errorf("row %q, want ratios of 1", row)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	// Only some peers, and without stop words.
	out = runBench(
		t,
		"peers",
		"--text",
		textDir(t),
		"--sizes",
		"20",
		"--queries",
		"20",
		"--rate",
		"1ms",
		"--engines",
		"scan",
		"--drop-stop-words",
		"--dir",
		dir,
	)
	if strings.Contains(out, "bleve") || !strings.Contains(out, "| plain scan") ||
		!strings.Contains(out, "left out of the queries of all") {
		t.Errorf("output\n%s", out)
	}
	for _, bad := range [][]string{
		{"--sizes", "10,x"},
		{"--sizes", "0"},
		{"--engines", "lucene"},
		{"--queries", "0"},
		{"--budget", "0s"},
		{"--text", filepath.Join(dir, "no")},
	} {
		var out, log bytes.Buffer
		if err := runCommand(t.Context(), append([]string{"peers"}, bad...), &out, &log); err == nil {
			t.Errorf("run(%q) ended well", bad)
		}
	}
}

func TestSample(t *testing.T) {
	pieces := []oxbow.Add{
		{Content: "One is here. Two is there; three is not!\nFour"},
		{Content: strings.Repeat("long ", 200)},
	}
	if got, again := sampleTexts(pieces, 1, 1); again || !slices.Equal(got, []string{pieces[0].Content}) {
		t.Errorf("sample of one = %q, %v", got, again)
	}
	want := []string{"One is here.", "Two is there;", "three is not!", "Four"}
	if got := splitSentences(pieces[0].Content); !slices.Equal(got, want) {
		t.Errorf("splitSentences() = %q, want %q", got, want)
	}
	for _, s := range splitSentences(pieces[1].Content) {
		if len(s) > 400 || len(s) < 190 {
			t.Errorf("a long line gives a stretch of %d bytes", len(s))
		}
	}
	got, again := sampleTexts(pieces, 50, 1)
	if !again || len(got) != 50 {
		t.Fatalf("sample of 50 gives %d, %v", len(got), again)
	}
	for _, s := range got {
		if len(s) < 850 || len(s) > 1350 {
			t.Errorf("a text of %d bytes: %q", len(s), s)
		}
	}
	if other, _ := sampleTexts(pieces, 50, 1); !slices.Equal(got, other) {
		t.Error("the same seed gives other texts")
	}
}
