// This file tests the files that verbs write for the user.

package output

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
)

// writes returns a function that writes a text.
func writes(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// TestOutputKeepsEdits tests that a file that oxbow wrote is replaced without a copy, and that a copy is kept if a
// person edited or created the file.
func TestOutputKeepsEdits(t *testing.T) {
	dir := t.TempDir()
	o := Output{
		Path:          filepath.Join(dir, "f"),
		UserPath:      "f",
		OperationName: "exporting",
		TrustList:     trust.List{Dir: filepath.Join(dir, "record")},
	}
	write := func(text, wantKept string) {
		t.Helper()
		kept, err := o.Write(t.Context(), 0o644, writes(text))
		if (filepath.Base(kept) != wantKept && (kept != "" || wantKept != "")) || err != nil {
			t.Errorf("Write(%q) kept %q, %v, want %q", text, kept, err, wantKept)
		}
		if b, err := os.ReadFile(o.Path); string(b) != text || err != nil {
			t.Errorf("the file holds %q, %v, want %q", b, err, text)
		}
	}
	edit := func(text string) {
		if err := os.WriteFile(o.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one", "")
	if _, err := o.Write(t.Context(), 0o644, writes("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Write() without Force = %v, want ErrExist", err)
	}
	o.Force = true
	write("two", "") // the file is unchanged since oxbow wrote it
	edit("typed")
	write("three", "f.kept")
	edit("four")
	write("four", "") // no copy is needed, because the file already has the text that oxbow writes
	edit("one")       // an older text by oxbow
	write("five", "f.kept-2")
	if kept, err := o.WriteAtomically(t.Context(), func() error {
		return os.WriteFile(o.Path, []byte("six"), 0o600)
	}); kept != "" || err != nil {
		t.Errorf("WriteInOneStep() = %q, %v", kept, err)
	}
	write("seven", "")
	left := o.Path + ".0123456789abcdef.tmp" // the temporary file of a backup that was killed
	if err := errors.Join(os.WriteFile(left, nil, 0o600), os.Chtimes(left, time.Time{}, time.Unix(0, 0))); err != nil {
		t.Fatal(err)
	}
	if _, err := o.WriteAtomically(t.Context(), func() error {
		return os.WriteFile(o.Path, []byte("seven and more"), 0o600)
	}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there", left)
	}
	edit("typed again")
	failed := errors.New("failed")
	if kept, err := o.WriteAtomically(t.Context(), func() error { return failed }); kept != "" ||
		!errors.Is(err, failed) {
		t.Errorf("WriteInOneStep() = %q, %v, want the error and no copy", kept, err)
	}
	if _, err := o.Write(t.Context(), 0o600, func(io.Writer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("Write() = %v, want the error", err)
	}
	if b, _ := os.ReadFile(o.Path); string(b) != "typed again" {
		t.Errorf("after a failure the file holds %q", b)
	}
	if kept, err := o.WriteAtomically(t.Context(), func() error {
		return os.WriteFile(o.Path+".new", nil, 0o600)
	}); filepath.Base(kept) != "f.kept-3" || err != nil {
		t.Errorf("WriteInOneStep() = %q, %v, want f.kept-3", kept, err)
	}
	o.TrustList = trust.List{} // without the record of written files
	write("eight", "f.kept-4")
	for name, want := range map[string]string{"f.kept": "typed", "f.kept-2": "one", "f.kept-3": "typed again"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); string(b) != want || err != nil {
			t.Errorf("%s holds %q, %v, want %q", name, b, err, want)
		}
	}
}

// TestOutputReplacesFilesOnly tests that links are followed and kept, and that anything except a regular file is
// refused.
func TestOutputReplacesFilesOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	dir := t.TempDir()
	at := func(name string) Output {
		return Output{Path: filepath.Join(dir, name), UserPath: name, OperationName: "exporting", Force: true}
	}
	if err := errors.Join(os.WriteFile(at("file").Path, []byte("typed"), 0o640), os.Symlink("file", at("link").Path),
		os.Symlink("none", at("broken").Path), os.Mkdir(at("dir").Path, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"broken", "dir"} {
		if _, err := at(name).Write(t.Context(), 0o600, writes("new")); err == nil {
			t.Errorf("Write() over %s did not fail", name)
		}
	}
	if _, err := (Output{Path: os.DevNull, UserPath: os.DevNull, Force: true}).Write(
		t.Context(),
		0o600,
		writes("new"),
	); err == nil {
		t.Error("Write() over a device did not fail")
	}
	kept, err := at("link").Write(t.Context(), 0o600, writes("new"))
	if filepath.Base(kept) != "file.kept" || err != nil {
		t.Errorf("Write() over a link kept %q, %v, want file.kept", kept, err)
	}
	if to, err := os.Readlink(at("link").Path); to != "file" || err != nil {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if fi, err := os.Stat(at("file").Path); err != nil || fi.Mode().Perm() != 0o640 {
		t.Errorf("the file has mode %v, %v, want 0640", fi.Mode(), err)
	}
}

// TestOutputAtEveryStop kills the writer, or stops the machine, at each step of writing a file. Afterwards the file
// must be either the complete old file or the complete new file. If the new file has replaced the old file, which a
// person had edited, a copy must contain the old text. The next run must succeed.
func TestOutputAtEveryStop(t *testing.T) {
	nobodys := func(string) bool { return false }
	long := strings.Repeat("new text ", 1000)
	run := func(p vfs.FS, text string) (string, error) {
		_, kept, err := writeFile(p, "f", 0o600, nobodys, writes(text))
		return kept, err
	}
	start := func(t *testing.T) *crashfs.Disk {
		m := vfs.NewMem()
		if err := vfs.WriteFile(m, "f", []byte("typed"), 0o600); err != nil {
			t.Fatal(err)
		}
		return crashfs.New(m)
	}
	whole := start(t)
	if _, err := run(whole.StartProcess(), long); err != nil {
		t.Fatal(err)
	}
	check := func(n int, m *vfs.Mem) {
		t.Helper()
		f, err := vfs.ReadFile(m, "f", -1)
		kept, kerr := vfs.ReadFile(m, "f.kept", -1)
		isOld, isNew := string(f) == "typed", string(f) == long && kerr == nil
		if err != nil || (!isOld && !isNew) || (kerr == nil && string(kept) != "typed") {
			t.Errorf("stopped at %d: the file holds %.20q (%v), the copy %q (%v)", n, f, err, kept, kerr)
		}
	}
	for n := 1; n <= whole.CountOps(); n++ {
		killed := start(t)
		p := killed.StartProcess()
		killed.KillAt(p, n)
		if _, err := run(p, long); err == nil {
			t.Errorf("killed at %d: no error", n)
		}
		check(n, killed.CopyLiveFiles())
		stopped := start(t)
		stopped.StopAt(n)
		_, _ = run(stopped.StartProcess(), long)
		for m := range stopped.EachCrashFileSystem {
			check(n, m)
			if _, err := run(m, "next"); err != nil {
				t.Errorf("stopped at %d: the next run: %v", n, err)
			}
		}
	}
}
