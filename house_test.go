// Rules of the house that need more than one file at a time: circles of files,
// budgets of lines, long functions, exported names without a user, and words
// that have a better one. Their limits are only ever lowered.

package oxbow_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// modules are the directories of the modules inside this one.
var modules = []string{"bench", "browser", "clienttest", "torture"}

// maxCircle is how many files of a package may stand in circles: each uses the
// next, and the last the first. In the root none may. No package is excepted.
const maxCircle = 5

// budget is how many lines of code a room may have, tests not counted.
type budget struct {
	room  string
	lines int
}

// budgets are those of all rooms. The first row that fits a package holds.
var budgets = []budget{
	{".", 10_080},
	{"query", 850},
	{"scope", 945},
	{"storetest", 590},
	{"vfs/crashfs", 1_820},
	{"vfs/vfstest", 601},
	{"vfs", 2_219},
	{"crmem", 2_150},
	{"mdtree", 5_236},
	{"exchange", 3_780},
	{"internal/rawjson", 130},
	{"label", 1_450},
	{"session", 3_490},
	{"annotate/transcript", 2_800},
	{"session/extract", 545},
	{"session/handoff", 845},
	{"session/inbox", 680},
	{"annotate/*", 6_755},
	{"session/transcript", 1_540},
	{"gate", 350},
	{"inject", 1_039},
	{"hook", 296},
	{"prompt", 310},
	{"profile", 1_965},
	{"agent/*", 1_800},
	{"auth", 430},
	{"trust", 400},
	{"lineage", 258},
	{"revert", 743},
	{"tool/*", 14_240},
	{"dialect/*", 9_590},
	{"mcpserver", 1_885},
	{"cmd/oxbow/command/*", 10_860},
	{"cmd/*", 50},
	{"setup", 2_460},
	{"vectors/*", 900},
	{"internal/wal", 2_321},
	{"internal/proof", 168},
	{"backup", 450},
	{"internal/index", 4_500},
	{"internal/ranking", 1_905},
	{"internal/analysis/*", 2_250},
	{"internal/git", 1_545},
	{"internal/screen", 165},
	{"internal/secret", 1_010},
	{"internal/clientline", 550},
	{"internal/*", 2_795},
}

// Functions are at most so long. As many as the limits say are longer.
const (
	maxPaths, overPaths = 15, 60
	maxLong, overLong   = 80, 6
)

// maxUnused is how many exported names no other package uses.
const maxUnused = 23

// oldWords are words for which the glossary in docs/design.md has another: they
// are no identifier, no word of one, and no file's name. What begins with a
// capital letter is the whole of an identifier.
var oldWords = []string{
	"awake", "baton", "bases", "bestOf", "breaker", "compacter", "compresser", "cutAll", "cutOff", "cutOwn", "cutTail",
	"demand", "desk", "doubt", "eraser", "fillAnother", "glance", "heed", "indexRows", "intake", "lazy",
	"leads", "leftovers", "lexicon", "living", "looker", "lookAt", "marks", "mistake", "mistakes", "notices", "patience",
	"planned", "readOn", "rescue", "shelf", "slips", "spacer", "taker", "takeBack", "takeIn", "told", "turnTable", "twins",
	"unheld", "unnoted", "unsaid", "unseen", "veil", "vouch",
	"Book", "Breaks", "Draft", "Instead", "Reading", "ReadTerm", "Removal", "Slip",
}

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

func roomsAreSmall(h *house) (wrong []string) {
	lines := make([]int, len(budgets))
	for _, f := range h.files {
		if f.test || ast.IsGenerated(f.ast) {
			continue
		}
		i := slices.IndexFunc(budgets, func(b budget) bool { return matches(f.dir, []string{b.room}) })
		if i < 0 {
			wrong = append(wrong, fmt.Sprintf("%s: the package %s has no budget", f.path, f.dir))
			continue
		}
		lines[i] += strings.Count(f.text, "\n")
	}
	for i, b := range budgets {
		if lines[i] > b.lines {
			wrong = append(wrong, fmt.Sprintf("%s: has %d lines, its budget is %d", b.room, lines[i], b.lines))
		}
	}
	return wrong
}

// paths counts the ways through a function as McCabe does: one, and one more for
// each branch.
func paths(fn *ast.FuncDecl) int {
	n := 1
	ast.Inspect(fn, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

func functionsAreShort(h *house) (wrong []string) {
	var branchy, long []string
	for _, f := range h.files {
		if f.test || ast.IsGenerated(f.ast) {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := paths(fn); n > maxPaths {
				branchy = append(branchy, fmt.Sprintf("%s: %s has %d paths", f.path, fn.Name.Name, n))
			}
			if n := h.fset.Position(fn.End()).Line - h.fset.Position(fn.Pos()).Line + 1; n > maxLong {
				long = append(long, fmt.Sprintf("%s: %s has %d lines", f.path, fn.Name.Name, n))
			}
		}
	}
	if len(branchy) > h.limits.branchy {
		wrong = append(wrong, fmt.Sprintf("%d functions have more than %d paths, %d may:\n\t%s", len(branchy), maxPaths, h.limits.branchy, strings.Join(branchy, "\n\t")))
	}
	if len(long) > h.limits.long {
		wrong = append(wrong, fmt.Sprintf("%d functions have more than %d lines, %d may:\n\t%s", len(long), maxLong, h.limits.long, strings.Join(long, "\n\t")))
	}
	return wrong
}

// exportedNamesAreUsed counts top-level names that no other package names,
// tests and the modules inside this one included, and that no exported
// signature or field of their own package names either.
func exportedNamesAreUsed(h *house) (wrong []string) {
	used := map[string]bool{} // directory.Name
	for _, f := range slices.Concat(h.files, h.outside) {
		promised(f.ast, func(name string) { used[f.dir+"."+name] = true })
		local := map[string]string{}
		for _, s := range f.ast.Imports {
			imp := strings.Trim(s.Path.Value, `"`)
			dir, ok := inner(imp)
			if !ok || dir == f.dir {
				continue
			}
			name := path.Base(imp)
			if s.Name != nil {
				name = s.Name.Name
			}
			local[name] = dir
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && local[x.Name] != "" {
					used[local[x.Name]+"."+s.Sel.Name] = true
				}
			}
			return true
		})
	}
	unused := map[string]bool{}
	for _, f := range h.files {
		if f.test || f.ast.Name.Name == "main" {
			continue
		}
		for _, id := range topLevel(f.ast) {
			if id.IsExported() && !used[f.dir+"."+id.Name] {
				unused[f.dir+"."+id.Name] = true
			}
		}
	}
	if len(unused) > h.limits.unused {
		wrong = append(wrong, fmt.Sprintf("%d exported names are used by no other package, %d may be: %s",
			len(unused), h.limits.unused, strings.Join(slices.Sorted(maps.Keys(unused)), " ")))
	}
	return wrong
}

// promised calls fn with the names in the signatures and fields that a file
// exports.
func promised(f *ast.File, fn func(name string)) {
	names := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				fn(id.Name)
			}
			_, other := n.(*ast.SelectorExpr)
			return !other
		})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				names(d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				s, ok := s.(*ast.TypeSpec)
				if !ok || !s.Name.IsExported() {
					continue
				}
				if t, ok := s.Type.(*ast.StructType); ok {
					for _, field := range t.Fields.List {
						if field.Names == nil || field.Names[0].IsExported() {
							names(field.Type)
						}
					}
				} else {
					names(s.Type)
				}
			}
		}
	}
}

// topLevel returns the names that a file declares in its package; no methods.
func topLevel(f *ast.File) (ids []*ast.Ident) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				ids = append(ids, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					ids = append(ids, s.Name)
				case *ast.ValueSpec:
					ids = append(ids, s.Names...)
				}
			}
		}
	}
	return ids
}

// wordsOf returns the words of a name: readOn has read, On and readOn, a
// file's name those between _ and -. All are in lower case.
func wordsOf(name string) []string {
	var words []string
	from := 0
	rs := []rune(name)
	for i := range rs {
		if i > from && (unicode.IsUpper(rs[i]) && !unicode.IsUpper(rs[i-1]) || rs[i] == '_' || rs[i] == '-' || rs[i-1] == '_' || rs[i-1] == '-') {
			words = append(words, strings.ToLower(string(rs[from:i])))
			from = i
		}
	}
	return append(words, strings.ToLower(string(rs[from:])), strings.ToLower(name))
}

func oldWordsAreGone(h *house) (wrong []string) {
	old := map[string]bool{}
	for _, w := range oldWords {
		if !ast.IsExported(w) {
			w = strings.ToLower(w)
		}
		old[w] = true
	}
	seen := map[string]bool{} // word and file
	look := func(f *goFile, name, where string) {
		for _, w := range append(wordsOf(name), name) {
			if old[w] && !seen[w+" "+f.path] {
				seen[w+" "+f.path] = true
				wrong = append(wrong, fmt.Sprintf("%s: %s has the old word %q", where, name, w))
			}
		}
	}
	for _, f := range h.files {
		look(f, strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test"), f.path)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				look(f, id.Name, h.fset.Position(id.Pos()).String())
			}
			return true
		})
	}
	return wrong
}

// limits are what the present house may have of what no house should have.
type limits struct {
	branchy, long, unused int
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

// readModules parses the Go files of the modules inside this one, for the names
// that they use.
func (h *house) readModules() error {
	for _, m := range modules {
		err := fs.WalkDir(h.fsys, m, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(p) != ".go" {
				return err
			}
			b, err := fs.ReadFile(h.fsys, p)
			if err != nil {
				return err
			}
			f, err := parser.ParseFile(h.fset, p, b, parser.SkipObjectResolution)
			h.outside = append(h.outside, &goFile{path: p, dir: path.Dir(p), ast: f})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// presentHouse reads this module.
func presentHouse(t *testing.T) *house {
	t.Helper()
	h, err := newHouse(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.readModules(); err != nil {
		t.Fatal(err)
	}
	e, err := builtExports(h.fset)
	if err != nil {
		t.Fatal(err)
	}
	h.imports, h.limits = e, limits{overPaths, overLong, maxUnused}
	return h
}
