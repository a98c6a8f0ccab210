// This file describes file systems on Linux. statfs returns a number for each type, and
// /proc/self/mountinfo contains the types of FUSE mounts.

package sysinfo

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// fileSystems maps the numbers in statfs(2) to file systems. Numbers without a name in package unix are
// from the sources of these file systems.
var fileSystems = map[uint32]FileSystem{
	unix.NFS_SUPER_MAGIC:   {Name: "nfs", Kind: Network},
	unix.SMB_SUPER_MAGIC:   {Name: "smb", Kind: Network},
	unix.SMB2_SUPER_MAGIC:  {Name: "smb2", Kind: Network},
	unix.CIFS_SUPER_MAGIC:  {Name: "cifs", Kind: Network},
	unix.AFS_SUPER_MAGIC:   {Name: "afs", Kind: Network},
	unix.AFS_FS_MAGIC:      {Name: "afs", Kind: Network},
	unix.CODA_SUPER_MAGIC:  {Name: "coda", Kind: Network},
	unix.NCP_SUPER_MAGIC:   {Name: "ncp", Kind: Network},
	unix.CEPH_SUPER_MAGIC:  {Name: "ceph", Kind: Network},
	unix.OCFS2_SUPER_MAGIC: {Name: "ocfs2", Kind: Network},
	0x01161970:             {Name: "gfs2", Kind: Network},
	0x0bd00bd0:             {Name: "lustre", Kind: Network},
	0x47504653:             {Name: "gpfs", Kind: Network},
	0x19830326:             {Name: "beegfs", Kind: Network},

	unix.V9FS_MAGIC:         {Name: "9p", Kind: Shared},
	unix.HOSTFS_SUPER_MAGIC: {Name: "hostfs", Kind: Shared},
	0x786f4256:              {Name: "vboxsf", Kind: Shared},
	0xbacbacbc:              {Name: "vmhgfs", Kind: Shared},
	0x7c7c6673:              {Name: "prl_fs", Kind: Shared},

	unix.TMPFS_MAGIC: {Name: "tmpfs", Kind: Volatile},
	unix.RAMFS_MAGIC: {Name: "ramfs", Kind: Volatile},

	unix.OVERLAYFS_SUPER_MAGIC: {Name: "overlay", Kind: Layered},
	0x61756673:                 {Name: "aufs", Kind: Layered},

	unix.EXT4_SUPER_MAGIC:     {Name: "ext4", Kind: Local}, // ext2 and ext3 have the same number
	unix.XFS_SUPER_MAGIC:      {Name: "xfs", Kind: Local},
	unix.BTRFS_SUPER_MAGIC:    {Name: "btrfs", Kind: Local},
	unix.BCACHEFS_SUPER_MAGIC: {Name: "bcachefs", Kind: Local},
	unix.F2FS_SUPER_MAGIC:     {Name: "f2fs", Kind: Local},
	unix.NILFS_SUPER_MAGIC:    {Name: "nilfs", Kind: Local},
	unix.REISERFS_SUPER_MAGIC: {Name: "reiserfs", Kind: Local},
	unix.MSDOS_SUPER_MAGIC:    {Name: "vfat", Kind: Local},
	unix.EXFAT_SUPER_MAGIC:    {Name: "exfat", Kind: Local},
	unix.ECRYPTFS_SUPER_MAGIC: {Name: "ecryptfs", Kind: Local},
	unix.UDF_SUPER_MAGIC:      {Name: "udf", Kind: Local},
	0x2fc12fc1:                {Name: "zfs", Kind: Local},
	0x3153464a:                {Name: "jfs", Kind: Local},
	0x5346544e:                {Name: "ntfs", Kind: Local},
	0x7366746e:                {Name: "ntfs3", Kind: Local},
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
		f.Name = mountTypeAt(path)
		f.Kind = fuseKind(f.Name)
	case !ok:
		f.Name = fmt.Sprintf("%#x", number)
	}
	f.ReadOnly = int64(st.Flags)&unix.ST_RDONLY != 0
	f.Free, f.Total = st.Bavail*uint64(st.Bsize), st.Blocks*uint64(st.Bsize)
	return f, nil
}

// mountTypeAt returns the type of the mount that contains the path, or "fuse" if it is unknown.
func mountTypeAt(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return "fuse"
	}
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "fuse"
	}
	return mountType(string(b), fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev))))
}

// mountType returns the type of the mount with a device, such as "8:1". mountinfo is the content
// of /proc/self/mountinfo (see proc_pid_mountinfo(5)). The third field of a line is the device.
// The first field after a single dash is the type.
func mountType(mountinfo, device string) string {
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
