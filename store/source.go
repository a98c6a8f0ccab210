// Source of a change, and how it travels in a context.

package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
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

// refFrom stands in a Ref between the session or call of a client and the origin of a text.
const refFrom = " from "

// WithOrigin returns the source of a change whose text was read from elsewhere. Its Ref
// keeps the session or the call of the client that made the change.
func (s Source) WithOrigin(origin string) Source {
	caller, _ := s.SplitRef()
	switch {
	case caller == "":
		s.Ref = origin
	case origin == "":
		s.Ref = caller
	default:
		s.Ref = caller + refFrom + origin
	}
	return s
}

// SplitRef returns the two parts of Ref: the session or the call of a client, as
// "session:CLIENT/SESSION" or "call:ID", and the origin of an imported text. Either may be
// empty.
func (s Source) SplitRef() (caller, origin string) {
	if !strings.HasPrefix(s.Ref, RefSession) && !strings.HasPrefix(s.Ref, RefCall) {
		return "", s.Ref
	}
	caller, origin, _ = strings.Cut(s.Ref, refFrom)
	return caller, origin
}

// Starts of the part of a Ref that names a caller.
const (
	RefSession = "session:" // followed by CLIENT/SESSION
	RefCall    = "call:"    // followed by the client's identifier of the call
)

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

// CallOpID returns the op id of a call: a change with the same id, and another print of
// its call, is refused with [ErrOpIDUsed]. It is "~", a digest of the id, "~" and one of
// both: without the id, no guess at the print can be tried.
func CallOpID(id, print string) string {
	key, both := sha256.Sum256([]byte(id)), sha256.Sum256([]byte(id+"\x00"+print))
	return "~" + hex.EncodeToString(key[:16]) + "~" + hex.EncodeToString(both[:8])
}

// OpIDKey returns the part of an op id that no two changes have in common: of one by
// [CallOpID] all before the digest of both, of any other the whole.
func OpIDKey(id string) string {
	const key = len("~") + 2*16
	if len(id) == key+len("~")+2*8 && id[0] == '~' && id[key] == '~' {
		return id[:key]
	}
	return id
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
