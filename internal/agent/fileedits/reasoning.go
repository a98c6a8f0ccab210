// This file collects an agent's reasoning before an edit.

package fileedits

import (
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// reasoning is the text of an agent up to a position in its conversation. It is immutable: each
// addition returns a new value, because a conversation may branch.
type reasoning struct {
	request string // last request of the user

	// Passages by the agent since the previous edit that had passages before it: spoken text and,
	// if the transcript contains thoughts, thoughts.
	spokenPassages, thoughtPassages []string
	hasEdit                         bool // an edit followed these passages
}

// startRequest starts again with a new request of the user, without its private parts.
func (r *reasoning) startRequest(request string) *reasoning {
	return &reasoning{request: text.HidePrivateParts(request)}
}

func (r *reasoning) withText(text string) *reasoning {
	return r.addPassage(text, func(next *reasoning) *[]string { return &next.spokenPassages })
}

// withThought adds a passage that the agent thought and did not say.
func (r *reasoning) withThought(text string) *reasoning {
	return r.addPassage(text, func(next *reasoning) *[]string { return &next.thoughtPassages })
}

// addPassage returns a reasoning with another passage in the list that listIn returns. r does not change. If r already
// led to an edit, the new reasoning has only this passage. addPassage returns r if the text is empty or repeats the
// last passage.
func (r *reasoning) addPassage(text string, listIn func(*reasoning) *[]string) *reasoning {
	text = strings.TrimSpace(text)
	if text == "" {
		return r
	}
	next := &reasoning{request: r.request}
	if !r.hasEdit {
		next.spokenPassages, next.thoughtPassages = r.spokenPassages, r.thoughtPassages
	}
	to := listIn(next)
	if n := len(*to); n > 0 && (*to)[n-1] == text {
		return r // some programs store each passage twice
	}
	*to = append((*to)[:len(*to):len(*to)], text)
	return next
}

func (r *reasoning) withEdit() *reasoning {
	if r.hasEdit {
		return r
	}
	next := *r
	next.hasEdit = true
	return &next
}

// editReason returns the reasoning before an edit: the text said aloud, or otherwise the thoughts, or
// otherwise the user's request.
func (r *reasoning) editReason() string {
	for _, ps := range [][]string{r.spokenPassages, r.thoughtPassages} {
		if len(ps) > 0 {
			return reasonTail(strings.Join(ps, "\n\n"))
		}
	}
	const asked = " It was asked: "
	return strings.TrimSuffix(reasonTail(annotate.NoReasoning+asked+strings.TrimSpace(r.request)), asked)
}

// reasonTail returns the end of a text, which is nearest to the edit. It does not cut inside of a
// character.
func reasonTail(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= maxReasoning {
		return s
	}
	s = s[len(s)-maxReasoning:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return "… " + s
}
