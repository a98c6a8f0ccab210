// This file defines the tools for an agent.

package clawft

import (
	"context"
	"embed"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
)

//go:embed tool_*.md
var toolDescriptions embed.FS

type readToolIn struct {
	Query string `json:"query,omitempty" cli:"positional" also:"q,text" jsonschema:"Optional search query to filter memory content"`
	File  string `json:"file,omitempty"                   also:"source" jsonschema:"What to read: memory (default), history or all" enum:"memory,history,all"`
}

// readToolOut is the result of memory_read: a file's content, or the paragraphs found by a search.
type readToolOut struct {
	Content *string   `json:"content,omitempty" jsonschema:"all of the file"`
	Message string    `json:"message,omitempty" jsonschema:"why there is none"`
	Query   string    `json:"query,omitempty"   jsonschema:"what was looked for"`
	Matches *[]string `json:"matches,omitempty" jsonschema:"the paragraphs that hold it, in their order"`
	Count   *int      `json:"count,omitempty"   jsonschema:"how many they are"`
}

// Report implements [report.Reporter].
func (o readToolOut) Report() (r report.Report) {
	r.Add(report.TextForModel(o.text()))
	return r
}

// text returns the answer as the model reads it: the message, the content of the file, or the paragraphs.
func (o readToolOut) text() string {
	switch {
	case o.Message != "":
		return o.Message
	case o.Content != nil:
		return *o.Content
	case len(*o.Matches) == 0:
		return "No paragraph holds " + strconv.Quote(o.Query)
	}
	return strings.Join(*o.Matches, "\n\n")
}

// IsRememberedText reports whether the answer contains only text from the memory (see [verb.Answer]).
func (o readToolOut) IsRememberedText() bool {
	return o.Message == "" && (o.Matches == nil || len(*o.Matches) > 0)
}

type writeToolIn struct {
	Content string `json:"content"        cli:"positional" also:"text" jsonschema:"The content to write to memory"`
	Mode    string `json:"mode,omitempty"                              jsonschema:"Write mode: 'append' (default) or 'overwrite'"`
}

type writeToolOut struct {
	Message string `json:"message" jsonschema:"what was done"`
	Path    string `json:"path"    jsonschema:"the file"`
}

// Report implements [report.Reporter].
func (o writeToolOut) Report() (r report.Report) {
	r.Add(report.TextForModel(o.Message))
	return r
}

type searchToolIn struct {
	Query string `json:"query"           cli:"positional" also:"q,text" jsonschema:"Words to look for"`
	Limit *int   `json:"limit,omitempty"                                jsonschema:"Most entries to return, 5 by default"`
}

type searchToolOut struct {
	Query   string      `json:"query"   jsonschema:"what was looked for"`
	Matches []searchHit `json:"matches" jsonschema:"the entries, best first"`
	Count   int         `json:"count"   jsonschema:"how many they are"`

	Notes []string `json:"notes,omitempty" jsonschema:"what the search lacked"`
}

type searchHit struct {
	Name string `json:"name" jsonschema:"the name of the entry"`
	Date string `json:"date" jsonschema:"when it was written, or else when the file was"`
	Text string `json:"text" jsonschema:"the entry"`
}

// Report implements [report.Reporter].
func (o searchToolOut) Report() (r report.Report) {
	var texts []string
	for _, f := range o.Matches {
		texts = append(texts, f.Text)
	}
	if o.Count == 0 {
		texts = append(texts, "No session in HISTORY.md is about "+strconv.Quote(o.Query))
	}
	for _, n := range o.Notes {
		texts = append(texts, "note: "+n)
	}
	r.Add(report.TextForModel(strings.Join(texts, "\n\n")))
	return r
}

// IsRememberedText reports whether the answer contains text from the memory, which is the case if the search found
// anything. A server marks such text as data, so that the model does not follow instructions in it (see [verb.Answer]).
func (o searchToolOut) IsRememberedText() bool { return o.Count > 0 }

// Tools implements [layout.Home]. It returns the tools memory_read and memory_write, which the design of clawft
// defines. It also returns session_search, a tool that searches past sessions, which the design plans for the future.
func (h *Home) Tools() []verb.Tool {
	about := func(name, title string) verb.Tool { return dialect.NewTool(toolDescriptions, name, title) }
	read := about("memory_read", "Read the memory")
	write := about("memory_write", "Write to the memory")
	search := about("session_search", "Search past sessions")
	read.ReadOnly, read.Idempotent = true, true
	write.Destructive = true
	search.ReadOnly, search.Idempotent = true, true
	w := verb.DefineTool(write, h.writeTool)
	// The design has two modes, but clawft itself appends for any other mode. Therefore the schema lists the two
	// modes, and a call with another mode is not refused.
	w.Input.Properties["mode"].Enum = []any{"append", "overwrite"}
	return []verb.Tool{verb.DefineTool(read, h.readTool), w, verb.DefineTool(search, h.searchTool)}
}

func (h *Home) readTool(ctx context.Context, _ *verb.Workspace, in readToolIn) (readToolOut, error) {
	var texts []string
	there := false
	for _, f := range []struct{ name, file string }{{"memory", memoryFile}, {"history", historyFile}} {
		isDefault := in.File == "" && f.name == "memory"
		isWanted := in.File == f.name || in.File == "all"
		if !isDefault && !isWanted {
			continue
		}
		text, ok, err := h.Tree.Document(ctx, f.file)
		if err != nil {
			return readToolOut{}, fmt.Errorf("failed to read memory: %w", err)
		}
		text, _ = h.splitForCaller(ctx, f.file, text)
		// Record that the session has seen the whole file. A search shows only a part of the file, so it does not
		// count.
		if ok && in.Query == "" {
			h.SeenEntries(ctx).RecordShownEntries(verb.DocumentEntry(f.file, text))
		}
		texts, there = append(texts, text), there || ok
	}
	if in.Query != "" {
		all := []string{}
		for _, text := range texts {
			all = append(all, paragraphsContaining(text, in.Query)...)
		}
		n := len(all)
		return readToolOut{Query: in.Query, Matches: &all, Count: &n}, nil
	}
	content := texts[0]
	if len(texts) > 1 && texts[1] != "" {
		content = appendTextOnNewLine(content, texts[1])
	}
	out := readToolOut{Content: &content}
	if !there {
		out.Message = "No memory file found"
	}
	return out, nil
}

func (h *Home) writeTool(ctx context.Context, _ *verb.Workspace, in writeToolIn) (writeToolOut, error) {
	mode := in.Mode
	if mode == "" {
		mode = "append"
	}
	write := h.AppendMemory
	if mode == "overwrite" {
		write = h.WriteMemory
	}
	n, err := write(ctx, in.Content)
	if err != nil {
		return writeToolOut{}, err
	}
	return writeToolOut{
		Message: fmt.Sprintf("Successfully wrote %d bytes to memory (mode: %s)", n, mode),
		Path:    filepath.Join(h.displayPath, memoryFile),
	}, nil
}

func (h *Home) searchTool(ctx context.Context, d *verb.Workspace, in searchToolIn) (searchToolOut, error) {
	limit := oxbow.DefaultLimit
	if in.Limit != nil {
		limit = *in.Limit
		if limit < 1 {
			return searchToolOut{}, &oxbow.InvalidError{
				Field:  "limit",
				Value:  strconv.Itoa(limit),
				Reason: "would return nothing; give 1 or more, or leave it out",
			}
		}
	}
	ctx, m, err := d.OpenMemory(ctx, verb.Read)
	if err != nil {
		return searchToolOut{}, err
	}
	hits, notes, err := d.SearchEntries(ctx, m, oxbow.Query{Text: in.Query, Limit: limit,
		Filter: oxbow.Filter{Terms: []oxbow.Term{{Key: "kind", Values: []string{oxbow.History.String()}}}}})
	if err != nil {
		return searchToolOut{}, err
	}
	out := searchToolOut{Query: in.Query, Matches: []searchHit{}}
	for _, n := range notes {
		out.Notes = append(out.Notes, d.NoteText(n))
	}
	for _, hit := range hits {
		if hit.Entry.MayShow(oxbow.OnRequest(ctx)) {
			out.Matches = append(
				out.Matches,
				searchHit{
					hit.Entry.Name,
					hit.Entry.Created.In(h.layout.zone).Format("2006-01-02"),
					verb.TrustWarning(hit.Entry.Trust()) + hit.Entry.Content,
				},
			)
		}
	}
	out.Count = len(out.Matches)
	return out, nil
}
