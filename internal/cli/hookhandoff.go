// This file takes the open handoff when a hook reports that a session begins.

package cli

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/hook"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// maxHandoffTokens is the maximum number of tokens that a handoff's profile selects when a session starts.
const maxHandoffTokens = 2_000

// openHandoffName returns the name of the open handoff for the session's project, or otherwise for no project.
// It returns "" if there is none that may be shown to a model unasked.
func (mem *openMemory) openHandoffName(ctx context.Context, dir string) string {
	project, _ := findProject(dir)
	waiting, err := callVerb(ctx, mem, verb.WaitingHandoff, verb.WaitingHandoffIn{Project: project})
	if err != nil {
		return ""
	}
	return waiting.Name
}

// takeHandoff takes a handoff. It returns the handoff's text, including the skills and the memory that the
// handoff's profile selects. hasProfile reports whether a profile selected memory.
func (mem *openMemory) takeHandoff(ctx context.Context, name string) (text string, hasProfile bool) {
	out, err := callVerb(
		ctx,
		mem,
		verb.TakeHandoff,
		verb.TakeHandoffIn{Name: name, OpeningParams: verb.OpeningParams{MaxTokens: maxHandoffTokens}},
	)
	if err != nil || out.HandoffOut == nil {
		return "", false // another session was faster
	}
	hasProfile = out.Profile != "" && out.Loaded != nil && out.Loaded.ProfileError == "" && out.Loaded.Selection != nil
	return out.Text(), hasProfile
}

// maxHandoffBytes is the maximum size in bytes of a handoff, including skills and memory, at the
// start of a session.
const maxHandoffBytes = hook.MaxContext - 500

// cutHandoff cuts a handoff that is longer than limit bytes, and says where the rest is.
func cutHandoff(content, name string, limit int) string {
	if len(content) <= limit {
		return content
	}
	// The line is first, because the cut may be inside a fence.
	more := "The handoff below is cut. All of it: oxbow handoff show " + text.QuoteShellOperand(name) + "\n"
	return more + cutAtParagraph(content, limit-len(more))
}

// cutAtParagraph returns the beginning of s with at most limit bytes. It ends at the end of a paragraph, unless
// the first paragraphs are too long.
func cutAtParagraph(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := prompt.FitParagraphs(s, func(s string) bool { return len(s) <= limit })
	if len(cut) < limit/2 {
		return text.TruncateWithEllipsis(s, limit)
	}
	return cut
}
