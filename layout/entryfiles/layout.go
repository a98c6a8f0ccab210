// This file defines the layout. Each entry is a file in memory/entries.

package entryfiles

import (
	"fmt"
	"hash/fnv"
	"path"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// These are the paths of the directories and files in a home (a memory's directory) with this layout.
const (
	entriesDir   = "memory/entries"
	indexFile    = "memory/MEMORY.md"
	identityFile = "Crab.md"
	configFile   = "memory.toml"
)

// maxSlugBytes is the maximum length, in bytes, of the slug in a file name. File systems allow names of 255 bytes,
// and a temporary file has a name that is 21 bytes longer.
const maxSlugBytes = 200

type treeLayout struct{}

var _ mdtree.Layout = treeLayout{}

// Dirs implements [mdtree.Layout].
func (treeLayout) Dirs() []string { return []string{entriesDir} }

// Match implements [mdtree.Layout].
func (treeLayout) Match(filePath string) bool { return path.Ext(filePath) == ".md" }

// Parse implements [mdtree.Layout].
func (treeLayout) Parse(_, text string) ([]mdtree.Item, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	e, err := d.entry()
	if err != nil {
		return nil, err
	}
	return []mdtree.Item{{Entry: e, StartOffset: 0, EndOffset: len(text)}}, nil
}

// Plan implements [mdtree.Layout].
func (treeLayout) Plan(v mdtree.TreeView, op oxbow.Op, _ time.Time) ([]mdtree.Edit, error) {
	if add, ok := op.(oxbow.Add); ok {
		return []mdtree.Edit{
			{Path: unusedEntryPath(add.Name, v.IsPathTaken), Text: formatEntryFile(add.ApplyTo(oxbow.Entry{}))},
		}, nil
	}
	place, _ := v.Find(op.Target())
	if _, ok := op.(oxbow.Remove); ok {
		return []mdtree.Edit{{Path: place.Path, IsRemoval: true}}, nil
	}
	old, _ := v.FileText(place.Path)
	text, err := rewriteFile(old, place.Entry, op.ApplyTo(place.Entry.Clone()))
	if err != nil {
		return nil, fmt.Errorf("editing %s: %w", place.Path, err)
	}
	return []mdtree.Edit{{Path: place.Path, Text: text}}, nil
}

// entrySlug returns the file name, without .md, that an entry with the given name should have.
func entrySlug(name string) string {
	if s := text.MakeSlug(name); s != "" {
		return s
	}
	return "entry"
}

// unusedEntryPath returns a path for the file of a new entry. The file name is the slug of the entry's name (see
// entrySlug). If the path is taken, a number is appended. A slug that is too long is cut, and a hash of the name is
// appended.
func unusedEntryPath(name string, isPathTaken func(string) bool) string {
	s := entrySlug(name)
	if len(s) > maxSlugBytes {
		h := fnv.New32a()
		h.Write([]byte(name))
		s = fmt.Sprintf("%s-%08x", text.TruncateBytes(s, maxSlugBytes-9), h.Sum32())
	}
	p := entriesDir + "/" + s + ".md"
	for n := 2; text.IsDeviceName(path.Base(p)) || isPathTaken(p); n++ {
		p = fmt.Sprintf("%s/%s-%d.md", entriesDir, s, n)
	}
	return p
}
