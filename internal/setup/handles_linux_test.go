// This file tests that setup closes what it opens.

package setup

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// TestHandles counts the open files. An open directory cannot be removed on Windows, so a removal there would leave
// the directories that setup made.
func TestHandles(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the garbage collector would close forgotten files
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
		write(t, filepath.Join(w.User, "keep"), "")
		run(t, c, w, o, false)
		o.Home = "/another"
		run(t, c, w, o, false)
		run(t, c, w, o, true)
	}
	if after := count(); after != before {
		t.Errorf("%d files were open before, %d are open now", before, after)
	}
}
