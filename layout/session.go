// This file implements [Session] for layouts that store summaries as entries.

package layout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
)

// Summaries implements those methods of [Session] that store and read summaries. The session types of layouts embed
// it.
type Summaries struct {
	// Keep stores a summary and returns the name of its entry.
	Keep func(ctx context.Context, summary string) (name string, err error)
	// GoOn returns the context with which the conversation continues. name and summary are the name and the text of
	// the stored summary.
	GoOn func(ctx context.Context, name, summary string) (prompt.Context, error)
	// Get returns the entry with a stored summary. Without such an entry, the error matches [oxbow.ErrNotFound].
	Get func(ctx context.Context, name string) (oxbow.Entry, error)
	// Missing warns that the summary does not exist, and returns the text to use in its place. If Missing is nil,
	// Resume fails.
	Missing func(name string) string

	hasSessionEnded bool
}

// Check returns an error that matches [oxbow.ErrClosed] if the session has ended, or the error of ctx if it is done.
func (s *Summaries) Check(ctx context.Context) error {
	if s.hasSessionEnded {
		return fmt.Errorf("this conversation has ended: %w", oxbow.ErrClosed)
	}
	return ctx.Err()
}

// Compact implements [Session]. It stores the summary and then builds the new context.
func (s *Summaries) Compact(ctx context.Context, summary string) (string, prompt.Context, error) {
	if err := s.Check(ctx); err != nil {
		return "", prompt.Context{}, err
	}
	name, err := s.Keep(ctx, summary)
	if err != nil {
		return "", prompt.Context{}, fmt.Errorf("keeping the summary: %w", err)
	}
	c, err := s.GoOn(ctx, name, summary)
	return name, c, err
}

// Resume implements [Session]. If no entry with this name exists, Missing provides the text to continue with.
func (s *Summaries) Resume(ctx context.Context, name string) (prompt.Context, error) {
	if err := s.Check(ctx); err != nil {
		return prompt.Context{}, err
	}
	e, err := s.Get(ctx, name)
	if errors.Is(err, oxbow.ErrNotFound) && s.Missing != nil {
		return s.GoOn(ctx, name, s.Missing(name))
	}
	if err != nil {
		return prompt.Context{}, err
	}
	return s.GoOn(ctx, name, e.Content)
}

// End implements [Session]. If storing the summary fails, the session has not ended, and End can be called again.
func (s *Summaries) End(ctx context.Context, summary string) error {
	if err := s.Check(ctx); err != nil {
		return err
	}
	if strings.TrimSpace(summary) != "" {
		if _, err := s.Keep(ctx, summary); err != nil {
			return fmt.Errorf("keeping the summary: %w", err)
		}
	}
	s.hasSessionEnded = true
	return nil
}
