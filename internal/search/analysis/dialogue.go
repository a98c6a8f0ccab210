// This file recognizes who speaks in a text.

package analysis

import (
	"slices"
	"strings"
	"unicode"
)

// personSpeakers and programSpeakers contain the words that chat logs write before a text to name its speaker, which
// is a person or a program.
var (
	personSpeakers  = []string{"user", "human"}
	programSpeakers = []string{"assistant", "ai", "bot", "model", "system", "tool"}
)

// isWordEnd reports whether the text s ends at byte i or has a space or a line break there.
func isWordEnd(s string, i int) bool {
	return i == len(s) || s[i] == ' ' || s[i] == '\n'
}

// measureChatSpeaker returns the length of the speaker at the beginning of the string s, for example "user:". The
// length includes the colon. It also reports whether the speaker is a program. If s does not begin with a speaker, the
// length is 0.
func measureChatSpeaker(s string) (length int, isProgram bool) {
	i := strings.IndexByte(s[:min(len(s), len("assistant:"))], ':')
	if i < 0 || !isWordEnd(s, i+1) {
		return 0, false
	}
	is := func(word string) bool { return len(word) == i && strings.EqualFold(word, s[:i]) }
	switch {
	case slices.ContainsFunc(personSpeakers, is):
		return i + 1, false
	case slices.ContainsFunc(programSpeakers, is):
		return i + 1, true
	}
	return 0, false
}

// speakerNameWeight is the weight of a speaker's name, in sixteenths. It is greater than the normal weight of 16,
// because a question with a name is more often about texts by that person than about texts that mention the person.
const speakerNameWeight = 48

// leadingNameLength returns the length of the name with which the text s starts, if a colon and a space follow the
// name, as in "Caroline Smith: Hello". Otherwise, it returns 0. A name has at most three words, and each word starts
// with a capital letter.
func leadingNameLength(s string) int {
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

// IsPersonTurn reports whether a text is a short turn in a talk between people, such as "Caroline: Hello". Such a text
// starts with a name, has at most 1500 bytes, and consists of a single paragraph.
func IsPersonTurn(text string) bool {
	n, _ := measureChatSpeaker(text)
	return n == 0 && len(text) <= 1500 && leadingNameLength(text) > 0 &&
		!strings.Contains(strings.TrimSpace(text), "\n\n")
}

// DialogueKind specifies whether a text is a single turn of a conversation, a whole conversation, or neither.
type DialogueKind uint8

// These constants specify whether a text is a part of a conversation, a whole conversation, or none.
const (
	NotDialogue DialogueKind = iota
	// one person's turn in a conversation between people, such as "Caroline: Hello" (see [IsPersonTurn])
	PersonTurn
	ProgramTurn // a single turn in a conversation with a program, such as "assistant: Hello"
	// several turns: the text starts with a name, and a later paragraph starts with the same name or with a word such
	// as "user:" or "assistant:"
	DialogueBetweenPeople
	DialogueWithProgram // several turns: the text starts with a word such as "user:", and a later paragraph does too
)

// ClassifyDialogue returns the kind of dialogue that a text is.
func ClassifyDialogue(text string) DialogueKind {
	if IsPersonTurn(text) {
		return PersonTurn
	}
	n, program := measureChatSpeaker(text)
	if n == 0 && leadingNameLength(text) == 0 {
		return NotDialogue
	}
	chat, first := n > 0, SpeakerName(text)
	for rest := text; ; {
		_, after, more := strings.Cut(rest, "\n\n")
		if !more {
			break
		}
		if startsNewTurn(after, first) {
			if chat {
				return DialogueWithProgram
			}
			return DialogueBetweenPeople
		}
		rest = after
	}
	if program {
		return ProgramTurn
	}
	return NotDialogue
}

// startsNewTurn reports whether the paragraph starts a new turn of a chat. This is so if the paragraph begins with a
// marked chat speaker, or with firstSpeakerName. firstSpeakerName is the name with which the whole chat begins, or ""
// if the chat does not begin with a name.
func startsNewTurn(paragraph, firstSpeakerName string) bool {
	if n, _ := measureChatSpeaker(paragraph); n > 0 {
		return true
	}
	return firstSpeakerName != "" && SpeakerName(paragraph) == firstSpeakerName
}

// SpeakerName returns the name at the start of a turn. It returns "" for a turn without a name.
func SpeakerName(turn string) string { return turn[:leadingNameLength(turn)] }

// EndsInQuestion reports whether a turn ends with a question mark.
func EndsInQuestion(turn string) bool { return strings.HasSuffix(strings.TrimSpace(turn), "?") }

// SplitDialogue splits a text into fields. If the text starts with a chat speaker, such as "user: ", it is a
// conversation. Each turn of the conversation becomes a field with the name "user" or "assistant", which does not
// contain the speaker's label. A turn ends at an empty line that is followed by another speaker's label. Any other text
// becomes a single field with the name "body". If such a text starts with a person's name, as in "Caroline: Hello", the
// name becomes a separate field with the name "speaker".
//
// The weight of a field tells how much each of its words counts. A word with the weight 16 counts once. The body and
// the turns of persons have the weight personWeight. The turns of programs have the weight programWeight. The name of a
// speaker has the weight speakerNameWeight.
func SplitDialogue(text string, personWeight, programWeight uint32) []Field {
	n, byProgram := measureChatSpeaker(text)
	if n == 0 {
		if n := leadingNameLength(text); n > 0 {
			return []Field{{"speaker", text[:n], speakerNameWeight}, {"body", text[n:], personWeight}}
		}
		return []Field{{"body", text, personWeight}}
	}
	var fs []Field
	add := func(turn string) {
		f := Field{"user", turn, personWeight}
		if byProgram {
			f.Name, f.Weight = "assistant", programWeight
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
		if n, p := measureChatSpeaker(text[i:]); n > 0 {
			add(text[from:i])
			from, byProgram = i+n, p
		}
	}
}
