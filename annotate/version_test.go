// Tests that lines that are gone are not taken for others like them.

package annotate

import (
	"strings"
	"testing"
)

const twins = `package walk

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
	from, to := strings.Index(twins, "// Files"), strings.Index(twins, "// Dirs")
	files := twins[from:to]
	swapped := func(s string) string {
		one, two := `	fmt.Fprintln(trace, "directories below", dir, "as they were listed:", entries)`, `	slog.Info("directories are listed, the deepest first", "below", dir)`
		return strings.Replace(s, one+"\n"+two, two+"\n"+one, 1)
	}
	for _, c := range []struct {
		name   string
		line   int // annotated
		change func(string) string
		placed Placing
		now    int
	}{
		{"the function is gone, and its twin is another", 7, func(s string) string { return strings.Replace(s, files, "", 1) }, Lost, 0},
		{"two lines changed places", 18, swapped, Moved, 19},
		{"the other of the two", 19, swapped, Tracked, 18},
		{"the function has moved", 6, func(s string) string { return strings.Replace(s, files, "", 1) + "\n" + files }, Moved, 17},
		{"the line stands alone in something new", 9, func(s string) string {
			return strings.Replace(s, files, "", 1) + "\n// Newest lists files, the newest last.\nfunc Newest(dir string) ([]string, error) {\n" +
				"\tentries := must(list(dir))\n\treturn oldestFirst(entries, withoutLinks), nil\n}\n"
		}, Lost, 0},
		{"another line that is gone was rather the one that is there", 9, func(s string) string {
			return strings.Replace(s, "\tentries, err := list(dir)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn oldestFirst(entries, withoutLinks), nil\n",
				"\tentries, err := list(dir, oldestFirst)\n", 1)
		}, Lost, 0},
		{"it was reworded", 9, func(s string) string {
			return strings.Replace(s, "return oldestFirst(entries, withoutLinks), nil", "return oldestFirst(entries, withoutLinks, false), nil", 1)
		}, Edited, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRepo(t)
			g.write("walk.go", twins)
			g.commit()
			b := g.store()
			add(t, b, Record{File: "walk.go", Span: Span{c.line, c.line}, Why: c.name})
			g.write("walk.go", c.change(twins))
			var now Span
			if c.now > 0 {
				now = Span{c.now, c.now}
			}
			checkFound(t, whole(t, b, "walk.go"), c.placed, now)
		})
	}
}
