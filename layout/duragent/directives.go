// Directives: the Markdown files that a context has as they are.

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

// memoryDirective is what directives/memory.md is made with.
//
//go:embed memory.md
var memoryDirective string

// memoryFile is its name.
const memoryFile = "memory.md"

// maxDirective bounds a directive, in bytes.
const maxDirective = 1 << 20

// directive is one file's text.
type directive struct {
	file, text string
}

// readDirectives returns the directives of a directory by their file names.
// One that is blank is left out, one that cannot be read is left out and reported;
// a directory that is missing has none.
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
		if path.Ext(e.Name()) != ".md" || e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		file := path.Join(dir, e.Name())
		data, err := vfs.ReadFile(fsys, file, maxDirective)
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

// parts returns the block of directives as parts of a context: those of the
// workspace, then those of the agent. With memory, the directive about it is
// the first where no file of its name says something else.
func (h *home) parts() ([]prompt.Part, error) {
	var all []directive
	for _, dir := range []string{h.place.workspaceDir("directives"), h.place.agentDir("directives")} {
		ds, err := readDirectives(h.FS, dir, h.Warn)
		if err != nil {
			return nil, err
		}
		all = append(all, ds...)
	}
	said := !h.config.memory
	for _, d := range all {
		said = said || path.Base(d.file) == memoryFile
	}
	if !said {
		all = append([]directive{{"", memoryDirective}}, all...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	parts := []prompt.Part{{Name: "directives", Text: "## Directives\n", Pinned: true}}
	for _, d := range all {
		parts = append(parts, prompt.Part{Name: "directive", Source: d.file, Pinned: true}.
			Framed("- ", strings.TrimRight(d.text, " \t\r\n"), "\n"))
	}
	return parts, nil
}

// makeMemoryDirective makes directives/memory.md where it is missing, and
// returns whether it did.
func makeMemoryDirective(fsys vfs.FS, p places) (made string, err error) {
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

// Context implements [layout.Home]: the directives. What is remembered is not
// among it: the agent asks for it by its tools.
func (h *home) Context(ctx context.Context, r layout.Request) (prompt.Context, error) {
	if err := ctx.Err(); err != nil {
		return prompt.Context{}, err
	}
	parts, err := h.parts()
	if err != nil {
		return prompt.Context{}, fmt.Errorf("reading directives: %w", err)
	}
	var c prompt.Context
	c.Add(parts...)
	c.Fit(r.Budget)
	return c, nil
}
