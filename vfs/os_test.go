// Tests of the features that only the file system of the operating system has: links, pipes, and locks between
// processes.

//go:build !js && !wasip1

package vfs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// symlink creates a symbolic link, and checks that the link exists, because Wine 8 reports success without creating a
// link.
func symlink(target, link string) error {
	if err := os.Symlink(target, link); err != nil {
		return err
	}
	_, err := os.Lstat(link)
	return err
}

func TestLinksOutOfTheRoot(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o600))
	for link, target := range map[string]string{
		"file": filepath.Join(outside, "secret"), "dir": outside,
		"up": filepath.Join("..", filepath.Base(outside)), "new": filepath.Join(outside, "made"),
	} {
		if err := symlink(target, filepath.Join(inside, link)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	o := openDir(t, inside)
	for _, name := range []string{"file", "dir/secret", "up/secret", "new", "dir/made", "up/made"} {
		if f, err := o.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
			f.Close()
			t.Errorf("OpenFile(%q) opened a file outside of the root", name)
		}
		if l, err := o.OpenLock(name); err == nil {
			l.Close()
			t.Errorf("OpenLock(%q) opened a file outside of the root", name)
		}
	}
	for _, name := range []string{"file", "dir", "dir/secret", "up"} {
		if _, err := o.Stat(name); err == nil {
			t.Errorf("Stat(%q) = nil, want an error", name)
		}
	}
	for what, err := range map[string]error{
		"MkdirAll": o.MkdirAll("dir/d", 0o700), "Remove": o.Remove("dir/secret"), "SyncDir": o.SyncDir("dir/d"),
		"Rename from": o.Rename("dir/secret", "x"), "Rename to": o.Rename("file", "dir/x"),
		"WriteFile": vfs.WriteFile(o, "dir/made", nil, 0o600),
	} {
		if err == nil {
			t.Errorf("%s through a link out of the root = nil, want an error", what)
		}
	}
	if _, err := o.ReadDir("dir"); err == nil {
		t.Errorf("ReadDir of a link out of the root = nil, want an error")
	}
	// Links themselves are replaced and removed, and not the files that they lead to.
	must(t, vfs.WriteFile(o, "file", []byte("mine"), 0o600))
	must(t, vfs.RemoveAll(o, "dir"))
	must(t, vfs.RemoveAll(o, "up"))
	must(t, o.Remove("new"))
	entries, err := os.ReadDir(outside)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("outside there are %v, want the secret alone", entries)
	}
	if got, err := os.ReadFile(filepath.Join(outside, "secret")); string(got) != "s" || err != nil {
		t.Errorf("the secret is %q, %v, want s, nil", got, err)
	}
	wantList(t, o, ".", "file")
}

func TestLinksInsideTheRoot(t *testing.T) {
	dir := t.TempDir()
	o := openDir(t, dir)
	must(t, o.MkdirAll("d", 0o700))
	put(t, o, "d/a", "A")
	if err := symlink(filepath.Join("d", "a"), filepath.Join(dir, "link")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	wantFile(t, o, "link", "A")
	a, err := o.Stat("d/a")
	must(t, err)
	b, err := o.Stat("link")
	must(t, err)
	if !vfs.SameFile(a, b) {
		t.Errorf("a link and its file are not the same file")
	}
	if m, err := vfs.NewMem().Stat("."); err != nil || vfs.SameFile(a, m) || vfs.SameFile(m, a) {
		t.Errorf("a file of the system and one of memory are the same file")
	}
}

func TestDir(t *testing.T) {
	dir := t.TempDir()
	o := openDir(t, dir)
	if o.Path() != dir {
		t.Errorf("Path = %q, want %q", o.Path(), dir)
	}
	put(t, o, "a", "")
	must(t, o.Close())
	if _, err := o.Stat("a"); err == nil {
		t.Errorf("Stat after Close = nil, want an error")
	}
	_, err := vfs.Dir(filepath.Join(dir, "none"))
	wantErr(t, "Dir of a missing directory", err, fs.ErrNotExist)
	if _, err := vfs.Dir(filepath.Join(dir, "a")); err == nil {
		t.Errorf("Dir of a file = nil, want an error")
	}
}

// TestHelperHoldsLock is not a test, but the other process of the tests below. It acquires the lock, prints a message,
// and holds the lock until its input ends or the process is killed.
func TestHelperHoldsLock(t *testing.T) {
	dir := os.Getenv("VFS_TEST_LOCK_DIR")
	if dir == "" {
		t.Skip("only run as a child process")
	}
	o := openDir(t, dir)
	l := lockOf(t, o, "lock")
	wantAcquired(t, "in the child", l)
	os.Stdout.WriteString("held\n")
	io.Copy(io.Discard, os.Stdin)
}

// holder starts a process that holds the lock.
func holder(t *testing.T, dir string) (child *exec.Cmd, stdin io.WriteCloser) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	child = exec.Command(exe, "-test.run=^TestHelperHoldsLock$")
	child.Env = append(os.Environ(), "VFS_TEST_LOCK_DIR="+dir)
	stdin, err = child.StdinPipe()
	must(t, err)
	stdout, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	t.Cleanup(func() { child.Process.Kill(); child.Wait() })
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "held\n" {
		t.Fatalf("the child said %q, %v, want that it holds the lock", line, err)
	}
	return child, stdin
}

// wantSoon tests that the lock is free. Windows releases the locks of a killed process only some time later, so
// wantSoon tries repeatedly there. On other systems, the first attempt must succeed.
func wantSoon(t *testing.T, l vfs.Lock) {
	t.Helper()
	end := time.Now().Add(10 * time.Second)
	for {
		got, err := l.TryLock()
		if err != nil {
			t.Fatal(err)
		}
		if got {
			return
		}
		if runtime.GOOS != "windows" || time.Now().After(end) {
			t.Errorf("TryLock after the holder's end = false, want true")
			return
		}
		runtime.Gosched()
	}
}

func TestLockBetweenProcesses(t *testing.T) {
	dir := t.TempDir()
	o := openDir(t, dir)
	l := lockOf(t, o, "lock")
	child, stdin := holder(t, dir)
	wantNotAcquired(t, "while another process holds it", l)
	must(t, stdin.Close())
	must(t, child.Wait())
	wantSoon(t, l)
}

func TestLockOfAKilledProcess(t *testing.T) {
	dir := t.TempDir()
	o := openDir(t, dir)
	l := lockOf(t, o, "lock")
	child, _ := holder(t, dir)
	wantNotAcquired(t, "while another process holds it", l)
	must(t, child.Process.Kill())
	child.Wait() // The result of Wait only says that the process was killed.
	wantSoon(t, l)
}

func TestLockFileRemovedUnderAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	o := openDir(t, dir)
	l := lockOf(t, o, "lock") // opened before the file is removed
	must(t, o.Remove("lock"))
	child, stdin := holder(t, dir)
	wantNotAcquired(t, "with the removed file, while the new one is held", l)
	must(t, stdin.Close())
	must(t, child.Wait())
	wantSoon(t, l)
}

// TestNameRefersTo tests that NameRefersTo has the same result as Stat and SameFile. A file that has replaced another
// file is not the same file.
func TestNameRefersTo(t *testing.T) {
	dir := t.TempDir()
	o, err := vfs.Dir(dir)
	must(t, err)
	m := vfs.NewMem()
	for what, fsys := range map[string]vfs.FS{"OS": o, "Mem": m, "wrapped OS": struct{ vfs.FS }{o}} {
		t.Run(what, func(t *testing.T) {
			must(t, fsys.MkdirAll("d", 0o700))
			for _, name := range []string{"a", "b", "d/a"} {
				must(t, vfs.WriteFile(fsys, name, []byte(name), 0o600))
			}
			info := func(name string) fs.FileInfo {
				f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
				must(t, err)
				defer f.Close()
				fi, err := f.Stat()
				must(t, err)
				return fi
			}
			check := func(name string, fi fs.FileInfo, want bool) {
				t.Helper()
				if got, err := vfs.NameRefersTo(fsys, name, fi); got != want || err != nil {
					t.Errorf("Leads(%q) = %v, %v; want %v", name, got, err, want)
				}
			}
			a := info("a")
			b := info("b")
			da := info("d/a")
			check("a", a, true)
			check("a", b, false)
			check("d/a", da, true)
			check("d/a", a, false)
			check("d", a, false)
			must(t, fsys.Rename("b", "a"))
			check("a", a, false)
			check("a", b, true)
			if fsys != vfs.FS(m) && symlink("a", filepath.Join(dir, "link")) == nil {
				check("link", b, true)
				check("link", a, false)
			}
			for _, name := range []string{"b", "d/b"} {
				if got, err := vfs.NameRefersTo(fsys, name, b); got || !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("Leads(%q) of what is gone = %v, %v; want an error matching ErrNotExist", name, got, err)
				}
			}
			if _, err := vfs.NameRefersTo(fsys, "../a", a); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("Leads out of the root = %v, want an error matching ErrInvalid", err)
			}
		})
	}
	a, err := o.Stat("a")
	must(t, err)
	must(t, o.Close())
	if _, err := vfs.NameRefersTo(o, "a", a); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Leads of a closed directory = %v, want an error matching ErrClosed", err)
	}
}

// TestErrorsNameTheCall tests that errors contain the same operation as the errors of package os, and not the
// operation in errors of os.Root.
func TestErrorsNameTheCall(t *testing.T) {
	o, err := vfs.Dir(t.TempDir())
	must(t, err)
	defer o.Close()
	must(t, vfs.WriteFile(o, "file", nil, 0o600))
	_, opened := o.OpenFile("none", os.O_RDONLY, 0)
	_, stated := o.Stat("none")
	_, read := o.ReadDir("none")
	for _, c := range []struct {
		want string
		err  error
	}{
		{"open none:", opened}, {"stat none:", stated}, {"open none:", read}, {"remove none:", o.Remove("none")},
		{"mkdir file:", o.MkdirAll("file/d", 0o700)}, {"rename none other:", o.Rename("none", "other")},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.want) {
			t.Errorf("the error is %v, want %q", c.err, c.want)
		}
	}
}

// TestRemoveTree tests that RemoveTree removes read-only files and a symbolic link, but does not remove the target of
// the link.
func TestRemoveTree(t *testing.T) {
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	if err := os.MkdirAll(filepath.Join(tree, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(dir, "outside")
	for name, perm := range map[string]fs.FileMode{
		filepath.Join(tree, "a", "b", "locked"): 0o400,
		filepath.Join(tree, "plain"):            0o600,
		outside:                                 0o600,
	} {
		if err := os.WriteFile(name, []byte("x"), perm); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(tree, "link")); err != nil {
		t.Logf("without a symbolic link: %v", err) // On Windows, only administrators may create symbolic links.
	}
	if err := vfs.RemoveTree(tree); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(tree); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("the target of the link: %v", err)
	}
	if err := vfs.RemoveTree(tree); err != nil {
		t.Errorf("RemoveTree of a missing directory: %v", err)
	}
}

func TestEachEntry(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{"OS": openDir(t, t.TempDir()), "Mem": vfs.NewMem()} {
		t.Run(name, func(t *testing.T) {
			var want []string
			must(t, fsys.MkdirAll("d/sub", 0o700))
			for i := range 600 {
				want = append(want, fmt.Sprintf("%04d", i))
				put(t, fsys, "d/"+want[i], "")
			}
			want = append(want, "sub")
			var got []string
			must(t, vfs.EachEntry(fsys, "d", func(e fs.DirEntry) error {
				got = append(got, e.Name())
				return nil
			}))
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("EachEntry lists %d names, want %d", len(got), len(want))
			}
			stop, calls := errors.New("stop"), 0
			err := vfs.EachEntry(fsys, "d", func(fs.DirEntry) error {
				calls++
				return stop
			})
			if !errors.Is(err, stop) || calls != 1 {
				t.Errorf("EachEntry = %v after %d calls, want the error of the first call", err, calls)
			}
			wantErr(t, "EachEntry of a missing directory",
				vfs.EachEntry(fsys, "none", func(fs.DirEntry) error { return nil }), fs.ErrNotExist)
		})
	}
}
