// This file plans a dump: it determines which files are written, removed, or left unchanged.

package mdtree

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// compare determines the files to write and remove. It returns the contents of new files that are
// not entries. Entry contents are created again when they are staged, so that they do not all have
// to be in memory.
func (d *dumper) compare(ctx context.Context) (map[string][]byte, error) {
	m := manifest{Files: make([]manifestItem, 0, len(d.outputs))}
	links := make(map[string][]link)
	wanted := make(map[string]bool, len(d.outputs))
	// If the file system changes the spelling of names, like HFS+, a file with a different spelling
	// may be the same file.
	sameFile := make(map[string]bool)
	var buf []byte
	d.progress(0, len(d.outputs))
	for i := range d.outputs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out := &d.outputs[i]
		buf = out.text().appendTo(buf[:0])
		sum := journal.Sum(buf)
		wanted[out.path] = true
		m.Files = append(m.Files, manifestItem{out.path, out.entry.Name, sum})
		dir := path.Dir(out.path)
		links[dir] = append(links[dir], link{out.entry.Name, out.path})

		spelled, like := d.spelling[foldKey(out.path)]
		there := d.onDisk[out.path]
		if !there && like && isSameName(spelled, out.path) {
			found, err := d.exists(d.path(out.path))
			if err != nil {
				return nil, err
			}
			there = found
			sameFile[spelled] = found
		}
		if err := d.planFile(out.path, there, buf, sum); err != nil {
			return nil, err
		}
		d.progress(i+1, len(d.outputs))
	}
	for p := range d.onDisk {
		if wanted[p] || sameFile[p] {
			continue
		}
		text, err := d.read(p, maxFile)
		if err != nil {
			return nil, err
		}
		if may, err := d.mayReplace(p, text); err != nil {
			return nil, err
		} else if !may {
			continue
		}
		d.remove = append(d.remove, journal.Deletion{Path: p, Was: journal.Sum([]byte(text))})
	}
	slices.SortFunc(d.remove, func(a, b journal.Deletion) int { return strings.Compare(a.Path, b.Path) })
	d.report.Removed = len(d.remove)
	return d.compareOther(&m, links)
}

// compareOther is like compare, for the files that are not entries.
func (d *dumper) compareOther(m *manifest, links map[string][]link) (map[string][]byte, error) {
	m.Memory = d.origin.Name
	if d.was != "" && len(d.write)+len(d.remove) == 0 {
		m.Memory = d.was // nothing else changed, so keep the manifest unchanged as well
	}
	slices.SortFunc(m.Files, func(a, b manifestItem) int { return strings.Compare(a.Path, b.Path) })
	list, err := m.marshal()
	if err != nil {
		return nil, err
	}
	contents := map[string][]byte{
		summaryFile:  appendSummary(nil, links),
		manifestFile: list,
	}
	if err := d.compareBook(contents); err != nil {
		return nil, err
	}
	for _, p := range slices.Sorted(maps.Keys(contents)) {
		was, err := d.sum(p)
		if err != nil {
			return nil, err
		}
		sum := journal.Sum(contents[p])
		if p == summaryFile && sum != was {
			if err := d.keepSummary(); err != nil {
				return nil, err
			}
		}
		if sum != was {
			d.write = append(d.write, journal.Change{Path: p, Was: was, Sum: sum})
		}
		switch {
		case p == manifestFile:
		case sum == was:
			d.report.Unchanged++
		default:
			d.report.Written++
		}
	}
	return contents, nil
}

// compareBook adds the settings of the book to the files to write, unless the user has changed
// them. In that case, it reports the entries whose directives mdbook would execute.
func (d *dumper) compareBook(contents map[string][]byte) error {
	exists, err := d.exists(d.path(bookFile))
	if err != nil {
		return err
	}
	settings := oldBookSeed
	if exists {
		settings, err = d.read(bookFile, maxFile)
		if err != nil {
			settings = "" // not a text file, so it is left unchanged
		}
	}
	if settings == oldBookSeed {
		contents[bookFile] = []byte(bookSeed)
		return nil
	}
	d.report.Unchanged++ // the user's file is not changed
	if !readsFiles(settings) {
		return nil
	}
	for i := range d.outputs {
		if e := &d.outputs[i].entry; directives().MatchString(e.Content) || directives().MatchString(e.Name) {
			d.report.Directives = append(d.report.Directives, e.Name)
		}
	}
	return nil
}

// isSameName reports whether two paths are equal in Unicode normal form C.
func isSameName(a, b string) bool { return nfc(a) == nfc(b) }

// planFile plans the change of an entry's file.
func (d *dumper) planFile(p string, exists bool, data []byte, sum string) error {
	if !exists {
		d.write = append(d.write, journal.Change{Path: p, Was: "", Sum: sum})
		d.report.Written++
		return nil
	}
	old, err := d.read(p, maxFile)
	if err != nil {
		return err
	}
	if old == string(data) {
		d.report.Unchanged++
		return nil
	}
	if may, err := d.mayReplace(p, old); err != nil {
		return err
	} else if !may {
		return nil
	}
	d.write = append(d.write, journal.Change{Path: p, Was: journal.Sum([]byte(old)), Sum: sum})
	d.report.Written++
	return nil
}

// mayReplace reports whether a file may be replaced or removed. If the file was edited, it is added
// to d.edited, or, with force, to d.keep.
func (d *dumper) mayReplace(p, text string) (bool, error) {
	isSaved, err := d.isSaved(p, text)
	switch {
	case err != nil || isSaved:
		return true, err
	case d.force:
		d.keep = append(d.keep, p)
		return true, nil
	}
	d.edited = append(d.edited, p)
	return false, nil
}

// isSaved reports whether replacing the file loses nothing, because the last dump wrote the
// file, or because the store contains the text or contained it before.
func (d *dumper) isSaved(p, text string) (bool, error) {
	if d.sums[p] == journal.Sum([]byte(text)) {
		return true, nil
	}
	i := slices.IndexFunc(kindDirs[:], func(s kindDir) bool { return s.dir == path.Dir(p) })
	if len(d.base) > 0 {
		text = unixLines(text)
	}
	e, f, err := readEntryFile(&kindDirs[i], p, text)
	if err != nil || len(f.warnings) > 0 {
		return false, nil
	}
	if have, ok := d.byName[e.Name]; ok && sameEntry(&e, have) {
		return true, nil
	}
	return d.past.held(&e, d.base[e.Name])
}

// keepSummary adds the table of contents to d.keep, unless it is unchanged since the last dump.
func (d *dumper) keepSummary() error {
	text, err := d.read(summaryFile, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	links := make(map[string][]link)
	for _, f := range slices.SortedFunc(slices.Values(d.listed), func(a, b manifestItem) int {
		return strings.Compare(a.Name, b.Name)
	}) {
		links[path.Dir(f.Path)] = append(links[path.Dir(f.Path)], link{f.Name, f.Path})
	}
	if strings.ReplaceAll(text, "\r\n", "\n") != string(appendSummary(nil, links)) {
		d.keep = append(d.keep, summaryFile)
	}
	return nil
}

// keepCopies keeps a copy of each edited file that this dump replaces or removes.
func (d *dumper) keepCopies() error {
	for _, p := range d.keep {
		kept, err := vfs.KeepCopy(d.fs, d.path(p))
		if err != nil {
			return err
		}
		d.report.Kept = append(d.report.Kept, path.Join(path.Dir(p), path.Base(kept)))
	}
	return nil
}
