// This file lists the parameters that set labels, and those that select entries by labels.

package verb

import "github.com/oxbow-memory/oxbow"

// labelParam is a parameter for the labels with one key.
type labelParam struct {
	name string // name of the parameter, by which the parameter clear removes these labels, too
	key  string // key of the labels

	// newValues returns the values that remember sets. It returns nil if the parameter is not given.
	newValues func(in RememberIn) []string

	// requiredValues returns the values that an entry must have to be selected. It is nil if no parameter selects
	// entries by labels with the key.
	requiredValues func(n EntrySelection) []string
}

// labelParams are the parameters for labels. Checks, clear, updates without a text, and the filters of recall, list
// and export follow from this table.
var labelParams = []labelParam{
	{"project", oxbow.LabelProject, func(in RememberIn) []string { return singleValue(in.Project) },
		func(n EntrySelection) []string { return singleValue(n.Project) }},
	{"tags", oxbow.LabelTag, func(in RememberIn) []string {
		if in.Tags == nil {
			return nil
		}
		return append([]string{}, oxbow.SplitTags(in.Tags...)...) // not nil, which means no parameter
	}, func(n EntrySelection) []string { return oxbow.SplitTags(n.Tags...) }},
	{"related_files", oxbow.LabelFile, func(in RememberIn) []string { return in.RelatedFiles }, nil},
	{"confidence", oxbow.LabelConfidence, func(in RememberIn) []string {
		if in.Confidence == nil {
			return nil
		}
		return []string{oxbow.Confidence(*in.Confidence).Value}
	}, nil},
}

// clearableParts returns the parts of an entry that remember can clear.
func clearableParts() (names []string) {
	for _, p := range labelParams {
		names = append(names, p.name)
	}
	return append(names, "aliases")
}

// singleValue returns a list with s, or nil if s is empty.
func singleValue(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
