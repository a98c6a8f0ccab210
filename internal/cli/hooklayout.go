// This file answers hooks in homes of other layouts. It performs the steps that the layout's own
// system performs by itself.

package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/fileedits"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/hook"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/layout"
)

// layoutHook answers one report in a home of another layout. Such a home has no archive of
// sessions. The state that the hooks of a session share is kept in a directory of the user, so
// that the home contains only files that its own system writes.
type layoutHook struct {
	*openMemory
	dialect layout.Dialect
	home    string
	state   string // directory for the state of sessions
	bound   string // name of the profile that binds the run
	report  hook.Report
	event   session.Event // first event of the report
}

// hookLayout answers a report in a home of another layout. At the start of a session it returns
// the context that the layout's system puts before a model. It answers prompts if that system
// recalls by itself. It stores compaction summaries and the end of a session as that system does.
// Edits become annotations.
func (mem *openMemory) hookLayout(ctx context.Context, client string) []byte {
	home, err := mem.finder.trustedHome()
	d, other, lerr := mem.finder.layout()
	bound, berr := mem.boundName()
	state, hasState := mem.finder.layoutState()
	if errors.Join(err, lerr, berr) != nil {
		return nil
	}
	if !hasState || !other {
		return nil
	}
	clean := mem.cleanReport()
	raw := readReport(ctx, mem.env.Stdin)
	copilot := clientfile.Home("copilot", mem.env.userHome(), mem.env.Getenv)
	r := hook.Read(client, raw, hook.Env{Now: mem.env.Now(), Clean: clean, CopilotHome: copilot})
	l := layoutHook{mem, d, home, state, bound, r, session.Event{Client: client}}
	whys := func() []byte {
		return mem.hookWhys(ctx, whysIn{home: home, state: state, tainted: l.isTurnTainted, report: fileedits.Report{
			Client: client, Raw: raw, CopilotHome: copilot, Clean: clean}})
	}
	if len(r.Events) == 0 {
		return whys()
	}
	l.event = r.Events[0]
	if mem.env.offBy(injection.HooksOff, home, l.event.Dir) {
		return nil
	}
	if os.MkdirAll(filepath.Join(state, session.SpoolDir), 0o700) != nil {
		return nil
	}
	mem.traceCall(state, &l.report, clean) // such a home has no entries that could be marked
	if err := l.appendNotes(); err != nil {
		maintenance.HookFailure{Client: client, Error: err.Error(), Time: mem.env.Now()}.Record(state)
	}
	answer := l.answer(ctx)
	l.storeSummary(ctx)
	return append(answer, whys()...)
}

// answer returns the answer for the client: at the start of a session the context that the
// layout's system puts before a model, and for a prompt the text that this system recalls.
func (l layoutHook) answer(ctx context.Context) []byte {
	in := injector{openMemory: l.openMemory, event: l.event, home: l.home}
	if !l.report.AcceptsContext() || in.isOff() {
		return nil
	}
	file := inject.StateFile{
		Dir:     filepath.Join(l.state, session.SpoolDir, "shown"),
		Client:  l.event.Client,
		Session: l.event.Session,
		Now:     l.env.Now(),
	}
	if l.report.Source != "" && l.report.StartsLate() {
		return nil // the start is answered with the first prompt
	}
	recalled, started := "", ""
	if l.report.Prompt != "" && l.bound == "" {
		recalled = inTime(ctx, l.env.hookWaits().Prompt, l.recall)
	}
	if l.report.Source != "" || l.report.StartsLate() {
		started = l.startContext(ctx, file, maxAnswer-len(recalled))
	}
	return l.report.Answer(started + "\n\n" + recalled)
}

// maxAnswer is the maximum size of an answer without the tags around it, in bytes. Recalled
// texts take at most half the room, so that the answer to the first prompt can also contain the
// session's start context.
const (
	maxAnswer = hook.MaxContext - 100
	maxRecall = maxAnswer / 2
)

// startContext returns the context for the start of a session, or "" if the model has it already. The
// state is recorded before a handoff is taken, so that only one of a client's hooks answers. The
// text has at most limit bytes.
func (l layoutHook) startContext(ctx context.Context, file inject.StateFile, limit int) string {
	source := l.report.Source
	state := file.State()
	isLost := source == "compact" || source == "clear" || hook.ForgetsStart(l.event.Client)
	isKnown := state.HasStart && !isLost
	if isKnown || source == "fork" {
		return ""
	}
	if _, first, err := file.Begin(ctx, inject.AtStart, source); err != nil || !first {
		return ""
	}
	text := l.startText(ctx, isNewSession(source, state), limit)
	if text == "" {
		return ""
	}
	if _, err := file.Add(
		ctx,
		inject.Block{Injection: session.Injection{Place: inject.AtStart, Tokens: prompt.EstimateTokens(text)}},
	); err != nil {
		return ""
	}
	return text
}

// minContext is the size up to which the context of a home is kept if a handoff is long, in bytes.
const minContext = 3500

// startText returns the context of the home in at most limit bytes. For a new session, it also
// takes the open handoff and appends the handoff's text. If a memory profile of the handoff selects
// memory, the handoff's text replaces the context, as in a session that is bound to the profile.
func (l layoutHook) startText(ctx context.Context, isNew bool, limit int) string {
	handoff, name := "", ""
	replaces := false
	if isNew && l.dialect.Handoffs {
		name = l.waitingHandoff(ctx, l.event.Dir)
	}
	if name != "" {
		handoff, replaces = l.takeHandoffNamed(ctx, name)
	}
	if replaces {
		return fitHandoff(handoff, name, limit)
	}
	c, err := l.homeContext(ctx)
	if err != nil {
		return fitHandoff(handoff, name, limit)
	}
	caution := layout.Caution(c, l.finder.repeatsOthers)
	if handoff != "" {
		room := limit - min(len(caution)+len(c.Text()), minContext)
		handoff = "\n\n" + fitHandoff(handoff, name, room-2)
	}
	limit -= len(handoff) + len(caution)
	return caution + c.TextWithin(limit, "All of it: oxbow context, or the resource memory://context.") + handoff
}

// homeContext returns the context of the home, restricted by the profile that binds the run.
func (l layoutHook) homeContext(ctx context.Context) (prompt.Context, error) {
	h, err := l.contextHome()
	if err != nil {
		return prompt.Context{}, err
	}
	return h.Context(ctx, layout.Request{})
}

// contextHome opens the home, restricted by the profile that binds the run.
func (l layoutHook) contextHome() (layout.Home, error) {
	h, err := l.openHome(l.dialect, look)
	if err != nil || l.bound == "" {
		return h, err
	}
	p, ok := h.(layout.Profiler)
	if !ok {
		return nil, fmt.Errorf("%s has no profiles", l.dialect.Name)
	}
	return p.WithProfile(l.bound)
}

// recall returns the text that the layout's system recalls for the prompt, in at most maxRecall bytes.
// It returns "" after an error.
func (l layoutHook) recall(ctx context.Context) string {
	h, err := l.openHome(l.dialect, look)
	if err != nil {
		return ""
	}
	s, err := h.Session(ctx, layout.Request{})
	if err != nil {
		return ""
	}
	c, err := s.BeforeTurn(ctx, l.report.Prompt)
	if err != nil {
		return ""
	}
	caution := ""
	if why := screen.Doubt(l.finder.repeatsOthers, c.RoleText(prompt.User)); why != "" {
		caution = verb.CautionLine(why)
	}
	c.Parts = slices.DeleteFunc(c.Parts, func(p prompt.Part) bool { return p.Role != prompt.User })
	text := c.TextWithin(maxRecall-len(caution), "All of it: the memory's tools.")
	if text == "" {
		return ""
	}
	return caution + text
}

// keepsSummaries has an entry for each layout whose system stores summaries by itself. The value is
// the event at which the system stores a summary: crabtalk when it compacts a conversation, clawft
// when a conversation ends.
var keepsSummaries = map[string]session.Kind{"crabtalk": session.Compact, "clawft": session.End}

// maxSummary is the maximum size of a stored summary, in bytes.
const maxSummary = 64 << 10

// storeSummary stores the client's own compaction summary, or the last message of a session that ends,
// if the layout's system stores such a text.
func (l layoutHook) storeSummary(ctx context.Context) {
	for _, e := range l.report.Events {
		notes := l.readNotes()
		isEnd := e.Kind == session.End
		kind, ok := keepsSummaries[l.dialect.Name]
		isSummary := ok && kind == e.Kind
		if isSummary && e.Agent == "" {
			summary := e.Text
			if isEnd {
				summary = notes.last
			}
			if err := l.keepSummary(ctx, summary, notes, isEnd); err != nil {
				maintenance.HookFailure{Client: l.event.Client, Error: "keeping the summary: " +
					err.Error(), Time: l.env.Now()}.Record(l.state)
				return // keep the notes, because the client may report the end again
			}
		}
		if isEnd {
			_ = os.Remove(l.notesFile())
		}
	}
}

// keepSummary writes a summary as the layout's own session does. If the session read text that
// others wrote, the first line of the summary says so, because the layouts cannot mark entries.
func (l layoutHook) keepSummary(ctx context.Context, summary string, notes sessionNotes, isEnd bool) error {
	summary = strings.TrimSpace(l.cleanReport()(strings.ToValidUTF8(summary, "�")))
	if summary == "" {
		return nil
	}
	if len(summary) > maxSummary {
		summary = prompt.FitParagraphs(summary, func(s string) bool { return len(s) <= maxSummary })
	}
	if len(notes.taints) > 0 {
		summary = "(This session read what others wrote: " + strings.Join(notes.taints, "; ") + ". " + session.Warned +
			".)\n" + summary
	}
	h, err := l.openHomeToWrite()
	if err != nil {
		return err
	}
	src, err := l.source()
	if err != nil {
		return err
	}
	caller := session.Caller{Client: l.event.Client, Session: l.event.Session}
	src.Actor, src.Ref = oxbow.Agent, caller.Ref()
	ctx = oxbow.WithSource(ctx, src)
	s, err := h.Session(ctx, layout.Request{Message: notes.first})
	if err != nil {
		return err
	}
	if isEnd {
		return s.End(ctx, summary)
	}
	_, _, err = s.Compact(ctx, summary)
	return err
}

// openHomeToWrite opens the home for writing. It forgets a home that this run may have opened for
// reading.
func (l layoutHook) openHomeToWrite() (layout.Home, error) {
	l.opened = nil
	return l.openHome(l.dialect, change)
}

// sessionNotes is the content of a session's notes file, which hooks write.
type sessionNotes struct {
	first  string   // the first prompt, on one line
	last   string   // the last message of the agent
	taints []string // texts of others that the session read
	turn   []string // such texts read since the last prompt and without fingerprints
}

// noteLine is a line of a session's notes file, encoded as JSON.
type noteLine struct {
	Prompt string `json:"prompt,omitempty"`
	Last   string `json:"last,omitempty"`
	Taint  string `json:"taint,omitempty"` // a call that returned text of others

	// Untraced reports whether no fingerprints of the text were kept. All that the agent writes
	// in the same turn is then assumed to repeat the text.
	Untraced bool `json:"untraced,omitempty"`
}

// Limits of a session's notes.
const (
	maxNotes    = 4 << 20 // bytes; of a longer file only the end is read
	maxTaints   = 8
	firstPrompt = 200 // bytes
)

func (l layoutHook) notesFile() string {
	sum := sha256.Sum256([]byte(l.event.Client + " " + l.event.Session))
	return filepath.Join(l.state, session.SpoolDir, "session-"+hex.EncodeToString(sum[:12]))
}

// appendNotes appends the notes of this report to the file.
func (l layoutHook) appendNotes() error {
	var lines []noteLine
	if l.report.Prompt != "" {
		lines = append(lines, noteLine{Prompt: text.Clip(inject.OneLine(l.report.Prompt), firstPrompt)})
	}
	for _, e := range l.report.Events {
		isMessage := e.Kind == session.Text && e.Agent == ""
		if isMessage && keepsSummaries[l.dialect.Name] == session.End {
			lines = append(lines, noteLine{Last: e.Text[:min(len(e.Text), maxSummary)]})
		}
	}
	turn := session.Turn{Events: l.report.Events}
	untraced := turn.FindTaints()
	for _, t := range turn.ReadsOfForeign() {
		lines = append(lines, noteLine{Taint: t, Untraced: slices.Contains(untraced, t)})
	}
	if err := l.noteReasoning(); err != nil {
		return err
	}
	if len(lines) == 0 {
		return nil
	}
	var b bytes.Buffer
	for _, line := range lines {
		if err := json.NewEncoder(&b).Encode(line); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(l.notesFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	return cmp.Or(err, f.Close())
}

// noteReasoning stores the texts of opencode's agent until the session ends. This client has no
// transcript, and an annotation of an edit needs the text before the edit.
func (l layoutHook) noteReasoning() error {
	if l.event.Client != "opencode" {
		return nil
	}
	spool := session.Spool{Dir: filepath.Join(l.state, session.SpoolDir), Redact: l.screening().Cleaner().Text}
	for _, e := range l.report.Events {
		if e.Kind == session.End {
			_ = os.Remove(spool.File(l.event.Client, l.event.Session))
			return nil
		}
	}
	return spool.Append(l.report.Events...)
}

// readNotes reads the notes of the session. It skips lines that are not valid JSON, such as an
// incomplete last line.
func (l layoutHook) readNotes() (n sessionNotes) {
	f, err := os.Open(l.notesFile())
	if err != nil {
		return n
	}
	defer f.Close()
	if fi, err := f.Stat(); err == nil && fi.Size() > maxNotes {
		_, _ = f.Seek(-maxNotes, io.SeekEnd)
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxNotes)
	for lines.Scan() {
		var line noteLine
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		if line.Prompt != "" {
			n.first, n.turn = cmp.Or(n.first, line.Prompt), nil
		}
		n.last = cmp.Or(line.Last, n.last)
		if line.Taint != "" {
			if line.Untraced {
				n.turn = append(n.turn, line.Taint)
			}
			if !slices.Contains(n.taints, line.Taint) && len(n.taints) < maxTaints {
				n.taints = append(n.taints, line.Taint)
			}
		}
	}
	return n
}

// isTurnTainted reports whether the agent has read foreign text since the last prompt without
// its fingerprints being stored.
func (l layoutHook) isTurnTainted(client, id string) bool {
	l.event = session.Event{Client: client, Session: id}
	return len(l.readNotes().turn) > 0
}

// Limits of one hook call.
const (
	maxReport  = 64 << 20 // bytes
	reportWait = 3 * time.Second
)

// readReport returns all of standard input. It returns nil if the input is longer than maxReport
// bytes or does not end within reportWait.
func readReport(ctx context.Context, in io.Reader) []byte {
	done := make(chan []byte, 1)
	go func() {
		b, err := io.ReadAll(io.LimitReader(in, maxReport+1))
		if err != nil || len(b) > maxReport {
			b = nil
		}
		done <- b
	}()
	select {
	case b := <-done:
		return b
	case <-time.After(reportWait):
	case <-ctx.Done():
	}
	return nil
}
