// An annotation: a record of why a block of lines was written.

// Package annotate keeps why code is as it is: the reasoning after an edit,
// and what was rejected, tied to the lines that the edit made. The annotations
// of a source file are lines of a sidecar file below .oxbow/annotations, so
// that they travel with the code and merge in git. When the code has moved, was
// edited, or the file has another name, a [Store] finds where each stands now,
// and says how it knows and how sure it is.
//
//	store, err := annotate.OpenDir(ctx, ".", nil)
//	_, err = store.Add(ctx, annotate.Record{File: "pool.go", Span: annotate.Span{First: 42, Last: 60},
//		Why: "one connection per shard: the proxy drops idle ones"})
//	found, err := store.Lookup(ctx, "pool.go", annotate.Span{First: 42, Last: 60})
package annotate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// Span is a range of lines, counted from 1, both ends included. The zero Span
// is no lines, or all of a file where a range is asked for.
type Span struct{ First, Last int }

// Len returns the number of lines.
func (s Span) Len() int {
	if s.First < 1 || s.Last < s.First {
		return 0
	}
	return s.Last - s.First + 1
}

// Overlaps reports whether the two have a line in common.
func (s Span) Overlaps(t Span) bool {
	return s.Len() > 0 && t.Len() > 0 && s.First <= t.Last && t.First <= s.Last
}

// String returns "7" or "42-60".
func (s Span) String() string {
	if s.First == s.Last {
		return fmt.Sprint(s.First)
	}
	return fmt.Sprintf("%d-%d", s.First, s.Last)
}

// Bounds of a [Record].
const (
	Context   = 3     // lines kept before and after the block
	MaxWhy    = 65536 // bytes of reasoning, and of each alternative
	MaxFile   = 16 << 20
	maxBlock  = 200 // lines of a block that are kept; of a longer one, the first and last half of that
	maxWord   = 256 // bytes of agent, model, session, profile
	maxReject = 100
)

// Record is one annotation: why the lines of a span were written as they are.
//
// File and Why are required by [Store.Add], and Span where Block is not given.
// What else is left empty is filled in from the working tree, the clock and the
// context: ID, Time, Commit, Blob, Hash, Block, Before, After, By, Session,
// Profile. A caller that knows better, such as a reader of old transcripts, fills it
// in.
type Record struct {
	// ID names the annotation: 1 to 64 of the characters A-Z a-z 0-9 . _ -. By
	// default it is made of File, Span, Hash, Why, Rejected, Agent, Session
	// and Ref, so that the same annotation given twice is one.
	ID string

	File string // slash-separated, from the root of the working tree, as it was called then
	Span Span   // of the block, then

	Why      string   // the reasoning, any UTF-8 text
	Rejected []string // alternatives, each with why not

	By      oxbow.Actor // person, agent, tool or import
	Agent   string      // as it calls itself, like the next four
	Model   string
	Session string
	Profile string // memory profile active at the time
	Ref     string // where the text comes from, such as a transcript and the place in it

	Time   time.Time
	Commit string // HEAD then, in hex; "" without git
	Blob   string // git's name of the file's whole content then, in hex, whether or not git has it

	// Hash is that of the whole block, and Block its text, line by line without
	// line ends; Before and After are up to [Context] lines around it. Lines
	// are as [Lines] gives them. Of a long block, Cut lines in the middle are
	// left out of the text.
	Hash          string
	Block         []string
	Before, After []string
	Cut           int

	// Scope is the lines that the block stands in, from the inside out; see
	// [Scope]. Blocks that are the same, with the same lines around them, stand
	// in different ones.
	Scope []string

	// Mark proves to the machine that wrote the record that nobody has changed it; see
	// [Store.Unreviewed]. [Store.Add] sets it.
	Mark string

	// Archived says that the lines were gone when [Store.GC] last looked.
	Archived bool
}

// SetLines fills in what a record keeps of its lines, which are those of its Span,
// from all lines of the file as [Lines] gives them. It reports false, and does
// nothing, when the file does not have that span.
func (r *Record) SetLines(lines []string) bool {
	if r.Span.Len() == 0 || r.Span.Last > len(lines) {
		return false
	}
	r.take(lines)
	return true
}

// take fills in block, hash and context from the lines of the file.
func (r *Record) take(lines []string) {
	from, to := r.Span.First-1, r.Span.Last
	r.SetBlock(lines[from:to])
	r.Before = append([]string(nil), lines[max(0, from-Context):from]...)
	r.After = append([]string(nil), lines[to:min(len(lines), to+Context)]...)
	r.Scope = Scope(lines, from)
}

// SetBlock sets Hash, Block and Cut from the whole text of the block.
func (r *Record) SetBlock(lines []string) {
	r.Hash, r.Cut = hashLines(lines), 0
	if len(lines) > maxBlock {
		half := maxBlock / 2
		r.Cut = len(lines) - maxBlock
		lines = append(append([]string(nil), lines[:half]...), lines[len(lines)-half:]...)
	}
	r.Block = append([]string(nil), lines...)
}

// id returns what the ID is by default.
func (r *Record) id() string {
	h := sha256.New()
	for _, s := range append([]string{r.File, r.Span.String(), r.Hash, r.Why, r.Agent, r.Session, r.Ref}, r.Rejected...) {
		fmt.Fprintf(h, "%d:%s", len(s), s) // lengths keep the parts apart
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// check says, as an error matching [oxbow.ErrInvalid], why the record cannot be
// kept.
func (r *Record) check() error {
	if err := CheckFile(r.File); err != nil {
		return err
	}
	if strings.TrimSpace(r.Why) == "" {
		return invalid("why", "", "is empty; say why the lines are as they are")
	}
	for i, s := range append([]string{r.Why}, r.Rejected...) {
		field := "why"
		if i > 0 {
			field = "rejected"
		}
		switch {
		case len(s) > MaxWhy:
			return invalid(field, s, fmt.Sprintf("has %d bytes; the most is %d", len(s), MaxWhy))
		case !utf8.ValidString(s):
			return invalid(field, "", "is not UTF-8")
		}
	}
	if len(r.Rejected) > maxReject {
		return invalid("rejected", "", fmt.Sprintf("has %d alternatives; the most is %d", len(r.Rejected), maxReject))
	}
	return r.checkWords()
}

// checkWords checks the fields that are one word or hash.
func (r *Record) checkWords() error {
	for _, w := range []struct{ field, value string }{{"agent", r.Agent}, {"model", r.Model}, {"session", r.Session}, {"profile", r.Profile}, {"ref", r.Ref}} {
		if len(w.value) > maxWord || !utf8.ValidString(w.value) {
			return invalid(w.field, w.value, fmt.Sprintf("is not UTF-8 of at most %d bytes", maxWord))
		}
	}
	if r.ID != "" && !isID(r.ID) {
		return invalid("id", r.ID, "is not 1 to 64 of the characters A-Z a-z 0-9 . _ -")
	}
	for _, w := range []struct{ field, value string }{{"commit", r.Commit}, {"blob", r.Blob}} {
		if w.value != "" && !git.IsHash(w.value) {
			return invalid(w.field, w.value, "is not the hex name of a git object")
		}
	}
	return nil
}

// invalid returns the error for a field, with the beginning of its value.
func invalid(field, value, reason string) error {
	return &oxbow.InvalidError{Field: field, Value: text.Clip(value, 60), Reason: reason}
}

func isID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 64
}
