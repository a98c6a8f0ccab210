// This file handles handoffs at the start of a session. A handoff is a text with which one session passes its work to
// the next session. If a hook reports that a session begins, the session receives the open handoff.

package cli

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/hook"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// maxHandoffTokens is the maximum size, in tokens, of the entries that are shown at the start of a session because a
// handoff names a memory profile that selects them. A handoff describes the work that an earlier session has left to
// the new session.
const maxHandoffTokens = 2_000

// findOpenHandoffName returns the name of an open handoff: the handoff for the session's project, or else the handoff
// without a project. It returns "" if no handoff may be shown to a model unasked.
func (mem *lazyMemory) findOpenHandoffName(ctx context.Context, dir string) string {
	project, _ := findProject(dir)
	waiting, err := callVerb(ctx, mem, verb.HandoffForNewSession, verb.HandoffForNewSessionIn{Project: project})
	if err != nil {
		return ""
	}
	return waiting.Name
}

// takeHandoff claims the handoff with the given name, so that no other session can claim it. The result text contains
// the handoff, the texts of its skills, and the entries that the handoff's profile selects. (A profile is a stored
// selection of entries.) The result hasProfile is true if the profile has selected entries without an error. If the
// handoff cannot be claimed, takeHandoff returns "" and false.
func (mem *lazyMemory) takeHandoff(ctx context.Context, handoffName string) (text string, hasProfile bool) {
	out, err := callVerb(
		ctx,
		mem,
		verb.TakeHandoff,
		verb.TakeHandoffIn{Name: handoffName, HandoffParams: verb.HandoffParams{MaxTokens: maxHandoffTokens}},
	)
	if err != nil || out.HandoffOut == nil {
		return "", false // For example, another session has taken the handoff first.
	}
	hasProfile = out.Profile != "" && out.LoadedProfileAndSkills != nil &&
		out.LoadedProfileAndSkills.ProfileError == "" &&
		out.LoadedProfileAndSkills.Selection != nil
	return out.Text(), hasProfile
}

// maxHandoffBytes is the maximum size of a handoff at a session's start, in bytes. It includes the skills and the
// memory.
const maxHandoffBytes = hook.MaxContextBytes - 500

// cutHandoffText cuts the text of a handoff if it is longer than maxBytes bytes. It then adds a line at the beginning
// that says how to show the whole handoff.
func cutHandoffText(content, name string, maxBytes int) string {
	if len(content) <= maxBytes {
		return content
	}
	// The hint comes before the text. After the text it might be inside a code block, because the cut may remove the
	// end of a block.
	more := "The handoff below is cut. All of it: oxbow handoff show " + text.QuoteShellOperand(name) + "\n"
	return more + cutAtParagraph(content, maxBytes-len(more))
}

// cutAtParagraph returns s if it has at most maxBytes bytes. Otherwise it cuts s at the end of a paragraph, so that at
// most maxBytes bytes remain. If less than half of maxBytes would remain, it cuts s between two characters instead, and
// appends an ellipsis.
func cutAtParagraph(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	cut := prompt.FitParagraphs(s, func(s string) bool { return len(s) <= maxBytes })
	if len(cut) < maxBytes/2 {
		return text.TruncateWithEllipsis(s, maxBytes)
	}
	return cut
}
