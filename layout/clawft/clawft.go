// Opening and making a home.

// Package clawft is the layout of clawft, which follows nanobot's: long-term
// facts in MEMORY.md, what sessions were about in HISTORY.md.
//
//	~/.clawft/workspace/memory/MEMORY.md     facts, always before the model
//	~/.clawft/workspace/memory/HISTORY.md    summaries of sessions, searched when wanted
//	~/.clawft/workspace/memory/undo/*.json   what was replaced in whole, to take it back
//
// Where there is no such directory and ~/.nanobot/workspace/memory is there, that
// one is used. Which it is, is decided when the home is opened, for all that is
// done with it.
//
// A paragraph of MEMORY.md is an entry of kind note, one of HISTORY.md of kind
// history. What a paragraph has no place for stands in a comment above it.
//
// The files of both are short of what a store can lose: [Home.Consolidate] takes
// out of MEMORY.md what is said twice, [Home.Compress] makes it fit a budget, and
// what they take out goes to HISTORY.md.
package clawft

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Dialect returns the dialect. Its home is the user's home directory, or a
// directory that stands for it; .clawft in it, the workspace and the directory
// of the memory itself are understood, too. It knows no several agents.
func Dialect() layout.Dialect {
	return layout.Dialect{
		Name:     "clawft",
		Title:    "clawft: facts in MEMORY.md and summaries of sessions in HISTORY.md, below .clawft (or .nanobot)",
		UserHome: true,
		Detect:   detect,
		Init:     initHome,
		Open:     func(ctx context.Context, o layout.Options) (layout.Home, error) { return Open(ctx, o) },
	}
}

// initHome makes the directory. The files are made by what is first written.
func initHome(ctx context.Context, o layout.Options) ([]string, error) {
	p, err := find(o.FS, o.Path)
	if err != nil {
		return nil, fmt.Errorf("looking for a memory: %w", err)
	}
	if p.there {
		return nil, nil
	}
	return layout.Make(ctx, o.FS, p.dir)
}

// Home is an opened home. It is a [layout.Home] and a [layout.Tidier], and safe
// for concurrent use.
type Home struct {
	layout.Base
	fs     vfs.FS // of the memory's directory
	shown  string // that directory, for people
	layout treeLayout
}

var _ layout.Home = (*Home)(nil)

// Open opens a home. Errors are those of reading its directories, and
// [oxbow.ErrInvalid] for an agent, which this layout does not tell apart.
func Open(ctx context.Context, o layout.Options) (*Home, error) {
	if err := o.NoAgents(""); err != nil {
		return nil, err
	}
	p, err := find(o.FS, o.Path)
	if err != nil {
		return nil, fmt.Errorf("looking for a memory: %w", err)
	}
	h := &Home{
		Base:  layout.NewBase(o),
		fs:    &below{o.FS, p.dir},
		shown: filepath.Join(o.Path, filepath.FromSlash(p.dir)),
	}
	h.layout, h.Docs = treeLayout{h.Zone}, []string{memoryFile, historyFile}
	if p.other != "" {
		h.Warn(
			fmt.Sprintf(
				"%s holds a memory that is not read, since there is a directory %s: move its files there if they are "+
					"wanted",
				filepath.Join(o.Path, filepath.FromSlash(p.other)), h.shown,
			),
		)
	}
	h.Tree, err = h.OpenTree(ctx, h.fs, h.shown, h.layout, "")
	if err != nil {
		return nil, fmt.Errorf("opening the memory of clawft: %w", err)
	}
	h.Use(h.Tree)
	h.ListWritten(h.fs, ".")
	return h, nil
}

// stamp returns the date that an entry of HISTORY.md begins with.
func (h *Home) stamp(t time.Time) string {
	return "[" + t.In(h.layout.zone).Format("2006-01-02 15:04") + "]"
}
