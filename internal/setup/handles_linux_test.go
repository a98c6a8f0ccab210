// This file tests that setup closes all files that it opens.

package setup

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// TestHandles counts the open files before and after setup. An open directory cannot be removed on Windows, so
// removing oxbow there would leave the directories that setup created.
func TestHandles(t *testing.T) {
	// Switch the garbage collector off, because it would close forgotten files.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	count := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	before := count()
	for _, c := range Clients() {
		w, o := world(t.TempDir()), options()
		write(t, filepath.Join(w.UserHomeDir, "keep"), "")
		run(t, c, w, o, false)
		o.Home = "/another"
		run(t, c, w, o, false)
		run(t, c, w, o, true)
	}
	if after := count(); after != before {
		t.Errorf("%d files were open before, %d are open now", before, after)
	}
}
