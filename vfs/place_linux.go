//go:build linux && !android

// What a name refers to, by one system call that reads nothing else: after a
// query of a file's times, the next write must record new ones (since Linux
// 6.13), and package os allocates a description of each file.

package vfs

import (
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// place is the directory of an [OS], for calls that package os does not have.
// It is nil where it could not be opened.
type place struct{ *os.File }

func (p *place) open(root *os.Root) {
	p.File, _ = root.OpenFile(".", unix.O_PATH|unix.O_DIRECTORY, 0)
}

// refersTo reports whether the name leads to the file that info describes. It is
// not known for a link, and where the system call fails.
func (p *place) refersTo(name string, info fs.FileInfo) (same, known bool) {
	if p.File == nil || strings.Contains(name, "/") {
		return false, false
	}
	conn, err := p.SyscallConn()
	if err != nil {
		return false, false
	}
	cerr := conn.Control(func(fd uintptr) { same, known = refersAt(int(fd), name, info) })
	return same, known && cerr == nil
}

// refersTo reports whether the path is known to lead to the file that info describes.
func refersTo(path string, info fs.FileInfo) bool {
	same, known := refersAt(unix.AT_FDCWD, path, info)
	return same && known
}

// refersAt is refersTo for a name in the directory of a descriptor.
func refersAt(dir int, name string, info fs.FileInfo) (same, known bool) {
	want, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false, false
	}
	// All but the times. On a file system over a network, to ask for less might
	// leave the answer to what is remembered of it.
	const mask = unix.STATX_BASIC_STATS &^ (unix.STATX_ATIME | unix.STATX_MTIME | unix.STATX_CTIME)
	var st unix.Statx_t
	err := error(unix.EINTR)
	for err == unix.EINTR {
		err = unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, mask, &st)
	}
	if err != nil || st.Mask&unix.STATX_INO == 0 || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false, false
	}
	return st.Ino == want.Ino && unix.Mkdev(st.Dev_major, st.Dev_minor) == want.Dev, true
}
