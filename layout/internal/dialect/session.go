// This file implements the conversations (sessions) of layouts that do not store a summary when a conversation ends. It
// also reads the entries of summaries that other layouts have stored.

package dialect

import (
	"context"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
)

// Session implements [layout.Session] for layouts that store no summaries of conversations. The zero Session adds
// nothing to the context. Layouts that store summaries use [layout.Summaries].
type Session struct {
	// AddSystemContext adds the context with which a conversation begins. The session calls it again after each
	// compaction of the conversation. It may be nil.
	AddSystemContext func(ctx context.Context, c *prompt.Context) error
	// AddRecalledContext adds the context that is put before a message of the user. It may be nil.
	AddRecalledContext func(ctx context.Context, c *prompt.Context, message string) error
	TokenBudget        int // maximum number of tokens in a context (0 means no limit)
}

// Start implements [layout.Session].
func (s *Session) Start(ctx context.Context) (prompt.Context, error) { return s.context(ctx, "") }

// context returns the context for the beginning of a conversation. If summary is not blank, the summary follows.
func (s *Session) context(ctx context.Context, summary string) (prompt.Context, error) {
	var c prompt.Context
	if s.AddSystemContext != nil {
		if err := s.AddSystemContext(ctx, &c); err != nil {
			return prompt.Context{}, err
		}
	}
	if strings.TrimSpace(summary) != "" {
		c.Add(prompt.Part{Name: "summary", Role: prompt.RoleUser, Text: summary, IsPinned: true})
	}
	c.FitToBudget(s.TokenBudget)
	return c, ctx.Err()
}

// BeforeTurn implements [layout.Session].
func (s *Session) BeforeTurn(ctx context.Context, message string) (prompt.Context, error) {
	var c prompt.Context
	if s.AddRecalledContext != nil {
		if err := s.AddRecalledContext(ctx, &c, message); err != nil {
			return prompt.Context{}, err
		}
	}
	c.FitToBudget(s.TokenBudget)
	return c, ctx.Err()
}

// Compact implements [layout.Session]. It stores nothing, and returns the context with which the conversation
// continues: the context of a new conversation, and the summary.
func (s *Session) Compact(ctx context.Context, summary string) (string, prompt.Context, error) {
	c, err := s.context(ctx, summary)
	return "", c, err
}

// Resume implements [layout.Session]. The error matches [oxbow.ErrUnsupported].
func (s *Session) Resume(_ context.Context, name string) (prompt.Context, error) {
	return prompt.Context{}, fmt.Errorf(
		"resuming %q: %w: this layout keeps no summaries of conversations; start a new one, what was remembered is there",
		name,
		oxbow.ErrUnsupported,
	)
}

// End implements [layout.Session]. It does not store the summary.
func (s *Session) End(ctx context.Context, _ string) error { return ctx.Err() }

// GetOfKind returns the entry with this name if the entry has this kind. Otherwise the error
// matches [oxbow.ErrNotFound].
func (b *HomeBase) GetOfKind(ctx context.Context, name string, kind oxbow.Kind) (oxbow.Entry, error) {
	e, err := b.HomeMemory.GetNamed(ctx, name)
	if err == nil && e.Kind != kind {
		err = &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	if err != nil {
		return oxbow.Entry{}, fmt.Errorf("resuming from %q: %w", name, err)
	}
	return e, nil
}
