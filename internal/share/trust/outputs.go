// This file records the texts that oxbow wrote to files that the user named, such as the output of an export. Before
// oxbow replaces such a file, it can find out whether somebody has edited the file.

package trust

import (
	"context"
	"slices"
)

// writtenFileDigest is a line in the list of files that oxbow wrote for the user, such as exports. It contains a
// file's path and the digest of the last text that oxbow wrote to the file.
type writtenFileDigest struct {
	ResolvedPath string `json:"path"` // path of the file without symbolic links
	Digest       string `json:"digest"`
}

const outputsFile = "outputs"

// maxRecordedOutputs is the maximum number of files in the record of files that oxbow has written. If there are more,
// the oldest is removed from the record.
const maxRecordedOutputs = 1000

// AddOutput records that oxbow wrote a text to the file at path. digest is the digest of the text.
func (l List) AddOutput(ctx context.Context, path, digest string) error {
	path = realPath(path)
	return l.replaceFile(ctx, outputsFile, func(old []byte) ([]byte, error) {
		all := slices.DeleteFunc(parseOutputs(old), func(o writtenFileDigest) bool { return o.ResolvedPath == path })
		all = append(all, writtenFileDigest{path, digest})
		return encodeJSONLines(all[max(0, len(all)-maxRecordedOutputs):])
	})
}

// HasWrittenDigest reports whether the text that oxbow last wrote to the file at path has this digest.
func (l List) HasWrittenDigest(path, digest string) bool {
	return slices.Contains(parseOutputs(l.readFile(outputsFile)), writtenFileDigest{realPath(path), digest})
}

func parseOutputs(file []byte) []writtenFileDigest {
	return parseJSONLines(file, func(o *writtenFileDigest) string { return o.ResolvedPath })
}
