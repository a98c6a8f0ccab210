// This file reads the front matter of texts that are no profiles, as strictly as
// a profile.

package profile

import "go.yaml.in/yaml/v3"

// FrontMatter reads the YAML that stands before a text, between its markers,
// and returns the mapping at its top; nothing at all is an empty one. What is
// refused in a profile is refused here: anchors, aliases, tags, several
// documents, more than [MaxFile] bytes, and deep nesting. What the keys mean,
// and whether one comes twice, is the caller's to say.
//
// First is the line of the file, from 1, that data begins with: the error, which
// is [Diagnostics], counts from there. The lines of the nodes count from 1 in data.
func FrontMatter(file string, data []byte, first int) (*yaml.Node, error) {
	r := &reader{file: file, front: true}
	n := r.root(data)
	if len(r.wrong) == 0 {
		return n, nil
	}
	for i := range r.wrong {
		r.wrong[i].Line = max(r.wrong[i].Line, 1) + first - 1
	}
	return nil, r.wrong
}
