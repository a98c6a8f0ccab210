// This file lists the parameters that set labels and the parameters that select entries by labels.

package verb

import "github.com/oxbow-memory/oxbow"

// labelParam describes the parameter for the labels with one key.
type labelParam struct {
	// Name of the parameter that sets the labels. If the parameter "clear" contains this name, the labels with the key
	// in the field key are removed.
	name string
	key  string // key of the labels that the parameter sets

	// newValues returns the values that a call of remember sets, or nil if the call does not use the parameter.
	newValues func(in RememberIn) []string

	// requiredValues returns values of the label. An entry is selected only if it has all these values. The function
	// is nil if the parameter does not select entries.
	requiredValues func(n EntrySelection) []string
}

// labelParams lists the parameters for labels. This table is used for four purposes: argument checks, the parameter
// "clear", updates without a text, and the filters of the verbs "recall", "list" and "export".
var labelParams = []labelParam{
	{"project", oxbow.LabelProject, func(in RememberIn) []string { return wrapInList(in.Project) },
		func(n EntrySelection) []string { return wrapInList(n.Project) }},
	{"tags", oxbow.LabelTag, func(in RememberIn) []string {
		if in.Tags == nil {
			return nil
		}
		// Return an empty slice and not nil for an empty list of tags, because nil would mean that the call leaves the
		// tags unchanged.
		return append([]string{}, oxbow.SplitTags(in.Tags...)...)
	}, func(n EntrySelection) []string { return oxbow.SplitTags(n.Tags...) }},
	{"related_files", oxbow.LabelFile, func(in RememberIn) []string { return in.RelatedFiles }, nil},
	{"confidence", oxbow.LabelConfidence, func(in RememberIn) []string {
		if in.Confidence == nil {
			return nil
		}
		return []string{oxbow.Confidence(*in.Confidence).Value}
	}, nil},
}

// clearableEntryParts returns the names of the entry parts that the command "remember" can clear.
func clearableEntryParts() (names []string) {
	for _, p := range labelParams {
		names = append(names, p.name)
	}
	return append(names, "aliases")
}

// wrapInList returns a list that contains only s, or nil if s is empty.
func wrapInList(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
