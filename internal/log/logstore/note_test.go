// A change can have a note that describes it, such as a command. This file tests that secrets in such notes are not
// written to the log.

package logstore

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestNotesKeepNoSecrets(t *testing.T) {
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	files := vfs.NewMem()
	d := openTest(t, files, "memory.oxbow", Options{})
	ctx := store.WithNote(t.Context(), "label add tag:"+secret)
	ctx = store.WithSource(ctx, store.Source{Actor: store.Imported, Ref: "/home/" + secret + "/f.md"})
	if err := d.Apply(ctx, store.Add{Name: "n", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	for c, err := range d.Log(t.Context()) {
		if err != nil || !strings.HasPrefix(c.Note, "label add tag:[redacted: ") {
			t.Errorf("the note is %q, %v", c.Note, err)
		}
	}
	if _, err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := vfs.ReadFile(files, "memory.oxbow", 1<<20); err != nil || strings.Contains(string(b), secret) {
		t.Errorf("the log has the secret, or cannot be read: %v", err)
	}
}
