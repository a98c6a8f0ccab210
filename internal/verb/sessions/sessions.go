// This file implements the verbs that list, show, search, resume and forget sessions in the archive.

package sessions

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/query"
)

// SessionsIn is the argument of ListSessions.
type SessionsIn struct {
	Project string `json:"project,omitempty" usage:"Only sessions of this project."`
	Client  string `json:"client,omitempty"  usage:"Only sessions of this client, such as claude."`
	Since   string `json:"since,omitempty"   usage:"Only sessions that were active on or after this date (2026-04-18, 7d, yesterday)." value:"DATE"`
	Limit   *int   `json:"limit,omitempty"   usage:"Maximum number of sessions, 20 by default."`
}

// SessionsOut is a list of sessions. The session with the most recent activity comes first.
type SessionsOut struct {
	Sessions     []session.Summary `json:"sessions"`
	HasMore      bool              `json:"more,omitempty"` // more sessions match than are listed
	EmptyReasons []verb.Note       `json:"why,omitempty"`  // reasons why the list is empty
}

const DefaultSessionLimit = 20

// ListSessions lists the sessions in the archive.
func ListSessions(ctx context.Context, w *verb.Workspace, in SessionsIn) (SessionsOut, error) {
	out := SessionsOut{Sessions: []session.Summary{}}
	var f oxbow.Filter
	for _, t := range [][2]string{{"client", in.Client}, {oxbow.LabelProject, in.Project}} {
		if t[1] != "" {
			f.Terms = append(f.Terms, oxbow.Term{Key: t[0], Values: t[1:]})
		}
	}
	since, err := ParseSince(w, in.Since)
	if err != nil {
		return out, err
	}
	limit, _, err := verb.ResolveLimit(in.Limit, DefaultSessionLimit)
	if err != nil {
		return out, err
	}
	ctx, a, err := w.OpenArchive(ctx)
	if err != nil {
		return out, err
	}
	all, err := a.ListSessions(ctx, f, since, limit+1)
	out.HasMore = len(all) > limit
	out.Sessions = append(out.Sessions, all[:min(limit, len(all))]...)
	if err == nil && len(all) == 0 {
		out.EmptyReasons, err = in.explainEmptyResult(ctx, a, f)
	}
	return out, err
}

// explainEmptyResult returns a note that says why no session matches the filter f. The note says either that the
// archive is empty, or that the filter and in.Since match none of the sessions.
func (in SessionsIn) explainEmptyResult(ctx context.Context, a *session.Archive, f oxbow.Filter) ([]verb.Note, error) {
	kept, err := a.ListSessions(ctx, oxbow.Filter{}, time.Time{}, 1)
	if err != nil || len(kept) == 0 {
		return []verb.Note{verb.NoSessionNote}, err
	}
	given := f.Brief()
	if in.Since != "" {
		given = strings.TrimSpace(given + " since:" + in.Since)
	}
	return []verb.Note{verb.Notef("no session fits %s; without a filter there are some", given)}, nil
}

// ParseSince returns the time at which a date begins. date has a form such as 2026-04-18, 7d or yesterday. If date is
// empty, ParseSince returns the zero time. If date has another form, it returns an error.
func ParseSince(w *verb.Workspace, date string) (time.Time, error) {
	f, err := verb.TimeFilter("since", "since", date, w.CurrentTime())
	return f.After, err
}

// SessionIn identifies a session.
type SessionIn struct {
	Session       string `json:"session"        flag:"-" usage:"Identifier of the session, or how it begins; CLIENT/SESSION is one, too."`
	LastTurnCount int    `json:"last,omitempty"          usage:"Only the last N turns."`
}

// SessionOut is a session with its turns.
type SessionOut struct {
	session.Summary
	Turns []session.Turn `json:"list"`

	// WrittenChanges lists changes of notes that the session made, newest first.
	WrittenChanges []verb.Change `json:"wrote,omitempty"`
}

// HasText reports whether the answer shows any text. The answer for a session always does, because a session has at
// least one turn.
func (SessionOut) HasText() bool { return true }

// A list of the changes that a session made to notes contains at most maxSessionChanges changes. To find them, at most
// maxSearchedChanges changes of the memory's history are examined.
const (
	maxSessionChanges  = 100
	maxSearchedChanges = 20_000
)

// findSessionChanges returns the changes of notes that the session s made, newest first. It returns at most
// maxSessionChanges changes. It examines the changes since the start of the session, but at most the newest
// maxSearchedChanges changes. If the memory has no history, the result is nil.
func findSessionChanges(
	ctx context.Context,
	w *verb.Workspace,
	a *session.Archive,
	s session.Summary,
) ([]verb.Change, error) {
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return nil, err
	}
	origin, err := a.MatcherForSession(ctx, s.Client, s.Session)
	if err != nil {
		return nil, err
	}
	var made []verb.Change
	past, left := verb.NewPastTextFilter(m), maxSearchedChanges
	for c, err := range m.Log(ctx) {
		if errors.Is(err, oxbow.ErrUnsupported) {
			return nil, nil // the memory lacks a history
		}
		if err != nil {
			return nil, err
		}
		left--
		isLimitReached := left < 0 || len(made) == maxSessionChanges
		if isLimitReached || c.Time.Before(s.StartTime) {
			break
		}
		if origin.MadeChange(c.Source) {
			made = append(made, past.FilterChange(ctx, c))
		}
	}
	return made, nil
}

// ShowSession returns the turns of a session.
func ShowSession(ctx context.Context, w *verb.Workspace, in SessionIn) (out SessionOut, err error) {
	if in.LastTurnCount < 0 {
		return out, verb.InvalidValue("last", fmt.Sprint(in.LastTurnCount), "is less than 1")
	}
	ctx, a, err := w.OpenArchive(ctx)
	if err != nil {
		return out, err
	}
	out.Summary, err = verb.FindSession(ctx, a, in.Session)
	if err != nil {
		return out, err
	}
	out.Turns, err = a.ReadTurns(ctx, out.Client, out.Session)
	if err != nil {
		return out, err
	}
	if in.LastTurnCount > 0 {
		out.Turns = out.Turns[max(0, len(out.Turns)-in.LastTurnCount):]
	}
	out.WrittenChanges, err = findSessionChanges(ctx, w, a, out.Summary)
	return out, err
}

// SearchSessions finds turns that contain words of the query, best first.
func SearchSessions(ctx context.Context, w *verb.Workspace, in verb.RecallIn) (verb.RecallOut, error) {
	in.SearchScope = query.InSessions
	return verb.Recall(ctx, w, in)
}

// ResumeSessionIn is the argument of ResumeSession.
type ResumeSessionIn struct {
	Session string `json:"session" flag:"-" usage:"Identifier of the session, or how it begins."`
}

// ResumeOut is the result of ResumeSession.
type ResumeOut struct {
	Client  string `json:"client"`
	Session string `json:"session"`
	Dir     string `json:"dir,omitempty"`
	Command string `json:"command"`
}

// Report shows the command that resumes the session.
func (o ResumeOut) Report() (r report.Report) {
	r.AddLinef("%s", report.QuotedText(o.Command))
	return r
}

// ResumeSession returns the shell command with which the session's client resumes the session. It returns an error if
// the client has no such command.
func ResumeSession(ctx context.Context, w *verb.Workspace, in ResumeSessionIn) (out ResumeOut, err error) {
	ctx, a, err := w.OpenArchive(ctx)
	if err != nil {
		return out, err
	}
	s, err := verb.FindSession(ctx, a, in.Session)
	if err != nil {
		return out, err
	}
	client, _ := clientfile.FindEventClient(s.Client)
	if !session.IsValidID(s.Session) { // an earlier version of oxbow may have stored an invalid ID
		return out, verb.Advise(
			verb.InvalidValue("session", s.Session, "is no identifier that may be an argument of a client"),
			"oxbow session show "+text.QuoteShellOperand(s.Client+"/"+s.Session)+" prints what was said",
		)
	}
	if client.ResumeCommand == "" {
		return out, verb.Advise(
			fmt.Errorf("%w: it is not known how %s goes on with a session", oxbow.ErrUnsupported, s.Client),
			"oxbow session show "+text.ShellQuote(s.Client+"/"+s.Session)+" prints what was said",
		)
	}
	out = ResumeOut{Client: s.Client, Session: s.Session, Dir: s.Dir}
	out.Command = client.ResumeCommand + text.ShellQuote(s.Session)
	if filepath.IsAbs(s.Dir) { // the directory may be unknown, and a shell may resolve a relative path differently
		out.Command = "cd -- " + text.ShellQuote(s.Dir) + " && " + out.Command
	}
	return out, nil
}

// ForgetSessionIn identifies a session to forget.
type ForgetSessionIn struct {
	Session          string `json:"session,omitempty" flag:"-" usage:"Identifier of the session, or how it begins."`
	DryRun           bool   `json:"dry_run,omitempty"          usage:"Say what would be forgotten, and change nothing."`
	Undo             bool   `json:"undo,omitempty"             usage:"Bring back what was forgotten last."`
	EraseFromHistory bool   `json:"purge,omitempty"            usage:"Also erase the session from the history of the archive, so that nothing can bring it back."`
}

// ForgetSessionOut is the session that was forgotten or restored.
type ForgetSessionOut struct {
	DryRun     bool   `json:"dry_run,omitempty"`
	IsRestored bool   `json:"undone,omitempty"`
	Purged     bool   `json:"purged,omitempty"`
	Client     string `json:"client,omitempty"`
	Session    string `json:"session,omitempty"`
	Turns      int    `json:"turns"`
}

// forgetNotePrefix is the prefix of the note in a change that forgets a session.
const forgetNotePrefix = "forget session "

// ForgetSession removes the session in.Session from the archive. If in.EraseFromHistory is set, it also erases the
// session from the history of the archive, so that the session cannot be restored. If in.DryRun is set, it only returns
// which session it would remove. If in.Undo is set, ForgetSession restores the session that was removed last.
func ForgetSession(ctx context.Context, w *verb.Workspace, in ForgetSessionIn) (out ForgetSessionOut, err error) {
	ctx, a, err := w.OpenArchive(ctx)
	if err != nil {
		return out, err
	}
	if in.Undo {
		return undoForgetSession(ctx, a)
	}
	if in.Session == "" {
		return out, verb.Advise(
			verb.InvalidValue("session", "", "is empty; say which"),
			"oxbow session list shows which there are",
		)
	}
	s, err := verb.FindSession(ctx, a, in.Session)
	forgotten := false
	if errors.Is(err, verb.ErrNoSession) && in.EraseFromHistory {
		s, err = findForgottenSession(ctx, a, in.Session)
		forgotten = true
	}
	if err != nil {
		return out, err
	}
	out = ForgetSessionOut{DryRun: in.DryRun, Client: s.Client, Session: s.Session, Turns: s.TurnCount}
	if in.DryRun {
		return out, nil
	}
	if in.EraseFromHistory {
		// check the permission to erase, as for an entry that a person wrote, because a session contains a person's
		// prompts
		said := func(yield func(oxbow.Entry, error) bool) {
			yield(oxbow.Entry{Name: s.Client + "/" + s.Session, Source: oxbow.Source{Actor: oxbow.Person}}, nil)
		}
		if err := verb.CheckMayEraseVersions(w.WithSource(ctx), "session forget --purge", said); err != nil {
			return out, err
		}
	}
	if !forgotten {
		out.Turns, err = a.RemoveSession(
			oxbow.WithNote(ctx, forgetNotePrefix+s.Client+"/"+s.Session),
			s.Client,
			s.Session,
		)
	}
	if !in.EraseFromHistory || err != nil {
		return out, err
	}
	_, err = a.Memory.Compact(ctx, oxbow.Compaction{Before: w.CurrentTime().Add(time.Second)})
	out.Purged = err == nil
	if errors.Is(err, oxbow.ErrUnsupported) {
		return out, nil // without a history, the forgotten session cannot be restored, so nothing is left to purge
	}
	return out, err
}

// findForgottenSession searches the history of the archive for a forgotten session, which stays there until it is
// purged. The argument name is CLIENT/SESSION or SESSION, or the beginning of one of these. A session with exactly this
// name takes precedence. findForgottenSession returns an error if no forgotten session matches, or if several match and
// none has exactly this name.
func findForgottenSession(ctx context.Context, a *session.Archive, name string) (found session.Summary, err error) {
	name = strings.TrimSpace(name)
	for c, err := range a.Memory.Log(ctx) {
		if err != nil {
			return found, err
		}
		of, ok := strings.CutPrefix(c.Note, forgetNotePrefix)
		client, id, _ := strings.Cut(of, "/")
		isExact := of == name || id == name
		isMatch := strings.HasPrefix(of, name) || strings.HasPrefix(id, name)
		if !ok || !isMatch {
			continue
		}
		s := session.Summary{Client: client, Session: id}
		for _, v := range c.Versions {
			turn, ok := strings.CutPrefix(v.Entry.Name, of+"/")
			// The name of a turn ends with a number. Do not count other entries, such as the entry of the session
			// itself.
			if ok && strings.Trim(turn, "0123456789") == "" {
				s.TurnCount++
			}
		}
		if isExact {
			return s, nil
		}
		if found.Session != "" && found.Session != id {
			return found, verb.Advise(verb.InvalidValue("session", name, "means several forgotten sessions, such as "+
				found.Client+"/"+found.Session+" and "+of), "write more of it, or CLIENT/SESSION")
		}
		found = s
	}
	if found.Session == "" {
		return found, verb.Advise(
			&oxbow.NameError{Name: name, Err: verb.ErrNoSession},
			"neither the archive nor its history has such a session, so that nothing of it is left to erase; oxbow "+
				"session list shows which there are",
		)
	}
	return found, nil
}

func undoForgetSession(ctx context.Context, a *session.Archive) (out ForgetSessionOut, err error) {
	reverted := map[uint64]bool{}
	for c, err := range a.Memory.Log(ctx) {
		if err != nil {
			return out, err
		}
		for _, seq := range c.Reverts {
			reverted[seq] = true
		}
		name, ok := strings.CutPrefix(c.Note, forgetNotePrefix)
		if !ok || reverted[c.Seq] {
			continue
		}
		if _, err := a.Memory.Revert(ctx, c.Seq); err != nil {
			return out, err
		}
		out.IsRestored = true
		out.Client, out.Session, _ = strings.Cut(name, "/")
		turns, err := a.ReadTurns(ctx, out.Client, out.Session)
		out.Turns = len(turns)
		return out, err
	}
	return out, verb.Advise(
		fmt.Errorf("%w: nothing was forgotten that is still in the archive's history", verb.ErrNoSession),
		"oxbow session list shows what there is",
	)
}

// Report lists the sessions.
func (o SessionsOut) Report() (r report.Report) {
	for _, s := range o.Sessions {
		r.Add(report.Record{Key: s.Session, Title: s.Client + "/" + s.Session,
			Cells: []report.Cell{{Value: s.LastTime}, {Value: s.Project},
				{
					Value: report.OxbowText(text.FormatCount(s.TurnCount, "turn", "turns")),
				}}, TextCellsBelow: []report.Cell{{Value: s.DisplayTitle()}}})
	}
	if len(o.Sessions) == 0 {
		report.AddNotes(&r, o.EmptyReasons)
	}
	if o.HasMore {
		r.AddNotef("there are more; --limit shows them")
	}
	return r
}

// Report tells which session was forgotten or restored.
func (o ForgetSessionOut) Report() (r report.Report) {
	did := report.EffectVerb(o.DryRun, "forgot", "would forget")
	if o.IsRestored {
		did = "brought back"
	}
	r.AddLinef("%s %s/%s: %s", did, o.Client, o.Session, report.OxbowText(text.FormatCount(o.Turns, "turn", "turns")))
	canUndo := !o.IsRestored && !o.DryRun && !o.Purged
	if canUndo {
		r.AddNotef("to take this back: oxbow session forget --undo")
	}
	return r
}
