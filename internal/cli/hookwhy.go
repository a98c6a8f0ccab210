// This file annotates the edits that hooks report, and shows the annotations of lines that are about to change.

package cli

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/agent/fileedits"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/hook"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

// editHookInput is the input of handleEditHook.
type editHookInput struct {
	home   string
	report fileedits.HookInput

	// stateDir and isTurnTainted are set only in a home that has the layout of another memory system. stateDir is the
	// directory with the sessions' state. isTurnTainted reports whether the session has read text by others in its
	// current turn.
	stateDir      string
	isTurnTainted func(client, session string) bool
}

// handleEditHook processes a hook report about an edit of files. If the edit has not been made yet, it returns the
// answer for the client. If the edit has been made, it annotates the edited lines and returns nil. It also returns nil
// if the report is not about an edit, or if the feature is switched off.
func (mem *lazyMemory) handleEditHook(ctx context.Context, input editHookInput) []byte {
	home, r := input.home, input.report
	about := r.SummarizeReport()
	isEdit := about.IsEditAnnounced || about.IsAfterEdit
	if !isEdit || !filepath.IsAbs(about.Dir) {
		return nil
	}
	if mem.env.isFeatureSwitchedOff(injection.HooksOffFile, home, about.Dir) {
		return nil
	}
	t := mem.newInjector(
		home,
		session.Event{Client: r.ClientName, Session: about.Session, Time: mem.env.Now(), Dir: about.Dir},
	)
	t = t.withStateDir(input.stateDir)
	r.OpencodeReportFile = t.spool.FilePath(r.ClientName, about.Session)
	annotates := mem.env.Getenv("OXBOW_ANNOTATE")
	everywhere := annotates == "on" || mem.env.machineForSetup().IsAnnotationOn(r.ClientName, about.Dir)
	in := annotations.HookReportIn{Report: r, IncludesUnannotatedTrees: everywhere}
	mayAnnotate := about.IsAfterEdit && annotates != "off" &&
		(annotates == "on" || !mem.env.isFeatureSwitchedOff(injection.AnnotateOffFile, home, about.Dir))
	switch {
	case about.IsEditAnnounced && mem.env.Getenv("OXBOW_WHYS") != "off" && hook.EncodeToolAnswer(r.ClientName,
		"") != nil &&
		!t.isInjectionSwitchedOff():
		return t.answerBeforeEdit(ctx, about, in)
	case mayAnnotate:
		in.IsTainted = func() bool { return mem.hasAgentReadForeignText(ctx, input, about) }
		in.RepeatsForeignText = mem.finder.isRepeatOfForeignText
		if err := mem.annotateEdits(ctx, about.Dir, in); err != nil {
			maintenance.HookFailure{Client: r.ClientName, Error: err.Error(), Time: mem.env.Now()}.
				Save(cmp.Or(input.stateDir, home))
		}
	}
	return nil
}

// hasAgentReadForeignText reports whether the agent has read foreign text since the person's last prompt. Foreign text
// is text that neither the agent nor the person wrote.
func (mem *lazyMemory) hasAgentReadForeignText(
	ctx context.Context,
	hookInput editHookInput,
	reportSummary fileedits.ReportSummary,
) bool {
	if hookInput.isTurnTainted != nil {
		return hookInput.isTurnTainted(hookInput.report.ClientName, reportSummary.Session)
	}
	caller := session.Caller{
		Client:  hookInput.report.ClientName,
		Session: reportSummary.Session,
		Dir:     reportSummary.Dir,
	}
	return len(mem.findTextsSeenBySession(ctx, caller).CallsWithoutFingerprints) > 0
}

// annotateEdits annotates the reported edits of files in a directory. If opening the directory's annotations fails, it
// does nothing.
func (mem *lazyMemory) annotateEdits(ctx context.Context, dir string, in annotations.HookReportIn) error {
	b, err := mem.finder.openAnnotationsIn(ctx, dir)
	if err != nil {
		return nil
	}
	defer b.Close()
	_, err = annotations.AnnotateHookEdit(ctx, mem.annotationsWorkspace(b), in)
	return err
}

func (mem *lazyMemory) annotationsWorkspace(b *annotate.Store) *verb.Workspace {
	src, _ := mem.sourceOfChanges()
	src.Profile, _ = mem.boundProfileName()
	return &verb.Workspace{
		Now:    mem.env.Now,
		Source: src,
		Annotations: func(context.Context) (verb.WorkingTree, error) {
			return b, nil
		},
	}
}

// answerBeforeEdit returns the answer to a hook report that a client sends before it edits files. The answer contains
// the annotations of the lines that will change. If there are no annotations, the answer contains what the memory knows
// about the files, such as earlier decisions. The result is nil if nothing is found, or if the session has already been
// shown inject.MaxSessionTokens tokens. Errors are ignored, so that the client continues with the edit.
func (t contextInjector) answerBeforeEdit(
	ctx context.Context,
	reportSummary fileedits.ReportSummary,
	in annotations.HookReportIn,
) []byte {
	state := t.stateFile.ReadState()
	in.ShownAnnotationIDs = state.SentenceFingerprints
	if state.Tokens > inject.MaxSessionTokens {
		return nil
	}
	var block inject.ShownBlock
	if b, err := t.finder.openAnnotationsIn(ctx, reportSummary.Dir); err == nil {
		out, _ := annotations.FindAnnotationsBeforeEdit(ctx, t.annotationsWorkspace(b), in)
		block.Text, block.SentenceFingerprints = out.AnnotationLine, out.IDs
		b.Close()
	}
	if block.Text == "" && !t.hasNonOxbowLayout {
		block = t.memoryBlockForEdit(ctx, state, reportSummary.FilesToEdit)
	}
	if block.Text == "" || !t.recordShownBlock(ctx, inject.HookEventBeforeAction, block) {
		return nil
	}
	return hook.EncodeToolAnswer(t.answeredEvent.Client, block.Text)
}
