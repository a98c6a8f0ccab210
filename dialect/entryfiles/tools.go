// The tools of an agent.

package entryfiles

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/tool"
)

//go:embed tool_*.md
var descriptions embed.FS

type rememberIn struct {
	Name        string `json:"name" cli:"positional" jsonschema:"What to call it; the same name again overwrites."`
	Description string `json:"description" jsonschema:"One short line to find it by."`
	Content     string `json:"content" also:"text" jsonschema:"What to remember, in Markdown."`
}

type forgetIn struct {
	Name string `json:"name" cli:"positional" jsonschema:"The exact name of the entry."`
}

type recallIn struct {
	Query string `json:"query" cli:"positional" also:"q,text" jsonschema:"Words to look for."`
	Limit *int   `json:"limit,omitempty" jsonschema:"The most entries to return."`
}

type textIn struct {
	Content string `json:"content" cli:"positional" also:"text" jsonschema:"All of the new text, in Markdown."`
}

// Tools implements [dialect.Home]: the four of the design, and soul, which
// writes the identity as far as soul_editable lets it.
func (h *home) Tools() []tool.Tool {
	about := func(name, title string) tool.Tool { return dialect.Describe(descriptions, name, title) }
	remember, forget := about("remember", "Save to memory"), about("forget", "Delete from memory")
	remember.Destructive, remember.Idempotent = true, true
	forget.Destructive = true
	recall := about("recall", "Search memory")
	recall.ReadOnly, recall.Idempotent = true, true
	memory, soul := about("memory", "Rewrite the overview"), about("soul", "Rewrite the identity")
	memory.Destructive, memory.Idempotent = true, true
	soul.Destructive, soul.Idempotent = true, true
	return []tool.Tool{tool.Define(remember, h.remember), tool.Define(forget, h.forget),
		tool.Define(recall, h.recall), tool.Define(memory, h.setIndex), tool.Define(soul, h.setIdentity)}
}

func (h *home) remember(ctx context.Context, d *tool.Workspace, in rememberIn) (tool.Reply, error) {
	ctx, m, err := d.Memory(ctx, tool.Create)
	if err != nil {
		return tool.Reply{}, err
	}
	name := strings.TrimSpace(in.Name)
	if err := oxbow.CheckName(name); err != nil {
		return tool.Reply{}, fmt.Errorf("failed to save entry: %w", err)
	}
	content := join(clean(in.Description), in.Content)
	if _, err := m.Remember(ctx, oxbow.Entry{Name: name, Content: content}); err != nil {
		return tool.Reply{}, fmt.Errorf("failed to save entry: %w", err)
	}
	return tool.Reply{Message: "remembered: " + name}, nil
}

func (h *home) forget(ctx context.Context, d *tool.Workspace, in forgetIn) (tool.Reply, error) {
	ctx, m, err := d.Memory(ctx, tool.Create)
	if err != nil {
		return tool.Reply{}, err
	}
	switch err := m.Forget(ctx, in.Name); {
	case errors.Is(err, oxbow.ErrNotFound), errors.Is(err, oxbow.ErrInvalid):
		return tool.Reply{Message: "no entry named: " + in.Name}, nil
	case err != nil:
		return tool.Reply{}, err
	}
	return tool.Reply{Message: "forgot: " + in.Name}, nil
}

func (h *home) recall(ctx context.Context, d *tool.Workspace, in recallIn) (tool.Reply, error) {
	limit := h.config.recallLimit
	if in.Limit != nil {
		if limit = min(*in.Limit, oxbow.MaxLimit); limit < 1 {
			return tool.Reply{}, &oxbow.InvalidError{Field: "limit", Value: strconv.Itoa(limit), Reason: "would return nothing; give 1 or more, or leave it out"}
		}
	}
	ctx, m, err := d.Memory(ctx, tool.Read)
	if err != nil {
		return tool.Reply{}, err
	}
	hits, err := h.rank.search(ctx, m, in.Query, limit)
	if err != nil {
		return tool.Reply{}, err
	}
	return tool.Reply{Message: show(hits)}, nil
}

func (h *home) setIndex(ctx context.Context, _ *tool.Workspace, in textIn) (tool.Reply, error) {
	if err := h.tree.SetDocument(ctx, indexFile, in.Content); err != nil {
		return tool.Reply{}, fmt.Errorf("failed to write MEMORY.md: %w", err)
	}
	return tool.Reply{Message: "MEMORY.md updated"}, nil
}

func (h *home) setIdentity(ctx context.Context, _ *tool.Workspace, in textIn) (tool.Reply, error) {
	if !h.config.soulEditable {
		return tool.Reply{Message: "soul editing is disabled in config"}, nil
	}
	if err := h.tree.SetDocument(ctx, identityFile, in.Content); err != nil {
		return tool.Reply{}, fmt.Errorf("failed to write Crab.md: %w", err)
	}
	return tool.Reply{Message: "Crab.md updated"}, nil
}
