// This file describes file systems and the owners of files.

// Package sysinfo finds the kind of the file system on which a store is and its free space, and
// whether a process is alive. It does not change anything.
package sysinfo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FileSystemKind is a kind of file system, distinguished by what matters for a store.
type FileSystemKind int

// All kinds.
const (
	KindUnknown  FileSystemKind = iota
	KindLocal                   // a disk of this machine
	KindNetwork                 // shared with other hosts, so that locks are not reliable
	KindShared                  // provided by another system or program, such as 9p or FUSE; other writers are unknown
	KindVolatile                // in memory; lost at the next boot
	KindLayered                 // an overlay as in containers; lost with the container
)

// String returns the name of the kind, which is a single word.
func (k FileSystemKind) String() string {
	return [...]string{"unknown", "local", "network", "shared", "volatile", "layered"}[k]
}

// FileSystem describes a file system.
type FileSystem struct {
	Name       string // name that the system uses, such as xfs or nfs ("" if unknown)
	Kind       FileSystemKind
	IsReadOnly bool
	FreeBytes  uint64 // number of bytes available to this user
	TotalBytes uint64 // size in bytes (0 if unknown)
}

// DescribeFileSystem describes the file system that contains the path. If the path does not exist, DescribeFileSystem
// describes the file system of the nearest existing parent directory. If the platform does not provide the data,
// DescribeFileSystem returns the zero FileSystem.
func DescribeFileSystem(path string) (FileSystem, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return FileSystem{}, err
	}
	for {
		_, err := os.Stat(path)
		if err == nil {
			return describeFileSystem(path)
		}
		up := filepath.Dir(path)
		// A path below a file does not exist either, so continue with its parent.
		isMissing := errors.Is(err, fs.ErrNotExist) || isNotDir(path)
		if up == path || !isMissing {
			return FileSystem{}, err
		}
		path = up
	}
}

// isNotDir reports whether the nearest existing parent of the path is not a directory.
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

// networkFUSEPrograms contains FUSE programs that store files on other hosts.
var networkFUSEPrograms = []string{
	"sshfs", "nfs", "smb", "cifs", "smbnetfs", "rclone", "s3fs", "s3backer", "goofys", "mount-s3", "gcsfuse",
	"blobfuse", "blobfuse2",
	"glusterfs", "ceph", "ceph-fuse", "juicefs", "JuiceFS", "seaweedfs", "weed", "mfs", "lizardfs", "curlftpfs",
	"davfs", "davfs2", "onedriver",
	"google-drive-ocamlfuse", "gvfsd-fuse",
}

// localFUSEPrograms contains FUSE programs that store files on a local disk.
var localFUSEPrograms = []string{
	"ntfs-3g", "ntfs", "exfat", "mergerfs", "gocryptfs", "encfs", "cryfs", "securefs", "bindfs", "lvmfs", "zfs",
	"zfs-fuse", "ext2", "apfs",
}

// fuseKind returns the kind of a FUSE file system. mount is the mount type, such as
// "fuse.sshfs", "fuseblk" or "virtiofs".
func fuseKind(mount string) FileSystemKind {
	_, sub, _ := strings.Cut(mount, ".")
	switch {
	case strings.HasPrefix(mount, "fuseblk"): // on a block device
		return KindLocal
	case slices.Contains(networkFUSEPrograms, sub):
		return KindNetwork
	case slices.Contains(localFUSEPrograms, sub):
		return KindLocal
	}
	return KindShared
}

// An FileOwner describes who else can change a file.
type FileOwner struct {
	IsOtherUser        bool        // the file belongs to another user
	IsWritableByOthers bool        // other users may write the file
	Mode               fs.FileMode // permissions of the file
}

// ReadOwner examines a file or directory. It returns the zero FileOwner if the file does not exist, or on
// platforms without owners.
func ReadOwner(path string) FileOwner { return readOwner(path) }
