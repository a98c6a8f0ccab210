// This file defines the verbs' arguments (see [StructParams] for the tags).
//
// Models fill in arguments that they do not need. Therefore null and an empty list mean that an argument is absent. An
// empty string means the same, unless the field has the struct tag "empty", which allows empty strings. If zero differs
// from absent, the field is a pointer.

package verb

import "github.com/oxbow-memory/oxbow"

// RememberIn is the argument of remember.
type RememberIn struct {
	Name         string   `json:"name,omitempty"          also:"key,title,id"                flag:"-"       jsonschema:"Short, unique; by default the first line of the content."  usage:"Short unique name; an entry of that name is updated. By default, the first line of the content."`
	Content      string   `json:"content,omitempty"       also:"text,body,note,memory,value"                jsonschema:"Markdown; on update the old one by default."               usage:"The text, in Markdown; on update it replaces the old text."`
	Aliases      []string `json:"aliases,omitempty"       also:"alias"                       flag:"alias"   jsonschema:"Other names."                                              usage:"Other names of the entry."                                                                                    value:"ALIAS"`
	Project      string   `json:"project,omitempty"       also:"project_name"                                                                                                      usage:"Project of the entry."`
	Tags         []string `json:"tags,omitempty"          also:"tag,labels"                  flag:"tag"                                                                            usage:"Words by which you can select the entry."`
	RelatedFiles []string `json:"related_files,omitempty" also:"files,file,paths"            flag:"related" jsonschema:"Paths that it is about; recall says whether they changed." usage:"Files that the entry is about, relative to the project."                                                      value:"FILE"`
	Confidence   *float64 `json:"confidence,omitempty"    also:"certainty"                                  jsonschema:"0 to 1."                                                   usage:"How certain the text is, from 0 to 1."`
	Kind         string   `json:"kind,omitempty"          also:"type"                                       jsonschema:"note by default."                                          usage:"note by default; it cannot change later."                                                                                   enum:"kind"`
	PartsToClear []string `json:"clear,omitempty"         also:"remove"                                     jsonschema:"Parts to empty."                                           usage:"Remove all values of these parts of the entry. Without this flag, parts that you do not name stay unchanged."               enum:"part"`
	IfVersion    *uint64  `json:"if_version,omitempty"    also:"version,expected_version"                   jsonschema:"Refuse if it changed since."                               usage:"Change it only if it is still at this version."`
	OpID         string   `json:"op_id,omitempty"         also:"idempotency_key,request_id"                                                                                        usage:"ID of this call: a repeated call with the same ID changes nothing."                                                                     schema:"-"`

	// NameOrContent is set instead of Name and Content if a person typed only one argument, which may be the name or
	// the content.
	NameOrContent string `json:"-"`

	FromTurns []string `json:"-"` // turns of recorded sessions from which the content was taken; only programs set it
	MustBeNew bool     `json:"-"` // fail if an entry with this name exists (see [RememberNewEntry])
}

// EntrySelection contains the parameters with which a call of the verbs "recall", "list" or "export" selects entries,
// in addition to a filter.
type EntrySelection struct {
	Project       string   `json:"project,omitempty" also:"project_name" usage:"Only entries of this project."`
	Tags          []string `json:"tags,omitempty"    also:"tag,labels"   usage:"Only entries with all of these tags."                                flag:"tag"`
	Kind          string   `json:"kind,omitempty"    also:"type"         usage:"Only entries of this kind."                                                     enum:"kind" schema:"-"`
	CreatedAfter  string   `json:"after,omitempty"   also:"since,from"   usage:"Created on or after this date (2026-04-18, 2026-04, 7d, yesterday)."                        schema:"-" value:"DATE"`
	CreatedBefore string   `json:"before,omitempty"                      usage:"Created before this date, which is not included."                                           schema:"-" value:"DATE"`
	CreatedUntil  string   `json:"until,omitempty"   also:"to"           usage:"Created up to the end of this date."                                                        schema:"-" value:"DATE"`
}

// RecallIn is the argument of recall.
type RecallIn struct {
	Query  string `json:"query,omitempty"      also:"q,search,text"                        flag:"-" jsonschema:"Words; also +must -not prefix* quoted phrase, filters, on:yesterday." usage:"Words to look for; +must, -not, prefix*, quoted phrases and filter terms are understood."`
	Filter string `json:"filter,omitempty"     also:"where"                                         jsonschema:"Such as -project:vtt kind:note."                                      usage:"Select entries by conditions such as project:vtt -tag:draft has:file. Keys are kind, name, by, door, has, after, before, until, on, and the keys of labels. A comma means or, and a minus means not."`
	EntrySelection
	Limit               *int   `json:"limit,omitempty"      also:"max_results,top_k,per_page,k,n,count"          jsonschema:"5 by default."                                                        usage:"Maximum number of entries, 5 by default, at most 1000."`
	MaxTokens           *int   `json:"max_tokens,omitempty" also:"token_budget,budget"                           jsonschema:"2000 by default."                                                     usage:"Maximum tokens of the whole answer, 2000 by default."`
	TurnsAroundHit      *int   `json:"around,omitempty"     also:"context"                                                                                                                         usage:"Number of turns to show before and after a turn of a conversation, 2 by default, at most 10."                                                                                                         schema:"-"`
	AsOf                string `json:"as_of,omitempty"      also:"at"                                            jsonschema:"Date or change."                                                      usage:"Search the memory as it was after this change (a number) or at this time."                                                                                                                                       value:"DATE"`
	Explain             bool   `json:"explain,omitempty"                                                                                                                                           usage:"Explain each score."                                                                                                                                                                                  schema:"-"`
	CollapseSimilarHits bool   `json:"collapse,omitempty"   also:"dedupe"                                                                                                                          usage:"Show entries with the same text only once."                                                                                                                                                           schema:"-"`
	RankingName         string `json:"rank,omitempty"       also:"ranking"                                                                                                                         usage:"Rank by oxbow (the default) or by seed, the plain BM25 of crabtalk."                                                                                                                                  schema:"-"`
	SearchScope         string `json:"in,omitempty"                                                              jsonschema:"Past talks."                                                          usage:"Search past sessions instead of the entries, or both."                                                                                                                                                                        enum:"sessions,both"`
	RecencyHalfLife     string `json:"recency,omitempty"    also:"half_life"                                     jsonschema:"Half-life: 30d."                                                      usage:"Rank older entries lower, by this half-life, such as 30d."                                                                                                                                                       value:"SPAN"`

	callingVerbFilter oxbow.Filter `json:"-"` // an additional filter, set by a verb that calls Recall
}

// GetIn is the argument of get.
type GetIn struct {
	Name      string `json:"name"                 empty:"allowed" also:"key,title,id"        flag:"-" jsonschema:"Or alias; NAME@SEQ is the entry as change SEQ left it." usage:"Name or alias of the entry; NAME@SEQ is the entry as change SEQ left it."`
	Offset    *int   `json:"offset,omitempty"                     also:"skip,start"                   jsonschema:"In bytes."                                              usage:"Bytes of the content to skip first."`
	MaxTokens *int   `json:"max_tokens,omitempty"                 also:"token_budget,budget"          jsonschema:"4000 by default."                                       usage:"Maximum tokens of the answer; use offset to get the rest."`

	ContentOnly      bool `json:"-"` // the answer contains only the content
	WithoutTeamFiles bool `json:"-"` // do not search team files, because the caller wants to change the entry

	// WithoutSimilarNames omits similar names from the error for an unknown name. Callers that expect unknown names
	// set it, because finding similar names requires reading all names.
	WithoutSimilarNames bool `json:"-"`
}

// ListIn is the argument of list.
type ListIn struct {
	Filter string `json:"filter,omitempty"     also:"where,query,q"                        jsonschema:"As of recall."          usage:"Select entries by conditions such as project:vtt -tag:draft has:file."`
	EntrySelection
	Limit     *int `json:"limit,omitempty"      also:"max_results,top_k,per_page,k,n,count" jsonschema:"20 by default."         usage:"Maximum number of entries, 20 by default, at most 1000."`
	Offset    *int `json:"offset,omitempty"     also:"skip"                                 jsonschema:"Where the page begins." usage:"Entries to skip first: the next page begins at offset plus limit."`
	MaxTokens *int `json:"max_tokens,omitempty" also:"token_budget,budget"                                                      usage:"Maximum tokens of the answer, 4000 by default; use offset to get the rest." schema:"-"`
}

// ForgetIn is the argument of forget.
type ForgetIn struct {
	Name      string  `json:"name"                 empty:"allowed" also:"key,title,id"               flag:"-" jsonschema:"Or alias."  usage:"Name or alias of the entry."`
	IfVersion *uint64 `json:"if_version,omitempty"                 also:"version,expected_version"                                    usage:"Forget it only if it is still at this version."                     schema:"-"`
	OpID      string  `json:"op_id,omitempty"                      also:"idempotency_key,request_id"                                  usage:"ID of this call: a repeated call with the same ID changes nothing." schema:"-"`
	DryRun    bool    `json:"dry_run,omitempty"                    also:"preview"                             jsonschema:"Only show." usage:"Show what would be forgotten and change nothing."`
}

// HistoryIn is the argument of the verb "history".
type HistoryIn struct {
	Name      string `json:"name,omitempty"       also:"key,title,id"                         flag:"-" usage:"Entry whose versions are wanted; without it, the changes to the whole memory."`
	Limit     *int   `json:"limit,omitempty"      also:"max_results,top_k,per_page,k,n,count"          usage:"Maximum number of changes, 20 by default, at most 1000."                       jsonschema:"20 by default."`
	Offset    *int   `json:"offset,omitempty"     also:"skip"                                          usage:"Changes to skip first: the next page begins at offset plus limit."             jsonschema:"Where the page begins."`
	MaxTokens *int   `json:"max_tokens,omitempty" also:"token_budget,budget"                           usage:"Maximum tokens of the answer; use offset to get the rest."                     jsonschema:"4000 by default."`

	// If ActorKind is set, only changes by this kind of actor are listed, such as agent. If Session is set, only
	// changes by the session with this ID are listed.
	ActorKind string `json:"-"`
	Session   string `json:"-"`
}

// UndoIn is the argument of undo.
type UndoIn struct {
	Count  *int     `json:"count,omitempty"   also:"n,steps,limit"       flag:"-" jsonschema:"1 by default."                usage:"Number of last changes to undo, 1 by default."`
	Seqs   []uint64 `json:"seq,omitempty"     also:"seqs,change,changes"          jsonschema:"Numbers of changes, instead." usage:"Numbers of the changes to undo, instead of the last N."`
	DryRun bool     `json:"dry_run,omitempty" also:"preview"                      jsonschema:"Only show."                   usage:"Show what would be undone and change nothing."`
}

// RestoreIn is the argument of restore.
type RestoreIn struct {
	Name string  `json:"name"          also:"key,title,id"   flag:"-" usage:"Name of the entry, forgotten ones too."`
	Seq  *uint64 `json:"seq,omitempty" also:"version,change" flag:"-" usage:"Number of the change whose version comes back; history lists them. By default, the last version of a forgotten entry." jsonschema:"Change whose version comes back; the last of a forgotten entry by default."`
}
