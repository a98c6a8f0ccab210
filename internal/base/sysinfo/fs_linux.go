// This file describes file systems on Linux. The call statfs returns a number for each type of file system. The file
// /proc/self/mountinfo contains the types of FUSE mounts.

package sysinfo

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// fileSystems maps the type numbers of statfs(2) to descriptions. A number without a name in package unix is from the
// source of that file system.
var fileSystems = map[uint32]FileSystem{
	unix.NFS_SUPER_MAGIC:   {Name: "nfs", Kind: KindNetworkFileSystem},
	unix.SMB_SUPER_MAGIC:   {Name: "smb", Kind: KindNetworkFileSystem},
	unix.SMB2_SUPER_MAGIC:  {Name: "smb2", Kind: KindNetworkFileSystem},
	unix.CIFS_SUPER_MAGIC:  {Name: "cifs", Kind: KindNetworkFileSystem},
	unix.AFS_SUPER_MAGIC:   {Name: "afs", Kind: KindNetworkFileSystem},
	unix.AFS_FS_MAGIC:      {Name: "afs", Kind: KindNetworkFileSystem},
	unix.CODA_SUPER_MAGIC:  {Name: "coda", Kind: KindNetworkFileSystem},
	unix.NCP_SUPER_MAGIC:   {Name: "ncp", Kind: KindNetworkFileSystem},
	unix.CEPH_SUPER_MAGIC:  {Name: "ceph", Kind: KindNetworkFileSystem},
	unix.OCFS2_SUPER_MAGIC: {Name: "ocfs2", Kind: KindNetworkFileSystem},
	0x01161970:             {Name: "gfs2", Kind: KindNetworkFileSystem},
	0x0bd00bd0:             {Name: "lustre", Kind: KindNetworkFileSystem},
	0x47504653:             {Name: "gpfs", Kind: KindNetworkFileSystem},
	0x19830326:             {Name: "beegfs", Kind: KindNetworkFileSystem},

	unix.V9FS_MAGIC:         {Name: "9p", Kind: KindSharedFileSystem},
	unix.HOSTFS_SUPER_MAGIC: {Name: "hostfs", Kind: KindSharedFileSystem},
	0x786f4256:              {Name: "vboxsf", Kind: KindSharedFileSystem},
	0xbacbacbc:              {Name: "vmhgfs", Kind: KindSharedFileSystem},
	0x7c7c6673:              {Name: "prl_fs", Kind: KindSharedFileSystem},

	unix.TMPFS_MAGIC: {Name: "tmpfs", Kind: KindInMemoryFileSystem},
	unix.RAMFS_MAGIC: {Name: "ramfs", Kind: KindInMemoryFileSystem},

	unix.OVERLAYFS_SUPER_MAGIC: {Name: "overlay", Kind: KindOverlayFileSystem},
	0x61756673:                 {Name: "aufs", Kind: KindOverlayFileSystem},

	unix.EXT4_SUPER_MAGIC: {
		Name: "ext4",
		Kind: KindLocalFileSystem,
	}, // ext2 and ext3 have the same magic number as ext4.
	unix.XFS_SUPER_MAGIC:      {Name: "xfs", Kind: KindLocalFileSystem},
	unix.BTRFS_SUPER_MAGIC:    {Name: "btrfs", Kind: KindLocalFileSystem},
	unix.BCACHEFS_SUPER_MAGIC: {Name: "bcachefs", Kind: KindLocalFileSystem},
	unix.F2FS_SUPER_MAGIC:     {Name: "f2fs", Kind: KindLocalFileSystem},
	unix.NILFS_SUPER_MAGIC:    {Name: "nilfs", Kind: KindLocalFileSystem},
	unix.REISERFS_SUPER_MAGIC: {Name: "reiserfs", Kind: KindLocalFileSystem},
	unix.MSDOS_SUPER_MAGIC:    {Name: "vfat", Kind: KindLocalFileSystem},
	unix.EXFAT_SUPER_MAGIC:    {Name: "exfat", Kind: KindLocalFileSystem},
	unix.ECRYPTFS_SUPER_MAGIC: {Name: "ecryptfs", Kind: KindLocalFileSystem},
	unix.UDF_SUPER_MAGIC:      {Name: "udf", Kind: KindLocalFileSystem},
	0x2fc12fc1:                {Name: "zfs", Kind: KindLocalFileSystem},
	0x3153464a:                {Name: "jfs", Kind: KindLocalFileSystem},
	0x5346544e:                {Name: "ntfs", Kind: KindLocalFileSystem},
	0x7366746e:                {Name: "ntfs3", Kind: KindLocalFileSystem},
}

func describeFileSystem(path string) (FileSystem, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return FileSystem{}, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	number := uint32(st.Type)
	f, ok := fileSystems[number]
	switch {
	case number == unix.FUSE_SUPER_MAGIC:
		f.Name = mountTypeOfPath(path)
		f.Kind = fuseMountKind(f.Name)
	case !ok:
		f.Name = fmt.Sprintf("%#x", number)
	}
	f.IsReadOnly = int64(st.Flags)&unix.ST_RDONLY != 0
	f.FreeBytes, f.TotalBytes = st.Bavail*uint64(st.Bsize), st.Blocks*uint64(st.Bsize)
	return f, nil
}

// mountTypeOfPath returns the type of the mount that contains the path. If the type is unknown, it returns "fuse".
func mountTypeOfPath(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return "fuse"
	}
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "fuse"
	}
	return mountTypeOfDevice(string(b), fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev))))
}

// mountTypeOfDevice returns the mount type for a device number such as "8:1". If no line contains the device number, it
// returns "fuse". mountinfo is the content of /proc/self/mountinfo (see proc_pid_mountinfo(5)). In each line, the third
// field is the device number, and the first field after a single dash is the type.
func mountTypeOfDevice(mountinfo, device string) string {
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		if !ok {
			continue
		}
		if fields := strings.Fields(before); len(fields) < 3 || fields[2] != device {
			continue
		}
		if fields := strings.Fields(after); len(fields) > 0 {
			return fields[0]
		}
	}
	return "fuse"
}
