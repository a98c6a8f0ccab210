// Source of a change, and how it travels in a context.

package store

import (
	"context"
	"time"
)

// Actor is the kind of author of a version.
type Actor string

// The actors.
const (
	Person   Actor = "person"  // typed by a human
	Agent    Actor = "agent"   // called by a model
	Program  Actor = "tool"    // made by a program or a rule
	Imported Actor = "import"  // read from elsewhere
	Team     Actor = "team"    // reviewed in the project's repository; never stored
	Foreign  Actor = "foreign" // came with a project that is not trusted; never stored
)

// Source is the origin of a version. The command line or server that receives the
// call sets it; what a caller claims of itself stays apart, in Claimed.
type Source struct {
	Time    time.Time `json:"time"`              // stamped by the store
	Door    string    `json:"door,omitempty"`    // cli, mcp, http, library
	Actor   Actor     `json:"actor,omitempty"`   // person, agent, tool, import
	Session string    `json:"session,omitempty"` // one run of a door
	Profile string    `json:"profile,omitempty"` // profile the door was bound to
	Ref     string    `json:"ref,omitempty"`     // where the text came from, for imports; for calls, the session of the client or the call
	Claimed Claim     `json:"claimed,omitzero"`  // said by the caller, not checked
}

// Claim is what a caller says of itself. No decision may depend on it.
type Claim struct {
	Client string `json:"client,omitempty"` // program and version
	Agent  string `json:"agent,omitempty"`  // agent or model
}

type sourceKey struct{}

// WithSource returns a context whose changes are stamped with s, but for its Time.
func WithSource(ctx context.Context, s Source) context.Context {
	return context.WithValue(ctx, sourceKey{}, s)
}

// SourceFrom returns the source that ctx carries, and whether there is one.
func SourceFrom(ctx context.Context) (Source, bool) {
	s, ok := ctx.Value(sourceKey{}).(Source)
	return s, ok
}

type opIDKey struct{}

// WithOpID returns a context whose next [Store.Apply] carries that id, at most
// 64 bytes. A store that keeps ids applies the changes of one id once: a
// repeat succeeds and changes nothing.
func WithOpID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, opIDKey{}, id)
}

// OpIDFrom returns the id that ctx carries, "" for none.
func OpIDFrom(ctx context.Context) string {
	id, _ := ctx.Value(opIDKey{}).(string)
	return id
}

type noteKey struct{}

// WithNote returns a context whose changes carry a note, such as "load from brain/".
func WithNote(ctx context.Context, note string) context.Context {
	return context.WithValue(ctx, noteKey{}, note)
}

// NoteFrom returns the note that ctx carries, "" for none.
func NoteFrom(ctx context.Context) string {
	n, _ := ctx.Value(noteKey{}).(string)
	return n
}
