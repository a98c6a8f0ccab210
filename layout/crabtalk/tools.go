// This file defines the three tools for an agent.

package crabtalk

import (
	"context"
	"embed"
	"errors"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
)

//go:embed tool_*.md
var toolDescriptions embed.FS

// recallToolIn contains the arguments of recall.
type recallToolIn struct {
	Query string `json:"query"           cli:"positional" also:"q,text" jsonschema:"Keyword or phrase to look for."`
	Limit *int   `json:"limit,omitempty"                                jsonschema:"Most entries to return, 5 by default."`
}

// rememberToolIn contains the arguments of remember.
type rememberToolIn struct {
	Name    string   `json:"name"              cli:"positional" also:"key,title" jsonschema:"Name of the entry, by which it is updated and forgotten."`
	Content string   `json:"content"           cli:"positional" also:"text,body" jsonschema:"What to remember, in Markdown."`
	Aliases []string `json:"aliases,omitempty"                  also:"alias"     jsonschema:"Other words that the entry is found by; they replace those it had." flag:"alias"`
}

// forgetToolIn contains the arguments of forget.
type forgetToolIn struct {
	Name string `json:"name" empty:"allowed" cli:"positional" also:"key,title" jsonschema:"Name of the entry to delete."`
}

// Tools implements [layout.Home]. The tools are in crabtalk's order.
func (h *home) Tools() []verb.Tool {
	about := func(name, title string) verb.Tool {
		t := dialect.NewTool(toolDescriptions, name, title)
		t.Idempotent = true
		return t
	}
	r := about("recall", "Search memory")
	w := about("remember", "Save to memory")
	f := about("forget", "Delete from memory")
	r.ReadOnly = true
	w.Destructive = true
	f.Destructive = true
	return []verb.Tool{
		verb.DefineTool(r, h.recallTool),
		verb.DefineTool(w, h.rememberTool),
		verb.DefineTool(f, h.forgetTool),
	}
}

// noHitsReply is the answer of recall if it finds no entry.
const noHitsReply = "no memories found"

func (h *home) recallTool(ctx context.Context, d *verb.Workspace, in recallToolIn) (verb.PlainReply, error) {
	limit := oxbow.DefaultLimit
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 0 {
		return verb.PlainReply{}, &oxbow.InvalidError{
			Field:  "limit",
			Value:  strconv.Itoa(limit),
			Reason: "is less than 0",
		}
	}
	// Answer a search with the limit 0 or without words here. Recall would replace the limit 0 by its default, and
	// would return the latest entries for a search without words.
	if limit == 0 || strings.TrimSpace(in.Query) == "" {
		return verb.PlainReply{Message: noHitsReply}, nil
	}
	ctx, m, err := d.OpenMemory(ctx, verb.Read)
	if err != nil {
		return verb.PlainReply{}, err
	}
	hits, notes, err := d.SearchEntries(ctx, m, oxbow.Query{Text: in.Query, Limit: limit, Rank: oxbow.RankSeed})
	if err != nil {
		return verb.PlainReply{}, err
	}
	if len(hits) == 0 {
		return verb.PlainReply{Message: d.AddNotes(noHitsReply, notes)}, nil
	}
	parts := make([]string, len(hits))
	for i, hit := range hits {
		parts[i] = "## " + hit.Entry.Name + "\n" + hit.Entry.Content
		// Record the hit as shown, with the aliases that the session already knows, because recall does not show
		// aliases.
		known, _ := h.SeenEntries(ctx).SeenVersion(hit.Entry)
		h.SeenEntries(ctx).
			RecordShownEntries(oxbow.Entry{Name: hit.Entry.Name, Content: hit.Entry.Content, Aliases: known.Aliases})
	}
	return verb.PlainReply{Message: d.AddNotes(strings.Join(parts, "\n---\n"), notes), IsRemembered: true}, nil
}

func (h *home) rememberTool(ctx context.Context, d *verb.Workspace, in rememberToolIn) (verb.PlainReply, error) {
	ctx, m, err := d.OpenMemory(ctx, verb.Create)
	if err == nil {
		e := oxbow.Entry{Name: in.Name, Content: in.Content, Aliases: append([]string{}, in.Aliases...)}
		err = h.PutEntry(ctx, m, e, checkIsNote("which remember does not overwrite; choose another name"))
	}
	if err != nil {
		return verb.PlainReply{}, &crabtalkError{"failed to save entry: " + err.Error(), err}
	}
	return verb.PlainReply{Message: "remembered: " + in.Name}, nil
}

// checkIsNote returns a function that fails unless the kind of an entry is a note. The reason in the error first says
// which kind the entry is, and then continues with errorPrefix.
func checkIsNote(errorPrefix string) func(oxbow.Entry) error {
	return func(old oxbow.Entry) error {
		if old.Kind == oxbow.Note {
			return nil
		}
		return &oxbow.InvalidError{
			Field: "name",
			Value: old.Name,
			Reason: "is that of an " + old.Kind.String() + ", " +
				errorPrefix,
		}
	}
}

func (h *home) forgetTool(ctx context.Context, d *verb.Workspace, in forgetToolIn) (verb.PlainReply, error) {
	ctx, m, err := d.OpenMemory(ctx, verb.Create)
	if err != nil {
		return verb.PlainReply{}, err
	}
	err = h.DeleteEntry(ctx, m, in.Name, checkIsNote("which forget does not delete; a person can"))
	if errors.Is(err, oxbow.ErrNotFound) {
		return verb.PlainReply{}, &crabtalkError{"no entry named: " + in.Name, err}
	}
	return verb.PlainReply{Message: "forgot: " + in.Name}, err
}

// crabtalkError is an error whose text is exactly crabtalk's message.
type crabtalkError struct {
	message string
	err     error
}

func (e *crabtalkError) Error() string { return e.message }
func (e *crabtalkError) Unwrap() error { return e.err }
