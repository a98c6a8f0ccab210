// This file reads and writes the manifest, which lists the files of the last dump. With it,
// the next dump can tell which files the user changed, added or removed.

package mdtree

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	manifestFile    = ".oxbow-manifest.json"
	manifestVersion = 1

	// maxEntryListBytes is the maximum size, in bytes, of a file that lists all entries, such as the manifest. It
	// equals the maximum size of a journal.
	maxEntryListBytes = journal.MaxJournalBytes
)

// manifestHead is the manifest file's content before the list of files.
type manifestHead struct {
	Version int `json:"version"`
	// name of the store that was dumped, see [DumpOptions.DumpedStoreIdentity]
	DumpedStoreName string `json:"memory,omitempty"`
	EntryCount      int    `json:"count"` // number of entries that the dump wrote
}

// manifestItem is a file in the manifest.
type manifestItem struct {
	Path string       // path of the file, relative to the root of the dump's directory tree
	Name string       // name of the entry
	Sum  sha256Digest // hash of the file (unknown if the manifest was edited)
}

// manifestFileLine is the form of a manifestItem in the manifest file.
type manifestFileLine struct {
	Path      string `json:"path"`
	Name      string `json:"name"`
	SHA256Hex string `json:"sha256"`
}

// manifest is the content of the manifest file, in a form that needs little memory.
type manifest struct {
	manifestHead
	fileRows []manifestRow
	// Names of entries, by row. The map contains only rows whose entry name cannot be derived from the file name.
	entryNameByRow map[int32]string

	rowByPath          rowsByString
	rowByName          rowsByString // rows by entry name (empty until findName is called)
	namesInSeveralRows map[string]bool
}

// manifestRow is a file in the manifest. The field kindDirIndex is an index in entryKindDirs, and so selects the
// directory of the file.
type manifestRow struct {
	fileStem     string
	fileDigest   sha256Digest
	kindDirIndex int8
}

func (m *manifest) kindDirOfRow(row int) *entryKindDir {
	return &entryKindDirs[m.fileRows[row].kindDirIndex]
}

func (m *manifest) pathOfRow(row int) string {
	return entryPath(m.kindDirOfRow(row).dir, m.fileRows[row].fileStem)
}

func (m *manifest) nameOfRow(row int) string {
	if name, ok := m.entryNameByRow[int32(row)]; ok {
		return name
	}
	return decodeFileStem(m.fileRows[row].fileStem)
}

func (m *manifest) itemOfRow(row int) manifestItem {
	return manifestItem{m.pathOfRow(row), m.nameOfRow(row), m.fileRows[row].fileDigest}
}

// writeManifest writes a manifest with a line for each file, so that diffs of a tree in git are
// readable. The files must be sorted by path.
func writeManifest(w io.Writer, storeName string, entryCount int, files iter.Seq[manifestItem]) error {
	if storeName != "" {
		storeName = fmt.Sprintf("\"memory\": %q,\n", storeName)
	}
	fmt.Fprintf(w, "{\n\"version\": %d,\n%s\"count\": %d,\n\"files\": [", manifestVersion, storeName, entryCount)
	var buf bytes.Buffer
	// The encoder ends each JSON value with a line break, so each file is on a line of its own.
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	separator := "\n"
	for f := range files {
		buf.Reset()
		buf.WriteString(separator)
		separator = ","
		if needsNoJSONEscape(f.Path) && needsNoJSONEscape(f.Name) {
			buf.WriteString(`{"path":"`)
			buf.WriteString(f.Path)
			buf.WriteString(`","name":"`)
			buf.WriteString(f.Name)
			buf.WriteString(`","sha256":"`)
			buf.WriteString(f.Sum.hexText())
			buf.WriteString("\"}\n")
		} else if err := enc.Encode(manifestFileLine{f.Path, f.Name, f.Sum.hexText()}); err != nil {
			return fmt.Errorf("encoding the manifest: %w", err)
		}
		if _, err := w.Write(buf.Bytes()); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "]\n}\n")
	return err
}

// needsNoJSONEscape reports whether a text needs no escapes in JSON, because it consists of letters, digits, spaces and
// most punctuation in ASCII.
func needsNoJSONEscape(s string) bool {
	for i := range len(s) {
		c := s[i]
		isControl := c < ' ' || c >= 0x7f
		isSpecial := c == '"' || c == '\\'
		if isControl || isSpecial {
			return false
		}
	}
	return true
}

// maxManifestLineBytes is the maximum length, in bytes, of a line in the form that writeManifest writes. A manifest
// with longer lines is read as a whole.
const maxManifestLineBytes = 64 << 10

// eachManifestItem reads a manifest. It calls fn for each file, in the order of the manifest. Strings of the items
// share memory, so that fn must clone a string that it keeps. fn may store items, but must not rely on them until
// eachManifestItem has returned nil, because the manifest may be invalid. If the content is invalid, the error matches
// [oxbow.ErrVersion] or [oxbow.ErrInvalid].
func eachManifestItem(file io.ReaderAt, fn func(manifestItem)) (manifestHead, error) {
	var bad error
	count := 0
	take := func(l manifestFileLine) {
		if bad == nil && !isEntryPath(l.Path) {
			bad = fmt.Errorf("%w: it lists %q, which is no file of an entry",
				oxbow.ErrInvalid, text.TruncateWithEllipsis(l.Path, maxMessageValueBytes))
		}
		count++
		fn(manifestItem{l.Path, l.Name, parseDigest(l.SHA256Hex)})
	}
	head, err := readManifestFileLines(io.NewSectionReader(file, 0, math.MaxInt64), take)
	if errors.Is(err, errManifestNotLineBased) {
		head, err = readManifestJSON(io.NewSectionReader(file, 0, math.MaxInt64), count, take)
	}
	switch {
	case err != nil:
		return head, err
	case head.Version != manifestVersion:
		return head, fmt.Errorf("%w: it has version %d, and %d is known",
			oxbow.ErrVersion, head.Version, manifestVersion)
	case head.EntryCount != count:
		return head, fmt.Errorf("%w: it lists %d files and counts %d; remove it to go on without",
			oxbow.ErrInvalid, count, head.EntryCount)
	}
	return head, bad
}

// errManifestNotLineBased reports that a manifest is not in the form with one line for each file, which writeManifest
// writes. Such a manifest is read by package json instead.
var errManifestNotLineBased = errors.New("the manifest is written differently")

// readManifestFileLines reads a manifest in the form that writeManifest writes. It calls the function addLine for each
// file in the manifest. It needs little memory, and is several times as fast as package json. If the manifest has a
// different form, the error is errManifestNotLineBased. addLine may have been called before the error is returned.
func readManifestFileLines(file io.Reader, addLine func(manifestFileLine)) (head manifestHead, err error) {
	r := bufio.NewReaderSize(file, maxManifestLineBytes)
	var start []byte
	for !bytes.HasSuffix(start, []byte("\"files\": [\n")) {
		line, err := r.ReadSlice('\n')
		if err != nil || len(start) > maxManifestLineBytes {
			return head, manifestReadError(err)
		}
		start = append(start, line...)
	}
	if err := json.Unmarshal(append(start, "]}"...), &head); err != nil {
		return head, errManifestNotLineBased
	}
	for i := 0; ; i++ {
		slice, err := r.ReadSlice('\n')
		if err != nil {
			return head, manifestReadError(err)
		}
		line := string(slice)
		if line == "]\n" {
			break
		}
		hasComma := true
		if i > 0 {
			line, hasComma = strings.CutPrefix(line, ",")
		}
		f, isItem := parseManifestFileLine(line)
		if !hasComma || !isItem {
			return head, errManifestNotLineBased
		}
		addLine(f)
	}
	end, err := io.ReadAll(io.LimitReader(r, 3))
	if err == nil && string(end) != "}\n" {
		err = errManifestNotLineBased
	}
	return head, err
}

// manifestReadError returns the error for a manifest whose next line could not be read. The argument err is the error
// of the read, or nil if the lines before the list of files are too long. If the line is too long or incomplete, the
// manifest was not written by writeManifest, and the result is errManifestNotLineBased. Otherwise the result is err.
func manifestReadError(err error) error {
	isForm := err == nil || errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull)
	if isForm {
		return errManifestNotLineBased
	}
	return err
}

// readManifestJSON reads a manifest in any form. It skips the first skippedLines files, because readManifestFileLines
// has already read these files.
func readManifestJSON(file io.Reader, skippedLines int, addLine func(manifestFileLine)) (manifestHead, error) {
	var m struct {
		manifestHead
		Files []manifestFileLine `json:"files"`
	}
	data, err := io.ReadAll(io.LimitReader(file, maxEntryListBytes+1))
	if err != nil {
		return m.manifestHead, err
	}
	if len(data) > maxEntryListBytes {
		return m.manifestHead, fmt.Errorf("%w: the most is %d bytes", vfs.ErrTooLarge, maxEntryListBytes)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m.manifestHead, fmt.Errorf("%w: it is damaged (%v); remove it to go on without", oxbow.ErrInvalid, err)
	}
	for _, f := range m.Files[min(skippedLines, len(m.Files)):] {
		addLine(f)
	}
	return m.manifestHead, nil
}

// parseManifestFileLine parses a line with the three fields of an item and a line break.
func parseManifestFileLine(line string) (f manifestFileLine, ok bool) {
	rest, okPath := strings.CutPrefix(line, `{"path":"`)
	path, rest, okName := strings.Cut(rest, `","name":"`)
	name, rest, okSum := strings.Cut(rest, `","sha256":"`)
	sum, okEnd := strings.CutSuffix(rest, "\"}\n")
	hasForm := okPath && okName && okSum && okEnd
	if !hasForm {
		return f, false
	}
	for _, s := range []string{path, name, sum} {
		if strings.ContainsAny(s, "\"\\") || !utf8.ValidString(s) {
			err := json.Unmarshal([]byte(line), &f)
			return f, err == nil
		}
	}
	return manifestFileLine{path, name, sum}, true
}

// minManifestLineBytes is the approximate number of bytes in a manifest line for a file with a short name.
const minManifestLineBytes = 115

// readManifest returns the content of a manifest.
func readManifest(file vfs.File) (*manifest, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	m := &manifest{
		entryNameByRow: map[int32]string{},
		fileRows:       make([]manifestRow, 0, info.Size()/minManifestLineBytes),
	}
	var texts nameBlockAllocator
	add := func(f manifestItem) {
		dir, stem := splitEntryPath(f.Path)
		row := manifestRow{
			fileStem:     texts.copyNameIntoBlock(stem),
			fileDigest:   f.Sum,
			kindDirIndex: int8(kindDirIndex(dir)),
		}
		if f.Name != decodeFileStem(stem) {
			m.entryNameByRow[int32(len(m.fileRows))] = texts.copyNameIntoBlock(f.Name)
		}
		m.fileRows = append(m.fileRows, row)
	}
	m.manifestHead, err = eachManifestItem(file, add)
	if err != nil {
		return nil, err
	}
	m.rowByPath = newRowIndex(len(m.fileRows))
	for i := range m.fileRows {
		p := m.pathOfRow(i)
		m.rowByPath.addRow(p, i, func(row int) bool { return m.isPathOfRow(row, p) })
	}
	return m, nil
}

func (m *manifest) isPathOfRow(row int, filePath string) bool {
	dir, stem := splitEntryPath(filePath)
	return m.fileRows[row].fileStem == stem && m.kindDirOfRow(row).dir == dir
}

// findName returns the row with an entry name. If several rows have the name, isUnique is false. m may be nil.
func (m *manifest) findName(name string) (row int, isUnique, found bool) {
	if m == nil {
		return 0, false, false
	}
	m.indexNames()
	row, found = m.rowByName.findRow(name, func(row int) bool { return m.nameOfRow(row) == name })
	return row, !m.namesInSeveralRows[name], found
}

// indexNames builds the name index at the first call. The index is not built earlier, because loading unedited files
// does not need it.
func (m *manifest) indexNames() {
	if len(m.rowByName.slots) > 0 {
		return
	}
	m.rowByName = newRowIndex(len(m.fileRows))
	m.namesInSeveralRows = map[string]bool{}
	for i := range m.fileRows {
		name := m.nameOfRow(i)
		if _, isTaken := m.rowByName.addRow(name, i, func(row int) bool { return m.nameOfRow(row) == name }); isTaken {
			m.namesInSeveralRows[name] = true
		}
	}
}

// findItem returns the item of the entry with the given name. If several items have this name, the result contains only
// Name, and Path and Sum are empty. If no item has the name, found is false. The manifest m may be nil.
func (m *manifest) findItem(name string) (f manifestItem, found bool) {
	row, isUnique, found := m.findName(name)
	switch {
	case !found:
		return f, false
	case !isUnique:
		return manifestItem{Name: name}, true
	}
	return m.itemOfRow(row), true
}

// rowAt returns the manifest's row for the entry file with this path. m may be nil.
func (m *manifest) rowAt(filePath string) (row int, found bool) {
	if m == nil {
		return 0, false
	}
	return m.rowByPath.findRow(filePath, func(row int) bool { return m.isPathOfRow(row, filePath) })
}
