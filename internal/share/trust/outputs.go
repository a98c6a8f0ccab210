// This file records what oxbow last wrote to files that the user named, such as the output of an
// export. With this record, oxbow notices that somebody edited such a file, before it replaces the
// file.

package trust

import (
	"context"
	"slices"
)

// writtenFile is a line of the record. It has a file's path and the digest of the
// last text that oxbow wrote to the file.
type writtenFile struct {
	Path   string `json:"path"` // path with symbolic links resolved
	Digest string `json:"digest"`
}

const outputsFile = "outputs"

// maxOutputs is the maximum number of files in the record. If there are more, the oldest is removed
// first.
const maxOutputs = 1000

// AddOutput records the digest of an output that was written to a file.
func (l List) AddOutput(ctx context.Context, path, digest string) error {
	path = realPath(path)
	return l.replaceFile(ctx, outputsFile, func(old []byte) ([]byte, error) {
		all := slices.DeleteFunc(parseOutputs(old), func(o writtenFile) bool { return o.Path == path })
		all = append(all, writtenFile{path, digest})
		return encodeLines(all[max(0, len(all)-maxOutputs):])
	})
}

// HasOutput reports whether the digest belongs to the last text that oxbow wrote to
// the file.
func (l List) HasOutput(path, digest string) bool {
	return slices.Contains(parseOutputs(l.readFile(outputsFile)), writtenFile{realPath(path), digest})
}

func parseOutputs(file []byte) []writtenFile {
	return parseLines(file, func(o *writtenFile) string { return o.Path })
}
