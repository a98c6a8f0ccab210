// This file tests the tree after a crash at each operation of a change.

package mdtree

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// problemsOf returns a sorted list with one string for each entry of the store. The string contains the entry's name,
// kind, content and labels.
func problemsOf(t *testing.T, s *Store) []string {
	t.Helper()
	var all []string
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s|%s|%s|%v", e.Name, e.Kind, e.Content, e.Labels))
	}
	slices.Sort(all)
	return all
}

func mustApply(t *testing.T, s oxbow.Store, ops ...oxbow.Op) {
	t.Helper()
	if err := s.Apply(t.Context(), ops...); err != nil {
		t.Fatalf("Apply(%v) = %v", ops, err)
	}
}

// TestStoreCrashAnywhere tests that a crash never leaves an operation half done. It stops the machine at each disk
// operation of Open and Apply, and then loses any combination of the disk operations that were not synced. The next
// Open must find the entries from before or after the call of Apply. If Apply had succeeded, Open must find the entries
// from after the call. The test also stops the machine during the recovery.
func TestStoreCrashAnywhere(t *testing.T) {
	testenv.SkipInShortMode(t)
	start := vfs.NewMem()
	s := openOn(t, start, Options{})
	mustApply(
		t,
		s,
		oxbow.Add{Name: "change", Content: "before", Created: noon},
		oxbow.Add{Name: "go", Content: "g", Created: noon},
		oxbow.Add{Name: "1", Kind: oxbow.Journal, Content: "one"},
	)
	old := problemsOf(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		start  *vfs.Mem
		ops    []oxbow.Op
		images int // minimum number of states of the disk
	}{
		{"several files", start, []oxbow.Op{oxbow.Update{Name: "change", Content: "after"}, oxbow.Remove{Name: "go"},
			oxbow.Add{Name: "come", Content: "c", Created: noon},
			oxbow.Add{Name: "2", Kind: oxbow.Journal, Content: "two"}}, 200},
		{
			"several files of a new tree",
			vfs.NewMem(),
			[]oxbow.Op{
				oxbow.Add{Name: "a", Content: "a", Created: noon},
				oxbow.Add{Name: "1", Kind: oxbow.Journal, Content: "one"},
			},
			100,
		},
		{"one file", start, []oxbow.Op{oxbow.Update{Name: "change", Content: "after"}}, 10},
		{"one file of a new tree", vfs.NewMem(), []oxbow.Op{oxbow.Add{Name: "a", Content: "a", Created: noon}}, 10},
		{"one file that goes", start, []oxbow.Op{oxbow.Remove{Name: "go"}}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			oldWant := old
			if tt.start != start {
				oldWant = nil
			}
			clean := openOn(t, tt.start.Clone(), Options{})
			mustApply(t, clean, tt.ops...)
			newWant := problemsOf(t, clean)

			images := 0
			sawOld := 0
			sawNew := 0
			// check checks a state of the disk after a crash, and continues to use the tree.
			check := func(img *vfs.Mem, where string, done bool) {
				images++
				reader := openOn(t, img.Clone(), Options{ReadOnly: true, LockWait: time.Nanosecond})
				for i, s := range []*Store{reader, openOn(t, img, Options{})} {
					switch got := problemsOf(t, s); {
					case slices.Equal(got, newWant):
						sawNew++
					case !done && slices.Equal(got, oldWant):
						sawOld++
					default:
						t.Fatalf(
							"%s, store %d: %q, want the tree before %q or after %q",
							where,
							i,
							got,
							oldWant,
							newWant,
						)
					}
					if i == 1 {
						mustApply(t, s, oxbow.Add{Name: "more", Content: "m"})
						if rep, err := s.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
							t.Fatalf("%s: Check() = %v, %v", where, rep.Problems, err)
						}
						for _, n := range img.Names() {
							if isTemp(n) || n == storeStageDir {
								t.Fatalf("%s: %s was left", where, n)
							}
						}
					}
				}
			}
			for stop := 1; ; stop++ {
				disk := crashfs.New(tt.start)
				disk.StopAt(stop)
				s, err := Open(t.Context(), disk.StartProcess(), cards{}, Options{})
				done := false
				if err == nil {
					err = s.Apply(t.Context(), tt.ops...)
					done = err == nil
				}
				if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
					t.Fatalf("stop at %d: %v", stop, err)
				}
				for img, label := range disk.EachCrashFileSystem {
					check(img, fmt.Sprintf("crash at %d, %s", stop, label), done)
				}
				// The recovery crashes as well.
				for again := 1; again < 40; again += 3 {
					second := crashfs.New(disk.CopyLiveFiles())
					second.StopAt(again)
					s, err := Open(t.Context(), second.StartProcess(), cards{}, Options{})
					if err == nil {
						err = s.Apply(t.Context(), oxbow.Add{Name: "x", Content: "x"}, oxbow.Remove{Name: "x"})
					}
					n := 0
					for img, label := range second.EachCrashFileSystem {
						check(img, fmt.Sprintf("crash at %d, then at %d, %s", stop, again, label), done)
						n++
						if n == 4 {
							break
						}
					}
					if err == nil {
						break
					}
				}
				if done {
					break
				}
			}
			if images < tt.images || sawOld == 0 || sawNew == 0 {
				t.Errorf(
					"%d images, the tree before seen %d times, after %d times: the test looks at too little",
					images,
					sawOld,
					sawNew,
				)
			}
		})
	}
}

// TestFailAnywhere lets each file operation of a change fail, in turn. If done is false, the operation has no effect.
// If done is true, the operation is executed but still returns an error. If Apply fails, the tree must be as it was
// before the change. The tree may contain the change only if the error is ErrUnknownOutcome. In both cases, the store
// must still be usable afterwards.
func TestFailAnywhere(t *testing.T) {
	broken := errors.New("broken")
	for _, done := range []bool{false, true} {
		struck, reported := 0, 0
		for n := 1; n < 50; n++ {
			disk := crashfs.New(nil)
			s := openOn(t, disk.StartProcess(), Options{})
			mustApply(
				t,
				s,
				oxbow.Add{Name: "change", Content: "before", Created: noon},
				oxbow.Add{Name: "go", Content: "g", Created: noon},
			)
			old := problemsOf(t, s)
			disk.Inject(crashfs.OpFault{FirstOpNumber: disk.CountOps() + n, Err: broken, Done: done})
			err := s.Apply(t.Context(), oxbow.Update{Name: "change", Content: "after"}, oxbow.Remove{Name: "go"},
				oxbow.Add{Name: "1", Kind: oxbow.Journal, Content: "one"})
			disk.Mend()
			got := problemsOf(t, s)
			changed := !slices.Equal(got, old)
			switch {
			case err == nil:
				if !changed {
					t.Errorf("fault %v %d: a change that was acknowledged is not there", done, n)
				}
				continue
			case !errors.Is(err, broken):
				t.Errorf("fault %v %d: Apply() = %v", done, n, err)
			case changed && !errors.Is(err, oxbow.ErrUnknownOutcome):
				t.Errorf("fault %v %d: Apply() = %v, and the tree is %q", done, n, err, got)
			}
			struck++
			if errors.Is(err, oxbow.ErrUnknownOutcome) {
				reported++
			}
			mustApply(t, s, oxbow.Add{Name: "more", Content: "m"})
			if !slices.Equal(problemsOf(t, openOn(t, disk.StartProcess(), Options{})), problemsOf(t, s)) {
				t.Errorf("fault %v %d: another store sees another tree", done, n)
			}
		}
		if struck < 15 || reported < 5 {
			t.Errorf(
				"fault %v struck %d times, %d times nobody knew: the test looks at too little",
				done,
				struck,
				reported,
			)
		}
	}
}

// TestStrangeJournal checks journals that an attacker has put into the tree. Open must refuse a journal that is
// damaged, that has an unknown version, or that names a file which no change may write. Open must leave the refused
// journal unchanged.
func TestStrangeJournal(t *testing.T) {
	for _, tt := range []struct {
		journal string
		want    error
	}{
		{`{"version":1,"write":[{"path":"../out.md"}]}`, oxbow.ErrCorrupt},
		{`{"version":1,"write":[{"path":"/etc/x"}]}`, oxbow.ErrCorrupt},
		{`{"version":1,"write":[{"path":".git/config"}]}`, oxbow.ErrCorrupt},
		{`{"version":1,"remove":[{"path":".oxbow-tree.lock"}]}`, oxbow.ErrCorrupt},
		{`{"version":1,"remove":[{"path":"."}]}`, oxbow.ErrCorrupt},
		{`{"version":3}`, oxbow.ErrVersion},
		{`{"version":1`, oxbow.ErrCorrupt},
	} {
		m := vfs.NewMem()
		for name, text := range map[string]string{"/commit.json": tt.journal, "/0": "evil"} {
			if err := m.MkdirAll(storeStageDir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := vfs.WriteFile(m, storeStageDir+name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(t.Context(), m, cards{}, Options{}); !errors.Is(err, tt.want) {
			t.Errorf("Open() with journal %s = %v, want %v", tt.journal, err, tt.want)
		}
		if got, err := vfs.ReadFile(m, storeStageDir+"/commit.json", -1); err != nil || string(got) != tt.journal {
			t.Errorf("journal %s is %q, %v", tt.journal, got, err)
		}
		if names := m.Names(); len(names) > 4 {
			t.Errorf("journal %s left %q", tt.journal, names)
		}
	}
}

// TestCrashUnderDirectoryOfOthers checks that the first write into a directory syncs the directory if another process
// created it. Otherwise, a crash could lose a file whose write was acknowledged.
func TestCrashUnderDirectoryOfOthers(t *testing.T) {
	for _, op := range []oxbow.Op{
		oxbow.Add{Name: "a", Content: "kept", Created: noon},
		oxbow.Add{Name: "1", Kind: oxbow.Journal, Content: "kept"},
	} {
		disk := crashfs.New(nil)
		for _, dir := range (cards{}).Dirs() {
			if err := disk.StartProcess().MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s := openOn(t, disk.StartProcess(), Options{})
		mustApply(t, s, op)
		want := problemsOf(t, s)
		images := 0
		for img, label := range disk.EachCrashFileSystem {
			images++
			after := openOn(t, img, Options{})
			if got := problemsOf(t, after); !slices.Equal(got, want) {
				t.Errorf("%s: the tree holds %q, want %q", label, got, want)
			}
			mustBeSound(t, after)
		}
		if images == 0 {
			t.Error("no disk was looked at")
		}
		mustBeSound(t, s)
	}
}

func mustBeSound(t *testing.T, s *Store) {
	t.Helper()
	rep, err := s.Check(t.Context())
	if err != nil || len(rep.Problems) > 0 {
		t.Errorf("Check() = %+v, %v", rep.Problems, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestCrashWithoutJournal stops a store without a journal at each operation of a change. Afterwards the tree must
// contain the whole change or nothing of the change. The next store can write. It deletes the leftover files as soon as
// they are stale. A store without a journal refuses a change of two files with ErrUnsupported.
func TestCrashWithoutJournal(t *testing.T) {
	start := vfs.NewMem()
	s := openOn(t, start, Options{NoJournal: true})
	mustApply(t, s, oxbow.Add{Name: "change", Content: "before", Created: noon})
	mustApply(t, s, oxbow.Add{Name: "go", Content: "g", Created: noon})
	for _, op := range []oxbow.Op{
		oxbow.Add{Name: "come", Content: "c", Created: noon},
		oxbow.Update{Name: "change", Content: "after"},
		oxbow.Remove{Name: "go"},
	} {
		clean := openOn(t, start.Clone(), Options{NoJournal: true})
		before := problemsOf(t, clean)
		mustApply(t, clean, op)
		after := problemsOf(t, clean)
		seen := map[bool]int{}
		for stop, done := 1, false; !done; stop++ {
			disk := crashfs.New(start)
			disk.StopAt(stop)
			s, err := Open(t.Context(), disk.StartProcess(), cards{}, Options{NoJournal: true})
			if err == nil {
				err = s.Apply(t.Context(), op)
			}
			done = err == nil
			for img, label := range disk.EachCrashFileSystem {
				late := func() time.Time { return time.Now().Add(2 * vfs.StaleAfter) }
				s := openOn(t, img, Options{NoJournal: true, Clock: late})
				got := problemsOf(t, s)
				hasChange := slices.Equal(got, after)
				seen[hasChange]++
				isBefore := slices.Equal(got, before)
				if !hasChange && (done || !isBefore) {
					t.Fatalf("%T, crash at %d, %s: %q, want %q or %q", op, stop, label, got, before, after)
				}
				mustApply(t, s, oxbow.Add{Name: "more", Content: "m"})
				if rep, err := s.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
					t.Fatalf("%T, crash at %d, %s: Check() = %v, %v", op, stop, label, rep.Problems, err)
				}
				for _, n := range img.Names() {
					if isTemp(n) || strings.HasPrefix(n, storeStageDir) {
						t.Fatalf("%T, crash at %d, %s: %s was left", op, stop, label, n)
					}
				}
			}
		}
		if seen[false] == 0 || seen[true] == 0 {
			t.Errorf("%T: the trees before and after were seen %v times: the test looks at too little", op, seen)
		}
	}
	err := s.Apply(t.Context(), oxbow.Remove{Name: "go"}, oxbow.Remove{Name: "change"})
	if !errors.Is(err, oxbow.ErrUnsupported) || len(problemsOf(t, s)) != 2 {
		t.Errorf("Apply() of two files = %v, want %v and no change", err, oxbow.ErrUnsupported)
	}
}
