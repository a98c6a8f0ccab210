// This file reads directives. A directive is a Markdown file that is put into the context unchanged.

package duragent

import (
	"context"
	_ "embed"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

// memoryDirective is the text with which directives/memory.md is created.
//
//go:embed memory.md
var memoryDirective string

// memoryFile is the name of the file in the directory directives from which instructions about the memory are read. If
// the file does not exist, memoryDirective contains the instructions.
const memoryFile = "memory.md"

// An agent's context begins with the texts of its directive files. maxDirectiveFileBytes is the maximum size of such a
// file in bytes.
const maxDirectiveFileBytes = 1 << 20

// directive is a Markdown file in a directory of directives, whose text is put into an agent's context.
type directive struct {
	fileName, fileText string
}

// readDirectives returns the directives in a directory, ordered by file name. Blank files are skipped. A file that
// cannot be read is skipped with a warning. If the directory does not exist, the result is empty.
func readDirectives(fsys vfs.FS, dir string, warn func(string)) ([]directive, error) {
	entries, err := fsys.ReadDir(dir)
	if isNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ds []directive
	for _, e := range entries {
		isMarkdown := path.Ext(e.Name()) == ".md" && !strings.HasPrefix(e.Name(), ".")
		if e.IsDir() || !isMarkdown {
			continue
		}
		file := path.Join(dir, e.Name())
		data, err := vfs.ReadFile(fsys, file, maxDirectiveFileBytes)
		switch {
		case err != nil:
			warn("directive left out: " + err.Error())
		case !utf8.Valid(data):
			warn("directive left out: " + file + " is not UTF-8 text")
		case strings.TrimSpace(string(data)) != "":
			ds = append(ds, directive{file, string(data)})
		}
	}
	return ds, nil
}

// directiveParts returns the directives as parts of a context: first the workspace's directives, then the agent's
// directives. If the agent has a memory and no directive is named memory.md, memoryDirective comes first.
func (h *home) directiveParts() ([]prompt.Part, error) {
	var all []directive
	for _, dir := range []string{h.directories.workspaceDir("directives"), h.directories.agentDir("directives")} {
		ds, err := readDirectives(h.FS, dir, h.Warn)
		if err != nil {
			return nil, err
		}
		all = append(all, ds...)
	}
	said := !h.config.hasMemory
	for _, d := range all {
		said = said || path.Base(d.fileName) == memoryFile
	}
	if !said {
		all = append([]directive{{"", memoryDirective}}, all...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	parts := []prompt.Part{{Name: "directives", Text: "## Directives\n", IsPinned: true}}
	for _, d := range all {
		parts = append(parts, prompt.Part{Name: "directive", Source: d.fileName, IsPinned: true}.
			WithFrame("- ", strings.TrimRight(d.fileText, " \t\r\n"), "\n"))
	}
	return parts, nil
}

// makeMemoryDirective creates directives/memory.md and returns its path. If the file exists, it returns "".
func makeMemoryDirective(fsys vfs.FS, p homeDirectories) (createdPath string, err error) {
	dir := p.workspaceDir("directives")
	file := path.Join(dir, memoryFile)
	if _, err := fsys.Stat(file); err == nil || !isNotExist(err) {
		return "", err
	}
	if err := fsys.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := vfs.WriteFile(fsys, file, []byte(memoryDirective), 0o644); err != nil {
		return "", err
	}
	return file, nil
}

// Context implements [layout.Home]. It returns the directives. It contains no entries, because the agent calls tools
// to recall entries.
func (h *home) Context(ctx context.Context, r layout.Request) (prompt.Context, error) {
	if err := ctx.Err(); err != nil {
		return prompt.Context{}, err
	}
	parts, err := h.directiveParts()
	if err != nil {
		return prompt.Context{}, fmt.Errorf("reading directives: %w", err)
	}
	var c prompt.Context
	c.Add(parts...)
	c.FitToBudget(r.Budget)
	return c, nil
}
