// This file compares docs/packages.md, the list of all packages, with the packages' comments.

package structure

import (
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/packages.md anew")

const packagesPage = "docs/packages.md"

// packagesHead is the text above the list of packages.
const packagesHead = `# Every package in one sentence

This list is made from the comments of the packages, so that it cannot differ from them. A test compares it, and
` + "`go test ./test/structure -run TestPackagesPage -update`" + ` writes it. [design.md](design.md) says why the groups
exist and which group may import which.

| directory | what it holds |
|---|---|
`

// listPackages returns the page that lists the packages, and the directories of packages without a
// comment.
func listPackages(h *house) (page string, silent []string) {
	comments := map[string]string{}
	for _, f := range slices.Concat(h.files, h.outside) {
		if strings.Contains("/"+f.dir+"/", "/testdata/") {
			continue
		}
		c := comments[f.dir]
		if f.ast.Doc != nil && isPackageComment(f.ast) {
			c = f.ast.Doc.Text()
		}
		comments[f.dir] = c
	}
	var b strings.Builder
	b.WriteString(packagesHead)
	for _, dir := range slices.Sorted(maps.Keys(comments)) {
		if comments[dir] == "" {
			silent = append(silent, dir)
			continue
		}
		s := new(doc.Package).Synopsis(comments[dir])
		fmt.Fprintf(&b, "| `%s` | %s |\n", dir, withoutSubject(strings.TrimSuffix(s, ":")))
	}
	return b.String(), silent
}

// isPackageComment reports whether the comment above a package clause is about the package and not
// about the file.
func isPackageComment(f *ast.File) bool { return !strings.HasPrefix(f.Doc.Text(), "This file ") }

// withoutSubject shortens "Package x does y." to "does y.", because the directory is beside it.
func withoutSubject(s string) string {
	for _, kind := range []string{"Package ", "Command "} {
		if rest, ok := strings.CutPrefix(s, kind); ok {
			_, s, _ = strings.Cut(rest, " ")
		}
	}
	return strings.ReplaceAll(s, "|", `\|`)
}

func TestPackagesPage(t *testing.T) {
	page, silent := listPackages(presentHouse(t))
	for _, dir := range silent {
		t.Errorf("%s has no package comment", dir)
	}
	file := "../../" + packagesPage
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != page {
		t.Errorf("%s differs from the comments of the packages. Write it with: "+
			"go test ./test/structure -run TestPackagesPage -update", packagesPage)
	}
}

// TestListPackages tests that a package without a comment is found, and that a comment on a file does
// not count as one.
func TestListPackages(t *testing.T) {
	h, err := newHouse(brokenHouse(map[string]string{
		"internal/kept/a.go":   "// Package kept stores a|b.\npackage kept",
		"internal/silent/a.go": "// This file is about a.\n\npackage silent",
	}))
	if err != nil {
		t.Fatal(err)
	}
	page, silent := listPackages(h)
	if !slices.Equal(silent, []string{"internal/silent"}) {
		t.Errorf("packages without a comment: %q", silent)
	}
	if want := "| `internal/kept` | stores a\\|b. |\n"; !strings.Contains(page, want) {
		t.Errorf("the page is\n%s\nwithout %s", page, want)
	}
}
