// Facts of a file system, and which kinds there are.

// Package sysinfo looks at the machine that a store lives on: the kind of its
// file system, the space that is left, and whether a process is still there.
// It changes nothing.
package sysinfo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is what a file system means for a store.
type Kind int

// The kinds.
const (
	Unknown  Kind = iota
	Local         // a disk of this machine
	Network       // shared with other hosts, which locks do not reach reliably
	Shared        // handed in by another system or program, such as 9p or FUSE: who else writes there is not known
	Volatile      // in memory: gone at the next boot
	Layered       // an overlay, as containers have: gone with the container
)

// String returns the kind as one word.
func (k Kind) String() string {
	return [...]string{"unknown", "local", "network", "shared", "volatile", "layered"}[k]
}

// FileSystem is what is known of one.
type FileSystem struct {
	Name     string // as the system calls it, such as xfs or nfs; "" when not known
	Kind     Kind
	ReadOnly bool
	Free     uint64 // bytes that this user may still take
	Total    uint64 // bytes; 0 when neither is known
}

// Look describes the file system that holds the path. The path need not be
// there: then it is the nearest directory above that is. Where the platform
// does not tell, the zero FileSystem is returned.
func Look(path string) (FileSystem, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return FileSystem{}, err
	}
	for {
		_, err := os.Stat(path)
		if err == nil {
			return look(path)
		}
		up := filepath.Dir(path)
		// Below a file there is no directory either.
		if up == path || (!errors.Is(err, fs.ErrNotExist) && !isNotDir(path)) {
			return FileSystem{}, err
		}
		path = up
	}
}

// isNotDir reports whether something above the path is no directory.
func isNotDir(path string) bool {
	for {
		up := filepath.Dir(path)
		if fi, err := os.Stat(up); err == nil {
			return !fi.IsDir()
		}
		if up == path {
			return false
		}
		path = up
	}
}

// overNetwork are FUSE programs whose files live on other hosts.
var overNetwork = []string{
	"sshfs", "nfs", "smb", "cifs", "smbnetfs", "rclone", "s3fs", "s3backer", "goofys", "mount-s3", "gcsfuse", "blobfuse", "blobfuse2",
	"glusterfs", "ceph", "ceph-fuse", "juicefs", "JuiceFS", "seaweedfs", "weed", "mfs", "lizardfs", "curlftpfs", "davfs", "davfs2", "onedriver",
	"google-drive-ocamlfuse", "gvfsd-fuse",
}

// onDisk are FUSE programs whose files live on a disk of this machine.
var onDisk = []string{
	"ntfs-3g", "ntfs", "exfat", "mergerfs", "gocryptfs", "encfs", "cryfs", "securefs", "bindfs", "lvmfs", "zfs", "zfs-fuse", "ext2", "apfs",
}

// fuseKind returns what a FUSE file system means, by the type that the mount
// has: "fuse.sshfs", "fuseblk", "virtiofs".
func fuseKind(mount string) Kind {
	_, sub, _ := strings.Cut(mount, ".")
	switch {
	case strings.HasPrefix(mount, "fuseblk"): // on a block device
		return Local
	case slices.Contains(overNetwork, sub):
		return Network
	case slices.Contains(onDisk, sub):
		return Local
	}
	return Shared
}

// Owner says who else may change a file.
type Owner struct {
	Other    bool        // another user owns it
	Writable bool        // other users may write it
	Mode     fs.FileMode // its permissions
}

// OwnerOf looks at a file or directory. Of one that is not there, and where users
// do not own files, it says nothing.
func OwnerOf(path string) Owner { return ownerOf(path) }
