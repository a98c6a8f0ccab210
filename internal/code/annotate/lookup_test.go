// This file tests where annotations are found after their file has changed.

package annotate

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/fileref"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

const source = `package pool

import "time"

// Open opens a pool.
func Open(size int) *Pool {
	p := &Pool{size: size}
	p.idle = make(chan *conn, size)
	return p
}

// Get waits for a connection.
func (p *Pool) Get() (*conn, error) {
	select {
	case c := <-p.idle:
		return c, nil
	case <-time.After(30 * time.Second):
		return nil, ErrBusy
	}
}

// Close closes the pool.
func (p *Pool) Close() error {
	close(p.idle)
	return nil
}
`

// selectSpan is the annotated block of most tests: the select statement in the function Get.
var selectSpan = LineSpan{14, 19}

// The list changes contains changes to the constant source. The annotated block in source is a select statement. The
// field now is its position after the change, which a lookup must find.
var changes = []struct {
	name   string
	change func(string) string
	git    PlacementKind // how the select statement is found if git has the unchanged source
	text   PlacementKind // how the select statement is found without git
	now    LineSpan
}{
	{"nothing", func(s string) string { return s }, PlacedExactly, PlacedExactly, LineSpan{14, 19}},
	{"a line below", func(s string) string { return s + "// end\n" }, PlacedExactly, PlacedExactly, LineSpan{14, 19}},
	{
		"lines above",
		func(s string) string { return "// Copyright\n\n" + s },
		PlacedByTracking,
		PlacedAfterMove,
		LineSpan{16, 21},
	},
	{"Windows line ends", func(s string) string {
		return strings.ReplaceAll(s, "\n", "\r\n")
	}, PlacedExactly, PlacedExactly, LineSpan{14, 19}},
	{"one line of it changed", func(s string) string {
		return strings.Replace(s, "30 * time.Second", "time.Minute", 1)
	}, PlacedAfterEdit, PlacedAfterEdit, LineSpan{14, 19}},
	{"indented anew", func(s string) string {
		return strings.ReplaceAll(s, "\t", "    ")
	}, PlacedAfterEdit, PlacedAfterEdit, LineSpan{14, 19}},
	{"the function moved to the end", func(s string) string {
		i, j := strings.Index(s, "// Get"), strings.Index(s, "// Close")
		return s[:i] + s[j:] + "\n" + s[i:j]
	}, PlacedByTracking, PlacedAfterMove, LineSpan{20, 25}},
	{"a case added", func(s string) string {
		return strings.Replace(s, "\tcase <-time", "\tcase <-p.done:\n\t\treturn nil, ErrClosed\n\tcase <-time", 1)
	}, PlacedAfterEdit, PlacedAfterEdit, LineSpan{14, 21}},
	{"it is gone", func(s string) string {
		i, j := strings.Index(s, "// Get"), strings.Index(s, "// Close")
		return s[:i] + s[j:]
	}, NotPlaced, NotPlaced, LineSpan{}},
	{"all is gone", func(string) string { return "" }, NotPlaced, NotPlaced, LineSpan{}},
	{"another file is in its place", func(string) string { return numbered(40) }, NotPlaced, NotPlaced, LineSpan{}},
}

// whole looks up a whole file, and fails the test unless it finds exactly one annotation.
func whole(t *testing.T, b *Store, file string) FoundAnnotation {
	t.Helper()
	fs, err := b.Lookup(t.Context(), file, LineSpan{})
	if err != nil {
		t.Fatalf("Lookup(%s) = %v", file, err)
	}
	if len(fs) != 1 {
		t.Fatalf("Lookup(%s) finds %d annotations, want 1: %+v", file, len(fs), fs)
	}
	return fs[0]
}

func checkFound(t *testing.T, f FoundAnnotation, placed PlacementKind, now LineSpan) {
	t.Helper()
	if f.Placement != placed || (placed != PlacedAfterEdit && f.CurrentSpan != now) ||
		(!f.CurrentSpan.Overlaps(now) && placed != NotPlaced) {
		t.Errorf("found %s at %s (%q), want %s at %s", f.Placement, f.CurrentSpan, f.Explanation, placed, now)
	}
	if (f.Placement == NotPlaced) != (f.Confidence == 0) || f.Confidence < 0 || f.Confidence > 1 ||
		(f.Explanation == "") != (f.Placement == NotPlaced) {
		t.Errorf("found %s with confidence %v, %q", f.Placement, f.Confidence, f.Explanation)
	}
}

func TestLookupByText(t *testing.T) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			m, b := tree(t, map[string]string{"pool.go": source})
			add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "a timeout, so that a leak shows"})
			put(t, m, "pool.go", c.change(source))
			f := whole(t, b, "pool.go")
			checkFound(t, f, c.text, c.now)
			if c.text == NotPlaced {
				return
			}
			in, err := b.Lookup(t.Context(), "pool.go", LineSpan{f.CurrentSpan.Last, f.CurrentSpan.Last})
			if err != nil || len(in) != 1 {
				t.Errorf("Lookup of its last line = %v, %v", in, err)
			}
			out, err := b.Lookup(t.Context(), "pool.go", LineSpan{1, f.CurrentSpan.First - 1})
			if err != nil || len(out) != 0 {
				t.Errorf("Lookup above it = %v, %v", out, err)
			}
		})
	}
}

// repo is the git repository of a test.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	g := &repo{t, t.TempDir()}
	g.git("init", "-q", "-b", "main")
	return g
}

func (g *repo) git(args ...string) string {
	g.t.Helper()
	cmd := exec.Command(
		testenv.RequireProgram(g.t, "git", "apt install git"),
		append(
			[]string{"-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"},
			args...,
		)...,
	)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (g *repo) write(name, text string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, name), []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

func (g *repo) commit() {
	g.t.Helper()
	g.git("add", "-A")
	g.git("commit", "-q", "--allow-empty", "-m", "x")
}

func (g *repo) store() *Store {
	g.t.Helper()
	b, err := OpenDir(g.t.Context(), g.dir, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		if err := b.Close(); err != nil {
			g.t.Error(err)
		}
	})
	return b
}

func TestLookupByGit(t *testing.T) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			g := newRepo(t)
			g.write("pool.go", source)
			g.commit()
			b := g.store()
			r := add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "a timeout, so that a leak shows"})
			if len(r.Commit) != 40 || r.FileBlobName == "" {
				t.Errorf("the record says commit %q, blob %q", r.Commit, r.FileBlobName)
			}
			// The change has an effect before it is committed.
			g.write("pool.go", c.change(source))
			f := whole(t, b, "pool.go")
			checkFound(t, f, c.git, c.now)
			g.commit()
			if again := whole(t, b, "pool.go"); again.Placement != f.Placement || again.CurrentSpan != f.CurrentSpan {
				t.Errorf(
					"committed it is %s at %s, before %s at %s",
					again.Placement,
					again.CurrentSpan,
					f.Placement,
					f.CurrentSpan,
				)
			}
		})
	}
}

func TestLookupAfterRename(t *testing.T) {
	g := newRepo(t)
	g.write("pool.go", source)
	g.commit()
	b := g.store()
	add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "a timeout"})
	g.commit()
	if err := os.Rename(filepath.Join(g.dir, "pool.go"), filepath.Join(g.dir, "conns.go")); err != nil {
		t.Fatal(err)
	}
	// the block is found by its text, because the rename is not committed
	checkFound(t, whole(t, b, "conns.go"), PlacedByTracking, selectSpan)
	g.commit()
	g.write("conns.go", "// moved\n"+strings.Replace(source, "30 *", "60 *", 1))
	checkFound(t, whole(t, b, "conns.go"), PlacedAfterEdit, LineSpan{15, 20})
	// a lookup under the old name finds the block in the new file
	checkFound(t, whole(t, b, "pool.go"), PlacedAfterEdit, LineSpan{15, 20})
	g.commit()

	// A copy of the file also has the annotations. The original keeps them.
	g.write("copy.go", "// copied\n"+source)
	g.write("conns.go", source+"// touched, as git looks for the sources of copies among what changed\n")
	g.commit()
	checkFound(t, whole(t, b, "copy.go"), PlacedByTracking, LineSpan{15, 20})
	checkFound(t, whole(t, b, "conns.go"), PlacedByTracking, selectSpan)
}

func TestLookupWhenTheSidecarMovedAlong(t *testing.T) {
	m, b := tree(t, map[string]string{"a/pool.go": source})
	add(t, b, Record{File: "a/pool.go", Span: selectSpan, Why: "a timeout"})
	put(t, m, "b/pool.go", source)
	put(t, m, ".oxbow/annotations/b/pool.go.why", get(t, m, ".oxbow/annotations/a/pool.go.why"))
	f := whole(t, b, "b/pool.go")
	checkFound(t, f, PlacedByTracking, selectSpan)
	if !strings.Contains(f.Explanation, "a/pool.go") {
		t.Errorf("it says %q and not where from", f.Explanation)
	}
}

// TestShortBlocks checks that a block of a single brace is found only if its context fits.
func TestShortBlocks(t *testing.T) {
	for _, c := range []struct {
		name   string
		span   LineSpan
		change func(string) string
		placed PlacementKind
		now    LineSpan
	}{
		{"a brace that moved with its lines", LineSpan{10, 10}, func(s string) string {
			return "\n\n" + s
		}, PlacedAfterMove, LineSpan{12, 12}},
		{"a brace whose lines are gone", LineSpan{10, 10}, func(s string) string {
			return s[strings.Index(s, "// Get"):]
		}, NotPlaced, LineSpan{}},
		{"two lines alone among new ones", LineSpan{15, 16}, func(string) string {
			return "one\ntwo\nthree\nfour\n\tcase c := <-p.idle:\n\t\treturn c, nil\nfive\nsix\nseven\n"
		}, NotPlaced, LineSpan{}},
		{"two telling lines alone among new ones", LineSpan{6, 7}, func(string) string {
			return "one\ntwo\nthree\nfour\nfunc Open(size int) *Pool {\n\tp := &Pool{size: size}\nfive\nsix\nseven\n"
		}, PlacedAfterMove, LineSpan{5, 6}},
		{"one of two equal lines", LineSpan{25, 25}, func(s string) string {
			return strings.Replace(s, "close(p.idle)", "p.drain()", 1)
		}, PlacedExactly, LineSpan{25, 25}},
	} {
		m, b := tree(t, map[string]string{"pool.go": source})
		add(t, b, Record{File: "pool.go", Span: c.span, Why: c.name})
		put(t, m, "pool.go", c.change(source))
		t.Run(c.name, func(t *testing.T) { checkFound(t, whole(t, b, "pool.go"), c.placed, c.now) })
	}
}

func TestLookupRefuses(t *testing.T) {
	m, b := tree(t, map[string]string{"a.txt": numbered(5), "b.bin": "a\x00b"})
	for _, c := range []struct {
		file string
		span LineSpan
		want error
	}{
		{"../a", LineSpan{}, oxbow.ErrInvalid},
		{"/etc/passwd", LineSpan{}, oxbow.ErrInvalid},
		{".git/config", LineSpan{}, oxbow.ErrInvalid},
		{"b.bin", LineSpan{}, oxbow.ErrInvalid},
		{"none", LineSpan{}, fs.ErrNotExist},
		{"a.txt", LineSpan{0, 3}, oxbow.ErrInvalid},
		{"a.txt", LineSpan{4, 3}, oxbow.ErrInvalid},
		{"a.txt", LineSpan{6, 9}, oxbow.ErrInvalid},
	} {
		if _, err := b.Lookup(t.Context(), c.file, c.span); !errors.Is(err, c.want) {
			t.Errorf("Lookup(%s, %v) = %v, want %v", c.file, c.span, err, c.want)
		}
	}
	// If the line numbers in the annotation file (sidecar) a.txt.why are wrong, Lookup must find the right lines.
	add(t, b, Record{File: "a.txt", Span: LineSpan{2, 3}, Why: "w"})
	name := ".oxbow/annotations/a.txt.why"
	put(t, m, name, strings.Replace(get(t, m, name), `"lines":[2,3]`, `"lines":[900,1000]`, 1))
	b.clearCaches()
	checkFound(t, whole(t, b, "a.txt"), PlacedAfterMove, LineSpan{2, 3})
}

// TestLookupOverAHistory makes random edits that record where every line moves. It compares lookups with these
// records.
func TestLookupOverAHistory(t *testing.T) {
	for _, withGit := range []bool{false, true} {
		t.Run(fmt.Sprintf("git=%v", withGit), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(11, 5))
			g := &repo{t, t.TempDir()}
			if withGit {
				g = newRepo(t)
			}
			fresh := 0
			line := func() string {
				if rng.IntN(4) == 0 {
					return []string{"}", "", "\t}", "\treturn nil, err"}[rng.IntN(4)]
				}
				fresh++
				return fmt.Sprintf("\tcall%d(value%d, %d)", fresh, rng.IntN(50), rng.IntN(1000))
			}
			type at struct {
				text string
				id   int // index of the line in the first version, or -1 for a new line
			}
			var lines []at
			for i := range 600 {
				lines = append(lines, at{line(), i})
			}
			text := func() string {
				var b strings.Builder
				for _, l := range lines {
					b.WriteString(l.text + "\n")
				}
				return b.String()
			}
			g.write("f.go", text())
			if withGit {
				g.commit()
			}
			b := g.store()
			spans := map[string]LineSpan{}
			for range 150 {
				first := rng.IntN(580)
				s := LineSpan{first + 1, first + 3 + rng.IntN(18)}
				spans[add(t, b, Record{File: "f.go", Span: s, Why: fmt.Sprint("why ", s)}).ID] = s
			}
			for range 12 {
				for range 4 {
					p := rng.IntN(len(lines) - 40)
					n := 1 + rng.IntN(20)
					if rng.IntN(2) == 0 {
						n = 0
					}
					var put []at
					for range rng.IntN(12) {
						put = append(put, at{line(), -1})
					}
					lines = append(append(append([]at(nil), lines[:p]...), put...), lines[p+n:]...)
				}
				g.write("f.go", text())
				if withGit {
					g.commit()
				}
			}
			now := map[int]int{}
			for i, l := range lines {
				if l.id >= 0 {
					now[l.id] = i + 1
				}
			}
			found, err := b.Lookup(t.Context(), "f.go", LineSpan{})
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != len(spans) {
				t.Fatalf("%d found of %d", len(found), len(spans))
			}
			right := 0
			wrong := 0
			lostRight := 0
			lostAll := 0
			whole := 0
			for _, f := range found {
				s := spans[f.ID]
				kept := 0
				contiguous := true
				for i := s.First; i <= s.Last; i++ {
					if n, ok := now[i-1]; ok {
						kept++
						contiguous = contiguous && n == now[s.First-1]+i-s.First
					}
				}
				switch {
				case kept == s.Len() && contiguous:
					whole++
					if f.Placement != NotPlaced && f.Placement != PlacedAfterEdit &&
						f.CurrentSpan.First == now[s.First-1] {
						right++
					} else {
						wrong++
						t.Logf("lines %s are now at %d; found %s at %s", s, now[s.First-1], f.Placement, f.CurrentSpan)
					}
				case kept == 0:
					lostAll++
					if f.Placement == NotPlaced {
						lostRight++
					}
				case f.Placement != PlacedAfterEdit && f.Placement != NotPlaced:
					wrong++
					t.Logf("lines %s were edited; found %s at %s", s, f.Placement, f.CurrentSpan)
				}
			}
			if whole < 30 || wrong > 0 || right != whole || lostRight != lostAll {
				t.Errorf(
					"%d of %d right, %d wrong; %d of %d gone called lost",
					right,
					whole,
					wrong,
					lostRight,
					lostAll,
				)
			}
		})
	}
}

// TestLookupAfterAMergedRename checks that a rename on a merged branch is followed like a rename on the main branch.
func TestLookupAfterAMergedRename(t *testing.T) {
	g := newRepo(t)
	g.write("pool.go", source)
	g.commit()
	b := g.store()
	add(t, b, Record{File: "pool.go", Span: selectSpan, Why: "a timeout"})
	blob, _ := b.FileBlobName("pool.go")
	g.commit()
	g.git("checkout", "-q", "-b", "side")
	g.git("mv", "pool.go", "conns.go")
	g.write("conns.go", "// renamed\n"+source)
	g.commit()
	g.git("checkout", "-q", "main")
	g.write("other.go", numbered(9))
	g.commit()
	g.git("merge", "-q", "--no-ff", "-m", "merge", "side")
	checkFound(t, whole(t, b, "conns.go"), PlacedByTracking, LineSpan{15, 20})
	gc(t, b, "archived ; returned ")
	if c := b.CheckFileRefs(t.Context(), []fileref.Ref{{File: "pool.go",
		GitBlobHash: blob}})[0]; c.State != fileref.RefMoved ||
		c.CurrentPath != "conns.go" {
		t.Errorf(
			"a citation of the old name is %s, now %q (%s), want MOVED to conns.go",
			c.State,
			c.CurrentPath,
			c.Explanation,
		)
	}
}
