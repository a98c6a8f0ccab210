// This file checks Markdown files. Each link must lead to an existing file and heading. Each test that a Markdown file
// names must exist. The file docs/README.md must contain a link to each page.

package structure

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	fencedBlock  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	inlineCode   = regexp.MustCompile("`[^`\n]*`")
	markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)
)

// headingAnchor returns the anchor that GitHub generates for a heading.
func headingAnchor(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// anchors returns the anchors of the headings of a page.
func anchors(markdown string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fencedBlock.ReplaceAllString(markdown, ""), -1) {
		text := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(m[1], "$1")
		anchor := headingAnchor(text)
		name := anchor
		for i := 1; all[name]; i++ {
			name = fmt.Sprintf("%s-%d", anchor, i)
		}
		all[name] = true
	}
	return all
}

// linksLead checks the relative links of all Markdown files.
func linksLead(h *house) (wrong []string) {
	texts := map[string]string{}
	err := walk(h.fsys, func(p string) error {
		if path.Ext(p) != ".md" {
			return nil
		}
		b, err := fs.ReadFile(h.fsys, p)
		texts[p] = string(b)
		return err
	})
	if err != nil {
		return []string{err.Error()}
	}
	for p, text := range texts {
		text = inlineCode.ReplaceAllString(fencedBlock.ReplaceAllString(text, ""), "")
		for _, m := range markdownLink.FindAllStringSubmatch(text, -1) {
			link := m[1]
			if strings.Contains(link, ":") {
				continue // The link leads to another site.
			}
			file, anchor, hasAnchor := strings.Cut(link, "#")
			target := p
			if file != "" {
				target = path.Join(path.Dir(p), file)
			}
			if _, err := fs.Stat(h.fsys, target); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: the link %s leads to no file", p, link))
				continue
			}
			if page, isPage := texts[target]; hasAnchor && isPage && !anchors(page)[anchor] {
				wrong = append(wrong, fmt.Sprintf("%s: the link %s leads to no heading", p, link))
			}
		}
	}
	return wrong
}

// pagesAreListed checks that docs/README.md has a link to every page of docs.
func pagesAreListed(h *house) (wrong []string) {
	index, err := fs.ReadFile(h.fsys, "docs/README.md")
	if err != nil {
		return []string{err.Error()}
	}
	// The pattern is split into two strings, because another check treats a pattern in a single string as a path
	// relative to this directory.
	pages, err := fs.Glob(h.fsys, "docs/"+"*.md")
	if err != nil {
		return []string{err.Error()}
	}
	for _, p := range pages {
		name := path.Base(p)
		if name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			wrong = append(wrong, "docs/README.md: has no link to "+name)
		}
	}
	return wrong
}

var (
	testName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	testFunc = regexp.MustCompile(`(?m)^func (?:Test|Fuzz)[A-Z]\w*`)
)

// namedTestsExist checks that each test that a Markdown file names is a test of this repository. The check is
// necessary because pages refer to tests as proof of their rules.
func namedTestsExist(h *house) (wrong []string) {
	exists := map[string]bool{}
	namedIn := map[string]string{}
	// WalkDir also visits other modules, such as test/browser. The function walk of this package would skip them.
	err := fs.WalkDir(h.fsys, ".", func(p string, d fs.DirEntry, err error) error {
		isTest, isPage := strings.HasSuffix(p, "_test.go"), path.Ext(p) == ".md"
		if err != nil || d.IsDir() || (!isTest && !isPage) {
			return err
		}
		b, err := fs.ReadFile(h.fsys, p)
		for _, f := range testFunc.FindAllString(string(b), -1) {
			exists[strings.TrimPrefix(f, "func ")] = true
		}
		if isPage {
			for _, name := range testName.FindAllString(string(b), -1) {
				namedIn[name] = p
			}
		}
		return err
	})
	if err != nil {
		return []string{err.Error()}
	}
	for _, name := range slices.Sorted(maps.Keys(namedIn)) {
		if !exists[name] {
			wrong = append(wrong, fmt.Sprintf("%s: names the test %s, which does not exist", namedIn[name], name))
		}
	}
	return wrong
}

var linkRules = []rule{
	{"LinksLead", linksLead, map[string]string{
		"README.md": "[a](docs/a.md) [b](docs/b.md) [c](docs/a.md#a-b) [d](https://example.org/x.md) `[e](none.md)`\n" +
			"```\n[f](none.md)\n```\n[g](#none) [h](docs/) [i](docs/a.md#c)\n",
		"docs/a.md": "# A, b\n\n```sh\n# c\n```\n",
	}, []string{
		"README.md: the link #none leads to no heading",
		"README.md: the link docs/a.md#c leads to no heading",
		"README.md: the link docs/b.md leads to no file",
	}},
	{"PagesAreListed", pagesAreListed, map[string]string{
		"docs/README.md": "[a](a.md)",
		"docs/a.md":      "# A",
		"docs/b.md":      "# B",
	}, []string{"docs/README.md: has no link to b.md"}},
	{"NamedTestsExist", namedTestsExist, map[string]string{
		"docs/a.md":   "A rule (`TestKept`, `FuzzGone`, `x.TestGone`).",
		"a/a_test.go": "// This file tests a.\n\npackage a\n\nfunc TestKept(t *testing.T) {}\n",
	}, []string{
		"docs/a.md: names the test FuzzGone, which does not exist",
		"docs/a.md: names the test TestGone, which does not exist",
	}},
}
