// This file tests how logs are read: which files are logs, their blocks, their front matter, and mistakes in it.

package coderhapsody

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestFileNames(t *testing.T) {
	for _, tt := range []struct{ path, span, from, to string }{
		{"memory/2026-04-18.md", "day", "2026-04-18", "2026-04-19"},
		{"memory/2026-09-26-1.md", "day", "2026-09-26", "2026-09-27"},
		{"memory/2026-03-01-session2.md", "day", "2026-03-01", "2026-03-02"},
		{"memory/covered/2026-04-18.md", "day", "2026-04-18", "2026-04-19"},
		{"memory/week-2026-W16.md", "week", "2026-04-13", "2026-04-20"},
		{"memory/week-2020-W53.md", "week", "2020-12-28", "2021-01-04"},
		{"memory/week-2021-W01.md", "week", "2021-01-04", "2021-01-11"},
		{"memory/month-2026-12.md", "month", "2026-12-01", "2027-01-01"},
		{"memory/bucket-0/2026-04-18-2_2026-04-20-10.md", "bucket", "2026-04-18", "2026-04-21"},
		{"memory/2026-9-1.md", "", "", ""},
		{"memory/2026-02-30.md", "", "", ""},
		{"memory/notes.md", "", "", ""},
		{"memory/MEMORY.md", "", "", ""},
		{"memory/2026-04-18.txt", "", "", ""},
		{"memory/week-2026-W54.md", "", "", ""},
		{"memory/week-2021-W53.md", "", "", ""},
		{"memory/month-2026-13.md", "", "", ""},
		{"memory/bucket-0/2026-04-18.md", "", "", ""},
		{"memory/bucket-0/2026-04-20-1_2026-04-18-1.md", "", "", ""},
		{"memory/2026-04-18-1_2026-04-20-1.md", "", "", ""},
	} {
		f, ok := parseLogPath(tt.path, time.UTC)
		if ok != (tt.span != "") {
			t.Errorf("fileOf(%s) = %+v, %v", tt.path, f, ok)
			continue
		}
		if from, to := f.firstDay.Format("2006-01-02"), f.endDay.Format("2006-01-02"); ok &&
			(f.spanName != tt.span || from != tt.from || to != tt.to) {
			t.Errorf(
				"fileOf(%s) is %s from %s to %s, want %s from %s to %s",
				tt.path,
				f.spanName,
				from,
				to,
				tt.span,
				tt.from,
				tt.to,
			)
		}
	}
}

// TestWithinBucket tests which daily logs belong to a bucket, which is a file with summaries of a range of sessions.
// The name of the bucket contains the dates and the numbers of its first and last session. A log belongs to the bucket
// if its date and number are in this range.
func TestWithinBucket(t *testing.T) {
	bucket, _ := parseLogPath("memory/bucket-0/2026-04-18-2_2026-04-20-10.md", time.UTC)
	for base, want := range map[string]bool{"2026-04-17-9": false, "2026-04-18-1": false, "2026-04-18-2": true,
		"2026-04-18":    true,
		"2026-04-19-99": true, "2026-04-20-9": true, "2026-04-20-10": true, "2026-04-20-11": false,
		"2026-04-21-1": false} {
		f, ok := parseLogPath("memory/"+base+".md", time.UTC)
		if got := f.isSessionInBucket(bucket); got != want || !ok {
			t.Errorf("%s is within the bucket: %v, want %v", base, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	created := func(e oxbow.Entry) string { return e.Created.Format(time.RFC3339) }
	for _, tt := range []struct {
		name, text string
		want       string // name|kind|created|labels|content of each entry, separated by ;
	}{
		{
			"before there were labels",
			"# A day\n\nWords.\n",
			"2026-04-18|journal|2026-04-18T00:00:00Z||# A day\n\nWords.",
		},
		{
			"as in the design",
			"---\nproject: \"homebrew-vtt\"\ntags: [\"architecture\", \"decision\"]\nrelated_files: " +
				"[\"pkg/vtt/spatial.go\"]\n---\nBuilt spatial awareness system...\n",
			"2026-04-18|journal|2026-04-18T00:00:00Z|file:pkg/vtt/spatial.go project:homebrew-vtt tag:architecture " +
				"tag:decision|Built spatial awareness system...",
		},
		{
			"moments of a day",
			"---\ntime: 2026-04-18T10:00:00+02:00\n---\n\nOne.\n\n---\ntime: 14:05\nkind: " +
				"note\n---\n\nOne.\n\n---\ntags: x\n---\nOne.",
			"2026-04-18 One.|journal|2026-04-18T08:00:00Z||One.;2026-04-18 One. " +
				"(2)|note|2026-04-18T14:05:00Z||One.;2026-04-18 One. (3)|journal|2026-04-18T00:00:00Z|tag:x|One.",
		},
		{
			"old, then new",
			"Old.\n\n---\nname: New\ntime: 09:00:30\n---\n\nWords.\n\n",
			"2026-04-18|journal|2026-04-18T00:00:00Z||Old.;New|journal|2026-04-18T09:00:30Z||Words.\n",
		},
		{
			"front matter of somebody else",
			"---\ntitle: A day\ndate: 2026-04-18\n---\nWords.",
			"2026-04-18|journal|2026-04-18T00:00:00Z||Words.",
		},
		{
			"a rule at the top",
			"---\n\nWords.\n\n---\n",
			"2026-04-18|journal|2026-04-18T00:00:00Z||---\n\nWords.\n\n---",
		},
		{
			"rules in the text",
			"A.\n\n---\ntitle: no key of ours\n---\n\nB.",
			"2026-04-18|journal|2026-04-18T00:00:00Z||A.\n\n---\ntitle: no key of ours\n---\n\nB.",
		},
		{
			"not closed",
			"A.\n\n---\nproject: x\n\nB.",
			"2026-04-18|journal|2026-04-18T00:00:00Z||A.\n\n---\nproject: x\n\nB.",
		},
		{"nothing behind a key", "---\ntags:\nproject:\n---\nA.", "2026-04-18|journal|2026-04-18T00:00:00Z||A."},
		{"only spaces", " \n\n", ""},
		{
			"a mark of order, and carriage returns",
			"\ufeff---\r\nproject: vtt\r\n---\r\n\r\nA.\r\nB.\r\n",
			"2026-04-18|journal|2026-04-18T00:00:00Z|project:vtt|A.\nB.",
		},
	} {
		items, err := logLayout{time.UTC}.Parse("memory/2026-04-18.md", tt.text)
		if err != nil {
			t.Errorf("%s: Parse() = %v", tt.name, err)
		}
		var got []string
		for _, it := range items {
			var labels []string
			for _, l := range it.Entry.Labels {
				labels = append(labels, l.String())
			}
			got = append(
				got,
				strings.Join(
					[]string{it.Entry.Name, it.Entry.Kind.String(), created(it.Entry), strings.Join(labels, " "),
						it.Entry.Content},
					"|",
				),
			)
		}
		if s := strings.Join(got, ";"); s != tt.want {
			t.Errorf("%s: Parse() =\n%q, want\n%q", tt.name, s, tt.want)
		}
	}
}

// TestDiagnostics checks that mistakes are reported with file and line, and that nothing is lost: invalid front matter
// counts as content.
func TestDiagnostics(t *testing.T) {
	for _, tt := range []struct{ front, wrong string }{
		{"project: &a x", ":4:10: &a is an anchor"},
		{"project: x\ntags: *a", ":4: is not YAML: unknown anchor"},
		{"project: !!str x", ":4:10: !!str is a tag"},
		{"project: x\ntags: [[a]]", ":5:8: a value of tags is a list"},
		{"tags: [[[[[a]]]]]", "nested"},
		{"project: " + strings.Repeat("x", 70_000), "the most is"},
		{"project: x\nproject: y", ":5:1: project is given twice; it stands in line 4 too"},
		{"confidence: 7", ":4:13: confidence \"7\" is not a number from 0 to 1"},
		{"process: perhaps", ":4:10: process is \"perhaps\"; write true or false"},
		{"time: noon", ":4:7: time is \"noon\"; write a time"},
		{"kind: idea", ":4:7: kind \"idea\" is not one of note"},
		{"name: \" x\"", ":4:7: name \" x\" begins"},
		{"labels: [x]", ":4:10: label \"x\" has no colon"},
		{"tags: {a: b}", ":4:7: tags is a mapping"},
		{"tags: a: b", ":4: is not YAML"},
	} {
		text := "Old.\n\n---\n" + tt.front + "\n---\n\nNew.\n\n---\nname: good\n---\n\nGood.\n"
		items, err := logLayout{time.UTC}.Parse("memory/2026-04-18.md", text)
		if err == nil || !strings.Contains(err.Error(), tt.wrong) || !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("%.20q: Parse() = %v, want %q", tt.front, err, tt.wrong)
		}
		if len(items) != 2 || !strings.Contains(items[0].Entry.Content, "New.") || items[1].Entry.Name != "good" {
			t.Errorf("%.20q: Parse() = %+v", tt.front, items)
		}
	}
}

// TestBrokenLogIsLeftAlone checks that a log that cannot be read is reported and not changed. New entries of the day
// are written to a second file.
func TestBrokenLogIsLeftAlone(t *testing.T) {
	fsys := vfs.NewMem()
	const broken = "---\nproject: [x\n---\nOld.\n"
	put(t, fsys, "memory/2026-04-18.md", broken)
	s := openTree(t, fsys)
	if err := s.Apply(t.Context(), oxbow.Add{Name: "new", Content: "New."}); err != nil {
		t.Fatal(err)
	}
	err := s.Apply(t.Context(), oxbow.Relabel{Name: "2026-04-18", Labels: []oxbow.Label{{Key: "tag", Value: "x"}}})
	if !errors.Is(err, oxbow.ErrInvalid) || !strings.Contains(err.Error(), "mended") {
		t.Errorf("Apply() to a broken log = %v", err)
	}
	if got := read(t, fsys, "memory/2026-04-18.md"); got != broken {
		t.Errorf("the broken log is %q", got)
	}
	if got := read(t, fsys, "memory/2026-04-18-2.md"); !strings.Contains(got, "New.") {
		t.Errorf("the second file is %q", got)
	}
	rep, err := s.Check(t.Context())
	if err != nil || len(rep.Problems) != 1 || !strings.Contains(rep.Problems[0].What, "memory/2026-04-18.md:2") {
		t.Errorf("Check() = %+v, %v", rep.Problems, err)
	}
	// As soon as a person has corrected the log, its entries can be read.
	put(t, fsys, "memory/2026-04-18.md", "---\nproject: [x]\n---\nOld.\n")
	if e, err := s.Get(t.Context(), "2026-04-18"); err != nil || e.Content != "Old." || len(e.Labels) != 1 {
		t.Errorf("Get() = %+v, %v", e, err)
	}
}

// TestWholeLogs tests logs that were written before entries had labels. Their entries are added to another, empty tree.
// The logs of this tree must have the same texts.
func TestWholeLogs(t *testing.T) {
	fsys := vfs.NewMem()
	was := map[string]string{
		"memory/2026-04-03.md":          "# Old\n\nWords.\n",
		"memory/2026-04-03-2.md":        "---\nproject: vtt\n---\n\nMore.\n",
		"memory/2026-04-04-session2.md": "\\---\ntitle: not front matter\n---\n",
	}
	for p, text := range was {
		put(t, fsys, p, text)
	}
	var adds []oxbow.Op
	for e, err := range openTree(t, fsys).Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		adds = append(
			adds,
			oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Labels: e.Labels, Created: e.Created},
		)
	}
	back := vfs.NewMem()
	if err := openTree(t, back).Apply(t.Context(), adds...); err != nil {
		t.Fatal(err)
	}
	for p, text := range was {
		if got := read(t, back, p); got != text {
			t.Errorf("%s came back as %q, want %q", p, got, text)
		}
	}
}

// TestLongDay checks that a long day is continued in another file.
func TestLongDay(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, "memory/2026-04-18.md", strings.Repeat("x", maxLogSize+1)+"\n")
	s := openTree(t, fsys)
	if err := s.Apply(t.Context(), oxbow.Add{Name: "new", Content: "New."}); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Locate(t.Context(), "new"); err != nil || p.Path != "memory/2026-04-18-2.md" {
		t.Errorf("it is in %s, %v", p.Path, err)
	}
}

// TestDaysAreAppended checks that a new entry changes no byte of the existing log.
func TestDaysAreAppended(t *testing.T) {
	fsys := vfs.NewMem()
	s := openTree(t, fsys)
	last := ""
	for i, name := range []string{"a", "b", "c", "d"} {
		add := oxbow.Add{Name: name, Content: strings.Repeat("\n", i) + name + strings.Repeat("\n", i)}
		if err := s.Apply(t.Context(), add); err != nil {
			t.Fatal(err)
		}
		now := read(t, fsys, "memory/2026-04-18.md")
		if !strings.HasPrefix(now, last) || now == last {
			t.Errorf("the log %q became %q", last, now)
		}
		last = now
	}
	if got := all(t, openTree(t, fsys)); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("entries %q", got)
	}
}

// FuzzLog checks that any log can be read. An entry that is appended or edited must be read back, and the other
// entries must not change.
func FuzzLog(f *testing.F) {
	f.Add("# Old\n\nlog\n", "new\n\ncontent\n", "a tag")
	f.Add("---\nproject: x\n---\n\nA\n\n---\ntime: 10:00\ntags: [a, \"b: c\"]\n---\nB", "---\nname: evil\n---\n", "x")
	f.Add("\ufeff---\r\ntitle: t\r\n---\r\n\r\nA\r\n", "\\---\nname: x", "é")
	f.Add(
		"---\nlabels: [\"project:x\"]\n# c\nname: >\n  folded\n  name\n---\n---\ntags:\n- a\n---\n\n\n",
		"\n\n",
		"true",
	)
	f.Add(" ", "0", "0")
	f.Add("---\n---\nname: x\n---\n", "a", "null")
	f.Fuzz(func(t *testing.T, text, content, tag string) {
		if text == "" || !validText(text) || oxbow.CheckContent(content) != nil ||
			(oxbow.Label{Key: "tag", Value: tag}).Check() != nil {
			return
		}
		fsys := vfs.NewMem()
		put(t, fsys, "memory/2026-04-18.md", text)
		s := openTree(t, fsys)
		entries := func(s *mdtree.Store) map[string]oxbow.Entry {
			es := map[string]oxbow.Entry{}
			for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
				if err != nil {
					t.Fatal(err)
				}
				e.ID = 0
				es[e.Name] = e
			}
			return es
		}
		same := func(step string, was, is map[string]oxbow.Entry, but string) {
			t.Helper()
			for name, e := range was {
				if got := is[name]; name != but &&
					(got.Content != e.Content || !slices.Equal(got.Labels, e.Labels) || got.Kind != e.Kind ||
						!slices.Equal(got.Aliases, e.Aliases)) {
					t.Errorf("%s: entry %q was %+v and is %+v", step, name, e, got)
				}
			}
		}
		was := entries(s)
		if _, taken := was["fuzzed"]; taken {
			return
		}
		add := oxbow.Add{Name: "fuzzed", Content: content, Labels: []oxbow.Label{{Key: "tag", Value: tag}}}
		if err := s.Apply(t.Context(), add); err != nil {
			t.Fatalf("Add = %v to %q", err, text)
		}
		now := entries(openTree(t, fsys))
		same("Add", was, now, "")
		if e := now["fuzzed"]; e.Content != content || !slices.Equal(e.Labels, add.Labels) {
			t.Errorf("the entry came back as %+v", e)
		}
		for name, e := range was {
			before := read(t, fsys, "memory/2026-04-18.md")
			labels := append(slices.Clone(e.Labels), oxbow.Label{Key: "tag", Value: tag})
			if err := s.Apply(t.Context(), oxbow.Relabel{Name: name, Labels: labels}); err != nil {
				if !errors.Is(err, oxbow.ErrInvalid) || read(t, fsys, "memory/2026-04-18.md") != before {
					t.Errorf("Relabel(%q) = %v", name, err)
				}
				continue
			}
			is := entries(openTree(t, fsys))
			same("Relabel", was, is, name)
			if got := is[name]; got.Content != e.Content || !slices.Equal(got.Labels, oxbow.SortLabels(labels)) {
				t.Errorf("Relabel(%q) made %+v of %+v", name, got, e)
			}
			if err := s.Apply(t.Context(), oxbow.Remove{Name: name}); err == nil {
				same("Remove", map[string]oxbow.Entry{"fuzzed": now["fuzzed"]}, entries(openTree(t, fsys)), "")
			}
			break
		}
	})
}

func validText(s string) bool { return oxbow.CheckContent(s) == nil }
