// This file finds, opens and creates homes (directories of memories) that have the layout of CodeRhapsody.

// Package coderhapsody is the layout of CodeRhapsody's memory. Such a home has daily logs with labels in YAML front
// matter, an identity, a curated MEMORY.md, and memory profiles.
//
//	SOUL.md                        the agent's identity
//	MEMORY.md                      the agent's lasting knowledge
//	memory/2026-04-18.md           entries of a day
//	memory/week-2026-W16.md        a digest of days, made by compression
//	memory/month-2026-04.md        a digest of weeks and days
//	memory/covered/2026-04-18.md   a log that a digest covers, unchanged
//	memory-profiles/NAME.yaml      memory profiles
//
// Old logs may lack front matter, because CodeRhapsody wrote no labels at first. Such a log is a single entry, and can
// be labelled. The format is described in log.go.
package coderhapsody

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/vfs"
)

//go:embed soul.md
var defaultSoulText string

// Dialect returns the description of CodeRhapsody's layout. A home with this layout is the directory that contains
// SOUL.md and memory/. The home does not distinguish several agents, because CodeRhapsody uses profiles instead.
func Dialect() layout.Dialect {
	return layout.Dialect{
		Name: "coderhapsody",
		Title: "CodeRhapsody: daily logs with labels in YAML front matter, SOUL.md, MEMORY.md, and memory " +
			"profiles",
		Sets:          verb.VerbSets{"session", "profiles", "code", "agents"},
		Handoffs:      true,
		HasCompressor: true,
		Detect:        countLayoutMarkers,
		Init:          createHomeFiles,
		Open:          newHome,
		Annotations:   ".cr/annotations",
	}
}

// countLayoutMarkers returns how many signs show that a directory is a home of this layout. It counts 2 if the log
// directory contains logs, 1 if SOUL.md exists, and 1 if MEMORY.md exists. In these cases, the result is 0:
//   - The log directory is missing or is not a directory.
//   - The log directory contains no logs, and SOUL.md does not exist.
//   - The log directory contains no logs, but a name that other layouts use, such as HISTORY.md.
func countLayoutMarkers(fsys vfs.FS) (int, error) {
	items, err := fsys.ReadDir(logDir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		if info, serr := fsys.Stat(logDir); serr == nil && !info.IsDir() {
			return 0, nil
		}
		return 0, err
	}
	logs, other := 0, false
	for _, it := range items {
		if _, ok := parseLogPath(logDir+"/"+it.Name(), time.UTC); ok && !it.IsDir() {
			logs = 2
		}
		switch it.Name() {
		case "MEMORY.md", "HISTORY.md", "entries", "world":
			other = true
		}
	}
	soul, err := dialect.CountFileIfExists(fsys, soulFile)
	if err != nil {
		return 0, err
	}
	memory, err := dialect.CountFileIfExists(fsys, memoryFile)
	isOurs := logs > 0 || (soul > 0 && !other)
	if err != nil || !isOurs {
		return 0, err
	}
	return logs + soul + memory, nil
}

// createHomeFiles creates the directory of logs, and the files SOUL.md and MEMORY.md.
func createHomeFiles(ctx context.Context, o layout.Options) ([]string, error) {
	return dialect.CreateFiles(
		ctx,
		o.FS,
		logDir,
		dialect.FileToCreate{Name: soulFile, Text: defaultSoulText},
		dialect.FileToCreate{Name: memoryFile, Text: "# Memory\n"},
	)
}

// home is an opened home, which may be restricted by a profile. Its fields do not change.
type home struct {
	dialect.HomeBase // HomeBase contains the memory, which is restricted if boundProfile is set
	wholeMemory      *oxbow.Memory

	profiles     *profile.Set
	boundProfile *profile.Resolved // profile that restricts the home, or nil
}

var (
	_ layout.Profiler   = (*home)(nil)
	_ layout.Compressor = (*home)(nil)
)

func newHome(ctx context.Context, o layout.Options) (layout.Home, error) {
	if err := o.NoAgents(", or bind it to a memory profile"); err != nil {
		return nil, err
	}
	h := &home{HomeBase: dialect.NewHomeBase(o)}
	var err error
	h.Tree, err = h.OpenTree(ctx, o.FS, o.Path, logLayout{h.Zone}, "")
	if err != nil {
		return nil, fmt.Errorf("opening the memory of CodeRhapsody: %w", err)
	}
	h.DocumentPaths = []string{soulFile, memoryFile}
	h.SetStore(h.Tree)
	h.RecordWrittenTexts(o.FS, ".")
	h.wholeMemory = h.HomeMemory
	h.profiles = &profile.Set{Places: []profile.Place{{FS: o.FS, Path: o.Path, Dirs: profile.HomeDirs}}, Zone: h.Zone}
	return h, nil
}

// WithProfile implements [layout.Profiler]. Profiles are in the home's directories profiles and
// memory-profiles.
func (h *home) WithProfile(name string) (layout.Home, error) {
	if h.boundProfile != nil {
		return nil, &oxbow.InvalidError{
			Field:  "profile",
			Value:  name,
			Reason: fmt.Sprintf("cannot be taken here: this home is bound to profile %q", h.boundProfile.Name),
		}
	}
	r, err := h.profiles.Resolve(name)
	if err != nil {
		return nil, err
	}
	return h.restrictToProfile(&r), nil
}

// restrictToProfile returns the home, restricted by the profile.
func (h *home) restrictToProfile(r *profile.Resolved) *home {
	v := *h
	// the home's documents are left out, because the context contains the profile's documents
	v.boundProfile, v.DocumentPaths = r, nil
	v.HomeMemory = scope.Within(h.wholeMemory, r.Scope())
	return &v
}
