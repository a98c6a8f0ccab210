// This file limits cyclic dependencies between the files of a package.

package structure

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxCircle is the maximum number of files of a package that may be in cycles. In a cycle, each file uses the next
// file, and the last file uses the first. In the root package, no file may be in a cycle. The rule has no exceptions.
const maxCircle = 5

// typed is a type-checked package, with the objects to which its identifiers refer.
type typed struct {
	*types.Package
	types.Info
}

// typeCheck returns the type-checked package in a directory for Linux. Imported packages that cannot be read are
// treated as empty.
func (h *house) typeCheck(dir string) *typed {
	if c := h.checked[dir]; c != nil {
		return c
	}
	c := &typed{
		Info: types.Info{
			Uses:       map[*ast.Ident]types.Object{},
			Defs:       map[*ast.Ident]types.Object{},
			Scopes:     map[ast.Node]*types.Scope{},
			Selections: map[*ast.SelectorExpr]*types.Selection{},
		},
	}
	h.checked[dir] = c
	conf := types.Config{Importer: h.imports, Error: func(error) {}, FakeImportC: true}
	var asts []*ast.File
	for _, f := range h.linux()[dir] {
		asts = append(asts, f.ast)
	}
	// If there is an error, some identifiers are not resolved. This does not matter.
	c.Package, _ = conf.Check(dir, h.fset, asts, &c.Info)
	return c
}

// linux returns the non-test files of each package that are part of a build on Linux.
func (h *house) linux() map[string][]*goFile {
	if h.onLinux != nil {
		return h.onLinux
	}
	ctx := build.Default
	ctx.GOOS = "linux"
	ctx.GOARCH = "amd64"
	ctx.CgoEnabled = false
	ctx.OpenFile = func(p string) (io.ReadCloser, error) { return h.fsys.Open(path.Clean(p)) }
	ctx.JoinPath = path.Join
	packages := map[string][]*goFile{}
	for _, f := range h.files {
		if ok, err := ctx.MatchFile(f.dir, path.Base(f.path)); ok && err == nil && !f.test {
			packages[f.dir] = append(packages[f.dir], f)
		}
	}
	h.onLinux = packages
	return packages
}

// uses returns, for each file of a package, the other files whose declarations it uses.
func (h *house) uses(dir string) map[string]map[string]bool {
	arrows := map[string]map[string]bool{}
	for id, obj := range h.typeCheck(dir).Uses {
		if obj.Pkg() == nil || obj.Pkg().Path() != dir || !obj.Pos().IsValid() {
			continue
		}
		field, _ := obj.(*types.Var)
		method, _ := obj.(*types.Func)
		if obj.Parent() != obj.Pkg().Scope() && (field == nil || !field.IsField()) &&
			(method == nil || method.Signature().Recv() == nil) {
			continue
		}
		from, to := h.fset.File(id.Pos()).Name(), h.fset.File(obj.Pos()).Name()
		if from != to {
			if arrows[from] == nil {
				arrows[from] = map[string]bool{}
			}
			arrows[from][to] = true
		}
	}
	return arrows
}

// inCircle returns the nodes that are part of a cycle.
func inCircle(arrows map[string]map[string]bool) []string {
	var found []string
	for _, start := range slices.Sorted(maps.Keys(arrows)) {
		seen, todo := map[string]bool{}, []string{start}
		for len(todo) > 0 && !seen[start] {
			n := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for next := range arrows[n] {
				if !seen[next] {
					seen[next] = true
					todo = append(todo, next)
				}
			}
		}
		if seen[start] {
			found = append(found, start)
		}
	}
	return found
}

func filesHaveFloors(h *house) (wrong []string) {
	for _, dir := range slices.Sorted(maps.Keys(h.linux())) {
		most := maxCircle
		if dir == "." {
			most = 0
		}
		if c := inCircle(h.uses(dir)); len(c) > most {
			wrong = append(
				wrong,
				fmt.Sprintf(
					"%s: %d files stand in circles, the most is %d: %s",
					dir,
					len(c),
					most,
					strings.Join(c, " "),
				),
			)
		}
	}
	return wrong
}

// imports is an importer for the type checker. It reads packages of this module from their source files. It reads
// packages of other modules from the declarations in their source files. It reads the standard library from the export
// data that the go command has built. Packages that are not listed are treated as empty.
//
// The importer does not use export data for other modules, because the go command would have to build these modules for
// it. If the go command is building them for other tests at the same time, they would be built twice.
type imports struct {
	h      *house
	std    types.Importer
	listed map[string][]string // files of each package of other modules
	done   map[string]*types.Package
}

func (m *imports) Import(p string) (*types.Package, error) {
	if dir, ok := inner(p); ok && len(m.h.linux()[dir]) > 0 {
		if c := m.h.typeCheck(dir); c.Package != nil {
			return c.Package, nil
		}
	} else if first, _, _ := strings.Cut(p, "/"); !strings.Contains(first, ".") && m.std != nil {
		return m.std.Import(p)
	}
	if m.done[p] == nil {
		var asts []*ast.File
		for _, name := range m.listed[p] {
			f, err := parser.ParseFile(m.h.fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			asts = append(asts, f)
		}
		conf := types.Config{Importer: m, Error: func(error) {}, FakeImportC: true, IgnoreFuncBodies: true}
		m.done[p], _ = conf.Check(p, m.h.fset, asts, nil)
		m.done[p].MarkComplete()
	}
	return m.done[p], nil
}

// list calls the go command to list the packages that this module needs. It stores the files of each package outside
// the standard library in m.listed, and an importer for the standard library in m.std.
func (m *imports) list() error {
	golist := func(args ...string) ([]byte, error) {
		cmd := exec.Command("go", append([]string{"list", "-deps"}, args...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		return out, nil
	}
	out, err := golist("-f", `{{.ImportPath}}|{{.Standard}}|{{.Dir}}|{{join .GoFiles "|"}}`, "./...")
	if err != nil {
		return err
	}
	std := []string{"-export", "-f", "{{.ImportPath}}|{{.Export}}"}
	for line := range strings.Lines(string(out)) {
		w := strings.Split(strings.TrimSpace(line), "|")
		if w[1] == "true" {
			std = append(std, w[0])
			continue
		}
		for _, f := range w[3:] {
			m.listed[w[0]] = append(m.listed[w[0]], filepath.Join(w[2], f))
		}
	}
	out, err = golist(std...)
	if err != nil {
		return err
	}
	built := map[string]string{}
	for line := range strings.Lines(string(out)) {
		p, file, _ := strings.Cut(strings.TrimSpace(line), "|")
		built[p] = file
	}
	m.std = importer.ForCompiler(m.h.fset, "gc", func(p string) (io.ReadCloser, error) { return os.Open(built[p]) })
	return nil
}

var circleRules = []rule{
	{
		"FilesHaveFloors",
		filesHaveFloors,
		knotted,
		[]string{".: 3 files stand in circles, the most is 0: a.go b.go c.go"},
	},
}

// knotted contains source files for the test of the rule that files must not use each other in a cycle. In the root
// package, only a.go, b.go and c.go form a cycle. The file d.go uses b.go, but no file uses d.go, so d.go is not in a
// cycle. Uses of methods, fields and types count. Uses of local names, as in e.go, do not count.
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
