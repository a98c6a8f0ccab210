// The three tools of an agent.

package crabtalk

import (
	"context"
	"embed"
	"errors"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/tool"
)

//go:embed tool_*.md
var descriptions embed.FS

// recallIn is what recall takes.
type recallIn struct {
	Query string `json:"query" cli:"positional" also:"q,text" jsonschema:"Keyword or phrase to look for."`
	Limit *int   `json:"limit,omitempty" jsonschema:"Most entries to return, 5 by default."`
}

// rememberIn is what remember takes.
type rememberIn struct {
	Name    string   `json:"name" cli:"positional" also:"key,title" jsonschema:"Name of the entry, by which it is updated and forgotten."`
	Content string   `json:"content" cli:"positional" also:"text,body" jsonschema:"What to remember, in Markdown."`
	Aliases []string `json:"aliases,omitempty" also:"alias" flag:"alias" jsonschema:"Other words that the entry is found by; they replace those it had."`
}

// forgetIn is what forget takes.
type forgetIn struct {
	Name string `json:"name" cli:"positional" also:"key,title" jsonschema:"Name of the entry to delete."`
}

// tools returns the tools, in crabtalk's order.
func tools() []tool.Tool {
	about := func(name, title string) tool.Tool {
		t := dialect.Describe(descriptions, name, title)
		t.Idempotent = true
		return t
	}
	r, w, f := about("recall", "Search memory"), about("remember", "Save to memory"), about("forget", "Delete from memory")
	r.ReadOnly, w.Destructive, f.Destructive = true, true, true
	return []tool.Tool{tool.Define(r, recall), tool.Define(w, remember), tool.Define(f, forget)}
}

// nothing is what recall says when it finds nothing.
const nothing = "no memories found"

func recall(ctx context.Context, d *tool.Workspace, in recallIn) (tool.Reply, error) {
	limit := oxbow.DefaultLimit
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 0 {
		return tool.Reply{}, &oxbow.InvalidError{Field: "limit", Value: strconv.Itoa(limit), Reason: "is less than 0"}
	}
	// To the library, no limit and no words mean other things than nothing.
	if limit == 0 || strings.TrimSpace(in.Query) == "" {
		return tool.Reply{Message: nothing}, nil
	}
	ctx, m, err := d.Memory(ctx, tool.Read)
	if err != nil {
		return tool.Reply{}, err
	}
	hits, err := m.Recall(ctx, oxbow.Query{Text: in.Query, Limit: limit, Rank: oxbow.RankSeed})
	if err != nil {
		return tool.Reply{}, err
	}
	if len(hits) == 0 {
		return tool.Reply{Message: nothing}, nil
	}
	parts := make([]string, len(hits))
	for i, h := range hits {
		parts[i] = "## " + h.Entry.Name + "\n" + h.Entry.Content
	}
	return tool.Reply{Message: strings.Join(parts, "\n---\n")}, nil
}

func remember(ctx context.Context, d *tool.Workspace, in rememberIn) (tool.Reply, error) {
	ctx, m, err := d.Memory(ctx, tool.Create)
	if err == nil {
		err = upsert(ctx, m, in)
	}
	if err != nil {
		return tool.Reply{}, &saidError{"failed to save entry: " + err.Error(), err}
	}
	return tool.Reply{Message: "remembered: " + in.Name}, nil
}

// upsert adds a note or updates it, all of it.
func upsert(ctx context.Context, m *oxbow.Memory, in rememberIn) error {
	for {
		old, err := m.Store().Get(ctx, in.Name)
		var op oxbow.Op
		switch {
		case errors.Is(err, oxbow.ErrNotFound):
			op = oxbow.Add{Name: in.Name, Content: in.Content, Aliases: in.Aliases}
		case err != nil:
			return err
		case old.Kind != oxbow.Note:
			return &oxbow.InvalidError{Field: "name", Value: in.Name, Reason: "is that of an " + old.Kind.String() + ", which remember does not overwrite; choose another name"}
		default:
			op = oxbow.Update{Name: in.Name, Content: in.Content, Aliases: in.Aliases, If: old.Version}
		}
		err = m.Apply(ctx, op)
		if errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrNotFound) || errors.Is(err, oxbow.ErrConflict) {
			continue // another was first: look again
		}
		return err
	}
}

func forget(ctx context.Context, d *tool.Workspace, in forgetIn) (tool.Reply, error) {
	ctx, m, err := d.Memory(ctx, tool.Create)
	if err != nil {
		return tool.Reply{}, err
	}
	for {
		old, err := m.Store().Get(ctx, in.Name)
		if err == nil && old.Kind != oxbow.Note {
			return tool.Reply{}, &oxbow.InvalidError{Field: "name", Value: in.Name, Reason: "is that of an " + old.Kind.String() + ", which forget does not delete; a person can"}
		}
		if err == nil {
			err = m.Apply(ctx, oxbow.Remove{Name: in.Name, If: old.Version})
		}
		switch {
		case errors.Is(err, oxbow.ErrConflict):
			continue // changed since it was looked at
		case errors.Is(err, oxbow.ErrNotFound):
			return tool.Reply{}, &saidError{"no entry named: " + in.Name, err}
		case err != nil:
			return tool.Reply{}, err
		}
		return tool.Reply{Message: "forgot: " + in.Name}, nil
	}
}

// saidError is an error in crabtalk's words.
type saidError struct {
	said string
	err  error
}

func (e *saidError) Error() string { return e.said }
func (e *saidError) Unwrap() error { return e.err }
