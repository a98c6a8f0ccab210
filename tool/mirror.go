// Mirrors: notes of what clients remember by themselves.

package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow/setup"
	"github.com/oxbow-memory/oxbow/vfs"
)

// mirrorFile says in a home which clients' own memories are mirrored there.
const mirrorFile = "mirror.json"

// mirrors are, by client, the times of the newest files that were read.
type mirrors map[string]time.Time

func readMirrors(home string) (m mirrors, err error) {
	m = mirrors{}
	b, err := os.ReadFile(filepath.Join(home, mirrorFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, nil
	case err == nil:
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", filepath.Join(home, mirrorFile), err)
	}
	return m, err
}

// write keeps them in a home.
func (m mirrors) write(home string) error {
	if len(m) == 0 {
		return os.Remove(filepath.Join(home, mirrorFile))
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	dir, err := vfs.Dir(home)
	if err != nil {
		return err
	}
	return vfs.WriteFile(dir, mirrorFile, append(b, '\n'), 0o600)
}

// racyTime is the age of a file whose next change may have the same time.
const racyTime = 2 * time.Second

// MirrorIn is what mirroring takes.
type MirrorIn struct {
	Client  string                  `json:"client"`
	World   setup.World             `json:"-"`
	Project func(dir string) string `json:"-"` // the name of a directory's project; nil for none
}

// Mirror imports what changed in a client's own memory since the last time, where
// setup was told to mirror it. It does not write to the client's files. A note that
// was edited here is not replaced.
func Mirror(ctx context.Context, w *Workspace, in MirrorIn) (out ImportOut, err error) {
	p, err := w.place()
	if err != nil {
		return out, err
	}
	m, err := readMirrors(p.Dir())
	seen, on := m[in.Client]
	client := setup.Find(in.Client)
	if err != nil || !on || client == nil {
		return out, err
	}
	read := ImportIn{Format: "markdown", Projects: map[string]string{}}
	newest := seen
	for _, f := range client.MemoryFiles(in.World) {
		if !f.Time.After(seen) {
			continue
		}
		read.Paths = append(read.Paths, f.Path)
		if in.Project != nil && f.Dir != "" {
			read.Projects[f.Path] = in.Project(f.Dir)
		}
		if f.Time.After(newest) {
			newest = f.Time
		}
	}
	if len(read.Paths) == 0 {
		return out, nil
	}
	if young := w.now().Add(-racyTime); newest.After(young) {
		newest = young
	}
	if out, err = Import(ctx, w, read); err != nil {
		return out, err
	}
	m[in.Client] = newest
	return out, m.write(p.Dir())
}
