// Identities of files.

package sysinfo

// FileID identifies a file or directory: renaming keeps it, and a copy has another
// one. The zero FileID means that the system tells none.
type FileID struct {
	Volume string `json:"volume"`         // file system; some systems number it anew at each start
	Node   string `json:"node"`           // file within its file system; numbers of deleted files are used again
	Born   int64  `json:"born,omitempty"` // when it was created, nanoseconds since 1970; 0 if unknown
}

// FileIDOf returns the identity of the file or directory that the path leads to.
func FileIDOf(path string) FileID {
	volume, node, born := fileID(path)
	return FileID{Volume: volume, Node: node, Born: born}
}
