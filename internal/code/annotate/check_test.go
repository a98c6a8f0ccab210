// This file tests which damage is found when sidecars (the files with annotations) are checked, and which lines are
// recovered.

package annotate

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheckAndRecover(t *testing.T) {
	m, b := tree(t, map[string]string{"a.txt": numbered(20), "b.txt": numbered(20)})
	for i := range 4 {
		add(t, b, Record{File: "a.txt", Span: LineSpan{i + 1, i + 2}, Why: fmt.Sprint("a", i)})
	}
	add(t, b, Record{File: "b.txt", Span: LineSpan{1, 2}, Why: "b"})
	r, err := b.CheckSidecars(t.Context())
	if err != nil || r.Files != 2 || r.Annotations != 5 || r.Lines != 5 || len(r.Problems) != 0 {
		t.Fatalf("Check = %+v, %v", r, err)
	}
	if saved, err := b.RecoverSidecars(t.Context(), false); err != nil || len(saved) != 0 {
		t.Errorf("Recover of what is sound = %+v, %v", saved, err)
	}

	// Two lines are joined, one line has a changed letter in its block, one line is garbage, and the last line is cut
	// off.
	const name = ".oxbow/annotations/a.txt.why"
	lines := strings.SplitAfter(get(t, m, name), "\n")
	damaged := lines[0][:len(lines[0])-1] + lines[1] + strings.Replace(
		lines[2],
		`"block":["line 3"`,
		`"block":["line X"`,
		1,
	) + "gar\xffbage\n" + "\n" + lines[3] + lines[0][:50]
	put(t, m, name, damaged)
	// this name is normally encoded as %63on.txt, because Windows reserves con
	put(t, m, ".oxbow/annotations/con.txt.why", lines[0])
	r, err = b.CheckSidecars(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range r.Problems {
		got = append(got, fmt.Sprintf("%s:%d %s", p.File, p.Line, p.Description[:9]))
		if p.Line > 0 && p.Offset != int64(strings.Index(damaged, strings.SplitAfter(damaged, "\n")[p.Line-1])) {
			t.Errorf("line %d is said to be at %d", p.Line, p.Offset)
		}
	}
	want := name + ":1 cannot be|" + name + ":3 cannot be|" + name +
		":2 the lines|.oxbow/annotations/con.txt.why:0 is named "
	if s := strings.Join(got, "|"); s != want || r.FilesWithIncompleteLine != 1 || r.Annotations != 4 {
		t.Errorf("Check finds %s, %+v, want %s", s, r, want)
	}

	before := get(t, m, name)
	dry, err := b.RecoverSidecars(t.Context(), true)
	if err != nil || len(dry) != 1 || get(t, m, name) != before {
		t.Errorf("a dry run = %+v, %v", dry, err)
	}
	saved, err := b.RecoverSidecars(t.Context(), false)
	if err != nil || len(saved) != 1 || saved[0] != dry[0] ||
		saved[0] != (RecoverResult{name, 3, 2, name + ".damaged"}) {
		t.Fatalf("Recover = %+v, %v", saved, err)
	}
	kept := get(t, m, name+".damaged")
	if !strings.Contains(kept, "gar\xffbage\n") || !strings.Contains(kept, lines[0][:50]+"\n") ||
		!strings.HasPrefix(kept, lines[0][:20]) {
		t.Errorf("beside it is kept %q", kept)
	}
	rs, err := b.ReadRecords(t.Context(), "a.txt")
	if err != nil || len(rs) != 4 {
		t.Errorf("%d annotations are there, %v, want all 4", len(rs), err)
	}
	if r, err := b.CheckSidecars(t.Context()); err != nil || len(r.Problems) != 2 || r.FilesWithIncompleteLine != 0 {
		t.Errorf("Check after Recover = %+v, %v, want the changed letter and the name", r, err)
	}
	// A second recovery must not replace the backup of the first.
	put(t, m, name, get(t, m, name)+"more\n")
	if saved, err := b.RecoverSidecars(t.Context(), false); err != nil || len(saved) != 1 ||
		saved[0].BackupFile != name+
			".damaged-2" ||
		get(t, m, name+".damaged") != kept {
		t.Errorf("Recover again = %+v, %v", saved, err)
	}
}

func FuzzInside(f *testing.F) {
	one := encoded(f, sample(1))
	f.Add([]byte(strings.TrimSpace(one) + strings.TrimSpace(one)))
	f.Add([]byte(`{"v":{"v":1,"archive":"x"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, l := range completeLinesIn(text) {
			if r, e, _, err := parseSidecarLine(l); err != nil || (r == nil && e == nil) {
				t.Errorf("inside of %q is found %q, which is no line: %v", text, l, err)
			}
		}
	})
}
