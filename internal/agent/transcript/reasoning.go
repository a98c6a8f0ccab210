// What an agent has said up to a place of its conversation.

package transcript

import (
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// reasoning is what an agent has said up to a place of its conversation. It is
// not changed: each addition makes a new one, since a conversation branches.
type reasoning struct {
	asked string // what it was asked last

	// Passages since the last edit that had some before it: said aloud, and
	// thought as far as the transcript shows it.
	said, thought []string
	used          bool // an edit came after these passages
}

// asks begins again with what the user wants.
func (r *reasoning) asks(text string) *reasoning { return &reasoning{asked: text} }

func (r *reasoning) says(text string, aloud bool) *reasoning {
	text = strings.TrimSpace(text)
	if text == "" {
		return r
	}
	next := &reasoning{asked: r.asked}
	if !r.used {
		next.said, next.thought = r.said, r.thought
	}
	to := &next.thought
	if aloud {
		to = &next.said
	}
	if n := len(*to); n > 0 && (*to)[n-1] == text {
		return r // some programs keep each passage twice
	}
	*to = append((*to)[:len(*to):len(*to)], text)
	return next
}

func (r *reasoning) edits() *reasoning {
	if r.used {
		return r
	}
	next := *r
	next.used = true
	return &next
}

// why returns the reasoning before an edit: what was said aloud; when nothing
// was, what was thought; when nothing of that is shown, what was asked for.
func (r *reasoning) why() string {
	for _, ps := range [][]string{r.said, r.thought} {
		if len(ps) > 0 {
			return tail(strings.Join(ps, "\n\n"))
		}
	}
	const asked = " It was asked: "
	return strings.TrimSuffix(tail(annotate.NoReasoning+asked+strings.TrimSpace(r.asked)), asked)
}

// tail cuts a text to its end, which is nearest to the edit, at a rune.
func tail(s string) string {
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
