// This file describes file systems and the owners of files.

// Package sysinfo describes the file system that contains a store: the kind and the free space. It also finds out
// whether a process is alive. It changes nothing.
package sysinfo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FileSystemKind is a kind of file system. The kinds differ in properties that a store must know.
type FileSystemKind int

// These are the kinds of file systems.
const (
	KindUnknownFileSystem FileSystemKind = iota
	KindLocalFileSystem                  // a file system on a disk of this machine
	KindNetworkFileSystem                // a file system that other hosts also use, so that locks are not reliable
	// a file system that another system or program provides, such as 9p or FUSE, and that others may write to
	KindSharedFileSystem
	KindInMemoryFileSystem // a file system in memory, which is lost at the next boot
	KindOverlayFileSystem  // an overlay, as in a container, which is lost with the container
)

// String returns the kind's name as a single word.
func (k FileSystemKind) String() string {
	return [...]string{"unknown", "local", "network", "shared", "volatile", "layered"}[k]
}

// FileSystem describes a file system.
type FileSystem struct {
	Name       string // name that the system uses, such as xfs or nfs ("" if unknown)
	Kind       FileSystemKind
	IsReadOnly bool
	FreeBytes  uint64 // free space in bytes that this user may use
	TotalBytes uint64 // size in bytes (0 if unknown)
}

// DescribeFileSystem describes the file system that contains the path. If the path does not exist, it describes the
// file system of the nearest existing parent directory. If the platform does not provide the data, it returns the zero
// FileSystem.
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
		// A path below a file does not exist either, so continue with the parent.
		isMissing := errors.Is(err, fs.ErrNotExist) || hasNonDirParent(path)
		if up == path || !isMissing {
			return FileSystem{}, err
		}
		path = up
	}
}

// hasNonDirParent reports whether the nearest existing parent of the path is something other than a directory.
func hasNonDirParent(path string) bool {
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

// networkFUSENames contains the names of FUSE programs that store files on other hosts.
var networkFUSENames = []string{
	"sshfs", "nfs", "smb", "cifs", "smbnetfs", "rclone", "s3fs", "s3backer", "goofys", "mount-s3", "gcsfuse",
	"blobfuse", "blobfuse2",
	"glusterfs", "ceph", "ceph-fuse", "juicefs", "JuiceFS", "seaweedfs", "weed", "mfs", "lizardfs", "curlftpfs",
	"davfs", "davfs2", "onedriver",
	"google-drive-ocamlfuse", "gvfsd-fuse",
}

// localFUSENames contains the names of FUSE programs that store files on a local disk.
var localFUSENames = []string{
	"ntfs-3g", "ntfs", "exfat", "mergerfs", "gocryptfs", "encfs", "cryfs", "securefs", "bindfs", "lvmfs", "zfs",
	"zfs-fuse", "ext2", "apfs",
}

// fuseMountKind returns the kind of a FUSE file system with a mount type such as "fuse.sshfs", "fuseblk" or "virtiofs".
func fuseMountKind(mount string) FileSystemKind {
	_, sub, _ := strings.Cut(mount, ".")
	switch {
	// fuseblk means that the file system is on a block device, so it is local.
	case strings.HasPrefix(mount, "fuseblk"):
		return KindLocalFileSystem
	case slices.Contains(networkFUSENames, sub):
		return KindNetworkFileSystem
	case slices.Contains(localFUSENames, sub):
		return KindLocalFileSystem
	}
	return KindSharedFileSystem
}

// A FileOwner describes who else can change a file.
type FileOwner struct {
	IsOtherUser        bool        // The examined file belongs to another user than the user of this process.
	IsWritableByOthers bool        // Other users may write the file.
	Mode               fs.FileMode // the file's permissions
}

// ReadOwner examines the owner and the permissions of a file or directory. It returns the zero FileOwner if the file
// does not exist, or if the platform does not support owners.
func ReadOwner(path string) FileOwner { return readOwner(path) }
