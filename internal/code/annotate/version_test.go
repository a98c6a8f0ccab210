// This file tests that deleted lines are not mistaken for other, similar lines.

package annotate

import (
	"fmt"
	"strings"
	"testing"
)

const siblingFunctions = `package walk

// Files lists the files of a directory, the oldest first, without links.
func Files(dir string) ([]string, error) {
	entries, err := list(dir)
	if err != nil {
		return nil, err
	}
	return oldestFirst(entries, withoutLinks), nil
}

// Dirs lists the directories below a directory, the deepest first.
func Dirs(dir string) ([]string, error) {
	entries, err := list(dir)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(trace, "directories below", dir, "as they were listed:", entries)
	slog.Info("directories are listed, the deepest first", "below", dir)
	return deepestFirst(entries), nil
}
`

func TestGoneAmongLinesThatAreAlike(t *testing.T) {
	from, to := strings.Index(siblingFunctions, "// Files"), strings.Index(siblingFunctions, "// Dirs")
	files := siblingFunctions[from:to]
	swapped := func(s string) string {
		one, two := `	fmt.Fprintln(trace, "directories below", dir, "as they were listed:", entries)`, `	slog.Info("directories are listed, the deepest first", "below", dir)`
		return strings.Replace(s, one+"\n"+two, two+"\n"+one, 1)
	}
	for _, c := range []struct {
		name   string
		line   int // number of the annotated line
		change func(string) string
		placed PlacementKind
		now    int
	}{
		{"the function is gone, and its twin is another", 7, func(s string) string {
			return strings.Replace(s, files, "", 1)
		}, NotPlaced, 0},
		{"two lines changed places", 18, swapped, PlacedAfterMove, 19},
		{"the other of the two", 19, swapped, PlacedByTracking, 18},
		{"the function has moved", 6, func(s string) string {
			return strings.Replace(s, files, "", 1) + "\n" + files
		}, PlacedAfterMove, 17},
		{"the line stands alone in something new", 9, func(s string) string {
			return strings.Replace(s, files, "", 1) +
				"\n// Newest lists files, the newest last.\nfunc Newest(dir string) ([]string, error) {\n" +
				"\tentries := must(list(dir))\n\treturn oldestFirst(entries, withoutLinks), nil\n}\n"
		}, NotPlaced, 0},
		{"another line that is gone was rather the one that is there", 9, func(s string) string {
			return strings.Replace(
				s,
				"\tentries, err := list(dir)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn "+
					"oldestFirst(entries, withoutLinks), nil\n",
				"\tentries, err := list(dir, oldestFirst)\n", 1,
			)
		}, NotPlaced, 0},
		{"it was reworded", 9, func(s string) string {
			return strings.Replace(
				s,
				"return oldestFirst(entries, withoutLinks), nil",
				"return oldestFirst(entries, withoutLinks, false), nil",
				1,
			)
		}, PlacedAfterEdit, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRepo(t)
			g.write("walk.go", siblingFunctions)
			g.commit()
			b := g.store()
			add(t, b, Record{File: "walk.go", Span: LineSpan{c.line, c.line}, Why: c.name})
			g.write("walk.go", c.change(siblingFunctions))
			var now LineSpan
			if c.now > 0 {
				now = LineSpan{c.now, c.now}
			}
			checkFound(t, whole(t, b, "walk.go"), c.placed, now)
		})
	}
}

// TestBlockOfWhichHalfIsLeft checks that an annotation finds its block again after an edit. The edit replaces three of
// the seven lines of the block, or changes the indentation of the whole file, or both.
func TestBlockOfWhichHalfIsLeft(t *testing.T) {
	block := "\tfor _, e := range entries {\n\t\tif e.IsDir() {\n\t\t\tcontinue\n\t\t}\n\t\tout = append(out, " +
		"e.Name())\n\t}\n\tslices.Sort(out)\n"
	text := "package walk\n\nfunc Files(dir string) []string {\n" + block + "\treturn out\n}\n"
	for _, c := range []struct {
		name string
		now  string
		span LineSpan
	}{
		{
			"three lines of seven are others",
			strings.NewReplacer(
				"slices.Sort(out)",
				"notify(watchers, completed)",
				"out = append(out, e.Name())",
				"emit(channel, describe(e))",
				"\t\t\tcontinue", "\t\t\tstatistics.Directories++",
			).Replace(text), LineSpan{4, 10},
		},
		{"indented anew", strings.ReplaceAll(text, "\t", "    "), LineSpan{4, 10}},
		{
			"indented anew, and a line is another",
			strings.ReplaceAll(strings.Replace(text, "e.IsDir()", "entry.Kind == Directory", 1), "\t", "    "),
			LineSpan{4, 10},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRepo(t)
			g.write("walk.go", text)
			g.commit()
			b := g.store()
			add(t, b, Record{File: "walk.go", Span: LineSpan{4, 10}, Why: c.name})
			g.write("walk.go", c.now)
			if f := whole(t, b, "walk.go"); f.Placement != PlacedAfterEdit || f.CurrentSpan != c.span {
				t.Errorf(
					"found %s at %s (%.2f, %s), want edited at %s",
					f.Placement,
					f.CurrentSpan,
					f.Confidence,
					f.Explanation,
					c.span,
				)
			}
		})
	}
}

// TestConfidenceOfEdited checks the confidence with which annotated lines are found after an edit. The confidence must
// be at least 0.5 if at least one line is unchanged, apart from white space. It must be less than 0.5 if the only line
// is merely similar.
func TestConfidenceOfEdited(t *testing.T) {
	const text = "first: one thing\nsecond: uses actions/checkout@v4\nthird: another\nfourth: a last one of the lines\n"
	for _, c := range []struct {
		name string
		span LineSpan
		now  string
		sure bool
	}{
		{"a line that was indented", LineSpan{2, 2}, strings.Replace(text, "second", "\tsecond", 1), true},
		{"a line of which a word is another", LineSpan{2, 2}, strings.Replace(text, "v4", "v5", 1), false},
		{"a line of which a sign is another", LineSpan{2, 2}, strings.Replace(text, "second:", "second =", 1), false},
		{
			"two lines of which one is another",
			LineSpan{2, 3},
			strings.Replace(text, "third: another", "third: some other", 1),
			true,
		},
	} {
		for _, git := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, with git %v", c.name, git), func(t *testing.T) {
				g := newRepo(t)
				g.write("a.yaml", text)
				if git {
					g.commit()
				}
				b := g.store()
				add(t, b, Record{File: "a.yaml", Span: c.span, Why: c.name})
				g.write("a.yaml", c.now)
				if f := whole(t, b, "a.yaml"); f.Placement != PlacedAfterEdit || f.CurrentSpan != c.span ||
					(f.Confidence >= .5) != c.sure {
					t.Errorf(
						"found %s at %s with confidence %.2f (%s), want edited at %s, sure %v",
						f.Placement,
						f.CurrentSpan,
						f.Confidence,
						f.Explanation,
						c.span,
						c.sure,
					)
				}
			})
		}
	}
}

// TestShortLinesAreDoubtful checks that the confidence is low if a short line was found among lines that have all
// changed.
func TestShortLinesAreDoubtful(t *testing.T) {
	g := newRepo(t)
	var old, now []string
	for i := range 12 {
		old = append(old, fmt.Sprintf("first(%d, of, the, old, ones)", i))
		now = append(now, fmt.Sprintf("another(%d, of, the, new, calls)", i))
	}
	old[6], now[6] = "endif", "endif"
	g.write("a.vim", strings.Join(old, "\n")+"\n")
	g.commit()
	b := g.store()
	add(t, b, Record{File: "a.vim", Span: LineSpan{7, 7}, Why: "endif"})
	g.write("a.vim", strings.Join(now, "\n")+"\n")
	if f := whole(t, b, "a.vim"); f.Confidence > .7 {
		t.Errorf("found %s with confidence %.2f (%s)", f.Placement, f.Confidence, f.Explanation)
	}
	g.write("a.vim", "new\n"+strings.Join(old, "\n")+"\n")
	if f := whole(t, b, "a.vim"); f.Confidence < .99 {
		t.Errorf("among its own lines found %s with confidence %.2f (%s)", f.Placement, f.Confidence, f.Explanation)
	}
}

// TestCopiesThatBecameOne replaces the same lines of several functions by one helper function. The annotated lines
// must not be found in the helper, because they may have come from another copy. The lines of a function that was
// moved must be found.
func TestCopiesThatBecameOne(t *testing.T) {
	var three, one strings.Builder
	for i, name := range []string{"Create", "Update", "Remove"} {
		fmt.Fprintf(
			&three,
			"func Test%s(t *testing.T) {\n\toutput, err := run(%q, %d)\n\tif output != \"\" "+
				"{\n\t\tt.Errorf(\"unexpected output: %%v\", output)\n\t}\n"+
				"\tif err != nil {\n\t\tt.Errorf(\"unexpected error: %%v\", err)\n\t}\n}\n\n", name, name, i,
		)
		fmt.Fprintf(
			&one,
			"func Test%s(t *testing.T) {\n\toutput, err := run(%q, %d)\n\texpectSuccess(output, err, t)\n}\n\n",
			name,
			name,
			i,
		)
	}
	helper := "func expectSuccess(output string, err error, t *testing.T) {\n\tif output != \"\" " +
		"{\n\t\tt.Errorf(\"unexpected output: %v\", output)\n\t}\n" +
		"\tif err != nil {\n\t\tt.Errorf(\"unexpected error: %v\", err)\n\t}\n}\n\n"
	cut := strings.Index(three.String(), "func TestUpdate")
	moved := three.String()[cut:] + three.String()[:cut]
	for _, c := range []struct {
		name string
		line int
		now  string
		want PlacementKind
	}{
		{"a line of the first copy", 4, "// Helpers.\n\n" + helper + one.String(), NotPlaced},
		{"a line of the second copy", 14, "// Helpers.\n\n" + helper + one.String(), NotPlaced},
		{"a line of a function that has moved", 4, moved, PlacedAfterMove},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRepo(t)
			g.write("x_test.go", three.String())
			g.commit()
			b := g.store()
			add(t, b, Record{File: "x_test.go", Span: LineSpan{c.line, c.line}, Why: c.name})
			g.write("x_test.go", c.now)
			if got := whole(t, b, "x_test.go"); got.Placement != c.want {
				t.Errorf(
					"Lookup = %s %v %.2f (%s), want %s",
					got.Placement,
					got.CurrentSpan,
					got.Confidence,
					got.Explanation,
					c.want,
				)
			}
		})
	}
}

// TestFewLettersAreNotReworded tests annotations of a line with few letters, such as "if err != nil {". Many lines are
// similar to such a line. After the line was changed, the annotation may be placed at a similar line only if the lines
// around it are unchanged.
func TestFewLettersAreNotReworded(t *testing.T) {
	const was = "package x\n\nfunc update(path string) error {\n\tgot, err := os.ReadFile(path)\n\tif err != nil " +
		"{\n\t\treturn err\n\t}\n\treturn write(golden, got)\n}\n"
	const other = "package x\n\nfunc create(c *Command) {\n\tdefer c.Project.Remove()\n\n\tif err := c.Create(); err " +
		"!= nil {\n\t\tpanic(err)\n\t}\n}\n"
	for _, c := range []struct {
		name, now string
		want      PlacementKind
	}{
		{"another function", other, NotPlaced},
		{"the same function", strings.Replace(was, "if err != nil {", "if path != got && err != nil {", 1),
			PlacedAfterEdit},
		{"indented", strings.Replace(was, "\tif err != nil {", "\t\tif err != nil  {", 1), PlacedAfterEdit},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRepo(t)
			g.write("x.go", was)
			g.commit()
			b := g.store()
			add(t, b, Record{File: "x.go", Span: LineSpan{5, 5}, Why: c.name})
			g.write("x.go", c.now)
			if got := whole(t, b, "x.go"); got.Placement != c.want {
				t.Errorf(
					"Lookup = %s %v %.2f (%s), want %s",
					got.Placement,
					got.CurrentSpan,
					got.Confidence,
					got.Explanation,
					c.want,
				)
			}
		})
	}
}
