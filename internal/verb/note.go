// This file implements notes, which are facts in an answer. Each door writes the references in a
// note in its own words.

package verb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Note is a sentence in an answer. It may contain a [Reference] to a verb, a parameter or a call.
// [Note.String] and [Note.MarshalText], and therefore JSON, use the words for models. The zero Note is empty.
type Note struct {
	format string
	args   []any
	// Rewrites the commands in the sentence (may be nil); see [Workspace.RewriteCommands].
	rewriteCommands func(string) string
}

// Notef returns a note that is formatted as by [fmt.Sprintf]. The format needs %s for an argument that is a
// [Reference].
func Notef(format string, args ...any) Note { return Note{format: format, args: args} }

// PlainNote returns a note that consists of a sentence without references.
func PlainNote(sentence string) Note { return Notef("%s", sentence) }

// PlainNotes is like PlainNote, for several sentences.
func PlainNotes(sentences []string) []Note {
	var ns []Note
	for _, s := range sentences {
		ns = append(ns, PlainNote(s))
	}
	return ns
}

// Render returns the sentence with the references in the words of a door.
func (n Note) Render(referenceText func(Reference) string) string {
	args := slices.Clone(n.args)
	for i, a := range args {
		if r, ok := a.(Reference); ok {
			args[i] = referenceText(r)
		}
	}
	said := fmt.Sprintf(n.format, args...)
	if n.rewriteCommands != nil {
		said = n.rewriteCommands(said)
	}
	return said
}

// String returns the sentence in the words for models.
func (n Note) String() string { return n.Render(Reference.modelText) }

// ForModel implements [report.WordedValue].
func (n Note) ForModel() string { return n.String() }

// MarshalText implements [encoding.TextMarshaler].
func (n Note) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. The note's references are
// lost.
func (n *Note) UnmarshalText(b []byte) error {
	*n = PlainNote(string(b))
	return nil
}

// renameParam returns the note with a parameter renamed.
func (n Note) renameParam(oldName, newName ParamRef) Note {
	args := slices.Clone(n.args)
	for i, a := range args {
		if a == any(oldName) {
			args[i] = newName
		}
	}
	return Note{n.format, args, n.rewriteCommands}
}

// RefersTo reports whether the note refers to a parameter.
func (n Note) RefersTo(p ParamRef) bool { return slices.Contains(n.args, any(p)) }

// JoinNotes joins several notes to a single note.
func JoinNotes(notes []Note) Note {
	var formats []string
	var args []any
	for _, n := range notes {
		formats, args = append(formats, n.format), append(args, n.args...)
	}
	return Notef(strings.Join(formats, "; "), args...)
}

// Reference is a part of a note that each door writes in its own words: a [ParamRef], [VerbRef],
// [NextPageRef], [PersonCommandRef] or *[CallHint].
type Reference interface {
	modelText() string // the text for models
}

// ParamRef is the name of a parameter, such as max_tokens.
type ParamRef string

// VerbRef is the name of a verb, such as list.
type VerbRef string

// NextPageRef is the offset of the next page.
type NextPageRef int

// PersonCommandRef is a command of oxbow that people run, such as "oxbow check".
type PersonCommandRef string

// CallHint is a call that the caller should make next. A sentence of its own ends with Does, the effect
// of the call ("brings it back"). A clause within a sentence ends with To, the purpose of the call
// ("bring it back").
type CallHint struct {
	Verb     string
	Args     []Arg
	Does, To string
}

// Arg is an argument of a call.
type Arg struct {
	Name  string
	Value any
}

func UndoHint(seq uint64, effect, purpose string) *CallHint {
	return &CallHint{Verb: "undo", Args: []Arg{{"seq", []uint64{seq}}}, Does: effect, To: purpose}
}

func (p ParamRef) modelText() string         { return string(p) }
func (v VerbRef) modelText() string          { return string(v) }
func (p NextPageRef) modelText() string      { return "the next page has offset " + strconv.Itoa(int(p)) }
func (p PersonCommandRef) modelText() string { return "a person runs " + string(p) }

func (h *CallHint) modelText() string {
	var args []string
	for _, a := range h.Args {
		if s, ok := a.Value.(string); ok {
			args = append(args, a.Name+" "+strconv.Quote(s))
		} else {
			args = append(args, fmt.Sprint(a.Name, " ", a.Value))
		}
	}
	return strings.TrimSpace(h.Verb + " with " + strings.Join(args, " and ") + " " + h.Does)
}
