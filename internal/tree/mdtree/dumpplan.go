// This file plans a dump: it reads the entries, assigns a file to each, and determines which files are
// written, removed, or left unchanged.

package mdtree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// errEntryChanged reports that an entry was changed while it was dumped.
var errEntryChanged = fmt.Errorf("%w: an entry was changed meanwhile", oxbow.ErrBusy)

// outputFile is an entry and the file to which it is written. It does not contain the text, so that
// a dump does not need memory for all texts.
type outputFile struct {
	name     string
	kind     oxbow.Kind
	path     string
	showName bool
	sum      string // hash of the file in hex

	// text is the file's text without the name, and nameAt the position of the name in it. If hasText
	// is false, the last dump wrote the same file, and the text can be read from the store again.
	text       spooledText
	nameOffset int
	hasText    bool
}

// collectEntries reads the entries from the store and assigns a file to each.
func (d *dumper) collectEntries(ctx context.Context) error {
	var buf []byte
	for e, err := range d.store.Entries(ctx, d.filter) {
		if err != nil {
			return err
		}
		for _, text := range append([]string{e.Name, e.Content}, e.Aliases...) {
			if !utf8.ValidString(text) {
				return &oxbow.NameError{
					Name: e.Name,
					Err:  fmt.Errorf("entry %w: its text is not UTF-8", oxbow.ErrInvalid),
				}
			}
		}
		e.Labels = withoutLocal(e.Labels)
		if d.findDirectives && hasDirective(&e) {
			d.report.Directives = append(d.report.Directives, strings.Clone(e.Name))
		}
		out, text, err := d.renderEntry(&e, buf)
		if err != nil {
			return err
		}
		buf = text
		d.outputs = append(d.outputs, out)
	}
	slices.SortFunc(d.outputs, func(a, b outputFile) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	})
	slices.Sort(d.report.Directives)
	d.report.Entries = len(d.outputs)
	return d.assignFiles(ctx)
}

// hasDirective reports whether mdbook would execute a directive in the name or the content of the entry.
func hasDirective(e *oxbow.Entry) bool {
	return directives().MatchString(e.Content) || directives().MatchString(e.Name)
}

// renderEntry returns the output for an entry. It adds the text to the spool, unless the last dump wrote
// the same text. The text is appended to buf[:0], which is returned for the next call.
func (d *dumper) renderEntry(e *oxbow.Entry, buf []byte) (outputFile, []byte, error) {
	out := outputFile{kind: e.Kind}
	text, nameAt := entryText{Entry: e}.appendWithoutName(buf[:0])
	out.nameOffset = nameAt
	last, isDumped := d.base.findItem(e.Name)
	maySkip := isDumped && !d.keepsAllTexts
	if maySkip && last.hasSum(text) {
		out.name = last.Name
		out.sum = last.Sum
		return out, text, nil
	}
	// Clone the name, because it may share the memory of the whole entry.
	out.name = strings.Clone(e.Name)
	out.sum = hexSum(text)
	out.hasText = true
	var err error
	out.text, err = d.spool.addText(text)
	return out, text, err
}

// assignFiles assigns a path to each output, and determines the hash of its file.
func (d *dumper) assignFiles(ctx context.Context) error {
	var buf []byte
	for from := 0; from < len(d.outputs); {
		kind, to := d.outputs[from].kind, from
		var names []string
		for ; to < len(d.outputs) && d.outputs[to].kind == kind; to++ {
			names = append(names, d.outputs[to].name)
		}
		dir := kindDirectory(kind)
		if dir == "" {
			return &oxbow.NameError{Name: names[0], Err: fmt.Errorf("entry of kind %v has no place in a tree", kind)}
		}
		stems, shown := assignStems(names)
		for k, stem := range stems {
			out := &d.outputs[from+k]
			out.path, out.showName = dir+"/"+stem+".md", !shown[k]
			if !out.showName {
				continue
			}
			out.sum = ""
			text, err := d.appendText(ctx, buf[:0], out)
			if err != nil {
				return err
			}
			out.sum = hexSum(text)
			buf = text
		}
		from = to
	}
	return nil
}

// appendText appends the text of an output's file to b. If the text must be read from the store and
// has changed there, the error is errEntryChanged.
func (d *dumper) appendText(ctx context.Context, b []byte, out *outputFile) ([]byte, error) {
	if !out.hasText {
		return d.appendFromStore(ctx, b, out)
	}
	b, err := d.spool.appendTo(b, out.text)
	if err == nil && out.showName {
		b = slices.Insert(b, len(b)-out.text.length+out.nameOffset, appendName(nil, out.name)...)
	}
	return b, err
}

func (d *dumper) appendFromStore(ctx context.Context, b []byte, out *outputFile) ([]byte, error) {
	e, err := d.store.Get(ctx, out.name)
	if errors.Is(err, oxbow.ErrNotFound) {
		return b, errEntryChanged
	}
	if err != nil {
		return b, err
	}
	e.Labels = withoutLocal(e.Labels)
	start := len(b)
	b = entryText{Entry: &e, showName: out.showName}.appendTo(b)
	hasSum := out.sum == "" || hexSum(b[start:]) == out.sum
	if e.Kind != out.kind || !hasSum {
		return b, errEntryChanged
	}
	return b, nil
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// planChanges determines the files to write and remove. It returns the contents of new files that are
// not entries.
func (d *dumper) planChanges(ctx context.Context) (map[string][]byte, error) {
	m := manifest{Files: make([]manifestItem, 0, len(d.outputs))}
	links := make(map[string][]link)
	isWanted := make([]bool, len(d.items))
	// If the file system changes the spelling of names, like HFS+, a file with a different spelling
	// may be the same file.
	sameFile := make(map[string]bool)
	d.progress(0, len(d.outputs))
	for i := range d.outputs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out := &d.outputs[i]
		m.Files = append(m.Files, manifestItem{out.path, out.name, out.sum})
		dir := path.Dir(out.path)
		links[dir] = append(links[dir], link{out.name, out.path})

		index, there := d.findItem(out.path)
		if there {
			isWanted[index] = true
		}
		if spelled, like := d.pathByNFC[normalizeNFC(out.path)]; !there && like {
			found, err := d.nameExists(d.fullPath(out.path))
			if err != nil {
				return nil, err
			}
			there = found
			sameFile[spelled] = found
		}
		isPlanned, err := d.planFile(ctx, i, there)
		if err != nil {
			return nil, err
		}
		if !isPlanned {
			d.reportProgress()
		}
	}
	for i := range d.items {
		p := d.items[i].path
		if isWanted[i] || sameFile[p] {
			continue
		}
		sum, may, err := d.mayReplace(ctx, p)
		if err != nil {
			return nil, err
		}
		if may {
			d.removals = append(d.removals, journal.Deletion{Path: p, OldSum: sum})
		}
	}
	d.report.Removed = len(d.removals)
	return d.planOtherFiles(&m, links)
}

// planOtherFiles is like planChanges, for the files that are not entries.
func (d *dumper) planOtherFiles(m *manifest, links map[string][]link) (map[string][]byte, error) {
	m.Memory = d.origin.Name
	hasMemory := d.base != nil && d.base.Memory != ""
	if hasMemory && len(d.writes)+len(d.removals) == 0 {
		m.Memory = d.base.Memory // keep the old name of the memory, because nothing else in the manifest changed
	}
	slices.SortFunc(m.Files, func(a, b manifestItem) int { return strings.Compare(a.Path, b.Path) })
	contents := map[string][]byte{summaryFile: appendSummary(nil, links)}
	if err := d.planBook(contents); err != nil {
		return nil, err
	}
	if err := d.planManifest(m); err != nil {
		return nil, err
	}
	for _, p := range slices.Sorted(maps.Keys(contents)) {
		was, err := d.hashFile(p)
		if err != nil {
			return nil, err
		}
		sum := journal.HexSum(contents[p])
		if p == summaryFile && sum != was {
			if err := d.addSummaryToKeep(); err != nil {
				return nil, err
			}
		}
		if sum != was {
			d.writes = append(d.writes, plannedWrite{journal.Change{Path: p, OldSum: was, NewSum: sum}, -1})
		}
		switch {
		case sum == was:
			d.report.Unchanged++
		default:
			d.report.Written++
		}
	}
	return contents, nil
}

// planManifest adds the manifest to the files to write, if it changes.
func (d *dumper) planManifest(m *manifest) error {
	was, err := d.hashFileStream(manifestFile)
	if err != nil {
		return err
	}
	sum, err := m.hash()
	if err != nil {
		return err
	}
	d.manifestSum = sum
	if sum == was {
		return nil
	}
	d.nextManifest = m
	d.writes = append(d.writes, plannedWrite{journal.Change{Path: manifestFile, OldSum: was, NewSum: sum}, -1})
	return nil
}

// bookSettings returns the settings of the book. isOurs reports whether a dump may replace the settings: they do
// not exist, or an earlier version of oxbow wrote them.
func (d *dumper) bookSettings() (settings string, isOurs bool, err error) {
	exists, err := d.nameExists(d.fullPath(bookFile))
	if err != nil || !exists {
		return "", true, err
	}
	settings, err = d.readText(bookFile, maxFile)
	if err != nil {
		return "", false, nil // leave the file unchanged, because it is not a text file
	}
	return settings, settings == oldBookSettings, nil
}

// scanBook determines whether the entries with directives that mdbook would execute are reported.
func (d *dumper) scanBook() error {
	settings, isOurs, err := d.bookSettings()
	d.findDirectives = !isOurs && readsFiles(settings)
	return err
}

// planBook adds the settings of the book to the files to write, unless the user has changed
// them.
func (d *dumper) planBook(contents map[string][]byte) error {
	_, isOurs, err := d.bookSettings()
	if err != nil {
		return err
	}
	if isOurs {
		contents[bookFile] = []byte(newBookSettings)
	} else {
		d.report.Unchanged++
	}
	return nil
}

// planFile plans the change of an entry's file. It reports whether the file will be written.
func (d *dumper) planFile(ctx context.Context, i int, exists bool) (bool, error) {
	out := &d.outputs[i]
	if !exists {
		d.writes = append(d.writes, plannedWrite{journal.Change{Path: out.path, NewSum: out.sum}, i})
		d.report.Written++
		return true, nil
	}
	sum, err := d.fileSum(out.path)
	if err != nil {
		return false, err
	}
	if sum == out.sum {
		d.report.Unchanged++
		return false, nil
	}
	sum, may, err := d.mayReplace(ctx, out.path)
	if err != nil || !may {
		return false, err
	}
	d.writes = append(d.writes, plannedWrite{journal.Change{Path: out.path, OldSum: sum, NewSum: out.sum}, i})
	d.report.Written++
	return true, nil
}

// fileSum returns the hash of an existing file. The hash of a known file is taken from the list,
// without reading the file.
func (d *dumper) fileSum(p string) (string, error) {
	if i, ok := d.findItem(p); ok {
		if row, ok := d.knownFiles.unchangedRow(&d.items[i], i); ok {
			f := d.knownFiles.rows[row]
			d.examination.rows = append(d.examination.rows, f)
			return hex.EncodeToString(f.sum[:]), nil
		}
	}
	text, err := d.readAndList(p)
	return journal.HexSum([]byte(text)), err
}

// readAndList returns the text of an entry's file, and adds the file to the list of known files.
func (d *dumper) readAndList(p string) (string, error) {
	if d.examination.settledTime == 0 && !d.examination.isTimeUnknown {
		d.prepareExamination()
	}
	text, info, err := d.tree.readText(p, maxFile)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", d.fullPath(p), err)
	}
	if !d.examination.isTimeUnknown && info != nil {
		d.examination.addFile(p, info, sha256.Sum256([]byte(text)))
	}
	return text, nil
}

// prepareExamination determines a time. Only files that were last changed before that time enter the list of known
// files.
func (d *dumper) prepareExamination() {
	ok := d.hasStamps()
	if ok {
		d.examination.settledTime, ok = d.settledTime()
	}
	d.examination.isTimeUnknown = !ok
}

// examineWritten adds the files that this dump wrote to the list of known files. Files that have changed since the
// time settled are left out, because another program may have changed them.
func (d *dumper) examineWritten(settled int64) {
	d.examination.settledTime = settled
	for _, w := range d.writes {
		if w.output < 0 {
			continue
		}
		sum, err := hex.DecodeString(w.NewSum)
		info, serr := d.fs.Stat(d.fullPath(w.Path))
		if errors.Join(err, serr) == nil && info.Mode().IsRegular() {
			d.examination.addFile(w.Path, info, [sha256.Size]byte(sum))
		}
	}
}

// saveKnownFiles writes the list of known files if it has changed. Errors are ignored, because the
// list only saves time.
func (d *dumper) saveKnownFiles() {
	next := d.examination.knownFiles(d.manifestSum)
	hasChanged := d.examination.hasNewRow || len(next.rows) != len(d.knownFiles.rows)
	if hasChanged || next.manifestHash != d.knownFiles.manifestHash {
		_ = vfs.WriteFile(d.fs, d.fullPath(knownFilesFile), next.marshal(), 0o600)
	}
}

// mayReplace returns the hash of a file, and reports whether the file may be replaced or removed. If
// the file was edited, it is added to d.edited, or, with force, to d.copiesToKeep.
func (d *dumper) mayReplace(ctx context.Context, p string) (sum string, may bool, err error) {
	sum, err = d.fileSum(p)
	if err != nil {
		return "", false, err
	}
	if last, ok := d.base.itemAt(p); ok && last.Sum == sum {
		return sum, true, nil
	}
	text, err := d.readAndList(p)
	if err != nil {
		return "", false, err
	}
	sum = journal.HexSum([]byte(text))
	isSaved, err := d.losesNothing(ctx, p, text)
	switch {
	case err != nil || isSaved:
		return sum, true, err
	case d.isForced:
		d.copiesToKeep = append(d.copiesToKeep, p)
		return sum, true, nil
	}
	d.editedFiles = append(d.editedFiles, p)
	return sum, false, nil
}

// losesNothing reports whether replacing the file loses nothing, because the last dump wrote the
// file, or because the store contains the text or contained it before.
func (d *dumper) losesNothing(ctx context.Context, p, text string) (bool, error) {
	if last, ok := d.base.itemAt(p); ok && last.Sum == journal.HexSum([]byte(text)) {
		return true, nil
	}
	i := slices.IndexFunc(kindDirs[:], func(s kindDir) bool { return s.dir == path.Dir(p) })
	if d.base != nil && len(d.base.Files) > 0 {
		text = unixLines(text)
	}
	e, f, err := readEntryFile(&kindDirs[i], p, text)
	if err != nil || len(f.warnings) > 0 {
		return false, nil
	}
	have, err := d.store.Get(ctx, e.Name)
	switch {
	case err == nil:
		have.Labels = withoutLocal(have.Labels)
		if isSameEntry(&e, &have) {
			return true, nil
		}
	case !errors.Is(err, oxbow.ErrNotFound):
		return false, err
	}
	last, _ := d.base.findItem(e.Name)
	return d.history.hadEntry(&e, last)
}

// addSummaryToKeep adds the table of contents to d.copiesToKeep, unless it is unchanged since the last dump.
func (d *dumper) addSummaryToKeep() error {
	text, err := d.readText(summaryFile, maxListSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	links := make(map[string][]link)
	for _, f := range slices.SortedFunc(slices.Values(d.listedItems), func(a, b manifestItem) int {
		return strings.Compare(a.Name, b.Name)
	}) {
		links[path.Dir(f.Path)] = append(links[path.Dir(f.Path)], link{f.Name, f.Path})
	}
	if strings.ReplaceAll(text, "\r\n", "\n") != string(appendSummary(nil, links)) {
		d.copiesToKeep = append(d.copiesToKeep, summaryFile)
	}
	return nil
}

// keepCopies keeps a copy of each edited file that this dump replaces or removes.
func (d *dumper) keepCopies() error {
	for _, p := range d.copiesToKeep {
		kept, err := vfs.KeepCopy(d.fs, d.fullPath(p))
		if err != nil {
			return err
		}
		d.report.Kept = append(d.report.Kept, path.Join(path.Dir(p), path.Base(kept)))
	}
	return nil
}
