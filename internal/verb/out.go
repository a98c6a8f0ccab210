// This file defines the results of the verbs, which are encoded as JSON.

package verb

import (
	"context"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// Entry is an entry, or a part of it, in a result.
type Entry struct {
	ID    uint64  `json:"id"`
	Name  string  `json:"name"`
	Kind  string  `json:"kind"`
	Score float64 `json:"score,omitempty"` // only in hits (higher is better)
	// part of the content that fits the query best, joined to a single line
	Snippet string              `json:"snippet,omitempty"`
	Content *string             `json:"content,omitempty"` // the whole content, or absent
	Aliases []string            `json:"aliases"`           // never null
	Labels  map[string][]string `json:"labels"`            // values by key, sorted (never null)
	Created string              `json:"created"`           // RFC 3339, UTC
	Updated string              `json:"updated"`           // RFC 3339, UTC
	Version uint64              `json:"version"`           // number of the change that wrote this version
	Source  Source              `json:"source"`
	Trust   string              `json:"trust,omitempty"` // "tainted", "quarantined" or ""

	// files that the entry cites, if there is a working tree to check them against
	Citations []FileRef `json:"citations,omitempty"`

	SameContentNames []string     `json:"alike,omitempty"`  // names of hits with the same content, which are not shown
	TurnsBefore      []Turn       `json:"before,omitempty"` // turns before a hit in a conversation, oldest first
	TurnsAfter       []Turn       `json:"after,omitempty"`
	Explanation      *Explanation `json:"explanation,omitempty"`

	availableTurns [2][]Turn // all available turns for Before and After, nearest first

	HitText      string   `json:"-"` // content of a hit, for interfaces that show some of its lines
	MatchedWords []string `json:"-"` // words in lower case that the query matched in the name and text of a hit
}

// Turn is a turn before or after a hit in a conversation.
type Turn struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

// Source says who wrote a version. The interface determines by, door, session and profile.
// The caller claims client and agent, which are not checked.
type Source struct {
	Actor   string `json:"by,omitempty"` // person, agent, tool, import, or team
	Door    string `json:"door,omitempty"`
	Client  string `json:"client,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	Profile string `json:"profile,omitempty"`
	Ref     string `json:"ref,omitempty"`
}

// TokenName returns the name of the token with which a change was made, or "".
func (s Source) TokenName() string {
	name, _, ok := strings.Cut(s.Session, ":")
	if !ok || s.Door != "http" {
		return ""
	}
	return name
}

// ClientSession returns the ID of the client's session that made a change, or "" if it is
// not known.
func (s Source) ClientSession() string {
	_, id, _ := strings.Cut(s.SessionName(), "/")
	return id
}

// SessionName returns the session that made a change, in the form CLIENT/SESSION that verbs accept.
// It returns "" if the session is not known.
func (s Source) SessionName() string { return session.SourceSession(oxbow.Source{Ref: s.Ref}) }

// ReviewedCommit returns, for the text of a team file, the branch and commit that contain the text
// as shown. For other texts it returns "".
func (s Source) ReviewedCommit() string {
	if s.Actor != string(oxbow.Team) {
		return ""
	}
	return s.Ref
}

// Explanation shows how a score adds up, like [oxbow.Explanation].
type Explanation struct {
	Formula string      `json:"formula"`
	Entries int         `json:"entries"`
	Length  float64     `json:"length"`
	AvgLen  float64     `json:"avg_length"`
	Terms   []TermScore `json:"terms"`
}

// TermScore is a term's contribution to a score.
type TermScore struct {
	Term   string       `json:"term"`
	Word   string       `json:"word,omitempty"` // word in the query, if the term is its stem or correction
	Weight float64      `json:"weight"`
	TF     float64      `json:"tf"`
	DF     int          `json:"df"`
	IDF    float64      `json:"idf"`
	Score  float64      `json:"score"`
	Fields []FieldScore `json:"fields,omitempty"` // their scores add up to Score
}

// FieldScore is a field's contribution to a term's score.
type FieldScore struct {
	Field string  `json:"field"`
	TF    float64 `json:"tf"`
	Score float64 `json:"score"`
}

// RememberOut is the result of remember.
type RememberOut struct {
	Entry          // with a snippet instead of the content, which the caller has
	Outcome string `json:"outcome"` // added, updated or unchanged
	Notes   []Note `json:"notes,omitempty"`

	WrittenEntry oxbow.Entry `json:"-"` // the entry as this call wrote it
}

// RecallOut is the result of recall.
type RecallOut struct {
	Hits       []Entry `json:"hits"` // best first
	HasMore    bool    `json:"more,omitempty"`
	AsOf       uint64  `json:"as_of,omitempty"`
	TokensUsed int     `json:"tokens_used"` // estimated tokens of the text
	// number of hits whose content did not fit (some of these have a snippet)
	ContentsLeftOut int      `json:"left_out,omitempty"`
	EmptyReasons    []Note   `json:"why,omitempty"`   // reasons why nothing was found
	SimilarNames    []string `json:"near,omitempty"`  // names and label values that are similar to the query
	Notes           []Note   `json:"notes,omitempty"` // further information for the caller
}

// Page is the byte range of a text that a result contains.
type Page struct {
	Offset     int `json:"offset,omitempty"`      // offset of the first byte
	NextOffset int `json:"next_offset,omitempty"` // offset of the next page (0 on the last page)
	Size       int `json:"size,omitempty"`        // size of the whole text
}

// GetOut is the result of get.
type GetOut struct {
	Entry
	Page              // range of the content
	ShownTurns int    `json:"shown,omitempty"` // number of turns in which hooks showed the entry to a model
	UsedTurns  int    `json:"used,omitempty"`  // number of these turns in which the agent used it
	Notes      []Note `json:"notes,omitempty"`
}

// ListOut is the result of list.
type ListOut struct {
	Total        int      `json:"total"`   // number of selected entries, not counting the limit
	Entries      []Entry  `json:"entries"` // newest first
	NextOffset   int      `json:"next_offset,omitempty"`
	EmptyReasons []Note   `json:"why,omitempty"`
	SimilarNames []string `json:"near,omitempty"`
	Notes        []Note   `json:"notes,omitempty"`
}

// ForgetOut is the result of forget.
type ForgetOut struct {
	Entry            // the entry before it was forgotten, with a snippet
	Forgotten bool   `json:"forgotten"`       // false for a dry run
	Final     bool   `json:"final,omitempty"` // cannot be undone, because the layout does not keep a history
	Seq       uint64 `json:"seq,omitempty"`
	Notes     []Note `json:"notes,omitempty"`
}

// Change is a change in the log.
type Change struct {
	Seq          uint64         `json:"seq"`
	Time         string         `json:"time"`
	Source       Source         `json:"source"`
	Note         string         `json:"note,omitempty"`
	RevertedSeqs []uint64       `json:"reverts,omitempty"`
	Entries      []TouchedEntry `json:"entries"`
}

// TouchedEntry is an entry after a change.
type TouchedEntry struct {
	Name    string `json:"name"`
	Verb    string `json:"verb"`
	PrevSeq uint64 `json:"prev,omitempty"` // number of the entry's previous change
	// beginning of the content after the change (only for a change's first ten entries)
	Snippet  string `json:"snippet,omitempty"`
	IsErased bool   `json:"erased,omitempty"`
}

// HistoryOut is the result of history.
type HistoryOut struct {
	Name       string   `json:"name,omitempty"`
	Changes    []Change `json:"changes"` // newest first
	HasMore    bool     `json:"more,omitempty"`
	NextOffset int      `json:"next_offset,omitempty"`
	Notes      []Note   `json:"notes,omitempty"`
}

// UndoOut is the result of undo.
type UndoOut struct {
	DryRun bool     `json:"dry_run,omitempty"`
	Seq    uint64   `json:"seq,omitempty"` // number of the change that undid these changes
	Undone []Change `json:"undone"`        // newest first
	Notes  []Note   `json:"notes,omitempty"`

	// Tidied is the change that was undone if a home in another layout keeps the texts that consolidate and compress
	// replaced. Then Undone is empty.
	Tidied *Tidied `json:"tidied,omitempty"`
}

// RestoreOut is the result of restore.
type RestoreOut struct {
	Entry
	Seq         uint64 `json:"seq"`  // number of the change that restored the entry
	RestoredSeq uint64 `json:"from"` // number of the change with the restored version
	Notes       []Note `json:"notes,omitempty"`

	WrittenEntry oxbow.Entry `json:"-"` // the entry as this call wrote it
}

// FormatTimestamp formats a time for results: RFC 3339, UTC, in whole seconds. It returns "" for
// the zero time. Version numbers distinguish changes within a second.
func FormatTimestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// makeEntry returns the entry in the form for answers, without the content and the session. Answers
// to history contain these.
func makeEntry(e oxbow.Entry) Entry {
	trust := e.Trust()
	if TrustWarning(trust) == "" {
		trust = ""
	}
	e.Source.Session = ""
	_, e.Source.Ref = e.Source.SplitRef()
	a := Entry{ID: e.ID, Name: e.Name, Kind: e.Kind.String(), Aliases: EmptyIfNil(e.Aliases),
		Created: FormatTimestamp(
			e.Created,
		), Updated: FormatTimestamp(e.Updated), Version: e.Version, Source: MakeSource(e.Source),
		Trust: string(trust)}
	a.Labels = map[string][]string{}
	for _, l := range e.Labels {
		a.Labels[l.Key] = append(a.Labels[l.Key], l.Value)
	}
	return a
}

// outlineEntry returns the entry with a snippet instead of its content. It withholds text that
// the caller of the context may not see.
func outlineEntry(ctx context.Context, e oxbow.Entry) Entry {
	WithholdQuarantinedText(ctx, &e)
	a := makeEntry(e)
	a.Snippet = snippet(e.Content, nil, snippetWidth)
	return a
}

func MakeSource(s oxbow.Source) Source {
	return Source{Actor: string(s.Actor), Door: s.Door, Client: s.Claimed.Client, Agent: s.Claimed.Agent,
		Session: s.Session, Profile: s.Profile, Ref: s.Ref}
}

// maxTouchedEntries is the maximum number of a change's entries that a text names, and that have a snippet
// in the answer. An import may change many more.
const maxTouchedEntries = 10

// VisibleChange returns a change as the caller of the context may see it.
func (p PastTextFilter) VisibleChange(ctx context.Context, c oxbow.Change) Change {
	a := Change{
		Seq:          c.Seq,
		Time:         FormatTimestamp(c.Time),
		Source:       MakeSource(c.Source),
		Note:         c.Note,
		RevertedSeqs: c.Reverts,
		Entries:      []TouchedEntry{},
	}
	for i, v := range c.Versions {
		if i >= maxTouchedEntries {
			v.Entry.Content = ""
		}
		a.Entries = append(a.Entries, p.touchedEntry(ctx, v))
	}
	return a
}

func (p PastTextFilter) touchedEntry(ctx context.Context, v oxbow.Version) TouchedEntry {
	p.WithholdText(ctx, &v.Entry)
	return TouchedEntry{Name: v.Entry.Name, Verb: string(v.Verb), PrevSeq: v.Prev,
		Snippet: snippet(v.Entry.Content, nil, snippetWidth), IsErased: v.Erased}
}
