// This file takes the open handoff when a hook reports that a session begins.

package cli

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/hook"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// handoffTokens is the maximum number of tokens that a handoff's profile selects when a session starts.
const handoffTokens = 2_000

// waitingHandoff returns the name of the open handoff for the session's project, or otherwise for no project.
// It returns "" if there is none that may be shown to a model unasked.
func (mem *openMemory) waitingHandoff(ctx context.Context, dir string) string {
	project, _ := findProject(dir)
	waiting, err := run(ctx, mem, verb.WaitingHandoff, verb.WaitingHandoffIn{Project: project})
	if err != nil {
		return ""
	}
	return waiting.Name
}

// takeHandoffNamed takes a handoff. It returns the handoff's text, including the skills and the memory that the
// handoff's profile selects. hasProfile reports whether a profile selected memory.
func (mem *openMemory) takeHandoffNamed(ctx context.Context, name string) (text string, hasProfile bool) {
	out, err := run(
		ctx,
		mem,
		verb.TakeHandoff,
		verb.TakeHandoffIn{Name: name, Opening: verb.Opening{Budget: handoffTokens}},
	)
	if err != nil || out.HandoffOut == nil {
		return "", false // another session was faster
	}
	hasProfile = out.Profile != "" && out.Loaded != nil && out.Loaded.Wrong == "" && out.Loaded.Selection != nil
	return out.Text(), hasProfile
}

// maxHandoff is the maximum size in bytes of a handoff, including skills and memory, at the
// start of a session.
const maxHandoff = hook.MaxContext - 500

// fitHandoff cuts a handoff that is longer than limit bytes, and says where the rest is.
func fitHandoff(said, name string, limit int) string {
	if len(said) <= limit {
		return said
	}
	// The line is first, because the cut may be inside a fence.
	more := "The handoff below is cut. All of it: oxbow handoff show " + text.ShellName(name) + "\n"
	return more + cutTo(said, limit-len(more))
}

// cutTo returns the beginning of s with at most limit bytes. It ends at the end of a paragraph, unless
// the first paragraphs are too long.
func cutTo(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := prompt.FitParagraphs(s, func(s string) bool { return len(s) <= limit })
	if len(cut) < limit/2 {
		return text.Clip(s, limit)
	}
	return cut
}
