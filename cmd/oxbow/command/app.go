// This file holds one run: its global flags, and the memory it opens.

package command

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/vfs"
)

// app is one run of oxbow.
type app struct {
	env      Env
	homeFlag string
	network  bool // writing to a network file system is wanted
	json     bool
	quiet    bool
	session  string // random, one a run

	// sealAfter is when a change is sealed while the memory stays open; 0
	// leaves it to the end.
	sealAfter time.Duration

	dialectFlag string
	agentFlag   string
	profileFlag string
	profileSet  *profile.Set      // nil until it is needed
	boundTo     *profile.Resolved // nil until it is needed, and when the run is bound to none
	opened      dialect.Home      // of another layout, nil while it is not needed
	foreign     bool              // the home that the run opened is of another layout
	closers     []func() error    // for the end of the run
}

// host describes the process and its machine.
func (a *app) host() *tool.Host {
	return &tool.Host{Getenv: a.env.Getenv, GOOS: a.env.GOOS, FileSystem: a.env.FileSystem, Executable: a.env.Executable,
		Version: readVersion(), Rand: a.env.Rand, NetworkFS: a.network}
}

// source says who writes in this run. $OXBOW_AGENT is a claim: an agent sets
// it to be told apart from its person.
func (a *app) source() (oxbow.Source, error) {
	if a.session == "" {
		b := make([]byte, 8)
		if _, err := io.ReadFull(a.env.Rand, b); err != nil {
			return oxbow.Source{}, fmt.Errorf("making a session id: %w", err)
		}
		a.session = hex.EncodeToString(b)
	}
	s := oxbow.Source{Door: "cli", Actor: oxbow.Person, Session: a.session}
	s.Claimed.Client = "oxbow " + moduleVersion()
	if agent := a.env.Getenv("OXBOW_AGENT"); agent != "" {
		s.Actor, s.Claimed.Agent = oxbow.Agent, agent
	}
	return s, nil
}

// storePath returns where the store is, or will be. A home that is a file is
// the store itself: so one looks into a backup, or into what was recovered.
func (a *app) storePath() (string, error) {
	home, err := a.home()
	if err != nil {
		return "", err
	}
	if fi, err := os.Stat(home); err == nil && fi.Mode().IsRegular() {
		return home, nil
	}
	return filepath.Join(home, storeFile), nil
}

// access is what a command does with the memory.
type access = tool.Access

const (
	look   = tool.Read
	change = tool.Write
	build  = tool.Create
)

// open opens the memory of the home, or the part of it that the run's profile
// includes. The caller closes it.
func (a *app) open(how access) (*oxbow.Memory, error) {
	if _, err := a.bound(); err != nil {
		return nil, err
	}
	m, err := a.openAll(how)
	if err != nil {
		return nil, err
	}
	return a.bind(m)
}

// openAll opens the memory of the home, all of it.
func (a *app) openAll(how access) (*oxbow.Memory, error) {
	d, other, err := a.layout()
	if err != nil {
		return nil, err
	}
	if other {
		h, err := a.openHome(d, how)
		if err != nil {
			return nil, err
		}
		return h.Memory(), nil
	}
	path, err := a.storePath()
	if err != nil {
		return nil, err
	}
	src, err := a.source()
	if err != nil {
		return nil, err
	}
	if fi, err := os.Stat(path); err == nil && fi.IsDir() {
		return nil, tool.Advise(fmt.Errorf("opening %s: it is a directory, not a store", path),
			"move it away, or choose another home with --home DIR")
	}
	if _, err := os.Stat(path); how != build && errors.Is(err, fs.ErrNotExist) {
		// An empty memory of no file: to look, or to undo, must make nothing,
		// and finds nothing that it could change.
		a.note("there is no memory in %s yet; the first remember makes it", filepath.Dir(path))
		return oxbow.Open(storeFile, &oxbow.Options{FS: vfs.NewMem(), Clock: a.env.Now, Source: src})
	}
	if how != look {
		if err := a.host().MayWrite(path); err != nil {
			return nil, err
		}
	}
	m, err := oxbow.Open(path, &oxbow.Options{Clock: a.env.Now, Rand: a.env.Rand, Source: src, SealAfter: a.sealAfter,
		ReadOnly: how == look, KeepIndex: a.host().MayWrite(path) == nil, Lazy: true})
	if err != nil {
		return nil, openError(path, err)
	}
	return m, nil
}

// openError says which store could not be opened, without saying it twice.
func openError(path string, err error) error {
	var pe *fs.PathError
	var ce *oxbow.CorruptError
	if errors.As(err, &pe) || errors.As(err, &ce) {
		return fmt.Errorf("opening the store: %w", err)
	}
	return fmt.Errorf("opening %s: %w", path, err)
}

// done closes the memory; the home of another layout that it is of was closed
// with it, and is opened anew when it is needed again.
func (a *app) done(m *oxbow.Memory) error {
	a.opened = nil
	return m.Close()
}

// index makes the index after work that wrote so many entries anew, if those are
// at least half of the memory: the work took as long, and the next recall need
// not wait. What goes wrong is left to that.
func (a *app) index(ctx context.Context, m *oxbow.Memory, written int) {
	if c, ok := m.Store().(oxbow.Counter); ok {
		if s, err := c.Stats(ctx); err == nil && 2*written >= s.Entries {
			_ = m.MakeIndex(ctx)
		}
	}
}

// with runs fn on the memory of the home and closes it.
func (a *app) with(ctx context.Context, how access, fn func(ctx context.Context, m *oxbow.Memory) error) (err error) {
	m, err := a.open(how)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.done(m)) }()
	src, err := a.source()
	if err != nil {
		return err
	}
	return fn(oxbow.WithSource(ctx, src), m)
}

// projectHere names the project of the working directory, or "".
func (a *app) projectHere() string {
	p, err := a.project(".")
	if err != nil {
		return ""
	}
	return p.Name
}

// unlessDry returns how, or look for a dry run.
func unlessDry(how access, dry bool) access {
	if dry {
		return look
	}
	return how
}
