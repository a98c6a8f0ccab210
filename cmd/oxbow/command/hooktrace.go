// This file keeps, of what a tool returned to an agent, where it came from and by what its
// words are found again.

package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/hook"
	"github.com/oxbow-memory/oxbow/internal/fingerprint"
	"github.com/oxbow-memory/oxbow/session"
	"github.com/oxbow-memory/oxbow/session/reading"
	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/tool/maintenance"
)

// readLevels are the levels of readings as events have them.
var readLevels = map[reading.Level]string{reading.Own: session.ReadOwn, reading.Unvouched: session.ReadUnvouched, reading.Foreign: session.ReadForeign}

// prints returns the prints of what the sessions of a home have read.
func (a *app) prints(home string) fingerprint.File {
	return session.Spool{Dir: filepath.Join(home, session.SpoolDir)}.Prints(a.env.Now)
}

// traceCall judges the call that a report is of, and keeps prints of what it returned. If
// a command may have piped such text into the memory, it returns what marks the notes that
// were written meanwhile.
func (a *app) traceCall(home string, r *hook.Report, clean func(string) string) (markNotes func(context.Context)) {
	i := slices.IndexFunc(r.Events, func(e session.Event) bool { return e.Kind == session.Called && e.Call != nil })
	if r.Tool == "" || i < 0 {
		return nil
	}
	e := &r.Events[i]
	prints := a.prints(home)
	text := fingerprint.TextOf(r.Output)
	v := reading.Judge(reading.Call{Client: r.Client, Tool: r.Tool, Input: r.Input, Dir: e.Dir, Output: text},
		reading.Machine{Getenv: a.env.Getenv, Writers: prints.Writers})
	if v.Level == reading.Own && bytes.Contains(r.Output, []byte(session.Warned)) {
		// The answer of a memory with tainted entries. If it is the memory of this home,
		// their prints were kept when they were shown.
		if m, err := prints.Find([]string{text}, nil); err != nil || len(m[0].Foreign) == 0 {
			v.Level, v.What = reading.Foreign, r.Tool+" tainted entry"
		}
	}
	v.What = clean(v.What)
	e.Call.Reading = &session.Reading{Level: readLevels[v.Level], What: v.What}
	var err error
	if v.Level != reading.Own && r.Output != nil {
		level := fingerprint.Foreign
		if v.Level == reading.Unvouched {
			level = fingerprint.Unvouched
		}
		e.Call.Reading.Trace, err = prints.Add(level, text, v.What)
	}
	for _, paths := range []struct {
		byAgent bool
		paths   []string
	}{{true, v.Wrote}, {false, v.WroteOther}} {
		if err == nil && !e.Call.Failed {
			err = prints.AddPaths(paths.byAgent, paths.paths...)
		}
	}
	if err != nil { // without prints, all that is written in the turn is tainted
		maintenance.HookFailure{Client: r.Client, Error: "what the agent has read was not noted: " + err.Error(), Time: a.env.Now()}.Record(home)
	}
	if v.Level == reading.Own || e.Call.Command == "" {
		return nil
	}
	since := a.lastReport(home, e)
	store, err := a.storePath()
	if err != nil {
		return nil
	}
	if fi, err := os.Stat(store); err != nil || fi.ModTime().Before(since.Add(-time.Second)) {
		return nil
	}
	names := strings.Contains(string(r.Input), "oxbow")
	return func(ctx context.Context) { a.markWritten(ctx, v, since, names) }
}

// maxCommandTime is how long a command is taken to have run if it is not known when the
// session reported last.
const maxCommandTime = 10 * time.Minute

// lastReport returns when the session reported last before the event.
func (a *app) lastReport(home string, e *session.Event) time.Time {
	since := e.Time.Add(-maxCommandTime)
	file := session.Spool{Dir: filepath.Join(home, session.SpoolDir)}.File(e.Client, e.Session)
	if fi, err := os.Stat(file); err == nil && fi.ModTime().After(since) && fi.ModTime().Before(e.Time) {
		return fi.ModTime()
	}
	return since
}

// markWritten labels the notes that were written by the command line while a command ran
// whose output is not the agent's own: their text may have come through a pipe. Notes
// without an agent's variables count only if the command names this program.
func (a *app) markWritten(ctx context.Context, v reading.Verdict, since time.Time, named bool) {
	m, err := a.open(tool.Write)
	if err != nil {
		return // the command has not written either
	}
	key := oxbow.LabelTaint
	if v.Level == reading.Unvouched {
		key = oxbow.LabelUnvouched
	}
	mark := oxbow.Label{Key: key, Value: v.What}
	if mark.Check() != nil {
		mark.Value = "command"
	}
	var ops []oxbow.Op
	last, _ := m.Recall(ctx, oxbow.Query{Limit: oxbow.MaxLimit, Filter: oxbow.Filter{Terms: []oxbow.Term{{Key: "door", Values: []string{"cli"}}}}}) // those written last
	for _, hit := range last {
		e := hit.Entry
		isAgent := e.Source.Actor == oxbow.Agent || named && (e.Source.Actor == oxbow.Person || e.Source.Actor == oxbow.Imported)
		if isAgent && !e.Updated.Before(since) && !slices.Contains(e.Labels, mark) && len(e.Labels) < oxbow.MaxLabels {
			ops = append(ops, oxbow.Relabel{Name: e.Name, Labels: oxbow.SortLabels(append(slices.Clone(e.Labels), mark)), If: e.Version})
		}
	}
	if len(ops) == 0 {
		return
	}
	src, err := a.source()
	if err != nil {
		return
	}
	src.Actor = oxbow.Program
	_ = m.Apply(oxbow.WithSource(ctx, src), ops...) // another change came first: the next report tries again
}
