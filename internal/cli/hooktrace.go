// This file determines who wrote the texts that an agent's tool calls return. It also stores fingerprints of these
// texts, so that their copies are recognized later.

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/origin"
	"github.com/oxbow-memory/oxbow/internal/hook"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

// archivedTrustLevelNames maps levels of exposure, such as origin.TrustLevelForeignText (the session has read text by
// others), to their names in archived session events.
var archivedTrustLevelNames = map[origin.TrustLevel]string{
	origin.TrustLevelOwnText:       session.TrustLevelOwnText,
	origin.TrustLevelUnvouchedText: session.TrustLevelUnvouchedText,
	origin.TrustLevelForeignText:   session.TrustLevelForeignText,
}

// recordCallOrigin determines who wrote the text that a tool call returned, and stores fingerprints of the text. If a
// shell command returned text by others or unknown text, and the memory has changed, recordCallOrigin returns a
// function that labels the notes that were written while the command ran. In all other cases, it returns nil.
func (mem *lazyMemory) recordCallOrigin(
	home string,
	report *hook.CallReport,
	clean func(string) string,
) (labelNotes func(context.Context)) {
	i := slices.IndexFunc(
		report.Events,
		func(e session.Event) bool { return e.Kind == session.KindToolCall && e.Call != nil },
	)
	if report.ToolName == "" || i < 0 {
		return nil
	}
	e := &report.Events[i]
	p := newFingerprintFile(home, mem.env.Now)
	v := judgeCallOrigin(p, report, e.Dir, mem.env.Getenv)
	v.TrustLevelCause = clean(v.TrustLevelCause)
	e.Call.ResultTextSource = &session.TextSource{
		TrustLevel:      archivedTrustLevelNames[v.TrustLevel],
		CallDescription: v.TrustLevelCause,
	}
	var err error
	e.Call.ResultTextSource.TraceID, err = addResultFingerprints(p, v, e.Call.Command, report.ToolOutput)
	if err == nil && !e.Call.Failed {
		err = recordWrittenPaths(p, v)
	}
	if err == nil {
		err = recordCommandRun(p, v, lastHookReportTime(home, e), mem.env.Now())
	}
	// Report an error to the person. If the fingerprints of the result cannot be stored, the event has no TraceID. Text
	// that is written later in this turn cannot be compared with the result, and therefore counts as influenced by
	// others.
	if err != nil {
		maintenance.HookFailure{Client: report.Client, Error: "what the agent has read was not noted: " +
			err.Error(), Time: mem.env.Now()}.Save(home)
	}
	if v.TrustLevel == origin.TrustLevelOwnText || e.Call.Command == "" {
		return nil
	}
	if !mem.finder.isStoreModified(home, e) {
		return nil
	}
	w := commandLineNotes{
		minWriteTime:        lastHookReportTime(home, e),
		includesPersonNotes: strings.Contains(string(report.ToolInput), "oxbow"),
		labelToAdd:          labelForCommandOutput(v),
	}
	return func(ctx context.Context) { mem.labelCommandNotes(ctx, w) }
}

// labelForCommandOutput returns the label for notes that may contain the output of a command. The parameter v is the
// verdict about the output. The label's key is LabelUnvouched if nobody vouched for the text in the output, and
// otherwise LabelTaint, which means text by others. The label's value says why the output is not trusted.
func labelForCommandOutput(v origin.ToolCallVerdict) oxbow.Label {
	label := oxbow.Label{Key: oxbow.LabelTaint, Value: v.TrustLevelCause}
	if v.TrustLevel == origin.TrustLevelUnvouchedText {
		label.Key = oxbow.LabelUnvouched
	}
	// The label's value contains a part of the command, which may not be valid in a label.
	if label.Check() != nil {
		label.Value = "command"
	}
	return label
}

// judgeCallOrigin determines who may have written the result of the tool call that the hook report r describes.
//
// The result may be an answer of oxbow itself. If such an answer contains session.TaintWarning, it repeats an entry
// with text by others, and counts as text by others. There is one exception: if the store fingerprints already contains
// fingerprints of the repeated text, the answer does not count as text by others, because these fingerprints are
// sufficient to find later copies of the text.
func judgeCallOrigin(
	fingerprints *fingerprint.Store,
	r *hook.CallReport,
	dir string,
	getenv func(string) string,
) origin.ToolCallVerdict {
	text := fingerprint.ExtractOutputText(r.ToolOutput)
	v := origin.JudgeToolCall(
		origin.ToolCall{Client: r.Client, Tool: r.ToolName, Input: r.ToolInput, Dir: dir, Output: text},
		origin.Machine{Getenv: getenv, LastWriters: fingerprints.LastWriters},
	)
	isWarned := v.TrustLevel == origin.TrustLevelOwnText && bytes.Contains(r.ToolOutput, []byte(session.TaintWarning))
	if isWarned && len(fingerprints.FindRepeats([]string{text}, nil)[0].ForeignTextLabels) == 0 {
		v.TrustLevel, v.TrustLevelCause = origin.TrustLevelForeignText, r.ToolName+" tainted entry"
	}
	return v
}

// addResultFingerprints stores fingerprints of a call's result, and returns their ID. The parameter command is the
// command that the call ran, or "" if the call did not run a command. addResultFingerprints stores nothing and returns
// "" in these cases:
//   - The text in the result is the agent's own text.
//   - The client did not report the result.
//   - The call ran no command, it read text that other people wrote, and the result is empty. The client has then
//     omitted the text.
//
// If a command has an empty result, the command printed nothing, and the result is stored like any other result.
func addResultFingerprints(
	fingerprints *fingerprint.Store,
	v origin.ToolCallVerdict,
	command string,
	output []byte,
) (fingerprintID string, err error) {
	if v.TrustLevel == origin.TrustLevelOwnText || output == nil {
		return "", nil
	}
	text := fingerprint.ExtractOutputText(output)
	isLeftOut := command == "" && strings.TrimSpace(text) == ""
	if v.TrustLevel == origin.TrustLevelForeignText && isLeftOut {
		return "", nil
	}
	level := fingerprint.ForeignTextBlock
	if v.TrustLevel == origin.TrustLevelUnvouchedText {
		level = fingerprint.UnknownAuthorTextBlock
	}
	return fingerprints.AddText(level, text, v.TrustLevelCause)
}

// recordWrittenPaths records in the fingerprint file which files a tool call wrote. Files into which the call wrote the
// agent's own text are recorded separately from files into which it wrote other text.
func recordWrittenPaths(fingerprints *fingerprint.Store, v origin.ToolCallVerdict) error {
	if err := fingerprints.AddAgentPaths(v.FilesWithAgentText...); err != nil {
		return err
	}
	return fingerprints.AddForeignTextPaths(v.FilesWithNonAgentText...)
}

// recordCommandRun records the time of a command that may have written text by others into files that the command does
// not name. The parameters from and to are the times at which the command began and ended. A file that changed between
// these times does not count as the agent's own file. If the verdict v says that the unnamed files contain only the
// agent's own text, recordCommandRun records nothing.
func recordCommandRun(fingerprints *fingerprint.Store, v origin.ToolCallVerdict, from, to time.Time) error {
	switch v.UnnamedFilesTrustLevel {
	case origin.TrustLevelForeignText:
		return fingerprints.AddProgramRun(fingerprint.ForeignTextBlock, from, to)
	case origin.TrustLevelUnvouchedText:
		return fingerprints.AddProgramRun(fingerprint.UnknownAuthorTextBlock, from, to)
	}
	return nil
}

// isStoreModified reports whether the store file was modified after the last time at which a hook reported an event in
// the session of the event e (see lastHookReportTime). A modification up to one second before that time also counts,
// because file times may be inexact.
func (finder *homeFinder) isStoreModified(home string, e *session.Event) bool {
	store, err := finder.storePath()
	if err != nil {
		return false
	}
	fi, err := os.Stat(store)
	return err == nil && !fi.ModTime().Before(lastHookReportTime(home, e).Add(-time.Second))
}

// maxCommandTime is the longest time for which a command is assumed to have run.
const maxCommandTime = 10 * time.Minute

// lastHookReportTime returns the time of the session's last hook report, which is the modification time of the
// session's report file. This time must be before the event e, but by less than maxCommandTime. Otherwise, or if the
// file cannot be examined, lastHookReportTime returns the event's time minus maxCommandTime.
func lastHookReportTime(home string, e *session.Event) time.Time {
	since := e.Time.Add(-maxCommandTime)
	file := session.Spool{Dir: filepath.Join(home, session.SpoolDir)}.FilePath(e.Client, e.Session)
	fi, err := os.Stat(file)
	if err != nil {
		return since
	}
	if last := fi.ModTime(); last.After(since) && last.Before(e.Time) {
		return last
	}
	return since
}

// labelCommandNotes adds a label to the notes that were written while a command of the agent ran. commandNotes
// describes these notes and the label. The label is needed because the command printed text by others, and may have
// passed this text on to oxbow through a pipe. The source of the change is a program, not the agent. If the memory
// cannot be changed, labelCommandNotes does nothing.
func (mem *lazyMemory) labelCommandNotes(ctx context.Context, commandNotes commandLineNotes) {
	m, err := mem.openProfileMemory(verb.Write)
	if err != nil {
		return // The memory cannot be written to, so the agent's command has not written notes.
	}
	src, err := mem.sourceOfChanges()
	if err != nil {
		return
	}
	src.Actor = oxbow.Program
	// Ignore the error: nobody reads the output of a hook that fails here.
	_ = commandNotes.labelAllNotes(oxbow.WithSource(ctx, src), m)
}

// commandLineNotes describes which notes get the label labelToAdd. These are the notes that oxbow's command-line
// program has written since minWriteTime.
type commandLineNotes struct {
	minWriteTime time.Time // Notes that were written before this time are not labeled.

	// includesPersonNotes is set if the label is also added to notes that a person wrote or imported. It is set if the
	// command contains the word oxbow, because the command may then have written these notes. Otherwise only notes of
	// agents get the label.
	includesPersonNotes bool

	labelToAdd oxbow.Label
}

// labelAllNotes adds the label w.labelToAdd to all notes that w describes, in a single change. If this change fails,
// for example because another writer has changed one of the notes, it labels each note in a separate change.
func (w *commandLineNotes) labelAllNotes(ctx context.Context, m *oxbow.Memory) error {
	names, err := w.findNoteNames(ctx, m)
	if err != nil {
		return err
	}
	var ops []oxbow.Op
	for _, name := range names {
		if e, err := m.Get(ctx, name); err == nil { // Ignore the error: the note no longer exists.
			if op := w.newAddLabelOp(e); op != nil {
				ops = append(ops, op)
			}
		}
	}
	if len(ops) == 0 {
		return nil
	}
	if err := m.Apply(ctx, ops...); err == nil {
		return nil
	}
	var errs []error
	for _, op := range ops {
		errs = append(errs, m.Edit(ctx, op.Target(), func(now oxbow.Entry, found bool) (oxbow.Op, error) {
			if !found {
				return nil, nil
			}
			return w.newAddLabelOp(now), nil
		}))
	}
	return errors.Join(errs...)
}

// findNoteNames returns the names of the notes that w describes, each once. These are the notes that were written by
// the command line, at w.minWriteTime or later. The notes must have been written by an agent or, if
// w.includesPersonNotes is set, by an agent, a person or an import. If the memory lacks a history, findNoteNames
// examines only notes that still exist, at most [oxbow.MaxLimit].
func (w *commandLineNotes) findNoteNames(ctx context.Context, m *oxbow.Memory) ([]string, error) {
	var names []string
	seen := map[string]bool{}
	add := func(e oxbow.Entry) {
		isAgent := e.Source.Actor == oxbow.Agent
		isOther := e.Source.Actor == oxbow.Person || e.Source.Actor == oxbow.Imported
		isWanted := e.Source.Door == "cli" && (isAgent || (w.includesPersonNotes && isOther))
		if !isWanted || e.Updated.Before(w.minWriteTime) {
			return
		}
		if !seen[e.Name] {
			seen[e.Name] = true
			names = append(names, e.Name)
		}
	}
	for c, err := range m.Log(ctx) {
		if errors.Is(err, oxbow.ErrUnsupported) {
			hits, err := m.Recall(ctx, oxbow.Query{
				Limit:  oxbow.MaxLimit,
				Filter: oxbow.Filter{Terms: []oxbow.Term{{Key: "door", Values: []string{"cli"}}}},
			})
			for _, hit := range hits {
				add(hit.Entry)
			}
			return names, err
		}
		if err != nil {
			return names, err
		}
		if c.Time.Before(w.minWriteTime) {
			break
		}
		for _, v := range c.Versions {
			if v.Verb != oxbow.VerbRemove {
				add(v.Entry)
			}
		}
	}
	return names, nil
}

// newAddLabelOp returns the operation that adds the label labelToAdd to an entry, or nil if the entry already has this
// label. If the entry has the maximum number of labels, labelToAdd replaces the last tag, or else the last label.
// Otherwise a writer could avoid this label by adding many labels.
func (w *commandLineNotes) newAddLabelOp(e oxbow.Entry) oxbow.Op {
	if slices.Contains(e.Labels, w.labelToAdd) {
		return nil
	}
	labels := slices.Clone(e.Labels)
	if len(labels) >= oxbow.MaxLabels {
		last := len(labels) - 1
		for i, l := range labels {
			if l.Key == oxbow.LabelTag {
				last = i
			}
		}
		labels = slices.Delete(labels, last, last+1)
	}
	return oxbow.Relabel{Name: e.Name, Labels: oxbow.SortLabels(append(labels, w.labelToAdd)), If: e.Version}
}
