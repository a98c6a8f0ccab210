// This file tests the lines and names of sidecars, which are the files with annotations. It also tests how incompletely
// written, merged and damaged sidecars are read.

package annotate

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

func sample(n int) *Record {
	r := &Record{File: "a/b.go", Span: LineSpan{n, n}, Why: "why " +
		strings.Repeat("<&>\u2028\n", n), Time: noon.Add(time.Duration(n) * time.Second),
		LinesBefore: []string{"", "\t{"}, LinesAfter: []string{"}"}}
	r.SetBlock([]string{"\tx := \"" + strings.Repeat("y", n) + "\""})
	r.ID = r.defaultID()
	return r
}

func encoded(t testing.TB, r *Record) string {
	t.Helper()
	b, err := appendRecord(nil, r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEncodeParses(t *testing.T) {
	r := sample(3)
	text := encoded(t, r)
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		t.Fatalf("a record is %q, want one line", text)
	}
	s := parseSidecar([]byte(text))
	if len(s.records) != 1 || !reflect.DeepEqual(s.records[0], r) {
		t.Errorf("parse gives %+v, want %+v", s.records, r)
	}
}

// TestMergesInAnyOrder checks that the order and the repetition of lines do not matter, because git's union merge may
// reorder and repeat them.
func TestMergesInAnyOrder(t *testing.T) {
	var lines []string
	for i := range 6 {
		lines = append(lines, encoded(t, sample(i+1)))
	}
	// twin has the same ID as another record, but another text. parseSidecar must always choose the same one of these
	// two records.
	twin := *sample(2)
	twin.Why = "a fake under the same id"
	lines = append(lines, encoded(t, &twin))
	for i, e := range []archiveEvent{{recordID: sample(1).ID, time: noon}, {recordID: sample(1).ID,
		isRestoration: true, time: noon.Add(time.Hour)},
		{recordID: sample(2).ID, time: noon, gcRunName: "r"}, {recordID: sample(2).ID, isRestoration: true, time: noon,
			gcRunName: "s"},
		{recordID: sample(2).ID, isRestoration: true, time: noon, gcRunName: "t", undoneGCRunName: "r"},
		{recordID: sample(3).ID, isRestoration: true, time: noon}, {recordID: sample(3).ID, time: noon.Add(1)}} {
		b, err := e.appendEvent(nil)
		if err != nil {
			t.Fatal(i, err)
		}
		lines = append(lines, string(b))
	}
	want := parseSidecar([]byte(strings.Join(lines, "")))
	if len(want.records) != 6 || want.records[0].Archived || want.records[1].Archived || !want.records[2].Archived {
		t.Fatalf(
			"parse gives %d records, archived %v %v %v",
			len(want.records),
			want.records[0].Archived,
			want.records[1].Archived,
			want.records[2].Archived,
		)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		mixed := append(append([]string(nil), lines...), lines[rng.IntN(len(lines))], "\n")
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if got := parseSidecar([]byte(strings.Join(mixed, ""))); !reflect.DeepEqual(got, want) {
			t.Fatalf("in another order the sidecar says %+v, want %+v", got, want)
		}
	}
}

func TestTornTail(t *testing.T) {
	one, two := encoded(t, sample(1)), encoded(t, sample(2))
	for cut := 1; cut < len(two); cut++ {
		s := parseSidecar([]byte(one + two[:cut]))
		whole := cut == len(two)-1 // the line is complete except for its line feed
		if want := 1; (len(s.records) != want && !whole) || s.hasIncompleteLastLine == whole ||
			len(s.damagedLines) > 0 {
			t.Fatalf(
				"cut at %d: %d records, torn %v, damaged %v",
				cut,
				len(s.records),
				s.hasIncompleteLastLine,
				s.damagedLines,
			)
		}
	}
	// The next append must start a new line.
	m, b := tree(t, map[string]string{"a.txt": numbered(4)})
	add(t, b, Record{File: "a.txt", Span: LineSpan{1, 1}, Why: "one"})
	name := ".oxbow/annotations/a.txt.why"
	put(t, m, name, get(t, m, name)+two[:len(two)/2])
	b.clearCaches()
	add(t, b, Record{File: "a.txt", Span: LineSpan{2, 2}, Why: "two"})
	s := parseSidecar([]byte(get(t, m, name)))
	if len(s.records) != 2 || len(s.damagedLines) != 1 {
		t.Errorf("after a torn write: %d records, %d damaged lines, want 2 and 1", len(s.records), len(s.damagedLines))
	}
}

func TestParseSetsAside(t *testing.T) {
	good := encoded(t, sample(1))
	for _, c := range []struct {
		name, line     string
		newer, damaged int
	}{
		{"a newer version", `{"v":2,"id":"x","lines":"all of them"}`, 1, 0},
		{"no version", `{"id":"x","file":"a","why":"w"}`, 0, 1},
		{"no id", `{"v":1,"file":"a","why":"w"}`, 0, 1},
		{"two ids", `{"v":1,"id":"a","archive":"b"}`, 0, 1},
		{"not JSON", `hello`, 0, 1},
		{"a path outside", `{"v":1,"id":"x","file":"../a","why":"w"}`, 0, 1},
		{"lines that are none", `{"v":1,"id":"x","file":"a","why":"w","lines":[5,2]}`, 0, 1},
		{"a conflict", `<<<<<<< HEAD`, 0, 1},
		{"not UTF-8", "{\"v\":1,\"id\":\"x\",\"file\":\"a\",\"why\":\"\xff\"}", 0, 1},
		{"nothing", ``, 0, 0},
		{"a Windows line end", strings.TrimSuffix(good, "\n") + "\r", 0, 0},
	} {
		s := parseSidecar([]byte(c.line + "\n" + good))
		if s.newerFormatLineCount != c.newer || len(s.damagedLines) != c.damaged || len(s.records) != 1 {
			t.Errorf(
				"%s: %d records, %d newer, damaged %v; want 1, %d, %d",
				c.name,
				len(s.records),
				s.newerFormatLineCount,
				s.damagedLines,
				c.newer,
				c.damaged,
			)
		}
	}
}

func TestSidecarNames(t *testing.T) {
	seen := map[string]string{}
	for _, file := range []string{"a.go", "a", "a.why", "a.why/b", "a%2Ewhy/b", "a\nb", "-rf", "con", "CON.txt",
		"x/aux/y", "a:b", `a\b`, "dot.", "sp ",
		".lock", ".gitignore", ".lock/x", "é/日本.go", "a%41", strings.Repeat("x", 250), strings.Repeat("y", 250) +
			".go", strings.Repeat("é", 100) + "/b"} {
		name := sidecarPath(file)
		low := strings.ToLower(name)
		if old, ok := seen[low]; ok {
			t.Errorf("%q and %q have the same sidecar %q", old, file, name)
		}
		seen[low] = file
		for part := range strings.SplitSeq(name, "/") {
			if len(part) > 255 || strings.ContainsAny(part, "\n:\\") || isReservedName(part) || part == ".lock" ||
				part == ".gitignore" {
				t.Errorf("%q has sidecar %q, whose part %q some system refuses", file, name, part)
			}
		}
		if back, ok := fileOfSidecarPath(name); (ok && back != file) || (!ok && len(file) < 200) {
			t.Errorf("fileOfSidecarPath(%q) = %q, %v, want %q", name, back, ok, file)
		}
	}
	// Windows reserves COM¹, but existing sidecars have this name
	if got := sidecarPath("COM¹"); got != "COM¹"+sidecarSuffix {
		t.Errorf("the sidecar of COM¹ is %q", got)
	}
	for _, name := range []string{"a.go", "a%2", "a%zz.why", "%61.why", "..%2F..%2Fetc.why", ".git/x.why"} {
		if file, ok := fileOfSidecarPath(name); ok {
			t.Errorf("fileOfSidecarPath(%q) = %q, want none", name, file)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(encoded(f, sample(1)) + encoded(f, sample(2))))
	f.Add([]byte(`{"v":1,"archive":"x","time":"2026-11-21T12:00:00Z"}` + "\n" + `{"v":9}`))
	f.Add([]byte("<<<<<<< a\n{\"v\":1,\"id\":\"x\",\"file\":\"a\",\"why\":\"w\",\"lines\":[1,2]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := parseSidecar(data)
		var again []byte
		for _, r := range s.records {
			var err error
			again, err = appendRecord(again, r)
			if err != nil {
				return // the record has a time that JSON cannot represent, or a line that is too long
			}
		}
		got := parseSidecar(again)
		if len(got.records) != len(s.records) || len(got.damagedLines) > 0 {
			t.Fatalf("%d records written back are %d, damaged %v", len(s.records), len(got.records), got.damagedLines)
		}
		for i, r := range s.records {
			if g := got.records[i]; g.ID != r.ID || g.Why != r.Why ||
				(!reflect.DeepEqual(g.Block, r.Block) && len(r.Block) > 0) {
				t.Fatalf("record %d came back as %+v, want %+v", i, g, r)
			}
		}
	})
}

func FuzzSourceOf(f *testing.F) {
	for _, s := range []string{"a.go.why", "a%2Ewhy/b.why", "%63on.why", "x%~00.why"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		file, ok := fileOfSidecarPath(name)
		if ok && (CheckFile(file) != nil || sidecarPath(file) != name) {
			t.Fatalf("fileOfSidecarPath(%q) = %q, which has sidecar %q", name, file, sidecarPath(file))
		}
		if CheckFile(name) == nil {
			if back, ok := fileOfSidecarPath(sidecarPath(name)); ok && back != name {
				t.Fatalf("sidecarPath(%q) = %q, which is that of %q", name, sidecarPath(name), back)
			}
		}
	})
}
