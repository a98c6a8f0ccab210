// This file parses the front matter (YAML at the beginning) of files such as handoffs, which are not profiles.

package profile

import (
	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
)

// FrontMatter parses front matter and returns its YAML mapping. If data contains no value, the mapping is empty. The
// parameter first is the first data line's number in the file. The error is a [Diagnostics] with line numbers in the
// file. The line numbers of the nodes count from 1 in data. The caller must check the keys and detect duplicate keys.
func FrontMatter(file string, data []byte, first int) (*yaml.Node, error) {
	r := frontmatter.MappingReader{File: file, FirstLine: first}
	n := r.ReadMapping(string(data))
	if n != nil && n.Kind != yaml.MappingNode {
		r.AddNodeDiagnostic(n, "is %s; front matter is lines such as \"project: …\"", frontmatter.DescribeKind(n))
	}
	if len(r.Diagnostics) > 0 {
		return nil, Diagnostics(r.Diagnostics)
	}
	return n, nil
}
