// This file composes the context of a model, and implements sessions.

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

// Context implements [layout.Home]. It returns the text of MEMORY.md below the heading "## Memory", to be put after
// the system prompt. Entries that are held back on the occasion [oxbow.WithoutLabels] are left out. It returns nothing
// if MEMORY.md is blank. HISTORY.md is not included. A budget shortens the text as [Home.Compress] would, but does not
// change the file.
func (h *Home) Context(ctx context.Context, r layout.Request) (prompt.Context, error) {
	var c prompt.Context
	err := h.inject(ctx, &c, r.Budget)
	return c, err
}

// inject adds MEMORY.md and more parts to a context within a budget. If the file was not cut, it is
// recorded as seen by the session of ctx.
func (h *Home) inject(ctx context.Context, c *prompt.Context, budget int, more ...prompt.Part) error {
	memory, _, err := h.Tree.Document(ctx, memoryFile)
	if err != nil {
		return fmt.Errorf("reading the memory: %w", err)
	}
	memory, _ = h.apart(memoryFile, memory, notSuspicious)
	c.Add(
		prompt.Part{Name: "memory", Source: filepath.Join(h.shown, memoryFile), Role: prompt.System,
			Text: injectedText(memory),
			Short: func(tokens int) string {
				s, _, _, ok := compress(ctx, memory, tokens)
				s = injectedText(s)
				if ok && prompt.EstimateTokens(s) >= tokens/4 {
					return s
				}
				// Shorten facts that are too long for the budget, such as a fact that is the whole
				// file.
				return prompt.Part{}.WithFrame("", injectedText(memory), "").Short(tokens)
			}},
	)
	c.Add(more...)
	c.Fit(budget)
	if len(c.Parts) > 0 && c.Parts[0].Text == injectedText(memory) {
		h.Seen(ctx).Show(verb.Document(memoryFile, memory))
	}
	return ctx.Err()
}

// session is a conversation.
type session struct {
	layout.Summaries
	h    *Home
	r    layout.Request
	last string // system text that the model was last shown
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

// context returns a context of the current MEMORY.md, followed by more.
func (s *session) context(ctx context.Context, more ...prompt.Part) (prompt.Context, error) {
	var c prompt.Context
	if err := s.h.inject(ctx, &c, s.r.Budget, more...); err != nil {
		return prompt.Context{}, err
	}
	s.last = c.RoleText(prompt.System)
	return c, nil
}

// Start implements [layout.Session].
func (s *session) Start(ctx context.Context) (prompt.Context, error) {
	if err := s.Check(ctx); err != nil {
		return prompt.Context{}, err
	}
	return s.context(ctx)
}

// BeforeTurn implements [layout.Session]. clawft's design reads MEMORY.md for each call of the
// model. If the file differs from the text last shown to the model, BeforeTurn returns the new text
// to replace it.
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

// goOn returns the context for continuing a conversation: MEMORY.md and a summary.
func (s *session) goOn(ctx context.Context, name, summary string) (prompt.Context, error) {
	return s.context(ctx, prompt.Part{Name: "summary", Source: name, Role: prompt.User, Text: summary, Pinned: true})
}

// Compact implements [layout.Session]. It appends the summary to HISTORY.md, and returns the name
// of the new entry and a context with MEMORY.md and the summary.
func (s *session) Compact(ctx context.Context, summary string) (string, prompt.Context, error) {
	return s.Summaries.Compact(ctx, strings.TrimSpace(clean(summary)))
}

// End closes the conversation. A summary that consists only of control characters counts as empty.
func (s *session) End(ctx context.Context, summary string) error {
	return s.Summaries.End(ctx, clean(summary))
}

// keep appends a summary with its date to HISTORY.md, and returns the name of the new entry.
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

// notSuspicious selects the entries that are put into the context. In clawft's design, the agent
// writes the files itself, so only entries that are marked as suspicious are left out.
func notSuspicious(e *oxbow.Entry) bool { return e.MayShow(oxbow.WithoutLabels) }
