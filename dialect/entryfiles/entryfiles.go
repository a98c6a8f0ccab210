// This file opens a home, and finds and makes one.

// Package entryfiles is the layout of crabtalk's RFC 0038: one Markdown file an
// entry, a curated MEMORY.md, and an identity in Crab.md.
//
//	Crab.md              who the agent is
//	memory.toml          limits, and whether the agent may rewrite Crab.md
//	memory/MEMORY.md     the overview, always before the model
//	memory/entries/*.md  the entries
//
// The content of an [oxbow.Entry] is the file's description, an empty line, and
// the file's content, so that whatever searches the one searches both.
package entryfiles

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/mdtree"
	"github.com/oxbow-memory/oxbow/vfs"
)

//go:embed identity.md
var newIdentity string

// Dialect returns the dialect. Its home is crabtalk's configuration directory,
// the one that holds Crab.md. It knows no agents beside each other.
func Dialect() dialect.Dialect {
	return dialect.Dialect{
		Name:   "entryfiles",
		Title:  "crabtalk (RFC 0038): one Markdown file an entry, MEMORY.md, and Crab.md for the identity",
		Detect: detect,
		Init:   initHome,
		Open:   open,
	}
}

// detect counts a directory of entries as two marks, and Crab.md and MEMORY.md
// as one each. Crab.md alone says nothing: crabtalk has it in other layouts, too.
func detect(fsys vfs.FS) (int, error) {
	there := func(name string, dir bool) (int, error) {
		info, err := fsys.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return 0, nil
		case err != nil:
			return 0, err
		case info.IsDir() != dir:
			return 0, nil
		}
		return 1, nil
	}
	entries, err := there(entriesDir, true)
	if err != nil {
		return 0, err
	}
	identity, err := there(identityFile, false)
	if err != nil {
		return 0, err
	}
	index, err := there(indexFile, false)
	if err != nil {
		return 0, err
	}
	if entries == 0 {
		return identity * index, nil
	}
	return 2*entries + identity + index, nil
}

// initHome makes the directory of entries, the configuration and an identity.
func initHome(ctx context.Context, o dialect.Options) ([]string, error) {
	var made []string
	if _, err := o.FS.Stat(entriesDir); errors.Is(err, fs.ErrNotExist) {
		if err := o.FS.MkdirAll(entriesDir, 0o755); err != nil {
			return nil, fmt.Errorf("making the home: %w", err)
		}
		for _, dir := range []string{"memory", "."} {
			if err := o.FS.SyncDir(dir); err != nil {
				return nil, fmt.Errorf("making the home: %w", err)
			}
		}
		made = append(made, entriesDir)
	} else if err != nil {
		return nil, fmt.Errorf("making the home: %w", err)
	}
	for _, f := range []struct{ name, text string }{{configFile, newConfig}, {identityFile, newIdentity}} {
		if _, err := o.FS.Stat(f.name); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return made, fmt.Errorf("making the home: %w", err)
		}
		if err := vfs.WriteFile(o.FS, f.name, []byte(f.text), 0o644); err != nil {
			return made, fmt.Errorf("making the home: %w", err)
		}
		made = append(made, f.name)
	}
	return made, ctx.Err()
}

// home is an opened home. Its fields do not change.
type home struct {
	tree   *mdtree.Store
	memory *oxbow.Memory
	config config
	rank   ranker
}

var _ dialect.Home = (*home)(nil)

func open(ctx context.Context, o dialect.Options) (dialect.Home, error) {
	if o.Agent != "" {
		return nil, &oxbow.InvalidError{Field: "agent", Value: o.Agent, Reason: "has no memory of its own in this layout; leave it out"}
	}
	c, err := readConfig(o.FS)
	if err != nil {
		return nil, fmt.Errorf("opening the memory of crabtalk: %w", err)
	}
	tree, err := mdtree.Open(ctx, o.FS, layout{}, mdtree.Options{Clock: o.Memory.Clock,
		LockWait: o.Memory.LockWait, ReadOnly: o.Memory.ReadOnly, Path: o.Path, Warn: o.Warn})
	if err != nil {
		return nil, fmt.Errorf("opening the memory of crabtalk: %w", err)
	}
	mo := o.Memory
	mo.FS = nil
	return &home{tree: tree, memory: oxbow.New(tree, &mo), config: c}, nil
}

// Memory implements [dialect.Home].
func (h *home) Memory() *oxbow.Memory { return h.memory }

// Close implements [dialect.Home].
func (h *home) Close() error { return h.memory.Close() }
