// This file builds the context of a model and implements sessions.

package entryfiles

import (
	"context"
	_ "embed"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
)

//go:embed prompt.md
var memoryInstructions string

// Context implements [layout.Home]. It returns the identity, MEMORY.md as a memory block,
// instructions for the tools, and the entries that auto-recall finds for a message.
func (h *home) Context(ctx context.Context, r layout.Request) (prompt.Context, error) {
	var c prompt.Context
	if err := h.addSystemPromptParts(ctx, &c); err != nil {
		return prompt.Context{}, err
	}
	if err := h.addRecalledEntries(ctx, &c, r.Message); err != nil {
		return prompt.Context{}, err
	}
	c.FitToBudget(r.Budget)
	return c, nil
}

// addSystemPromptParts adds the parts of the system prompt to c: the identity, the memory index if it is not empty, and
// the instructions. These parts are the same for each message of the user.
func (h *home) addSystemPromptParts(ctx context.Context, c *prompt.Context) error {
	identity, _, err := h.Document(ctx, identityFile)
	if err != nil {
		return err
	}
	index, _, err := h.Document(ctx, indexFile)
	if err != nil {
		return err
	}
	c.Add(prompt.Part{Name: "identity", Source: identityFile, Role: prompt.RoleSystem, IsPinned: true}.WithFrame(
		"",
		identity,
		"",
	))
	if strings.TrimSpace(index) != "" {
		c.Add(prompt.Part{Name: "memory", Source: indexFile, Role: prompt.RoleSystem, IsPinned: true}.
			WithFrame("\n\n<memory>\n", escapeEndTag("memory", index), "\n</memory>"))
	}
	c.Add(
		prompt.Part{Name: "instructions", Role: prompt.RoleSystem, Text: "\n\n" + memoryInstructions, IsPinned: true},
	)
	return nil
}

// addRecalledEntries searches the memory for the first words of the user's message, and adds the found entries to c.
// The configuration limits the number of words and of entries. If nothing is found, c does not change.
func (h *home) addRecalledEntries(ctx context.Context, c *prompt.Context, message string) error {
	words := strings.Fields(message)
	words = words[:min(len(words), h.config.autoRecallWordCount)]
	if len(words) == 0 {
		return nil
	}
	hits, err := h.ranker.search(
		ctx,
		h.HomeMemory,
		strings.Join(words, " "),
		h.config.recallLimit,
		lacksSuspicionLabels,
	)
	if err != nil || len(hits) == 0 {
		return err
	}
	names := make([]string, len(hits))
	for i, e := range hits {
		names[i] = e.Name
	}
	const before, after = "<recall>\n", "\n</recall>"
	body := func(hits []oxbow.Entry) string { return escapeEndTag("recall", formatHits(hits)) }
	block := func(hits []oxbow.Entry) string { return before + body(hits) + after }
	c.Add(prompt.Part{Name: "recall", Source: strings.Join(names, ", "), Role: prompt.RoleUser, Text: block(hits),
		Shorten: func(tokens int) string {
			for n := len(hits) - 1; n > 0; n-- {
				if s := block(hits[:n]); prompt.EstimateTokens(s) <= tokens {
					return s
				}
			}
			var first prompt.Part // Shorten the first entry, because not even this entry fits into the budget.
			return first.WithFrame(before, body(hits[:1]), after).Shorten(tokens)
		}})
	return nil
}

// escapeEndTag escapes the end tags of a block in s, which is inserted into this block as data. block is the tag's
// name. For example, "</memory" becomes "&lt;/memory". Without the escape, an end tag in s would end the block, and the
// rest of s would not be marked as data.
func escapeEndTag(block, s string) string {
	return strings.ReplaceAll(s, "</"+block, "&lt;/"+block)
}

// Session implements [layout.Home]. The layout stores no summaries, because it can store only entries that the agent
// chooses to remember.
func (h *home) Session(ctx context.Context, r layout.Request) (layout.Session, error) {
	return &dialect.Session{
		AddSystemContext:   h.addSystemPromptParts,
		AddRecalledContext: h.addRecalledEntries,
		TokenBudget:        r.Budget,
	}, ctx.Err()
}

// lacksSuspicionLabels reports whether an entry may be put into the agent's context unasked. It returns false if the
// entry's labels mark it as suspicious, or if its text looks like an instruction. The origin of the text does not
// matter, because in this layout the agent itself writes the files.
func lacksSuspicionLabels(e *oxbow.Entry) bool { return e.MayShow(oxbow.WithoutLabels) }
