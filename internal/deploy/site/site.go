// This file reads the pages, checks their links and writes the site.

package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed page.html style.css search.js
var assets embed.FS

var pageTemplate = template.Must(template.ParseFS(assets, "page.html"))

// indexPage is the page whose tables list all pages. The navigation is built from these tables.
const indexPage = "docs/README.md"

// navigationGroup is a heading of the navigation, with links to its pages.
type navigationGroup struct {
	Title string
	Links []navigationLink
}

type navigationLink struct {
	Title, Address string
	IsCurrent      bool
}

// searchableSection is a section of a page that the search can find.
type searchableSection struct {
	Page       string `json:"page"`
	Heading    string `json:"heading"`
	SectionURL string `json:"address"`
	Text       string `json:"text"`
}

// writeSite writes the site for the repository into the directory out, and returns the number of pages.
func writeSite(repository fs.FS, sourceURL, out string) (int, error) {
	paths, err := findPages(repository)
	if err != nil {
		return 0, err
	}
	site := &website{repository: repository, sourceURL: sourceURL, pages: map[string]*sitePage{}}
	for _, p := range paths {
		text, err := fs.ReadFile(repository, p)
		if err != nil {
			return 0, err
		}
		site.pages[p] = parsePage(p, text)
	}
	if err := site.checkLinks(paths); err != nil {
		return 0, err
	}
	var items []searchableSection
	for _, p := range paths {
		if err := site.writePage(site.pages[p], out); err != nil {
			return 0, err
		}
		items = append(items, site.pages[p].searchItems()...)
	}
	if err := site.copyPictures(out); err != nil {
		return 0, err
	}
	return len(paths), writeAssets(items, out)
}

// findPages returns the Markdown files in the root and in docs.
func findPages(repository fs.FS) ([]string, error) {
	var paths []string
	for _, dir := range []string{".", "docs"} {
		entries, err := fs.ReadDir(repository, dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if path.Ext(e.Name()) == ".md" {
				paths = append(paths, path.Join(dir, e.Name()))
			}
		}
	}
	if !slices.Contains(paths, indexPage) {
		return nil, fmt.Errorf("%s is missing, which lists the pages", indexPage)
	}
	return paths, nil
}

// website contains the pages of the site, and the values that are needed to write a page.
type website struct {
	repository fs.FS
	sourceURL  string
	pages      map[string]*sitePage
}

// pageAddress returns the path of a file's page on the site. The second result is false if the site does not contain
// the file.
func (s *website) pageAddress(file string) (string, bool) {
	if _, isPage := s.pages[file]; isPage {
		dir, name := path.Split(file)
		if name == "README.md" {
			return dir + "index.html", true
		}
		return strings.TrimSuffix(file, ".md") + ".html", true
	}
	return file, path.Ext(file) == ".png"
}

// resolveLink returns the address on the site to which a link leads. from is the path of the page that contains the
// link. The link may name a page, a picture or another file of the repository. If the target does not exist,
// resolveLink returns an error.
func (s *website) resolveLink(from, link string) (string, error) {
	if strings.Contains(link, ":") {
		return link, nil // The link has a scheme, such as https, so it is already a complete address.
	}
	file, anchor, hasAnchor := strings.Cut(link, "#")
	target := from
	if file != "" {
		target = path.Join(path.Dir(from), file)
	}
	if _, err := fs.Stat(s.repository, target); err != nil {
		return "", fmt.Errorf("%s: the link %s leads to no file", from, link)
	}
	p := s.pages[target]
	isMissing := p != nil && !p.anchors[anchor]
	if hasAnchor && isMissing {
		return "", fmt.Errorf("%s: the link %s leads to no heading", from, link)
	}
	address, isOfSite := s.pageAddress(target)
	if isOfSite {
		ownPath, _ := s.pageAddress(from)
		address = relativeAddress(ownPath, address)
	} else {
		address = s.sourceURL + "/" + target
	}
	if hasAnchor {
		address += "#" + anchor
	}
	return address, nil
}

// relativeAddress returns the relative address of the file to, for a link in the file from. Both are paths from the
// root of the site. For example, a link from "docs/a.html" to "index.html" has the address "../index.html".
func relativeAddress(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// checkLinks returns an error that lists all links without a target.
func (s *website) checkLinks(paths []string) error {
	var wrong []error
	for _, p := range paths {
		for _, link := range s.pages[p].links {
			if _, err := s.resolveLink(p, link); err != nil {
				wrong = append(wrong, err)
			}
		}
	}
	return errors.Join(wrong...)
}

var (
	navigationHeadingPattern = regexp.MustCompile(`^## (.+)$`)
	navigationRowPattern     = regexp.MustCompile(`^\| \[([^\]]+)\]\(([^)]+)\)`)
)

// makeNavigation returns the groups of links for the navigation of the page at pagePath. The addresses are relative to
// this page.
func (s *website) makeNavigation(pagePath string) ([]navigationGroup, error) {
	var groups []navigationGroup
	for line := range strings.Lines(string(s.pages[indexPage].text)) {
		if m := navigationHeadingPattern.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			groups = append(groups, navigationGroup{Title: m[1]})
		}
		m := navigationRowPattern.FindStringSubmatch(line)
		if m == nil || len(groups) == 0 {
			continue
		}
		target := path.Join(path.Dir(indexPage), m[2])
		address, err := s.resolveLink(pagePath, strings.Repeat("../", strings.Count(pagePath, "/"))+target)
		if err != nil {
			return nil, err
		}
		last := &groups[len(groups)-1]
		last.Links = append(last.Links, navigationLink{m[1], address, target == pagePath})
	}
	return groups, nil
}

func (s *website) writePage(p *sitePage, outDir string) error {
	content, err := p.renderPage(s)
	if err != nil {
		return err
	}
	groups, err := s.makeNavigation(p.path)
	if err != nil {
		return err
	}
	ownPath, _ := s.pageAddress(p.path)
	var b bytes.Buffer
	err = pageTemplate.Execute(&b, map[string]any{
		"Title":   p.title,
		"Root":    relativeAddress(ownPath, ""),
		"Groups":  groups,
		"Content": template.HTML(content),
	})
	if err != nil {
		return err
	}
	return writeFile(outDir, ownPath, b.Bytes())
}

// copyPictures copies the PNG files to which the pages link from the repository to the directory out.
func (s *website) copyPictures(out string) error {
	for p, page := range s.pages {
		for _, link := range page.links {
			if path.Ext(link) != ".png" || strings.Contains(link, ":") {
				continue
			}
			file := path.Join(path.Dir(p), link)
			b, err := fs.ReadFile(s.repository, file)
			if err == nil {
				err = writeFile(out, file, b)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// writeAssets writes the style sheet, and the script with the items for the search.
func writeAssets(items []searchableSection, outDir string) error {
	style, err := assets.ReadFile("style.css")
	if err != nil {
		return err
	}
	script, err := assets.ReadFile("search.js")
	if err != nil {
		return err
	}
	list, err := json.Marshal(items)
	if err != nil {
		return err
	}
	script = append([]byte("const items = "+string(list)+"\n"), script...)
	return errors.Join(writeFile(outDir, "style.css", style), writeFile(outDir, "search.js", script))
}

func writeFile(dir, name string, content []byte) error {
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}
