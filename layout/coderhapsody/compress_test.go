// This file tests compression, which replaces the logs of several days by a digest (a summary). It tests the content of
// digests, that compression loses no entry, and that compression can be undone.

package coderhapsody

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
)

// may is the present time in the tests.
var may = time.Date(2026, 5, 20, 9, 0, 0, 0, time.UTC)

func openHome(t *testing.T, fsys vfs.FS, now time.Time) *home {
	t.Helper()
	h, err := newHome(
		t.Context(),
		layout.Options{FS: fsys, Zone: time.UTC, Memory: oxbow.Options{Clock: func() time.Time {
			return now
		}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h.(*home)
}

// aprilHome returns a home with logs of 13, 14, 15 and 21 April and of 4 and 5 May 2026. The logs of April belong to
// two weeks.
func aprilHome(t *testing.T) *vfs.Mem {
	t.Helper()
	fsys := vfs.NewMem()
	long := strings.Repeat("It took a while. ", 300)
	put(t, fsys, "memory/2026-04-13.md", "# Monday\r\n\r\nOld and unlabelled.\r\n\r\n## Rejected\r\n\r\n"+long+"\r\n")
	put(
		t,
		fsys,
		"memory/2026-04-14.md",
		"---\ntime: 10:00\nproject: vtt\ntags: [decision]\nrelated_files: [map.go]\nconfidence: 0.9\n---\n\nSquares, "+
			"not hexes. "+long+"\n\n"+
			"---\ntime: 11:00\nproject: book\ntags: [lesson]\n---\n\nChapters are short.\n\n"+
			"---\ntime: 12:00\nproject: vtt\ntags: [lesson]\nconfidence: 0.5\n---\n\nMeasure first.\n",
	)
	put(t, fsys, "memory/2026-04-15-2.md", "---\nprocess: true\n---\n\nWrite the test first.\n")
	put(
		t,
		fsys,
		"memory/2026-04-21.md",
		"---\nproject: vtt\n---\n\nFog of war.\n\n---\nname: left\ntime: 15:00\nkind: handoff\nlabels: "+
			"[\"handoff:open\"]\n---\n\nGo on.\n",
	)
	put(t, fsys, "memory/2026-05-04.md", "May.\n")
	put(t, fsys, "memory/2026-05-05.md", "May again.\n")
	return fsys
}

// files returns the contents of the Markdown files in the directory memory/ and the directories below it. The keys are
// the paths of the files.
func files(fsys *vfs.Mem) map[string]string {
	fs := map[string]string{}
	for _, p := range fsys.Names() {
		if strings.HasPrefix(p, "memory/") && strings.HasSuffix(p, ".md") {
			data, err := vfs.ReadFile(fsys, p, -1)
			if err != nil {
				panic(err)
			}
			fs[p] = string(data)
		}
	}
	return fs
}

func entries(t *testing.T, s oxbow.Store) map[string]oxbow.Entry {
	t.Helper()
	es := map[string]oxbow.Entry{}
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		es[e.Name] = e
	}
	return es
}

func labelText(e oxbow.Entry) string { return groupTitle(e.Labels) }

func TestCompressWeeks(t *testing.T) {
	fsys := aprilHome(t)
	h := openHome(t, fsys, may)
	before, was := files(fsys), entries(t, h.Memory())

	dry, err := h.Compress(t.Context(), layout.Compression{Over: 1, Span: "week", Dry: true})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(files(fsys), before) {
		t.Error("a dry run changed files")
	}
	done, err := h.Compress(t.Context(), layout.Compression{Over: 1, Span: "week"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, d := range done {
		names = append(names, d.Name)
		for j, p := range d.Parts {
			if p.Text != dry[i].Parts[j].Text || p.Entry != dry[i].Parts[j].Entry {
				t.Errorf("%s is %q, and the dry run said %q", p.Entry, p.Text, dry[i].Parts[j].Text)
			}
		}
	}
	// The two newest logs are in May.
	if want := []string{"week-2026-W16", "week-2026-W17"}; !slices.Equal(names, want) {
		t.Fatalf("compressed %q, want %q", names, want)
	}
	// The logs that a digest summarizes have moved to memory/covered, with the same bytes. Their entries are the same,
	// except that they have the label summarizedLabel.
	after := files(fsys)
	for p, text := range before {
		to := p
		if strings.HasPrefix(p, "memory/2026-04") {
			to = strings.Replace(p, "memory/", "memory/covered/", 1)
		}
		if after[to] != text {
			t.Errorf("%s is now %q", p, after[to])
		}
	}
	now := entries(t, h.Memory())
	for name, e := range was {
		got := now[name]
		want := e.Clone()
		if strings.HasPrefix(e.Created.Format(time.RFC3339), "2026-04") {
			want.Labels = oxbow.SortLabels(append(want.Labels, summarizedLabel))
		}
		if got.ID != want.ID || got.Content != want.Content || got.Kind != want.Kind ||
			!got.Created.Equal(want.Created) || !slices.Equal(got.Labels, want.Labels) {
			t.Errorf("entry %q is %+v, want %+v", name, got, want)
		}
	}
	// Labels are kept, and projects are separate.
	for name, want := range map[string]string{
		"week-2026-W16":              "digest:true",
		"week-2026-W16 project:vtt":  "confidence:0.5 digest:true file:map.go project:vtt tag:decision tag:lesson",
		"week-2026-W16 project:book": "digest:true project:book tag:lesson",
		"week-2026-W16 process:true": "digest:true process:true",
		"week-2026-W17 project:vtt":  "digest:true project:vtt",
	} {
		e, ok := now[name]
		if got := labelText(e); !ok || got != want || e.Kind != oxbow.Archive {
			t.Errorf("digest %q has labels %q of kind %s (there: %v), want %q", name, got, e.Kind, ok, want)
		}
	}
	vtt := now["week-2026-W16 project:vtt"].Content
	if !strings.Contains(vtt, "Squares, not hexes.") || !strings.Contains(vtt, "Measure first.") ||
		strings.Contains(vtt, "Chapters") || len(vtt) > 700 {
		t.Errorf("the digest of the project is %q", vtt)
	}
	if rest := now["week-2026-W16"].Content; !strings.Contains(rest, "- Monday: Old and unlabelled.") ||
		!strings.Contains(rest, "- Rejected: It took a while.") {
		t.Errorf("the digest of the rest is %q", rest)
	}
	if again, err := h.Compress(t.Context(), layout.Compression{Over: 1, Span: "week"}); err != nil ||
		len(again) != 0 {
		t.Errorf("compressing again did %+v, %v", again, err)
	}

	// A month covers weeks. Both can be undone, one after the other.
	done, err = h.Compress(t.Context(), layout.Compression{Over: 1, Span: "month", Period: "2026-04"})
	if err != nil || len(done) != 1 {
		t.Fatalf("Compress(month) = %+v, %v", done, err)
	}
	now = entries(t, h.Memory())
	if got := labelText(
		now["month-2026-04 project:vtt"],
	); got != "digest:true file:map.go project:vtt tag:decision tag:lesson" {
		t.Errorf("the month's digest has labels %q", got)
	}
	if got := now["month-2026-04 project:vtt"].Content; !strings.Contains(got, "Fog of war.") ||
		strings.Contains(
			strings.TrimPrefix(got, "# month-2026-04: project:vtt\n\n"+composedDigestOpening),
			composedDigestOpening,
		) {
		t.Errorf("the month's digest is %q", got)
	}
	if _, ok := now["week-2026-W16 project:vtt"].Label("covered"); !ok {
		t.Error("the week is not covered by the month")
	}
	if _, err := h.Decompress(t.Context(), false, "week-2026-W16"); !errors.Is(err, oxbow.ErrInvalid) ||
		!strings.Contains(err.Error(), "month-2026-04") {
		t.Errorf("Decompress(week) before the month = %v", err)
	}
	if _, err := h.Decompress(t.Context(), true, "month-2026-04"); err != nil {
		t.Error(err)
	}
	if _, err := h.Decompress(t.Context(), false, "month-2026-04", "week-2026-W16", "week-2026-W17"); err != nil {
		t.Fatal(err)
	}
	after = files(fsys)
	for p := range after {
		if strings.HasPrefix(p, undoneDigestsDir+"/") {
			delete(after, p)
		}
	}
	if !maps.Equal(after, before) {
		t.Errorf(
			"after it was taken back there is %q, want %q",
			slices.Sorted(maps.Keys(after)),
			slices.Sorted(maps.Keys(before)),
		)
	}
	if rep, err := h.Tree.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
		t.Errorf("Check() = %+v, %v", rep.Problems, err)
	}
}

// TestCompressPassesOver tests that Compress skips a week that has nothing to compress, or whose file is not valid
// UTF-8, and that it still compresses the other weeks. Compress must return an error if it is called for the skipped
// week alone.
func TestCompressPassesOver(t *testing.T) {
	for _, text := range []string{
		"",
		"not UTF-8 \xff\n",
		"---\nname: left\nkind: handoff\nlabels: [\"handoff:open\"]\n---\n\nGo on.\n",
	} {
		fsys := aprilHome(t)
		put(t, fsys, "memory/2026-03-02.md", text)
		h := openHome(t, fsys, may)
		done, err := h.Compress(t.Context(), layout.Compression{Over: 1, Span: "week"})
		if err != nil || len(done) != 3 || done[0].Name != "week-2026-W10" || done[0].Skipped == "" ||
			done[1].Skipped != "" || done[2].Skipped != "" {
			t.Errorf("with %q, compressed %+v, error %v", text, done, err)
		}
		if fs := files(fsys); fs["memory/2026-03-02.md"] != text || fs["memory/week-2026-W17.md"] == "" {
			t.Errorf("with %q, the files are %q", text, fs)
		}
		if _, err := h.Compress(
			t.Context(),
			layout.Compression{Over: 1, Span: "week", Period: "2026-W10"},
		); err == nil {
			t.Errorf("with %q, the week was compressed by its name", text)
		}
	}
}

// TestCompressWithText checks that the caller can provide the text for each group.
func TestCompressWithText(t *testing.T) {
	fsys := aprilHome(t)
	h := openHome(t, fsys, may)
	texts := map[string]string{"project:vtt": "We chose squares.\n---\nname: evil\n---\n"}
	done, err := h.Compress(t.Context(), layout.Compression{Over: 1, Span: "week", Period: "2026-W16", Texts: texts})
	if err != nil || len(done) != 1 {
		t.Fatalf("Compress() = %+v, %v", done, err)
	}
	e, err := h.Memory().Get(t.Context(), "week-2026-W16 project:vtt")
	if err != nil || e.Content != "We chose squares.\n---\nname: evil\n---" ||
		!strings.HasPrefix(labelText(e), "confidence:0.5 digest:true file:map.go project:vtt") {
		t.Errorf("Get() = %+v, %v", e, err)
	}
	e, err = h.Memory().Get(t.Context(), "week-2026-W16 project:book")
	if err != nil || !strings.Contains(e.Content, "Chapters are short.") {
		t.Errorf("the other group is %+v, %v", e, err)
	}
	// A digest replaces the logs of several days by one entry for each group. All but the last entry of a digest can be
	// forgotten. The last entry cannot be forgotten, because otherwise no entry would describe these days. Decompress
	// restores the logs of all days.
	for name := range entries(t, h.Memory()) {
		if strings.HasPrefix(name, "week-2026-W16") && name != "week-2026-W16 project:vtt" {
			if err := h.Memory().Forget(t.Context(), name); err != nil {
				t.Fatalf("Forget(%q) = %v", name, err)
			}
		}
	}
	if err := h.Memory().Forget(t.Context(), "week-2026-W16 project:vtt"); !errors.Is(err, oxbow.ErrInvalid) ||
		!strings.Contains(err.Error(), "compress undo week-2026-W16") {
		t.Errorf("Forget() of the last part = %v", err)
	}
	if _, err := h.Decompress(t.Context(), false, "week-2026-W16"); err != nil {
		t.Fatal(err)
	}
	if _, ok := files(fsys)["memory/2026-04-14.md"]; !ok {
		t.Errorf("the days are not back: %q", slices.Sorted(maps.Keys(files(fsys))))
	}
}

func TestCompressRefuses(t *testing.T) {
	fsys := aprilHome(t)
	put(t, fsys, "memory/week-2026-W10.md", "By hand, covers nothing.\n")
	put(t, fsys, "memory/week-2026-W11.md", "---\ncovers: [\"../../etc/passwd\"]\n---\n\nEvil.\n")
	h := openHome(t, fsys, may)
	before := files(fsys)
	for _, tt := range []struct {
		r    layout.Compression
		want string
	}{
		{layout.Compression{Span: "year"}, "not one of week, month"},
		{layout.Compression{Over: 1, Span: "week", Period: "2026-16"}, "not written as 2026-W21"},
		{layout.Compression{Over: 1, Span: "month", Period: "2026-13"}, "not written as 2026-05"},
		{layout.Compression{Over: 1, Span: "week", Period: "2026-W30"}, "holds nothing"},
		{layout.Compression{Over: 1, Span: "month", Period: "2026-05"}, "is not over"},
		{layout.Compression{Over: 1, Span: "week", Texts: map[string]string{"": "x"}}, "say which"},
		{
			layout.Compression{Over: 1, Span: "week", Period: "2026-W16", Texts: map[string]string{"project:x": "x"}},
			`there are "", "process:true", "project:book", "project:vtt"`,
		},
		{layout.Compression{Over: 1, Span: "week", Period: "2026-W16", Texts: map[string]string{"": " "}}, "is empty"},
	} {
		if got, err := h.Compress(t.Context(), tt.r); !errors.Is(err, oxbow.ErrInvalid) ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("Compress(%+v) = %+v, %v; want %q", tt.r, got, err, tt.want)
		}
	}
	for name, want := range map[string]string{"week-2026-W12": "is not there", "notes": "not the name of one",
		"week-2026-W10": "does not say what it covers",
		"week-2026-W11": "not the file of a log", "": "not the name"} {
		if got, err := h.Decompress(t.Context(), false, name); !errors.Is(err, oxbow.ErrInvalid) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("Decompress(%q) = %+v, %v; want %q", name, got, err, want)
		}
	}
	if _, err := h.Decompress(t.Context(), false); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Decompress() of nothing = %v", err)
	}
	if !maps.Equal(files(fsys), before) {
		t.Error("what was refused changed files")
	}
	// Compressing and undoing are refused if they would overwrite a file.
	put(t, fsys, "memory/covered/2026-04-13.md", "Somebody's.\n")
	if _, err := h.Compress(
		t.Context(),
		layout.Compression{Over: 1, Span: "week", Period: "2026-W16"},
	); !errors.Is(err, oxbow.ErrInvalid) || !strings.Contains(err.Error(), "overwritten") {
		t.Errorf("Compress() over a covered file = %v", err)
	}
	if _, err := h.Compress(t.Context(), layout.Compression{Over: 1, Span: "week", Period: "2026-W17"}); err != nil {
		t.Fatal(err)
	}
	put(t, fsys, "memory/2026-04-21.md", "A later thought.\n")
	if _, err := h.Decompress(t.Context(), false, "week-2026-W17"); !errors.Is(err, oxbow.ErrInvalid) ||
		!strings.Contains(err.Error(), "overwritten") {
		t.Errorf("Decompress() over a log = %v", err)
	}
	if _, err := h.Compress(
		t.Context(),
		layout.Compression{Over: 1, Span: "week", Period: "2026-W17"},
	); !errors.Is(err, oxbow.ErrInvalid) || !strings.Contains(err.Error(), "undo week-2026-W17 first") {
		t.Errorf("Compress() twice = %v", err)
	}
}

// TestCompressCrash stops the machine at each operation of a compression. The compression must be complete or not have
// begun, and no entry may be lost.
func TestCompressCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a compression once for each operation on the file system")
	}
	start := aprilHome(t)
	was := slices.Sorted(maps.Keys(entries(t, openTree(t, start.Clone()))))
	images := 0
	sawOld := 0
	sawNew := 0
	check := func(img *vfs.Mem, where string, done bool) {
		images++
		s, err := mdtree.Open(t.Context(), img, logLayout{time.UTC}, mdtree.Options{Clock: clock})
		if err != nil {
			t.Fatalf("%s: Open() = %v", where, err)
		}
		defer s.Close()
		es := entries(t, s)
		var names []string
		digests := 0
		for name := range es {
			if strings.HasPrefix(name, "week-") {
				digests++
			} else {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if !slices.Equal(names, was) || (digests != 0 && digests != 4) || (done && digests == 0) {
			t.Fatalf("%s: entries %q and %d digests, done: %v", where, names, digests, done)
		}
		for name, e := range es {
			day := e.Created.Format("2006-01-02")
			if _, covered := e.Label("covered"); covered != (digests > 0 && e.Kind != oxbow.Archive &&
				day < "2026-04-20") {
				t.Fatalf("%s: %q is covered: %v, and there are %d digests", where, name, covered, digests)
			}
		}
		if digests == 0 {
			sawOld++
		} else {
			sawNew++
		}
	}
	for stop, done := 1, false; !done; stop++ {
		disk := crashfs.New(start)
		disk.StopAt(stop)
		h, err := newHome(
			t.Context(),
			layout.Options{FS: disk.StartProcess(), Zone: time.UTC, Memory: oxbow.Options{Clock: func() time.Time {
				return may
			}}},
		)
		if err == nil {
			_, err = h.(*home).Compress(t.Context(), layout.Compression{Over: 1, Span: "week", Period: "2026-W16"})
			done = err == nil
		}
		if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
			t.Fatalf("stop at %d: %v", stop, err)
		}
		n := 0
		for img, label := range disk.EachCrashFileSystem {
			check(img, fmt.Sprintf("crash at %d, %s", stop, label), done)
			n++
			if n == 6 {
				break
			}
		}
	}
	if images < 100 || sawOld == 0 || sawNew == 0 {
		t.Errorf("%d images, before %d times, after %d times: the test looks at too little", images, sawOld, sawNew)
	}
}
