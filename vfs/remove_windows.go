// This file removes files on Windows. To remove a file in an os.Root, Go uses a request to the operating system that
// exists since Windows 10. Some file systems, and Wine 8, answer this request with ERROR_INVALID_FUNCTION, and Go 1.26
// does not try the older request in this case.

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// removeInRoot deletes a file, a symbolic link or an empty directory.
func removeInRoot(root *os.Root, name string) error {
	err := root.Remove(name)
	if !errors.Is(err, windows.ERROR_INVALID_FUNCTION) {
		return err
	}
	err = removeWithOldWindowsAPI(root, name)
	if !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return err
	}
	// Windows does not delete a read-only file, but os.Root.Remove must delete it according to the documentation.
	info, serr := root.Lstat(name)
	if serr != nil || !info.Mode().IsRegular() {
		return err
	}
	if info.Mode()&0o200 != 0 {
		return err // The file is writable, so Windows denied the access for another reason.
	}
	if cerr := root.Chmod(name, info.Mode()|0o200); cerr != nil {
		return err
	}
	return removeWithOldWindowsAPI(root, name)
}

// removeWithOldWindowsAPI is like removeInRoot, but calls removeInDirectory, which deletes the file with a request to
// the operating system that all versions of Windows support. It opens the file relative to the file's directory. The
// directory is opened with root, so that no link leads outside of root.
func removeWithOldWindowsAPI(root *os.Root, name string) error {
	dir, err := root.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	conn, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	var rerr error
	err = conn.Control(func(fd uintptr) { rerr = removeInDirectory(windows.Handle(fd), filepath.Base(name)) })
	if err != nil {
		return err
	}
	if rerr != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: rerr}
	}
	return nil
}

// removeInDirectory marks a file in an open directory for deletion. Windows deletes the file when its last handle is
// closed.
func removeInDirectory(dir windows.Handle, base string) error {
	name, err := windows.NewNTUnicodeString(base)
	if err != nil {
		return err
	}
	attributes := windows.OBJECT_ATTRIBUTES{RootDirectory: dir, ObjectName: name}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	var file windows.Handle
	err = windows.NtCreateFile(
		&file,
		windows.DELETE,
		&attributes,
		&windows.IO_STATUS_BLOCK{},
		nil,
		0,
		windows.FILE_SHARE_DELETE|windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE,
		windows.FILE_OPEN,
		windows.FILE_OPEN_REPARSE_POINT|windows.FILE_OPEN_FOR_BACKUP_INTENT,
		0,
		0,
	)
	if err != nil {
		return convertNTStatus(err)
	}
	isDeleted := byte(1)
	err = windows.SetFileInformationByHandle(file, windows.FileDispositionInfo, &isDeleted, 1)
	return errors.Join(err, windows.CloseHandle(file))
}

// convertNTStatus converts an NT status to the equivalent Windows error code, such as ERROR_SHARING_VIOLATION, so that
// the caller can use errors.Is on the error. It returns all other errors unchanged.
func convertNTStatus(err error) error {
	status, ok := err.(windows.NTStatus)
	if !ok {
		return err
	}
	return status.Errno()
}

// RemoveTree deletes the file or directory at a path of the operating system. It deletes a directory with all contained
// files. It is like [os.RemoveAll], but also works on file systems that do not support the delete request that
// [os.RemoveAll] uses on Windows 10 and later.
func RemoveTree(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, windows.ERROR_INVALID_FUNCTION) {
		return err
	}
	dir, err := Dir(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(RemoveAll(dir, filepath.Base(path)), dir.Close())
}
