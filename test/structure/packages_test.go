// This file compares docs/packages.md, the list of all packages, with the comments of the packages.

package structure

import (
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/packages.md anew")

const packagesPage = "docs/packages.md"

// packagesHead is the text above the list of packages.
const packagesHead = `# Every package in one sentence

This page is for people who read or change the source code. It says what each package does, in the groups that
[Design](design.md#the-tree) explains. ` + "`go doc ./DIRECTORY`" + ` prints the whole description of a package, for example
` + "`go doc ./store`" + `.

The sentences come from the comments of the packages. If you change such a comment, write this page again with
` + "`go test ./test/structure -run TestPackagesPage -update`" + `.
`

// A packageGroup is a section of the page docs/packages.md, which lists all packages. The field about is the text below
// the title. The section contains the packages in the given directories, and in all directories below them. If several
// groups match a package, the package belongs to the first of them.
type packageGroup struct {
	title       string
	about       string
	directories []string
}

var packageGroups = []packageGroup{
	{"The library", "Go programs outside of this repository can import these packages.",
		[]string{".", "query", "scope", "store", "vfs"}},
	{"Interfaces", "An interface reads a request, calls a verb, and writes the answer.",
		[]string{"cmd", "internal/cli", "internal/mcpserver", "internal/httpapi", "internal/web", "internal/hook"}},
	{"Verbs", "A verb is an operation on a memory, such as remember or recall. All interfaces call the same verbs.",
		[]string{"internal/verb"}},
	{"Layouts of other systems", "A layout is the arrangement of files in which a system keeps its memory.",
		[]string{"layout", "internal/layouts"}},
	{"Agents", "These packages prepare the texts that an agent gets, and read the texts that it leaves.",
		[]string{"internal/agent", "profile", "internal/setup"}},
	{"Several users and machines", "", []string{"internal/share"}},
	{"A memory as files", "These packages read and write a memory as Markdown files, exports and backups.",
		[]string{"internal/tree"}},
	{"Code, labels and history", "", []string{"internal/code", "internal/label", "internal/duplicate",
		"internal/threeway", "internal/history", "internal/vectors"}},
	{"The log", "The default store keeps all changes in an append-only file, which is called the log.",
		[]string{"internal/log"}},
	{"Search", "", []string{"internal/search"}},
	{"Screening", "These packages examine texts for secrets, personal data and instructions.",
		[]string{"internal/screening"}},
	{"Base", "These packages do not know entries. Most of them could serve any program.", []string{"internal/base"}},
	{"Three servers", "", []string{"jetstream"}},
	{"Releases", "These are programs that build files from the repository.", []string{"internal/deploy"}},
	{"Tests", "Only tests use these packages.", []string{"test"}},
	{"Other packages", "", []string{""}},
}

// groupOf returns the index of the group to which the package in a directory belongs.
func groupOf(dir string) int {
	return slices.IndexFunc(packageGroups, func(g packageGroup) bool {
		return slices.ContainsFunc(g.directories, func(d string) bool {
			return d == "" || dir == d || strings.HasPrefix(dir, d+"/")
		})
	})
}

// listPackages returns the page that lists the packages. It also returns the directories of the packages that have no
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
	sections := make([]strings.Builder, len(packageGroups))
	for _, dir := range slices.Sorted(maps.Keys(comments)) {
		if comments[dir] == "" {
			silent = append(silent, dir)
			continue
		}
		s := new(doc.Package).Synopsis(comments[dir])
		subject := "`" + dir + "`"
		if dir == "." {
			subject += ", the root package,"
		}
		fmt.Fprintf(&sections[groupOf(dir)], "- %s %s\n", subject, predicate(s, path.Base(dir)))
	}
	var b strings.Builder
	b.WriteString(packagesHead)
	for i, g := range packageGroups {
		if sections[i].Len() == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", g.title)
		if g.about != "" {
			b.WriteString(g.about + "\n\n")
		}
		b.WriteString(sections[i].String())
	}
	return b.String(), silent
}

// isPackageComment reports whether the comment above a package clause describes the package. It returns false if the
// comment begins with "This file ", because the comment then describes only the file. It returns true if there is no
// comment.
func isPackageComment(f *ast.File) bool { return !strings.HasPrefix(f.Doc.Text(), "This file ") }

// docLink matches a link in a doc comment, such as [Entry] or [oxbow.Store].
var docLink = regexp.MustCompile(`\[([A-Za-z][\w.]*)\]`)

// predicate shortens the first sentence of a package comment. For example, "Package x does y." becomes "does y.",
// because the page contains the directory as the subject of the sentence. The parameter name is the last part of the
// directory.
func predicate(sentence, name string) string {
	words := strings.SplitN(sentence, " ", 3)
	switch {
	case len(words) == 3 && (words[0] == "Package" || words[0] == "Command"):
		sentence = words[2]
	case len(words) > 1 && strings.EqualFold(words[0], name):
		sentence = strings.Join(words[1:], " ")
	}
	sentence = docLink.ReplaceAllString(sentence, "$1")
	return strings.TrimRight(sentence, ".:") + "."
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

func TestPredicate(t *testing.T) {
	for _, c := range []struct{ sentence, name, want string }{
		{"Package x does y.", "x", "does y."},
		{"Command x writes y", "x", "writes y."},
		{"Bench measures [oxbow.Store]:", "bench", "measures oxbow.Store."},
		{"Two words", "x", "Two words."},
	} {
		if got := predicate(c.sentence, c.name); got != c.want {
			t.Errorf("predicate(%q, %q) = %q, want %q", c.sentence, c.name, got, c.want)
		}
	}
}

// TestListPackages tests that a package without a comment is found, and that a comment about a file does not count as
// a package comment.
func TestListPackages(t *testing.T) {
	h, err := newHouse(brokenHouse(map[string]string{
		"internal/kept/a.go":   "// Package kept stores an [Entry].\npackage kept",
		"internal/silent/a.go": "// This file is about a.\n\npackage silent",
	}))
	if err != nil {
		t.Fatal(err)
	}
	page, silent := listPackages(h)
	if !slices.Equal(silent, []string{"internal/silent"}) {
		t.Errorf("packages without a comment: %q", silent)
	}
	if want := "## Other packages\n\n- `internal/kept` stores an Entry.\n"; !strings.Contains(page, want) {
		t.Errorf("the page is\n%s\nwithout %s", page, want)
	}
}
