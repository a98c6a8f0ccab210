// This file tests how git merges the sidecars (the files with annotations) of two branches.

package annotate

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// lineAt returns the line for a record in the format of the annotation file. The reasoning of the record is why, and
// its time is the given number of minutes after noon. The other fields come from sample(minute).
func lineAt(t testing.TB, minute int, why string) string {
	t.Helper()
	r := sample(minute)
	r.Why, r.Time = why, noon.Add(time.Duration(minute)*time.Minute)
	r.ID = r.defaultID()
	return encoded(t, r)
}

func TestMerge(t *testing.T) {
	one := lineAt(t, 1, "one")
	two := lineAt(t, 2, "two")
	three := lineAt(t, 3, "three")
	// The same annotation was made on both branches at different times.
	same := sample(4)
	same.ID = same.defaultID()
	early := encoded(t, same)
	same.Time, same.Commit = same.Time.Add(time.Hour), strings.Repeat("b", 40)
	late := encoded(t, same)
	// If both lines exist, MergeSidecars keeps the smaller line, so that both branches get the same result.
	first := min(early, late)
	gone, err := archiveEvent{recordID: sample(1).ID, time: noon.Add(90 * time.Second), gcRunName: "r"}.appendEvent(nil)
	if err != nil {
		t.Fatal(err)
	}
	newer := `{"v":7,"shape":"round"}` + "\n"
	for _, c := range []struct {
		name               string
		base, ours, theirs string
		want, aside        string
	}{
		{"nothing", "", "", "", "", ""},
		{"both began the file", "", one + three, two, one + two + three, ""},
		{"both added", one, one + three, one + two, one + two + three, ""},
		{"the same line twice", one, one + two, one + two, one + two, ""},
		{"the same annotation", one, one + early, one + late, one + first, ""},
		{"an order of their own", two + one, two + one, two + one + three, two + one + three, ""},
		{"archived", one + two, one + two, one + two + string(gone), one + two + string(gone), ""},
		{"of a newer version", newer, newer + one, newer + two, newer + one + two, ""},
		{"taken out by a person", one + two, two, one + two + three, two + three, ""},
		{"cut off", one, one + two, one + three[:40], one + two, three[:40] + "\n"},
		{"without its last line feed", one, one + strings.TrimSuffix(two, "\n"), one, one + two, ""},
		{"damaged, with lines missing", one + two, "garbage\n" +
			two, one + two + three, one + two + three, "garbage\n"},
		{"marks of a conflict", "", "<<<<<<< ours\n" + one + "=======\n" + two +
			">>>>>>> theirs\n", three, one + two + three, "<<<<<<< ours\n=======\n>>>>>>> theirs\n"},
		{"Windows line ends", one, strings.ReplaceAll(one+two, "\n", "\r\n"), one + three, one + two + three, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := MergeSidecars([]byte(c.base), []byte(c.ours), []byte(c.theirs))
			if string(m.Data) != c.want || string(m.UnreadableLines) != c.aside {
				t.Errorf("merged\n%s\naside\n%s\nwant\n%s\naside\n%s", m.Data, m.UnreadableLines, c.want, c.aside)
			}
			if n := len(parseSidecar(m.Data).records); n != m.RecordCount {
				t.Errorf("it says %d annotations, and %d are read", m.RecordCount, n)
			}
			other := MergeSidecars([]byte(c.base), []byte(c.theirs), []byte(c.ours))
			if !bytes.Equal(other.Data, m.Data) || !bytes.Equal(other.UnreadableLines, m.UnreadableLines) {
				t.Errorf("the other way round it is\n%s", other.Data)
			}
			again := MergeSidecars(m.Data, m.Data, m.Data)
			if !bytes.Equal(again.Data, m.Data) || len(again.UnreadableLines) > 0 {
				t.Errorf("merged with itself it is\n%s", again.Data)
			}
		})
	}
}

// TestMergeLosesNothing merges random branches. Reading the result must give the same records as reading all lines of
// both branches.
func TestMergeLosesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	var pool []string
	for i := range 30 {
		pool = append(pool, lineAt(t, i+1, fmt.Sprint("why ", i%20)))
		e, err := archiveEvent{
			recordID:      sample(i + 1).ID,
			isRestoration: i%3 == 0,
			time:          noon.Add(time.Duration(rng.IntN(50)) * time.Minute),
		}.appendEvent(
			nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		pool = append(pool, string(e))
	}
	some := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(pool[rng.IntN(len(pool))])
		}
		return b.String()
	}
	for range 200 {
		base := some(rng.IntN(8))
		ours, theirs := base+some(rng.IntN(8)), base+some(rng.IntN(8))
		want, got := parseSidecar(
			[]byte(ours+theirs),
		), parseSidecar(
			MergeSidecars([]byte(base), []byte(ours), []byte(theirs)).Data,
		)
		if !slices.EqualFunc(want.records, got.records, func(a, b *Record) bool {
			return a.ID == b.ID && a.Why == b.Why && a.Archived == b.Archived && a.Time.Equal(b.Time)
		}) || len(got.damagedLines) > 0 {
			t.Fatalf("merging\n%s\nand\n%s\nloses something", ours, theirs)
		}
	}
}

func FuzzMerge(f *testing.F) {
	one, two := encoded(f, sample(1)), encoded(f, sample(2))
	f.Add([]byte(one), []byte(one+two), []byte("garbage\n"+one))
	f.Add([]byte(""), []byte(one), []byte(two[:30]))
	f.Add([]byte("=======\n"), []byte("{\"v\":9}\n\n"), []byte("\r\n\x00"))
	f.Fuzz(func(t *testing.T, base, ours, theirs []byte) {
		m := MergeSidecars(base, ours, theirs)
		other := MergeSidecars(base, theirs, ours)
		if !bytes.Equal(m.Data, other.Data) || !bytes.Equal(m.UnreadableLines, other.UnreadableLines) {
			t.Errorf("Merge is not the same both ways")
		}
		s := parseSidecar(m.Data)
		if len(s.damagedLines) > 0 || s.hasIncompleteLastLine || len(s.records) != m.RecordCount {
			t.Errorf("what was merged is damaged: %+v", s)
		}
		// Each line that the side ours added must be merged or be among the unreadable lines. Readable lines are found
		// by the ID of the record.
		for l := range bytes.Lines(ours) {
			l = bytes.TrimRight(l, "\r\n")
			r, _, _, err := parseSidecarLine(l)
			if err != nil && !bytes.Contains(m.UnreadableLines, l) {
				t.Errorf("the damaged line %q is nowhere", l)
			}
			if r != nil && !bytes.Contains(base, l) && !slices.ContainsFunc(s.records, func(q *Record) bool {
				return q.ID == r.ID
			}) {
				t.Errorf("the annotation %q is nowhere", l)
			}
		}
	})
}

func TestSetup(t *testing.T) {
	g := newRepo(t)
	g.write(".gitattributes", "*.png binary") // the file does not end with a line feed
	b := g.store()
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(g.dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(data)
	}
	const line = ".oxbow/annotations/**/*.why merge=union text eol=lf"
	config := read(".git/config")
	s, err := b.SetUpGitMerge(
		t.Context(),
		SetupOptions{DriverCommand: "oxbow annotate merge-driver", InstallMergeDriver: true, DryRun: true},
	)
	if err != nil || s.Attributes.Line != line || s.Attributes.AlreadyExists {
		t.Errorf("Setup = %+v, %v", s, err)
	}
	if read(".gitattributes") != "*.png binary" || read(".git/config") != config {
		t.Error("a dry run wrote something")
	}
	for i := range 2 {
		s, err = b.SetUpGitMerge(t.Context(), SetupOptions{DriverCommand: "oxbow annotate merge-driver"})
		if err != nil || s.Attributes.AlreadyExists != (i > 0) {
			t.Errorf("Setup = %+v, %v", s, err)
		}
		if got, want := read(".gitattributes"), "*.png binary\n"+line+"\n"; got != want {
			t.Errorf(".gitattributes holds %q, want %q", got, want)
		}
		if read(".git/config") != config || read(".git/info/attributes") != "" {
			t.Error("the repository's own files were changed without --install")
		}
	}
	for range 2 {
		s, err = b.SetUpGitMerge(
			t.Context(),
			SetupOptions{DriverCommand: "'it''s' annotate merge-driver", InstallMergeDriver: true},
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.TrimSpace(g.git(
		"config",
		"--get-all",
		"merge.oxbow.driver",
	)); got != "'it''s' annotate merge-driver %O %A %B %P || git merge-file --union %A %O %B" {
		t.Errorf("git reads the driver as %q", got)
	}
	if got := g.git(
		"check-attr",
		"merge",
		"--",
		".oxbow/annotations/a.go.why",
		".oxbow/annotations/b/c.go.why",
		"a.why",
	); strings.Count(got, "merge: oxbow") != 2 || strings.Count(got, "unspecified") != 1 {
		t.Errorf("git reads the attributes as %q", got)
	}
	if _, err := b.SetUpGitMerge(t.Context(), SetupOptions{DriverCommand: "x", InstallMergeDriver: true}); err != nil ||
		strings.Count(read(".git/info/attributes"), "\n") != 1 {
		t.Errorf("info/attributes holds %q, %v, want one line", read(".git/info/attributes"), err)
	}

	// A line that specifies another merge driver is not changed, and a symbolic link is not followed.
	g.write(".gitattributes", ".oxbow/annotations/** merge=binary\n")
	if _, err := b.SetUpGitMerge(t.Context(), SetupOptions{DriverCommand: "x"}); !isInvalid(err) {
		t.Errorf("Setup over another merge = %v, want ErrInvalid", err)
	}
	outside := filepath.Join(t.TempDir(), "x")
	if err := os.Remove(filepath.Join(g.dir, ".gitattributes")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(g.dir, ".gitattributes")); err == nil {
		if _, err := b.SetUpGitMerge(t.Context(), SetupOptions{DriverCommand: "x"}); err == nil {
			t.Error("Setup wrote over a link")
		}
		if _, err := os.Stat(outside); err == nil {
			t.Error("Setup wrote outside of the tree")
		}
	}
}

func isInvalid(err error) bool { return errors.Is(err, oxbow.ErrInvalid) }

// TestUnionMerge lets git merge two branches that both annotated the same file. It does so without any setup, and with
// a merge driver that no longer exists.
func TestUnionMerge(t *testing.T) {
	for _, driver := range []string{"", "/nowhere/oxbow annotate merge-driver"} {
		g := newRepo(t)
		g.write("a.txt", numbered(30))
		b := g.store()
		add(t, b, Record{File: "a.txt", Span: LineSpan{2, 3}, Why: "base"})
		if driver != "" {
			o := SetupOptions{DriverCommand: driver, InstallMergeDriver: true}
			if s, err := b.SetUpGitMerge(t.Context(), o); err != nil || !s.Attributes.AlreadyExists {
				t.Fatalf("Setup = %+v, %v, want the attributes to be there", s, err)
			}
		}
		g.commit()
		g.git("checkout", "-q", "-b", "other")
		add(t, b, Record{File: "a.txt", Span: LineSpan{10, 12}, Why: "other"})
		g.commit()
		g.git("checkout", "-q", "main")
		add(t, b, Record{File: "a.txt", Span: LineSpan{20, 22}, Why: "main"})
		g.commit()
		g.git("merge", "-q", "--no-edit", "other")
		found, err := b.Lookup(t.Context(), "a.txt", LineSpan{})
		if err != nil || len(found) != 3 {
			t.Fatalf("with driver %q: Lookup after the merge = %+v, %v, want three", driver, found, err)
		}
		for i, why := range []string{"base", "other", "main"} {
			if found[i].Why != why {
				t.Errorf("annotation %d says %q, want %q", i, found[i].Why, why)
			}
		}
	}
}
