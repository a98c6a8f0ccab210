// What went wrong in hooks: they are silent, doctor is not.

package tool

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/sysinfo"
	"github.com/oxbow-memory/oxbow/session"
	"github.com/oxbow-memory/oxbow/vfs"
)

// HookFailure is what went wrong in a hook.
type HookFailure struct {
	Client string    `json:"client"`
	Error  string    `json:"error"`
	Time   time.Time `json:"time"`
}

// failureKept is how long doctor speaks of a failure.
const failureKept = 7 * 24 * time.Hour

func failureFile(home string) string {
	return filepath.Join(home, session.SpoolDir, "failure.json")
}

// Record keeps the failure, in the place of the last one, where doctor looks. It
// does nothing where nothing can be written.
func (f HookFailure) Record(home string) {
	if b, err := json.Marshal(f); err == nil {
		_ = os.WriteFile(failureFile(home), b, 0o600)
	}
}

// lastFailure returns the last failure of a hook. On a full disk there is a file
// without content.
func lastFailure(home string) (f HookFailure, ok bool) {
	b, err := os.ReadFile(failureFile(home))
	if err != nil || json.Unmarshal(b, &f) == nil {
		return f, err == nil
	}
	fi, err := os.Stat(failureFile(home))
	if err != nil {
		return f, false
	}
	return HookFailure{"a client", "why could not be written either, as on a full disk", fi.ModTime()}, true
}

// HookStart is a session that begins, as its client reports it.
type HookStart struct {
	Client  string    `json:"client"`
	Session string    `json:"session"`
	Source  string    `json:"source"` // how it begins
	Time    time.Time `json:"time"`
}

// A start that is reported again within startRepeat is the same one: the hook of a
// client is registered for the user and for the project.
const (
	startRepeat = 5 * time.Second
	startWait   = 200 * time.Millisecond // for another process that asks
)

// First notes a start in the spool's directory, and reports whether it is to be
// answered: no other process has noted the same one just before. Where that
// cannot be known, it is.
func (s HookStart) First(ctx context.Context, home string) (first bool) {
	first = true
	s.changeNoted(ctx, home, func(noted []HookStart) []HookStart {
		first = !slices.ContainsFunc(noted, func(n HookStart) bool { return n.of(s) && n.Source == s.Source })
		if first {
			noted = append(noted, s)
		}
		return noted
	})
	return first
}

// Past removes the starts of a session of which something else was reported: from
// then on the same start is another one.
func (s HookStart) Past(ctx context.Context, home string) {
	if slices.ContainsFunc(notedStarts(home), s.of) {
		s.changeNoted(ctx, home, func(noted []HookStart) []HookStart { return slices.DeleteFunc(noted, s.of) })
	}
}

// of reports whether both are of one session.
func (s HookStart) of(n HookStart) bool { return s.Client == n.Client && s.Session == n.Session }

// changeNoted changes the starts that were noted just before, when no other process
// does.
func (s HookStart) changeNoted(ctx context.Context, home string, change func([]HookStart) []HookStart) {
	dir, err := vfs.Dir(filepath.Join(home, session.SpoolDir))
	if err != nil {
		return
	}
	defer dir.Close()
	lock, err := dir.OpenLock("starts.lock")
	if err != nil {
		return
	}
	defer lock.Close()
	if ok, _, err := vfs.AcquireLock(ctx, lock, startWait); !ok || err != nil {
		return
	}
	noted := slices.DeleteFunc(notedStarts(home), func(n HookStart) bool { return s.Time.Sub(n.Time).Abs() > startRepeat })
	if b, err := json.Marshal(change(noted)); err == nil {
		_ = os.WriteFile(startsFile(home), b, 0o600)
	}
}

func startsFile(home string) string { return filepath.Join(home, session.SpoolDir, "starts") }

// notedStarts returns the starts of the file; none of one that is not whole.
func notedStarts(home string) (noted []HookStart) {
	if b, err := os.ReadFile(startsFile(home)); err != nil || json.Unmarshal(b, &noted) != nil {
		return nil
	}
	return noted
}

// hooks looks at what hooks write to: the spool and the archive; and for the last
// failure of a hook.
func (d *diagnosis) hooks(ctx context.Context) {
	const about = "hooks"
	spool := filepath.Join(d.dir, session.SpoolDir)
	fi, err := os.Stat(spool)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		d.findError(about, err)
	case err == nil && !fi.IsDir():
		d.add(problem, about, "move it away", "%s is not a directory: what hooks report is lost", spool)
	case err == nil && !sysinfo.Writable(spool):
		d.add(problem, about, "change its owner or mode", "%s may not be written by this user: what hooks report is lost", spool)
	}
	if f, ok := lastFailure(d.dir); ok && d.w.now().Sub(f.Time) <= failureKept {
		d.add(warning, about, "what the client has kept itself comes with oxbow session import", "a hook of %s could not keep what it was given at %s: %s", f.Client, d.w.date(f.Time), f.Error)
	}
	out, err := checkSessions(ctx, d.w)
	switch {
	case err != nil && ctx.Err() == nil:
		d.findError("sessions", err)
	case out != nil:
		for _, p := range out.Problems {
			d.add(problem, "sessions", p.Mend, "%s: %s", out.Store, p.What)
		}
		if out.Waiting > 0 {
			d.add(fine, "inbox", "", "%s; oxbow inbox shows what", plural(out.Waiting, "proposal waits", "proposals wait"))
		}
	}
}
