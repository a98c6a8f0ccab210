// This file defines the source of a change, and stores it in a context.

package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// An Actor is the kind of author who wrote a version, such as a person or an
// agent.
type Actor string

// These are the actors.
const (
	Person   Actor = "person"  // a human typed the text
	Agent    Actor = "agent"   // a model made the call
	Program  Actor = "tool"    // a program or a rule made the change
	Imported Actor = "import"  // an import read the text from a file or another system
	Team     Actor = "team"    // the text was reviewed in the project's repository (this actor is not stored)
	Foreign  Actor = "foreign" // somebody who wrote a text in a project that the user does not trust (never stored)
)

// A Source is the origin of a version. The command line or server that receives a call sets
// it, except for Claimed, which has the caller's own statements.
type Source struct {
	Time    time.Time `json:"time"`              // time of the change, set by the store
	Door    string    `json:"door,omitempty"`    // interface that received the call: cli, mcp, http or library
	Actor   Actor     `json:"actor,omitempty"`   // kind of author
	Session string    `json:"session,omitempty"` // ID of the command line or server run that made the change
	Profile string    `json:"profile,omitempty"` // profile that the command line or server uses
	// origin of an imported text, or the client's session or call (see [Source.SplitRef])
	Ref     string `json:"ref,omitempty"`
	Claimed Claim  `json:"claimed,omitzero"` // the caller's statement about itself, without verification
}

// A Claim is the caller's own statement of who it is. The statement is not verified,
// so no decision may depend on it.
type Claim struct {
	Client string `json:"client,omitempty"` // program and version
	Agent  string `json:"agent,omitempty"`  // name of the agent or of its model, as the caller gave it
}

// refOriginSeparator separates the two parts of Source.Ref: the client's session or call, and an imported text's
// origin.
const refOriginSeparator = " from "

// WithOrigin returns a copy of s for a change whose text was imported from origin. The field Ref of the copy contains
// origin. If s.Ref names the client's session or call, the new Ref contains this name before origin.
func (s Source) WithOrigin(origin string) Source {
	caller, _ := s.SplitRef()
	switch {
	case caller == "":
		s.Ref = origin
	case origin == "":
		s.Ref = caller
	default:
		s.Ref = caller + refOriginSeparator + origin
	}
	return s
}

// SplitRef returns the two parts of Ref. The first is the caller, as
// "session:CLIENT/SESSION" or "call:ID", and the second the origin of an imported
// text. Either may be empty.
func (s Source) SplitRef() (caller, origin string) {
	if !strings.HasPrefix(s.Ref, RefSession) && !strings.HasPrefix(s.Ref, RefCall) {
		return "", s.Ref
	}
	caller, origin, _ = strings.Cut(s.Ref, refOriginSeparator)
	return caller, origin
}

// The first part of Source.Ref names the client's session or call and begins with one of these prefixes.
const (
	RefSession = "session:" // prefix of CLIENT/SESSION, which names a session of an agent
	RefCall    = "call:"    // prefix of the ID that the client gave to the call
)

type sourceContextKey struct{}

// WithSource returns a context that sets the source of changes made with it. The Time of s
// is ignored.
func WithSource(ctx context.Context, s Source) context.Context {
	return context.WithValue(ctx, sourceContextKey{}, s)
}

// SourceFrom returns the source in ctx. It returns false if ctx lacks a source.
func SourceFrom(ctx context.Context) (Source, bool) {
	s, ok := ctx.Value(sourceContextKey{}).(Source)
	return s, ok
}

type opIDContextKey struct{}

// WithOpID returns a context with an ID of at most 64 bytes for the next [Store.Apply]. If
// a store that remembers IDs has already applied a change with this ID, Apply succeeds
// without a change. This makes a retry safe.
func WithOpID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, opIDContextKey{}, id)
}

// CallOpID returns the op ID for a call. fingerprint is a fingerprint of the call's arguments. If the same id is used
// again with a different fingerprint, the change fails with [ErrOpIDUsed].
//
// The op ID is "~", a hash of id, "~", and a second hash over id and fingerprint. The second hash includes id, so that
// the arguments cannot be guessed without knowing the id.
func CallOpID(id, fingerprint string) string {
	key, both := sha256.Sum256([]byte(id)), sha256.Sum256([]byte(id+"\x00"+fingerprint))
	return "~" + hex.EncodeToString(key[:16]) + "~" + hex.EncodeToString(both[:8])
}

// OpIDKey returns the part of an op ID that identifies the call. For an ID from
// [CallOpID], this is the part before the hash of the arguments, and otherwise the whole
// ID.
func OpIDKey(id string) string {
	if isCallOpID(id) {
		return id[:callOpIDPrefixLen]
	}
	return id
}

// callOpIDPrefixLen is the number of bytes at the start of an ID from [CallOpID] that depend only on the call's id.
// The rest of the ID depends on the call's arguments as well.
const callOpIDPrefixLen = len("~") + 2*16

// isCallOpID reports whether the op ID has the form of the IDs that [CallOpID] returns.
func isCallOpID(id string) bool {
	return len(id) == callOpIDPrefixLen+len("~")+2*8 && id[0] == '~' && id[callOpIDPrefixLen] == '~'
}

// OpIDFrom returns the op ID in ctx, or "" if ctx lacks an op ID.
func OpIDFrom(ctx context.Context) string {
	id, _ := ctx.Value(opIDContextKey{}).(string)
	return id
}

type noteContextKey struct{}

// WithNote returns a context whose changes are recorded with a note, such as "load from
// brain/".
func WithNote(ctx context.Context, note string) context.Context {
	return context.WithValue(ctx, noteContextKey{}, note)
}

// NoteFrom returns the note in ctx, or "" if ctx lacks a note.
func NoteFrom(ctx context.Context) string {
	n, _ := ctx.Value(noteContextKey{}).(string)
	return n
}
