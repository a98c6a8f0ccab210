// This file implements the verbs for the sessions archive: list, show, search, resume and forget.
// It also lets recall search the archive.

package verb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Memories that recall can search.
const (
	inNotes    = "notes"
	inSessions = "sessions"
	inBoth     = "both"
)

// cutIn removes a term such as in:sessions from the query.
func (in *RecallIn) cutIn() error {
	words := strings.Fields(in.Query)
	i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "in:") && w != "in:" })
	if i < 0 {
		return nil
	}
	said := strings.TrimPrefix(words[i], "in:")
	switch {
	case !slices.Contains([]string{inNotes, inSessions, inBoth}, said):
		return nil // the word is not a term
	case in.In != "" && in.In != said:
		return InvalidValue("in", in.In, "is not what the query says, which is in:"+said)
	}
	in.In = said
	in.Query = strings.TrimSpace(strings.Replace(" "+in.Query+" ", " "+words[i]+" ", " ", 1))
	return nil
}

// Recall finds entries by words, best first, in the memories that the caller selects.
func Recall(ctx context.Context, w *Workspace, in RecallIn) (RecallOut, error) {
	if err := in.cutIn(); err != nil {
		return RecallOut{}, err
	}
	if in.In == "" || in.In == inNotes {
		return recallWhere(ctx, w, in, oxbow.Filter{})
	}
	over, err := w.OverSessions(ctx)
	if err != nil {
		return RecallOut{}, err
	}
	if in.In == inSessions {
		return recallWhere(ctx, over, in, session.TurnFilter)
	}
	if in.MaxTokens == nil && !w.Unbounded {
		half := defaultMaxTokens / 2
		in.MaxTokens = &half
	} else if in.MaxTokens != nil {
		half := (*in.MaxTokens + 1) / 2
		in.MaxTokens = &half
	}
	notes, err := recallWhere(ctx, w, in, oxbow.Filter{})
	if err != nil {
		return notes, err
	}
	turns, err := recallWhere(ctx, over, in, session.TurnFilter)
	if err != nil || len(turns.Hits) == 0 {
		return notes, err
	}
	if len(notes.Hits) == 0 {
		return turns, nil
	}
	notes.Hits, notes.More = append(notes.Hits, turns.Hits...), notes.More || turns.More
	notes.Notes = append(
		append(notes.Notes, turns.Notes...),
		Notef("%s last", text.Count(len(turns.Hits), "hit from past sessions comes", "hits from past sessions come")),
	)
	return notes, nil
}

// SessionsIn is the argument for listing sessions.
type SessionsIn struct {
	Project string `json:"project,omitempty" usage:"Only sessions of this project."`
	Client  string `json:"client,omitempty" usage:"Only sessions of this client, such as claude."`
	Since   string `json:"since,omitempty" value:"DATE" usage:"Only sessions that were active on or after this date (2026-04-18, 7d, yesterday)."`
	Limit   *int   `json:"limit,omitempty" usage:"Most sessions, 20 by default."`
}

// SessionsOut is a list of sessions, the most recently active first.
type SessionsOut struct {
	Sessions []session.Summary `json:"sessions"`
	More     bool              `json:"more,omitempty"` // there are more sessions
	Why      []Note            `json:"why,omitempty"`  // reasons why the list is empty
}

const defaultSessions = 20

// Sessions lists the sessions in the archive.
func Sessions(ctx context.Context, w *Workspace, in SessionsIn) (SessionsOut, error) {
	out := SessionsOut{Sessions: []session.Summary{}}
	var f oxbow.Filter
	for _, t := range [][2]string{{"client", in.Client}, {oxbow.LabelProject, in.Project}} {
		if t[1] != "" {
			f.Terms = append(f.Terms, oxbow.Term{Key: t[0], Values: t[1:]})
		}
	}
	since, err := w.since(in.Since)
	if err != nil {
		return out, err
	}
	limit, _, err := limitOf(in.Limit, defaultSessions)
	if err != nil {
		return out, err
	}
	ctx, a, err := w.Archive(ctx)
	if err != nil {
		return out, err
	}
	all, err := a.Sessions(ctx, f, since, limit+1)
	out.More = len(all) > limit
	out.Sessions = append(out.Sessions, all[:min(limit, len(all))]...)
	if err == nil && len(all) == 0 {
		out.Why, err = in.why(ctx, a, f)
	}
	return out, err
}

// noSession reports that the archive is empty.
var noSession = Notef(
	"no session is kept yet; %s to read those that clients have kept, or %s to connect clients",
	PersonRef("oxbow session import"),
	PersonRef("oxbow setup"),
)

// why returns the reasons why no session matches.
func (in SessionsIn) why(ctx context.Context, a *session.Archive, f oxbow.Filter) ([]Note, error) {
	kept, err := a.Sessions(ctx, oxbow.Filter{}, time.Time{}, 1)
	if err != nil || len(kept) == 0 {
		return []Note{noSession}, err
	}
	given := f.Brief()
	if in.Since != "" {
		given = strings.TrimSpace(given + " since:" + in.Since)
	}
	return []Note{Notef("no session fits %s; without a filter there are some", given)}, nil
}

// since parses a date, or a span before now, as the beginning of a period.
func (w *Workspace) since(s string) (time.Time, error) {
	start, _, err := w.period("since", s)
	return start, err
}

// until parses a date as the end of a period, so that the whole day counts.
func (w *Workspace) until(s string) (time.Time, error) {
	_, end, err := w.period("until", s)
	return end, err
}

// period returns the start and the end of a date. For a span before now, both are the time of its
// beginning.
func (w *Workspace) period(field, s string) (start, end time.Time, err error) {
	if s == "" {
		return start, end, nil
	}
	if d, ok := ParseSpan(s); ok {
		at := w.Time().Add(-d)
		return at, at, nil
	}
	day, err := dayOf(field, s, w.Time())
	return day.After, day.Before, err
}

// SessionIn identifies a session.
type SessionIn struct {
	Session string `json:"session" flag:"-" usage:"Identifier of the session, or how it begins; CLIENT/SESSION is one, too."`
	Last    int    `json:"last,omitempty" usage:"Only the last N turns."`
}

// SessionOut is a session with its turns.
type SessionOut struct {
	session.Summary
	List []session.Turn `json:"list"`

	// Wrote are the newest changes of notes that the session made, newest first.
	Wrote []Change `json:"wrote,omitempty"`
}

// mostWrote is the maximum number of changes that a list shows for a session. mostSearched is
// the maximum number of changes that are searched to find them.
const (
	mostWrote    = 100
	mostSearched = 20_000
)

// wrote returns the changes of notes that a session made, newest first.
func (w *Workspace) wrote(ctx context.Context, a *session.Archive, s session.Summary) ([]Change, error) {
	ctx, m, err := w.Memory(ctx, Own)
	if err != nil {
		return nil, err
	}
	origin, err := a.Origin(ctx, s.Client, s.Session)
	if err != nil {
		return nil, err
	}
	var made []Change
	past, left := pastOf(m), mostSearched
	for c, err := range m.Log(ctx) {
		if errors.Is(err, oxbow.ErrUnsupported) {
			return nil, nil // the memory keeps no history
		}
		if err != nil {
			return nil, err
		}
		left--
		if left < 0 || len(made) == mostWrote || c.Time.Before(s.Start) {
			break
		}
		if origin.Made(c.Source) {
			made = append(made, past.changeOf(ctx, c))
		}
	}
	return made, nil
}

// oneSession returns the session that the name identifies. It returns an error if no session or
// several sessions match.
func oneSession(ctx context.Context, a *session.Archive, name string) (session.Summary, error) {
	found, err := a.Find(ctx, strings.TrimSpace(name))
	switch {
	case err != nil:
		return session.Summary{}, err
	case len(found) == 0:
		return session.Summary{}, Advise(
			&oxbow.NameError{Name: name, Err: errNoSession},
			"oxbow session list shows which there are",
		)
	case len(found) > 1:
		return session.Summary{}, Advise(InvalidValue("session", name, fmt.Sprintf("means %s, such as %s/%s and %s/%s",
			text.Count(len(found), "session", "sessions"), found[0].Client, found[0].Session, found[1].Client,
			found[1].Session)), "write more of it, or CLIENT/SESSION")
	}
	return found[0], nil
}

// noSessionError reports an unknown session. It matches [oxbow.ErrNotFound].
type noSessionError struct{}

func (noSessionError) Error() string        { return "session not found" }
func (noSessionError) Is(target error) bool { return target == oxbow.ErrNotFound }

var errNoSession noSessionError

// ShowSession returns the turns of a session.
func ShowSession(ctx context.Context, w *Workspace, in SessionIn) (out SessionOut, err error) {
	if in.Last < 0 {
		return out, InvalidValue("last", fmt.Sprint(in.Last), "is less than 1")
	}
	ctx, a, err := w.Archive(ctx)
	if err != nil {
		return out, err
	}
	out.Summary, err = oneSession(ctx, a, in.Session)
	if err != nil {
		return out, err
	}
	out.List, err = a.Turns(ctx, out.Client, out.Session)
	if err != nil {
		return out, err
	}
	if in.Last > 0 {
		out.List = out.List[max(0, len(out.List)-in.Last):]
	}
	out.Wrote, err = w.wrote(ctx, a, out.Summary)
	return out, err
}

// SearchSessions finds turns by words, best first.
func SearchSessions(ctx context.Context, w *Workspace, in RecallIn) (RecallOut, error) {
	in.In = inSessions
	return Recall(ctx, w, in)
}

// ResumeIn is the argument of ResumeSession.
type ResumeIn struct {
	Session string `json:"session" flag:"-" usage:"Identifier of the session, or how it begins."`
}

// ResumeOut is the result of ResumeSession.
type ResumeOut struct {
	Client  string `json:"client"`
	Session string `json:"session"`
	Dir     string `json:"dir,omitempty"`
	Command string `json:"command"`
}

// resumes maps a client to the beginning of the command that resumes a session. The session's
// identifier is appended without a space.
var resumes = map[string]string{
	"claude": "claude --resume=", "codex": "codex resume ", "gemini": "gemini --resume=",
	"opencode": "opencode --session=", "copilot": "copilot --resume=", "qwen": "qwen --resume=",
}

// ResumeSession returns the command line with which a client resumes a session.
func ResumeSession(ctx context.Context, w *Workspace, in ResumeIn) (out ResumeOut, err error) {
	ctx, a, err := w.Archive(ctx)
	if err != nil {
		return out, err
	}
	s, err := oneSession(ctx, a, in.Session)
	if err != nil {
		return out, err
	}
	begin, ok := resumes[s.Client]
	if !session.ValidID(s.Session) { // an earlier version of oxbow stored it
		return out, Advise(InvalidValue("session", s.Session, "is no identifier that may be an argument of a client"),
			"oxbow session show "+text.ShellName(s.Client+"/"+s.Session)+" prints what was said")
	}
	if !ok {
		return out, Advise(
			fmt.Errorf("%w: it is not known how %s goes on with a session", oxbow.ErrUnsupported, s.Client),
			"oxbow session show "+text.ShellQuote(s.Client+"/"+s.Session)+" prints what was said",
		)
	}
	out = ResumeOut{Client: s.Client, Session: s.Session, Dir: s.Dir, Command: begin + text.ShellQuote(s.Session)}
	if filepath.IsAbs(s.Dir) { // otherwise the directory is missing, or a shell would resolve it differently
		out.Command = "cd -- " + text.ShellQuote(s.Dir) + " && " + out.Command
	}
	return out, nil
}

// ForgetSessionIn identifies a session to forget.
type ForgetSessionIn struct {
	Session string `json:"session,omitempty" flag:"-" usage:"Identifier of the session, or how it begins."`
	DryRun  bool   `json:"dry_run,omitempty" usage:"Say what would be forgotten, and change nothing."`
	Undo    bool   `json:"undo,omitempty" usage:"Bring back what was forgotten last."`
	Purge   bool   `json:"purge,omitempty" usage:"Erase the archive's history as well: then nothing brings it back."`
}

// ForgetSessionOut is the session that was forgotten or restored.
type ForgetSessionOut struct {
	DryRun  bool   `json:"dry_run,omitempty"`
	Undone  bool   `json:"undone,omitempty"`
	Purged  bool   `json:"purged,omitempty"`
	Client  string `json:"client,omitempty"`
	Session string `json:"session,omitempty"`
	Turns   int    `json:"turns"`
}

// forgetNote is the prefix of the note in a change that forgets a session.
const forgetNote = "forget session "

// ForgetSession removes a session from the archive, or restores the session that was removed last.
func ForgetSession(ctx context.Context, w *Workspace, in ForgetSessionIn) (out ForgetSessionOut, err error) {
	ctx, a, err := w.Archive(ctx)
	if err != nil {
		return out, err
	}
	if in.Undo {
		return undoForget(ctx, a)
	}
	if in.Session == "" {
		return out, Advise(
			InvalidValue("session", "", "is empty; say which"),
			"oxbow session list shows which there are",
		)
	}
	s, err := oneSession(ctx, a, in.Session)
	forgotten := false
	if errors.Is(err, errNoSession) && in.Purge {
		s, err = forgottenSession(ctx, a, in.Session)
		forgotten = true
	}
	if err != nil {
		return out, err
	}
	out = ForgetSessionOut{DryRun: in.DryRun, Client: s.Client, Session: s.Session, Turns: s.Turns}
	if in.DryRun {
		return out, nil
	}
	if in.Purge {
		said := func(yield func(oxbow.Entry, error) bool) { // a session contains text by its person
			yield(oxbow.Entry{Name: s.Client + "/" + s.Session, Source: oxbow.Source{Actor: oxbow.Person}}, nil)
		}
		if err := MayErase(w.Stamped(ctx), "session forget --purge", said); err != nil {
			return out, err
		}
	}
	if !forgotten {
		out.Turns, err = a.Forget(oxbow.WithNote(ctx, forgetNote+s.Client+"/"+s.Session), s.Client, s.Session)
	}
	if c, ok := a.Memory.Store().(oxbow.Compactor); ok && in.Purge && err == nil {
		_, err = c.Compact(ctx, w.Time().Add(time.Second), false)
		out.Purged = err == nil
	}
	return out, err
}

// forgottenSession returns the forgotten session with that name, or whose name begins with it. The
// session is still in the archive's history, because it was not purged yet or the purge was
// interrupted.
func forgottenSession(ctx context.Context, a *session.Archive, name string) (found session.Summary, err error) {
	name = strings.TrimSpace(name)
	for c, err := range a.Memory.Log(ctx) {
		if err != nil {
			return found, err
		}
		of, ok := strings.CutPrefix(c.Note, forgetNote)
		client, id, _ := strings.Cut(of, "/")
		exact := of == name || id == name
		if !ok || (!exact && !strings.HasPrefix(of, name) && !strings.HasPrefix(id, name)) {
			continue
		}
		s := session.Summary{Client: client, Session: id}
		for _, v := range c.Versions {
			turn, ok := strings.CutPrefix(v.Entry.Name, of+"/")
			if ok && strings.Trim(turn, "0123456789") == "" { // count turns only, not the session itself or its pages
				s.Turns++
			}
		}
		if exact {
			return s, nil
		}
		if found.Session != "" && found.Session != id {
			return found, Advise(InvalidValue("session", name, "means several forgotten sessions, such as "+
				found.Client+"/"+found.Session+" and "+of), "write more of it, or CLIENT/SESSION")
		}
		found = s
	}
	if found.Session == "" {
		return found, Advise(
			&oxbow.NameError{Name: name, Err: errNoSession},
			"neither the archive nor its history has such a session, so that nothing of it is left to erase; oxbow "+
				"session list shows which there are",
		)
	}
	return found, nil
}

func undoForget(ctx context.Context, a *session.Archive) (out ForgetSessionOut, err error) {
	reverted := map[uint64]bool{}
	for c, err := range a.Memory.Log(ctx) {
		if err != nil {
			return out, err
		}
		for _, seq := range c.Reverts {
			reverted[seq] = true
		}
		name, ok := strings.CutPrefix(c.Note, forgetNote)
		if !ok || reverted[c.Seq] {
			continue
		}
		if _, err := a.Memory.Revert(ctx, c.Seq); err != nil {
			return out, err
		}
		out.Undone = true
		out.Client, out.Session, _ = strings.Cut(name, "/")
		turns, err := a.Turns(ctx, out.Client, out.Session)
		out.Turns = len(turns)
		return out, err
	}
	return out, Advise(
		fmt.Errorf("%w: nothing was forgotten that is still in the archive's history", errNoSession),
		"oxbow session list shows what there is",
	)
}
