// This file identifies files.

package sysinfo

// A FileID identifies a file or directory. It does not change when the file is renamed, and a copy
// has a different FileID. The zero FileID means that the system does not provide an identity.
type FileID struct {
	Volume string `json:"volume"`         // identifies the file system; some systems assign new numbers at each start
	Node   string `json:"node"`           // identifies the file in its file system; numbers of deleted files are reused
	Born   int64  `json:"born,omitempty"` // creation time in nanoseconds since 1970 (0 if unknown)
}

// ReadFileID returns the identity of the file or directory at path. It follows symbolic links. If
// that fails, it returns the zero FileID.
func ReadFileID(path string) FileID {
	volume, node, born := fileID(path)
	return FileID{Volume: volume, Node: node, Born: born}
}
