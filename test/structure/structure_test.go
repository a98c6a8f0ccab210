// Package structure tests the structure of the repository: which packages each package may import, which packages are
// public, how long a function may be, and other rules. It parses all Go files of the module and checks them with the
// rules in this directory. It also checks each rule with a small module that breaks the rule.
package structure

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// module is the import path of the root package.
const module = "github.com/oxbow-memory/oxbow"

// A house is a parsed Go module. The rules in this package check the structure and the style of its code.
type house struct {
	fsys  fs.FS
	fset  *token.FileSet
	files []*goFile // files of the module, sorted by path

	outside []*goFile // files of other modules in directories of this module, such as test/torture
	imports *imports
	limits  limits

	onLinux map[string][]*goFile // cached result of the method linux
	checked map[string]*typed    // cached results of typeCheck, by directory
}

// goFile is a Go file. It may be for any platform.
type goFile struct {
	path, dir string
	test      bool
	text      string
	ast       *ast.File
}

// imports returns the import paths of the file.
func (f *goFile) imports() []string {
	var ps []string
	for _, s := range f.ast.Imports {
		p, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			panic(err) // The parser has already accepted the literal.
		}
		ps = append(ps, p)
	}
	return ps
}

// inner returns the directory of a package of this module from its import path. It returns false for other packages.
func inner(imp string) (dir string, ok bool) {
	if imp == module {
		return ".", true
	}
	return strings.CutPrefix(imp, module+"/")
}

// walk calls fn for each file of the module. It skips directories named testdata, and directories that begin with "."
// or "_", except .ci. It also skips subdirectories that have their own go.mod file, because they are other modules.
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
		if n := d.Name(); n == "testdata" || (strings.ContainsRune("._", rune(n[0])) && n != ".ci") {
			return fs.SkipDir
		}
		if _, err := fs.Stat(fsys, path.Join(p, "go.mod")); err == nil {
			return fs.SkipDir
		}
		return nil
	})
}

func newHouse(fsys fs.FS) (*house, error) {
	h := &house{fsys: fsys, fset: token.NewFileSet(), checked: map[string]*typed{}}
	h.imports = &imports{h: h, listed: map[string][]string{}, done: map[string]*types.Package{}}
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
		h.files = append(
			h.files,
			&goFile{path: p, dir: path.Dir(p), test: strings.HasSuffix(p, "_test.go"), text: string(b), ast: f},
		)
		return nil
	})
	return h, err
}

// matches reports whether the package in the directory dir matches one of the patterns. The pattern "*" matches all
// packages. The pattern "a/*" matches the package a and all packages below it. Any other pattern matches only the
// package of this name.
func matches(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if p == "*" {
			return true
		}
		above, all := strings.CutSuffix(p, "/*")
		return dir == above || (all && strings.HasPrefix(dir, above+"/"))
	})
}

// toolsAreDescribed checks that there is exactly one file with a description for each verb, and a verb for each such
// file. The file is in internal/verb or in a directory below it.
func toolsAreDescribed(fsys fs.FS, verbs []string) (wrong []string) {
	found := map[string]string{}
	for _, dir := range []string{"", "*/"} {
		files, err := fs.Glob(fsys, "internal/verb/"+dir+"*.md")
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		for _, f := range files {
			v := strings.TrimSuffix(path.Base(f), ".md")
			if !slices.Contains(verbs, v) {
				wrong = append(wrong, fmt.Sprintf("%s: there is no verb %s", f, v))
			}
			if found[v] != "" {
				wrong = append(wrong, fmt.Sprintf("%s and %s describe one verb", found[v], f))
			}
			found[v] = f
		}
	}
	for _, v := range verbs {
		if found[v] == "" {
			wrong = append(wrong, fmt.Sprintf("the verb %s has no description in a file %s.md", v, v))
			continue
		}
		if b, err := fs.ReadFile(fsys, found[v]); err != nil || strings.TrimSpace(string(b)) == "" {
			wrong = append(wrong, fmt.Sprintf("the verb %s has no description in %s: %v", v, found[v], err))
		}
	}
	return wrong
}

func TestRepo(t *testing.T) {
	testenv.SkipInShortMode(t)
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
		for _, v := range append(verb.Tools(), annotations.AnnotationTools()...) {
			verbs = append(verbs, v.Name)
		}
		if len(verbs) == 0 {
			t.Error("tool.Table() is empty")
		}
		// These tools are not in the table.
		for _, v := range append(verb.ToolsWithProfiles([]verb.Tool{verb.NewRecallMemoryTool()}, nil),
			profiles.SubAgentTools(nil)...) {
			verbs = append(verbs, v.Name)
		}
		for _, w := range toolsAreDescribed(h.fsys, verbs) {
			t.Error(w)
		}
	})
}

// rule is a rule, with a module that breaks the rule and the problems that must be found in this module.
type rule struct {
	name   string
	check  func(*house) []string
	broken map[string]string
	want   []string
}

var rules = slices.Concat(
	importRules,
	publicRules,
	textRules,
	sizeRules,
	circleRules,
	nameRules,
	referenceRules,
	styleRules,
	testRules,
	linkRules,
	capabilityRules,
)

// TestRules tests that each rule finds exactly the expected problems in the module that breaks it.
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
		fsys := brokenHouse(map[string]string{
			"internal/verb/get.md":  "Gets.",
			"internal/verb/list.md": " \n",
			"internal/verb/old.md":  "Is gone.",

			"internal/verb/profiles/get.md":   "Gets again.",
			"internal/verb/profiles/spawn.md": "Spawns.",
		})
		compareProblems(t, toolsAreDescribed(fsys, []string{"get", "list", "spawn", "undo"}), []string{
			"internal/verb/get.md and internal/verb/profiles/get.md describe one verb",
			"the verb list has no description", "the verb undo has no description",
			"internal/verb/old.md: there is no verb old"})
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

// compareProblems checks that the problems have the expected prefixes, in any order.
func compareProblems(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("found\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// modules contains the directories of the modules inside this module.
var modules = []string{
	"internal/deploy/release", "jetstream", "test/bench", "test/browser", "test/clients", "test/torture",
}

// root is the path of the module relative to this package.
const root = "../.."

// limits contains the numbers of violations that are permitted in this module: functions with too many paths (branchy),
// functions with too many lines (long), and names that are not used (unused).
type limits struct {
	branchy, long, unused int
}

// readModules parses the Go files of the nested modules and adds them to h.outside. The files count as users of the
// names that this module exports.
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
			f, err := parser.ParseFile(h.fset, p, b, parser.ParseComments|parser.SkipObjectResolution)
			h.outside = append(h.outside, &goFile{path: p, dir: path.Dir(p), ast: f})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// presentHouse parses this module.
func presentHouse(t *testing.T) *house {
	t.Helper()
	h, err := newHouse(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.readModules(); err != nil {
		t.Fatal(err)
	}
	if err := h.imports.list(); err != nil {
		t.Fatal(err)
	}
	h.limits = limits{overPaths, overLong, maxUnused}
	return h
}
