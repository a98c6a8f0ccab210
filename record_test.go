// This file tests the file format. It compares stores with the worked example of docs/format.md, and reads a file in
// the format of version 1.

package oxbow_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

var update = flag.Bool("update", false, "rewrite the files that hold expected results")

// sequence is an io.Reader that returns the bytes 0, 1, 2 and so on. Tests use it in the place of random bytes, so that
// the result is always the same.
type sequence byte

func (s *sequence) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(*s)
		*s++
	}
	return len(b), nil
}

// exampleStore returns the bytes of the store in the worked example of docs/format.md. One entry was added to the store
// and then removed.
func exampleStore(t *testing.T) []byte {
	t.Helper()
	fsys := vfs.NewMem()
	now := time.Date(2026, 4, 14, 10, 23, 45, 0, time.UTC)
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: fsys, Rand: new(sequence), Clock: func() time.Time {
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	add := oxbow.Add{
		Name:    "deploy",
		Content: "ship it",
		Aliases: []string{"release"},
		Labels:  []oxbow.Label{{Key: "project", Value: "vtt"}},
	}
	if err := m.Apply(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Second)
	if err := m.Forget(t.Context(), "deploy"); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := vfs.ReadFile(fsys, "m.oxbow", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const formatDoc = "docs/format.md"

// TestFormatExample tests that the hex dump in docs/format.md shows the bytes that this version writes. With the flag
// -update, it writes the hex dump to the document.
func TestFormatExample(t *testing.T) {
	b := bytes.TrimRight(exampleStore(t), "\x00")
	dump := hex.Dump(b)
	doc, err := os.ReadFile(formatDoc)
	if err != nil {
		t.Fatal(err)
	}
	const open, end = "```hex\n", "```"
	before, rest, ok := strings.Cut(string(doc), open)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no hex block", formatDoc)
	}
	if *update {
		if err := os.WriteFile(formatDoc, []byte(before+open+dump+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != dump {
		t.Errorf("the example of %s is not what is written; got\n%s", formatDoc, dump)
	}
}

// TestFormatVersion1 tests that this version reads a store that version 1 of the format wrote, with its entries,
// aliases, history and op IDs. The file was written by an old version and must stay readable.
func TestFormatVersion1(t *testing.T) {
	const file = "testdata/v1.oxbow"
	if *update {
		if err := os.WriteFile(file, bytes.TrimRight(version1Store(t), "\x00"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fsys := vfs.NewMem()
	if err := vfs.WriteFile(fsys, "m.oxbow", b, 0o600); err != nil {
		t.Fatal(err)
	}
	m := newMemory(t, fsys)
	e, err := m.Get(t.Context(), "kept")
	if err != nil {
		t.Fatal(err)
	}
	if e.Content != "second" || e.ID != 2 || e.Version != 4 || e.Kind != oxbow.Archive ||
		!slices.Equal(e.Aliases, []string{"held"}) ||
		!slices.Equal(e.Labels, []oxbow.Label{{Key: "tag", Value: "two words"}}) ||
		e.Source.Door != "library" || e.Source.Claimed.Agent != "scribe" || e.Source.Actor != oxbow.Agent ||
		!e.Created.Equal(time.Date(2023, 5, 25, 10, 4, 0, 7, time.UTC)) {
		t.Errorf("kept = %+v", e)
	}
	if got, want := versions(t, m, "kept"), []string{"4 update second", "2 add first"}; !slices.Equal(got, want) {
		t.Errorf("versions = %q, want %q", got, want)
	}
	if got, want := versions(t, m, "gone"), []string{
		"6 restore x",
		"5 remove ",
		"1 update x",
	}; !slices.Equal(got, want) {
		t.Errorf("versions of a compacted name = %q, want %q", got, want)
	}
	if err := m.Apply(oxbow.WithOpID(t.Context(), "once"), oxbow.Update{Name: "gone", Content: "twice"}); err != nil {
		t.Fatal(err)
	}
	if got := contentOf(t, m, "gone"); got != "x" {
		t.Errorf("gone = %q: an op id was forgotten", got)
	}
}

// version1Store returns the bytes of a store that contains each kind of record and each field of a record. With the
// flag -update, TestFormatVersion1 writes these bytes to its test file.
func version1Store(t *testing.T) []byte {
	t.Helper()
	fsys := vfs.NewMem()
	now := clock()
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: fsys, Rand: new(sequence), Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	ctx := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Agent, Session: "s1", Profile: "p", Ref: "file.md",
		Claimed: oxbow.Claim{Client: "test/1", Agent: "scribe"}})
	apply := func(op oxbow.Op) {
		t.Helper()
		if err := m.Apply(ctx, op); err != nil {
			t.Fatal(err)
		}
	}
	apply(oxbow.Add{Name: "gone", Content: "x"})
	apply(oxbow.Add{
		Name:    "kept",
		Kind:    oxbow.Archive,
		Content: "first",
		Created: time.Date(2023, 5, 25, 10, 4, 0, 7, time.UTC),
	})
	e, err := m.Get(ctx, "kept")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Store().(oxbow.Compactor).Compact(ctx, e.Updated, false); err != nil {
		t.Fatal(err)
	}
	apply(oxbow.Update{
		Name:    "kept",
		Content: "second",
		Aliases: []string{"held"},
		Labels:  []oxbow.Label{{Key: "tag", Value: "two words"}},
	})
	ctx = oxbow.WithOpID(oxbow.WithNote(ctx, "a note"), "once")
	apply(oxbow.Remove{Name: "gone"})
	if _, _, err := m.Undo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := vfs.ReadFile(fsys, "m.oxbow", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
