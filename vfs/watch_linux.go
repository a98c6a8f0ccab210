// This file implements watches on Linux with inotify. The method Changed reads the events itself, without a goroutine.
// The kernel adds an event to its queue before the system call that caused the event returns. Therefore Changed does
// not miss any earlier change.

package vfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// watchableFileSystems contains the magic numbers of the file systems whose changes are all made through this kernel.
// The numbers come from linux/magic.h and, for ZFS and bcachefs, from the sources of these file systems.
var watchableFileSystems = []int64{
	0xef53,     // magic number of ext2, ext3 and ext4
	0x58465342, // magic number of XFS
	0x9123683e, // magic number of Btrfs
	0x01021994, // magic number of tmpfs
	0x794c7630, // magic number of overlayfs
	0xf2f52010, // magic number of F2FS
	0x2fc12fc1, // magic number of ZFS
	0xca451a4e, // magic number of bcachefs
}

const watchMask = syscall.IN_CREATE | syscall.IN_DELETE | syscall.IN_MODIFY | syscall.IN_ATTRIB |
	syscall.IN_CLOSE_WRITE | syscall.IN_MOVED_FROM | syscall.IN_MOVED_TO |
	syscall.IN_DELETE_SELF | syscall.IN_MOVE_SELF | syscall.IN_ONLYDIR

type inotifyWatch struct {
	fs *OS

	mu     sync.Mutex // guards the following fields
	fd     int        // file descriptor (-1 if the watch is closed)
	dirs   map[int32]string
	buffer []byte
}

// NewWatch returns a watch that uses inotify.
func (o *OS) NewWatch() (Watch, error) {
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watching: %w", err)
	}
	return &inotifyWatch{fs: o, fd: fd, dirs: map[int32]string{}, buffer: make([]byte, 64<<10)}, nil
}

func (w *inotifyWatch) Add(dir string) (fs.FileInfo, error) {
	local, err := localPath("watch", dir)
	if err != nil {
		return nil, err
	}
	d, err := w.fs.root.OpenFile(local, os.O_RDONLY|extraOpenFlags, 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	info, err := d.Stat()
	if err != nil {
		return nil, err
	}
	var stat syscall.Statfs_t
	if err := syscall.Fstatfs(int(d.Fd()), &stat); err != nil {
		return nil, &fs.PathError{Op: "watch", Path: dir, Err: err}
	}
	if !slices.Contains(watchableFileSystems, int64(uint32(stat.Type))) {
		return nil, &fs.PathError{Op: "watch", Path: dir, Err: ErrUnsupported}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fd < 0 {
		return nil, &fs.PathError{Op: "watch", Path: dir, Err: fs.ErrClosed}
	}
	// Watch the open directory instead of its path, because the path may refer to another directory now.
	wd, err := syscall.InotifyAddWatch(w.fd, fmt.Sprintf("/proc/self/fd/%d", d.Fd()), watchMask)
	if err != nil {
		return nil, &fs.PathError{Op: "watch", Path: dir, Err: err}
	}
	w.dirs[int32(wd)] = dir
	return info, nil
}

func (w *inotifyWatch) Changed() (files, lostDirs []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fd < 0 {
		return nil, nil, fs.ErrClosed
	}
	seen, gone := map[string]bool{}, map[string]bool{}
	var made []string
	for {
		n, err := syscall.Read(w.fd, w.buffer)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			// Report the parent directory of a new symbolic link as lost. The caller then lists this directory and
			// finds the link. The target of the link is not watched.
			for _, p := range made {
				if dir := path.Dir(p); !gone[dir] && w.isLink(p) {
					gone[dir] = true
					lostDirs = append(lostDirs, dir)
				}
			}
			return files, lostDirs, nil
		case err != nil:
			return nil, nil, fmt.Errorf("watching: %w", err)
		}
		// The kernel fills the buffer with events of this form:
		//
		//	struct inotify_event { int wd; uint32 mask, cookie, len; char name[len]; }
		for b := w.buffer[:n]; len(b) >= syscall.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(b))
			mask := binary.NativeEndian.Uint32(b[4:])
			size := binary.NativeEndian.Uint32(b[12:])
			end := syscall.SizeofInotifyEvent + int(size)
			name, _, _ := strings.Cut(string(b[syscall.SizeofInotifyEvent:end]), "\x00")
			b = b[end:]
			if mask&syscall.IN_Q_OVERFLOW != 0 {
				for _, dir := range w.dirs {
					if !gone[dir] {
						gone[dir] = true
						lostDirs = append(lostDirs, dir)
					}
				}
				continue
			}
			dir, ok := w.dirs[wd]
			if !ok {
				continue
			}
			if mask&(syscall.IN_IGNORED|syscall.IN_DELETE_SELF|syscall.IN_MOVE_SELF|syscall.IN_UNMOUNT) != 0 {
				delete(w.dirs, wd)
				if !gone[dir] {
					gone[dir] = true
					lostDirs = append(lostDirs, dir)
				}
				continue
			}
			p := path.Join(dir, name)
			if name != "" && !seen[p] {
				seen[p] = true
				files = append(files, p)
			}
			if name != "" && mask&(syscall.IN_CREATE|syscall.IN_MOVED_TO) != 0 {
				made = append(made, p)
			}
		}
	}
}

func (w *inotifyWatch) isLink(name string) bool {
	local, err := localPath("lstat", name)
	if err != nil {
		return false
	}
	info, err := w.fs.root.Lstat(local)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func (w *inotifyWatch) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fd < 0 {
		return nil
	}
	fd := w.fd
	w.fd = -1
	return syscall.Close(fd)
}
