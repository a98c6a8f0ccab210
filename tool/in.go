// What each verb takes; see [ParamsOf] for the tags.
//
// Null, an empty string and an empty list mean "not given": models fill in
// what they do not need. What must tell zero from absent is a pointer.

package tool

// RememberIn is what remember takes.
type RememberIn struct {
	Name         string   `json:"name,omitempty" also:"key,title,id" flag:"-" jsonschema:"Short unique name; an entry of that name is updated. By default, the first line of the content."`
	Content      string   `json:"content" also:"text,body,note,memory,value" jsonschema:"What to remember, in Markdown; on update it replaces the old content."`
	Aliases      []string `json:"aliases,omitempty" also:"alias" flag:"alias" jsonschema:"Other names to find it by."`
	Project      string   `json:"project,omitempty" also:"project_name" jsonschema:"Project that it belongs to."`
	Tags         []string `json:"tags,omitempty" also:"tag,labels" flag:"tag" jsonschema:"Free words to select by."`
	RelatedFiles []string `json:"related_files,omitempty" also:"files,file,paths" flag:"related" value:"FILE" jsonschema:"Files that it is about, relative to the project."`
	Confidence   *float64 `json:"confidence,omitempty" also:"certainty" jsonschema:"How sure you are, from 0 to 1."`
	Kind         string   `json:"kind,omitempty" also:"type" enum:"kind" jsonschema:"note by default; it cannot change later."`
	Clear        []string `json:"clear,omitempty" also:"remove" enum:"part" jsonschema:"Parts to empty on update: what is left out stays as it was."`
	IfVersion    *uint64  `json:"if_version,omitempty" also:"version,expected_version" jsonschema:"Change it only if it is still at this version."`
	OpID         string   `json:"op_id,omitempty" also:"idempotency_key,request_id" jsonschema:"Id of this call: a repeat with the same id changes nothing."`
}

// RecallIn is what recall takes.
type RecallIn struct {
	Query     string   `json:"query,omitempty" also:"q,search,text" flag:"-" jsonschema:"Words to look for; +must, -not, prefix*, quoted phrases and filter terms are understood."`
	Filter    string   `json:"filter,omitempty" also:"where" jsonschema:"Filter terms joined by and: key:value, with kind, name, by, door, has, after, before, on or a label key; a comma is or, a minus in front is not."`
	Project   string   `json:"project,omitempty" also:"project_name" jsonschema:"Only entries of this project."`
	Tags      []string `json:"tags,omitempty" also:"tag,labels" flag:"tag" jsonschema:"Only entries with all of these tags."`
	Kind      string   `json:"kind,omitempty" also:"type" enum:"kind" jsonschema:"Only entries of this kind."`
	After     string   `json:"after,omitempty" also:"since,from" value:"DATE" jsonschema:"Created on or after this date (2026-04-18, 2026-04, 2026 or RFC 3339)."`
	Before    string   `json:"before,omitempty" also:"until,to" value:"DATE" jsonschema:"Created before this date."`
	Limit     *int     `json:"limit,omitempty" also:"max_results,top_k,per_page,k,n,count" jsonschema:"Most entries, 5 by default, at most 1000."`
	MaxTokens *int     `json:"max_tokens,omitempty" also:"token_budget,budget" jsonschema:"Most tokens to spend, 2000 by default."`
	AsOf      string   `json:"as_of,omitempty" also:"at" value:"DATE" jsonschema:"The memory as it stood after this change (a number) or at this time."`
	Explain   bool     `json:"explain,omitempty" jsonschema:"Say how each score came about."`
	Collapse  bool     `json:"collapse,omitempty" also:"dedupe" jsonschema:"Show what says the same once."`
	Rank      string   `json:"rank,omitempty" also:"ranking" jsonschema:"oxbow by default, or seed: plain BM25 as crabtalk has it."`
	Recency   string   `json:"recency,omitempty" also:"half_life" value:"SPAN" jsonschema:"Rank older entries lower, by this half-life, such as 30d."`
}

// GetIn is what get takes.
type GetIn struct {
	Name string `json:"name" also:"key,title,id" flag:"-" jsonschema:"Name or alias of the entry; NAME@SEQ is the entry as change SEQ left it."`
}

// ListIn is what list takes.
type ListIn struct {
	Filter  string   `json:"filter,omitempty" also:"where,query,q" jsonschema:"Filter terms joined by and, such as project:vtt -tag:draft has:file."`
	Project string   `json:"project,omitempty" also:"project_name" jsonschema:"Only entries of this project."`
	Tags    []string `json:"tags,omitempty" also:"tag,labels" flag:"tag" jsonschema:"Only entries with all of these tags."`
	Kind    string   `json:"kind,omitempty" also:"type" enum:"kind" jsonschema:"Only entries of this kind."`
	After   string   `json:"after,omitempty" also:"since,from" value:"DATE" jsonschema:"Created on or after this date (2026-04-18, 2026-04, 2026 or RFC 3339)."`
	Before  string   `json:"before,omitempty" also:"until,to" value:"DATE" jsonschema:"Created before this date."`
	Limit   *int     `json:"limit,omitempty" also:"max_results,top_k,per_page,k,n,count" jsonschema:"Most entries, 20 by default, at most 1000."`
	Offset  *int     `json:"offset,omitempty" also:"skip" jsonschema:"Entries to pass over first: the next page begins at offset plus limit."`
}

// ForgetIn is what forget takes.
type ForgetIn struct {
	Name      string  `json:"name" also:"key,title,id" flag:"-" jsonschema:"Name or alias of the entry."`
	IfVersion *uint64 `json:"if_version,omitempty" also:"version,expected_version" jsonschema:"Forget it only if it is still at this version."`
	OpID      string  `json:"op_id,omitempty" also:"idempotency_key,request_id" jsonschema:"Id of this call: a repeat with the same id changes nothing."`
	DryRun    bool    `json:"dry_run,omitempty" also:"preview" jsonschema:"Show what would be forgotten and change nothing."`
}

// HistoryIn is what history takes.
type HistoryIn struct {
	Name  string `json:"name,omitempty" also:"key,title,id" flag:"-" jsonschema:"Entry whose versions are wanted; without it, the changes to the whole memory."`
	Limit *int   `json:"limit,omitempty" also:"max_results,top_k,per_page,k,n,count" jsonschema:"Most changes to return, 20 by default, at most 1000."`
}

// UndoIn is what undo takes.
type UndoIn struct {
	Count  *int     `json:"count,omitempty" also:"n,steps,limit" flag:"-" jsonschema:"Number of last changes to undo, 1 by default."`
	Seq    []uint64 `json:"seq,omitempty" also:"seqs,change,changes" jsonschema:"Numbers of the changes to undo, instead of a count."`
	DryRun bool     `json:"dry_run,omitempty" also:"preview" jsonschema:"Show what would be undone and change nothing."`
}

// RestoreIn is what restore takes.
type RestoreIn struct {
	Name string `json:"name" also:"key,title,id" flag:"-" jsonschema:"Name of the entry, forgotten ones too."`
	Seq  uint64 `json:"seq" also:"version,change" flag:"-" jsonschema:"Number of the change whose version comes back; history lists them."`
}
