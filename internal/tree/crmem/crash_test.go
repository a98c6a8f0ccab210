// This file lets the store crash at each of its file operations, and checks every state of the disk that the crash may
// leave. It also lets each operation fail.

package crmem

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// steps are the changes that a test makes one after another, and the entries after each change.
var steps = []struct {
	ops  []oxbow.Op
	want string
}{
	{[]oxbow.Op{oxbow.Add{Name: "a", Content: "1"}}, "a=1"},
	{[]oxbow.Op{oxbow.Add{Name: "b", Content: "2", Kind: oxbow.Archive}}, "a=1 b=2"},
	{[]oxbow.Op{oxbow.Update{Name: "a", Content: "3"}, oxbow.Remove{Name: "b"}}, "a=3"},
	{[]oxbow.Op{oxbow.Add{Name: "c", Content: "4"}}, "a=3 c=4"},
}

func holds(t *testing.T, s *Store) string {
	t.Helper()
	var es []string
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		es = append(es, e.Name+"="+e.Content)
	}
	return strings.Join(es, " ")
}

// TestCrashAnywhere checks that after a crash, the store contains all changes that were acknowledged. The change that
// was interrupted must be applied either completely or not at all.
func TestCrashAnywhere(t *testing.T) {
	testenv.SkipInShortMode(t)
	images := 0
	for at, done := 1, false; !done; at++ {
		disk := crashfs.New(nil)
		disk.StopAt(at)
		s, err := Open("home/memory.db", &oxbow.Options{FS: disk.StartProcess()})
		if err != nil {
			t.Fatal(err)
		}
		acked := 0
		for _, st := range steps {
			if s.Apply(t.Context(), st.ops...) != nil {
				break
			}
			acked++
		}
		done = acked == len(steps)
		if !done && !disk.HasCrashed() {
			t.Fatalf("crash at %d: an error without a crash", at)
		}
		may := []string{""}
		if acked > 0 {
			may = []string{steps[acked-1].want}
		}
		if !done {
			may = append(may, steps[acked].want)
		}
		for img, label := range disk.EachCrashFileSystem {
			images++
			again, err := Open("home/memory.db", &oxbow.Options{FS: img})
			if err != nil {
				t.Fatalf("crash at %d, %s: %v", at, label, err)
			}
			if got := holds(t, again); !slices.Contains(may, got) {
				t.Fatalf("crash at %d, %s: the store holds %q, want one of %q", at, label, got, may)
			}
			if err := again.Apply(t.Context(), oxbow.Add{Name: "after", Content: "x"}); err != nil {
				t.Fatalf("crash at %d, %s: %v", at, label, err)
			}
			checkStore(t, again) // checks that the temporary files of the crash were removed, too
			_ = again.Close()
		}
	}
	if images < 100 {
		t.Errorf("only %d disks were looked at", images)
	}
}

// TestFaults tests a change during which one file operation fails. If Apply succeeds, the store must have the new
// entry. If Apply fails, the store must have only the previous entries, except with ErrUnknownOutcome. A second store
// of the same file must always see the same entries as the first. The next change must succeed and be durable.
func TestFaults(t *testing.T) {
	start := vfs.NewMem()
	s := open(t, start)
	add(t, s, "a", "1")
	for _, fault := range []crashfs.OpFault{
		{Err: syscall.EIO},
		{Err: syscall.ENOSPC, WrittenBytes: 5},
		{Err: syscall.EIO, Done: true},
	} {
		for at, struck := 1, true; struck; at++ {
			disk := crashfs.New(start)
			fault.FirstOpNumber = at
			disk.Inject(fault)
			fsys := disk.StartProcess()
			s, err := Open("memory.db", &oxbow.Options{FS: fsys})
			if err != nil {
				t.Fatal(err)
			}
			err = s.Apply(t.Context(), oxbow.Add{Name: "b", Content: "2"})
			struck = slices.ContainsFunc(disk.Log(), func(o crashfs.Op) bool { return o.Err != nil })
			got := holds(t, s)
			switch {
			case err == nil && got != "a=1 b=2":
				t.Errorf("%v at %d: acknowledged, and the store holds %q", fault.Err, at, got)
			case err != nil && !errors.Is(err, oxbow.ErrUnknownOutcome) && got != "a=1":
				t.Errorf("%v at %d: %v, and the store holds %q: it runs ahead of the file", fault.Err, at, err, got)
			}
			other := open(t, fsys)
			if seen := holds(t, other); seen != got {
				t.Errorf("%v at %d: the store holds %q, another one sees %q", fault.Err, at, got, seen)
			}
			disk.Mend()
			if err := s.Apply(t.Context(), oxbow.Add{Name: "c", Content: "3"}); err != nil {
				t.Errorf("%v at %d: the next change: %v", fault.Err, at, err)
			}
			want := got + " c=3"
			if seen := holds(t, other); seen != want {
				t.Errorf("%v at %d: another store sees %q, want %q", fault.Err, at, seen, want)
			}
			disk.Stop()
			for img, label := range disk.EachCrashFileSystem {
				if got := holds(t, open(t, img)); got != want {
					t.Errorf("%v at %d, then a crash, %s: the store holds %q, want %q", fault.Err, at, label, got, want)
				}
			}
		}
	}
}
