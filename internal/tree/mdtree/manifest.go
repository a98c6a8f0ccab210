// The manifest: what the last dump wrote. It distinguishes files that a person
// changed, added or removed from those of the dump.

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

// manifest is the JSON of the manifest.
type manifest struct {
	Version int            `json:"version"`
	Memory  string         `json:"memory,omitempty"` // that was dumped, as [DumpOptions] name it
	Count   int            `json:"count"`            // entries
	Files   []manifestItem `json:"files"`            // sorted by path
}

type manifestItem struct {
	Path string `json:"path"` // below the directory of the tree
	Name string `json:"name"` // of the entry
	Sum  string `json:"sha256"`
}

// marshal writes one file a line, so that the history of a tree kept in git
// reads well.
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

// parseManifest reads a manifest. Errors match [oxbow.ErrVersion] or
// [oxbow.ErrInvalid].
func parseManifest(data []byte) (*manifest, error) {
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%w: it is damaged (%v); remove it to go on without", oxbow.ErrInvalid, err)
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("%w: it has version %d, and %d is known", oxbow.ErrVersion, m.Version, manifestVersion)
	}
	if m.Count != len(m.Files) {
		return nil, fmt.Errorf("%w: it lists %d files and counts %d; remove it to go on without", oxbow.ErrInvalid, len(m.Files), m.Count)
	}
	for _, f := range m.Files {
		if !isEntryPath(f.Path) {
			return nil, fmt.Errorf("%w: it lists %q, which is no file of an entry", oxbow.ErrInvalid, text.Clip(f.Path, maxShown))
		}
	}
	return &m, nil
}

// sums returns the hash of each file of the manifest, which may be nil.
func (m *manifest) sums() map[string]string {
	sums := make(map[string]string)
	if m != nil {
		for _, f := range m.Files {
			sums[f.Path] = f.Sum
		}
	}
	return sums
}
