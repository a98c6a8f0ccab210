// This file parses the front matter (YAML at the beginning) of files such as handoffs, which are not profiles.

package profile

import (
	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
)

// FrontMatter parses front matter, the YAML at the beginning of a file, and returns its mapping. If the argument data
// contains no YAML value, the mapping is empty. The argument firstLine is the number of the line in the file at which
// data begins. If data is invalid, the error is a [Diagnostics], in which line numbers count from the beginning of the
// file. In the returned nodes, line numbers count from 1 in data. The caller must check the keys and detect duplicate
// keys.
func FrontMatter(file string, data []byte, firstLine int) (*yaml.Node, error) {
	r := frontmatter.MappingReader{File: file, FirstLine: firstLine}
	n := r.ReadMapping(string(data))
	if n != nil && n.Kind != yaml.MappingNode {
		r.AddNodeDiagnostic(n, "is %s; front matter is lines such as \"project: …\"", frontmatter.DescribeKind(n))
	}
	if len(r.Diagnostics) > 0 {
		return nil, Diagnostics(r.Diagnostics)
	}
	return n, nil
}
