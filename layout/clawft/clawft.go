// This file opens and creates homes.

// Package clawft is the layout of clawft, which follows the layout of nanobot. MEMORY.md has long-term facts, and
// HISTORY.md has summaries of sessions.
//
//	~/.clawft/workspace/memory/MEMORY.md     facts, always in the model's context
//	~/.clawft/workspace/memory/HISTORY.md    summaries of sessions, searched on demand
//	~/.clawft/workspace/memory/undo/*.json   replaced texts, to undo changes of whole files
//
// If that directory does not exist but ~/.nanobot/workspace/memory does, the layout uses nanobot's
// directory. The directory is chosen when the home is opened, and does not change afterwards.
//
// A paragraph in MEMORY.md is an entry with kind note, and a paragraph in HISTORY.md is an entry with kind history. A
// comment above the paragraph contains data that a paragraph cannot express, such as labels.
//
// [Home.Consolidate] removes repeated facts from MEMORY.md, and [Home.Compress] makes the file fit
// a budget. They append the removed texts to HISTORY.md.
package clawft

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Dialect returns the description by which oxbow recognizes and opens memories of the program clawft. The layout does
// not distinguish agents. A home may be one of these directories:
//   - the user's home directory, or a directory that is used like it
//   - the directory .clawft in the home directory
//   - the subdirectory workspace of .clawft
//   - the directory of the memory itself
func Dialect() layout.Dialect {
	return layout.Dialect{
		Name:      "clawft",
		Title:     "clawft: facts in MEMORY.md and summaries of sessions in HISTORY.md, below .clawft (or .nanobot)",
		UserHome:  true,
		Summaries: layout.SummaryAtEnd,
		HasTidier: true,
		Detect:    countLayoutMarkers,
		Init:      initHome,
		Open:      func(ctx context.Context, o layout.Options) (layout.Home, error) { return Open(ctx, o) },
	}
}

// initHome creates the directory of the memory, and returns the names of the created directories. If the memory exists,
// it does nothing. The first write creates the memory's files.
func initHome(ctx context.Context, o layout.Options) ([]string, error) {
	p, err := findMemoryDir(o.FS, o.Path)
	if err != nil {
		return nil, fmt.Errorf("looking for a memory: %w", err)
	}
	if p.exists {
		return nil, nil
	}
	return dialect.CreateFiles(ctx, o.FS, p.memoryDir)
}

// Home is an opened home. It implements [layout.Home] and [layout.Tidier], and is safe for
// concurrent use.
type Home struct {
	dialect.HomeBase
	fs          vfs.FS // file system of the directory with the memory
	displayPath string // path of this directory in messages
	layout      treeLayout
}

var _ layout.Home = (*Home)(nil)

// Open opens a home. It fails if the directories of the home cannot be read. If the options name an agent, the error
// matches [oxbow.ErrInvalid], because this layout does not distinguish agents.
func Open(ctx context.Context, o layout.Options) (*Home, error) {
	if err := o.NoAgents(""); err != nil {
		return nil, err
	}
	p, err := findMemoryDir(o.FS, o.Path)
	if err != nil {
		return nil, fmt.Errorf("looking for a memory: %w", err)
	}
	h := &Home{
		HomeBase:    dialect.NewHomeBase(o),
		fs:          &subdirectory{o.FS, p.memoryDir},
		displayPath: filepath.Join(o.Path, filepath.FromSlash(p.memoryDir)),
	}
	h.layout, h.DocumentPaths = treeLayout{h.Zone}, []string{memoryFile, historyFile}
	if p.otherMemoryDir != "" {
		h.Warn(
			fmt.Sprintf(
				"%s holds a memory that is not read, since there is a directory %s: move its files there if they are "+
					"wanted",
				filepath.Join(o.Path, filepath.FromSlash(p.otherMemoryDir)), h.displayPath,
			),
		)
	}
	h.Tree, err = h.OpenTree(ctx, h.fs, h.displayPath, h.layout, "")
	if err != nil {
		return nil, fmt.Errorf("opening the memory of clawft: %w", err)
	}
	h.SetStore(h.Tree)
	h.RecordWrittenTexts(h.fs, ".")
	return h, nil
}

// formatEntryDate returns a time as it is written at the beginning of an entry in HISTORY.md.
func (h *Home) formatEntryDate(t time.Time) string {
	return "[" + t.In(h.layout.zone).Format("2006-01-02 15:04") + "]"
}
