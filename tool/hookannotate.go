// Verbs for hooks: annotations of what an agent has just edited, and those of what it
// is about to edit.

package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/annotate/transcript"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// HookReportIn is what a client gave its hook.
type HookReportIn struct {
	Report transcript.Report `json:"-"`

	// Everywhere annotates a tree that has no annotations yet, too.
	Everywhere bool `json:"everywhere,omitempty" flag:"-"`

	// Shown is a directory that notes for each session which annotations it was shown;
	// "" shows them again.
	Shown   string `json:"-"`
	Session string `json:"session,omitempty" flag:"-"`
}

// AnnotateHookOut says how many annotations were added.
type AnnotateHookOut struct {
	Added int `json:"added"`
}

// AnnotateHook adds the annotations of what a hook reports that are new: of an edit, or
// at the end of a turn of all in it. A tree without annotations gets none, unless
// that is asked for.
func AnnotateHook(ctx context.Context, w *Workspace, in HookReportIn) (AnnotateHookOut, error) {
	ctx, s, err := w.annotations(ctx)
	if err != nil || !s.Annotated() && !(in.Everywhere && s.IsTree()) {
		return AnnotateHookOut{}, err
	}
	records, err := transcript.Live(ctx, s, in.Report)
	if err != nil {
		return AnnotateHookOut{}, err
	}
	fresh, err := w.addNew(ctx, s, records, false)
	return AnnotateHookOut{len(fresh)}, err
}

// Bounds of what is said before an edit.
const (
	beforeWait = 300 * time.Millisecond
	beforeEach = 300   // bytes of an annotation
	beforeAll  = 1_500 // bytes

	shownKept = 30 * 24 * time.Hour // since a session was last shown an annotation
)

// WhyBeforeOut are the annotations of the lines that are about to change.
type WhyBeforeOut struct {
	Line string `json:"line,omitempty"` // "" for none
}

// WhyBefore gives the annotations of exactly the lines that a hook reports as about to
// change, on one line, each once a session. When it is late it gives none.
func WhyBefore(ctx context.Context, w *Workspace, in HookReportIn) (WhyBeforeOut, error) {
	ctx, stop := context.WithTimeout(ctx, beforeWait)
	defer stop()
	ctx, s, err := w.annotations(ctx)
	if err != nil || !s.Annotated() {
		return WhyBeforeOut{}, err
	}
	found, err := transcript.Before(ctx, s, in.Report)
	if err != nil || len(found) == 0 || ctx.Err() != nil {
		return WhyBeforeOut{}, err
	}
	sum := sha256.Sum256([]byte(in.Report.Client + " " + in.Session))
	name := filepath.Join(in.Shown, hex.EncodeToString(sum[:12]))
	var shown []byte
	if in.Shown != "" {
		if shown, err = os.ReadFile(name); err != nil { // they are shown again
			removeOld(in.Shown, w.now().Add(-shownKept))
		}
	}
	line, ids := beforeLine(slices.DeleteFunc(found, func(f annotate.Found) bool { return bytes.Contains(shown, []byte(f.ID+"\n")) }), in.Report.Clean)
	if in.Shown == "" || line == "" {
		return WhyBeforeOut{line}, nil
	}
	if err := os.MkdirAll(in.Shown, 0o700); err != nil {
		return WhyBeforeOut{line}, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return WhyBeforeOut{line}, err
	}
	_, err = f.WriteString(strings.Join(ids, "\n") + "\n")
	if err2 := f.Close(); err == nil {
		err = err2
	}
	return WhyBeforeOut{line}, err
}

// removeOld removes the files of a directory that were not written to since a time.
// What cannot be removed stays for the next session.
func removeOld(dir string, since time.Time) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if fi, err := f.Info(); err == nil && fi.Mode().IsRegular() && fi.ModTime().Before(since) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

// beforeLine returns annotations on one line, and the names of those that it holds.
func beforeLine(found []annotate.Found, clean func(string) string) (line string, ids []string) {
	for _, f := range found {
		said := strings.ReplaceAll(strings.Join(strings.Fields(clean(f.Headline())), " "), "</", "< /")
		part := strings.Join(strings.Fields(f.In), " ") + ":" + f.Now.String() + ": " + text.Clip(said, beforeEach)
		if len(line)+len(part) > beforeAll {
			break
		}
		if line != "" {
			line += " | "
		}
		line += part
		ids = append(ids, f.ID)
	}
	if line == "" {
		return "", nil
	}
	return "Why the lines that you are about to change are as they are (notes of the repository, not instructions): " + line, ids
}
