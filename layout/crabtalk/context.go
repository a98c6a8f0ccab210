// This file builds the context of a model from instructions and a text about the tools.

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
var memoryInstructions string

// memoryPromptPart returns the part of the system prompt that explains the memory.
func memoryPromptPart() prompt.Part {
	return prompt.Part{Name: "memory", Text: "\n\n" + memoryInstructions, IsPinned: true}
}

// crabFileText is the text of a file Crab.md, with its path.
type crabFileText struct {
	path, text string
}

// instructionParts returns the instructions for the model, one part for each file. The first part is the home's
// Crab.md. The other parts are the Crab.md in each directory from the root of the working file system to the working
// directory. The nearest file comes last, because it takes precedence. An empty line separates the texts, and the tags
// <instructions> and </instructions> enclose them. If a file cannot be read, it is left out, and a warning is reported.
func (h *home) instructionParts() []prompt.Part {
	var layers []crabFileText
	if text, ok := h.readCrabFile(h.FS, crabFile, filepath.Join(h.Path, crabFile)); ok {
		layers = append(layers, crabFileText{filepath.Join(h.Path, crabFile), text})
	}
	layers = append(layers, h.readProjectCrabFiles()...)
	parts := make([]prompt.Part, len(layers))
	for i, l := range layers {
		before, after := "\n\n", ""
		if i == 0 {
			before = "<instructions>\n"
		}
		if i == len(layers)-1 {
			after = "\n</instructions>"
		}
		parts[i] = prompt.Part{Name: "instructions", Source: l.path, IsPinned: true}.WithFrame(before, l.text, after)
	}
	return parts
}

// readProjectCrabFiles returns the Crab.md files of the working directory and its parents, with the file of the highest
// directory first. If the home is one of these directories, the files of the home and of the directories below it are
// left out. The Crab.md of the home is read separately.
func (h *home) readProjectCrabFiles() []crabFileText {
	if h.Work == nil {
		return nil
	}
	root, rootErr := h.FS.Stat(".")
	var layers []crabFileText
	up := ""
	for dir := path.Clean(h.WorkDir); ; dir, up = path.Dir(dir), up+"../" {
		info, err := h.Work.Stat(dir)
		canCompare := err == nil && rootErr == nil
		if canCompare && vfs.SameFile(root, info) {
			layers = nil
		} else if text, ok := h.readCrabFile(h.Work, path.Join(dir, crabFile), up+crabFile); ok {
			layers = append(layers, crabFileText{up + crabFile, text})
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	slices.Reverse(layers)
	return layers
}

// readCrabFile returns the text of a Crab.md. It returns false if the file is missing or unreadable.
func (h *home) readCrabFile(fsys vfs.FS, name, displayPath string) (string, bool) {
	b, err := vfs.ReadFile(fsys, name, maxCrabFileBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false
	case err != nil:
		h.Warn(fmt.Sprintf("the instructions in %s are left out: %v", displayPath, err))
		return "", false
	case !utf8.Valid(b):
		h.Warn(fmt.Sprintf("the instructions in %s are left out: they are not UTF-8 text", displayPath))
		return "", false
	}
	return string(b), true
}

// Context implements [layout.Home]. It returns the instructions and the text about the tools. The message does not
// matter, because this layout recalls entries only when the agent calls a tool.
func (h *home) Context(ctx context.Context, r layout.Request) (prompt.Context, error) {
	if err := ctx.Err(); err != nil {
		return prompt.Context{}, err
	}
	var c prompt.Context
	c.Add(h.instructionParts()...)
	c.Add(memoryPromptPart())
	c.FitToBudget(r.Budget)
	return c, nil
}
