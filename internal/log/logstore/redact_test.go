// This file tests dry runs of redactions.

package logstore

import (
	"bytes"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestErasureDryRun tests that a dry run reports how many versions a redaction would erase, and leaves every file
// unchanged. The dry run must work while another process has the lock for writing. It must also work if the store is
// read-only.
func TestErasureDryRun(t *testing.T) {
	h := newRandomHistory(t, 5)
	m := h.open(Options{})
	if err := m.Apply(t.Context(), store.Add{Name: "a secret", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := m.Apply(t.Context(), store.Update{Name: "a secret", Content: "y"}); err != nil {
		t.Fatal(err)
	}
	files := func() map[string]string {
		all := map[string]string{}
		es, err := h.fs.ReadDir(".")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			b, err := vfs.ReadFile(h.fs, e.Name(), -1)
			if err != nil {
				t.Fatal(err)
			}
			all[e.Name()] = string(bytes.TrimRight(b, "\x00"))
		}
		return all
	}
	l, err := h.fs.OpenLock(wal.LockName("memory.oxbow"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got, err := l.TryLock(); !got || err != nil {
		t.Fatal(got, err)
	}
	before := files()
	reader := h.open(Options{ReadOnly: true})
	for who, m := range map[string]*DB{"a writer": m, "a reader": reader} {
		rep, err := m.Redact(t.Context(), "a secret", true)
		if err != nil || rep.Versions != 2 || rep.Seq != 0 {
			t.Errorf("%s: %+v, %v", who, rep, err)
		}
		rep, err = m.RedactVersions(t.Context(), func(e store.Entry, current bool) bool {
			return e.Content == "x"
		}, true)
		if err != nil || rep.Versions != 1 {
			t.Errorf("%s: %+v, %v", who, rep, err)
		}
		if e, err := m.Get(t.Context(), "a secret"); err != nil || e.Content != "y" {
			t.Errorf("%s: %v, %v", who, e, err)
		}
	}
	after := files()
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s changed", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("there are %d files, and were %d", len(after), len(before))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	checkAndCloseStore(t, m)
	checkAndCloseStore(t, reader)
}
