// This file checks package comments, the comments at the start of files, and marks of unfinished work.

package structure

import (
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// packagesAreDescribed checks that each package has exactly one package comment, and that each file begins with a
// comment about its purpose. The package comment must not be in a test file unless the package has only tests.
func packagesAreDescribed(h *house) (wrong []string) {
	comments := map[string][]string{}
	for _, f := range h.files {
		switch {
		case f.ast.Doc.Text() == "":
		case f.test && strings.HasPrefix(f.ast.Doc.Text(), "Package "+f.ast.Name.Name+" "):
			// A package that has only tests is described in one of the test files.
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

// unfinished matches marks of unfinished work. The words in the expression are split so that this file itself does not
// contain the marks.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b`)

// nothingIsLeftForLater finds marks of unfinished work in the comments of Go files and in the whole text of other
// files.
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

var textRules = []rule{
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
}
