// A dump writes the entries of a store to a tree of files. This file interrupts a dump at each of its steps, by an
// error or by a stop of the machine, and tests the state of the tree afterwards.

package mdtree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

var errStop = errors.New("the machine stopped")

// stopFS lets a number of calls that change something succeed, and all later calls fail. With late set, the first call
// that fails has its effect nevertheless.
type stopFS struct {
	vfs.FS
	left int
	late bool
}

// step is called before each call that changes the file system. The result do reports whether the call must be carried
// out, and err is the error that the call returns. The first s.left calls are carried out. All later calls fail with
// errStop. If s.late is set, the first of these later calls is carried out nevertheless.
func (s *stopFS) step() (do bool, err error) {
	s.left--
	if s.left >= 0 {
		return true, nil
	}
	return s.left == -1 && s.late, errStop
}

func (s *stopFS) do(f func() error) error {
	do, err := s.step()
	if do {
		if ferr := f(); ferr != nil {
			return ferr
		}
	}
	return err
}

func (s *stopFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag == os.O_RDONLY {
		return s.FS.OpenFile(name, flag, perm)
	}
	var f vfs.File
	err := s.do(func() (err error) { f, err = s.FS.OpenFile(name, flag, perm); return err })
	if err != nil {
		return nil, err
	}
	return &stopFile{f, s}, nil
}
func (s *stopFS) MkdirAll(name string, perm fs.FileMode) error {
	return s.do(func() error { return s.FS.MkdirAll(name, perm) })
}
func (s *stopFS) Rename(a, b string) error  { return s.do(func() error { return s.FS.Rename(a, b) }) }
func (s *stopFS) Remove(name string) error  { return s.do(func() error { return s.FS.Remove(name) }) }
func (s *stopFS) SyncDir(name string) error { return s.do(func() error { return s.FS.SyncDir(name) }) }

type stopFile struct {
	vfs.File
	s *stopFS
}

func (f *stopFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.s.do(func() error { n, err = f.File.WriteAt(p, off); return err })
	if err != nil && n == 0 && len(p) > 1 {
		f.File.WriteAt(p[:len(p)/2], off) // only a part of the bytes is written
	}
	return n, err
}
func (f *stopFile) Sync() error { return f.s.do(f.File.Sync) }

// history returns the contents of a store before and after a change. The change adds, updates, removes, moves and
// renames entries.
func history(t *testing.T) (old, next *mapStore) {
	old = storeOf(t, note("keep", "k"), note("change", "before"), note("go", "g"), note("Case", "same"),
		oxbow.Add{Name: "arch", Kind: oxbow.Archive, Content: "a", Created: noon},
		oxbow.Add{Name: "move", Kind: oxbow.Archive, Content: "m", Created: noon})
	next = storeOf(t, note("keep", "k"), note("change", "after"), note("come", "c"), note("case", "same"),
		note("move", "m"), oxbow.Add{Name: "j", Kind: oxbow.Journal, Content: "j", Created: noon})
	return old, next
}

// TestStopAnywhere stops a dump at each of its steps. ReadTree must return exactly the old or the new tree, and the
// next dump must write the new tree. The recovery may also be stopped at each step.
func TestStopAnywhere(t *testing.T) {
	testenv.SkipInShortMode(t)
	old, next := history(t)
	memory := func() vfs.FS { return vfs.NewMem() }
	folding := func() vfs.FS { return newFoldFS() }
	for _, c := range []struct {
		base      func() vfs.FS
		old, next *mapStore
		stride    int // distance between the steps at which the recovery is stopped
	}{
		{memory, old, next, 7},
		{folding, old, next, 61},
		{folding, storeOf(t, note("Case", "same")), storeOf(t, note("case", "same")), 1},
	} {
		base := c.base
		old := c.old
		next := c.next
		stride := testenv.RepeatCount(4*c.stride+1, c.stride)
		clean := base()
		mustDump(t, next, clean, "brain")
		want := files(t, clean, "brain")
		want["theme/x.css"], want["notes/own.txt"] = "css", "own"
		oldWant, newWant := describeAll(old.entries), describeAll(next.entries)

		// The function run writes the old tree and then dumps the new tree. The dump stops after a number of calls that
		// change a file, given by the parameter first. If the parameter second is not negative, run dumps the new tree
		// again, and stops this dump after that number of calls. If late is true, the first call that fails changes the
		// file nevertheless.
		sawOld, sawNew := 0, 0
		run := func(t *testing.T, first, second int, late bool) (doneFirst, doneSecond bool) {
			fsys := base()
			mustDump(t, old, fsys, "brain")
			put(t, fsys, "brain/theme/x.css", "css")
			put(t, fsys, "brain/notes/own.txt", "own")
			_, err := Dump(t.Context(), next, &stopFS{fsys, first, late}, "brain", nil)
			if err != nil && !errors.Is(err, errStop) {
				t.Fatalf("stop after %d: %v", first, err)
			}
			doneFirst = err == nil
			if second >= 0 {
				_, err := Dump(t.Context(), next, &stopFS{fsys, second, late}, "brain", nil)
				if err != nil && !errors.Is(err, errStop) {
					t.Fatalf("stop after %d and %d: %v", first, second, err)
				}
				doneSecond = err == nil
			}
			where := fmt.Sprintf("stops after %d and %d (late %v)", first, second, late)
			tree, err := ReadTree(fsys, "brain", nil)
			if err != nil {
				t.Fatalf("%s: Read: %v", where, err)
			}
			switch got := describeAll(tree.Entries); {
			case len(tree.MissingFiles) > 0:
				t.Fatalf("%s: missing %v", where, tree.MissingFiles)
			case slices.Equal(got, newWant):
				sawNew++
			case slices.Equal(got, oldWant) && !doneFirst && !doneSecond:
				sawOld++
			default:
				t.Fatalf("%s: Read = %q, want the old or the new tree", where, got)
			}
			mustDump(t, next, fsys, "brain")
			if d := diffFiles(files(t, fsys, "brain"), want); d != "" {
				t.Fatalf("%s, then a dump:\n%s", where, d)
			}
			return doneFirst, doneSecond
		}
		for _, late := range []bool{false, true} {
			done := false
			for first := 0; !done; first++ {
				done, _ = run(t, first, -1, late)
				for second, again := first%stride, false; !again && !done; second += stride {
					_, again = run(t, first, second, late)
				}
			}
		}
		if sawOld < 40 || sawNew < 40 {
			t.Errorf(
				"saw the old tree %d times and the new one %d times; the test looks at too little",
				sawOld,
				sawNew,
			)
		}
	}
}

// crashed is the key under which the test remembers that it has checked the state of a disk after a crash.
type crashed struct {
	sum         uint64 // hash of the files (see crashfs.Sum)
	first, done bool   // The arguments first and done of the function check.
}

// TestCrashAnywhere lets the machine stop at each step of a dump. Any combination of changes that were not synced may
// then be lost. See package crashfs for the changes that may be lost. After the crash, ReadTree must return exactly the
// old or the new tree, and the next dump must write the new tree. If no old tree existed, ReadTree may also return
// ErrNoTree. If the dump had returned without an error, ReadTree must return the new tree.
func TestCrashAnywhere(t *testing.T) {
	testenv.SkipInShortMode(t)
	ctx := t.Context()
	old := storeOf(
		t,
		note("change", "before"),
		note("Case", "same"),
		oxbow.Add{Name: "arch", Kind: oxbow.Archive, Content: "a", Created: noon},
	)
	next := storeOf(
		t,
		note("change", "after"),
		note("case", "same"),
		oxbow.Add{Name: "j", Kind: oxbow.Journal, Content: "j", Created: noon},
	)
	clean := vfs.NewMem()
	mustDump(t, next, clean, "brain")
	want := files(t, clean, "brain")
	oldWant, newWant := describeAll(old.entries), describeAll(next.entries)

	start := vfs.NewMem()
	mustDump(t, old, start, "brain")
	images := 0
	sawOld := 0
	sawNew := 0
	every := testenv.RepeatCount(97, 31)
	checked := map[crashed]bool{}
	// check checks a disk after a crash. first is true if there was no old tree. done is true if the dump had returned
	// without an error.
	check := func(img *vfs.Mem, label string, at int, first, done bool) {
		images++
		where := fmt.Sprintf("crash at %d, first dump %v, %s", at, first, label)
		tree, err := ReadTree(img, "brain", nil)
		switch {
		case first && !done && errors.Is(err, ErrNoTree):
			sawOld++
		case err != nil:
			t.Fatalf("%s: Read: %v", where, err)
		case slices.Equal(describeAll(tree.Entries), newWant):
			sawNew++
		case !first && !done && slices.Equal(describeAll(tree.Entries), oldWant):
			sawOld++
		default:
			t.Fatalf("%s: Read = %q, want the old or the new tree", where, describeAll(tree.Entries))
		}
		if _, err := Dump(ctx, next, img, "brain", nil); err != nil {
			t.Fatalf("%s: Dump: %v", where, err)
		}
		if d := diffFiles(files(t, img, "brain"), want); d != "" {
			t.Fatalf("%s, then a dump:\n%s", where, d)
		}
	}
	for _, c := range []struct {
		first bool
		o     *DumpOptions
	}{{false, nil}, {true, nil}, {false, &DumpOptions{minFilesForBulkSync: 1}}, {true,
		&DumpOptions{minFilesForBulkSync: 1}}} {
		first := c.first
		o := c.o
		img := start
		if first {
			img = nil
		}
		for at, done := 1, false; !done; at++ {
			disk := crashfs.New(img)
			disk.StopAt(at)
			_, err := Dump(ctx, next, disk.StartProcess(), "brain", o)
			done = err == nil
			if !done && !disk.HasCrashed() {
				t.Fatalf("crash at %d: %v", at, err)
			}
			n := 0
			for sketch := range disk.EachCrashContent {
				n++
				// Check each state of the disk only once. Crashes at different steps may leave the same state, and
				// ReadTree and Dump only depend on the names and bytes of the files.
				key := crashed{sketch.HashFiles(nil), first, done}
				second := n%every == 0 && !first && o == nil
				if checked[key] && !second {
					continue
				}
				checked[key] = true
				img, label := sketch.BuildFileSystem(), sketch.Label()
				check(img, label, at, first, done)
				// Let the recovery from the first crash crash as well.
				if second {
					again := crashfs.New(img)
					again.StopAt(1 + (n+at)%40)
					_, err := Dump(ctx, next, again.StartProcess(), "brain", o)
					for twice := range again.EachCrashContent {
						done := done || err == nil
						key := crashed{twice.HashFiles(nil), first, done}
						if !checked[key] {
							checked[key] = true
							check(twice.BuildFileSystem(), label+", then "+twice.Label(), at, first, done)
						}
					}
				}
			}
		}
	}
	if sawOld < 100 || sawNew < 100 {
		t.Errorf("saw the old tree %d times and the new one %d times; the test looks at too little", sawOld, sawNew)
	}
	t.Logf("%d images", images)
}

// TestSyncFails checks that a failed sync is reported as an error. Later dumps must not assume that the changes were
// synced.
func TestSyncFails(t *testing.T) {
	testenv.SkipInShortMode(t)
	for _, o := range []*DumpOptions{nil, {minFilesForBulkSync: 1}} {
		testSyncFails(t, o)
	}
}

func testSyncFails(t *testing.T, o *DumpOptions) {
	old := storeOf(t, note("change", "before"), note("go", "g"))
	next := storeOf(t, note("change", "after"), note("come", "c"))
	start := vfs.NewMem()
	mustDump(t, old, start, "brain")
	oldWant, newWant := describeAll(old.entries), describeAll(next.entries)
	for at, failed := 1, true; failed; at++ {
		disk := crashfs.New(start)
		disk.Inject(crashfs.OpFault{FirstOpNumber: at, Err: syscall.EIO})
		fsys := disk.StartProcess()
		_, err := Dump(t.Context(), next, fsys, "brain", o)
		failed = err != nil
		if failed && !errors.Is(err, syscall.EIO) {
			t.Fatalf("fault at %d: %v, want EIO", at, err)
		}
		tree, err := ReadTree(fsys, "brain", nil)
		if err != nil {
			t.Fatalf("fault at %d: Read: %v", at, err)
		}
		if got := describeAll(tree.Entries); !slices.Equal(got, newWant) && (!failed || !slices.Equal(got, oldWant)) {
			t.Fatalf("fault at %d: Read = %q, want the old or the new tree", at, got)
		}
		// The next dump may crash at any operation. It must not assume that the failed dump has synced its files.
		for stop := 1; failed && stop < 12; stop++ {
			crashing := disk.Clone()
			crashing.StopAt(crashing.CountOps() + stop)
			_, err := Dump(t.Context(), next, crashing.StartProcess(), "brain", o)
			done := err == nil
			n := 0
			for img, label := range crashing.EachCrashFileSystem {
				n++
				if n%3 != at%3 {
					continue
				}
				got := describeAll(mustRead(t, img, "brain").Entries)
				if !slices.Equal(got, newWant) && (done || !slices.Equal(got, oldWant)) {
					t.Fatalf(
						"fault at %d, crash %d later, %s: Read = %q, want the old or the new tree",
						at,
						stop,
						label,
						got,
					)
				}
			}
		}
		if _, err := Dump(t.Context(), next, fsys, "brain", o); err != nil {
			t.Fatalf("fault at %d: Dump again: %v", at, err)
		}
		if got := describeAll(mustRead(t, fsys, "brain").Entries); !slices.Equal(got, newWant) {
			t.Fatalf("fault at %d: after another dump Read = %q, want the new tree", at, got)
		}
	}
}

// TestEditAfterCrash checks that the recovery does not overwrite files that a user changed after the crash.
func TestEditAfterCrash(t *testing.T) {
	old, next := history(t)
	for calls := 0; ; calls++ {
		fsys := vfs.NewMem()
		mustDump(t, old, fsys, "brain")
		_, err := Dump(t.Context(), next, &stopFS{fsys, calls, false}, "brain", nil)
		if err == nil {
			break
		}
		put(t, fsys, "brain/notes/change.md", "mine")
		put(t, fsys, "brain/notes/go.md", "also mine")
		tree := mustRead(t, fsys, "brain")
		for name, want := range map[string]string{"change": "mine", "go": "also mine"} {
			i := slices.IndexFunc(tree.Entries, func(e oxbow.Entry) bool { return e.Name == name })
			if i < 0 || tree.Entries[i].Content != want {
				t.Fatalf("stop after %d: Read gives %q as %v, want %q", calls, name, tree.Entries, want)
			}
		}
		if _, err := Dump(t.Context(), next, fsys, "brain", nil); !errors.Is(err, ErrFilesEdited) {
			t.Fatalf("stop after %d: Dump over the edits: %v, want ErrEdited", calls, err)
		}
		for name, want := range map[string]string{"change": "mine", "go": "also mine"} {
			if got := get(t, fsys, "brain/notes/"+name+".md"); got != want {
				t.Fatalf("stop after %d: notes/%s.md = %q, want %q", calls, name, got, want)
			}
		}
	}
}

// TestEditAfterFirstCrash checks files that a user writes to a directory after the first dump to this directory
// crashed. The next dump must fail with ErrFilesEdited or ErrNotDumpDir, and must not change the user's files. Reading
// the tree must return the same entries before and after this dump.
func TestEditAfterFirstCrash(t *testing.T) {
	_, next := history(t)
	finished := 0
	for calls := 0; ; calls++ {
		fsys := vfs.NewMem()
		_, err := Dump(t.Context(), next, &stopFS{fsys, calls, false}, "brain", nil)
		if err == nil {
			break
		}
		put(t, fsys, "brain/notes/change.md", "mine")
		put(t, fsys, "brain/notes/own.md", "my own")
		got := describeAll(mustRead(t, fsys, "brain").Entries)
		if _, err := Dump(t.Context(), next, fsys, "brain", nil); !errors.Is(err, ErrFilesEdited) &&
			!errors.Is(err, ErrNotDumpDir) {
			t.Fatalf("stop after %d: Dump over the edits: %v, want ErrEdited or ErrForeign", calls, err)
		}
		for name, want := range map[string]string{"change": "mine", "own": "my own"} {
			if got := get(t, fsys, "brain/notes/"+name+".md"); got != want {
				t.Fatalf("stop after %d: notes/%s.md = %q, want %q", calls, name, got, want)
			}
		}
		if again := describeAll(mustRead(t, fsys, "brain").Entries); !slices.Equal(got, again) {
			t.Fatalf("stop after %d: Read = %q, and after the next dump %q", calls, got, again)
		}
		if len(got) > 2 {
			finished++
		}
	}
	if finished < 3 {
		t.Errorf("%d stops were after the commit; the test looks at too little", finished)
	}
}

// TestForgedJournal checks that a journal by an attacker in the tree cannot change files outside of the tree.
func TestForgedJournal(t *testing.T) {
	for _, journal := range []string{
		`{"version":1,"write":[{"path":"../evil.md","was":"","sha256":""}]}`,
		`{"version":1,"write":[{"path":"notes/../../evil.md","was":"","sha256":""}]}`,
		`{"version":1,"write":[{"path":"theme/evil.md","was":"","sha256":""}]}`,
		`{"version":1,"write":[{"path":"notes/a\\..\\..\\evil.md","was":"","sha256":""}]}`,
		`{"version":1,"remove":[{"path":"book.toml","was":""}]}`,
		`{"version":1,"remove":[{"path":"notes/.md","was":""}]}`,
		`{"version":2,"dirs":["../evil"]}`, `{"version":2,"dirs":["theme"]}`, `{"version":2,"dirs":["notes/x"]}`,
		`{"version":2,"dirs":["."]}`, `{"version":2,"dirs":[""]}`,
		`{"version":3}`, `{`, ``,
	} {
		fsys := vfs.NewMem()
		s := storeOf(t, note("a", "x"))
		mustDump(t, s, fsys, "brain")
		put(t, fsys, "brain/"+commitFile, journal)
		put(t, fsys, "brain/"+dumpStageDir+"/0", "evil")
		before := files(t, fsys, ".")
		if _, err := ReadTree(fsys, "brain", nil); err == nil {
			t.Errorf("Read with journal %s: no error", journal)
		}
		if _, err := Dump(t.Context(), s, fsys, "brain", nil); err == nil {
			t.Errorf("Dump with journal %s: no error", journal)
		}
		if d := diffFiles(files(t, fsys, "."), before); d != "" {
			t.Errorf("journal %s changed files:\n%s", journal, d)
		}
	}
}
