// This file finds, opens and creates homes.

// Package entryfiles is the layout of crabtalk's RFC 0038. A home is the directory with an agent's memory. In this
// layout, a home has a Markdown file for each entry, a curated MEMORY.md, and an identity in Crab.md.
//
//	Crab.md              the agent's identity
//	memory.toml          limits, and whether the agent may rewrite Crab.md
//	memory/MEMORY.md     the overview, always in the model's context
//	memory/entries/*.md  the entries
//
// The content of an [oxbow.Entry] is the file's description, an empty line, and the file's content. A search therefore
// includes the description.
package entryfiles

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
	"github.com/oxbow-memory/oxbow/vfs"
)

//go:embed identity.md
var newIdentityText string

// Dialect returns the description of this layout, by which oxbow recognizes and opens homes. A home is crabtalk's
// configuration directory, which contains Crab.md. The layout does not support several agents.
func Dialect() layout.Dialect {
	return layout.Dialect{
		Name:     "entryfiles",
		Title:    "crabtalk (RFC 0038): one Markdown file an entry, MEMORY.md, and Crab.md for the identity",
		Handoffs: true,
		Detect:   countMarkers,
		Init:     initHome,
		Open:     newHome,
	}
}

// countMarkers returns how many signs show that a directory has this layout. A directory of entries counts 2. Crab.md
// and MEMORY.md then count 1 each. Without a directory of entries, the result is 1 if both files exist, and otherwise
// 0, because crabtalk also has Crab.md in other layouts.
func countMarkers(fsys vfs.FS) (int, error) {
	entries, err := dialect.CountDirIfExists(fsys, entriesDir)
	if err != nil {
		return 0, err
	}
	identity, err := dialect.CountFileIfExists(fsys, identityFile)
	if err != nil {
		return 0, err
	}
	index, err := dialect.CountFileIfExists(fsys, indexFile)
	if err != nil {
		return 0, err
	}
	if entries == 0 {
		return identity * index, nil
	}
	return 2*entries + identity + index, nil
}

// initHome creates those of these that are missing: the directory of entries, the configuration memory.toml, and the
// identity Crab.md. It returns the names of what it created.
func initHome(ctx context.Context, o layout.Options) ([]string, error) {
	return dialect.CreateFiles(
		ctx,
		o.FS,
		entriesDir,
		dialect.FileToCreate{Name: configFile, Text: newConfigText},
		dialect.FileToCreate{Name: identityFile, Text: newIdentityText},
	)
}

// home is an opened home. Its fields do not change.
type home struct {
	dialect.HomeBase
	config config
	ranker ranker
}

var _ layout.Home = (*home)(nil)

func newHome(ctx context.Context, o layout.Options) (layout.Home, error) {
	if err := o.NoAgents(""); err != nil {
		return nil, err
	}
	h := &home{HomeBase: dialect.NewHomeBase(o)}
	var err error
	h.config, err = readConfig(o.FS)
	if err == nil {
		h.DocumentPaths = []string{identityFile, indexFile}
		h.Tree, err = h.OpenTree(ctx, o.FS, o.Path, treeLayout{}, "")
	}
	if err != nil {
		return nil, fmt.Errorf("opening the memory of crabtalk: %w", err)
	}
	h.SetStore(h.Tree)
	h.RecordWrittenTexts(o.FS, ".")
	return h, nil
}
