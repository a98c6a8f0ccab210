// This file chooses the memory that a hook shows to a model, and records the shown memory.

package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/hook"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
)

// contextInjector chooses and records the memory that a hook shows to the model of one session.
type contextInjector struct {
	*lazyMemory
	spool         session.Spool
	stateFile     inject.ShownTextsFile
	answeredEvent session.Event // event that the hook answers

	homeDir string // oxbow directory whose memory is shown to the model
	// The home has the directory layout of another memory system, which lacks a directory for hook reports.
	hasNonOxbowLayout bool
}

// withStateDir returns an injector for a home that has the directory layout of another memory system. The parameter
// stateDir is the directory in which the injector stores the session's state. If stateDir is "", the home has oxbow's
// own layout, and the result is t itself.
func (t contextInjector) withStateDir(stateDir string) contextInjector {
	if stateDir == "" {
		return t
	}
	t.hasNonOxbowLayout = true
	t.spool.Dir = filepath.Join(stateDir, session.SpoolDir)
	t.stateFile.Dir = filepath.Join(t.spool.Dir, "shown")
	return t
}

func (mem *lazyMemory) newInjector(home string, e session.Event) contextInjector {
	spool := session.Spool{
		Dir:    filepath.Join(home, session.SpoolDir),
		Redact: mem.secretScreening().Cleaner().CleanText,
	}
	return contextInjector{mem, spool,
		inject.ShownTextsFile{
			Dir:     filepath.Join(spool.Dir, "shown"),
			Client:  e.Client,
			Session: e.Session,
			Now:     mem.env.Now(),
		},
		e, home, false}
}

// answerHookReport processes a hook report and returns the text to return to the client. It answers the start of a
// session and a prompt, unless this is switched off. For any other report the result is nil. Such a report is only
// recorded in the session's state file, for example a compaction.
func (t contextInjector) answerHookReport(ctx context.Context, r hook.CallReport) []byte {
	switch {
	case r.AcceptsContext() && t.isInjectionSwitchedOff():
	case r.AcceptsContext() && r.SessionStartReason != "":
		return t.answerSessionStart(ctx, r)
	case r.AcceptsContext():
		return t.answerPrompt(ctx, r)
	case slices.ContainsFunc(r.Events, func(e session.Event) bool { return e.Kind == session.KindCompact }):
		// After a compaction the model has forgotten earlier texts, so a memory that was shown before may be shown
		// again.
		_ = t.stateFile.RecordCompaction(ctx)
	default:
		// Some clients report the start of a session twice, and only the first report is answered. Record that the
		// client reported something else meanwhile, so that a later start is answered again.
		_ = t.stateFile.RecordReportAfterStart(ctx)
	}
	return nil
}

// isInjectionSwitchedOff reports whether injection is switched off for this session.
func (t contextInjector) isInjectionSwitchedOff() bool {
	home := t.homeDir
	return t.env.Getenv("OXBOW_INJECT") == "off" ||
		t.env.isFeatureSwitchedOff(injection.InjectionOffFile, home, t.answeredEvent.Dir) ||
		t.env.isFeatureSwitchedOff(injection.ClientInjectionOffFile(t.answeredEvent.Client), home, t.answeredEvent.Dir)
}

// isFeatureSwitchedOff reports whether a file with the name switchFileName switches a feature of oxbow off. It searches
// for the file in the directory home, in the project of the session's directory dir, and in the project that contains
// the hook's working directory.
func (env *environment) isFeatureSwitchedOff(switchFileName, home, dir string) bool {
	// Ignore the error: without the working directory, its project is not searched.
	wd, _ := env.absolutePath(".")
	return injection.FindInjectionOffFile(switchFileName, home, dir, wd) != ""
}

// answerSessionStart returns the answer to the start of a session. The answer contains the session's context. The
// result is nil in these cases:
//
//   - There is no context.
//   - The session was resumed, and its conversation still contains the context. (A conversation that was compacted or
//     cleared does not contain the context any more.)
//   - The same start was answered before. The user's hook and the project's hook may both report it.
//   - oxbow cannot record that it showed the context.
func (t contextInjector) answerSessionStart(ctx context.Context, r hook.CallReport) []byte {
	state := t.stateFile.ReadState()
	lost := r.SessionStartReason == "compact" || r.SessionStartReason == "clear"
	if lost {
		state.HasSessionStartBlock, state.Compacted = false, r.SessionStartReason == "compact"
		state.StoredFingerprints = nil
	}
	var b inject.ShownBlock
	if !r.NeedsContextWithFirstPrompt() {
		b = t.memoryBlockForSessionStart(ctx, r.SessionStartReason, state)
	}
	waiting := ""
	if beginsNewConversation(r.SessionStartReason, state) && !r.NeedsContextWithFirstPrompt() {
		waiting = t.findOpenHandoffName(ctx, t.answeredEvent.Dir)
	}
	hasText := b.Text != "" || waiting != ""
	if !hasText && !lost {
		return nil
	}
	if _, first, err := t.stateFile.BeginHookAnswer(ctx, inject.HookEventSessionStart,
		r.SessionStartReason); err != nil ||
		!first {
		return nil
	}
	if waiting != "" {
		b.Text = t.prependHandoff(ctx, b.Text, waiting)
	}
	answer := r.EncodeAnswer(b.Text)
	if answer == nil || !t.recordShownBlock(ctx, inject.HookEventSessionStart, b) {
		return nil
	}
	return answer
}

// beginsNewConversation reports whether a session starts without an earlier conversation.
func beginsNewConversation(startReason string, state inject.SessionShownTexts) bool {
	return !state.HasSessionStartBlock && (startReason == "startup" || startReason == "" || startReason == "clear")
}

// prependHandoff marks the handoff with the given name as taken, and returns the handoff's text followed by
// startContext, the context of a new session. The handoff comes first, so that the whole handoff is shown if the client
// shortens the text. startContext is cut at a paragraph so that the result fits into the client's limit, and omitted if
// almost no space remains. If the handoff cannot be taken, the result is startContext.
//
// A client may have several hooks that run at a session's start. The caller must therefore first record the session's
// start, so that only one of these hooks takes the handoff.
func (t contextInjector) prependHandoff(ctx context.Context, startContext, name string) string {
	taken, _ := t.takeHandoff(ctx, name)
	taken = cutHandoffText(taken, name, maxHandoffBytes)
	if taken == "" {
		return startContext
	}
	room := hook.MaxContextBytes - 100 - len(taken)
	if room < 100 {
		return taken
	}
	return taken + "\n" + cutAtParagraph(startContext, room)
}

// memoryBlockForSessionStart returns the block of memory that the hook shows to the model at the start of a session.
// The argument startReason says how the session started. The block is empty if the conversation already contains an
// earlier block, for example after a fork, which copies the original conversation.
//
// The block leaves out texts that the client stores together with the session's prompts. If a compaction removed an
// earlier block, the new block also describes the agent's work before the compaction.
func (t contextInjector) memoryBlockForSessionStart(
	ctx context.Context,
	startReason string,
	state inject.SessionShownTexts,
) inject.ShownBlock {
	isKnown := state.HasSessionStartBlock && !hook.ForgetsContextOnResume(t.answeredEvent.Client)
	if isKnown || startReason == "fork" {
		return inject.ShownBlock{}
	}
	return runWithTimeout(ctx, t.env.hookTimeLimits().SessionStartContext, func(ctx context.Context) inject.ShownBlock {
		goOn := ""
		if state.Compacted {
			goOn = t.sessionContinuationText(ctx, t.answeredEvent.Client, t.answeredEvent.Session)
		}
		project, _ := findProject(t.answeredEvent.Dir)
		out, err := callVerb(ctx, t.lazyMemory, injection.BuildSessionStartBlock, injection.SessionStartIn{
			Project: project, MaxTokens: inject.MaxSessionStartTokens,
			WithoutHandoff: beginsNewConversation(startReason,
				state),
			ShownSentences: state.StoredFingerprints})
		if err != nil {
			out.ShownBlock = inject.ShownBlock{}
		}
		out.Text += goOn
		return out.ShownBlock
	})
}

// sessionContinuationText returns a text about the earlier work of a session, which the agent needs to continue the
// session. The text is made from the archived turns of the session. If there is nothing to tell, the result is "".
func (mem *lazyMemory) sessionContinuationText(ctx context.Context, client, sessionID string) string {
	archive, err := mem.archiveOpenerAfterSpoolDrain()(ctx)
	if err != nil {
		return ""
	}
	turns, err := archive.ReadTurns(ctx, client, sessionID)
	if err != nil || len(turns) == 0 {
		return ""
	}
	o := handoff.LoadedHandoff{Handoff: handoff.Handoff{Task: handoff.TaskFromTurns(ctx, turns)}}
	if o.Handoff.SessionRecordText == "" {
		return ""
	}
	return "\n" + o.Text()
}

// answerPrompt returns a hook's answer to a prompt. The answer contains a block of text from the memory that helps with
// the prompt. Some clients accept the context for the start of a session only together with a prompt. For such a
// client, the answer begins with a second block, which contains this context and, in a new conversation, the handoff
// that an earlier session left. Each prompt is answered only once. If a block cannot be recorded as shown, it is left
// out.
func (t contextInjector) answerPrompt(ctx context.Context, r hook.CallReport) []byte {
	var state inject.SessionShownTexts
	var first bool
	var err error
	if t.answeredEvent.TurnID != "" {
		state, first, err = t.stateFile.BeginTurn(ctx, t.answeredEvent.TurnID)
	} else {
		state, first, err = t.stateFile.BeginHookAnswer(ctx, inject.HookEventPrompt, computeShortHash(r.Prompt))
	}
	if err != nil || !first {
		return nil
	}
	begins := ""
	if r.NeedsContextWithFirstPrompt() {
		b := t.memoryBlockForSessionStart(ctx, "", state)
		if waiting := t.findOpenHandoffName(ctx, t.answeredEvent.Dir); waiting != "" &&
			beginsNewConversation("", state) {
			b.Text = t.prependHandoff(ctx, b.Text, waiting)
		}
		if b.Text != "" && t.recordShownBlock(ctx, inject.HookEventSessionStart, b) {
			begins, state = b.Text, t.stateFile.ReadState()
		}
	}
	// Do not move hook reports into the archive now, because the client waits for the answer.
	t.isArchiveReadOnly = true
	project, _ := findProject(t.answeredEvent.Dir)
	p := inject.Prompt{Text: r.Prompt, Client: r.Client, Session: t.answeredEvent.Session, Project: project,
		Now: t.env.Now(), ShownTexts: state}
	b := runWithTimeout(ctx, t.env.hookTimeLimits().PromptContext, func(ctx context.Context) inject.ShownBlock {
		choose := t.chooseInjectedBlock
		if choose == nil {
			choose = t.chooseInjection
		}
		b, err := choose(ctx, p)
		if err != nil {
			b.Text = ""
		}
		return b
	})
	if b.Text == "" || !t.recordShownBlock(ctx, inject.HookEventPrompt, b) {
		b.Text = ""
	}
	return r.EncodeAnswer(begins + "\n\n" + b.Text)
}

// memoryBlockForEdit returns the block of memory that the hook shows to the model before an edit of the files, such as
// earlier decisions about these files. If the session's last failed call is known, the block may also be about this
// failure. The block is empty if nothing is found, or if the session has already looked up all of these files and this
// failure. If nothing is found, memoryBlockForEdit records the look-up in the session's state file, so that it is not
// repeated.
func (t contextInjector) memoryBlockForEdit(
	ctx context.Context,
	state inject.SessionShownTexts,
	files []string,
) inject.ShownBlock {
	in := annotations.FindActionHintsIn{
		Failure:              t.spool.LastFailure(t.answeredEvent.Client, t.answeredEvent.Session),
		SearchedFingerprints: state.SentenceFingerprints,
	}
	for _, path := range files {
		name, root := findProject(filepath.Dir(path))
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			in.Project, in.FilesToEdit = name, append(in.FilesToEdit, filepath.ToSlash(rel))
		}
	}
	seen := func(print string) bool { return state.SentenceFingerprints[print] }
	hasNewFailure := in.Failure != "" && !seen("error "+in.Failure)
	hasNewFile := slices.ContainsFunc(in.FilesToEdit, func(f string) bool { return !seen("file " + f) })
	if !hasNewFailure && !hasNewFile {
		return inject.ShownBlock{}
	}
	t.isArchiveReadOnly = true
	out, err := callVerb(ctx, t.lazyMemory, annotations.FindActionHints, in)
	if err != nil {
		return inject.ShownBlock{}
	}
	if out.Text == "" {
		// Ignore the error: if the empty result is not recorded, the look-up for these files is only repeated at their
		// next edit.
		_, _ = t.stateFile.RecordBlock(
			ctx,
			inject.ShownBlock{SentenceFingerprints: out.SentenceFingerprints},
		)
	}
	return out.ShownBlock
}

// recordShownBlock records a block that is about to be shown to the model. It returns false if another process shows
// the same block, or if the block cannot be recorded. The block must then not be shown.
func (t contextInjector) recordShownBlock(ctx context.Context, hookEvent string, b inject.ShownBlock) bool {
	b.HookEvent, b.TokenCount = hookEvent, max(b.TokenCount, text.EstimateTokens(b.Text))
	fresh, err := t.stateFile.RecordBlock(ctx, b)
	if err == nil && !fresh {
		return false
	}
	if t.hasNonOxbowLayout {
		return err == nil
	}
	e := t.answeredEvent
	e.Kind = session.KindInjection
	e.Text = t.newReportCleaner()(b.Text)
	e.Injection = &b.Injection
	e.Call = nil
	if now := t.env.Now(); e.Time.Before(now) {
		e.Time = now
	}
	// The ID contains the time, because a resumed session may be shown the same text again. The two events then have
	// different IDs, even if no prompt was reported between them.
	e.ID = computeShortHash(
		fmt.Sprint(hookEvent, " ", t.stateFile.ReadState().PromptNumber, " ", e.Time.UnixNano(), " ", b.Text),
	)
	return t.spool.AppendEvents(e) == nil && err == nil
}

func computeShortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// runWithTimeout calls fn and returns its result. If fn takes longer than timeout, it returns the zero value.
func runWithTimeout[T any](ctx context.Context, timeout time.Duration, fn func(context.Context) T) (none T) {
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	done := make(chan T, 1)
	go func() { done <- fn(ctx) }()
	select {
	case got := <-done:
		return got
	case <-ctx.Done():
		return none
	}
}
