// This file lists the parameters of remember that set labels.

package verb

import "github.com/oxbow-memory/oxbow"

// labelParam is a parameter of remember that sets the labels with one key.
type labelParam struct {
	name string // of the parameter, which is also the part that clear names
	key  string // of the labels

	// values returns the values of the labels. It returns nil if the parameter is not given.
	values func(in RememberIn) []string
}

// labelParams are the parameters of remember that set labels. Checks, clear and updates without a text follow
// from this table.
var labelParams = []labelParam{
	{"project", oxbow.LabelProject, func(in RememberIn) []string { return valueOf(in.Project) }},
	{"tags", oxbow.LabelTag, func(in RememberIn) []string {
		if in.Tags == nil {
			return nil
		}
		return NotNil(oxbow.SplitTags(in.Tags...))
	}},
	{"related_files", oxbow.LabelFile, func(in RememberIn) []string { return in.RelatedFiles }},
	{"confidence", oxbow.LabelConfidence, func(in RememberIn) []string {
		if in.Confidence == nil {
			return nil
		}
		return []string{oxbow.Confidence(*in.Confidence).Value}
	}},
}

// clearableParts returns the parts of an entry that remember can clear.
func clearableParts() (names []string) {
	for _, p := range labelParams {
		names = append(names, p.name)
	}
	return append(names, "aliases")
}
