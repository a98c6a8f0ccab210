// Switches of hooks: files that switch off what hooks do, for a home or a project.

package verb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/share/trust"
)

// The files that switch off all that hooks do, what they put before a model, and that they
// annotate code: in a home, or in the directory [ProjectDir] of a project.
const (
	HooksOff    = "hooks.off"
	InjectOff   = "inject.off"
	AnnotateOff = "annotate.off"
	ProjectDir  = trust.DirName
)

// InjectOffFor is the file in a home that switches off what hooks put before the model of
// one client: setup writes it, since the same hooks report prompts and answer them.
func InjectOffFor(client string) string { return "inject." + client + ".off" }

// OffBy returns the path of the file of that name that switches something off: in the
// home, or in a project that holds one of the directories; "" for none.
func OffBy(name, home string, dirs ...string) string {
	if path := filepath.Join(home, name); exists(path) {
		return path
	}
	for _, dir := range dirs {
		for ; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
			if path := filepath.Join(dir, ProjectDir, name); exists(path) {
				return path
			}
			if filepath.Dir(dir) == dir {
				break
			}
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// SwitchInjectIn is what SwitchInject takes.
type SwitchInjectIn struct {
	Off     bool   `json:"off,omitempty" flag:"-"`
	Project bool   `json:"project,omitempty" usage:"for the project of the working directory, not for the home"`
	Root    string `json:"root,omitempty" flag:"-"` // of the project
}

// SwitchInjectOut is what SwitchInject did.
type SwitchInjectOut struct {
	Off     bool   `json:"off"`
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Still   string `json:"still,omitempty"` // another file that switches it off
}

// SwitchInject switches what hooks put before a model off, or on again. What is said
// and done is kept all the same.
func SwitchInject(_ context.Context, w *Workspace, in SwitchInjectIn) (out SwitchInjectOut, err error) {
	p, err := w.Located()
	if err != nil {
		return out, err
	}
	dir := p.Dir()
	if in.Project {
		dir = filepath.Join(in.Root, ProjectDir)
	}
	out = SwitchInjectOut{Off: in.Off, File: filepath.Join(dir, InjectOff)}
	if in.Off {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return out, fmt.Errorf("making %s: %w", dir, err)
		}
		f, err := os.OpenFile(out.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return out, nil
		}
		out.Changed = err == nil
		if err == nil {
			err = f.Close()
		}
		return out, err
	}
	err = os.Remove(out.File)
	out.Changed = err == nil
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if in.Project {
		_ = os.Remove(dir) // an empty one would be a home; any other stays
	}
	out.Still = OffBy(InjectOff, p.Dir(), w.Dir)
	return out, err
}
