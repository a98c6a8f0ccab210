// What each verb gives, as JSON.

package verb

import (
	"context"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// Entry is an entry, or a part of it, in an answer.
type Entry struct {
	ID      uint64              `json:"id"`
	Name    string              `json:"name"`
	Kind    string              `json:"kind"`
	Score   float64             `json:"score,omitempty"`   // of a hit; higher is better
	Snippet string              `json:"snippet,omitempty"` // the part that fits best, on one line
	Content *string             `json:"content,omitempty"` // whole, or absent
	Aliases []string            `json:"aliases"`           // never null
	Labels  map[string][]string `json:"labels"`            // values by key, sorted; never null
	Created string              `json:"created"`           // RFC 3339, UTC
	Updated string              `json:"updated"`           // RFC 3339, UTC
	Version uint64              `json:"version"`           // number of the change that wrote it
	Source  Source              `json:"source"`
	Trust   string              `json:"trust,omitempty"` // tainted or quarantined; "" for all else

	Citations []FileRef `json:"citations,omitempty"` // its related files, where there is a working tree to check them against

	Alike       []string     `json:"alike,omitempty"`  // names of hits that say the same and are not shown
	Before      []Turn       `json:"before,omitempty"` // of a hit in a talk, in the order of the talk
	After       []Turn       `json:"after,omitempty"`
	Explanation *Explanation `json:"explanation,omitempty"`

	around [2][]Turn // the turns that there are for Before and After, the nearest first

	Text  string   `json:"-"` // of a hit, the whole content, for a door that shows lines of it
	Words []string `json:"-"` // of a hit, the words in lower case that the query found in its name and text
}

// Turn is one next to a hit in a talk.
type Turn struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

// Source says who wrote a version: by, door, session and profile are facts of
// the door; client and agent are what the caller said of itself.
type Source struct {
	By      string `json:"by,omitempty"` // person, agent, tool, import, or team
	Door    string `json:"door,omitempty"`
	Client  string `json:"client,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	Profile string `json:"profile,omitempty"`
	Ref     string `json:"ref,omitempty"`
}

// Token returns the name of the token that a change came in with, "" for none.
func (s Source) Token() string {
	name, _, ok := strings.Cut(s.Session, ":")
	if !ok || s.Door != "http" {
		return ""
	}
	return name
}

// ClientSession returns the session of the client that made a change; "" if it is unknown.
func (s Source) ClientSession() string {
	_, id, _ := strings.Cut(session.SessionOf(oxbow.Source{Ref: s.Ref}), "/")
	return id
}

// Reviewed returns the branch, and its commit, in which the text of a team file is as it
// is shown; "" for any other.
func (s Source) Reviewed() string {
	if s.By != string(oxbow.Team) {
		return ""
	}
	return s.Ref
}

// Explanation accounts for a score, as [oxbow.Explanation] does.
type Explanation struct {
	Formula string      `json:"formula"`
	Entries int         `json:"entries"`
	Length  float64     `json:"length"`
	AvgLen  float64     `json:"avg_length"`
	Terms   []TermScore `json:"terms"`
}

// TermScore is what one term gave to a score.
type TermScore struct {
	Term   string       `json:"term"`
	Word   string       `json:"word,omitempty"` // as the query has it, when the term is its stem or a correction
	Weight float64      `json:"weight"`
	TF     float64      `json:"tf"`
	DF     int          `json:"df"`
	IDF    float64      `json:"idf"`
	Score  float64      `json:"score"`
	Fields []FieldScore `json:"fields,omitempty"` // they sum to the score
}

// FieldScore is the part of a term's score that one field gave.
type FieldScore struct {
	Field string  `json:"field"`
	TF    float64 `json:"tf"`
	Score float64 `json:"score"`
}

// RememberOut is what remember gives.
type RememberOut struct {
	Entry          // with a snippet, without its content: the caller has it
	Outcome string `json:"outcome"` // added, updated or unchanged
	Notes   []Note `json:"notes,omitempty"`

	Written oxbow.Entry `json:"-"` // as this call left it
}

// RecallOut is what recall gives.
type RecallOut struct {
	Hits       []Entry  `json:"hits"` // best first
	More       bool     `json:"more,omitempty"`
	AsOf       uint64   `json:"as_of,omitempty"`
	TokensUsed int      `json:"tokens_used"`        // estimate, of the text
	LeftOut    int      `json:"left_out,omitempty"` // hits whose content did not fit: shown by a snippet, or not at all
	Why        []Note   `json:"why,omitempty"`      // why nothing was found
	Near       []string `json:"near,omitempty"`     // names and label values near to what was written
	Notes      []Note   `json:"notes,omitempty"`    // what else the caller should know
}

// Page says which bytes of a text an answer holds.
type Page struct {
	Offset int `json:"offset,omitempty"`      // where it begins
	Next   int `json:"next_offset,omitempty"` // where the rest begins; 0 after the last
	Size   int `json:"size,omitempty"`        // of the whole text
}

// GetOut is what get gives.
type GetOut struct {
	Entry
	Page         // of the content
	Shown int    `json:"shown,omitempty"` // turns of sessions in which hooks put some of it before a model
	Used  int    `json:"used,omitempty"`  // of these, turns in which the agent used it
	Notes []Note `json:"notes,omitempty"`
}

// ListOut is what list gives.
type ListOut struct {
	Total   int      `json:"total"`   // entries selected, whatever the limit
	Entries []Entry  `json:"entries"` // newest first
	Next    int      `json:"next_offset,omitempty"`
	Why     []Note   `json:"why,omitempty"`
	Near    []string `json:"near,omitempty"`
	Notes   []Note   `json:"notes,omitempty"`
}

// ForgetOut is what forget gives.
type ForgetOut struct {
	Entry            // as it was, with a snippet
	Forgotten bool   `json:"forgotten"`       // false for a dry run
	Final     bool   `json:"final,omitempty"` // nothing brings it back, because the layout keeps no history
	Seq       uint64 `json:"seq,omitempty"`
	Notes     []Note `json:"notes,omitempty"`
}

// Change is one record of the log in an answer.
type Change struct {
	Seq     uint64    `json:"seq"`
	Time    string    `json:"time"`
	Source  Source    `json:"source"`
	Note    string    `json:"note,omitempty"`
	Reverts []uint64  `json:"reverts,omitempty"`
	Entries []Touched `json:"entries"`
}

// Touched is an entry as one change left it.
type Touched struct {
	Name    string `json:"name"`
	Verb    string `json:"verb"`
	Prev    uint64 `json:"prev,omitempty"`    // the change before that touched the name
	Snippet string `json:"snippet,omitempty"` // beginning of the content then, of the first ten entries of a change
	Erased  bool   `json:"erased,omitempty"`
}

// HistoryOut is what history gives.
type HistoryOut struct {
	Name    string   `json:"name,omitempty"`
	Changes []Change `json:"changes"` // newest first
	More    bool     `json:"more,omitempty"`
	Next    int      `json:"next_offset,omitempty"`
	Notes   []Note   `json:"notes,omitempty"`
}

// UndoOut is what undo gives.
type UndoOut struct {
	DryRun bool     `json:"dry_run,omitempty"`
	Seq    uint64   `json:"seq,omitempty"` // the change that did the undoing
	Undone []Change `json:"undone"`        // newest first
	Notes  []Note   `json:"notes,omitempty"`
}

// RestoreOut is what restore gives.
type RestoreOut struct {
	Entry
	Seq   uint64 `json:"seq"`  // the change that did the restoring
	From  uint64 `json:"from"` // the change whose version came back
	Notes []Note `json:"notes,omitempty"`

	Written oxbow.Entry `json:"-"` // as this call left it
}

// Timestamp writes a time as answers show it: RFC 3339, UTC, whole seconds. The
// version number tells apart what happened within one.
func Timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// entryOf returns the entry without its content. In which session it was written,
// its history says.
func entryOf(e oxbow.Entry) Entry {
	trust := e.Trust()
	if Warning(trust) == "" {
		trust = ""
	}
	e.Source.Session = ""
	_, e.Source.Ref = e.Source.SplitRef()
	a := Entry{ID: e.ID, Name: e.Name, Kind: e.Kind.String(), Aliases: notNil(e.Aliases),
		Created: Timestamp(e.Created), Updated: Timestamp(e.Updated), Version: e.Version, Source: sourceOf(e.Source), Trust: string(trust)}
	a.Labels = map[string][]string{}
	for _, l := range e.Labels {
		a.Labels[l.Key] = append(a.Labels[l.Key], l.Value)
	}
	return a
}

// outline returns the entry with a snippet in the place of its content, which is for the
// caller of the context.
func outline(ctx context.Context, e oxbow.Entry) Entry {
	Withhold(ctx, &e)
	a := entryOf(e)
	a.Snippet = snippet(e.Content, nil, snippetWidth)
	return a
}

func sourceOf(s oxbow.Source) Source {
	return Source{By: string(s.Actor), Door: s.Door, Client: s.Claimed.Client, Agent: s.Claimed.Agent, Session: s.Session, Profile: s.Profile, Ref: s.Ref}
}

// maxTouched is how many entries of one change a text names: an import has many.
const maxTouched = 10

// changeOf returns a change as the caller of the context sees it.
func (p pastTexts) changeOf(ctx context.Context, c oxbow.Change) Change {
	a := Change{Seq: c.Seq, Time: Timestamp(c.Time), Source: sourceOf(c.Source), Note: c.Note, Reverts: c.Reverts, Entries: []Touched{}}
	for i, v := range c.Versions {
		if i >= maxTouched {
			v.Entry.Content = ""
		}
		a.Entries = append(a.Entries, p.touchedOf(ctx, v))
	}
	return a
}

func (p pastTexts) touchedOf(ctx context.Context, v oxbow.Version) Touched {
	p.withhold(ctx, &v.Entry)
	return Touched{Name: v.Entry.Name, Verb: string(v.Verb), Prev: v.Prev, Snippet: snippet(v.Entry.Content, nil, snippetWidth), Erased: v.Erased}
}
