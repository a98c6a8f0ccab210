// This file handles damage. If fingerprints are lost, a text must not pass as clean because
// of that, and nobody must be prevented from writing.

package fingerprint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// lossLabel is the label of every match while fingerprints are missing.
const lossLabel = "fingerprints-lost"

// Loss is when and why fingerprints were lost.
type Loss struct {
	Time time.Time
	Why  string
	Ends time.Time // until then, texts by agents count as repetitions of a text that nobody vouches for
}

// putAside renames a damaged file and records that fingerprints were lost. It also renames
// a directory or link with this name. why names the file that was damaged first. Errors are
// ignored, because the caller will then fail to write the new file.
func (f File) putAside(dir *vfs.OS, name, why string) {
	_ = os.RemoveAll(filepath.Join(f.Dir, name+asideEnd))
	_ = os.Rename(filepath.Join(f.Dir, name), filepath.Join(f.Dir, name+asideEnd))
	f.noteLoss(dir, why)
}

// noteLoss records that fingerprints were lost.
func (f File) noteLoss(dir *vfs.OS, why string) {
	line := fmt.Sprintf("%s %s\n", f.Now().UTC().Format(time.RFC3339), why)
	_ = vfs.WriteFile(dir, lossFile, []byte(line), 0o600)
}

// lossOf returns why the fingerprints of a file were lost.
func lossOf(name string, err error) string { return fmt.Sprintf("%s: %v", name, err) }

// repair puts a damaged file aside and starts a new file with the blocks that can be read.
func (f File) repair(name string) {
	_, _ = vfs.WithLock(context.Background(), f.Dir, lockFile, lockWait, func(dir *vfs.OS) error {
		key, err := f.makeKey(dir)
		if err != nil {
			return err
		}
		err = f.scan(name, func(*cipherKey, *head, []byte, []byte) error { return nil })
		_, droppedErr := f.dropped(key)
		if err == nil && droppedErr == nil {
			return nil // another process has repaired the files
		}
		if droppedErr != nil {
			for _, name := range []string{droppedFile, droppedOldFile} {
				if _, err := f.readDropped(name, key); err != nil {
					f.putAside(dir, name, lossOf(name, err))
				}
			}
		}
		return f.shrink(dir, name, key)
	})
}

// Lost returns when fingerprints were lost, if that was less than 14 days ago.
func (f File) Lost() (l Loss, ok bool) {
	b, err := os.ReadFile(filepath.Join(f.Dir, lossFile))
	if os.IsNotExist(err) {
		return l, false
	}
	when, why, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	l.Why = why
	l.Time, err = time.Parse(time.RFC3339, when)
	if err != nil {
		l.Time, l.Why = f.Now(), lossFile+" cannot be read"
	}
	l.Ends = l.Time.Add(keepFor)
	return l, l.Ends.After(f.Now())
}
