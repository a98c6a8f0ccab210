// This file builds the context of a model and implements sessions.

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

// Context implements [layout.Home]. It returns the text of MEMORY.md below the heading "## Memory", to be put after the
// system prompt. It leaves out entries that must not be copied to a text without their labels, for example because
// their text may come from others (see [oxbow.WithoutLabels]). If MEMORY.md is blank, the context is empty. HISTORY.md
// is not in the context. If there is a budget, the text is shortened as by [Home.Compress], but the file does not
// change.
func (h *Home) Context(ctx context.Context, r layout.Request) (prompt.Context, error) {
	var c prompt.Context
	err := h.addMemoryToContext(ctx, &c, r.Budget)
	return c, err
}

// addMemoryToContext adds the file MEMORY.md to the context c, followed by the given additional parts (the parameter
// additionalParts). It shortens the context to at most tokenBudget tokens. If MEMORY.md was not shortened,
// addMemoryToContext records that the session has seen the file.
func (h *Home) addMemoryToContext(
	ctx context.Context,
	c *prompt.Context,
	tokenBudget int,
	additionalParts ...prompt.Part,
) error {
	memory, _, err := h.Tree.Document(ctx, memoryFile)
	if err != nil {
		return fmt.Errorf("reading the memory: %w", err)
	}
	memory, _ = h.splitVisibleEntries(memoryFile, memory, lacksSuspicionLabels)
	c.Add(
		prompt.Part{Name: "memory", Source: filepath.Join(h.displayPath, memoryFile), Role: prompt.RoleSystem,
			Text: injectedMemoryText(memory),
			Shorten: func(tokens int) string {
				s, _, _, ok := compressText(ctx, memory, tokens)
				s = injectedMemoryText(s)
				if ok && prompt.EstimateTokens(s) >= tokens/4 {
					return s
				}
				// compressText shortens only by whole facts. If this is not possible or removes too much, for example
				// if one fact is the whole file, cut the text at the end.
				return prompt.Part{}.WithFrame("", injectedMemoryText(memory), "").Shorten(tokens)
			}},
	)
	c.Add(additionalParts...)
	c.FitToBudget(tokenBudget)
	if len(c.Parts) > 0 && c.Parts[0].Text == injectedMemoryText(memory) {
		h.SeenEntries(ctx).RecordShownEntries(verb.DocumentEntry(memoryFile, memory))
	}
	return ctx.Err()
}

// session is a conversation.
type session struct {
	layout.Summaries
	home           *Home
	request        layout.Request
	lastSystemText string // system text that this session's model got last
}

// Session implements [layout.Home].
func (h *Home) Session(ctx context.Context, r layout.Request) (layout.Session, error) {
	s := &session{home: h, request: r}
	s.Summaries = layout.Summaries{
		Keep: s.storeSummary,
		GoOn: s.contextAfterSummary,
		Get: func(ctx context.Context, name string) (oxbow.Entry, error) {
			return h.GetOfKind(ctx, name, oxbow.History)
		},
	}
	return s, ctx.Err()
}

// memoryContext returns a context with the present text of MEMORY.md, followed by the parts in more. It remembers the
// system text of this context in s.lastSystemText, so that BeforeTurn can detect a change.
func (s *session) memoryContext(ctx context.Context, more ...prompt.Part) (prompt.Context, error) {
	var c prompt.Context
	if err := s.home.addMemoryToContext(ctx, &c, s.request.Budget, more...); err != nil {
		return prompt.Context{}, err
	}
	s.lastSystemText = c.RoleText(prompt.RoleSystem)
	return c, nil
}

// Start implements [layout.Session].
func (s *session) Start(ctx context.Context) (prompt.Context, error) {
	if err := s.Check(ctx); err != nil {
		return prompt.Context{}, err
	}
	return s.memoryContext(ctx)
}

// BeforeTurn implements [layout.Session]. In clawft's design, MEMORY.md is read before each call of the model. If the
// text of the memory has changed since the model saw it, BeforeTurn returns the new text, which replaces the old text.
// If the text is unchanged, BeforeTurn returns a context without text.
func (s *session) BeforeTurn(ctx context.Context, _ string) (prompt.Context, error) {
	if err := s.Check(ctx); err != nil {
		return prompt.Context{}, err
	}
	last := s.lastSystemText
	c, err := s.memoryContext(ctx)
	if err != nil {
		return prompt.Context{}, err
	}
	if s.lastSystemText == last {
		return prompt.Context{Budget: s.request.Budget}, nil
	}
	return c, nil
}

// contextAfterSummary returns the context with which a conversation continues: MEMORY.md and the summary.
func (s *session) contextAfterSummary(ctx context.Context, name, summary string) (prompt.Context, error) {
	return s.memoryContext(
		ctx,
		prompt.Part{Name: "summary", Source: name, Role: prompt.RoleUser, Text: summary, IsPinned: true},
	)
}

// Compact implements [layout.Session]. It appends the summary to HISTORY.md, and returns the name
// of the new entry and a context with MEMORY.md and the summary.
func (s *session) Compact(ctx context.Context, summary string) (string, prompt.Context, error) {
	return s.Summaries.Compact(ctx, strings.TrimSpace(removeControlCharacters(summary)))
}

// End implements [layout.Session]. A summary that contains only control characters is not stored.
func (s *session) End(ctx context.Context, summary string) error {
	return s.Summaries.End(ctx, removeControlCharacters(summary))
}

// storeSummary appends a summary with its date to HISTORY.md, and returns the name of the new entry.
func (s *session) storeSummary(ctx context.Context, summary string) (string, error) {
	text := strings.TrimSpace(removeControlCharacters(summary))
	if text == "" {
		return "", &oxbow.InvalidError{Field: "summary", Reason: "is empty"}
	}
	content := s.home.formatEntryDate(s.home.Now()) + " " + text
	base := s.home.layout.baseName(historyFile, content)
	name := base
	for n := 2; ; n++ {
		err := s.home.HomeMemory.Apply(ctx, oxbow.Add{Name: name, Kind: oxbow.History, Content: content})
		if !errors.Is(err, oxbow.ErrExists) {
			return name, err
		}
		name = fmt.Sprintf("%s (%d)", base, n)
	}
}

// lacksSuspicionLabels reports whether an entry may be put into the agent's context unasked. It returns false if the
// entry's labels mark it as suspicious, or if its text looks like an instruction. The origin of the text does not
// matter, because in clawft's design the agent itself writes the files.
func lacksSuspicionLabels(e *oxbow.Entry) bool { return e.MayShow(oxbow.WithoutLabels) }
