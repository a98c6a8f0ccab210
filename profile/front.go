// Reading of front matter of texts that are not profiles.

package profile

import (
	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
)

// FrontMatter returns the mapping of front matter; of none, an empty one.
// First is the line of the file, from 1, that data begins with: the error,
// which is [Diagnostics], counts from there. The lines of the nodes count from
// 1 in data. What the keys mean, and whether one is given twice, is for the
// caller to check.
func FrontMatter(file string, data []byte, first int) (*yaml.Node, error) {
	r := frontmatter.Reader{File: file, First: first}
	n := r.Read(string(data))
	if n != nil && n.Kind != yaml.MappingNode {
		r.Add(n, "is %s; front matter is lines such as \"project: …\"", frontmatter.Describe(n))
	}
	if len(r.Found) > 0 {
		return nil, Diagnostics(r.Found)
	}
	return n, nil
}
