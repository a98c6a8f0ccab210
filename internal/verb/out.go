// This file defines the results of the verbs, which are encoded as JSON.

package verb

import (
	"context"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// Entry is an entry, or a part of an entry, in a result.
type Entry struct {
	ID   uint64 `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"`
	// score of a hit; hits with a higher score are listed first (0 for an entry that is not a hit)
	Score float64 `json:"score,omitempty"`
	// the part of the content that fits the query best, on one line
	Snippet string `json:"snippet,omitempty"`
	// the whole content (nil if the result does not contain it)
	Content    *string             `json:"content,omitempty"`
	Aliases    []string            `json:"aliases"` // never null
	Labels     map[string][]string `json:"labels"`  // values of the labels by key, sorted (never null)
	Created    string              `json:"created"` // time in RFC 3339 format, in UTC
	Updated    string              `json:"updated"` // time in RFC 3339 format, in UTC
	Version    uint64              `json:"version"` // number of the change that wrote this version
	Source     Source              `json:"source"`
	TrustLevel string              `json:"trust,omitempty"` // "tainted", "quarantined" or ""

	// state of the files to which the entry refers (nil without a working tree)
	Citations []FileRef `json:"citations,omitempty"`

	// names of other hits that are not shown because their content is the same
	SameContentNames []string     `json:"alike,omitempty"`
	TurnsBefore      []Turn       `json:"before,omitempty"` // turns of the conversation before a hit, oldest first
	TurnsAfter       []Turn       `json:"after,omitempty"`
	Explanation      *Explanation `json:"explanation,omitempty"`

	turnsBeforeAndAfter [2][]Turn // all turns that TurnsBefore and TurnsAfter may show, the nearest first

	HitContent   string   `json:"-"` // text of the found entry, for interfaces that show some of its lines
	MatchedWords []string `json:"-"` // words in the hit's name and text that the query matched, in lower case
}

// Turn is one turn of a conversation, before or after a hit.
type Turn struct {
	EntryName string `json:"name"`
	Content   string `json:"content"`
}

// Source says who wrote a version. Actor, Door, Session and Profile are determined by oxbow. Door names the interface
// that received the call, for example "cli", "mcp" or "http". Client and Agent are claims of the caller, which nobody
// has checked.
type Source struct {
	Actor   string `json:"by,omitempty"` // kind of author: person, agent, tool, import or team
	Door    string `json:"door,omitempty"`
	Client  string `json:"client,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	Profile string `json:"profile,omitempty"`
	Ref     string `json:"ref,omitempty"`
}

// TokenName returns the name of the token with which the change was made, or "" if no token was used.
func (s Source) TokenName() string {
	name, _, ok := strings.Cut(s.Session, ":")
	if !ok || s.Door != "http" {
		return ""
	}
	return name
}

// ClientSession returns the ID that the client gave to the session that made the change, or "" if it is unknown.
func (s Source) ClientSession() string {
	_, id, _ := strings.Cut(s.SessionName(), "/")
	return id
}

// SessionName returns the session that made the change, in the form CLIENT/SESSION, which verbs accept. It returns ""
// if the session is unknown.
func (s Source) SessionName() string { return session.SessionOfSource(oxbow.Source{Ref: s.Ref}) }

// ReviewedCommit returns the branch and the commit that contain the text, if it is a reviewed text in a team file. For
// other texts it returns "".
func (s Source) ReviewedCommit() string {
	if s.Actor != string(oxbow.Team) {
		return ""
	}
	return s.Ref
}

// Explanation shows how a score is computed, like [oxbow.Explanation].
type Explanation struct {
	Formula string      `json:"formula"`
	Entries int         `json:"entries"`
	Length  float64     `json:"length"`
	AvgLen  float64     `json:"avg_length"`
	Terms   []TermScore `json:"terms"`
}

// TermScore is the contribution that one query term makes to a score.
type TermScore struct {
	Term string `json:"term"`
	// the word that the query contains, if the term is the word's stem or correction
	QueryWord string       `json:"word,omitempty"`
	Weight    float64      `json:"weight"`
	TF        float64      `json:"tf"`
	DF        int          `json:"df"`
	IDF       float64      `json:"idf"`
	Score     float64      `json:"score"`
	Fields    []FieldScore `json:"fields,omitempty"` // contribution of each field; their sum is Score
}

// FieldScore is the contribution that one field of an entry makes to a term's score.
type FieldScore struct {
	Field string  `json:"field"`
	TF    float64 `json:"tf"`
	Score float64 `json:"score"`
}

// RememberOut is the result of remember.
type RememberOut struct {
	Entry               // the entry with a snippet instead of its content, because the caller knows the content
	EntryOutcome string `json:"outcome"` // "added", "updated" or "unchanged"
	Notes        []Note `json:"notes,omitempty"`

	StoredEntry oxbow.Entry `json:"-"` // the entry as this call stored it
}

// RecallOut is the result of recall.
type RecallOut struct {
	Hits       []Entry `json:"hits"` // the hits, the best first
	HasMore    bool    `json:"more,omitempty"`
	AsOfSeq    uint64  `json:"as_of,omitempty"`
	TokensUsed int     `json:"tokens_used"` // estimated number of tokens in the answer's text
	// number of hits whose whole content did not fit (they may have a snippet)
	ContentsLeftOut int    `json:"left_out,omitempty"`
	EmptyReasons    []Note `json:"why,omitempty"` // reasons why nothing was found (nil if there are hits)
	// names of entries, and values of labels, that are similar to words in the query
	SimilarNames []string `json:"near,omitempty"`
	Notes        []Note   `json:"notes,omitempty"` // other information for the caller
}

// Page says which bytes of a text a result contains.
type Page struct {
	Offset     int `json:"offset,omitempty"`      // offset at which this page begins
	NextOffset int `json:"next_offset,omitempty"` // offset at which the next page begins (0 on the last page)
	Size       int `json:"size,omitempty"`        // size of the whole text in bytes
}

// GetOut is the result of get.
type GetOut struct {
	Entry
	Page               // which part of the content the result contains
	ShownTurnCount int `json:"shown,omitempty"` // number of turns in which hooks have shown the entry to a model
	// number of turns, among those that ShownTurnCount counts, in which the agent used the entry
	UsedTurnCount int    `json:"used,omitempty"`
	Notes         []Note `json:"notes,omitempty"`
}

// ListOut is the result of list.
type ListOut struct {
	Total        int      `json:"total"`   // number of all selected entries, even if the limit leaves some out
	Entries      []Entry  `json:"entries"` // the entries, the newest first
	NextOffset   int      `json:"next_offset,omitempty"`
	EmptyReasons []Note   `json:"why,omitempty"`
	SimilarNames []string `json:"near,omitempty"`
	Notes        []Note   `json:"notes,omitempty"`
}

// ForgetOut is the result of forget.
type ForgetOut struct {
	Entry          // the entry as it was before forget removed it, with a snippet instead of its content
	Forgotten bool `json:"forgotten"` // the entry was removed (false for a dry run)
	// The removed entry cannot be restored, because the home stores entries in files without a history.
	IsFinalRemoval bool   `json:"final,omitempty"`
	Seq            uint64 `json:"seq,omitempty"`
	Notes          []Note `json:"notes,omitempty"`
}

// Change is a change of the memory, as answers describe it.
type Change struct {
	Seq          uint64         `json:"seq"`
	Time         string         `json:"time"`
	Source       Source         `json:"source"`
	Note         string         `json:"note,omitempty"`
	RevertedSeqs []uint64       `json:"reverts,omitempty"`
	Entries      []TouchedEntry `json:"entries"`
}

// TouchedEntry is an entry that a change has written or removed, as it is after the change.
type TouchedEntry struct {
	Name    string `json:"name"`
	Verb    string `json:"verb"`
	PrevSeq uint64 `json:"prev,omitempty"` // number of the change that wrote the entry's previous version
	// beginning of the content after the change (only for a change's first ten entries)
	Snippet      string `json:"snippet,omitempty"`
	IsTextErased bool   `json:"erased,omitempty"`
}

// HistoryOut is the result of the verb "history".
type HistoryOut struct {
	Name       string   `json:"name,omitempty"`
	Changes    []Change `json:"changes"` // the changes, the newest first
	HasMore    bool     `json:"more,omitempty"`
	NextOffset int      `json:"next_offset,omitempty"`
	Notes      []Note   `json:"notes,omitempty"`
}

// UndoOut is the result of undo.
type UndoOut struct {
	DryRun bool `json:"dry_run,omitempty"`
	// number of the change that this undo made, or of the last change if this undo made several
	Seq           uint64   `json:"seq,omitempty"`
	UndoneChanges []Change `json:"undone"` // the changes that were undone, the newest first
	Notes         []Note   `json:"notes,omitempty"`

	// Some homes (a home is the directory of a memory) are not in oxbow's own layout. If the verb "undo" has undone a
	// change by the verb "consolidate" or "compress" in such a home, UndoneShortening is set, and UndoneChanges is
	// empty.
	UndoneShortening *Tidied `json:"tidied,omitempty"`

	madeSeqs []uint64 // numbers of all changes that were made by this undo
}

// RestoreOut is the result of restore.
type RestoreOut struct {
	Entry
	Seq                uint64 `json:"seq"`  // number of the change that was made by this call
	RestoredVersionSeq uint64 `json:"from"` // number of the change that had written the restored version
	Notes              []Note `json:"notes,omitempty"`

	StoredEntry oxbow.Entry `json:"-"` // the entry as this call stored it
}

// FormatTimestamp formats a time for results: in RFC 3339 format, in UTC, in whole seconds. It returns "" for the zero
// time. Changes within the same second can be told apart by their version numbers.
func FormatTimestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// makeEntry converts an entry for an answer. The result contains neither the content nor the session of the entry,
// because only answers about the history show sessions. The content can be added later. The trust level is "" if no
// warning is needed.
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
		TrustLevel: string(trust)}
	a.Labels = map[string][]string{}
	for _, l := range e.Labels {
		a.Labels[l.Key] = append(a.Labels[l.Key], l.Value)
	}
	return a
}

// outlineEntry converts an entry for an answer, with a snippet instead of its content. A text that the caller may not
// see is replaced.
func outlineEntry(ctx context.Context, e oxbow.Entry) Entry {
	WithholdQuarantinedText(ctx, &e)
	a := makeEntry(e)
	a.Snippet = makeSnippet(e.Content, nil, snippetWidth)
	return a
}

func MakeSource(s oxbow.Source) Source {
	return Source{Actor: string(s.Actor), Door: s.Door, Client: s.Claimed.Client, Agent: s.Claimed.Agent,
		Session: s.Session, Profile: s.Profile, Ref: s.Ref}
}

// maxTouchedEntries is the maximum number of changed entries that a change's description lists with their names and
// snippets. An import may change many more.
const maxTouchedEntries = 10

// FilterChange converts the change c for an answer. It replaces texts that the caller may not see. Only the first
// maxTouchedEntries entries of the change keep their content.
func (p PastTextFilter) FilterChange(ctx context.Context, c oxbow.Change) Change {
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
		a.Entries = append(a.Entries, p.newTouchedEntry(ctx, v))
	}
	return a
}

func (p PastTextFilter) newTouchedEntry(ctx context.Context, v oxbow.Version) TouchedEntry {
	p.WithholdText(ctx, &v.Entry)
	return TouchedEntry{Name: v.Entry.Name, Verb: string(v.Verb), PrevSeq: v.Prev,
		Snippet: makeSnippet(v.Entry.Content, nil, snippetWidth), IsTextErased: v.Erased}
}
