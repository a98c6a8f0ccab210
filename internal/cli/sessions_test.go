// This file tests when the session archive is small enough, or has an index, so that it can be queried without a long
// wait.

package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAnswersNow tests isArchiveQueryable for an archive of sessions. An archive can be queried if its file exists and
// has at most maxUnindexedBytes bytes, or if its index file exists and is not empty. Otherwise, a query would have to
// read the whole archive.
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
	if isArchiveQueryable(file) {
		t.Error("one that is not there answers")
	}
	size(file, maxUnindexedBytes)
	if !isArchiveQueryable(file) {
		t.Error("a small one does not answer")
	}
	size(file, maxUnindexedBytes+1)
	if isArchiveQueryable(file) {
		t.Error("a large one without an index answers")
	}
	size(file+".idx", 0)
	if isArchiveQueryable(file) {
		t.Error("a large one whose index is wanted, and not there, answers")
	}
	size(file+".idx", 1)
	if !isArchiveQueryable(file) {
		t.Error("a large one with an index does not answer")
	}
}
