// This file reads and writes the manifest, which lists the files of the last dump. With it,
// the next dump can tell which files the user changed, added or removed.

package mdtree

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

const (
	manifestFile    = ".oxbow-manifest.json"
	manifestVersion = 1
)

// manifest is the content of the manifest file.
type manifest struct {
	Version int            `json:"version"`
	Memory  string         `json:"memory,omitempty"` // store that was dumped, see [DumpOptions.Origin]
	Count   int            `json:"count"`            // number of entries
	Files   []manifestItem `json:"files"`            // sorted by path

	rows map[string]int32 // index of each name in Files, or severalRows; nil until rowsByName is called
}

// severalRows is the index of a name that several items have.
const severalRows = -1

type manifestItem struct {
	Path string `json:"path"` // path relative to the tree
	Name string `json:"name"` // name of the entry
	Sum  string `json:"sha256"`
}

// marshal returns the content of the manifest file.
func (m *manifest) marshal() ([]byte, error) {
	size := 100 + len(m.Memory)
	for _, f := range m.Files {
		size += len(f.Path) + len(f.Name) + len(f.Sum) + 40
	}
	var b bytes.Buffer
	b.Grow(size + size/16)
	err := m.writeTo(&b)
	return b.Bytes(), err
}

// hash returns the hash of the manifest file, without needing the memory for its content.
func (m *manifest) hash() (string, error) {
	h := sha256.New()
	w := bufio.NewWriterSize(h, 1<<16)
	err := errors.Join(m.writeTo(w), w.Flush())
	return hex.EncodeToString(h.Sum(nil)), err
}

// writeTo writes a line for each file, so that diffs of a tree in git are
// readable.
func (m *manifest) writeTo(w io.Writer) error {
	memory := ""
	if m.Memory != "" {
		memory = fmt.Sprintf("\"memory\": %q,\n", m.Memory)
	}
	fmt.Fprintf(w, "{\n\"version\": %d,\n%s\"count\": %d,\n\"files\": [", manifestVersion, memory, len(m.Files))
	enc := json.NewEncoder(w) // the encoder ends each value with a line break
	enc.SetEscapeHTML(false)
	separator := "\n"
	for i := range m.Files {
		if _, err := io.WriteString(w, separator); err != nil {
			return err
		}
		separator = ","
		if err := enc.Encode(&m.Files[i]); err != nil {
			return fmt.Errorf("encoding the manifest: %w", err)
		}
	}
	_, err := io.WriteString(w, "]\n}\n")
	return err
}

// parseManifest parses a manifest. Errors match [oxbow.ErrVersion] or [oxbow.ErrInvalid].
func parseManifest(data string) (*manifest, error) {
	m, ok := parseManifestLines(data)
	if !ok {
		m = &manifest{}
		if err := json.Unmarshal([]byte(data), m); err != nil {
			return nil, fmt.Errorf("%w: it is damaged (%v); remove it to go on without", oxbow.ErrInvalid, err)
		}
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("%w: it has version %d, and %d is known", oxbow.ErrVersion, m.Version, manifestVersion)
	}
	if m.Count != len(m.Files) {
		return nil, fmt.Errorf(
			"%w: it lists %d files and counts %d; remove it to go on without",
			oxbow.ErrInvalid,
			len(m.Files),
			m.Count,
		)
	}
	for _, f := range m.Files {
		if !isEntryPath(f.Path) {
			return nil, fmt.Errorf(
				"%w: it lists %q, which is no file of an entry",
				oxbow.ErrInvalid,
				text.TruncateWithEllipsis(f.Path, maxShownValue),
			)
		}
	}
	inOrder := func(a, b manifestItem) int { return strings.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(m.Files, inOrder) {
		slices.SortFunc(m.Files, inOrder)
	}
	return m, nil
}

// parseManifestLines parses a manifest in the form that marshal writes, several times as fast as
// package json. The items share the memory of the text. ok is false for all other texts.
func parseManifestLines(data string) (m *manifest, ok bool) {
	head, rest, ok := strings.Cut(data, "\"files\": [\n")
	if !ok || !strings.HasSuffix(rest, "]\n}\n") {
		return nil, false
	}
	m = &manifest{}
	if err := json.Unmarshal([]byte(head+"\"files\": []}"), m); err != nil {
		return nil, false
	}
	rest = strings.TrimSuffix(rest, "]\n}\n")
	m.Files = make([]manifestItem, 0, strings.Count(rest, "\n"))
	for line := range strings.Lines(rest) {
		if len(m.Files) > 0 {
			line, ok = strings.CutPrefix(line, ",")
		}
		f, isItem := parseManifestItem(line)
		if !ok || !isItem {
			return nil, false
		}
		m.Files = append(m.Files, f)
	}
	return m, true
}

// parseManifestItem parses a line with the three fields of an item and a line break.
func parseManifestItem(line string) (f manifestItem, ok bool) {
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
	return manifestItem{path, name, sum}, true
}

// rowsByName returns the index of each name in Files, or severalRows. It is built at the first call, because a
// load of unedited files does not need it.
func (m *manifest) rowsByName() map[string]int32 {
	if m.rows != nil {
		return m.rows
	}
	m.rows = make(map[string]int32, len(m.Files))
	for i, f := range m.Files {
		if _, twice := m.rows[f.Name]; twice {
			m.rows[f.Name] = severalRows
		} else {
			m.rows[f.Name] = int32(i)
		}
	}
	return m.rows
}

// findItem returns the item of a name. If several items have the name, the result has only the name,
// without path and sum. m may be nil.
func (m *manifest) findItem(name string) (f manifestItem, found bool) {
	if m == nil {
		return f, false
	}
	row, found := m.rowsByName()[name]
	switch {
	case !found:
		return f, false
	case row == severalRows:
		return manifestItem{Name: name}, true
	}
	return m.Files[row], true
}

// itemAt returns the item with a path. m may be nil.
func (m *manifest) itemAt(path string) (f manifestItem, found bool) {
	row, found := m.rowAt(path, 0)
	if !found {
		return f, false
	}
	return m.Files[row], true
}

// rowAt returns the index of the item with a path. It examines the item at index likely first. m may be nil.
func (m *manifest) rowAt(path string, likely int) (row int, found bool) {
	if m == nil {
		return 0, false
	}
	if likely < len(m.Files) && m.Files[likely].Path == path {
		return likely, true
	}
	return slices.BinarySearchFunc(m.Files, path, func(f manifestItem, path string) int {
		return strings.Compare(f.Path, path)
	})
}
