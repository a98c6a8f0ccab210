// One run of oxbow: who writes, and what is closed at its end.

package cli

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/secret"
	"github.com/oxbow-memory/oxbow/internal/share/team"
	"github.com/oxbow-memory/oxbow/internal/share/tenant"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/vfs"
)

// app is one run of oxbow.
type app struct {
	locator
	agentFlag   string
	profileFlag string
	embedFlag   string // URL
	modelFlag   string // for embedFlag
	allowSecret bool   // what looks like a secret is kept
	secrets     *secret.Redactor
	session     string        // random, one a run
	command     string        // its words, without oxbow
	sample      bool          // the memory is the demo's
	tenant      bool          // the home is one of several that a server serves
	limit       *tenant.Limit // of what is written; nil for none
	elsewhere   *elsewhere    // nil where memories are files of their homes

	// sealAfter is when a change is sealed while the memory stays open; 0
	// leaves it to the end.
	sealAfter time.Duration
	cache     *oxbow.Cache // of memories; nil where each has its own

	team       teamFiles
	profileSet *profile.Set      // nil until it is needed
	boundTo    *profile.Resolved // nil until it is needed, and when the run is bound to none
	// caution says, in the words of a door, what the open store lacks, or "".
	caution  atomic.Pointer[func(say func(verb.Note) string) string]
	opened   layout.Home     // of another layout, nil while it is not needed
	settling settling        // heads that are due are signed
	hurried  bool            // a client waits for the run to end
	answers  bool            // the run shows what a verb gave, before memories are closed
	atEnd    []*oxbow.Memory // whose checkpoint is left to the end of the run
	closers  []func() error  // for the end of the run

	sessions func(context.Context) (*session.Archive, error) // the archive; nil until it is needed
	// nothing is drained into the archive, or written to it
	asItIs bool
	kept   func(context.Context) (*session.Archive, error) // the archive as it is; set with sessions
	// of a server's calls; nil where there are none
	exposure func(ctx context.Context, c session.Caller) session.Exposure
	unknown  error // the command that help was asked for

	// repeats reports whether a text repeats what agents have read of others; nil is for no.
	repeats func(text string) bool

	// forPrompt chooses what a hook puts before a prompt; nil is for verb.Inject.
	forPrompt func(context.Context, inject.Prompt) (inject.Block, error)
}

// teamFiles is what was found out of the team files of the working directory.
type teamFiles struct {
	mu     sync.Mutex // guards the following
	tree   *team.Tree // nil for none that the user trusts
	looked time.Time  // zero before the first look
}

func newApp(env Env) *app {
	return &app{locator: locator{terminal: terminal{env: env, name: "oxbow"}}}
}

// source returns who writes in this run: a person, or the agent that started it.
// $OXBOW_AGENT is a claim: an agent sets it to differ from its person.
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
	if variable, c := a.env.startedBy(); variable != "" {
		s.Actor, s.Claimed.Agent = oxbow.Agent, cmp.Or(a.env.Getenv("OXBOW_AGENT"), c.Client)
		s.Ref = c.Ref()
	}
	return s, nil
}

// openDir opens a directory until the end of the run.
func (a *app) openDir(dir string) (vfs.FS, error) {
	fsys, err := vfs.Dir(dir)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", dir, err)
	}
	a.closers = append(a.closers, fsys.Close)
	return fsys, nil
}

// closeAtEnd closes a memory at the end of the run, after what is to be done for the next.
func (a *app) closeAtEnd(m *oxbow.Memory) {
	a.closers = append(a.closers, m.Close)
	a.atEnd = append(a.atEnd, m)
}

// close closes what the run has opened, the last first. A run that was to answer soon,
// or that stayed, leaves checkpoints to others, or has made them.
func (a *app) close(ctx context.Context) error {
	var errs []error
	for _, m := range a.atEnd {
		if !a.hurried && a.sealAfter == 0 {
			_ = m.Checkpoint(ctx) // else the next run does it
		}
	}
	for _, fn := range slices.Backward(a.closers) {
		if err := fn(); err != nil && !errors.Is(err, oxbow.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// access is what a command does with the memory.
type access = verb.Access

const (
	look   = verb.Own
	change = verb.Write
	build  = verb.Create
)
