// A torn tail consists of the bytes of a record that was not written completely. The log moves torn tails to a
// directory. This file tests that the report of a redaction names this directory if it exists, because the torn tails
// may still contain the redacted text.

package logstore

import (
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestRedactNamesTornTails tests that a redaction names the directory of torn tails if and only if it exists.
func TestRedactNamesTornTails(t *testing.T) {
	for _, torn := range []bool{false, true} {
		fsys := vfs.NewMem()
		d := openTest(t, fsys, "memory.oxbow", Options{})
		if torn {
			if err := fsys.MkdirAll(d.log.TornTailsDir(), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Apply(t.Context(), store.Add{Name: "a", Content: "hidden"}); err != nil {
			t.Fatal(err)
		}
		rep, err := d.Redact(t.Context(), "a", false)
		if err != nil {
			t.Fatal(err)
		}
		const left = "torn tails set aside in memory.oxbow.lost"
		if slices.Contains(rep.Left, left) != torn {
			t.Errorf("with a directory of torn tails: %t; the report names %q", torn, rep.Left)
		}
		checkAndCloseStore(t, d)
	}
}
