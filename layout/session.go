// Sessions of layouts that keep summaries as entries.

package layout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
)

// Summaries is the part of a [Session] whose layout keeps summaries as entries.
// A session embeds it.
type Summaries struct {
	// Keep keeps a summary and returns the name of its entry.
	Keep func(ctx context.Context, summary string) (name string, err error)
	// GoOn returns what a conversation goes on from.
	GoOn func(ctx context.Context, name, summary string) (prompt.Context, error)
	// Get returns a kept summary, or an error matching [oxbow.ErrNotFound].
	Get func(ctx context.Context, name string) (oxbow.Entry, error)
	// Missing is the text in the place of a summary that is not there, after a
	// warning. Nil makes it an error.
	Missing func(name string) string

	ended bool
}

// Check returns an error matching [oxbow.ErrClosed] once the session has ended,
// and that of the context.
func (s *Summaries) Check(ctx context.Context) error {
	if s.ended {
		return fmt.Errorf("this conversation has ended: %w", oxbow.ErrClosed)
	}
	return ctx.Err()
}

// Compact implements [Session]: the summary is kept before anything is cut.
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

// Resume implements [Session].
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

// End implements [Session]. A summary that is not empty is kept; when that fails,
// the conversation has not ended.
func (s *Summaries) End(ctx context.Context, summary string) error {
	if err := s.Check(ctx); err != nil {
		return err
	}
	if strings.TrimSpace(summary) != "" {
		if _, err := s.Keep(ctx, summary); err != nil {
			return fmt.Errorf("keeping the summary: %w", err)
		}
	}
	s.ended = true
	return nil
}

// GetOfKind returns the entry of that name and kind, or an error matching
// [oxbow.ErrNotFound].
func (b *Base) GetOfKind(ctx context.Context, name string, kind oxbow.Kind) (oxbow.Entry, error) {
	e, err := b.Mem.GetNamed(ctx, name)
	if err == nil && e.Kind != kind {
		err = &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	if err != nil {
		return oxbow.Entry{}, fmt.Errorf("resuming from %q: %w", name, err)
	}
	return e, nil
}
