// This file tests under which conditions a process writes the index file again.

package oxbow_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestManyVersionsRenewTheFiles tests that Checkpoint writes the index file and the snapshot again if the log contains
// many long versions that the files lack. It must do so even if all versions belong to a single entry, because the next
// process would have to read all of them.
func TestManyVersionsRenewTheFiles(t *testing.T) {
	fsys := vfs.NewMem()
	open := func() *oxbow.Memory {
		t.Helper()
		m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: fsys})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	use := func(fn func(m *oxbow.Memory)) {
		t.Helper()
		m := open()
		fn(m)
		if _, err := m.Recall(t.Context(), oxbow.Query{Text: "crane"}); err != nil {
			t.Fatal(err)
		}
		if err := m.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	read := func(suffix string) []byte {
		t.Helper()
		b, err := vfs.ReadFile(fsys, "memory.oxbow"+suffix, -1)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	use(func(m *oxbow.Memory) {
		for i := range 1200 { // so many that both files are written
			add := oxbow.Add{Name: "n" + strings.Repeat("x", i%50) + string(rune('a'+i/50)), Content: "crane"}
			if err := m.Apply(t.Context(), add); err != nil {
				t.Fatal(err)
			}
		}
	})
	index, snapshot := read(".idx"), read(".snap")
	use(func(m *oxbow.Memory) {})
	if !bytes.Equal(index, read(".idx")) || !bytes.Equal(snapshot, read(".snap")) {
		t.Fatal("the files are written again without a change")
	}
	update := func(times int) {
		t.Helper()
		m := open()
		for i := range times {
			content := strings.Repeat("x", i) + " crane" + strings.Repeat(" rope", 20_000)
			if err := m.Apply(t.Context(), oxbow.Update{Name: "na", Content: content}); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	update(60)
	use(func(m *oxbow.Memory) {})
	if bytes.Equal(index, read(".idx")) || bytes.Equal(snapshot, read(".snap")) {
		t.Error("a file is not written again after 60 versions of 100 kB")
	}
	storetest.Open(t, "memory.oxbow", &oxbow.Options{FS: fsys}) // checks the store at the end
}
