// This file declares the interface between a layout, which defines how a home's files are arranged,
// and the packages that open homes.

// Package layout defines the interface of layouts, which are also called dialects. A layout consists of a file
// arrangement on disk, tools for the model, and a rule for the context that is put before the model. For example,
// layout/duragent reads and writes the files of the agent runtime duragent. The layouts themselves are in the packages
// below this one.
package layout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Dialect describes a layout and opens homes that use it. A layout is a package with a function that returns its
// Dialect, and a line in internal/layouts, which lists all layouts. Name, Title, Detect, Init and Open are required.
// All further fields describe the layout's abilities. Commands, hooks, servers and tests read these fields, so that
// they need not know any layout by name. The optional interfaces of a home are [MemorySwitch], [Profiler],
// [Compressor] and [Tidier].
type Dialect struct {
	// the layout's unique name, which is the value of --dialect and convert --to, for example "crabtalk"
	Name  string
	Title string // line for people that names the inventor and the files of the layout
	// File is the slash-separated path of the file in the home that contains the whole memory. It
	// is "" if the memory consists of several files.
	File string

	// UserHome is set if a home of this layout is by convention the user's home directory.
	// Otherwise the program chooses a directory for the home.
	UserHome bool

	// Sets lists the sets of oxbow's own verbs that a server offers beside the home's own tools (see [verb.VerbSets]).
	// If Sets is empty, a server offers the home's own tools alone, or the core set if the home lacks tools of its
	// own.
	Sets verb.VerbSets
	// Handoffs is set if the layout can store handoffs.
	Handoffs bool
	// Summaries says when the program to which this layout belongs stores a summary of a conversation. The hooks of
	// oxbow's clients store a summary at the same time.
	Summaries SummaryTime
	// HasCompressor is set if the homes of the layout implement [Compressor].
	HasCompressor bool
	// HasTidier is set if the homes of the layout implement [Tidier].
	HasTidier bool

	// Detect returns the number of this layout's markers in the directory, or 0 if the directory does not use the
	// layout. A marker is a file or directory by which the layout is recognized. fsys is rooted at the directory. The
	// dialect with the most markers is chosen. If several dialects have the same number of markers, the home cannot be
	// opened. Therefore a file that only this layout has must count more than a file that other layouts also have.
	// Detect is called for every home that does not have oxbow's own layout. It reads as little as possible and changes
	// nothing.
	Detect func(fsys vfs.FS) (markers int, err error)

	// Init creates those files and directories of the layout that are missing, so that Detect
	// recognizes the directory. It returns the slash-separated names of the created files, and
	// leaves existing files unchanged.
	Init func(ctx context.Context, o Options) (made []string, err error)

	// Open opens the directory as a home. In an empty directory, the memory is empty, and the
	// first change creates the files. If the layout does not distinguish agents, Open returns the
	// error of [Options.NoAgents].
	Open func(ctx context.Context, o Options) (Home, error)

	// Annotations is the directory for code annotations in this layout, as a slash-separated path below the root of a
	// working tree. If it is "", the default directory is used.
	Annotations string
}

// SummaryTime says when a system stores a summary of a conversation. Zero means that it stores none.
type SummaryTime uint8

const (
	// SummaryAtCompaction: when a client replaces a long conversation by a summary, this summary is stored.
	SummaryAtCompaction SummaryTime = iota + 1
	// SummaryAtEnd: when the session ends, the agent's last message is stored.
	SummaryAtEnd
)

// Options configure how a dialect opens a home.
type Options struct {
	// FS is the file system of the home, rooted at the home's directory.
	FS vfs.FS
	// Path is the path of the home's directory in the operating system. It is used only in messages
	// and in replies that name files, and is never opened.
	Path string

	// Work is the file system that contains the directory in which the agent works, and its parent
	// directories. WorkDir is the slash-separated path of that directory in Work, "." for the root.
	// If Work is nil, no files outside of the home are read.
	Work    vfs.FS
	WorkDir string

	// Agent selects the memory to open, if the layout has a separate memory for each agent.
	// "" means the layout's default agent.
	Agent string

	// Memory configures the store, for example the clock, the lock timeout and whether the store may be written. The
	// field FS of Memory is ignored.
	Memory oxbow.Options
	// Zone is the time zone of dates in file names. Nil means time.Local.
	Zone *time.Location
	// Warn receives warnings about errors that no method returns, for example about an unreadable
	// file. If Warn is nil, warnings are discarded.
	Warn func(message string)
}

// Home is an open home of a layout. It is safe for concurrent use.
type Home interface {
	// Memory returns the memory that is stored in the home. Close also closes the
	// memory.
	Memory() *oxbow.Memory
	// Tools returns the tools of the program to which this layout belongs, in that program's order. The tools belong to
	// this home, but they read and write the memory of the workspace that is passed to them. If Tools returns nil, a
	// server offers oxbow's own tools (see [Dialect.Sets]). But if the home is a [MemorySwitch] whose memory is off,
	// the server does not offer these tools.
	Tools() []verb.Tool
	// Documents returns the paths of the files in the home that contain no entries and that clients
	// may read.
	Documents() []string
	// Document returns the text of a document. ok is false if the file does not exist.
	Document(ctx context.Context, path string) (text string, ok bool, err error)
	// Written returns the list of the texts that the tools wrote. It is nil if the home keeps no
	// such list.
	Written() *verb.WrittenTexts
	// Context returns the text that the dialect puts before the model, with the dialect's own
	// headers and blank lines. Context does not change the home.
	Context(ctx context.Context, r Request) (prompt.Context, error)
	// Session starts a conversation.
	Session(ctx context.Context, r Request) (Session, error)
	Close() error
}

// A MemorySwitch is a Home in which the user's configuration can forbid the agent to use the memory.
type MemorySwitch interface {
	Home
	// HasMemory reports whether the agent may use the memory. If it may not, a server offers no tools, entries,
	// completions and prompts. It still offers the context and the documents.
	HasMemory() bool
}

// A Profiler is a Home with support for memory profiles, which are named
// selections of entries.
type Profiler interface {
	Home
	// WithProfile returns a view of the home for an agent that is bound to the named profile. The memory of the view
	// contains only the entries that the profile selects. In the view, these entries are also the context for a new
	// session, in place of the context that the home has without a profile. Closing the view does not close the home.
	// If the profile does not exist, the error matches [oxbow.ErrInvalid].
	WithProfile(name string) (Home, error)
}

// Request describes the situation in which a model gets a context.
type Request struct {
	Message string // newest message of the user ("" before the first message)
	Budget  int    // maximum number of tokens in the context (0 means the layout's limit, if it has one)
	Project string // project of the handoff that the session takes over ("" accepts any project)

	// LoadSkill returns the text of a skill that a new session's handoff names. If the skill cannot be loaded, the
	// error is the reason. If LoadSkill is nil, the context only contains the names of skills.
	LoadSkill func(name string) (text string, err error)
}

// Session is a conversation in a program that embeds a layout. Only one goroutine may use it at a time.
type Session interface {
	// Start returns the context for the beginning of the conversation.
	Start(ctx context.Context) (prompt.Context, error)
	// BeforeTurn returns the context that is put before this message of the user. The stored
	// conversation does not include this context.
	BeforeTurn(ctx context.Context, message string) (prompt.Context, error)
	// Compact stores the summary of the conversation so far, if the layout stores summaries. It
	// returns a name for Resume, which is "" if nothing was stored, and the context with which the
	// conversation continues.
	Compact(ctx context.Context, summary string) (name string, goOn prompt.Context, err error)
	// Resume returns the context with which a stored conversation continues. name is a name that
	// Compact returned.
	Resume(ctx context.Context, name string) (prompt.Context, error)
	// End ends the conversation. It stores the summary unless the summary is empty or the layout
	// stores no summaries.
	End(ctx context.Context, summary string) error
}

// Find returns the dialect with this name. Without such a dialect, the error matches [oxbow.ErrInvalid] and lists the
// names of all dialects.
func Find(all []Dialect, name string) (Dialect, error) {
	for _, d := range all {
		if d.Name == name {
			return d, nil
		}
	}
	return Dialect{}, &oxbow.InvalidError{Field: "dialect", Value: name, Reason: "is not one of " +
		strings.Join(Names(all), ", ")}
}

// Names returns the names of the dialects in the given order.
func Names(all []Dialect) []string {
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	return names
}

// Detect returns the dialect whose layout a directory uses. It returns false if the directory contains no markers of
// any layout. If two layouts have the highest number of markers, Detect returns an error with their names.
func Detect(all []Dialect, fsys vfs.FS) (Dialect, bool, error) {
	most := 0
	var found []Dialect
	for _, d := range all {
		markers, err := d.Detect(fsys)
		if err != nil {
			return Dialect{}, false, fmt.Errorf("looking for the layout of %s: %w", d.Name, err)
		}
		if markers > most {
			most, found = markers, nil
		}
		if markers == most && markers > 0 {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 0:
		return Dialect{}, false, nil
	case 1:
		return found[0], true, nil
	}
	names := Names(found)
	slices.Sort(names)
	return Dialect{}, false, &oxbow.InvalidError{Field: "dialect", Reason: "is not clear: the directory could be of " +
		strings.Join(names, " or ") + "; name it with --dialect"}
}

// NoAgents returns an error if [Options.Agent] is set. Layouts that have only one memory call it. The error message
// ends with "leave it out" and the argument hint, which may tell the user another way to separate agents.
func (o *Options) NoAgents(hint string) error {
	if o.Agent == "" {
		return nil
	}
	return &oxbow.InvalidError{
		Field:  "agent",
		Value:  o.Agent,
		Reason: "has no memory of its own in this layout; leave it out" + hint,
	}
}
