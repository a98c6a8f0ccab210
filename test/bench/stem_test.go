// This file compares the stemmer of the default ranking with Snowball.

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// TestStemAgreesWithSnowball tests that Stem returns the same stems as Snowball. It tries all words of at most 24
// letters in this project's texts and code, each with common English endings.
func TestStemAgreesWithSnowball(t *testing.T) {
	words := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || (!strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, ".go") &&
			!strings.HasSuffix(path, ".jsonl")) {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for w := range strings.FieldsFuncSeq(strings.ToLower(string(b)), func(r rune) bool {
			return r < 'a' || r > 'z'
		}) {
			if len(w) < 25 {
				words[w] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(words) < 3000 {
		t.Fatalf("found only %d words", len(words))
	}
	endings := []string{"", "s", "ed", "ing", "ly", "'s", "ies", "ation", "ness", "ational", "fulness", "ement",
		"logies", "eed", "edly", "ably", "er", "izer", "iveness", "y", "ying"}
	n := 0
	for w := range words {
		for _, e := range endings {
			n++
			env := snowballstem.NewEnv(w + e)
			english.Stem(env)
			if got, want := analysis.Stem(w+e), env.Current(); got != want {
				t.Errorf("Stem(%q) = %q, Snowball says %q", w+e, got, want)
			}
			if t.Failed() && n > 100_000 {
				return
			}
		}
	}
}
