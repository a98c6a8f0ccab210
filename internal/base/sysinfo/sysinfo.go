// This file describes file systems and owners of files.

// Package sysinfo examines the machine on which a store is: the kind of its file system,
// the free space, and whether a process is alive. It changes nothing.
package sysinfo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is the kind of a file system, as far as it matters for a store.
type Kind int

// The kinds.
const (
	Unknown  Kind = iota
	Local         // a disk of this machine
	Network       // shared with other hosts, so that locks are not reliable
	Shared        // provided by another system or program, such as 9p or FUSE; other writers are unknown
	Volatile      // in memory; lost at the next boot
	Layered       // an overlay as in containers; lost with the container
)

// String returns the kind as one word.
func (k Kind) String() string {
	return [...]string{"unknown", "local", "network", "shared", "volatile", "layered"}[k]
}

// FileSystem describes a file system.
type FileSystem struct {
	Name     string // name as used by the system, such as xfs or nfs ("" if unknown)
	Kind     Kind
	ReadOnly bool
	Free     uint64 // number of bytes available to this user
	Total    uint64 // size in bytes (0 if unknown)
}

// Look describes the file system of the path. If the path does not exist, it describes that
// of the nearest existing parent directory. If the platform does not provide the data, it
// returns the zero FileSystem.
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
		// A path below a file does not exist either, so continue with its parent.
		if up == path || (!errors.Is(err, fs.ErrNotExist) && !isNotDir(path)) {
			return FileSystem{}, err
		}
		path = up
	}
}

// isNotDir reports whether a parent of the path is not a directory.
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

// overNetwork are FUSE programs that store files on other hosts.
var overNetwork = []string{
	"sshfs", "nfs", "smb", "cifs", "smbnetfs", "rclone", "s3fs", "s3backer", "goofys", "mount-s3", "gcsfuse",
	"blobfuse", "blobfuse2",
	"glusterfs", "ceph", "ceph-fuse", "juicefs", "JuiceFS", "seaweedfs", "weed", "mfs", "lizardfs", "curlftpfs",
	"davfs", "davfs2", "onedriver",
	"google-drive-ocamlfuse", "gvfsd-fuse",
}

// onDisk are FUSE programs that store files on a disk of this machine.
var onDisk = []string{
	"ntfs-3g", "ntfs", "exfat", "mergerfs", "gocryptfs", "encfs", "cryfs", "securefs", "bindfs", "lvmfs", "zfs",
	"zfs-fuse", "ext2", "apfs",
}

// fuseKind returns the kind of a FUSE file system by the type of its mount, such as
// "fuse.sshfs", "fuseblk" or "virtiofs".
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

// Owner describes who else can change a file.
type Owner struct {
	Other    bool        // another user owns it
	Writable bool        // other users may write it
	Mode     fs.FileMode // its permissions
}

// OwnerOf examines a file or directory. If it does not exist, or on platforms without
// owners, it returns the zero Owner.
func OwnerOf(path string) Owner { return ownerOf(path) }
