// This file opens a home, and finds and makes one.

// Package coderhapsody is the layout of CodeRhapsody's memory: daily logs with
// labels in YAML front matter, an identity, a curated MEMORY.md, and memory
// profiles.
//
//	SOUL.md                        who the agent is
//	MEMORY.md                      what it holds for lasting
//	memory/2026-04-18.md           what it remembered that day
//	memory/week-2026-W16.md        a digest of days, made by compression
//	memory/month-2026-04.md        a digest of weeks and days
//	memory/covered/2026-04-18.md   what a digest tells again, as it was
//	memory-profiles/NAME.yaml      memory profiles
//
// Logs that were written before there were labels are one entry each, bear no
// front matter, and can be labelled. log.go has the format.
package coderhapsody

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/mdtree"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/vfs"
)

//go:embed soul.md
var newSoul string

// Dialect returns the dialect. Its home is the directory that holds SOUL.md and
// memory/. It knows no agents beside each other: profiles are for that.
func Dialect() dialect.Dialect {
	return dialect.Dialect{
		Name:        "coderhapsody",
		Title:       "CodeRhapsody: daily logs with labels in YAML front matter, SOUL.md, MEMORY.md, and memory profiles",
		Detect:      detect,
		Init:        initHome,
		Open:        open,
		Annotations: ".cr/annotations",
	}
}

// detect counts logs as two marks, and SOUL.md and MEMORY.md as one each.
// Without logs there must be SOUL.md and a directory for them that holds none of
// what other layouts keep there.
func detect(fsys vfs.FS) (int, error) {
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
		if _, ok := fileOf(logDir+"/"+it.Name(), time.UTC); ok && !it.IsDir() {
			logs = 2
		}
		switch it.Name() {
		case "MEMORY.md", "HISTORY.md", "entries", "world":
			other = true
		}
	}
	there := func(name string) (int, error) {
		info, err := fsys.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir():
			return 0, nil
		case err != nil:
			return 0, err
		}
		return 1, nil
	}
	soul, err := there(soulFile)
	if err != nil {
		return 0, err
	}
	memory, err := there(memoryFile)
	if err != nil || logs == 0 && (soul == 0 || other) {
		return 0, err
	}
	return logs + soul + memory, nil
}

// initHome makes the directory of logs, and an identity.
func initHome(ctx context.Context, o dialect.Options) ([]string, error) {
	var made []string
	if _, err := o.FS.Stat(logDir); errors.Is(err, fs.ErrNotExist) {
		if err := o.FS.MkdirAll(logDir, 0o755); err != nil {
			return nil, fmt.Errorf("making the home: %w", err)
		}
		if err := o.FS.SyncDir("."); err != nil {
			return nil, fmt.Errorf("making the home: %w", err)
		}
		made = append(made, logDir)
	} else if err != nil {
		return nil, fmt.Errorf("making the home: %w", err)
	}
	for _, f := range []struct{ name, text string }{{soulFile, newSoul}, {memoryFile, "# Memory\n"}} {
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

// home is an opened home, or one as a profile binds it. Its fields do not
// change.
type home struct {
	tree   *mdtree.Store
	memory *oxbow.Memory // all of it, or what the profile includes
	whole  *oxbow.Memory // all of it
	zone   *time.Location
	clock  func() time.Time
	warn   func(message string)

	work    vfs.FS // nil without one
	workDir string

	profiles *profile.Set
	bound    *profile.Resolved // nil without a profile
}

var (
	_ dialect.Profiler   = (*home)(nil)
	_ dialect.Compressor = (*home)(nil)
	_ dialect.Compressor = (*home)(nil)
)

func open(ctx context.Context, o dialect.Options) (dialect.Home, error) {
	if o.Agent != "" {
		return nil, &oxbow.InvalidError{Field: "agent", Value: o.Agent, Reason: "has no memory of its own in this layout; leave it out, or bind it to a memory profile"}
	}
	h := &home{zone: o.Zone, clock: o.Memory.Clock, warn: o.Warn, work: o.Work, workDir: o.WorkDir}
	if h.zone == nil {
		h.zone = time.Local
	}
	if h.clock == nil {
		h.clock = time.Now
	}
	if h.warn == nil {
		h.warn = func(string) {}
	}
	var err error
	h.tree, err = mdtree.Open(ctx, o.FS, layout{h.zone}, mdtree.Options{Clock: h.clock,
		LockWait: o.Memory.LockWait, ReadOnly: o.Memory.ReadOnly, Path: o.Path, Warn: h.warn})
	if err != nil {
		return nil, fmt.Errorf("opening the memory of CodeRhapsody: %w", err)
	}
	mo := o.Memory
	mo.FS = nil
	h.whole = oxbow.New(h.tree, &mo)
	h.memory = h.whole
	h.profiles = &profile.Set{Places: []profile.Place{{FS: o.FS, Path: o.Path, Dirs: profile.HomeDirs}}, Zone: h.zone}
	return h, nil
}

// Memory implements [dialect.Home].
func (h *home) Memory() *oxbow.Memory { return h.memory }

// WithProfile implements [dialect.Profiler]: of the profiles that lie in the
// home, in profiles/ or memory-profiles/.
func (h *home) WithProfile(name string) (dialect.Home, error) {
	if h.bound != nil {
		return nil, &oxbow.InvalidError{Field: "profile", Value: name, Reason: fmt.Sprintf("cannot be taken here: this home is bound to profile %q", h.bound.Name)}
	}
	r, err := h.profiles.Resolve(name)
	if err != nil {
		return nil, err
	}
	return h.within(&r), nil
}

func (h *home) within(r *profile.Resolved) *home {
	v := *h
	v.bound = r
	v.memory = scope.Within(h.whole, r.Scope())
	return &v
}

// Close implements [dialect.Home].
func (h *home) Close() error {
	if h.bound != nil {
		return h.memory.Close()
	}
	return h.whole.Close()
}
