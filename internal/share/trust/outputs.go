// This file records what oxbow wrote last to the files that a person named, such as the file
// of an export, so that an edit of such a file is recognized before the file is replaced.

package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
)

// output is a line of the record: the digest of what was written last to a file.
type output struct {
	Path   string `json:"path"` // without links
	Digest string `json:"digest"`
}

const outputsFile = "outputs"

// mostOutputs is the number of files in the record. The file written longest ago goes first.
const mostOutputs = 1000

// AddOutput records the digest of what was written to a file.
func (l List) AddOutput(ctx context.Context, path, digest string) error {
	path = realPath(path)
	return l.replace(ctx, outputsFile, func(old []byte) ([]byte, error) {
		all := slices.DeleteFunc(parseOutputs(old), func(o output) bool { return o.Path == path })
		all = append(all, output{path, digest})
		return lines(all[max(0, len(all)-mostOutputs):])
	})
}

// Wrote reports whether the digest is that of what was written last to a file.
func (l List) Wrote(path, digest string) bool {
	return slices.Contains(parseOutputs(l.read(outputsFile)), output{realPath(path), digest})
}

func parseOutputs(b []byte) (all []output) {
	for line := range bytes.Lines(b) {
		var o output
		if json.Unmarshal(line, &o) == nil && o.Path != "" {
			all = append(all, o)
		}
	}
	return all
}
