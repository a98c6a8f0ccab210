// This file implements notes, which are sentences in an answer. A note may refer to verbs or parameters. Each
// interface (command line, MCP, HTTP) words such a reference in its own way.

package verb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Note is a sentence in an answer. It may contain a [NoteReference] to a verb (an operation of oxbow), a parameter or a
// call. Each interface words such a reference in its own way. [Note.String] and [Note.MarshalText] use the wording that
// models get. JSON has this wording too, because it is written with MarshalText. The zero Note is empty.
type Note struct {
	format string
	args   []any
	// rewrites the commands in the sentence (may be nil); see [Workspace.RewriteCommands]
	rewriteCommands func(string) string
}

// Notef returns a note. The arguments format and args are the same as for [fmt.Sprintf]. If an element of args is a
// [NoteReference], the format must contain %s for it.
func Notef(format string, args ...any) Note { return Note{format: format, args: args} }

// PlainNote returns a note that consists of one sentence and contains no reference.
func PlainNote(sentence string) Note { return Notef("%s", sentence) }

// PlainNotes returns a note for each sentence. The notes contain no references.
func PlainNotes(sentences []string) []Note {
	var ns []Note
	for _, s := range sentences {
		ns = append(ns, PlainNote(s))
	}
	return ns
}

// Render returns the note as text. Each interface, such as the command line or MCP, has its own names for verbs and
// parameters. The function referenceText returns the text for a reference to a verb or a parameter.
func (n Note) Render(referenceText func(NoteReference) string) string {
	args := slices.Clone(n.args)
	for i, a := range args {
		if r, ok := a.(NoteReference); ok {
			args[i] = referenceText(r)
		}
	}
	said := fmt.Sprintf(n.format, args...)
	if n.rewriteCommands != nil {
		said = n.rewriteCommands(said)
	}
	return said
}

// String returns the sentence as it is worded for models.
func (n Note) String() string { return n.Render(NoteReference.textForModel) }

// WordingForModel implements [report.WordedValue].
func (n Note) WordingForModel() string { return n.String() }

// MarshalText implements [encoding.TextMarshaler].
func (n Note) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. The decoded note is plain text. A note that is created in the
// program may contain references to verbs and parameters, which each interface words in its own way. The decoded note
// contains only the words of the encoded note.
func (n *Note) UnmarshalText(b []byte) error {
	*n = PlainNote(string(b))
	return nil
}

// renameParam returns a copy of the note in which each reference to the parameter oldName is replaced by a reference to
// the parameter newName.
func (n Note) renameParam(oldName, newName ParamRef) Note {
	args := slices.Clone(n.args)
	for i, a := range args {
		if a == any(oldName) {
			args[i] = newName
		}
	}
	return Note{n.format, args, n.rewriteCommands}
}

// RefersTo reports whether the note contains a reference to the parameter.
func (n Note) RefersTo(p ParamRef) bool { return slices.Contains(n.args, any(p)) }

// JoinNotes returns a note that contains the sentences of all notes.
func JoinNotes(notes []Note) Note {
	var formats []string
	var args []any
	for _, n := range notes {
		formats, args = append(formats, n.format), append(args, n.args...)
	}
	return Notef(strings.Join(formats, "; "), args...)
}

// NoteReference is a part of a note that each interface words in its own way. It is a [ParamRef], [VerbRef],
// [NextPageRef], [PersonOnlyCommandRef] or *[CallHint].
type NoteReference interface {
	textForModel() string // textForModel returns the wording for models.
}

// ParamRef refers to a parameter, such as max_tokens.
type ParamRef string

// VerbRef is the name of a verb, which is an operation that every interface of oxbow offers, such as "remember" or
// "list".
type VerbRef string

// NextPageRef refers to the call that returns the next page, which begins at this offset.
type NextPageRef int

// PersonOnlyCommandRef refers to a command of oxbow that only people run, such as "oxbow check".
type PersonOnlyCommandRef string

// CallHint suggests a call that the caller should make next. Only one of Effect and Purpose is set. If the hint is a
// sentence, Effect is the effect of the call, such as "brings it back". If the hint is only a part of a sentence,
// Purpose is the purpose of the call, such as "bring it back".
type CallHint struct {
	Verb            string
	Args            []HintArgument
	Effect, Purpose string
}

// HintArgument is an argument in a [CallHint].
type HintArgument struct {
	Name  string
	Value any
}

func NewUndoHint(seq uint64, undoEffect, undoPurpose string) *CallHint {
	return undoHintOf([]uint64{seq}, undoEffect, undoPurpose)
}

// undoHintOf returns a hint that suggests to undo several changes in one call. The arguments undoEffect and undoPurpose
// become the fields Effect and Purpose of the hint (see [CallHint]).
func undoHintOf(seqs []uint64, undoEffect, undoPurpose string) *CallHint {
	return &CallHint{Verb: "undo", Args: []HintArgument{{"seq", seqs}}, Effect: undoEffect, Purpose: undoPurpose}
}

func (p ParamRef) textForModel() string             { return string(p) }
func (v VerbRef) textForModel() string              { return string(v) }
func (p NextPageRef) textForModel() string          { return "the next page has offset " + strconv.Itoa(int(p)) }
func (p PersonOnlyCommandRef) textForModel() string { return "a person runs " + string(p) }

func (h *CallHint) textForModel() string {
	var args []string
	for _, a := range h.Args {
		if s, ok := a.Value.(string); ok {
			args = append(args, a.Name+" "+strconv.Quote(s))
		} else {
			args = append(args, fmt.Sprint(a.Name, " ", a.Value))
		}
	}
	return strings.TrimSpace(h.Verb + " with " + strings.Join(args, " and ") + " " + h.Effect)
}
