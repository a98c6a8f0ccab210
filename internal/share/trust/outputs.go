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

const writtenFilesFileName = "outputs"

// maxWrittenFileRecords is the maximum number of files in the record that lists the files that oxbow has written. If
// there are more, the oldest is removed from the record.
const maxWrittenFileRecords = 1000

// RecordWrittenFile records that oxbow wrote a text to the file at path. digest is the digest of the text.
func (l List) RecordWrittenFile(ctx context.Context, path, digest string) error {
	path = realPath(path)
	return l.replaceFile(ctx, writtenFilesFileName, func(old []byte) ([]byte, error) {
		all := slices.DeleteFunc(
			parseWrittenFiles(old),
			func(o writtenFileDigest) bool { return o.ResolvedPath == path },
		)
		all = append(all, writtenFileDigest{path, digest})
		return encodeJSONLines(all[max(0, len(all)-maxWrittenFileRecords):])
	})
}

// IsLastWrittenDigest reports whether the text that oxbow last wrote to the file at path has this digest.
func (l List) IsLastWrittenDigest(path, digest string) bool {
	return slices.Contains(
		parseWrittenFiles(l.readFile(writtenFilesFileName)),
		writtenFileDigest{realPath(path), digest},
	)
}

func parseWrittenFiles(file []byte) []writtenFileDigest {
	return parseJSONLines(file, func(o *writtenFileDigest) string { return o.ResolvedPath })
}
