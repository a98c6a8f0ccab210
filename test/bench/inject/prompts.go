// This file provides prompts that no memory can answer: acknowledgements, work orders, and pasted texts.

package inject

import (
	_ "embed"
	"strings"
)

//go:embed orders.txt
var workOrderPromptsText string

//go:embed pasted.txt
var pastedText string

// workOrderPrompts returns prompts for which the memory should show nothing: acknowledgements, such as "yes", and
// general work orders. It omits empty lines and comments (lines that begin with #) of workOrderPromptsText.
func workOrderPrompts() []string {
	var all []string
	for line := range strings.Lines(workOrderPromptsText) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// samplePastedTexts returns sample texts of the kind that people paste into a prompt, such as the output of a failed
// build.
func samplePastedTexts() []string {
	// skip the first line of pastedText, which is a description and not a text that people paste
	_, text, _ := strings.Cut(pastedText, "\n")
	var all []string
	for p := range strings.SplitSeq(text, "\n----\n") {
		all = append(all, strings.TrimSpace(p))
	}
	return all
}
