// This file identifies files.

package sysinfo

// A FileID identifies a file or directory. It does not change when the file is renamed, and a copy
// has a different FileID. The zero FileID means that the system does not provide an identity.
type FileID struct {
	// Identifies the file system; some systems assign new numbers at each start.
	Volume string `json:"volume"`
	// Identifies the file in its file system; numbers of deleted files are reused.
	Inode        string `json:"node"`
	CreationTime int64  `json:"born,omitempty"` // creation time in nanoseconds since 1970 (0 if unknown)
}

// ReadFileID returns the identity of the file or directory at path. It follows symbolic links. If
// that fails, it returns the zero FileID.
func ReadFileID(path string) FileID {
	volume, node, born := fileID(path)
	return FileID{Volume: volume, Inode: node, CreationTime: born}
}
