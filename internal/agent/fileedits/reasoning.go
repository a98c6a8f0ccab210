// This file collects an agent's texts and thoughts before an edit.

package fileedits

import (
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// agentReasoning contains an agent's texts and thoughts up to a position in the conversation. It is immutable, because
// a conversation may branch: each addition returns a new reasoning.
type agentReasoning struct {
	personRequest string // the person's last prompt

	// The agent's texts and thoughts since its previous edit. If the agent makes several edits without a text or
	// thought between them, the passages belong to all these edits.
	agentTextPassages, agentThoughtPassages []string
	isFollowedByEdit                        bool // The agent has edited a file after these texts and thoughts.
}

// withNewRequestOnly returns a reasoning that contains only a new prompt from the person, without the prompt's private
// parts and without texts of the agent.
func (r *agentReasoning) withNewRequestOnly(request string) *agentReasoning {
	return &agentReasoning{personRequest: text.HidePrivateParts(request)}
}

func (r *agentReasoning) withAgentText(text string) *agentReasoning {
	return r.withAddedPassage(text, func(next *agentReasoning) *[]string { return &next.agentTextPassages })
}

// withThought returns a reasoning to which a thought was added. A thought is text that the agent did not say.
func (r *agentReasoning) withThought(text string) *agentReasoning {
	return r.withAddedPassage(text, func(next *agentReasoning) *[]string { return &next.agentThoughtPassages })
}

// withAddedPassage returns a copy of r with one more text. selectList selects the list of the copy to which the text is
// added. If the agent has made an edit since the last text, the copy contains only the new text, because the earlier
// texts explain only that edit. If the text is empty or equals the last text of the list, withAddedPassage returns r
// itself.
func (r *agentReasoning) withAddedPassage(text string, selectList func(*agentReasoning) *[]string) *agentReasoning {
	text = strings.TrimSpace(text)
	if text == "" {
		return r
	}
	next := &agentReasoning{personRequest: r.personRequest}
	if !r.isFollowedByEdit {
		next.agentTextPassages, next.agentThoughtPassages = r.agentTextPassages, r.agentThoughtPassages
	}
	to := selectList(next)
	if n := len(*to); n > 0 && (*to)[n-1] == text {
		return r // Some clients store each of the agent's texts twice, so ignore the repetition.
	}
	*to = append((*to)[:len(*to):len(*to)], text)
	return next
}

// copyFollowedByEdit returns a copy of r with isFollowedByEdit set. If it is already set, it returns r itself.
func (r *agentReasoning) copyFollowedByEdit() *agentReasoning {
	if r.isFollowedByEdit {
		return r
	}
	next := *r
	next.isFollowedByEdit = true
	return &next
}

// editReason returns the reason for an edit: the agent's text, or else its thoughts, or else a text that says that
// there is no reasoning and quotes the person's prompt. Long texts lose their beginning (see keepTextEnd).
func (r *agentReasoning) editReason() string {
	for _, ps := range [][]string{r.agentTextPassages, r.agentThoughtPassages} {
		if len(ps) > 0 {
			return keepTextEnd(strings.Join(ps, "\n\n"), maxReasoningBytes)
		}
	}
	request := strings.TrimSpace(r.personRequest)
	if request == "" {
		return annotate.NoReasoning
	}
	// Shorten only the prompt, because without the text before it, the prompt would seem to be the agent's reasoning.
	const intro = annotate.NoReasoning + " It was asked: "
	return intro + keepTextEnd(request, maxReasoningBytes-len(intro))
}

// keepTextEnd returns the text s if it has at most maxBytes bytes. Otherwise it returns an ellipsis and the end of the
// text, because the end of an agent's text is nearest to the edit that the text explains. The returned end has at most
// maxBytes bytes, and begins with a whole character.
func keepTextEnd(s string, maxBytes int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= maxBytes {
		return s
	}
	s = s[len(s)-maxBytes:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return "… " + s
}
