// This file reads and writes the manifest, which lists the files of the last dump. With it,
// the next dump can tell which files the user changed, added or removed.

package mdtree

import (
	"bytes"
	"encoding/json"
	"fmt"

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
}

type manifestItem struct {
	Path string `json:"path"` // path relative to the tree
	Name string `json:"name"` // name of the entry
	Sum  string `json:"sha256"`
}

// marshal writes a line for each file, so that diffs of a tree in git are
// readable.
func (m *manifest) marshal() ([]byte, error) {
	var b bytes.Buffer
	memory := ""
	if m.Memory != "" {
		memory = fmt.Sprintf("\"memory\": %q,\n", m.Memory)
	}
	fmt.Fprintf(&b, "{\n\"version\": %d,\n%s\"count\": %d,\n\"files\": [", manifestVersion, memory, len(m.Files))
	enc := json.NewEncoder(&b) // ends each value with a line break
	enc.SetEscapeHTML(false)
	for i, f := range m.Files {
		if i == 0 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(',')
		}
		if err := enc.Encode(f); err != nil {
			return nil, fmt.Errorf("encoding the manifest: %w", err)
		}
	}
	b.WriteString("]\n}\n")
	return b.Bytes(), nil
}

// parseManifest parses a manifest. Errors match [oxbow.ErrVersion] or [oxbow.ErrInvalid].
func parseManifest(data []byte) (*manifest, error) {
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%w: it is damaged (%v); remove it to go on without", oxbow.ErrInvalid, err)
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
				text.Clip(f.Path, maxShown),
			)
		}
	}
	return &m, nil
}

// sums returns the hash of each file in the manifest, by path. m may be nil.
func (m *manifest) sums() map[string]string {
	sums := make(map[string]string)
	if m != nil {
		for _, f := range m.Files {
			sums[f.Path] = f.Sum
		}
	}
	return sums
}
