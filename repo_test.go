// Tests the house itself: which package may import which, what the
// library may depend on, and the rules that every file keeps. Each rule is a
// function over a file system, so that it is tried on a broken house, too.

package oxbow_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/oxbow-memory/oxbow/internal/testenv"
	"github.com/oxbow-memory/oxbow/tool"
)

// module is the import path of the root package.
const module = "github.com/oxbow-memory/oxbow"

// floors says what each package of the module may import of the module, in
// code that is not a test. The first row that fits a package holds. A pattern
// with /* takes in the package and all below it; "." is the root. A package without a row has no place in the house yet: give it
// one.
var floors = []struct {
	pkg  string
	uses []string
}{
	{"vfs", nil},
	{"vfs/crashfs", []string{"vfs"}},
	{"vfs/vfstest", []string{"vfs"}},
	{"internal/*", []string{"vfs", "internal/*"}},
	{".", []string{"vfs", "internal/*"}},
	{"storetest", []string{"."}},
	{"query", []string{".", "internal/*"}},
	{"scope", []string{".", "internal/*"}},

	{"mdtree", []string{".", "vfs", "internal/diff", "internal/journal", "internal/text", "internal/watch"}},
	{"crmem", []string{".", "vfs", "internal/*"}},
	{"exchange", []string{".", "vfs", "internal/frontmatter", "internal/rawjson", "internal/text", "crmem"}},
	{"prompt", []string{".", "vfs", "internal/*"}},
	{"label", []string{".", "vfs", "internal/*"}},
	{"profile", []string{".", "vfs", "internal/*", "scope", "query", "prompt"}},
	{"auth", []string{".", "vfs", "internal/*", "scope", "profile"}},
	{"trust", []string{".", "vfs", "internal/*"}},
	{"lineage", []string{".", "internal/*"}},
	{"revert", []string{".", "internal/*", "lineage"}},
	{"agent/skill", []string{".", "vfs", "internal/*"}},
	{"agent/handoff", []string{".", "vfs", "internal/*", "prompt", "profile", "agent/skill"}},
	{"session", []string{".", "vfs", "internal/*", "label"}},
	{"session/extract", []string{"internal/*"}},
	{"session/handoff", []string{"internal/*", "session", "session/extract"}},
	{"session/inbox", []string{".", "internal/*", "session", "session/extract"}},
	{"session/transcript", []string{".", "internal/*", "session"}},
	{"annotate", []string{".", "vfs", "internal/*"}},
	{"annotate/*", []string{".", "internal/*", "annotate"}},
	{"agent/subagent", []string{".", "vfs", "internal/*", "scope", "prompt", "profile", "agent/skill"}},
	{"setup", []string{"vfs", "internal/*"}},
	{"backup", []string{".", "vfs"}},
	{"vectors", []string{".", "vfs"}},
	{"vectors/vectorstest", nil},
	{"gate", []string{"internal/*"}},
	{"inject", []string{".", "vfs", "internal/*", "query", "gate", "session", "session/extract"}},
	{"tool", []string{".", "vfs", "backup", "setup", "vectors", "gate", "inject", "internal/*", "label", "scope", "query", "mdtree", "exchange", "prompt", "profile", "agent/*", "trust", "lineage", "revert", "annotate", "annotate/*", "session", "session/*"}},

	{"dialect", []string{".", "vfs", "internal/*", "mdtree", "prompt", "tool"}},
	{"dialect/dialecttest", []string{".", "vfs", "tool", "dialect"}},
	{"dialect/*", []string{".", "vfs", "internal/*", "scope", "query", "crmem", "mdtree", "prompt", "profile", "agent/*", "tool", "dialect", "dialect/internal/*"}},
	{"mcpserver", []string{".", "vfs", "internal/*", "scope", "prompt", "profile", "agent/*", "auth", "session", "tool", "dialect"}},
	{"httpapi", []string{".", "vfs", "internal/*", "tool"}},
	{"web", []string{".", "vfs", "internal/*", "tool"}},
	{"hook", []string{"internal/*", "session", "session/transcript"}},
	{"cmd/*", []string{"*"}},
}

// testSupport are the packages made for tests: they may import testing, and
// only tests may import them.
var testSupport = []string{"storetest", "dialect/dialecttest", "vfs/crashfs", "vfs/vfstest", "vectors/vectorstest", "internal/testenv"}

// house is what the rules look at.
type house struct {
	fsys  fs.FS
	fset  *token.FileSet
	files []*goFile // in order of their paths

	outside []*goFile      // of the modules inside this one
	imports types.Importer // of what the files import
	limits  limits
}

// goFile is one file of Go code, whatever platform it is for.
type goFile struct {
	path, dir string
	test      bool
	text      string
	ast       *ast.File
}

// imports returns the paths that the file imports.
func (f *goFile) imports() []string {
	var ps []string
	for _, s := range f.ast.Imports {
		p, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			panic(err) // the parser has read it
		}
		ps = append(ps, p)
	}
	return ps
}

// inner returns the directory of an import of this module.
func inner(imp string) (dir string, ok bool) {
	if imp == module {
		return ".", true
	}
	return strings.CutPrefix(imp, module+"/")
}

// walk calls fn for the files of the module; testdata, hidden directories
// other than .ci, and modules inside it are left out.
func walk(fsys fs.FS, fn func(path string) error) error {
	return fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return fn(p)
		case p == ".":
			return nil
		}
		if n := d.Name(); n == "testdata" || strings.ContainsRune("._", rune(n[0])) && n != ".ci" {
			return fs.SkipDir
		}
		if _, err := fs.Stat(fsys, path.Join(p, "go.mod")); err == nil {
			return fs.SkipDir
		}
		return nil
	})
}

func newHouse(fsys fs.FS) (*house, error) {
	h := &house{fsys: fsys, fset: token.NewFileSet(), imports: exports{}}
	err := walk(fsys, func(p string) error {
		if path.Ext(p) != ".go" {
			return nil
		}
		b, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(h.fset, p, b, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		h.files = append(h.files, &goFile{path: p, dir: path.Dir(p), test: strings.HasSuffix(p, "_test.go"), text: string(b), ast: f})
		return nil
	})
	return h, err
}

// matches reports whether a package is meant by one of the patterns.
func matches(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if p == "*" {
			return true
		}
		above, all := strings.CutSuffix(p, "/*")
		return dir == above || all && strings.HasPrefix(dir, above+"/")
	})
}

// importsPointDown holds the floors.
func importsPointDown(h *house) (wrong []string) {
	for _, f := range h.files {
		if f.test {
			continue
		}
		i := -1
		for j, row := range floors {
			if matches(f.dir, []string{row.pkg}) {
				i = j
				break
			}
		}
		if i < 0 {
			wrong = append(wrong, fmt.Sprintf("%s: package %s has no row in floors", f.path, f.dir))
			continue
		}
		for _, imp := range f.imports() {
			if dir, ok := inner(imp); ok && !matches(dir, floors[i].uses) {
				wrong = append(wrong, fmt.Sprintf("%s: %s may not import %s, only %q", f.path, f.dir, dir, floors[i].uses))
			}
		}
	}
	return wrong
}

// libraryIsLight holds the budget of the root package: of other modules it
// imports nothing, and neither it nor what it imports of this module reaches
// the network or starts programs.
func libraryIsLight(h *house) (wrong []string) {
	seen, todo := map[string]bool{".": true}, []string{"."}
	for len(todo) > 0 {
		dir := todo[0]
		todo = todo[1:]
		for _, f := range h.files {
			if f.dir != dir || f.test {
				continue
			}
			for _, imp := range f.imports() {
				first, _, _ := strings.Cut(imp, "/")
				switch in, ok := inner(imp); {
				case ok && !seen[in]:
					seen[in] = true
					todo = append(todo, in)
				case ok:
				case slices.Contains([]string{"net", "net/http", "os/exec"}, imp):
					wrong = append(wrong, fmt.Sprintf("%s: the library imports %s", f.path, imp))
				case dir == "." && strings.Contains(first, "."):
					wrong = append(wrong, fmt.Sprintf("%s: the root package imports %s, of another module", f.path, imp))
				}
			}
		}
	}
	return wrong
}

// productionIsUntested finds code that imports what is made for tests.
func productionIsUntested(h *house) (wrong []string) {
	for _, f := range h.files {
		if f.test || matches(f.dir, testSupport) {
			continue
		}
		for _, imp := range f.imports() {
			dir, ok := inner(imp)
			if imp == "testing" || strings.HasPrefix(imp, "testing/") || ok && matches(dir, testSupport) {
				wrong = append(wrong, fmt.Sprintf("%s: production code imports %s", f.path, imp))
			}
		}
	}
	return wrong
}

// packagesAreDescribed holds that each package has one package comment, in code that
// is not a test, and that each file begins by saying what it is for.
func packagesAreDescribed(h *house) (wrong []string) {
	comments := map[string][]string{}
	for _, f := range h.files {
		switch {
		case f.ast.Doc.Text() == "":
		case f.test:
			wrong = append(wrong, f.path+": a test's first comment is a package comment; leave a line between")
		default:
			comments[f.dir] = append(comments[f.dir], f.path)
		}
		if !slices.ContainsFunc(f.ast.Comments, func(c *ast.CommentGroup) bool {
			return c.End() < f.ast.Package && strings.TrimSpace(c.Text()) != ""
		}) {
			wrong = append(wrong, f.path+": no comment above the package clause says what the file is for")
		}
		if !f.test && comments[f.dir] == nil {
			comments[f.dir] = []string{}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(comments)) {
		if c := comments[dir]; len(c) != 1 {
			wrong = append(wrong, fmt.Sprintf("package %s has %d package comments %q, want one", dir, len(c), c))
		}
	}
	return wrong
}

// maxLines is the most lines of one file of Go; best are fewer than 500.
const maxLines = 800

func filesAreShort(h *house) (wrong []string) {
	for _, f := range h.files {
		if n := strings.Count(f.text, "\n"); n > maxLines && !ast.IsGenerated(f.ast) {
			wrong = append(wrong, fmt.Sprintf("%s: has %d lines, the most is %d", f.path, n, maxLines))
		}
	}
	return wrong
}

// unfinished are the marks of work left for later; the words are cut in two so
// that this file does not hold them.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b`)

// nothingIsLeftForLater looks at the comments of Go code, and at the whole of
// other texts.
func nothingIsLeftForLater(h *house) (wrong []string) {
	found := func(p, text string) {
		if m := unfinished.FindString(text); m != "" {
			wrong = append(wrong, fmt.Sprintf("%s: holds a %s", p, m))
		}
	}
	for _, f := range h.files {
		for _, g := range f.ast.Comments {
			for _, c := range g.List {
				found(h.fset.Position(c.Pos()).String(), c.Text)
			}
		}
	}
	if err := walk(h.fsys, func(p string) error {
		if !slices.Contains([]string{".md", ".yaml", ".yml", ".sh"}, path.Ext(p)) && path.Dir(p) != ".ci" {
			return nil
		}
		b, err := fs.ReadFile(h.fsys, p)
		found(p, string(b))
		return err
	}); err != nil {
		wrong = append(wrong, err.Error())
	}
	return wrong
}

// testsDoNotSleep finds time.Sleep in tests and in what is made for them. In a
// bubble of testing/synctest it is fine: there it takes no time.
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

// isName reports whether e is pkg.name.
func isName(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// dataIsThere holds that no directory of test data is empty, that a seed for a
// fuzz target has its target, and that globs written in tests find something.
func dataIsThere(h *house) (wrong []string) {
	targets := map[string]bool{} // directory/name
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
			if !ok || len(c.Args) == 0 || !isName(c.Fun, "filepath", "Glob") && !isName(c.Fun, "fs", "Glob") {
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

// toolsAreDescribed holds that each verb has its description in a file of its own,
// and that there is no file without a verb.
func toolsAreDescribed(fsys fs.FS, verbs []string) (wrong []string) {
	for _, v := range verbs {
		if b, err := fs.ReadFile(fsys, "tool/"+v+".md"); err != nil || strings.TrimSpace(string(b)) == "" {
			wrong = append(wrong, fmt.Sprintf("the verb %s has no description in tool/%s.md: %v", v, v, err))
		}
	}
	files, err := fs.Glob(fsys, "tool/*.md")
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	for _, f := range files {
		if v := strings.TrimSuffix(path.Base(f), ".md"); !slices.Contains(verbs, v) {
			wrong = append(wrong, fmt.Sprintf("%s: there is no verb %s", f, v))
		}
	}
	return wrong
}

func TestRepo(t *testing.T) {
	testenv.Sequential(t)
	h := presentHouse(t)
	if n := len(h.files); n < 50 {
		t.Errorf("found %d files of Go, want the whole house", n)
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, w := range r.check(h) {
				t.Error(w)
			}
		})
	}
	t.Run("Tools", func(t *testing.T) {
		var verbs []string
		for _, v := range append(tool.Table(), tool.Code()...) {
			verbs = append(verbs, v.Name)
		}
		if len(verbs) == 0 {
			t.Error("tool.Table() is empty")
		}
		// Offered beside the table.
		for _, v := range append(tool.WithProfiles([]tool.Tool{tool.RecallMemory()}, nil), tool.SubAgents()...) {
			verbs = append(verbs, v.Name)
		}
		for _, w := range toolsAreDescribed(h.fsys, verbs) {
			t.Error(w)
		}
	})
}

// rules are the rules of the house, each with a house that breaks it and what
// must be found there.
var rules = []struct {
	name   string
	check  func(*house) []string
	broken map[string]string
	want   []string
}{
	{"ImportsPointDown", importsPointDown, map[string]string{
		"a.go":                `package oxbow; import _ "` + module + `/mdtree"`,
		"store_test.go":       `package oxbow_test; import _ "` + module + `/tool"`,
		"vfs/a.go":            `package vfs; import _ "` + module + `"`,
		"internal/wal/a.go":   `package wal; import (_ "` + module + `/internal/text"; _ "` + module + `")`,
		"cmd/crash/a.go":      `package crash; import (_ "` + module + `/vfs/crashfs"; _ "` + module + `/mcpserver")`,
		"internal/x/y/a.go":   `package y; import _ "` + module + `/tool"`,
		"exchange/a.go":       `package exchange; import (_ "` + module + `/internal/text"; _ "` + module + `/internal/wal")`,
		"mcpserver/a_wasm.go": `package mcpserver; import _ "` + module + `/exchange"`,
		"tool/a.go":           `package tool; import _ "` + module + `/cmd/oxbow"`,
		"cmd/oxbow/a.go":      `package main; import (_ "` + module + `/tool"; _ "` + module + `")`,
		"helpers/a.go":        `package helpers`,
	}, []string{
		"a.go: . may not import mdtree", "exchange/a.go: exchange may not import internal/wal", "helpers/a.go: package helpers has no row",
		"internal/wal/a.go: internal/wal may not import .,", "internal/x/y/a.go: internal/x/y may not import tool",
		"mcpserver/a_wasm.go: mcpserver may not import exchange", "tool/a.go: tool may not import cmd/oxbow", "vfs/a.go: vfs may not import .,",
	}},
	{"LibraryIsLight", libraryIsLight, map[string]string{
		"a.go":               `package oxbow; import (_ "io/fs"; _ "` + module + `/vfs"; _ "golang.org/x/sys/unix"; _ "net/http")`,
		"a_test.go":          `package oxbow; import (_ "net"; _ "example.com/x")`,
		"vfs/a.go":           `package vfs; import (_ "golang.org/x/sys/unix"; _ "` + module + `/internal/text")`,
		"internal/text/a.go": `package text; import (_ "net"; _ "net/url")`,
		"internal/git/a.go":  `package git; import _ "os/exec"`, // nothing that the library imports
	}, []string{"a.go: the root package imports golang.org/x/sys/unix", "a.go: the library imports net/http", "internal/text/a.go: the library imports net"}},
	{"ProductionIsUntested", productionIsUntested, map[string]string{
		"a.go":                     `package oxbow; import _ "testing"`,
		"a_test.go":                `package oxbow; import _ "testing"`,
		"b.go":                     `package oxbow; import _ "testing/fstest"`,
		"storetest/a.go":           `package storetest; import _ "testing"`,
		"internal/testenv/need.go": `package testenv; import _ "testing"`,
		"internal/wal/a.go":        `package wal; import _ "` + module + `/internal/testenv"`,
		"tool/a.go":                `package tool; import _ "` + module + `/vfs/crashfs"`,
	}, []string{"a.go: production code imports testing", "b.go: production code imports testing/fstest", "internal/wal/a.go: production code imports " + module + "/internal/testenv",
		"tool/a.go: production code imports " + module + "/vfs/crashfs"}},
	{"PackagesAreDescribed", packagesAreDescribed, map[string]string{
		"a.go":         "// Package oxbow is one.\npackage oxbow",
		"b.go":         "// This file is for b.\n\npackage oxbow",
		"b_test.go":    "// This file tests b.\npackage oxbow",
		"c.go":         "//go:build linux\n\npackage oxbow",
		"vfs/a.go":     "// Package vfs is one.\npackage vfs",
		"vfs/b.go":     "// Package vfs is another.\npackage vfs",
		"mdtree/a.go":  "// This file is for a.\n\npackage mdtree",
		"tool/sub/a.c": "no Go",
	}, []string{"b_test.go: a test's first comment is a package comment", "c.go: no comment above the package clause",
		"package mdtree has 0 package comments", "package vfs has 2 package comments"}},
	{"FilesAreShort", filesAreShort, map[string]string{
		"a.go":   "package oxbow" + strings.Repeat("\n", maxLines),
		"b.go":   "package oxbow" + strings.Repeat("\n", maxLines+1),
		"gen.go": "// Code generated by gen. DO NOT EDIT.\n\npackage oxbow" + strings.Repeat("\n", 2*maxLines),
	}, []string{"b.go: has 801 lines"}},
	{"NothingIsLeftForLater", nothingIsLeftForLater, map[string]string{
		"a.go":             "package oxbow\n\n// TO" + "DO: all of it",
		"b.go":             "package oxbow\n\nvar todo = \"TO" + "DO\" // of a user",
		"docs/a.md":        "## FIX" + "ME",
		"testdata/a.md":    "TO" + "DO",
		"bench/go.mod":     "module x",
		"bench/main.go":    "package main // TO" + "DO",
		"TO" + "DOS/x.txt": "TO" + "DO",
		".ci/run":          "# X" + "XX",
	}, []string{"a.go:3:1: holds a TO" + "DO", ".ci/run: holds a X" + "XX", "docs/a.md: holds a FIX" + "ME"}},
	{"FilesHaveFloors", filesHaveFloors, knotted, []string{".: 3 files stand in circles, the most is 0: a.go b.go c.go"}},
	{"RoomsAreSmall", roomsAreSmall, map[string]string{
		"prompt/a.go":      "package prompt" + strings.Repeat("\n", 20_000),
		"prompt/a_test.go": "package prompt" + strings.Repeat("\n", 20_000),
		"ghosts/a.go":      "package ghosts",
	}, []string{"ghosts/a.go: the package ghosts has no budget", "prompt: has 20000 lines"}},
	{"FunctionsAreShort", functionsAreShort, map[string]string{
		"a.go": "package oxbow\nfunc a(n int) int {" + strings.Repeat("if n > 0 && n < 9 { n++ };", 7) + "return n }",
		"b.go": "package oxbow\nfunc b(n int) int {" + strings.Repeat("if n > 0 && n < 9 { n++ };", 8) + "return n }",
		"c.go": "package oxbow\nfunc c() {" + strings.Repeat("\n", 80) + "}",
		"d.go": "package oxbow\nfunc d() {" + strings.Repeat("\n", 79) + "}",
	}, []string{"1 functions have more than 15 paths, 0 may:\n\tb.go: b has 17 paths", "1 functions have more than 80 lines, 0 may:\n\tc.go: c has 81 lines"}},
	{"ExportedNamesAreUsed", exportedNamesAreUsed, map[string]string{
		"a.go":           "package oxbow\nfunc A() {}\nfunc B() {}\ntype T struct{}\nfunc (T) M() {}\nvar x, Y = 1, 2\ntype U struct{ r R }\ntype V []W\ntype W int\ntype R int\nfunc (*T) N() *U { return nil }",
		"tool/a.go":      "package tool; import o \"" + module + "\"\nvar _ = o.A",
		"tool/a_test.go": "package tool; import \"" + module + "\"\nvar _ oxbow.T",
		"a_test.go":      "package oxbow_test; import \"" + module + "\"\nvar _ = oxbow.B",
		"cmd/x/a.go":     "package main\nfunc Unused() {}",
	}, []string{"4 exported names are used by no other package, 0 may be: ..B ..R ..V ..Y"}},
	{"OldWordsAreGone", oldWordsAreGone, map[string]string{
		"a.go":         "package oxbow\nfunc a() { lookAt := 1; lookAtIt := lookAt }",
		"b_test.go":    "package oxbow\nfunc newShelf() {}\nvar shelves, Book, booked = 1, 2, 3",
		"turntable.go": "package oxbow",
		"old-veil.go":  "package oxbow",
	}, []string{`a.go:2:12: lookAt has the old word "lookat"`, `b_test.go:2:6: newShelf has the old word "shelf"`, `b_test.go:3:14: Book has the old word "Book"`,
		`old-veil.go: old-veil has the old word "veil"`, `turntable.go: turntable has the old word "turntable"`}},
	{"TestsDoNotSleep", testsDoNotSleep, map[string]string{
		"a.go":           `package oxbow; import "time"; func a() { time.Sleep(1) }`,
		"a_test.go":      "package oxbow\nimport \"time\"\nfunc b() { time.Sleep(1) }",
		"b_test.go":      "package oxbow\nimport \"time\"\nvar wait = time.Sleep",
		"c_test.go":      `package oxbow; import ("testing";"testing/synctest";"time"); func TestX(t *testing.T) { synctest.Test(t, func(*testing.T) { time.Sleep(1) }) }`,
		"storetest/a.go": "package storetest\nimport \"time\"\nfunc a() { time.Sleep(1) }",
	}, []string{"a_test.go:3:12: a test sleeps", "b_test.go:3:12: a test sleeps", "storetest/a.go:3:12: a test sleeps"}},
	{"DataIsThere", dataIsThere, map[string]string{
		"a_test.go":                  "package oxbow\nimport \"path/filepath\"\nfunc FuzzA() { filepath.Glob(\"testdata/*.txt\") }\nfunc b() { filepath.Glob(\"testdata/*.json\") }",
		"testdata/a.txt":             "x",
		"testdata/fuzz/FuzzA/1":      "go test fuzz v1\n",
		"testdata/fuzz/FuzzGone/1":   "go test fuzz v1\n",
		"vfs/a_test.go":              `package vfs`,
		"vfs/testdata/empty/":        "",
		"vfs/testdata/fuzz/FuzzA/12": "go test fuzz v1\n", // the target is in another package
	}, []string{"a_test.go:4:12: the glob \"testdata/*.json\" finds nothing", "testdata/fuzz/FuzzGone: there is no fuzz target",
		"vfs/testdata/empty: is empty", "vfs/testdata/fuzz/FuzzA: there is no fuzz target"}},
}

// A chain of files is no circle; methods, fields and types count, locals do not.
var knotted = map[string]string{
	"a.go":       "package oxbow\ntype A struct{ n int }\nfunc (a A) m() { b() }",
	"b.go":       "package oxbow\nfunc b() { A{}.c() }",
	"c.go":       "package oxbow\nfunc (a A) c() { var a2 A; a2.m() }",
	"d.go":       "package oxbow\nfunc d() { b() }",
	"e.go":       "package oxbow\nfunc e() { d := 1; _ = d }",
	"vfs/a.go":   "package vfs\nfunc a() { b() }",
	"vfs/b.go":   "package vfs\nfunc b() { a() }",
	"f_linux.go": "package oxbow\nfunc f() { g() }",
	"g_other.go": "//go:build !linux\n\npackage oxbow\nfunc g() { f() }",
}

// Each rule finds what breaks it, and nothing else.
func TestRules(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			h, err := newHouse(brokenHouse(r.broken))
			if err != nil {
				t.Fatal(err)
			}
			compareProblems(t, r.check(h), r.want)
		})
	}
	t.Run("Tools", func(t *testing.T) {
		fsys := brokenHouse(map[string]string{"tool/get.md": "Gets.", "tool/list.md": " \n", "tool/old.md": "Is gone."})
		compareProblems(t, toolsAreDescribed(fsys, []string{"get", "list", "undo"}), []string{
			"the verb list has no description", "the verb undo has no description", "tool/old.md: there is no verb old"})
	})
	t.Run("Syntax", func(t *testing.T) {
		if _, err := newHouse(brokenHouse(map[string]string{"a.go": "pakcage oxbow"})); err == nil {
			t.Error("a file that is no Go was read")
		}
	})
}

func brokenHouse(files map[string]string) fs.FS {
	m := fstest.MapFS{}
	for p, text := range files {
		if dir, ok := strings.CutSuffix(p, "/"); ok {
			m[dir] = &fstest.MapFile{Mode: fs.ModeDir}
			continue
		}
		m[p] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// compareProblems checks that the problems begin as wanted, in any order.
func compareProblems(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("found\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}
