// Annotations by hooks: what a report makes of the lines that an agent edits.

package command

import (
	"context"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/annotate/transcript"
	"github.com/oxbow-memory/oxbow/hook"
	"github.com/oxbow-memory/oxbow/inject"
	"github.com/oxbow-memory/oxbow/session"
	"github.com/oxbow-memory/oxbow/tool"
)

// hookWhys annotates what a report says was edited, and returns what the client receives
// of lines that are about to be edited.
func (a *app) hookWhys(ctx context.Context, home string, r transcript.Report) []byte {
	about := r.About()
	if about.Before && (a.env.Getenv("OXBOW_WHYS") == "off" || hook.Before(r.Client, "") == nil) || !about.Before && (!about.After || a.env.Getenv("OXBOW_ANNOTATE") == "off") ||
		!filepath.IsAbs(about.Dir) || a.offBy(tool.HooksOff, home, about.Dir) {
		return nil
	}
	say := a.teller(home, session.Event{Client: r.Client, Session: about.Session, Time: a.env.Now(), Dir: about.Dir})
	if about.Before && say.off() {
		return nil
	}
	b, err := a.bookAt(ctx, about.Dir)
	if err != nil {
		return nil
	}
	defer b.Close()
	r.Noted = say.spool.File(r.Client, about.Session)
	w := &tool.Workspace{Now: a.env.Now, Annotations: func(context.Context) (*annotate.Store, error) { return b, nil }}
	in := tool.HookReportIn{Report: r, Everywhere: a.env.Getenv("OXBOW_ANNOTATE") == "on"}
	if about.Before {
		in.Shown = say.state.State().Prints
		out, _ := tool.WhyBefore(ctx, w, in) // an edit does not wait for what went wrong
		if out.Line == "" || !say.show(ctx, inject.AtAction, inject.Block{Text: out.Line, Prints: out.IDs}) {
			return nil
		}
		return hook.Before(r.Client, out.Line)
	}
	if _, err := tool.AnnotateHook(ctx, w, in); err != nil {
		tool.HookFailure{Client: r.Client, Error: err.Error(), Time: a.env.Now()}.Record(home)
	}
	return nil
}
