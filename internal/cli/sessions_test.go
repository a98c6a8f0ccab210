// This file tests when the archive can answer at once.

package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAnswersNow tests that the number of times that an entry was shown is not counted if this requires
// reading the whole archive.
func TestAnswersNow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sessions.oxbow")
	size := func(name string, n int64) {
		t.Helper()
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, n); err != nil {
			t.Fatal(err)
		}
	}
	if isQueryableNow(file) {
		t.Error("one that is not there answers")
	}
	size(file, maxUnindexed)
	if !isQueryableNow(file) {
		t.Error("a small one does not answer")
	}
	size(file, maxUnindexed+1)
	if isQueryableNow(file) {
		t.Error("a large one without an index answers")
	}
	size(file+".idx", 0)
	if isQueryableNow(file) {
		t.Error("a large one whose index is wanted, and not there, answers")
	}
	size(file+".idx", 1)
	if !isQueryableNow(file) {
		t.Error("a large one with an index does not answer")
	}
}
