// This file implements sessions.

package duragent

import (
	"context"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/layout"
)

// Session implements [layout.Home].
func (h *home) Session(ctx context.Context, r layout.Request) (layout.Session, error) {
	return &session{h, r}, ctx.Err()
}

// session is a conversation with an agent. A summary of the conversation is stored as an entry in the day's log,
// because this layout has no other place for summaries.
type session struct {
	home    *home
	request layout.Request
}

func (s *session) Start(ctx context.Context) (prompt.Context, error) {
	return s.home.Context(ctx, s.request)
}

// BeforeTurn returns an empty context, because memory is only read with tools.
func (s *session) BeforeTurn(ctx context.Context, _ string) (prompt.Context, error) {
	return prompt.Context{}, ctx.Err()
}

// Compact implements [layout.Session]. It adds the summary to today's log and returns the name of the new entry. If
// the summary is blank, nothing is stored, and the conversation begins again.
func (s *session) Compact(ctx context.Context, summary string) (string, prompt.Context, error) {
	if strings.TrimSpace(summary) == "" {
		c, err := s.Start(ctx)
		return "", c, err
	}
	name, err := s.home.addToDailyLog(ctx, s.home.HomeMemory, summary)
	if err != nil {
		return "", prompt.Context{}, fmt.Errorf("keeping the summary: %w", err)
	}
	c, err := s.Resume(ctx, name)
	return name, c, err
}

// Resume implements [layout.Session]. It returns the directives and the summary with this name.
func (s *session) Resume(ctx context.Context, name string) (prompt.Context, error) {
	e, err := s.home.HomeMemory.GetNamed(ctx, name)
	if err != nil {
		return prompt.Context{}, fmt.Errorf("resuming: %w", err)
	}
	parts, err := s.home.directiveParts()
	if err != nil {
		return prompt.Context{}, fmt.Errorf("reading directives: %w", err)
	}
	var c prompt.Context
	c.Add(parts...)
	c.Add(prompt.Part{Name: "summary", Source: name, Role: prompt.RoleUser, IsPinned: true,
		Text: "Summary of the conversation so far, from the log of " + name + ":\n\n" +
			strings.TrimRight(e.Content, "\n") + "\n"})
	c.FitToBudget(s.request.Budget)
	return c, nil
}

// End implements [layout.Session]. It adds the summary to today's log, unless the summary is blank.
func (s *session) End(ctx context.Context, summary string) error {
	if strings.TrimSpace(summary) == "" {
		return nil
	}
	if _, err := s.home.addToDailyLog(ctx, s.home.HomeMemory, summary); err != nil {
		return fmt.Errorf("keeping the summary: %w", err)
	}
	return nil
}
