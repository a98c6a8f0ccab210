// This file defines the tools for an agent.

package duragent

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
	"github.com/oxbow-memory/oxbow/query"
)

//go:embed tool_*.md
var toolDescriptions embed.FS

// recallToolIn contains the arguments of recall.
type recallToolIn struct {
	Days *int   `json:"days,omitempty" jsonschema:"Days of the log to load, today being the first; 3 by default."`
	From string `json:"from,omitempty" jsonschema:"First day of a range, such as 2026-02-01; instead of days."    also:"since,after"`
	To   string `json:"to,omitempty"   jsonschema:"Last day of a range, included; instead of days."               also:"until"`
}

// rememberToolIn contains the arguments of remember.
type rememberToolIn struct {
	Content string `json:"content" cli:"positional" also:"text" jsonschema:"What to remember, in Markdown."`
}

// reflectToolIn contains the arguments of the tool reflect, with which an agent replaces its long-term notes.
type reflectToolIn struct {
	Content string `json:"content" cli:"positional" also:"text" jsonschema:"All of the long-term notes, in Markdown."`
}

// updateWorldToolIn contains the arguments of update_world.
type updateWorldToolIn struct {
	Topic   string `json:"topic"   cli:"positional" jsonschema:"What the facts are about, such as people."`
	Content string `json:"content" cli:"positional" jsonschema:"All that is known about the topic, in Markdown." also:"text"`
}

// searchToolIn contains the arguments of search_memory.
type searchToolIn struct {
	Query string `json:"query"           cli:"positional" also:"q,text"      jsonschema:"Words to look for, with +must, -not, prefix* and quoted phrases."`
	From  string `json:"from,omitempty"                   also:"since,after" jsonschema:"First day, such as 2026-02-01."`
	To    string `json:"to,omitempty"                     also:"until"       jsonschema:"Last day, included."`
	Limit int    `json:"limit,omitempty"                                     jsonschema:"Most hits, 5 by default."`
}

// defaultRecallDays is the number of days that recall returns by default.
const defaultRecallDays = 3

// Tools implements [layout.Home]. It returns no tools if the agent's agent.yaml lacks the section spec.memory.
func (h *home) Tools() []verb.Tool {
	if !h.config.hasMemory {
		return nil
	}
	about := func(name, title string) verb.Tool { return dialect.NewTool(toolDescriptions, name, title) }
	recall := about("recall", "Recall from memory")
	recall.ReadOnly, recall.Idempotent = true, true
	remember := about("remember", "Save to memory")
	reflect := about("reflect", "Reflect")
	reflect.Destructive, reflect.Idempotent = true, true
	world := about("update_world", "Update world knowledge")
	world.Destructive, world.Idempotent = true, true
	search := about("search_memory", "Search the memory")
	search.ReadOnly, search.Idempotent = true, true
	return []verb.Tool{
		verb.DefineTool(
			recall,
			h.recallTool,
		), verb.DefineTool(remember, h.rememberTool), verb.DefineTool(reflect, h.callReflectTool),
		verb.DefineTool(world, h.updateWorldTool), verb.DefineTool(search, h.searchTool),
	}
}

func (h *home) recallTool(ctx context.Context, d *verb.Workspace, in recallToolIn) (verb.PlainReply, error) {
	days := defaultRecallDays
	if in.Days != nil {
		days = *in.Days
	}
	if days < 0 {
		return verb.PlainReply{}, &oxbow.InvalidError{
			Field:  "days",
			Value:  strconv.Itoa(days),
			Reason: "is less than 0",
		}
	}
	s := lastDays(h.Now(), days)
	if in.From != "" || in.To != "" {
		if in.Days != nil {
			return verb.PlainReply{}, &oxbow.InvalidError{
				Field:  "days",
				Value:  strconv.Itoa(days),
				Reason: "is given with from or to; give one or the other",
			}
		}
		var err error
		s, err = parseDateSpan(in.From, in.To)
		if err != nil {
			return verb.PlainReply{}, err
		}
	}
	ctx, m, err := d.OpenMemory(ctx, verb.Read)
	if err != nil {
		return verb.PlainReply{}, err
	}
	var entries []oxbow.Entry
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return verb.PlainReply{}, err
		}
		entries = append(entries, e)
	}
	h.SeenEntries(ctx).RecordShownEntries(slices.DeleteFunc(slices.Clone(entries), func(e oxbow.Entry) bool {
		return e.Kind == oxbow.Journal
	})...)
	text := renderRecall(entries, s)
	if text == "" {
		return verb.PlainReply{Message: "No memories found"}, nil
	}
	return verb.PlainReply{Message: text, IsRemembered: true}, nil
}

// parseDateSpan parses the first and the last date of a span. An empty date means that the span is open on this side.
func parseDateSpan(from, to string) (dateSpan, error) {
	for field, s := range map[string]string{"from": from, "to": to} {
		if s != "" && !isDate(s) {
			return dateSpan{}, &oxbow.InvalidError{Field: field, Value: s, Reason: "is not a date such as 2026-02-18"}
		}
	}
	hasBoth := from != "" && to != ""
	if hasBoth && from > to {
		return dateSpan{}, &oxbow.InvalidError{Field: "from", Value: from, Reason: "is after to, " + to}
	}
	return dateSpan{from, to}, nil
}

func (h *home) rememberTool(ctx context.Context, d *verb.Workspace, in rememberToolIn) (verb.PlainReply, error) {
	ctx, m, err := d.OpenMemory(ctx, verb.Create)
	if err != nil {
		return verb.PlainReply{}, err
	}
	name, err := h.addToDailyLog(ctx, m, in.Content)
	if err != nil {
		return verb.PlainReply{}, err
	}
	return verb.PlainReply{Message: "Remembered. Written to " + h.describeEntryLocation(name)}, nil
}

// addToDailyLog adds an entry with the present time to today's log, and returns the entry's name. An empty content is
// an [oxbow.InvalidError].
func (h *home) addToDailyLog(ctx context.Context, m *oxbow.Memory, content string) (string, error) {
	if strings.TrimSpace(content) == "" {
		return "", &oxbow.InvalidError{Field: "content", Reason: "is empty; say what to remember"}
	}
	now := h.Now()
	date, moment := now.Format(dayFormat), now.Format(minuteFormat)
	// The entry's name contains the minute and a number. If another process uses the name first, try the next number.
	for n := 1; ; n++ {
		name := dayEntryName(date, moment, n)
		if _, err := m.GetNamed(ctx, name); err == nil {
			continue
		} else if !errors.Is(err, oxbow.ErrNotFound) {
			return "", err
		}
		err := m.Apply(ctx, oxbow.Add{Name: name, Kind: oxbow.Journal, Content: content, Created: now})
		if errors.Is(err, oxbow.ErrExists) {
			continue
		}
		return name, err
	}
}

func (h *home) callReflectTool(ctx context.Context, d *verb.Workspace, in reflectToolIn) (verb.PlainReply, error) {
	ctx, m, err := d.OpenMemory(ctx, verb.Create)
	if err != nil {
		return verb.PlainReply{}, err
	}
	if err := h.putEntry(ctx, m, oxbow.Entry{Name: curatedNoteName, Kind: oxbow.Note,
		Content: in.Content}); err != nil {
		return verb.PlainReply{}, err
	}
	return verb.PlainReply{Message: "Reflected. Updated " + h.describeEntryLocation(curatedNoteName)}, nil
}

func (h *home) updateWorldTool(ctx context.Context, d *verb.Workspace, in updateWorldToolIn) (verb.PlainReply, error) {
	ctx, m, err := d.OpenMemory(ctx, verb.Create)
	if err != nil {
		return verb.PlainReply{}, err
	}
	name, err := chooseTopicName(in.Topic, func(name string) (bool, error) {
		_, err := m.GetNamed(ctx, name)
		if errors.Is(err, oxbow.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return verb.PlainReply{}, err
	}
	if err := h.putEntry(ctx, m, oxbow.Entry{Name: name, Kind: oxbow.World, Content: in.Content}); err != nil {
		return verb.PlainReply{}, err
	}
	text := "Updated world knowledge at " + h.describeEntryLocation(name)
	if normalizeTopic(strings.TrimSpace(in.Topic)) != strings.ToLower(factFileStem(name)) {
		text += fmt.Sprintf("\nThe topic is kept as %q: use this name from now on.", name)
	}
	return verb.PlainReply{Message: text}, nil
}

// putEntry adds the entry e to the memory m. If m has an entry with the same name, putEntry replaces its content.
func (h *home) putEntry(ctx context.Context, m *oxbow.Memory, e oxbow.Entry) error {
	if strings.TrimSpace(e.Content) == "" {
		return &oxbow.InvalidError{
			Field:  "content",
			Reason: "is empty; give the whole text, or let a person remove the file",
		}
	}
	return h.PutEntry(ctx, m, e, nil)
}

func (h *home) searchTool(ctx context.Context, d *verb.Workspace, in searchToolIn) (verb.PlainReply, error) {
	s, err := parseDateSpan(in.From, in.To)
	if err != nil {
		return verb.PlainReply{}, err
	}
	q, err := query.Parse(in.Query, h.Now())
	if err != nil {
		return verb.PlainReply{}, err
	}
	f := oxbow.Filter{}
	if s.firstDate != "" {
		f.After, _ = time.ParseInLocation(dayFormat, s.firstDate, h.Zone)
	}
	if s.lastDate != "" {
		t, _ := time.ParseInLocation(dayFormat, s.lastDate, h.Zone)
		f.Before = t.AddDate(0, 0, 1)
	}
	q.Filter, q.Limit = q.Filter.And(f), in.Limit
	ctx, m, err := d.OpenMemory(ctx, verb.Read)
	if err != nil {
		return verb.PlainReply{}, err
	}
	hits, notes, err := d.SearchEntries(ctx, m, q)
	if err != nil {
		return verb.PlainReply{}, err
	}
	for _, hit := range hits {
		if isShownWhole(hit.Entry) {
			h.SeenEntries(ctx).RecordShownEntries(hit.Entry)
		}
	}
	return verb.PlainReply{
		Message:      d.AddNotes(renderHits(in.Query, hits, h.Zone), notes),
		IsRemembered: len(hits) > 0,
	}, nil
}

// describeEntryLocation returns a text for messages that tells where an entry is stored. The text is the path of the
// entry's file. If the entries are in a store of oxbow, the text is the store's path and the entry's name.
func (h *home) describeEntryLocation(name string) string {
	if h.config.backend == backendOxbow {
		return path.Join(h.Path, defaultStorePath(h.directories)) + " as " + strconv.Quote(name)
	}
	return path.Join(h.Path, makeLayout(h.directories, h.Zone).filePath(name))
}
