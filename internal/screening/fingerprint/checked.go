// This file remembers which files of a home were read and were not damaged, so that a process that compares many texts
// need not read these files for each text.

package fingerprint

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Names of the files in a [Store]'s directory.
const (
	fingerprintKeyFile  = "read.key"
	fingerprintsFile    = "read.prints"
	writtenPathsFile    = "read.paths"
	lockFile            = "read.lock"
	fingerprintLossFile = "read.lost" // file that records when and why stored fingerprints were lost
	damagedSuffix       = ".damaged"  // suffix that a damaged file gets when it is renamed
)

const fingerprintKeyBytes = 32

// fileVersion identifies the content of a file, as far as the file system tells.
type fileVersion struct{ info fs.FileInfo }

// isSame reports whether info describes the same file as v, without a change of the file meanwhile. It returns false if
// v is the zero value.
func (v fileVersion) isSame(info fs.FileInfo) bool {
	return v.info != nil && v.info.Size() == info.Size() && v.info.ModTime().Equal(info.ModTime()) &&
		sysinfo.LastChangeTime(v.info).Equal(sysinfo.LastChangeTime(info)) && os.SameFile(v.info, info)
}

// minCheckedFileAge is the minimum time since the last change of a file after which an unchanged description means an
// unchanged content. The clocks of file systems are coarse, so a second change soon after the first may get the same
// time. Tests change this value.
var minCheckedFileAge = 2 * time.Second

// checkedFiles contains the key of a home and the versions of those files that this process has read and found to be
// undamaged. The zero value contains nothing.
type checkedFiles struct {
	mu       sync.Mutex
	key      *cipherKey
	versions map[string]fileVersion // by file name
}

// cachedKey returns the key that this process has read last. If it has not read a key yet, cachedKey returns nil. The
// key is certainly the home's current key only if areUnchanged returns true afterwards.
func (c *checkedFiles) cachedKey() *cipherKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.key
}

// areUnchanged reports whether the key is certainly the home's current key, and the headers of the home's files are
// certainly undamaged. It does not check the file with the name uncheckedName. The function stat describes a file.
func (c *checkedFiles) areUnchanged(
	key *cipherKey,
	uncheckedName string,
	stat func(name string) (fs.FileInfo, error),
) bool {
	for _, name := range []string{fingerprintKeyFile, fingerprintsFile, writtenPathsFile} {
		if name != uncheckedName && !c.isUnchanged(key, name, stat) {
			return false
		}
	}
	return true
}

// isUnchanged reports whether the file with this name is certainly the one that was read together with the key.
func (c *checkedFiles) isUnchanged(
	key *cipherKey,
	name string,
	stat func(name string) (fs.FileInfo, error),
) bool {
	c.mu.Lock()
	version := c.versions[name]
	isSameKey := c.key == key
	c.mu.Unlock()
	if !isSameKey || version.info == nil {
		return false
	}
	info, err := stat(name)
	return err == nil && version.isSame(info)
}

// setVersion records the version of an undamaged file that was read together with the key. The argument info must
// describe the file before it was read. If the file was changed less than minCheckedFileAge ago, setVersion records
// nothing, because a further change might not be visible in the file's description. If the key is another key than
// before, setVersion forgets the versions of the other files.
func (c *checkedFiles) setVersion(key *cipherKey, name string, info fs.FileInfo) {
	if time.Since(sysinfo.LastChangeTime(info)) < minCheckedFileAge {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.key == nil || !bytes.Equal(c.key.key, key.key) {
		c.key = key
		c.versions = map[string]fileVersion{}
	}
	c.versions[name] = fileVersion{info}
}

// readKey returns the key of the home. It reads the file with the key only if the file may have been changed since the
// last call. If the file has a wrong length, readKey returns errDamaged.
func (c *checkedFiles) readKey(dir *vfs.OS) (*cipherKey, error) {
	if key := c.cachedKey(); key != nil && c.isUnchanged(key, fingerprintKeyFile, dir.Stat) {
		return key, nil
	}
	file, err := dir.OpenFile(fingerprintKeyFile, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, fingerprintKeyBytes+1)
	n, _ := file.ReadAt(b, 0) // Ignore the error: a key that was not read completely has a wrong length.
	if n != fingerprintKeyBytes || info.Size() != fingerprintKeyBytes {
		return nil, fmt.Errorf(
			"%w: %s has %d bytes, not %d",
			errDamaged,
			fingerprintKeyFile,
			info.Size(),
			fingerprintKeyBytes,
		)
	}
	key, err := newCipherKey(b[:n])
	if err != nil {
		return nil, err
	}
	c.setVersion(key, fingerprintKeyFile, info)
	return key, nil
}

// checkHeader returns an error if the file's header is damaged or was written with another key. Otherwise it records
// the version of the file with setVersion.
func (c *checkedFiles) checkHeader(dir *vfs.OS, name string, key *cipherKey) error {
	file, err := openWithKey(dir, name, key)
	if err != nil {
		return err
	}
	c.setVersion(key, name, file.info)
	return file.Close()
}

// fileForAppending is an open fingerprint file to which blocks can be appended.
type fileForAppending struct {
	vfs.File
	name      string
	info      fs.FileInfo // description of the file when it was opened
	validSize int64       // blocks are appended at this offset
}

// openWithKey opens a fingerprint file for appending. It returns an error if the file's header is damaged or was
// written with another key.
func openWithKey(dir *vfs.OS, name string, key *cipherKey) (*fileForAppending, error) {
	file, err := dir.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	opened := &fileForAppending{File: file, name: name}
	opened.info, err = file.Stat()
	if err == nil {
		b := make([]byte, headerSize)
		n, _ := file.ReadAt(b, 0) // Ignore the error: readHeader fails if the header was not read completely.
		opened.validSize, err = key.readHeader(b[:n])
	}
	if err != nil {
		_ = file.Close() // Nothing was written, so the error does not matter.
		return nil, err
	}
	return opened, nil
}
