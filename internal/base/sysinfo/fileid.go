// This file identifies files.

package sysinfo

// A FileID identifies a file or a directory. A renamed file keeps its FileID, and a copy gets another one. The zero
// FileID means that the system does not identify files.
type FileID struct {
	// Volume identifies the file system. Some systems assign a new number at each start.
	Volume string `json:"volume"`
	// Inode identifies the file in its file system. The number of a deleted file may be reused.
	Inode        string `json:"node"`
	CreationTime int64  `json:"born,omitempty"` // creation time in nanoseconds since 1970 (0 if unknown)
}

// ReadFileID returns the FileID of the file or directory at path. It follows symbolic links. After an error, it
// returns the zero FileID.
func ReadFileID(path string) FileID {
	volume, node, born := fileID(path)
	return FileID{Volume: volume, Inode: node, CreationTime: born}
}
