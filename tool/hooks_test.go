// Tests of what hooks note.

package tool

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/session"
)

// TestFirstAtOnce: of many hooks that report one start at once, one is the first.
func TestFirstAtOnce(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, session.SpoolDir), 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, source := range []string{"startup", "compact", "resume"} {
		var all sync.WaitGroup
		var firsts atomic.Int32
		for range 8 {
			all.Go(func() {
				if (HookStart{"codex", "s", source, now}).First(t.Context(), home) {
					firsts.Add(1)
				}
			})
		}
		all.Wait()
		if got := firsts.Load(); got != 1 {
			t.Errorf("%s: %d were the first, want 1", source, got)
		}
	}
	s := HookStart{"codex", "s", "startup", now.Add(startRepeat)}
	if s.First(t.Context(), home) {
		t.Error("First within the time = true")
	}
	if s.Time = now.Add(startRepeat + 1); !s.First(t.Context(), home) {
		t.Error("First after the time = false")
	}
}
