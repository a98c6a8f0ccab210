// This file chooses the memory that a hook puts before a model, and records it.

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

// injector puts memory before the model of one session, and records it.
type injector struct {
	*openMemory
	spool session.Spool
	state inject.StateFile
	event session.Event // event that is answered

	home     string // home of the memory
	isLayout bool   // the home has another layout, so nothing is spooled
}

// inLayout returns an injector for a home of another layout, whose session state is in the
// directory state. If state is "", the home has oxbow's own layout and t is returned unchanged.
func (t injector) inLayout(state string) injector {
	if state == "" {
		return t
	}
	t.isLayout = true
	t.spool.Dir = filepath.Join(state, session.SpoolDir)
	t.state.Dir = filepath.Join(t.spool.Dir, "shown")
	return t
}

func (mem *openMemory) injector(home string, e session.Event) injector {
	spool := session.Spool{Dir: filepath.Join(home, session.SpoolDir), Redact: mem.screening().Cleaner().Text}
	return injector{mem, spool,
		inject.StateFile{
			Dir:     filepath.Join(spool.Dir, "shown"),
			Client:  e.Client,
			Session: e.Session,
			Now:     mem.env.Now(),
		},
		e, home, false}
}

// answer returns the answer to a report, or nil for no answer.
func (t injector) answer(ctx context.Context, r hook.Report) []byte {
	switch {
	case r.AcceptsContext() && t.isOff():
	case r.AcceptsContext() && r.Source != "":
		return t.answerStart(ctx, r)
	case r.AcceptsContext():
		return t.prompt(ctx, r)
	case slices.ContainsFunc(r.Events, func(e session.Event) bool { return e.Kind == session.Compact }):
		_ = t.state.RecordCompaction(ctx) // so that a sentence may be shown again
	default:
		_ = t.state.Past(ctx) // so that a start that follows at once is answered only once
	}
	return nil
}

// isOff reports whether injection is switched off for this session.
func (t injector) isOff() bool {
	home := t.home
	return t.env.Getenv("OXBOW_INJECT") == "off" || t.env.offBy(injection.InjectOff, home, t.event.Dir) ||
		t.env.offBy(injection.InjectOffFor(t.event.Client), home, t.event.Dir)
}

// offBy reports whether a file with the given name switches a function off. It looks in the home,
// in the project that contains the session's directory, and in the project that contains the
// hook's working directory.
func (env *environment) offBy(name, home, dir string) bool {
	wd, _ := env.absolutePath(".") // if this fails, only the session's directory counts
	return injection.OffBy(name, home, dir, wd) != ""
}

// answerStart answers the start of a session. The start may be reported twice, by the user's hooks and
// the project's hooks. A resumed session still has the context from its beginning, unless the
// client has compacted or cleared the conversation since. Context that cannot be recorded is not
// shown.
func (t injector) answerStart(ctx context.Context, r hook.Report) []byte {
	state := t.state.State()
	lost := r.Source == "compact" || r.Source == "clear"
	if lost {
		state.HasStart, state.Compacted = false, r.Source == "compact"
		state.Stored = nil
	}
	var b inject.Block
	if !r.StartsLate() {
		b = t.startBlock(ctx, r.Source, state)
	}
	waiting := ""
	if isNewSession(r.Source, state) && !r.StartsLate() {
		waiting = t.waitingHandoff(ctx, t.event.Dir)
	}
	hasText := b.Text != "" || waiting != ""
	if !hasText && !lost {
		return nil
	}
	if _, first, err := t.state.Begin(ctx, inject.AtStart, r.Source); err != nil || !first {
		return nil
	}
	if waiting != "" {
		b.Text = t.withHandoff(ctx, b.Text, waiting)
	}
	answer := r.Answer(b.Text)
	if answer == nil || !t.recordBlock(ctx, inject.AtStart, b) {
		return nil
	}
	return answer
}

// isNewSession reports whether a session begins without an earlier conversation.
func isNewSession(source string, state inject.State) bool {
	return !state.HasStart && (source == "startup" || source == "" || source == "clear")
}

// withHandoff takes the named handoff and returns the context of a new session with the handoff,
// which comes first so that a client that cuts the context shows it whole. The session's start
// must be recorded before, so that only one of a client's hooks takes the handoff.
func (t injector) withHandoff(ctx context.Context, start, name string) string {
	taken, _ := t.takeHandoffNamed(ctx, name)
	taken = fitHandoff(taken, name, maxHandoff)
	if taken == "" {
		return start
	}
	room := hook.MaxContext - 100 - len(taken)
	if room < 100 {
		return taken
	}
	return taken + "\n" + cutTo(start, room)
}

// startBlock returns the context for the start of a session. It is empty if the client has the
// context already, and leaves out texts that the client has stored with the session's prompts. A
// fork already has the context of the original conversation. If the client lost the block by a
// compaction, the new block also describes the agent's current work.
func (t injector) startBlock(ctx context.Context, source string, state inject.State) inject.Block {
	isKnown := state.HasStart && !hook.ForgetsStart(t.event.Client)
	if isKnown || source == "fork" {
		return inject.Block{}
	}
	return inTime(ctx, t.env.hookWaits().Start, func(ctx context.Context) inject.Block {
		goOn := ""
		if state.Compacted {
			goOn = t.handoffText(ctx, t.event.Client, t.event.Session)
		}
		project, _ := findProject(t.event.Dir)
		out, err := run(ctx, t.openMemory, injection.Start, injection.StartIn{
			Project: project, Budget: inject.StartTokens, WithoutHandoff: isNewSession(source, state),
			Shown: state.Stored})
		if err != nil {
			out.Block = inject.Block{}
		}
		out.Text += goOn
		return out.Block
	})
}

// handoffText returns the text that an agent needs to continue its session, or "" if there is none.
func (mem *openMemory) handoffText(ctx context.Context, client, id string) string {
	archive, err := mem.archive()(ctx)
	if err != nil {
		return ""
	}
	turns, err := archive.ReadTurns(ctx, client, id)
	if err != nil || len(turns) == 0 {
		return ""
	}
	o := handoff.Opening{Handoff: handoff.Handoff{Task: handoff.FromTurns(ctx, turns)}}
	if o.Handoff.Record == "" {
		return ""
	}
	return "\n" + o.Text()
}

// prompt answers a prompt once. Context that cannot be recorded is not shown.
func (t injector) prompt(ctx context.Context, r hook.Report) []byte {
	var state inject.State
	var first bool
	var err error
	if t.event.Turn != "" {
		state, first, err = t.state.BeginTurn(ctx, t.event.Turn)
	} else {
		state, first, err = t.state.Begin(ctx, inject.AtPrompt, digest(r.Prompt))
	}
	if err != nil || !first {
		return nil
	}
	begins := ""
	if r.StartsLate() {
		b := t.startBlock(ctx, "", state)
		if waiting := t.waitingHandoff(ctx, t.event.Dir); waiting != "" && isNewSession("", state) {
			b.Text = t.withHandoff(ctx, b.Text, waiting)
		}
		if b.Text != "" && t.recordBlock(ctx, inject.AtStart, b) {
			begins, state = b.Text, t.state.State()
		}
	}
	t.asItIs = true // do not drain the spool, because the client waits for the answer
	project, _ := findProject(t.event.Dir)
	p := inject.Prompt{Text: r.Prompt, Client: r.Client, Session: t.event.Session, Project: project,
		Now: t.env.Now(), State: state}
	b := inTime(ctx, t.env.hookWaits().Prompt, func(ctx context.Context) inject.Block {
		choose := t.forPrompt
		if choose == nil {
			choose = t.injection
		}
		b, err := choose(ctx, p)
		if err != nil {
			b.Text = ""
		}
		return b
	})
	if b.Text == "" || !t.recordBlock(ctx, inject.AtPrompt, b) {
		b.Text = ""
	}
	return r.Answer(begins + "\n\n" + b.Text)
}

// beforeAction returns the context for an edit of files, and records the look-ups that found
// nothing.
func (t injector) beforeAction(ctx context.Context, state inject.State, files []string) inject.Block {
	in := annotations.BeforeActionIn{Failure: t.spool.Failure(t.event.Client, t.event.Session), Shown: state.Prints}
	for _, path := range files {
		name, root := findProject(filepath.Dir(path))
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			in.Project, in.Files = name, append(in.Files, filepath.ToSlash(rel))
		}
	}
	seen := func(print string) bool { return state.Prints[print] }
	hasNewFailure := in.Failure != "" && !seen("error "+in.Failure)
	hasNewFile := slices.ContainsFunc(in.Files, func(f string) bool { return !seen("file " + f) })
	if !hasNewFailure && !hasNewFile {
		return inject.Block{}
	}
	t.asItIs = true
	out, err := run(ctx, t.openMemory, annotations.BeforeAction, in)
	if err != nil {
		return inject.Block{}
	}
	if out.Text == "" {
		_, _ = t.state.Add(ctx, inject.Block{Prints: out.Prints}) // if this fails, the files are looked up again
	}
	return out.Block
}

// recordBlock records a block that is about to be put before the model. It returns false if another
// process shows the same block or if the block cannot be recorded.
func (t injector) recordBlock(ctx context.Context, place string, b inject.Block) bool {
	b.Place, b.Tokens = place, max(b.Tokens, text.EstimateTokens(b.Text))
	fresh, err := t.state.Add(ctx, b)
	if err == nil && !fresh {
		return false
	}
	if t.isLayout {
		return err == nil
	}
	e := t.event
	e.Kind = session.Injected
	e.Text = t.cleanReport()(b.Text)
	e.Injection = &b.Injection
	e.Call = nil
	if now := t.env.Now(); e.Time.Before(now) {
		e.Time = now
	}
	// Include the time in the ID, so that a resumed session's context differs from the original
	// context, even if the prompt in between was not reported.
	e.ID = digest(fmt.Sprint(place, " ", t.state.State().Prompt, " ", e.Time.UnixNano(), " ", b.Text))
	return t.spool.Append(e) == nil && err == nil
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// inTime returns the result of do, or the zero value if do takes longer than wait.
func inTime[T any](ctx context.Context, wait time.Duration, do func(context.Context) T) (none T) {
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	done := make(chan T, 1)
	go func() { done <- do(ctx) }()
	select {
	case got := <-done:
		return got
	case <-ctx.Done():
		return none
	}
}
