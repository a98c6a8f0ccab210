// This file checks tests. They must not sleep, and their test data must exist.

package structure

import (
	"cmp"
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// testsDoNotSleep finds calls of time.Sleep in tests and in packages for tests. Calls inside a bubble of
// testing/synctest are permitted, because they take no time.
func testsDoNotSleep(h *house) (wrong []string) {
	for _, f := range h.files {
		if !f.test && !matches(f.dir, testSupport) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && isName(c.Fun, "synctest", "Test") {
				return false
			}
			if e, ok := n.(ast.Expr); ok && isName(e, "time", "Sleep") {
				wrong = append(wrong, fmt.Sprintf("%s: a test sleeps", h.fset.Position(e.Pos())))
			}
			return true
		})
	}
	return wrong
}

// isName reports whether the expression e is pkg.name.
func isName(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// dataIsThere checks that no directory of test data is empty, that there is a fuzz target for each fuzz corpus, and
// that glob patterns in tests match files.
func dataIsThere(h *house) (wrong []string) {
	targets := map[string]bool{} // The keys have the form directory/name.
	dirs := map[string]bool{}
	for _, f := range h.files {
		dirs[f.dir] = true
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && strings.HasPrefix(fn.Name.Name, "Fuzz") {
				targets[path.Join(f.dir, fn.Name.Name)] = true
			}
		}
		if !f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok || len(c.Args) == 0 || (!isName(c.Fun, "filepath", "Glob") && !isName(c.Fun, "fs", "Glob")) {
				return true
			}
			lit, ok := c.Args[len(c.Args)-1].(*ast.BasicLit)
			if !ok {
				return true
			}
			pattern, err := strconv.Unquote(lit.Value)
			found, err2 := fs.Glob(h.fsys, path.Join(f.dir, pattern))
			if cmp.Or(err, err2) != nil || len(found) == 0 {
				wrong = append(wrong, fmt.Sprintf("%s: the glob %s finds nothing", h.fset.Position(c.Pos()), lit.Value))
			}
			return true
		})
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		data := path.Join(dir, "testdata")
		if _, err := fs.Stat(h.fsys, data); err != nil {
			continue
		}
		err := fs.WalkDir(h.fsys, data, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			in, err := fs.ReadDir(h.fsys, p)
			if len(in) == 0 {
				wrong = append(wrong, p+": is empty")
			}
			if path.Base(path.Dir(p)) == "fuzz" && !targets[path.Join(dir, path.Base(p))] {
				wrong = append(wrong, p+": there is no fuzz target of that name")
			}
			return err
		})
		if err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	return wrong
}

var testRules = []rule{
	{"TestsDoNotSleep", testsDoNotSleep, map[string]string{
		"a.go":                 `package oxbow; import "time"; func a() { time.Sleep(1) }`,
		"a_test.go":            "package oxbow\nimport \"time\"\nfunc b() { time.Sleep(1) }",
		"b_test.go":            "package oxbow\nimport \"time\"\nvar wait = time.Sleep",
		"c_test.go":            `package oxbow; import ("testing";"testing/synctest";"time"); func TestX(t *testing.T) { synctest.Test(t, func(*testing.T) { time.Sleep(1) }) }`,
		"store/storetest/a.go": "package storetest\nimport \"time\"\nfunc a() { time.Sleep(1) }",
	}, []string{
		"a_test.go:3:12: a test sleeps",
		"b_test.go:3:12: a test sleeps",
		"store/storetest/a.go:3:12: a test sleeps",
	}},
	{"DataIsThere", dataIsThere, map[string]string{
		"a_test.go": "package oxbow\nimport \"path/filepath\"\nfunc FuzzA() { " +
			"filepath.Glob(\"testdata/*.txt\") }\nfunc b() { filepath.Glob(\"testdata/*.json\") }",
		"testdata/a.txt":             "x",
		"testdata/fuzz/FuzzA/1":      "go test fuzz v1\n",
		"testdata/fuzz/FuzzGone/1":   "go test fuzz v1\n",
		"vfs/a_test.go":              `package vfs`,
		"vfs/testdata/empty/":        "",
		"vfs/testdata/fuzz/FuzzA/12": "go test fuzz v1\n", // an error, because FuzzA is in another package
	}, []string{
		"a_test.go:4:12: the glob \"testdata/*.json\" finds nothing",
		"testdata/fuzz/FuzzGone: there is no fuzz target",
		"vfs/testdata/empty: is empty", "vfs/testdata/fuzz/FuzzA: there is no fuzz target",
	}},
}
