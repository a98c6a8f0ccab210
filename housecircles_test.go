// Rule of files: those of a package stand on floors, with few circles.

package oxbow_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// maxCircle is how many files of a package may stand in circles: each uses the
// next, and the last the first. In the root none may. No package is excepted.
const maxCircle = 5

// typeCheck returns what the identifiers of a package's files mean on Linux.
// What cannot be imported is left out.
func (h *house) typeCheck(dir string, files []*goFile) *types.Info {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: h.imports, Error: func(error) {}, FakeImportC: true}
	var asts []*ast.File
	for _, f := range files {
		asts = append(asts, f.ast)
	}
	_, _ = conf.Check(dir, h.fset, asts, info) // an error leaves holes, no more
	return info
}

// linux returns the files of code of each package that are built on Linux.
func (h *house) linux() map[string][]*goFile {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = "linux", "amd64", false
	ctx.OpenFile = func(p string) (io.ReadCloser, error) { return h.fsys.Open(path.Clean(p)) }
	ctx.JoinPath = path.Join
	packages := map[string][]*goFile{}
	for _, f := range h.files {
		if ok, err := ctx.MatchFile(f.dir, path.Base(f.path)); ok && err == nil && !f.test {
			packages[f.dir] = append(packages[f.dir], f)
		}
	}
	return packages
}

// uses returns, for each file of a package, the other files whose declarations
// it names.
func (h *house) uses(dir string, files []*goFile) map[string]map[string]bool {
	info := h.typeCheck(dir, files)
	arrows := map[string]map[string]bool{}
	for id, obj := range info.Uses {
		if obj.Pkg() == nil || obj.Pkg().Path() != dir || !obj.Pos().IsValid() {
			continue
		}
		field, _ := obj.(*types.Var)
		method, _ := obj.(*types.Func)
		if obj.Parent() != obj.Pkg().Scope() && (field == nil || !field.IsField()) && (method == nil || method.Signature().Recv() == nil) {
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

// inCircle returns the nodes that can be reached from themselves.
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
	packages := h.linux()
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		most := maxCircle
		if dir == "." {
			most = 0
		}
		if c := inCircle(h.uses(dir, packages[dir])); len(c) > most {
			wrong = append(wrong, fmt.Sprintf("%s: %d files stand in circles, the most is %d: %s", dir, len(c), most, strings.Join(c, " ")))
		}
	}
	return wrong
}

// exports imports packages from what the go command has built. A package that
// it has not built is taken for an empty one.
type exports struct{ of types.Importer }

func (e exports) Import(p string) (*types.Package, error) {
	if e.of != nil {
		return e.of.Import(p)
	}
	pkg := types.NewPackage(p, path.Base(p))
	pkg.MarkComplete()
	return pkg, nil
}

// builtExports gets from the go command the packages of this module and all that
// they import.
func builtExports(fset *token.FileSet) (exports, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", "./...")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := cmd.Output()
	if err != nil {
		return exports{}, fmt.Errorf("go list -export: %w", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		p, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[p] = file
	}
	return exports{importer.ForCompiler(fset, "gc", func(p string) (io.ReadCloser, error) { return os.Open(files[p]) })}, nil
}

var circleRules = []rule{
	{"FilesHaveFloors", filesHaveFloors, knotted, []string{".: 3 files stand in circles, the most is 0: a.go b.go c.go"}},
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
