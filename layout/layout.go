// The seam between a layout of files and the packages that use it.

// Package layout is the seam of the layouts: a dialect is a named triple of a
// layout on disk, a set of tools and a recipe of what is put before the model.
// The dialects themselves are the packages below this one.
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

// Dialect is one layout.
type Dialect struct {
	Name  string // such as "crabtalk"; what --dialect takes
	Title string // one line for people: whose layout it is, and what it is made of
	// File is the file of the home that holds all of the memory,
	// slash-separated, and "" when it lies in several.
	File string

	// UserHome says that by its custom the home is the user's own directory,
	// and not one that the program chooses.
	UserHome bool

	// Sets are the sets of oxbow's verbs that are among the layout's tools by its
	// design; see [verb.Sets].
	Sets verb.Sets
	// Handoffs says that the layout has a place for handoffs.
	Handoffs bool

	// Detect reports whether the directory that is the root of fsys holds this
	// layout, and of how many markers it says so: the dialect with the most is
	// taken. 0 is no. It reads as little as it can and changes nothing.
	Detect func(fsys vfs.FS) (markers int, err error)

	// Init makes what the layout needs and is not there, and returns the names
	// of what it made, slash-separated. It changes nothing that exists.
	Init func(ctx context.Context, o Options) (made []string, err error)

	// Open opens the directory. A directory that holds nothing yet is an empty
	// memory; the first change makes its files.
	Open func(ctx context.Context, o Options) (Home, error)

	// Annotations is where this layout keeps annotations of code, as a
	// slash-separated path below the root of a working tree; "" is the
	// default's place.
	Annotations string
}

// Options say where a dialect finds its files and how it writes them.
type Options struct {
	// FS holds the home; its root is the home's directory.
	FS vfs.FS
	// Path is the home's directory as people know it, for messages and for
	// replies that name files. It is never opened.
	Path string

	// Work holds the directory that the agent works in, and those above it;
	// WorkDir is that directory's slash-separated name inside of it, "." for
	// its root. Nil means that there is none: nothing outside of the home is
	// read then.
	Work    vfs.FS
	WorkDir string

	Agent string // whose memory, in layouts of several agents; "" means the layout's default

	// Memory says how the store writes: clock, randomness, source, lock wait
	// and whether anything may be written at all. Its FS is not used.
	Memory oxbow.Options
	// Zone is the time zone of days in file names; nil means time.Local.
	Zone *time.Location
	// Warn receives what a person should know and no call can return, such as a
	// file that could not be read. Nil discards.
	Warn func(message string)
}

// Home is an opened directory of a dialect. It is safe for concurrent use.
type Home interface {
	// Memory returns the memory over the layout's store. Closing the home
	// closes it.
	Memory() *oxbow.Memory
	// Tools returns the dialect's own tools, in its order, bound to the home.
	// They call the memory of the workspace that they get.
	Tools() []verb.Tool
	// Documents returns the paths of the files of the home that hold no entries
	// and that clients may read, and Document the text of one, and whether it is
	// there.
	Documents() []string
	Document(ctx context.Context, path string) (text string, ok bool, err error)
	// Written returns the list of the texts that the tools wrote, nil if there is none.
	Written() *verb.Written
	// Context returns what the dialect would put before the model, with the
	// headers and the blank lines of its own. It changes nothing.
	Context(ctx context.Context, r Request) (prompt.Context, error)
	// Session begins a conversation.
	Session(ctx context.Context, r Request) (Session, error)
	Close() error
}

// A Profiler is a Home that memory profiles work in.
type Profiler interface {
	Home
	// WithProfile returns the home as an agent has it that is bound to the
	// profile of that name: what the profile selects takes the place of the
	// home's own context, and the memory holds nothing else. Closing it leaves
	// the home itself open. A profile that is not there matches
	// [oxbow.ErrInvalid].
	WithProfile(name string) (Home, error)
}

// A Compressor is a Home whose layout can tell the entries of a span of time
// again in fewer words, and take that back.
type Compressor interface {
	Home
	// Spans returns what there is to compress into, such as week and month, the
	// shorter first.
	Spans() []string
	// Compress puts digests in the place of entries. With nothing to do it
	// returns none.
	Compress(ctx context.Context, r Compression) ([]Digest, error)
	// Decompress takes digests back, of those names: the entries that they tell
	// again are as they were. With dry it only says what it would do.
	Decompress(ctx context.Context, dry bool, names ...string) ([]Digest, error)
}

// Compression says what is compressed.
type Compression struct {
	Span   string // one of Spans
	Period string // such as 2026-W16; "" for all that are over
	// Texts are the digests, by [DigestPart.Group]. Of a group that is not there
	// the layout makes one by a rule of its own. Only with a Period.
	Texts map[string]string
	// Over is a number of bytes: what holds no more than that stays as it is. 0 means
	// [DefaultOver], or 1 if there are Texts.
	Over int
	Dry  bool // change nothing
}

// DefaultOver is how many bytes a log holds at most that is not compressed unless the
// caller names another number: the digest of a short log says little.
const DefaultOver = 2000

// Digest is what one period was compressed into.
type Digest struct {
	Name   string       `json:"name"`  // such as week-2026-W16
	File   string       `json:"file"`  // that holds it
	Covers []string     `json:"files"` // that it tells again
	Parts  []DigestPart `json:"parts"`
	Notes  []string     `json:"notes,omitempty"`
	// Skipped says why the period was passed over, such as "holds nothing".
	Skipped string `json:"skipped,omitempty"`
}

// DigestPart is one entry of a digest. What differs in more than tags, files
// and confidence is kept apart, so that labels select a digest as they do what
// it covers.
type DigestPart struct {
	Entry   string        `json:"entry"`
	Group   string        `json:"group"` // the labels that keep it apart, such as "project:vtt"; "" for none
	Labels  []oxbow.Label `json:"labels"`
	Entries int           `json:"entries"` // that it tells again
	Before  int           `json:"before"`  // bytes of their contents
	After   int           `json:"after"`   // bytes of its own
	Text    string        `json:"text"`
}

// Request says for what a context is made.
type Request struct {
	Message string // the newest message of the user, "" for none yet
	Budget  int    // tokens, 0 for the layout's own bound, or none where it has none
	Project string // of the handoff that a session takes; "" for any
}

// Session is one conversation, as a runtime that embeds a dialect leads it. It
// is for one goroutine.
type Session interface {
	// Start returns what opens the conversation.
	Start(ctx context.Context) (prompt.Context, error)
	// BeforeTurn returns what is put before this message of the user, and is
	// not kept in the conversation.
	BeforeTurn(ctx context.Context, message string) (prompt.Context, error)
	// Compact keeps the summary of what was said so far, where the layout
	// keeps such, and returns the name to resume by ("" where there is none)
	// and what the conversation goes on from.
	Compact(ctx context.Context, summary string) (name string, goOn prompt.Context, err error)
	// Resume returns what a conversation goes on from that was compacted under
	// that name.
	Resume(ctx context.Context, name string) (prompt.Context, error)
	// End closes the conversation and keeps its summary, where the layout
	// keeps such and it is not empty.
	End(ctx context.Context, summary string) error
}

// Find returns the dialect of that name, or an error matching
// [oxbow.ErrInvalid] that lists the names there are.
func Find(all []Dialect, name string) (Dialect, error) {
	for _, d := range all {
		if d.Name == name {
			return d, nil
		}
	}
	return Dialect{}, &oxbow.InvalidError{Field: "dialect", Value: name, Reason: "is not one of " + strings.Join(Names(all), ", ")}
}

// Names returns the names of the dialects, in their order.
func Names(all []Dialect) []string {
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	return names
}

// Detect returns the dialect whose layout the directory holds, and false when
// it holds none. Two that are equally sure are an error that names them.
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
	return Dialect{}, false, &oxbow.InvalidError{Field: "dialect", Reason: "is not clear: the directory could be of " + strings.Join(names, " or ") + "; name it with --dialect"}
}
