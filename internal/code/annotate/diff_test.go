// This file tests which annotations a change touches.

package annotate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// touched calls Diff with the options o and returns a description of its result. For each annotation that the change
// touches, the description contains the reasoning (Why), the old file and lines, and how the annotation was placed. It
// contains the reasoning, file and lines of each added annotation after a "+", and the name of each skipped file.
func touched(t *testing.T, b *Store, o DiffOptions) string {
	t.Helper()
	d, err := b.Diff(t.Context(), o)
	if err != nil {
		t.Fatalf("Diff(%+v): %v", o, err)
	}
	var all []string
	for _, x := range d.TouchedAnnotations {
		all = append(all, fmt.Sprintf("%s %s:%s %s", x.Why, x.OldFile, x.OldSpan, x.Placement))
	}
	for _, f := range d.AddedAnnotations {
		all = append(all, fmt.Sprintf("+%s %s:%s", f.Why, f.CurrentFile, f.CurrentSpan))
	}
	for _, s := range d.SkippedFiles {
		all = append(all, "skipped "+s.File)
	}
	return strings.Join(all, ", ")
}

// lettered returns a text of n different lines.
func lettered(n int) []string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("line %d of the text, which says %c", i+1, 'a'+rune(i%26)))
	}
	return lines
}

// TestDiff makes various changes to a file of 20 lines, in which lines 5 to 8 have the annotation w.
func TestDiff(t *testing.T) {
	text := func(lines []string) string { return strings.Join(lines, "\n") + "\n" }
	old := lettered(20)
	for _, c := range []struct {
		name, want string
		change     func(g *repo, lines []string)
	}{
		{"nothing", "", func(*repo, []string) {}},
		{"a line above", "", func(g *repo, l []string) { g.write("a.go", text(slices.Insert(l, 0, "new"))) }},
		{"the line before", "", func(g *repo, l []string) { l[3] = "changed"; g.write("a.go", text(l)) }},
		{"a line right above", "", func(g *repo, l []string) { g.write("a.go", text(slices.Insert(l, 4, "new"))) }},
		{"a line right below", "", func(g *repo, l []string) { g.write("a.go", text(slices.Insert(l, 8, "new"))) }},
		{"a line of it", "w a.go:5-8 edited", func(g *repo, l []string) { l[5] = "changed"; g.write("a.go", text(l)) }},
		{"a line between", "w a.go:5-8 edited", func(g *repo, l []string) {
			g.write("a.go", text(slices.Insert(l, 6, "new")))
		}},
		{"its last line goes", "w a.go:5-8 edited", func(g *repo, l []string) {
			g.write("a.go", text(slices.Delete(l, 7, 8)))
		}},
		{"all of it goes", "w a.go:5-8 lost", func(g *repo, l []string) {
			g.write("a.go", text(slices.Delete(l, 4, 8)))
		}},
		{"it moves", "w a.go:5-8 moved", func(g *repo, l []string) {
			g.write("a.go", text(slices.Concat(l[:4], l[8:18], l[4:8], l[18:])))
		}},
		{"indents", "w a.go:5-8 edited", func(g *repo, l []string) { l[5] = "\t" + l[5]; g.write("a.go", text(l)) }},
		{"line ends", "", func(g *repo, l []string) { g.write("a.go", strings.Join(l, "\r\n")+"\r\n") }},
		{"the file goes", "w a.go:5-8 lost", func(g *repo, _ []string) { g.git("rm", "-q", "a.go") }},
		{"it becomes binary", "w a.go:5-8 lost", func(g *repo, l []string) { g.write("a.go", "\x00"+text(l)) }},
		{"a rename", "", func(g *repo, _ []string) { g.git("mv", "a.go", "b.go") }},
		{"a rename and a change elsewhere", "", func(g *repo, l []string) {
			g.git("mv", "a.go", "b.go")
			l[15] = "changed"
			g.write("b.go", text(l))
		}},
		{"a rename and a change", "w a.go:5-8 edited", func(g *repo, l []string) {
			g.git("mv", "a.go", "b.go")
			l[6] = "changed"
			g.write("b.go", text(l))
		}},
		{"a new file in its place", "w a.go:5-8 lost", func(g *repo, _ []string) {
			g.write("a.go", "quite\nanother\nfile\n")
		}},
		{"a binary file", "", func(g *repo, _ []string) { g.write("image", "\x00\x01") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRepo(t)
			g.write("a.go", text(old))
			g.write("image", "\x00")
			g.commit()
			b := g.store()
			add(t, b, Record{File: "a.go", Span: LineSpan{5, 8}, Why: "w"})
			add(t, b, Record{File: "a.go", Span: LineSpan{18, 18}, Why: "other"})
			g.commit()
			c.change(g, slices.Clone(old))
			want := []string{c.want}
			if c.name == "it moves" {
				// The block changes places with lines 9 to 18, so Diff may also report that line 18, which has the
				// annotation "other", was tracked.
				want = append(want, "other a.go:18 tracked, "+c.want, c.want+", other a.go:18 tracked")
			}
			check := func(o DiffOptions) {
				t.Helper()
				if got := touched(t, b, o); !slices.Contains(want, got) && !strings.HasPrefix(got, c.want+", other") {
					t.Errorf("Diff(%q, staged %v) touches %q, want %q", o.CommitRange, o.Staged, got, c.want)
				}
			}
			check(DiffOptions{})
			g.git("add", "-A")
			check(DiffOptions{Staged: true})
			g.commit()
			check(DiffOptions{CommitRange: "HEAD~1..HEAD"})
		})
	}
}

// TestDiffOfFormerName compares a file that was renamed before the base. The sidecar still has the file's first name,
// and the annotations were written for the first version.
func TestDiffOfFormerName(t *testing.T) {
	g := newRepo(t)
	lines := lettered(20)
	g.write("one.go", strings.Join(lines, "\n"))
	g.commit()
	b := g.store()
	add(t, b, Record{File: "one.go", Span: LineSpan{5, 6}, Why: "w"})
	g.commit()
	for _, name := range [][2]string{{"one.go", "two.go"}, {"two.go", "three.go"}} {
		g.git("mv", name[0], name[1])
		lines = slices.Insert(lines, 0, "above, in "+name[1])
		g.write(name[1], strings.Join(lines, "\n"))
		g.commit()
	}
	lines[7] = "another"
	g.write("three.go", strings.Join(lines, "\n"))
	if got := touched(t, b, DiffOptions{CommitRange: "HEAD..HEAD"}); got != "" {
		t.Errorf("HEAD..HEAD touches %q", got)
	}
	if got, want := touched(t, b, DiffOptions{}), "w three.go:7-8 edited"; got != want {
		t.Errorf("touched %q, want %q", got, want)
	}
}

// TestDiffAdds checks that a diff reports an annotation as added only if the annotation is new. An annotation must not
// be reported as added if its sidecar file was renamed.
func TestDiffAdds(t *testing.T) {
	g := newRepo(t)
	g.write("a.go", strings.Join(lettered(20), "\n"))
	g.commit()
	b := g.store()
	add(t, b, Record{File: "a.go", Span: LineSpan{5, 6}, Why: "old"})
	g.commit()
	add(t, b, Record{File: "a.go", Span: LineSpan{9, 9}, Why: "new"})
	if got, want := touched(t, b, DiffOptions{}), "+new a.go:9"; got != want {
		t.Errorf("added %q, want %q", got, want)
	}
	g.git("mv", ".oxbow/annotations/a.go.why", ".oxbow/annotations/b.go.why")
	g.git("mv", "a.go", "b.go")
	g.commit()
	if got, want := touched(t, g.store(), DiffOptions{CommitRange: "HEAD~1..HEAD"}), "+new b.go:9"; got != want {
		t.Errorf("added %q, want %q", got, want)
	}
}

// TestDiffRefuses checks the errors for a name that is not a commit, and for a tree without git.
func TestDiffRefuses(t *testing.T) {
	g := newRepo(t)
	b := g.store()
	for _, bad := range []string{"", "HEAD", "no..HEAD", "..", "--output=x", "config", "../x..", "HEAD@{1}", ":/x",
		"a b"} {
		if _, err := b.Diff(t.Context(), DiffOptions{CommitRange: bad}); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("Diff(%q) without a commit = %v, want ErrInvalid", bad, err)
		}
	}
	g.write("a", "a\n")
	g.commit()
	g.git("checkout", "-q", "--orphan", "other")
	g.write("b", "b\n")
	g.commit()
	if _, err := b.Diff(t.Context(), DiffOptions{CommitRange: "main...other"}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Diff of branches without a common commit = %v, want ErrInvalid", err)
	}
	if _, err := openDir(t, t.TempDir()).Diff(t.Context(), DiffOptions{}); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Diff without git = %v, want ErrUnsupported", err)
	}
}

func openDir(t *testing.T, dir string) *Store {
	t.Helper()
	b, err := OpenDir(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// TestDiffGrowth checks that twice as many files need at most 2.6 times the allocations, and that git runs once per
// batch of 32 files.
func TestDiffGrowth(t *testing.T) {
	cost := func(files int) (float64, string) {
		g := newRepo(t)
		lines := lettered(30)
		change := func(every int) {
			for i := range files {
				dir := filepath.Join(g.dir, fmt.Sprint(i%10))
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				own := slices.Clone(lines)
				own[0] = fmt.Sprint("file ", i)
				own[every] = "changed"
				g.write(fmt.Sprintf("%d/f%d.go", i%10, i), strings.Join(own, "\n"))
			}
		}
		change(20)
		g.commit()
		b := g.store()
		var rs []Record
		for i := range files {
			rs = append(rs, Record{File: fmt.Sprintf("%d/f%d.go", i%10, i), Span: LineSpan{9, 12}, Why: "w"})
		}
		if _, err := b.Add(t.Context(), rs...); err != nil {
			t.Fatal(err)
		}
		change(25) // the annotations were written for the previous content
		g.commit()
		change(10)
		g.commit()
		steps := 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := b.Diff(t.Context(), DiffOptions{CommitRange: "HEAD~1..HEAD", Progress: func(done, total int) {
			steps++
			if done > total || total != files {
				t.Errorf("progress says %d of %d", done, total)
			}
		}})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		return float64(after.Mallocs - before.Mallocs), fmt.Sprint(len(d.TouchedAnnotations), steps)
	}
	one, said := cost(32)
	if said != "32 1" {
		t.Errorf("32 files: touched and steps are %s", said)
	}
	two, said := cost(64)
	if said != "64 2" || two > 2.6*one {
		t.Errorf("64 files: touched and steps are %s, and %.0f allocations where 32 files take %.0f", said, two, one)
	}
}
