// This file declares the record of an annotation.

// Package annotate stores the reasons for lines of code. An annotation contains the lines that an edit
// wrote, the reason for the edit, and the alternatives that were rejected. The annotations of a source file
// are stored in a sidecar file below .oxbow/annotations, so that they are versioned with the code
// and merged by git. If the code was moved or edited, or if the file was renamed, a [Store] finds
// the present position of each annotation, and reports how it was found and with what confidence.
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

// LineSpan is a range of lines, counted from 1. It includes the lines with the numbers First and Last. The zero
// LineSpan contains no lines. Some functions interpret a zero LineSpan in their arguments as the whole file.
type LineSpan struct{ First, Last int }

// Len returns the number of lines.
func (s LineSpan) Len() int {
	if s.First < 1 || s.Last < s.First {
		return 0
	}
	return s.Last - s.First + 1
}

// Overlaps reports whether s and t have a line in common.
func (s LineSpan) Overlaps(t LineSpan) bool {
	return s.Len() > 0 && t.Len() > 0 && s.First <= t.Last && t.First <= s.Last
}

// String returns the span as text, such as "7" or "42-60".
func (s LineSpan) String() string {
	if s.First == s.Last {
		return fmt.Sprint(s.First)
	}
	return fmt.Sprintf("%d-%d", s.First, s.Last)
}

// Limits of a [Record].
const (
	ContextLines      = 3     // number of lines that are stored before and after the block
	MaxReasoningBytes = 65536 // maximum size, in bytes, of the reasoning and each rejected alternative
	MaxFileBytes      = 16 << 20
	// maximum number of stored lines; for a longer block, half as many lines are stored from each end
	maxStoredBlockLines     = 200
	maxFieldBytes           = 256 // maximum size, in bytes, of each field: Agent, Model, Session, Profile and Ref
	maxRejectedAlternatives = 100
)

// Record is an annotation: the reason why the lines of a span were written as they are.
//
// [Store.Add] requires File and Why, and Span if Block is empty. Add fills in the following fields if they are empty,
// from the working tree, the clock and the context: ID, Time, Commit, FileBlobName, BlockHash, Block, LinesBefore,
// LinesAfter, Author, Session, Profile and Agent. A caller that knows better values sets them, for example a reader of
// old transcripts.
type Record struct {
	// ID identifies the annotation. It consists of 1 to 64 characters from A-Z a-z 0-9 . _ -. The default is a hash of
	// File, Span, BlockHash, Why, RejectedAlternatives, Agent, Session and SourceRef. Therefore an annotation that is
	// added twice is stored once.
	ID string

	// the file's path when the annotation was written, slash-separated and relative to the root of the working tree
	File string
	Span LineSpan // lines of the block when the annotation was written

	Why                  string   // the reason for the lines, any UTF-8 text
	RejectedAlternatives []string // alternatives that were rejected, each with the reason

	Author    oxbow.Actor // kind of author: person, agent, tool or import
	Agent     string      // Agent and the next three fields are claims of the agent
	Model     string
	Session   string
	Profile   string // memory profile that was active when the annotation was written
	SourceRef string // where the text comes from, such as a position in a transcript

	Time   time.Time
	Commit string // commit of HEAD when the annotation was written, in hex ("" without git)
	// git's name for the file's content when the annotation was written, in hex; git need not have stored the content
	FileBlobName string

	// BlockHash is the hash of the whole block. Block contains the block's lines in the form of [SplitLines]. If the
	// block is long, some lines in its middle are left out of Block, and OmittedBlockLines is the number of these
	// lines. LinesBefore and LinesAfter contain up to [ContextLines] lines around the block.
	BlockHash               string
	Block                   []string
	LinesBefore, LinesAfter []string
	OmittedBlockLines       int

	// EnclosingLines contains the lines that enclose the block, the innermost first (see [FindEnclosingLines]). It
	// distinguishes blocks that have the same text and are between the same lines.
	EnclosingLines []string

	// MachineSignature proves that this machine wrote the record and nobody has changed it; see
	// [Store.FindUnreviewedAnnotations]. Only the machine itself can check the signature. [Store.Add] sets it.
	MachineSignature string

	// Archived is set if the lines did not exist when [Store.GC] ran last.
	Archived bool
}

// SetLines sets Block, BlockHash, OmittedBlockLines, LinesBefore, LinesAfter and EnclosingLines. The argument lines
// must contain all lines of the file, as [SplitLines] returns them. The block consists of the lines whose numbers are
// in Span. SetLines returns false and does nothing if Span is empty or ends after the last line.
func (r *Record) SetLines(lines []string) bool {
	if r.Span.Len() == 0 || r.Span.Last > len(lines) {
		return false
	}
	r.setLines(lines)
	return true
}

// setLines is like SetLines, but the caller has checked that the file has the lines of the record's span.
func (r *Record) setLines(lines []string) {
	from, to := r.Span.First-1, r.Span.Last
	r.SetBlock(lines[from:to])
	r.LinesBefore = append([]string(nil), lines[max(0, from-ContextLines):from]...)
	r.LinesAfter = append([]string(nil), lines[to:min(len(lines), to+ContextLines)]...)
	r.EnclosingLines = FindEnclosingLines(lines, from)
}

// SetBlock sets BlockHash, Block and OmittedBlockLines. The argument lines contains all lines of the block. If the
// block has more than maxStoredBlockLines lines, Block contains only its first and last lines, and OmittedBlockLines is
// the number of the lines in between. BlockHash covers all lines.
func (r *Record) SetBlock(lines []string) {
	r.BlockHash, r.OmittedBlockLines = hashLines(lines), 0
	if len(lines) > maxStoredBlockLines {
		half := maxStoredBlockLines / 2
		r.OmittedBlockLines = len(lines) - maxStoredBlockLines
		lines = append(append([]string(nil), lines[:half]...), lines[len(lines)-half:]...)
	}
	r.Block = append([]string(nil), lines...)
}

// defaultID returns a hash of the record's file, lines, reasoning, agent, session, reference and rejected
// alternatives. The same annotation always has the same ID, even if it is recorded twice.
func (r *Record) defaultID() string {
	h := sha256.New()
	for _, s := range append(
		[]string{r.File, r.Span.String(), r.BlockHash, r.Why, r.Agent, r.Session, r.SourceRef},
		r.RejectedAlternatives...,
	) {
		// Hash the length of each part too, so that "ab" and "c" are not hashed like "a" and "bc".
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// validate returns an error that matches [oxbow.ErrInvalid] if the record is invalid, and nil otherwise.
func (r *Record) validate() error {
	if err := CheckFile(r.File); err != nil {
		return err
	}
	if strings.TrimSpace(r.Why) == "" {
		return invalidField("why", "", "is empty; say why the lines are as they are")
	}
	for i, s := range append([]string{r.Why}, r.RejectedAlternatives...) {
		field := "why"
		if i > 0 {
			field = "rejected"
		}
		switch {
		case len(s) > MaxReasoningBytes:
			return invalidField(field, s, fmt.Sprintf("has %d bytes; the most is %d", len(s), MaxReasoningBytes))
		case !utf8.ValidString(s):
			return invalidField(field, "", "is not UTF-8")
		}
	}
	if len(r.RejectedAlternatives) > maxRejectedAlternatives {
		return invalidField(
			"rejected",
			"",
			fmt.Sprintf("has %d alternatives; the most is %d", len(r.RejectedAlternatives), maxRejectedAlternatives),
		)
	}
	return r.validateFields()
}

// validateFields checks the IDs, the hashes and the fields that contain a short text.
func (r *Record) validateFields() error {
	for _, w := range []struct{ field, value string }{
		{"agent", r.Agent},
		{"model", r.Model},
		{"session", r.Session},
		{"profile", r.Profile},
		{"ref", r.SourceRef},
	} {
		if len(w.value) > maxFieldBytes || !utf8.ValidString(w.value) {
			return invalidField(w.field, w.value, fmt.Sprintf("is not UTF-8 of at most %d bytes", maxFieldBytes))
		}
	}
	if r.ID != "" && !isValidID(r.ID) {
		return invalidField("id", r.ID, "is not 1 to 64 of the characters A-Z a-z 0-9 . _ -")
	}
	for _, w := range []struct{ field, value string }{{"commit", r.Commit}, {"blob", r.FileBlobName}} {
		if w.value != "" && !git.IsHash(w.value) {
			return invalidField(w.field, w.value, "is not the hex name of a git object")
		}
	}
	return nil
}

// invalidField returns an error about a field. The error contains the beginning of the field's value.
func invalidField(field, value, reason string) error {
	return &oxbow.InvalidError{Field: field, Value: text.TruncateWithEllipsis(value, 60), Reason: reason}
}

func isValidID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
			c == '-') {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 64
}
