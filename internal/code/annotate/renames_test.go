// This file tests annotations of files that were renamed, split or deleted, with and without git.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// lineByLine adds an annotation to each line of the source that has at least four letters. It returns their number.
func lineByLine(t *testing.T, b *Store, file string) int {
	t.Helper()
	n := 0
	for i, l := range strings.Split(source, "\n") {
		if countLetters(l) >= 4 {
			add(t, b, Record{File: file, Span: LineSpan{i + 1, i + 1}, Why: fmt.Sprint("line ", i+1)})
			n++
		}
	}
	return n
}

// countFound returns the number of annotations that a lookup finds in the file.
func countFound(t *testing.T, b *Store, file string) int {
	t.Helper()
	all, err := b.Lookup(t.Context(), file, LineSpan{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range all {
		if f.Placement != NotPlaced && f.CurrentFile == file {
			n++
		}
	}
	return n
}

// TestRenameThatIsNotCommitted checks that annotations of single lines are found under the new name. A single line may
// be ambiguous, but the other annotations in the sidecar show that the file was renamed.
func TestRenameThatIsNotCommitted(t *testing.T) {
	g := newRepo(t)
	g.write("pool.go", source)
	g.commit()
	b := g.store()
	n := lineByLine(t, b, "pool.go")
	g.git("mv", "pool.go", "conns.go")
	if got := countFound(t, b, "conns.go"); got != n {
		t.Errorf("%d of %d are found before the rename is committed", got, n)
	}
	g.write("conns.go", "// Package conns is new.\n"+strings.Replace(source, "30 *", "60 *", 1))
	if got := countFound(t, b, "conns.go"); got < n-1 {
		t.Errorf("%d of %d are found after a change", got, n)
	}
	g.write("other.go", numbered(40))
	if got := countFound(t, b, "other.go"); got != 0 {
		t.Errorf("%d are found in a file that is another", got)
	}
}

func TestRenameWithoutGit(t *testing.T) {
	m, b := tree(t, map[string]string{"pool.go": source})
	n := lineByLine(t, b, "pool.go")
	if err := m.Remove("pool.go"); err != nil {
		t.Fatal(err)
	}
	put(t, m, "conns.go", "// Package conns is new.\n"+strings.Replace(source, "30 *", "60 *", 1))
	if got := countFound(t, b, "conns.go"); got < n-1 {
		t.Errorf("%d of %d are found", got, n)
	}
}

// TestOldNameSaysWhereTheLinesAre checks lookups after a file was renamed. Under the old name and under the new name,
// Lookup must return the same annotations: one annotation with its lines in the new file, and one annotation that has
// no place because its lines were deleted.
func TestOldNameSaysWhereTheLinesAre(t *testing.T) {
	g := newRepo(t)
	g.write("pool.go", source)
	g.commit()
	b := g.store()
	kept := add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "kept"})
	gone := add(t, b, Record{File: "pool.go", Span: LineSpan{23, 26}, Why: "gone"})
	g.git("mv", "pool.go", "conns.go")
	g.write("conns.go", source[:strings.Index(source, "// Close")])
	g.commit()
	for _, file := range []string{"pool.go", "conns.go"} {
		found, err := b.Lookup(t.Context(), file, LineSpan{})
		if err != nil || len(found) != 2 || found[0].ID != kept.ID || found[1].ID != gone.ID {
			t.Fatalf("Lookup(%s) = %+v, %v, want kept and gone", file, found, err)
		}
		if f := found[0]; f.CurrentFile != "conns.go" || f.CurrentSpan != selectSpan || f.Placement == NotPlaced {
			t.Errorf("Lookup(%s): kept is %s in %s at %s", file, f.Placement, f.CurrentFile, f.CurrentSpan)
		}
		if found[1].Placement != NotPlaced {
			t.Errorf("Lookup(%s): gone is %s", file, found[1].Placement)
		}
	}
}

// TestSplitFile checks lines that a later commit moved to another file. They are found there, and are not archived.
func TestSplitFile(t *testing.T) {
	g := newRepo(t)
	g.write("pool.go", source)
	g.commit()
	b := g.store()
	add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "timeout"})
	from := strings.Index(source, "// Get")
	to := strings.Index(source, "// Close")
	g.write("pool.go", source[:from]+source[to:])
	g.write("get.go", "package pool\n\n"+source[from:to])
	g.commit()
	f := whole(t, b, "pool.go")
	if f.CurrentFile != "get.go" || f.Placement != PlacedAfterMove || f.CurrentSpan != (LineSpan{5, 10}) {
		t.Errorf(
			"the block is %s in %s at %s (%s), want moved to get.go:5-10",
			f.Placement,
			f.CurrentFile,
			f.CurrentSpan,
			f.Explanation,
		)
	}
	if in, err := b.Lookup(t.Context(), "pool.go", LineSpan{5, 10}); err != nil || len(in) != 0 {
		t.Errorf("Lookup of these lines of the old file = %v, %v", in, err)
	}
	gc(t, b, "archived ; returned ")
}

// TestGitThatDoesNotAnswer tests lookups if git cannot read the whole history, because the clone is shallow or its
// objects are missing. The lookups must return the annotations that can be found by their text, together with a
// PartialLookupError. The error for a renamed file must contain the old name, because the old file was deleted.
func TestGitThatDoesNotAnswer(t *testing.T) {
	g := newRepo(t)
	g.write("pool.go", source)
	g.write("stays.go", numbered(30))
	g.commit()
	b := g.store()
	add(t, b, Record{File: "pool.go", Span: LineSpan{9, 9}, Why: "a brace"})
	add(t, b, Record{File: "stays.go", Span: LineSpan{9, 12}, Why: "stays"})
	g.git("mv", "pool.go", "conns.go")
	g.write("conns.go", numbered(5)+source[strings.Index(source, "// Get"):])
	g.commit()

	check := func(t *testing.T, b *Store) {
		t.Helper()
		found, err := b.Lookup(t.Context(), "conns.go", LineSpan{})
		var partial *PartialLookupError
		if !errors.As(err, &partial) || !slices.Contains(partial.DeletedSourceFiles, "pool.go") {
			t.Errorf("Lookup(conns.go) = %v, %v, want a PartialError that names pool.go", found, err)
		}
	}
	t.Run("shallow", func(t *testing.T) {
		clone := &repo{t, t.TempDir()}
		clone.git("clone", "-q", "--depth", "1", "file://"+g.dir, ".")
		c := clone.store()
		check(t, c)
		found, err := c.Lookup(t.Context(), "stays.go", LineSpan{})
		if err != nil || len(found) != 1 || found[0].Placement != PlacedExactly {
			t.Errorf("Lookup(stays.go) = %+v, %v", found, err)
		}
	})
	t.Run("objects are missing", func(t *testing.T) {
		clone := &repo{t, t.TempDir()}
		clone.git("clone", "-q", "file://"+g.dir, ".")
		c := clone.store()
		if err := os.RemoveAll(filepath.Join(clone.dir, ".git", "objects")); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(clone.dir, ".git", "objects"), 0o700); err != nil {
			t.Fatal(err)
		}
		check(t, c)
		found, err := c.Lookup(t.Context(), "stays.go", LineSpan{9, 12})
		var partial *PartialLookupError
		if !errors.As(err, &partial) || len(found) != 1 {
			t.Errorf("Lookup(stays.go) = %+v, %v, want the annotation and a PartialError", found, err)
		}
		lines, err := c.Blame(t.Context(), "stays.go")
		if !errors.As(err, &partial) || len(lines) != 30 || len(lines[8].Annotations) != 1 {
			t.Errorf("Blame(stays.go) = %d lines, %v, want all with a PartialError", len(lines), err)
		}
	})
}

// TestCopyAmongManySidecars checks that the annotations of a copied file are found even if there are so many sidecars
// that the sidecar of the original is not examined.
func TestCopyAmongManySidecars(t *testing.T) {
	g := newRepo(t)
	g.write("pool.go", source)
	g.commit()
	add(t, g.store(), Record{File: "pool.go", Span: selectSpan, Why: "one"})
	for i := range maxSourceFileSidecars {
		g.write(fmt.Sprintf("%s/a%d.go.why", DefaultDir, i), "")
	}
	g.write("copy.go", "// copied\n"+source)
	g.git("add", "copy.go")
	g.commit()
	if fs, err := g.store().Lookup(t.Context(), "copy.go", LineSpan{}); err != nil || len(fs) != 1 {
		t.Errorf("Lookup = %d found, %v, want 1", len(fs), err)
	}
}

// namesAsked is a History that counts the calls of FormerNames.
type namesAsked struct {
	GitHistory
	n int
}

func (h *namesAsked) FormerNames(ctx context.Context, file string, others []string) ([]string, error) {
	h.n++
	return h.GitHistory.FormerNames(ctx, file, others)
}

// TestNamesAreAskedForOtherFiles checks that git is asked for a file's former names only if they may matter. They
// matter if a deleted file has annotations, or if the file contains annotated lines of another file.
func TestNamesAreAskedForOtherFiles(t *testing.T) {
	g := newRepo(t)
	g.write("pool.go", source)
	g.commit()
	add(t, g.store(), Record{File: "pool.go", Span: selectSpan, Why: "one"})
	repo, err := git.FindRepo(g.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := &namesAsked{GitHistory: repo}
	lookup := func(file string, found, asked int) {
		t.Helper()
		b, err := OpenDir(t.Context(), g.dir, &Options{History: h})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		fs, err := b.Lookup(t.Context(), file, LineSpan{})
		if err != nil || len(fs) != found || h.n != asked {
			t.Errorf(
				"Lookup(%s) = %d found, %v, names asked %d times; want %d, %d times",
				file,
				len(fs),
				err,
				h.n,
				found,
				asked,
			)
		}
	}
	lookup("pool.go", 1, 0)
	g.write("other.go", "package pool\n\nvar errorOfAnotherKind = errors.New(\"of another kind\")\n")
	add(t, g.store(), Record{File: "other.go", Span: LineSpan{3, 3}, Why: "other"})
	lookup("pool.go", 1, 0)
	g.write("copy.go", "// copied\n"+source)
	g.commit()
	lookup("copy.go", 1, 1)
	g.git("mv", "pool.go", "conns.go")
	g.commit()
	lookup("conns.go", 1, 2)
	add(t, g.store(), Record{File: "conns.go", Span: LineSpan{1, 1}, Why: "two"})
	lookup("conns.go", 2, 3)
}
