// This file tests how annotations are archived, restored and counted.

package annotate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// summary returns the reasoning of the annotations that were archived and restored.
func (r GCReport) summary() string {
	var a, b []string
	for _, s := range r.Archived {
		a = append(a, s.Why)
	}
	for _, s := range r.Restored {
		b = append(b, s.Why)
	}
	return "archived " + strings.Join(a, " ") + "; returned " + strings.Join(b, " ")
}

func gc(t *testing.T, b *Store, want string) GCReport {
	t.Helper()
	dry, err := b.GC(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.GC(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if r.summary() != want || dry.summary() != want || dry.GCRunName != "" {
		t.Errorf("GC: %s; dry run: %s; want %s", r.summary(), dry.summary(), want)
	}
	again, err := b.GC(t.Context(), false)
	if err != nil || again.summary() != "archived ; returned " || again.GCRunName != "" {
		t.Errorf("GC again: %s, %v, want nothing", again.summary(), err)
	}
	return r
}

// ticking makes the store's clock advance by a minute at each call.
func ticking(b *Store) {
	now := noon
	b.opts.Clock = func() time.Time { now = now.Add(time.Minute); return now }
}

func TestGC(t *testing.T) {
	m, b := tree(t, map[string]string{"pool.go": source, "other.go": numbered(9)})
	ticking(b)
	add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "timeout"})
	add(t, b, Record{File: "pool.go", Span: LineSpan{23, 26}, Why: "close"})
	add(t, b, Record{File: "other.go", Span: LineSpan{3, 4}, Why: "other"})
	gc(t, b, "archived ; returned ")

	// The lines are deleted. Their annotations are archived, and are not listed as lost.
	put(t, m, "pool.go", source[:strings.Index(source, "// Get")])
	before := get(t, m, ".oxbow/annotations/pool.go.why")
	r := gc(t, b, "archived timeout close; returned ")
	if r.ExaminedSidecars != 2 || r.ExaminedAnnotations != 3 || r.GCRunName == "" {
		t.Errorf("GC reports %+v, want 2 files, 3 annotations and a name", r)
	}
	if after := get(t, m, ".oxbow/annotations/pool.go.why"); !strings.HasPrefix(after, before) {
		t.Error("gc did more than append")
	}
	if found, err := b.Lookup(t.Context(), "pool.go", LineSpan{}); err != nil || len(found) != 0 {
		t.Errorf("Lookup finds %d, %v, want none of the archived", len(found), err)
	}
	if hits, err := b.Search(t.Context(), oxbow.Query{Text: "timeout"}); err != nil || len(hits) != 1 ||
		!hits[0].Archived {
		t.Errorf("Search = %+v, %v, want the archived one", hits, err)
	}
	st, err := b.Stats(t.Context())
	if err != nil || st.Annotations != 3 || st.ArchivedCount != 2 || st.CountByPlacement[PlacedExactly] != 1 ||
		st.CountByPlacement[NotPlaced] != 0 ||
		st.AnnotatedFiles != 2 {
		t.Errorf("Stats = %+v, %v", st, err)
	}
	if !st.OldestTime.Before(st.MedianTime) || !st.MedianTime.Before(st.NewestTime) || st.SidecarBytes == 0 {
		t.Errorf("Stats says times %v, %v, %v, %d bytes", st.OldestTime, st.MedianTime, st.NewestTime, st.SidecarBytes)
	}

	// The lines of one annotation come back at a different place, so the annotation is restored.
	put(t, m, "pool.go", "// new\n"+source[:strings.Index(source, "// Close")])
	gc(t, b, "archived ; returned timeout")
	checkFound(t, whole(t, b, "pool.go"), PlacedAfterMove, LineSpan{15, 20})
}

func TestUndoGC(t *testing.T) {
	m, b := tree(t, map[string]string{"pool.go": source})
	ticking(b)
	undo := func(want string) {
		t.Helper()
		dry, err := b.UndoGC(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.UndoGC(t.Context(), false)
		if err != nil || r.summary() != want || dry.summary() != want {
			t.Errorf("UndoGC: %s, %v; dry run: %s; want %s", r.summary(), err, dry.summary(), want)
		}
	}
	undo("archived ; returned ")
	one := add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "timeout"})
	add(t, b, Record{File: "pool.go", Span: LineSpan{23, 26}, Why: "close"})
	put(t, m, "pool.go", source[:strings.Index(source, "// Close")])
	gc(t, b, "archived close; returned ")
	put(t, m, "pool.go", "")
	gc(t, b, "archived timeout; returned ")
	undo("archived ; returned timeout")
	undo("archived ; returned close")
	undo("archived ; returned ")
	if st, err := b.Stats(t.Context()); err != nil || st.CountByPlacement[NotPlaced] != 2 || st.ArchivedCount != 0 {
		t.Errorf("Stats after undo = %+v, %v, want 2 lost, none archived", st, err)
	}

	// UndoGC must not undo changes that were made after the GC run. The annotation "timeout" was added again after the
	// run, so that UndoGC returns only "close".
	gc(t, b, "archived timeout close; returned ")
	put(t, m, "pool.go", source)
	add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "timeout"})
	undo("archived ; returned close")
	rs, err := b.ReadRecords(t.Context(), "pool.go")
	if err != nil || len(rs) != 2 || rs[0].ID != one.ID || rs[0].Archived || rs[1].Archived {
		t.Errorf("Records = %+v, %v", rs, err)
	}
}

// TestUndoGCStepByStep undoes several runs of GC, one after the other, in which an annotation was archived and
// restored.
func TestUndoGCStepByStep(t *testing.T) {
	m, b := tree(t, map[string]string{"pool.go": source})
	ticking(b)
	add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "timeout"})
	put(t, m, "pool.go", "")
	gc(t, b, "archived timeout; returned ")
	put(t, m, "pool.go", source)
	gc(t, b, "archived ; returned timeout")
	put(t, m, "pool.go", "")
	gc(t, b, "archived timeout; returned ")
	for i, want := range []string{
		"archived ; returned timeout",
		"archived timeout; returned ",
		"archived ; returned timeout",
		"archived ; returned ",
	} {
		if r, err := b.UndoGC(t.Context(), false); err != nil || r.summary() != want {
			t.Errorf("undo %d: %s, %v; want %s", i, r.summary(), err, want)
		}
	}
	// A run that leaves nothing to undo must not prevent undoing the runs before it.
	other := add(
		t,
		b,
		Record{File: "pool.txt", Block: []string{"of a file that never was"}, Span: LineSpan{1, 1}, Why: "other"},
	)
	gc(t, b, "archived timeout other; returned ")
	put(t, m, "pool.go", source)
	gc(t, b, "archived ; returned timeout")
	put(t, m, "pool.go", "")
	gc(t, b, "archived timeout; returned ")
	put(t, m, "pool.go", source)
	add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "timeout"})
	if r, err := b.UndoGC(t.Context(), false); err != nil || r.summary() != "archived ; returned other" {
		t.Errorf("undo past runs that nothing is left of: %s, %v; want %s returned", r.summary(), err, other.Why)
	}
	if r, err := b.CheckSidecars(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %+v, %v", r, err)
	}
}

// TestGCWithAClockThatWentBack tests that a new event of an annotation (archived or returned) takes effect even if the
// clock was set back by an hour since the last event. The latest time determines the state of the annotation. Therefore
// the new event must get a later time than the last event.
func TestGCWithAClockThatWentBack(t *testing.T) {
	m, b := tree(t, map[string]string{"pool.go": source})
	ticking(b)
	add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "timeout"})
	put(t, m, "pool.go", "")
	gc(t, b, "archived timeout; returned ")
	b.opts.Clock = func() time.Time { return noon.Add(-time.Hour) }
	put(t, m, "pool.go", source)
	gc(t, b, "archived ; returned timeout")
	put(t, m, "pool.go", "")
	gc(t, b, "archived timeout; returned ")
}

func TestGCByGit(t *testing.T) {
	g := newRepo(t)
	g.write(".git/info/exclude", ".oxbow\n") // keep the sidecars out of commits, so that all branches share them
	g.write("pool.go", source)
	g.write("b.go", numbered(30))
	g.commit()
	b := g.store()
	add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "timeout"})
	add(t, b, Record{File: "b.go", Span: LineSpan{9, 12}, Why: "numbers"})

	// The lines are deleted in the tree but still in HEAD, so the annotation is not archived yet.
	g.write("pool.go", "package pool\n")
	gc(t, b, "archived ; returned ")
	// The lines are only in the working tree, so the annotation is not archived either.
	g.commit()
	g.write("pool.go", source)
	gc(t, b, "archived ; returned ")
	g.write("pool.go", "package pool\n")
	gc(t, b, "archived timeout; returned ")
	// On a branch that has the lines, the annotation is restored.
	g.git("checkout", "-q", "HEAD~1")
	gc(t, b, "archived ; returned timeout")
	g.git("checkout", "-q", "main")
	gc(t, b, "archived timeout; returned ")

	// The file was renamed twice and still has the lines. Its sidecar has the first name.
	g.git("mv", "b.go", "c.go")
	g.commit()
	gc(t, b, "archived ; returned ")
	g.git("mv", "c.go", "d.go")
	g.write("d.go", "line 0\n"+numbered(30))
	g.commit()
	gc(t, b, "archived ; returned ")
	st, err := b.Stats(t.Context())
	if err != nil || st.CountByPlacement[PlacedByTracking] != 1 || st.ArchivedCount != 1 {
		t.Errorf("Stats = %+v, %v, want one tracked and one archived", st, err)
	}
	g.git("rm", "-q", "d.go")
	g.commit()
	gc(t, b, "archived numbers; returned ")
}

// TestGCInAShallowClone checks that GC skips a file if the clone's history is too short to show that the file was
// renamed.
func TestGCInAShallowClone(t *testing.T) {
	g := newRepo(t)
	g.write("pool.go", source)
	g.commit()
	b := g.store()
	add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "timeout"})
	g.git("mv", "pool.go", "conns.go")
	g.commit()
	gc(t, b, "archived ; returned ")
	clone := &repo{t, t.TempDir()}
	clone.git("clone", "-q", "--depth", "1", "file://"+g.dir, ".")
	c := clone.store()
	if r := gc(t, c, "archived ; returned "); len(r.SkippedFiles) != 1 || r.SkippedFiles[0].File != "pool.go" ||
		!errors.Is(r.SkippedFiles[0].Err, errShallowClone) {
		t.Errorf("skipped %v, want pool.go", r.SkippedFiles)
	}
	// Deletions within the clone's history are archived as usual.
	add(t, c, Record{File: "conns.go", Span: LineSpan{1, 3}, Why: "imports"})
	clone.git("rm", "-q", "conns.go")
	clone.commit()
	if r := gc(t, c, "archived imports; returned "); len(r.SkippedFiles) != 1 {
		t.Errorf("skipped %v, want pool.go", r.SkippedFiles)
	}
}

// TestGCWithoutAnAnswer checks that GC archives nothing if git fails.
func TestGCWithoutAnAnswer(t *testing.T) {
	g := newRepo(t)
	g.write("pool.go", source)
	g.commit()
	b := g.store()
	add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "timeout"})
	g.write("pool.go", "package pool\n")
	g.commit()
	if err := os.Rename(filepath.Join(g.dir, ".git", "objects"), filepath.Join(g.dir, ".git", "gone")); err != nil {
		t.Fatal(err)
	}
	if r, err := b.GC(t.Context(), false); err == nil {
		t.Errorf("GC without objects: %s, want an error", r.summary())
	}
	if rs, err := b.ReadRecords(t.Context(), "pool.go"); err != nil || len(rs) != 1 || rs[0].Archived {
		t.Errorf("Records = %+v, %v, want one that is not archived", rs, err)
	}
}

func TestGCSkipsWhatItCannotRead(t *testing.T) {
	m, b := tree(t, map[string]string{"a.txt": numbered(20), "b.txt": numbered(20)})
	ticking(b)
	add(t, b, Record{File: "a.txt", Span: LineSpan{3, 5}, Why: "a"})
	add(t, b, Record{File: "b.txt", Span: LineSpan{3, 5}, Why: "b"})
	put(t, m, "a.txt", "\x00")
	put(t, m, "b.txt", "")
	r := gc(t, b, "archived b; returned ")
	if len(r.SkippedFiles) != 1 || r.SkippedFiles[0].File != "a.txt" ||
		!strings.Contains(fmt.Sprint(r.SkippedFiles[0].Err), "binary") {
		t.Errorf("skipped %v, want a.txt, which is binary", r.SkippedFiles)
	}
	if errors.Is(r.SkippedFiles[0].Err, errUnknownContent) {
		t.Error("without git, there is no answer to miss")
	}
}

// TestGCFollowsARenameWithoutGit checks that an annotation is not archived if a lookup finds it under the file's new
// name.
func TestGCFollowsARenameWithoutGit(t *testing.T) {
	rename := func(content string) *Store {
		m, b := tree(t, map[string]string{"pool.txt": numbered(20), "other.go": source})
		ticking(b)
		add(t, b, Record{File: "pool.txt", Span: LineSpan{3, 3}, Why: "third"})
		if err := m.Remove("pool.txt"); err != nil {
			t.Fatal(err)
		}
		put(t, m, "in/conns.txt", content)
		return b
	}
	for content, want := range map[string]int{numbered(20): 1, "nothing of it\n": 0} {
		b := rename(content)
		if got := countFound(t, b, "in/conns.txt"); got != want {
			t.Errorf("%d are found under the new name, want %d", got, want)
		}
		st, err := b.Stats(t.Context())
		if err != nil || st.CountByPlacement[NotPlaced] != 1-want {
			t.Errorf("Stats = %+v, %v", st, err)
		}
		gc(t, b, []string{"archived third; returned ", "archived ; returned "}[want])
	}
	b := rename("nothing of it\n")
	for i := range maxSearchedTreeFiles {
		put(t, b.worktree, fmt.Sprintf("many/%d.txt", i), "")
	}
	if r := gc(t, b, "archived ; returned "); len(r.SkippedFiles) != 1 || r.SkippedFiles[0].File != "pool.txt" {
		t.Errorf("skipped %v, want pool.txt", r.SkippedFiles)
	}
}
