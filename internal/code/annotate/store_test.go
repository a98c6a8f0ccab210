// This file tests how annotations are written and read.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

var noon = time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// tree returns a working tree in memory that contains the files, and a store of the tree.
func tree(t testing.TB, files map[string]string) (*vfs.Mem, *Store) {
	t.Helper()
	m := vfs.NewMem()
	for name, text := range files {
		put(t, m, name, text)
	}
	b, err := Open(m, &Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return m, b
}

func put(t testing.TB, fsys vfs.FS, name, text string) {
	t.Helper()
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		if err := fsys.MkdirAll(name[:i], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := vfs.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, fsys vfs.FS, name string) string {
	t.Helper()
	data, err := vfs.ReadFile(fsys, name, -1)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func add(t testing.TB, b *Store, r Record) Record {
	t.Helper()
	out, err := b.Add(t.Context(), r)
	if err != nil {
		t.Fatalf("Add(%s %s) = %v", r.File, r.Span, err)
	}
	return out[0]
}

// numbered returns lines "line 1" to "line n".
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestAddFillsIn(t *testing.T) {
	_, b := tree(t, map[string]string{"pkg/a.go": numbered(10)})
	ctx := oxbow.WithSource(
		t.Context(),
		oxbow.Source{Actor: oxbow.Agent, Session: "s1", Profile: "vtt", Claimed: oxbow.Claim{Agent: "coder"}},
	)
	out, err := b.Add(
		ctx,
		Record{
			File:                 "pkg/a.go",
			Span:                 LineSpan{5, 6},
			Why:                  "because",
			RejectedAlternatives: []string{"a map: unordered"},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := Record{ID: out[0].ID, File: "pkg/a.go", Span: LineSpan{5, 6}, Why: "because",
		RejectedAlternatives: []string{"a map: unordered"},
		Author:               oxbow.Agent, Agent: "coder", Session: "s1", Profile: "vtt", Time: noon,
		BlockHash:   hashLines([]string{"line 5", "line 6"}),
		LinesBefore: []string{"line 2", "line 3", "line 4"}, Block: []string{"line 5", "line 6"},
		LinesAfter: []string{"line 7", "line 8", "line 9"}}
	want.FileBlobName = blobName([]byte(numbered(10)), false)
	if !reflect.DeepEqual(out[0], want) {
		t.Errorf("Add = %+v, want %+v", out[0], want)
	}
	b.clearCaches()
	rs, err := b.ReadRecords(ctx, "pkg/a.go")
	if err != nil || len(rs) != 1 || !reflect.DeepEqual(rs[0], want) {
		t.Errorf("Records = %+v, %v, want %+v", rs, err, want)
	}
}

func TestBlobNameIsGits(t *testing.T) {
	// This is the output of git hash-object for a file with "hello\n", in both object formats.
	if got, want := blobName([]byte("hello\n"), false), "ce013625030ba8dba906f756967f9e9ca394464a"; got != want {
		t.Errorf("blobName = %s, want %s", got, want)
	}
	if got, want := blobName(
		[]byte("hello\n"),
		true,
	), "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4"; got != want {
		t.Errorf("blobName of SHA-256 = %s, want %s", got, want)
	}
}

func TestAddTwiceIsOnce(t *testing.T) {
	m, b := tree(t, map[string]string{"a.txt": numbered(5)})
	r := Record{File: "a.txt", Span: LineSpan{2, 3}, Why: "so"}
	first := add(t, b, r)
	before := get(t, m, ".oxbow/annotations/a.txt.why")
	if again := add(t, b, r); again.ID != first.ID {
		t.Errorf("the same annotation has id %s, then %s", first.ID, again.ID)
	}
	if after := get(t, m, ".oxbow/annotations/a.txt.why"); after != before {
		t.Errorf("adding again changed the sidecar from %q to %q", before, after)
	}
	r.Why = "otherwise"
	if other := add(t, b, r); other.ID == first.ID {
		t.Error("another reasoning has the same id")
	}
}

func TestAddRefuses(t *testing.T) {
	m, b := tree(t, map[string]string{"a.txt": "one\n", "bin": "a\x00b"})
	for _, r := range []Record{
		{File: "../a.txt", Span: LineSpan{1, 1}, Why: "x"},
		{File: "/etc/passwd", Span: LineSpan{1, 1}, Why: "x"},
		{File: ".git/config", Span: LineSpan{1, 1}, Why: "x"},
		{File: "sub/.GIT/hooks/x", Span: LineSpan{1, 1}, Why: "x"},
		{File: "a\x00", Span: LineSpan{1, 1}, Why: "x"},
		{File: "\xff", Span: LineSpan{1, 1}, Why: "x"},
		{File: "", Span: LineSpan{1, 1}, Why: "x"},
		{File: "a.txt", Span: LineSpan{1, 2}, Why: "x"},
		{File: "a.txt", Span: LineSpan{0, 1}, Why: "x"},
		{File: "a.txt", Span: LineSpan{2, 1}, Why: "x"},
		{File: "a.txt", Span: LineSpan{1, 1}, Why: "  "},
		{File: "a.txt", Span: LineSpan{1, 1}, Why: "\xff"},
		{File: "a.txt", Span: LineSpan{1, 1}, Why: strings.Repeat("x", MaxReasoningBytes+1)},
		{File: "a.txt", Span: LineSpan{1, 1}, Why: "x", ID: "a/b"},
		{File: "a.txt", Span: LineSpan{1, 1}, Why: "x", Commit: "--output=x"},
		{File: "bin", Span: LineSpan{1, 1}, Why: "x"},
	} {
		if _, err := b.Add(t.Context(), r); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("Add(%q %s %.10q) = %v, want ErrInvalid", r.File, r.Span, r.Why, err)
		}
	}
	if _, err := b.Add(t.Context(), Record{File: "none", Span: LineSpan{1, 1}, Why: "x"}); !errors.Is(
		err,
		os.ErrNotExist,
	) {
		t.Errorf("Add of a missing file = %v, want ErrNotExist", err)
	}
	for _, name := range m.Names() {
		if strings.HasPrefix(name, ".oxbow") {
			t.Errorf("a refused annotation made %s", name)
		}
	}
}

func TestLinksDoNotLeaveTheTree(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "secret")
	if err := os.WriteFile(outside, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	if err := os.MkdirAll(filepath.Join(work, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(work, "link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := os.Symlink(dir, filepath.Join(work, ".oxbow")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "a"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fsys, err := vfs.Dir(work)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	b, err := Open(fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Add(t.Context(), Record{File: "link", Span: LineSpan{1, 1}, Why: "x"}); err == nil {
		t.Error("a link out of the tree was followed for reading")
	}
	if _, err := b.Add(t.Context(), Record{File: "a", Span: LineSpan{1, 1}, Why: "x"}); err == nil {
		t.Error("a link out of the tree was followed for writing")
	}
	if _, err := os.Stat(filepath.Join(dir, "annotations")); err == nil {
		t.Error("annotations were written outside of the tree")
	}
}

// TestManyWriters tests that no annotation is lost if several stores write to one file at the same time. Each store
// runs in a goroutine instead of a process, because locks of one process exclude each other like locks of several
// processes.
func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(numbered(50)), 0o600); err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			fsys, err := vfs.Dir(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer fsys.Close()
			b, err := Open(fsys, &Options{LockWait: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			for i := range each {
				if _, err := b.Add(
					context.Background(),
					Record{File: "a.txt", Span: LineSpan{i + 1, i + 1}, Why: fmt.Sprint("writer ", w)},
				); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	fsys, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	b, err := Open(fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := b.ReadRecords(t.Context(), "a.txt")
	if err != nil || len(rs) != writers*each {
		t.Errorf("%d annotations are there, %v, want %d", len(rs), err, writers*each)
	}
	if s, _ := b.readSidecar(sidecarPath("a.txt")); len(s.damagedLines) > 0 || s.hasIncompleteLastLine {
		t.Errorf("the sidecar is damaged: %+v", s)
	}
}

func TestLongBlock(t *testing.T) {
	_, b := tree(t, map[string]string{"long": numbered(1000)})
	r := add(t, b, Record{File: "long", Span: LineSpan{1, 1000}, Why: "generated"})
	if len(r.Block) != maxStoredBlockLines || r.OmittedBlockLines != 1000-maxStoredBlockLines ||
		r.Block[0] != "line 1" ||
		r.Block[maxStoredBlockLines-1] != "line 1000" {
		t.Errorf(
			"block has %d lines from %q to %q, cut %d",
			len(r.Block),
			r.Block[0],
			r.Block[len(r.Block)-1],
			r.OmittedBlockLines,
		)
	}
	if want := hashLines(SplitLines([]byte(numbered(1000)))); r.BlockHash != want {
		t.Errorf("hash %s, want that of all lines, %s", r.BlockHash, want)
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("é", 2000)
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"\n", []string{""}},
		{"a", []string{"a"}},
		{"a\nb\n", []string{"a", "b"}},
		{"a\r\nb\r\n\r\n", []string{"a", "b", ""}},
		{"a\xffb\n", []string{"a\ufffdb"}},
	} {
		if got := SplitLines([]byte(c.text)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("Lines(%q) = %q, want %q", c.text, got, c.want)
		}
	}
	a, b := SplitLines([]byte(long + "a"))[0], SplitLines([]byte(long + "b"))[0]
	if a == b || len(a) > maxLineBytes {
		t.Errorf("long lines that differ at the end are %q and %q", a, b)
	}
}
