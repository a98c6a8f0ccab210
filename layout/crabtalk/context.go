// The context of a model: instructions and the text about
// the tools.

package crabtalk

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

//go:embed memory.md
var aboutMemory string

// fragment is what the memory adds to the system prompt.
func fragment() prompt.Part {
	return prompt.Part{Name: "memory", Text: "\n\n" + aboutMemory, Pinned: true}
}

// layer is one Crab.md.
type layer struct {
	source, text string
}

// instructions returns the Crab.md of the home, then those from the top of the
// working file system down to the working directory, so that what is nearest
// stands last and has the last word. They are joined by an empty line and are
// otherwise as they stand in the files. A file that is there and cannot be read
// is passed to Warn.
func (h *home) instructions() []prompt.Part {
	var layers []layer
	if text, ok := h.readCrab(h.FS, crabFile, filepath.Join(h.Path, crabFile)); ok {
		layers = append(layers, layer{filepath.Join(h.Path, crabFile), text})
	}
	layers = append(layers, h.projectLayers()...)
	parts := make([]prompt.Part, len(layers))
	for i, l := range layers {
		before, after := "\n\n", ""
		if i == 0 {
			before = "<instructions>\n"
		}
		if i == len(layers)-1 {
			after = "\n</instructions>"
		}
		parts[i] = prompt.Part{Name: "instructions", Source: l.source, Pinned: true}.Framed(before, l.text, after)
	}
	return parts
}

// projectLayers walks from the working directory upward. The home and what is
// below it are no project: its Crab.md is read already.
func (h *home) projectLayers() []layer {
	if h.Work == nil {
		return nil
	}
	root, rootErr := h.FS.Stat(".")
	var layers []layer
	up := ""
	for dir := path.Clean(h.WorkDir); ; dir, up = path.Dir(dir), up+"../" {
		if info, err := h.Work.Stat(dir); err == nil && rootErr == nil && vfs.SameFile(root, info) {
			layers = nil
		} else if text, ok := h.readCrab(h.Work, path.Join(dir, crabFile), up+crabFile); ok {
			layers = append(layers, layer{up + crabFile, text})
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	slices.Reverse(layers)
	return layers
}

// readCrab reads one file of instructions.
func (h *home) readCrab(fsys vfs.FS, name, shown string) (string, bool) {
	b, err := vfs.ReadFile(fsys, name, maxCrab)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false
	case err != nil:
		h.Warn(fmt.Sprintf("the instructions in %s are left out: %v", shown, err))
		return "", false
	case !utf8.Valid(b):
		h.Warn(fmt.Sprintf("the instructions in %s are left out: they are not UTF-8 text", shown))
		return "", false
	}
	return string(b), true
}

// Context implements [layout.Home]: the instructions and the text about the
// tools. The message changes nothing of it: nothing is recalled unasked.
func (h *home) Context(ctx context.Context, r layout.Request) (prompt.Context, error) {
	if err := ctx.Err(); err != nil {
		return prompt.Context{}, err
	}
	var c prompt.Context
	c.Add(h.instructions()...)
	c.Add(fragment())
	c.Fit(r.Budget)
	return c, nil
}
