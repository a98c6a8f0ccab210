// This file declares the stamp of a file, by which a change is noticed.

package mdtree

// fileStamp is the part of a file's metadata that changes whenever the file's content changes.
type fileStamp struct {
	size                int64
	modTime, changeTime int64 // times of the last change of the content and of the inode, in nanoseconds since 1970
	inode               uint64
}
