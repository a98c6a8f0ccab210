// Tests how files are written under a temporary name, and how copies of replaced files are kept.

package vfs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// draftSystems returns a file system that supports hard links and a file system that does not.
func draftSystems(t *testing.T) map[string]FS {
	dir, err := Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return map[string]FS{"disk": dir, "memory": NewMem()}
}

func mustWrite(t *testing.T, fsys FS, name, text string) {
	t.Helper()
	if err := WriteFile(fsys, name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, fsys FS, name, want string) {
	t.Helper()
	if b, err := ReadFile(fsys, name, -1); err != nil || string(b) != want {
		t.Errorf("%s = %q, %v, want %q", name, b, err, want)
	}
}

// drafted returns a draft of a file with the given text.
func drafted(t *testing.T, fsys FS, name, text string) *Draft {
	t.Helper()
	d, err := NewDraft(fsys, name, 0o600)
	if err == nil {
		_, err = d.Write([]byte(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDraft(t *testing.T) {
	for what, fsys := range draftSystems(t) {
		t.Run(what, func(t *testing.T) {
			if err := drafted(t, fsys, "f", "one").CommitNew(); err != nil {
				t.Fatal(err)
			}
			wantFile(t, fsys, "f", "one")

			d := drafted(t, fsys, "f", "two")
			if err := d.CommitNew(); !errors.Is(err, fs.ErrExist) {
				t.Errorf("CommitNew() over a file = %v, want ErrExist", err)
			}
			if err := d.Discard(); err != nil {
				t.Error(err)
			}
			wantFile(t, fsys, "f", "one")

			d = drafted(t, fsys, "f", "three")
			refused := errors.New("refused")
			if err := d.Commit(func() error { return refused }); !errors.Is(err, refused) {
				t.Errorf("Commit() = %v, want the error of its argument", err)
			}
			if err := d.Discard(); err != nil {
				t.Error(err)
			}
			wantFile(t, fsys, "f", "one")

			if err := drafted(t, fsys, "f", "four").Commit(nil); err != nil {
				t.Error(err)
			}
			wantFile(t, fsys, "f", "four")

			long := strings.Repeat("é", 120) // most file systems support names of at most 255 bytes
			if err := drafted(t, fsys, long, "long").CommitNew(); err != nil {
				t.Errorf("CommitNew() of a long name: %v", err)
			}
			entries, err := fsys.ReadDir(".")
			if err != nil || len(entries) != 2 {
				t.Errorf("%d files are there (%v), want 2", len(entries), err)
			}
		})
	}
}

func TestKeepCopy(t *testing.T) {
	for what, fsys := range draftSystems(t) {
		t.Run(what, func(t *testing.T) {
			for _, c := range []struct{ text, want string }{
				{"one", "f.kept"},
				{"two", "f.kept-2"},
				{"three", "f.kept-3"},
			} {
				mustWrite(t, fsys, "f", c.text)
				if kept, err := KeepCopy(fsys, "f"); kept != c.want || err != nil {
					t.Fatalf("KeepCopy() = %q, %v, want %q", kept, err, c.want)
				}
				mustWrite(t, fsys, "f", "new")
				wantFile(t, fsys, c.want, c.text)
			}
			wantFile(t, fsys, "f.kept", "one")
			if _, err := KeepCopy(fsys, "none"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("KeepCopy() of no file = %v, want ErrNotExist", err)
			}
		})
	}
}

// TestDraftRemovesLeftovers tests that the next writer of a file removes the temporary file that a killed writer left.
func TestDraftRemovesLeftovers(t *testing.T) {
	dir := t.TempDir()
	fsys, err := Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	long := strings.Repeat("x", 250)
	for _, name := range []string{"f", long} {
		d := drafted(t, fsys, name, "half")
		if err := d.file.Close(); err != nil { // The end of a killed process closes its files, too.
			t.Fatal(err)
		}
		left := filepath.Join(dir, d.temporaryName)
		if err := os.Chtimes(left, time.Time{}, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		if err := drafted(t, fsys, name, "whole").CommitNew(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", left)
		}
		wantFile(t, fsys, name, "whole")
	}
}

// TestReplaceUnchanged tests that ReplaceUnchanged and RemoveUnchanged do not change a file that somebody has edited
// after it was read, even if its length is the same. They must fail with ErrChanged. They must also fail if somebody
// has created or removed the file.
func TestReplaceUnchanged(t *testing.T) {
	read := []byte("as read")
	for _, c := range []struct {
		what string
		was  []byte
		now  []byte // nil if there is no file
		want error
	}{
		{"unchanged", read, read, nil},
		{"empty", []byte{}, []byte{}, nil},
		{"new", nil, nil, nil},
		{"edited", read, []byte("as Read"), ErrChanged},
		{"longer", read, []byte("as read, and more"), ErrChanged},
		{"shorter", read, []byte("as"), ErrChanged},
		{"created", nil, []byte{}, ErrChanged},
		{"removed", read, nil, ErrChanged},
	} {
		for _, remove := range []bool{false, true} {
			if remove && c.was == nil {
				continue
			}
			fsys := NewMem()
			if c.now != nil {
				if err := WriteFile(fsys, "f", c.now, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			if remove {
				err = RemoveUnchanged(fsys, "f", c.was)
			} else {
				err = ReplaceUnchanged(fsys, "f", c.was, []byte("new"), 0o600)
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%s: the error is %v, want %v", c.what, err, c.want)
			}
			want := c.now
			if c.want == nil {
				want = []byte("new")
			}
			isGone := want == nil || (remove && c.want == nil)
			got, err := ReadFile(fsys, "f", -1)
			if isGone != errors.Is(err, fs.ErrNotExist) || (!isGone && !bytes.Equal(got, want)) {
				t.Errorf("%s: the file contains %q, %v", c.what, got, err)
			}
			if files, err := fsys.ReadDir("."); err != nil || len(files) > 1 {
				t.Errorf("%s: there are %d files, %v", c.what, len(files), err)
			}
		}
	}
}
