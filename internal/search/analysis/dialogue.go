// Tells who speaks in a text.

package analysis

import (
	"slices"
	"strings"
	"unicode"
)

// people and programs are the words that chat logs put before what a person, or
// a program, said.
var (
	people   = []string{"user", "human"}
	programs = []string{"assistant", "ai", "bot", "model", "system", "tool"}
)

// speaker returns the length of the speaker's word and colon that s begins
// with, 0 when there is none, and whether a program speaks.
func speaker(s string) (n int, program bool) {
	i := strings.IndexByte(s[:min(len(s), len("assistant:"))], ':')
	if i < 0 || (i+1 < len(s) && s[i+1] != ' ' && s[i+1] != '\n') {
		return 0, false
	}
	is := func(word string) bool { return len(word) == i && strings.EqualFold(word, s[:i]) }
	switch {
	case slices.ContainsFunc(people, is):
		return i + 1, false
	case slices.ContainsFunc(programs, is):
		return i + 1, true
	}
	return 0, false
}

// speakerWeight is what the name before a turn weighs, in sixteenths: who said
// it is more to the point than who is spoken of.
const speakerWeight = 48

// name returns the length of the name that s begins with, when a colon and a
// space follow it as in "Caroline Smith: Hello"; else 0. A name is one to three
// words that each begin with a capital.
func name(s string) int {
	i := strings.Index(s[:min(len(s), 48)], ": ")
	if i < 1 || strings.ContainsAny(s[:i], "\n.,;/(") {
		return 0
	}
	words, within := 0, false
	for _, r := range s[:i] {
		switch {
		case unicode.IsSpace(r):
			within = false
		case !within:
			within = true
			words++
			if words > 3 || !unicode.IsUpper(r) {
				return 0
			}
		}
	}
	return i
}

// IsTurn reports whether a text is one short turn of a talk between people, as
// "Caroline: Hello": it begins with a name, has at most 1500 bytes and one
// paragraph.
func IsTurn(text string) bool {
	n, _ := speaker(text)
	return n == 0 && len(text) <= 1500 && name(text) > 0 && !strings.Contains(strings.TrimSpace(text), "\n\n")
}

// Speech is what a text is of a dialogue.
type Speech uint8

// The kinds of [Speech].
const (
	NoSpeech   Speech = iota
	TurnOfTalk        // see [IsTurn]
	TurnOfChat        // one turn that a program said, as "assistant: Hello"
	WholeTalk         // several turns: a later paragraph begins with a speaker of a chat, or again with the first name
	WholeChat         // the same, and it begins with a speaker of a chat
)

// SpeechOf returns what a text is of a dialogue.
func SpeechOf(text string) Speech {
	if IsTurn(text) {
		return TurnOfTalk
	}
	n, program := speaker(text)
	if n == 0 && name(text) == 0 {
		return NoSpeech
	}
	chat, first := n > 0, Speaker(text)
	for rest := text; ; {
		_, after, more := strings.Cut(rest, "\n\n")
		if !more {
			break
		}
		if n, _ := speaker(after); n > 0 || (first != "" && Speaker(after) == first) {
			if chat {
				return WholeChat
			}
			return WholeTalk
		}
		rest = after
	}
	if program {
		return TurnOfChat
	}
	return NoSpeech
}

// AddressesProgram reports whether a question says "you" or "your": it may be for
// what a program said.
func AddressesProgram(question string) bool {
	for w := range strings.FieldsFuncSeq(question, func(r rune) bool { return !unicode.IsLetter(r) }) {
		w = Fold(w)
		if w == "you" || w == "your" || w == "yours" {
			return true
		}
	}
	return false
}

// Speaker returns who speaks in a turn: the name that it begins with.
func Speaker(turn string) string { return turn[:name(turn)] }

// Asks reports whether a turn ends in a question.
func Asks(turn string) bool { return strings.HasSuffix(strings.TrimSpace(turn), "?") }

// Dialogue cuts a text into fields. One that begins with "user: " or another
// speaker of a chat, and goes on so after empty lines, gives a field for each
// turn, "user" or "assistant", without the speaker's word; any other text is
// one field, "body", before which a name as in
// "Caroline: Hello" is one of its own, "speaker". Words of the body and of people weigh person, those of
// programs weigh program, in sixteenths.
func Dialogue(text string, person, program uint32) []Field {
	n, byProgram := speaker(text)
	if n == 0 {
		if n := name(text); n > 0 {
			return []Field{{"speaker", text[:n], speakerWeight}, {"body", text[n:], person}}
		}
		return []Field{{"body", text, person}}
	}
	var fs []Field
	add := func(turn string) {
		f := Field{"user", turn, person}
		if byProgram {
			f.Name, f.Weight = "assistant", program
		}
		fs = append(fs, f)
	}
	from := n
	for i := n; ; {
		j := strings.Index(text[i:], "\n\n")
		if j < 0 {
			add(text[from:])
			return fs
		}
		i += j + 2
		if n, p := speaker(text[i:]); n > 0 {
			add(text[from:i])
			from, byProgram = i+n, p
		}
	}
}
