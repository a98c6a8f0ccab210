// The context of a model, and sessions.

package clawft

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
)

// Context implements [layout.Home]: MEMORY.md, as it is but for what is
// [oxbow.Entry.Suspicious], after the system prompt under the heading "## Memory";
// nothing when it is blank.
// HISTORY.md is not part of it. A budget makes it shorter as [Home.Compress] would
// make the file, which stays as it is.
func (h *Home) Context(ctx context.Context, r layout.Request) (prompt.Context, error) {
	var c prompt.Context
	err := h.inject(ctx, &c, r.Budget)
	return c, err
}

// inject adds MEMORY.md and more to a context, within a budget. The session of ctx
// has seen what it was given of the file, where that is not cut.
func (h *Home) inject(ctx context.Context, c *prompt.Context, budget int, more ...prompt.Part) error {
	memory, _, err := h.Tree.Document(ctx, memoryFile)
	if err != nil {
		return fmt.Errorf("reading the memory: %w", err)
	}
	memory, _ = h.apart(memoryFile, memory, notSuspicious)
	c.Add(
		prompt.Part{Name: "memory", Source: filepath.Join(h.shown, memoryFile), Role: prompt.System,
			Text: injected(memory),
			Short: func(tokens int) string {
				s, _, _, ok := compress(ctx, memory, tokens)
				s = injected(s)
				if ok && prompt.Tokens(s) >= tokens/4 {
					return s
				}
				// Facts that are too long, such as one that is the whole file, are cut instead.
				return prompt.Part{}.Framed("", injected(memory), "").Short(tokens)
			}},
	)
	c.Add(more...)
	c.Fit(budget)
	if len(c.Parts) > 0 && c.Parts[0].Text == injected(memory) {
		h.Seen(ctx).Show(verb.Document(memoryFile, memory))
	}
	return ctx.Err()
}

// session is one conversation.
type session struct {
	layout.Summaries
	h    *Home
	r    layout.Request
	last string // what of MEMORY.md the model was shown last
}

// Session implements [layout.Home].
func (h *Home) Session(ctx context.Context, r layout.Request) (layout.Session, error) {
	s := &session{h: h, r: r}
	s.Summaries = layout.Summaries{
		Keep: s.keep,
		GoOn: s.goOn,
		Get: func(ctx context.Context, name string) (oxbow.Entry, error) {
			return h.GetOfKind(ctx, name, oxbow.History)
		},
	}
	return s, ctx.Err()
}

// context returns MEMORY.md as it is now, with more after it.
func (s *session) context(ctx context.Context, more ...prompt.Part) (prompt.Context, error) {
	var c prompt.Context
	if err := s.h.inject(ctx, &c, s.r.Budget, more...); err != nil {
		return prompt.Context{}, err
	}
	s.last = c.Of(prompt.System)
	return c, nil
}

// Start implements [layout.Session].
func (s *session) Start(ctx context.Context) (prompt.Context, error) {
	if err := s.Check(ctx); err != nil {
		return prompt.Context{}, err
	}
	return s.context(ctx)
}

// BeforeTurn implements [layout.Session]. The design reads MEMORY.md for each
// call of the model: when it is no longer what the model was shown, it is
// returned again, to stand in the place of the earlier one.
func (s *session) BeforeTurn(ctx context.Context, _ string) (prompt.Context, error) {
	if err := s.Check(ctx); err != nil {
		return prompt.Context{}, err
	}
	last := s.last
	c, err := s.context(ctx)
	if err != nil {
		return prompt.Context{}, err
	}
	if s.last == last {
		return prompt.Context{Budget: s.r.Budget}, nil
	}
	return c, nil
}

// goOn returns what a conversation goes on from: MEMORY.md and a summary.
func (s *session) goOn(ctx context.Context, name, summary string) (prompt.Context, error) {
	return s.context(ctx, prompt.Part{Name: "summary", Source: name, Role: prompt.User, Text: summary, Pinned: true})
}

// Compact implements [layout.Session]: the summary is written to HISTORY.md, and
// the conversation goes on from it and from MEMORY.md. The name is that of the
// entry.
func (s *session) Compact(ctx context.Context, summary string) (string, prompt.Context, error) {
	return s.Summaries.Compact(ctx, strings.TrimSpace(clean(summary)))
}

// End closes the conversation. A summary is not empty when it has more than
// control characters.
func (s *session) End(ctx context.Context, summary string) error {
	return s.Summaries.End(ctx, clean(summary))
}

// keep writes a summary after HISTORY.md, with its date, and returns the name of
// the entry.
func (s *session) keep(ctx context.Context, summary string) (string, error) {
	text := strings.TrimSpace(clean(summary))
	if text == "" {
		return "", &oxbow.InvalidError{Field: "summary", Reason: "is empty"}
	}
	content := s.h.stamp(s.h.Now()) + " " + text
	base := s.h.layout.baseName(historyFile, content)
	name := base
	for n := 2; ; n++ {
		err := s.h.Mem.Apply(ctx, oxbow.Add{Name: name, Kind: oxbow.History, Content: content})
		if !errors.Is(err, oxbow.ErrExists) {
			return name, err
		}
		name = fmt.Sprintf("%s (%d)", base, n)
	}
}

// notSuspicious selects what the design shows by itself: its agent writes the files, so
// that only text with a mark of suspicion is left out.
func notSuspicious(e *oxbow.Entry) bool { return !e.Suspicious() }
