// This file converts references in messages, such as a reference to a verb, to commands and flags that a person can
// type.

package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// formatNote returns the text of the note n without a period at the end. In the text, references to verbs and
// parameters are replaced by the commands and flags of the command line.
func formatNote(n verb.Note) string { return strings.TrimSuffix(n.Render(referenceText), ".") }

func referenceText(r verb.NoteReference) string {
	switch r := r.(type) {
	case verb.ParamRef:
		return "--" + strings.ReplaceAll(string(r), "_", "-")
	case verb.VerbRef:
		return "oxbow " + commandNameForVerb(string(r))
	case verb.NextPageRef:
		return "the next page: --offset " + strconv.Itoa(int(r))
	case verb.PersonOnlyCommandRef:
		return "run " + string(r)
	case *verb.CallHint:
		return formatCallHint(r)
	}
	panic(fmt.Sprintf("oxbow: a note refers to a %T", r))
}

// commandNameForVerb returns the name of the command that calls a verb.
func commandNameForVerb(verb string) string {
	switch verb {
	case "history":
		return "log"
	case "labels":
		return "label list"
	}
	return verb
}

func formatCallHint(h *verb.CallHint) string {
	text := "oxbow " + commandNameForVerb(h.Verb)
	if h.Verb == "restore" {
		text += " " + formatRestoreArgument(h.Args[0].Value.(string), h.Args[1].Value)
	} else {
		for _, a := range h.Args {
			for _, value := range strings.Fields(strings.Trim(fmt.Sprint(a.Value), "[]")) {
				text += " --" + a.Name + " " + value
			}
		}
	}
	if h.Purpose != "" {
		return "to " + h.Purpose + ": " + text
	}
	return strings.TrimSpace(text + " " + h.Effect)
}

// formatRestoreArgument returns the argument with which the command restore selects a version of an entry.
func formatRestoreArgument(name string, seq any) string {
	return quoteShellOperand(fmt.Sprintf("%s@%v", name, seq))
}
