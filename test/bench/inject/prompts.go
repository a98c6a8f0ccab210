// This file provides prompts that no memory can answer: acknowledgements, work orders, and pasted texts.

package inject

import (
	_ "embed"
	"strings"
)

//go:embed orders.txt
var workOrdersText string

//go:embed pasted.txt
var pastedText string

// workOrders returns the acknowledgements and work orders.
func workOrders() []string {
	var all []string
	for line := range strings.Lines(workOrdersText) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// pastedTexts returns texts that people paste into a prompt.
func pastedTexts() []string {
	// skip the first line of pastedText, which is a description and not a text that people paste
	_, text, _ := strings.Cut(pastedText, "\n")
	var all []string
	for p := range strings.SplitSeq(text, "\n----\n") {
		all = append(all, strings.TrimSpace(p))
	}
	return all
}
