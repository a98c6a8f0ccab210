// This file tests that a new directory is complete when it gets its final name.

package output

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
)

// buildHome creates a home (the directory of a memory) with several entries in the directory "home". The result cleared
// is the name of the unfinished directory that a killed builder left and that buildHome removed. It is "" if there was
// none.
func buildHome(fsys vfs.FS) (cleared string, err error) {
	d, err := vfs.NewDraftDir(fsys, "home", 0o700)
	if err != nil {
		return "", err
	}
	err = fillHome(fsys, d.Dir())
	if err == nil {
		err = d.Commit()
	}
	return d.Cleared(), errors.Join(err, d.Discard())
}

func fillHome(fsys vfs.FS, dir string) (err error) {
	m, err := oxbow.Open(dir+"/memory.oxbow", &oxbow.Options{FS: fsys})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	for _, name := range []string{"one", "two", "three"} {
		if err := m.Apply(context.Background(), oxbow.Add{Name: name, Kind: oxbow.Note, Content: "text of " +
			name}); err != nil {
			return err
		}
	}
	return vfs.WriteFile(fsys, dir+"/sub.md", []byte("a file"), 0o600)
}

// checkHome returns nil if "home" does not exist or is complete. A complete home has a valid memory with the entries
// one, two and three, and the file sub.md. Otherwise checkHome returns an error.
func checkHome(fsys vfs.FS) error {
	if _, err := fsys.Stat("home"); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	m, err := oxbow.Open("home/memory.oxbow", &oxbow.Options{FS: fsys, ReadOnly: true})
	if err != nil {
		return err
	}
	defer m.Close()
	for _, name := range []string{"one", "two", "three"} {
		if _, err := m.Get(context.Background(), name); err != nil {
			return err
		}
	}
	if r, err := m.Check(context.Background()); err != nil || len(r.Problems) > 0 {
		return fmt.Errorf("check: %v, %v", r.Problems, err)
	}
	_, err = vfs.ReadFile(fsys, "home/sub.md", -1)
	return err
}

// TestOutputDirAtEveryStop tests that the directory is either missing or complete, whenever its builder is killed or
// the machine stops. The next builder must remove the remaining files.
func TestOutputDirAtEveryStop(t *testing.T) {
	whole := crashfs.New(vfs.NewMem())
	if _, err := buildHome(whole.StartProcess()); err != nil {
		t.Fatal(err)
	}
	if err := checkHome(whole.CopyLiveFiles()); err != nil {
		t.Fatal(err)
	}
	if names := whole.CopyLiveFiles().Names(); names[0] != "home/" {
		t.Errorf("the directory contains %q", names)
	}
	seen, cleared := 0, 0
	check := func(n, image int, m *vfs.Mem) {
		t.Helper()
		if err := checkHome(m); err != nil {
			t.Errorf("stopped at %d: %v", n, err)
		}
		if _, err := m.Stat("home"); err == nil {
			seen++
			return
		}
		if image > 2 { // The next run is slow, so test it only with the first three of the possible disk contents.
			return
		}
		left, err := buildHome(m)
		if err == nil {
			err = checkHome(m)
		}
		if err != nil {
			t.Errorf("stopped at %d: the next run: %v", n, err)
		}
		if left != "" {
			cleared++
		}
		if _, err := m.Stat("home.unfinished"); err == nil {
			t.Errorf("stopped at %d: the next run left home.unfinished", n)
		}
	}
	for n := 1; n <= whole.CountOps(); n++ {
		killed := crashfs.New(vfs.NewMem())
		p := killed.StartProcess()
		killed.KillAt(p, n)
		if _, err := buildHome(p); err == nil {
			t.Errorf("killed at %d: no error", n)
		}
		check(n, 0, killed.CopyLiveFiles())
		stopped := crashfs.New(vfs.NewMem())
		stopped.StopAt(n)
		_, _ = buildHome(stopped.StartProcess())
		image := 0
		for m := range stopped.EachCrashFileSystem {
			check(n, image, m)
			image++
		}
	}
	if seen == 0 || cleared == 0 {
		t.Errorf("%d whole homes and %d removed drafts were seen, want some of each", seen, cleared)
	}
}

// TestOutputDirLeavesOthers tests that BuildInPlace does not change files that a person has put into the directories
// with its temporary names, such as a.unfinished. It must fail with fs.ErrExist instead. If another call builds the
// same directory, BuildInPlace must return vfs.ErrBusy.
func TestOutputDirLeavesOthers(t *testing.T) {
	top := t.TempDir()
	at := func(name string) OutputDir {
		return OutputDir{Path: filepath.Join(top, name), Name: name, OperationName: "making"}
	}
	file := func(dir string) error { return os.WriteFile(filepath.Join(dir, "f"), []byte("text"), 0o600) }
	if err := errors.Join(os.Mkdir(at("full").Path, 0o700), file(at("full").Path), os.Mkdir(at("empty").Path, 0o700),
		os.Mkdir(at("a.unfinished").Path, 0o700), file(at("a.unfinished").Path),
		os.MkdirAll(at("b.unfinished/new").Path, 0o700), file(at("b.unfinished/new").Path)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"full", "a", "b"} {
		if _, err := at(name).BuildInPlace(file); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Build(%s): %v, want %v", name, err, fs.ErrExist)
		}
	}
	for _, name := range []string{"empty", "new", "deep/er"} {
		_, err := at(name).BuildInPlace(func(dir string) error {
			if _, err := at(name).BuildInPlace(file); !errors.Is(err, vfs.ErrBusy) {
				t.Errorf("Build(%s) during Build: %v, want %v", name, err, vfs.ErrBusy)
			}
			return file(dir)
		})
		if b, rerr := os.ReadFile(filepath.Join(at(name).Path, "f")); err != nil || string(b) != "text" {
			t.Errorf("Build(%s): %v; the file holds %q, %v", name, err, b, rerr)
		}
	}
	boom := errors.New("boom")
	if _, err := at("failed").BuildInPlace(func(dir string) error {
		return errors.Join(file(dir), boom)
	}); !errors.Is(err, boom) {
		t.Errorf("Build of a failing function: %v, want %v", err, boom)
	}
	if b, err := os.ReadFile(filepath.Join(at("b.unfinished/new").Path, "f")); string(b) != "text" {
		t.Errorf("the person's file b.unfinished/new/f contains %q, %v", b, err)
	}
	entries, err := os.ReadDir(top)
	if err != nil || len(entries) != 6 {
		t.Errorf("the directory contains %v, %v, want the 6 that were finished or a person's", entries, err)
	}
}
