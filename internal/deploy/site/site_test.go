// This file tests that each link of the site leads to a file and a heading of the site, and that no page loads
// anything from another site.

package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

var (
	attribute = regexp.MustCompile(`(href|src)="([^"]*)"`)
	elementID = regexp.MustCompile(` id="([^"]*)"`)
)

func TestSite(t *testing.T) {
	out := t.TempDir()
	const source = "https://source.example/blob"
	pages, err := writeSite(os.DirFS("../../.."), source, out)
	if err != nil || pages < 30 {
		t.Fatalf("writeSite = %d, %v, want at least 30 pages", pages, err)
	}
	site := os.DirFS(out)
	texts := map[string]string{}
	if err := fs.WalkDir(site, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(p) != ".html" {
			return err
		}
		b, err := fs.ReadFile(site, p)
		texts[p] = string(b)
		return err
	}); err != nil || len(texts) != pages {
		t.Fatalf("WalkDir finds %d pages, %v, want %d", len(texts), err, pages)
	}
	links := 0
	for p, text := range texts {
		for _, m := range attribute.FindAllStringSubmatch(text, -1) {
			links++
			if strings.Contains(m[2], ":") {
				if m[1] == "src" {
					t.Errorf("%s loads %s", p, m[2])
				}
				continue
			}
			file, anchor, hasAnchor := strings.Cut(m[2], "#")
			target := p
			if file != "" {
				target = path.Join(path.Dir(p), file)
			}
			if _, err := fs.Stat(site, target); err != nil {
				t.Errorf("%s: the link %s leads to no file", p, m[2])
			} else if hasAnchor && !hasElement(texts[target], anchor) {
				t.Errorf("%s: the link %s leads to no element", p, m[2])
			}
		}
	}
	if links < 1000 {
		t.Errorf("found %d links, want the navigation on each page", links)
	}
	if !strings.Contains(texts["docs/api.html"], source+"/internal/httpapi/openapi.json") {
		t.Error("docs/api.html has no link to the source of the API's description")
	}
}

func hasElement(text, id string) bool {
	for _, m := range elementID.FindAllStringSubmatch(text, -1) {
		if m[1] == id {
			return true
		}
	}
	return false
}

// TestSearchItems tests the items of the site's search. It checks for one section that the item contains the text of
// the section's table and example session. No item may contain the preparation of a session.
func TestSearchItems(t *testing.T) {
	out := t.TempDir()
	if _, err := writeSite(os.DirFS("../../.."), "https://source.example", out); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(out, "search.js"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(string(script), "const items = "), "\n")
	var items []searchableSection
	if err := json.Unmarshal([]byte(line), &items); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, item := range items {
		found[item.SectionURL] = item.Text
		if strings.Contains(item.Text, "| oxbow hook claude") {
			t.Errorf("%s contains the preparation of a session", item.SectionURL)
		}
	}
	const address = "docs/which.html#take-something-out-forget-or-redact"
	if !strings.Contains(found[address], "erase a text for good") || !strings.Contains(found[address], "oxbow undo") {
		t.Errorf("%s has the text %q, want its table and its session", address, found[address])
	}
}

func TestDeadLinks(t *testing.T) {
	site := fstest.MapFS{
		"README.md":      {Data: []byte("# A\n\n[b](docs/none.md) [c](#none) [d](docs/README.md#list)\n")},
		"docs/README.md": {Data: []byte("# List\n\n## Guides\n\n| [gone](gone.md) | x |\n|---|---|\n")},
	}
	_, err := writeSite(site, "", t.TempDir())
	if err == nil {
		t.Fatal("writeSite succeeds, want errors")
	}
	for _, want := range []string{
		"docs/none.md leads to no file",
		"#none leads to no heading",
		"gone.md leads to no file",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("writeSite = %v, want %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "README.md#list") {
		t.Errorf("writeSite = %v, and the heading exists", err)
	}
}
