// This file defines the tools for an agent.

package entryfiles

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
)

//go:embed tool_*.md
var toolDescriptions embed.FS

type rememberToolIn struct {
	Name        string `json:"name"        cli:"positional" jsonschema:"What to call it; the same name again overwrites."`
	Description string `json:"description"                  jsonschema:"One short line to find it by."`
	Content     string `json:"content"                      jsonschema:"What to remember, in Markdown."                   also:"text"`
}

type forgetToolIn struct {
	Name string `json:"name" cli:"positional" jsonschema:"The exact name of the entry."`
}

type recallToolIn struct {
	Query string `json:"query"           cli:"positional" also:"q,text" jsonschema:"Words to look for."`
	Limit *int   `json:"limit,omitempty"                                jsonschema:"The most entries to return."`
}

type rewriteToolIn struct {
	Content string `json:"content,omitempty" cli:"positional" also:"text" jsonschema:"All of the new text, in Markdown; left out, the call shows the text that stands."`
}

// Tools implements [layout.Home]. It returns the four tools of crabtalk's design: remember, forget, recall and memory.
// It also returns the tool soul, which rewrites the identity. A call of this tool is refused unless the setting
// soul_editable allows the edit.
func (h *home) Tools() []verb.Tool {
	about := func(name, title string) verb.Tool { return dialect.NewTool(toolDescriptions, name, title) }
	remember, forget := about("remember", "Save to memory"), about("forget", "Delete from memory")
	remember.Destructive, remember.Idempotent = true, true
	forget.Destructive = true
	recall := about("recall", "Search memory")
	recall.ReadOnly, recall.Idempotent = true, true
	memory, soul := about("memory", "Rewrite the overview"), about("soul", "Rewrite the identity")
	memory.Destructive, memory.Idempotent = true, true
	soul.Destructive, soul.Idempotent = true, true
	return []verb.Tool{verb.DefineTool(remember, h.rememberTool), verb.DefineTool(forget, h.forgetTool),
		verb.DefineTool(
			recall,
			h.recallTool,
		), verb.DefineTool(memory, h.memoryTool), verb.DefineTool(soul, h.soulTool)}
}

func (h *home) rememberTool(ctx context.Context, d *verb.Workspace, in rememberToolIn) (verb.PlainReply, error) {
	ctx, m, err := d.OpenMemory(ctx, verb.Create)
	if err != nil {
		return verb.PlainReply{}, err
	}
	name := strings.TrimSpace(in.Name)
	if err := oxbow.CheckName(name); err != nil {
		return verb.PlainReply{}, fmt.Errorf("failed to save entry: %w", err)
	}
	content := joinDescription(toSingleLine(in.Description), in.Content)
	if strings.TrimSpace(content) == "" {
		err = &oxbow.InvalidError{Field: "content", Reason: "is empty; say what to remember"}
	} else {
		err = h.PutEntry(ctx, m, oxbow.Entry{Name: name, Content: content}, nil)
	}
	if err != nil {
		return verb.PlainReply{}, fmt.Errorf("failed to save entry: %w", err)
	}
	return verb.PlainReply{Message: "remembered: " + name}, nil
}

func (h *home) forgetTool(ctx context.Context, d *verb.Workspace, in forgetToolIn) (verb.PlainReply, error) {
	ctx, m, err := d.OpenMemory(ctx, verb.Create)
	if err != nil {
		return verb.PlainReply{}, err
	}
	switch err := h.DeleteEntry(ctx, m, in.Name, nil); {
	case errors.Is(err, oxbow.ErrNotFound), errors.Is(err, oxbow.ErrInvalid):
		return verb.PlainReply{Message: "no entry named: " + in.Name}, nil
	case err != nil:
		return verb.PlainReply{}, err
	}
	return verb.PlainReply{Message: "forgot: " + in.Name}, nil
}

func (h *home) recallTool(ctx context.Context, d *verb.Workspace, in recallToolIn) (verb.PlainReply, error) {
	limit := h.config.recallLimit
	if in.Limit != nil {
		limit = min(*in.Limit, oxbow.MaxLimit)
		if limit < 1 {
			return verb.PlainReply{}, &oxbow.InvalidError{
				Field:  "limit",
				Value:  strconv.Itoa(limit),
				Reason: "would return nothing; give 1 or more, or leave it out",
			}
		}
	}
	ctx, m, err := d.OpenMemory(ctx, verb.Read)
	if err != nil {
		return verb.PlainReply{}, err
	}
	hits, notes, err := h.searchEntries(ctx, d, m, in.Query, limit)
	if err != nil {
		return verb.PlainReply{}, err
	}
	h.SeenEntries(ctx).RecordShownEntries(hits...)
	return verb.PlainReply{Message: d.AddNotes(formatHits(hits), notes), IsRemembered: len(hits) > 0}, nil
}

// searchEntries returns the entries that match the query, the best first, and notes for the reply. It finds entries
// that contain words of the query. If the workspace has vectors, it also finds entries whose vectors are similar to the
// query's vector. Entries that the caller may not see are left out.
func (h *home) searchEntries(
	ctx context.Context,
	d *verb.Workspace,
	m *oxbow.Memory,
	query string,
	limit int,
) ([]oxbow.Entry, []verb.Note, error) {
	byID := map[uint64]oxbow.Entry{}
	ids, notes, err := d.FuseVectorRanking(ctx, m, query, limit, func(limit int) (ids []uint64, err error) {
		mayShow := func(e *oxbow.Entry) bool { return e.MayShow(oxbow.OnRequest(ctx)) }
		hits, err := h.ranker.search(ctx, m, query, limit, mayShow)
		for _, e := range hits {
			ids, byID[e.ID] = append(ids, e.ID), e
		}
		return ids, err
	})
	if err != nil {
		return nil, nil, err
	}
	var hits []oxbow.Entry
	for _, id := range ids {
		e, ok := byID[id]
		if !ok {
			e, ok = h.ranker.indexedEntry(id)
		}
		if ok && e.MayShow(oxbow.OnRequest(ctx)) {
			hits = append(hits, e)
		}
	}
	return hits, notes, nil
}

func (h *home) memoryTool(ctx context.Context, _ *verb.Workspace, in rewriteToolIn) (verb.PlainReply, error) {
	return h.rewriteDocument(ctx, indexFile, in.Content)
}

func (h *home) soulTool(ctx context.Context, _ *verb.Workspace, in rewriteToolIn) (verb.PlainReply, error) {
	if in.Content != "" && !h.config.canEditSoul {
		return verb.PlainReply{Message: "soul editing is disabled in config"}, nil
	}
	return h.rewriteDocument(ctx, identityFile, in.Content)
}

// rewriteDocument replaces the text of the document file by content, and returns the reply of the tool. If content is
// "", the document does not change, and the reply contains its present text.
func (h *home) rewriteDocument(ctx context.Context, file, content string) (verb.PlainReply, error) {
	name := path.Base(file)
	if content != "" {
		if err := h.SetDocument(ctx, file, content, dialect.DocumentOptions{}); err != nil {
			return verb.PlainReply{}, fmt.Errorf("failed to write %s: %w", name, err)
		}
		return verb.PlainReply{Message: name + " updated"}, nil
	}
	text, _, err := h.Document(ctx, file)
	switch {
	case err != nil:
		return verb.PlainReply{}, fmt.Errorf("failed to read %s: %w", name, err)
	case strings.TrimSpace(text) == "":
		return verb.PlainReply{Message: name + " is empty"}, nil
	}
	return verb.PlainReply{Message: name + " says:\n\n" + prompt.FenceText("markdown", text)}, nil
}
