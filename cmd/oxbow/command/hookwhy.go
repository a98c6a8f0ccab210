// Annotations by hooks: what a report makes of the lines that an agent edits.

package command

import (
	"context"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/annotate/transcript"
	"github.com/oxbow-memory/oxbow/hook"
	"github.com/oxbow-memory/oxbow/session"
	"github.com/oxbow-memory/oxbow/tool"
)

// hooksOff is a file that switches hooks off: in a home, or in the directory
// .oxbow of a project.
const hooksOff = "hooks.off"

// hookWhys annotates what a report says was edited, and returns what the client receives
// of lines that are about to be edited.
func (a *app) hookWhys(ctx context.Context, home string, r transcript.Report) []byte {
	about := r.About()
	if about.Before && (a.env.Getenv("OXBOW_WHYS") == "off" || hook.Before(r.Client, "") == nil) || !about.Before && (!about.After || a.env.Getenv("OXBOW_ANNOTATE") == "off") ||
		!filepath.IsAbs(about.Dir) || a.hooksAreOff(home, about.Dir) {
		return nil
	}
	b, err := a.bookAt(ctx, about.Dir)
	if err != nil {
		return nil
	}
	defer b.Close()
	spool := session.Spool{Dir: filepath.Join(home, session.SpoolDir)}
	r.Noted = spool.File(r.Client, about.Session)
	w := &tool.Workspace{Now: a.env.Now, Annotations: func(context.Context) (*annotate.Store, error) { return b, nil }}
	in := tool.HookReportIn{Report: r, Everywhere: a.env.Getenv("OXBOW_ANNOTATE") == "on", Session: about.Session, Shown: filepath.Join(spool.Dir, "whys")}
	if about.Before {
		if out, _ := tool.WhyBefore(ctx, w, in); out.Line != "" { // an edit does not wait for what went wrong
			return hook.Before(r.Client, out.Line)
		}
		return nil
	}
	if _, err := tool.AnnotateHook(ctx, w, in); err != nil {
		tool.HookFailure{Client: r.Client, Error: err.Error(), Time: a.env.Now()}.Record(home)
	}
	return nil
}

// hooksAreOff reports whether a file switches hooks off for the home, or for a
// project that holds the directory of the session.
func (a *app) hooksAreOff(home, dir string) bool {
	if _, err := os.Stat(filepath.Join(home, hooksOff)); err == nil {
		return true
	}
	for filepath.IsAbs(dir) {
		if _, err := os.Stat(filepath.Join(dir, homeDir, hooksOff)); err == nil {
			return true
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return false
}
