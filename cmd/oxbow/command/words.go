// This file says what the verbs say in the words of the command line.

package command

import (
	"regexp"
	"strings"
)

// phrases are what notes and hints of the verbs say to a model, and the
// command that a person types instead.
var phrases = []struct {
	said    *regexp.Regexp
	command string
}{
	{regexp.MustCompile(`\bundo with seq \[(\d+)\] brings it back`), "to bring it back: oxbow undo --seq $1"},
	{regexp.MustCompile(`\bundo with seq \[(\d+)\] takes this back`), "to take this back: oxbow undo --seq $1"},
	{regexp.MustCompile(`\bundo with seq \[(\d+)\]`), "oxbow undo --seq $1"},
	{regexp.MustCompile(`\brestore with name "([^"\s]+)" and seq (\d+)`), "oxbow restore $1@$2"},
	{regexp.MustCompile(`\brestore with name ("[^"]+") and seq (\d+)`), "oxbow restore $1 $2"},
	{regexp.MustCompile(`\bthe next page has offset (\d+)`), "the next page: --offset $1"},
	{regexp.MustCompile(`\braise limit\b`), "raise --limit"},
	{regexp.MustCompile(`\b(max|if|dry|op|as)_(tokens|version|run|id|of)\b`), "--$1-$2"},
	{regexp.MustCompile(`\blist shows what there is\b`), "oxbow list shows what there is"},
	{regexp.MustCompile(`\bhistory (shows|what|with)\b`), "oxbow log $1"},
	{regexp.MustCompile(`\ba person runs oxbow\b`), "run oxbow"},
	{regexp.MustCompile(`\brecall searches\b`), "oxbow recall searches"},
}

// inCommands returns a note or hint with the commands that a person types.
func inCommands(s string) string {
	for _, p := range phrases {
		s = p.said.ReplaceAllString(s, p.command)
	}
	return strings.TrimSuffix(s, ".")
}
