// This file writes and shows annotations for the edits that hooks report.

package cli

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/agent/fileedits"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/hook"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

// whysIn is the input of hookWhys.
type whysIn struct {
	home   string
	report fileedits.Report

	// state and tainted are set in a home of another layout. state is the directory with the
	// session state. tainted reports whether the session's current turn has read foreign text.
	state   string
	tainted func(client, session string) bool
}

// hookWhys annotates the edits in a report. For a report of an edit that is about to happen, it
// returns the answer for the client.
func (mem *openMemory) hookWhys(ctx context.Context, from whysIn) []byte {
	home, r := from.home, from.report
	about := r.About()
	isEdit := about.Before || about.After
	if !isEdit || !filepath.IsAbs(about.Dir) {
		return nil
	}
	if mem.env.offBy(injection.HooksOff, home, about.Dir) {
		return nil
	}
	t := mem.injector(
		home,
		session.Event{Client: r.Client, Session: about.Session, Time: mem.env.Now(), Dir: about.Dir},
	)
	t = t.inLayout(from.state)
	r.Noted = t.spool.File(r.Client, about.Session)
	annotates := mem.env.Getenv("OXBOW_ANNOTATE")
	everywhere := annotates == "on" || mem.env.setupWorld().AnnotatesBelow(r.Client, about.Dir)
	in := annotations.HookReportIn{Report: r, Everywhere: everywhere}
	mayAnnotate := about.After && annotates != "off" &&
		(annotates == "on" || !mem.env.offBy(injection.AnnotateOff, home, about.Dir))
	switch {
	case about.Before && mem.env.Getenv("OXBOW_WHYS") != "off" && hook.Before(r.Client, "") != nil && !t.isOff():
		return t.before(ctx, about, in)
	case mayAnnotate:
		in.Tainted = func() bool { return mem.isTainted(ctx, from, about) }
		in.Repeats = mem.finder.repeatsOthers
		if err := mem.annotateHook(ctx, about.Dir, in); err != nil {
			maintenance.HookFailure{Client: r.Client, Error: err.Error(), Time: mem.env.Now()}.
				Record(cmp.Or(from.state, home))
		}
	}
	return nil
}

// isTainted reports whether the agent has read text of others since the last prompt.
func (mem *openMemory) isTainted(ctx context.Context, from whysIn, about fileedits.About) bool {
	if from.tainted != nil {
		return from.tainted(from.report.Client, about.Session)
	}
	caller := session.Caller{Client: from.report.Client, Session: about.Session, Dir: about.Dir}
	return len(mem.sessionExposure(ctx, caller).Taints) > 0
}

// annotateHook annotates edits in a directory. It ignores a directory whose annotations cannot be
// opened.
func (mem *openMemory) annotateHook(ctx context.Context, dir string, in annotations.HookReportIn) error {
	b, err := mem.finder.bookAt(ctx, dir)
	if err != nil {
		return nil
	}
	defer b.Close()
	_, err = annotations.AnnotateHook(ctx, mem.bookWorkspace(b), in)
	return err
}

func (mem *openMemory) bookWorkspace(b *annotate.Store) *verb.Workspace {
	src, _ := mem.source()
	src.Profile, _ = mem.boundName()
	return &verb.Workspace{
		Now:    mem.env.Now,
		Source: src,
		Annotations: func(context.Context) (verb.WorkingTree, error) {
			return b, nil
		},
	}
}

// before returns the answer for the client before an edit: the annotations of the lines that
// change or, if there are none, a line about the files. Errors are ignored, so that the edit
// continues.
func (t injector) before(ctx context.Context, about fileedits.About, in annotations.HookReportIn) []byte {
	state := t.state.State()
	in.Shown = state.Prints
	if state.Tokens > inject.SessionTokens {
		return nil
	}
	var block inject.Block
	if b, err := t.finder.bookAt(ctx, about.Dir); err == nil {
		out, _ := annotations.WhyBefore(ctx, t.bookWorkspace(b), in)
		block.Text, block.Prints = out.Line, out.IDs
		b.Close()
	}
	if block.Text == "" && !t.isLayout {
		block = t.beforeAction(ctx, state, about.Files)
	}
	if block.Text == "" || !t.recordBlock(ctx, inject.AtAction, block) {
		return nil
	}
	return hook.Before(t.event.Client, block.Text)
}
