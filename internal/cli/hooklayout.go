// This file answers hooks in homes that have the layout of another memory system. In such a home, the files are stored
// as that memory system stores them. This file does the work that this memory system would do by itself.

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

// nonOxbowLayoutHook answers one hook report for a home that has the directory layout of another memory system. Such a
// home lacks an archive of sessions. The state that a session's hooks share is in a directory of the user, so that the
// home contains only files that the other memory system writes.
type nonOxbowLayoutHook struct {
	*lazyMemory
	dialect      layout.Dialect
	homeDir      string
	stateDir     string // directory that contains the state of sessions
	profileOfRun string // name of the profile that limits what this run may read and write ("" if no profile does)
	report       hook.CallReport
	firstEvent   session.Event // the report's first event
}

// handleOtherLayoutHook answers a report that a client sends to its hook, if the home has the directory layout of
// another memory system. In any other home, it returns nil. It does what that memory system would do:
//
//   - At the start of a session, it answers with the context that the other system shows to a model.
//   - If the other system searches its memory for each prompt, handleOtherLayoutHook does so and answers with the
//     result.
//   - When a client compacts or ends a session, it stores a summary of the session, if the other system stores a
//     summary on this occasion.
//
// handleOtherLayoutHook also annotates edits.
func (mem *lazyMemory) handleOtherLayoutHook(ctx context.Context, client string) []byte {
	home, err := mem.finder.trustedHome()
	d, other, lerr := mem.finder.detectLayout()
	bound, berr := mem.boundProfileName()
	state, hasState := mem.finder.nonOxbowStateDir()
	if errors.Join(err, lerr, berr) != nil {
		return nil
	}
	if !hasState || !other {
		return nil
	}
	clean := mem.newReportCleaner()
	raw := readHookReport(ctx, mem.env.Stdin)
	copilot := clientfile.HomeDir("copilot", mem.env.userHomeDir(), mem.env.Getenv)
	r := hook.ParseReport(client, raw, hook.ParseEnv{Now: mem.env.Now(), CleanText: clean, CopilotHome: copilot})
	l := nonOxbowLayoutHook{mem, d, home, state, bound, r, session.Event{Client: client}}
	whys := func() []byte {
		return mem.handleEditHook(
			ctx,
			editHookInput{
				home:          home,
				stateDir:      state,
				isTurnTainted: l.hasReadTextWithoutFingerprints,
				report: fileedits.HookInput{
					ClientName: client, Stdin: raw, CopilotHome: copilot, RemoveSecrets: clean},
			},
		)
	}
	if len(r.Events) == 0 {
		return whys()
	}
	l.firstEvent = r.Events[0]
	if mem.env.isFeatureSwitchedOff(injection.HooksOffFile, home, l.firstEvent.Dir) {
		return nil
	}
	if os.MkdirAll(filepath.Join(state, session.SpoolDir), 0o700) != nil {
		return nil
	}
	// Ignore the returned function, which would label notes. A home of another layout contains no entries that it
	// could label.
	mem.recordCallOrigin(state, &l.report, clean)
	if err := l.appendNotes(); err != nil {
		maintenance.HookFailure{Client: client, Error: err.Error(), Time: mem.env.Now()}.Save(state)
	}
	answer := l.answerHookReport(ctx)
	l.storeSessionSummary(ctx)
	return append(answer, whys()...)
}

// answerHookReport returns the answer to a client's hook report. At the start of a session, this is the context that
// the layout's memory system shows to a model. For a prompt, it is the text that this memory system recalls.
func (l nonOxbowLayoutHook) answerHookReport(ctx context.Context) []byte {
	in := contextInjector{lazyMemory: l.lazyMemory, answeredEvent: l.firstEvent, homeDir: l.homeDir}
	if !l.report.AcceptsContext() || in.isInjectionSwitchedOff() {
		return nil
	}
	file := inject.ShownTextsFile{
		Dir:     filepath.Join(l.stateDir, session.SpoolDir, "shown"),
		Client:  l.firstEvent.Client,
		Session: l.firstEvent.Session,
		Now:     l.env.Now(),
	}
	if l.report.SessionStartReason != "" && l.report.NeedsContextWithFirstPrompt() {
		return nil // Do not answer, because this client gets the context together with the answer to the first prompt.
	}
	recalled, started := "", ""
	if l.report.Prompt != "" && l.profileOfRun == "" {
		recalled = runWithTimeout(ctx, l.env.hookTimeLimits().PromptContext, l.recallForPrompt)
	}
	if l.report.SessionStartReason != "" || l.report.NeedsContextWithFirstPrompt() {
		started = l.sessionStartContext(ctx, file, maxAnswerBytes-len(recalled))
	}
	return l.report.EncodeAnswer(started + "\n\n" + recalled)
}

// maxAnswerBytes is the maximum size of an answer without tags, in bytes. maxRecallBytes is half as large, so that the
// answer to the first prompt can also contain the session's context.
const (
	maxAnswerBytes = hook.MaxContextBytes - 100
	maxRecallBytes = maxAnswerBytes / 2
)

// sessionStartContext returns the context that the model gets at the start of a session, with at most maxBytes bytes.
// It returns "" if the model has the context already. The context may contain a handoff, the notes that an earlier
// session left for the next session. The start is recorded before the handoff is taken, so that only one of a client's
// hooks answers.
func (l nonOxbowLayoutHook) sessionStartContext(ctx context.Context, file inject.ShownTextsFile, maxBytes int) string {
	source := l.report.SessionStartReason
	state := file.ReadState()
	isLost := source == "compact" || source == "clear" || hook.ForgetsContextOnResume(l.firstEvent.Client)
	isKnown := state.HasSessionStartBlock && !isLost
	if isKnown || source == "fork" {
		return ""
	}
	if _, first, err := file.BeginHookAnswer(ctx, inject.HookEventSessionStart, source); err != nil || !first {
		return ""
	}
	text := l.sessionStartText(ctx, beginsNewConversation(source, state), maxBytes)
	if text == "" {
		return ""
	}
	if _, err := file.RecordBlock(
		ctx,
		inject.ShownBlock{Injection: session.Injection{HookEvent: inject.HookEventSessionStart,
			TokenCount: prompt.EstimateTokens(text)}},
	); err != nil {
		return ""
	}
	return text
}

// minHomeContextBytes is the number of bytes that are reserved for the home's context, which is the text that a model
// always sees. A long handoff from an earlier session is shortened so that this part of the context is kept.
const minHomeContextBytes = 3500

// sessionStartText returns the text that a model gets at the start of a session, with at most maxBytes bytes. The text
// is the context that the home (the directory with the memory) contains for every session. If a part of the context is
// suspicious, the text begins with a warning.
//
// A handoff is a note for a later session. If isNewSession is true and there is an open handoff for the session's
// project, or for no particular project, sessionStartText marks it as taken, so that no other session gets it. It then
// appends the text of the handoff to the home's context. If the profile that the handoff names has selected entries,
// the result is only the text of the handoff, which contains these entries.
func (l nonOxbowLayoutHook) sessionStartText(ctx context.Context, isNewSession bool, maxBytes int) string {
	handoff, name := "", ""
	replaces := false
	if isNewSession && l.dialect.Handoffs {
		name = l.findOpenHandoffName(ctx, l.firstEvent.Dir)
	}
	if name != "" {
		handoff, replaces = l.takeHandoff(ctx, name)
	}
	if replaces {
		return cutHandoffText(handoff, name, maxBytes)
	}
	c, err := l.homeContext(ctx)
	if err != nil {
		return cutHandoffText(handoff, name, maxBytes)
	}
	caution := layout.Caution(c, l.finder.isRepeatOfForeignText)
	if handoff != "" {
		room := maxBytes - min(len(caution)+len(c.Text()), minHomeContextBytes)
		handoff = "\n\n" + cutHandoffText(handoff, name, room-2)
	}
	maxBytes -= len(handoff) + len(caution)
	return caution + c.TextWithin(maxBytes, "All of it: oxbow context, or the resource memory://context.") + handoff
}

// homeContext returns the context of the home, which is the text that the memory system shows to a model. If this run
// is limited to a profile (profileOfRun), the context contains only what the profile allows.
func (l nonOxbowLayoutHook) homeContext(ctx context.Context) (prompt.Context, error) {
	h, err := l.openHomeWithProfile()
	if err != nil {
		return prompt.Context{}, err
	}
	return h.Context(ctx, layout.Request{})
}

// openHomeWithProfile opens the home. If the run is limited to a profile (profileOfRun), the opened home contains only
// what the profile selects. If the layout does not support profiles, openHomeWithProfile then returns an error.
func (l nonOxbowLayoutHook) openHomeWithProfile() (layout.Home, error) {
	h, err := l.openHome(l.dialect, readWithoutTeamAccess)
	if err != nil || l.profileOfRun == "" {
		return h, err
	}
	p, ok := h.(layout.Profiler)
	if !ok {
		return nil, fmt.Errorf("%s has no profiles", l.dialect.Name)
	}
	return p.WithProfile(l.profileOfRun)
}

// recallForPrompt returns the text that is recalled for the prompt from a home in another program's layout, according
// to the rules of this layout. If the text seems to repeat text by others or to contain instructions, it begins with a
// line that warns of this. The text has at most maxRecallBytes bytes. If an error occurs, the result is "".
func (l nonOxbowLayoutHook) recallForPrompt(ctx context.Context) string {
	h, err := l.openHome(l.dialect, readWithoutTeamAccess)
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
	if why := screen.FindWarningReason(l.finder.isRepeatOfForeignText, c.RoleText(prompt.RoleUser)); why != "" {
		caution = verb.CautionLine(why)
	}
	c.Parts = slices.DeleteFunc(c.Parts, func(p prompt.Part) bool { return p.Role != prompt.RoleUser })
	text := c.TextWithin(maxRecallBytes-len(caution), "All of it: the memory's tools.")
	if text == "" {
		return ""
	}
	return caution + text
}

// maxSummaryBytes is the maximum size of a stored summary in bytes.
const maxSummaryBytes = 64 << 10

// storesSummaryOnEvent reports whether the memory system of the home's layout stores a summary of the session when the
// event e happens. The result is always false for an event of a sub-agent.
func (l nonOxbowLayoutHook) storesSummaryOnEvent(e session.Event) bool {
	if e.SubAgent != "" {
		return false
	}
	switch l.dialect.Summaries {
	case layout.SummaryAtCompaction:
		return e.Kind == session.KindCompact
	case layout.SummaryAtEnd:
		return e.Kind == session.KindSessionEnd
	}
	return false
}

// summaryLayoutNames returns the names of some layouts, joined to a phrase for the help text. These are the
// layouts whose memory system stores a session's summary on this occasion.
func summaryLayoutNames(occasion layout.SummaryTime) string {
	return matchingLayoutNames(func(d layout.Dialect) bool { return d.Summaries == occasion })
}

// storeSessionSummary stores a summary of the session for each event in l.report at which the memory system of the
// home's layout stores a summary. If the event is a compaction of the conversation, its text is the summary, because
// the client reports the summary with the event. If the event is the end of the session, the summary is the agent's
// last message. At the end of the session, storeSessionSummary also deletes the notes that the hooks have written about
// the session. If a summary cannot be stored, it saves the error as a HookFailure and returns.
func (l nonOxbowLayoutHook) storeSessionSummary(ctx context.Context) {
	for _, e := range l.report.Events {
		notes := l.readSessionNotes()
		isEnd := e.Kind == session.KindSessionEnd
		if l.storesSummaryOnEvent(e) {
			summary := e.Text
			if isEnd {
				summary = notes.lastMessage
			}
			if err := l.writeSessionSummary(ctx, summary, notes, isEnd); err != nil {
				maintenance.HookFailure{Client: l.firstEvent.Client, Error: "keeping the summary: " +
					err.Error(), Time: l.env.Now()}.Save(l.stateDir)
				// Keep the session's notes, because they are needed again if the client reports the session's end
				// again.
				return
			}
		}
		if isEnd {
			_ = os.Remove(l.notesFile())
		}
	}
}

// writeSessionSummary stores the summary of a session in a home that has the layout of another memory system. It stores
// the summary in the same way as the other system. isSessionEnd is true if the session has ended, and false if it was
// compacted. If the session has read text by others, the summary begins with a line that reports this, because these
// layouts lack labels for entries. An empty summary is not stored.
func (l nonOxbowLayoutHook) writeSessionSummary(
	ctx context.Context,
	summary string,
	notes sessionNotes,
	isSessionEnd bool,
) error {
	summary = strings.TrimSpace(l.newReportCleaner()(strings.ToValidUTF8(summary, "�")))
	if summary == "" {
		return nil
	}
	if len(summary) > maxSummaryBytes {
		summary = prompt.FitParagraphs(summary, func(s string) bool { return len(s) <= maxSummaryBytes })
	}
	if len(notes.foreignTextToolCalls) > 0 {
		summary = "(This session read what others wrote: " + strings.Join(
			notes.foreignTextToolCalls,
			"; ",
		) + ". " + session.TaintWarning +
			".)\n" + summary
	}
	h, err := l.openHomeToWrite()
	if err != nil {
		return err
	}
	src, err := l.sourceOfChanges()
	if err != nil {
		return err
	}
	caller := session.Caller{Client: l.firstEvent.Client, Session: l.firstEvent.Session}
	src.Actor, src.Ref = oxbow.Agent, caller.SourceRef()
	ctx = oxbow.WithSource(ctx, src)
	s, err := h.Session(ctx, layout.Request{Message: notes.firstPrompt})
	if err != nil {
		return err
	}
	if isSessionEnd {
		return s.End(ctx, summary)
	}
	_, _, err = s.Compact(ctx, summary)
	return err
}

// openHomeToWrite opens the home for writing. A home that this run has opened for reading is not used any more.
func (l nonOxbowLayoutHook) openHomeToWrite() (layout.Home, error) {
	l.otherLayoutHome = nil
	return l.openHome(l.dialect, writeAccess)
}

// sessionNotes is the content of the file in which hooks keep notes about a session.
type sessionNotes struct {
	firstPrompt          string   // the session's first prompt, on one line
	lastMessage          string   // the agent's last message
	foreignTextToolCalls []string // tool calls that returned foreign text, which neither the agent nor the person wrote
	// those calls in foreignTextToolCalls since the last prompt whose returned text has no stored fingerprints
	toolCallsWithoutFingerprints []string
}

// sessionNoteLine is a line in the file with a session's notes. It is encoded as JSON.
type sessionNoteLine struct {
	Prompt      string `json:"prompt,omitempty"`
	LastMessage string `json:"last,omitempty"`
	// tool call that returned foreign text, which neither the agent nor the person wrote
	ForeignTextCall string `json:"taint,omitempty"`

	// IsUnfingerprinted is set if no fingerprints of the text were stored. Everything that the agent writes later in
	// the turn is then assumed to repeat the text.
	IsUnfingerprinted bool `json:"untraced,omitempty"`
}

// These limits apply to a session's notes.
const (
	maxNotesBytes       = 4 << 20 // maximum number of bytes that are read at the end of the file with the notes
	maxForeignTexts     = 8
	maxFirstPromptBytes = 200 // maximum size of the first prompt in bytes
)

func (l nonOxbowLayoutHook) notesFile() string {
	sum := sha256.Sum256([]byte(l.firstEvent.Client + " " + l.firstEvent.Session))
	return filepath.Join(l.stateDir, session.SpoolDir, "session-"+hex.EncodeToString(sum[:12]))
}

// appendNotes adds the new facts in this report to the end of the file that contains the session's notes. These facts
// are the prompt, the agent's last message, and the calls that read text by others.
func (l nonOxbowLayoutHook) appendNotes() error {
	var lines []sessionNoteLine
	if l.report.Prompt != "" {
		lines = append(
			lines,
			sessionNoteLine{
				Prompt: text.TruncateWithEllipsis(inject.JoinToOneLine(l.report.Prompt), maxFirstPromptBytes),
			},
		)
	}
	for _, e := range l.report.Events {
		isMessage := e.Kind == session.KindText && e.SubAgent == ""
		if isMessage && l.dialect.Summaries == layout.SummaryAtEnd {
			lines = append(lines, sessionNoteLine{LastMessage: e.Text[:min(len(e.Text), maxSummaryBytes)]})
		}
	}
	turn := session.Turn{Events: l.report.Events}
	untraced := turn.DescribeTaintingCalls()
	for _, t := range turn.ForeignTextCalls() {
		lines = append(lines, sessionNoteLine{ForeignTextCall: t, IsUnfingerprinted: slices.Contains(untraced, t)})
	}
	if err := l.spoolAgentText(); err != nil {
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

// spoolAgentText appends the report's events, such as texts by the agent, to the session's spool file, if the client is
// opencode. At the end of the session, it removes this file. The file is necessary because opencode does not write a
// transcript, and an annotation needs the text that the agent wrote before an edit.
func (l nonOxbowLayoutHook) spoolAgentText() error {
	if l.firstEvent.Client != "opencode" {
		return nil
	}
	spool := session.Spool{
		Dir:    filepath.Join(l.stateDir, session.SpoolDir),
		Redact: l.secretScreening().Cleaner().CleanText,
	}
	for _, e := range l.report.Events {
		if e.Kind == session.KindSessionEnd {
			_ = os.Remove(spool.FilePath(l.firstEvent.Client, l.firstEvent.Session))
			return nil
		}
	}
	return spool.AppendEvents(l.report.Events...)
}

// readSessionNotes reads the session's notes. It skips lines that are not valid JSON, such as an incomplete last line.
func (l nonOxbowLayoutHook) readSessionNotes() (n sessionNotes) {
	f, err := os.Open(l.notesFile())
	if err != nil {
		return n
	}
	defer f.Close()
	if fi, err := f.Stat(); err == nil && fi.Size() > maxNotesBytes {
		_, _ = f.Seek(-maxNotesBytes, io.SeekEnd)
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxNotesBytes)
	for lines.Scan() {
		var line sessionNoteLine
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		if line.Prompt != "" {
			n.firstPrompt, n.toolCallsWithoutFingerprints = cmp.Or(n.firstPrompt, line.Prompt), nil
		}
		n.lastMessage = cmp.Or(line.LastMessage, n.lastMessage)
		if line.ForeignTextCall != "" {
			if line.IsUnfingerprinted {
				n.toolCallsWithoutFingerprints = append(n.toolCallsWithoutFingerprints, line.ForeignTextCall)
			}
			if !slices.Contains(n.foreignTextToolCalls, line.ForeignTextCall) &&
				len(n.foreignTextToolCalls) < maxForeignTexts {
				n.foreignTextToolCalls = append(n.foreignTextToolCalls, line.ForeignTextCall)
			}
		}
	}
	return n
}

// hasReadTextWithoutFingerprints reports whether the agent has read text by others since the last prompt, and no
// fingerprints of this text were stored. Copies of such a text cannot be recognized. The parameters client and id
// identify the session.
func (l nonOxbowLayoutHook) hasReadTextWithoutFingerprints(client, id string) bool {
	l.firstEvent = session.Event{Client: client, Session: id}
	return len(l.readSessionNotes().toolCallsWithoutFingerprints) > 0
}

// These limits apply to one call of a hook.
const (
	maxReportBytes = 64 << 20 // maximum size of a report in bytes
	reportTimeout  = 3 * time.Second
)

// readHookReport returns the whole standard input. It returns nil if the input has more than maxReportBytes bytes, or
// does not end within reportTimeout.
func readHookReport(ctx context.Context, in io.Reader) []byte {
	done := make(chan []byte, 1)
	go func() {
		b, err := io.ReadAll(io.LimitReader(in, maxReportBytes+1))
		if err != nil || len(b) > maxReportBytes {
			b = nil
		}
		done <- b
	}()
	select {
	case b := <-done:
		return b
	case <-time.After(reportTimeout):
	case <-ctx.Done():
	}
	return nil
}
