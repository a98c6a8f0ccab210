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
	asked string // last request of the user

	// Passages by the agent since the previous edit that had passages before it: spoken text and,
	// if the transcript contains thoughts, thoughts.
	said, thought []string
	used          bool // an edit followed these passages
}

// startRequest starts again with a new request of the user, without its private parts.
func (r *reasoning) startRequest(request string) *reasoning {
	return &reasoning{asked: text.WithoutPrivate(request)}
}

func (r *reasoning) withText(text string) *reasoning {
	return r.add(text, func(next *reasoning) *[]string { return &next.said })
}

// withThought adds a passage that the agent thought and did not say.
func (r *reasoning) withThought(text string) *reasoning {
	return r.add(text, func(next *reasoning) *[]string { return &next.thought })
}

// add adds a passage to the list of passages that listIn returns.
func (r *reasoning) add(text string, listIn func(*reasoning) *[]string) *reasoning {
	text = strings.TrimSpace(text)
	if text == "" {
		return r
	}
	next := &reasoning{asked: r.asked}
	if !r.used {
		next.said, next.thought = r.said, r.thought
	}
	to := listIn(next)
	if n := len(*to); n > 0 && (*to)[n-1] == text {
		return r // some programs store each passage twice
	}
	*to = append((*to)[:len(*to):len(*to)], text)
	return next
}

func (r *reasoning) afterEdits() *reasoning {
	if r.used {
		return r
	}
	next := *r
	next.used = true
	return &next
}

// why returns the reasoning before an edit: the text said aloud, or otherwise the thoughts, or
// otherwise the user's request.
func (r *reasoning) why() string {
	for _, ps := range [][]string{r.said, r.thought} {
		if len(ps) > 0 {
			return textEnd(strings.Join(ps, "\n\n"))
		}
	}
	const asked = " It was asked: "
	return strings.TrimSuffix(textEnd(annotate.NoReasoning+asked+strings.TrimSpace(r.asked)), asked)
}

// textEnd returns the end of a text, which is nearest to the edit. It does not cut inside of a
// character.
func textEnd(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= maxWhy {
		return s
	}
	s = s[len(s)-maxWhy:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return "… " + s
}
