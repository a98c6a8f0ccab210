//go:build linux && !android

// This file checks with a single statx call whether a name refers to a file. The call does not request the times of the
// file, because such a request can make the next write slower: since Linux 6.13, the first write after a request for
// the times has to record a new, exact time. The call also avoids the memory allocations of package os.

package vfs

import (
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// dirHandle is the open directory of an [OS], for system calls that package os does not provide. Its File is nil if
// the directory could not be opened.
type dirHandle struct{ *os.File }

func (p *dirHandle) open(root *os.Root) {
	p.File, _ = root.OpenFile(".", unix.O_PATH|unix.O_DIRECTORY, 0)
}

// refersTo reports whether a name in the directory refers to the file that info describes. The result isKnown is false
// if refersTo cannot tell: if the directory is not open, if the name contains a slash or is a symbolic link, or if the
// system call fails.
func (p *dirHandle) refersTo(name string, info fs.FileInfo) (same, isKnown bool) {
	if p.File == nil || strings.Contains(name, "/") {
		return false, false
	}
	conn, err := p.SyscallConn()
	if err != nil {
		return false, false
	}
	cerr := conn.Control(func(fd uintptr) { same, isKnown = nameInDirRefersTo(int(fd), name, info) })
	return same, isKnown && cerr == nil
}

// refersTo reports whether a path refers to the file that info describes. If this is not known, refersTo returns
// false.
func refersTo(path string, info fs.FileInfo) bool {
	same, known := nameInDirRefersTo(unix.AT_FDCWD, path, info)
	return same && known
}

// nameInDirRefersTo is like dirHandle.refersTo, for a name that is relative to the directory with the given
// descriptor.
func nameInDirRefersTo(dir int, name string, info fs.FileInfo) (isSameFile, isKnown bool) {
	want, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false, false
	}
	// Request all basic fields except the times, which are not needed here. If fewer fields were requested, a network
	// file system might answer from its cache without asking the server.
	const mask = unix.STATX_BASIC_STATS &^ (unix.STATX_ATIME | unix.STATX_MTIME | unix.STATX_CTIME)
	var st unix.Statx_t
	err := error(unix.EINTR)
	for err == unix.EINTR {
		err = unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, mask, &st)
	}
	if err != nil || st.Mask&unix.STATX_INO == 0 {
		return false, false
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false, false
	}
	return st.Ino == want.Ino && unix.Mkdev(st.Dev_major, st.Dev_minor) == want.Dev, true
}
