// This file handles damaged fingerprint files. After a damage, a text that repeats a foreign text must not be mistaken
// for new text, and writing must still be possible.

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

// lostFingerprintsLabel is a label that stands for an unknown earlier text. FindRepeats reports it for each text as
// long as fingerprints are missing because a file was damaged.
const lostFingerprintsLabel = "fingerprints-lost"

// A FingerprintLoss says when and why the stored fingerprints of texts were lost, for example because a file was
// damaged.
type FingerprintLoss struct {
	LossTime   time.Time
	LossReason string
	// time at which the effect of the loss ends: until then, each text by an agent counts as a repetition
	EndTime time.Time
}

// renameDamagedFile renames a damaged file by adding damagedSuffix to its name, and records that fingerprints were
// lost. The name may also be that of a directory or a link. The argument reason says why the fingerprints were lost.
// This text may mention another file. For example, if the key file is damaged, the other files become useless. Errors
// are ignored, because the caller notices a failure when it tries to write a new file with this name.
func (f Store) renameDamagedFile(dir *vfs.OS, name, reason string) {
	_ = vfs.RemoveTree(filepath.Join(f.Dir, name+damagedSuffix))
	_ = os.Rename(filepath.Join(f.Dir, name), filepath.Join(f.Dir, name+damagedSuffix))
	f.writeFingerprintLoss(dir, reason)
}

// writeFingerprintLoss records that fingerprints of earlier texts were lost. It writes the present time and the reason
// to the file fingerprintLossFile.
func (f Store) writeFingerprintLoss(dir *vfs.OS, reason string) {
	line := fmt.Sprintf("%s %s\n", f.Now().UTC().Format(time.RFC3339), reason)
	_ = vfs.WriteFile(dir, fingerprintLossFile, []byte(line), 0o600)
}

// lossReason returns a text that says which file lost fingerprints and why.
func lossReason(name string, err error) string { return fmt.Sprintf("%s: %v", name, err) }

// repairFile repairs the fingerprint file with this name. If the file is damaged, repairFile renames it and writes the
// blocks before the damage into a new file. repairFile also renames each damaged file that contains removed
// fingerprints. It does nothing if no file is damaged. Errors are ignored, because the next use of the file reports
// them again.
func (f Store) repairFile(name string) {
	_, _ = vfs.WithLock(context.Background(), f.Dir, lockFile, lockWait, func(dir *vfs.OS) error {
		key, err := f.openOrCreateKey(dir)
		if err != nil {
			return err
		}
		err = f.scanBlocks(name, func(*cipherKey, *blockHeader, []byte, []byte) error { return nil })
		_, droppedErr := f.readRemovedFingerprints(key)
		if err == nil && droppedErr == nil {
			return nil // Another process has already repaired the files.
		}
		if droppedErr != nil {
			for _, name := range []string{removedFingerprintsFile, oldRemovedFingerprintsFile} {
				if _, err := f.readRemovedFingerprintFile(name, key); err != nil {
					f.renameDamagedFile(dir, name, lossReason(name, err))
				}
			}
		}
		return f.dropOldBlocks(dir, name, key)
	})
}

// LastFingerprintLoss returns the last loss of fingerprints. ok is false if nothing was lost in the last 14 days. If
// the record of the loss cannot be read, LastFingerprintLoss assumes that the fingerprints were lost just now.
func (f Store) LastFingerprintLoss() (l FingerprintLoss, ok bool) {
	b, err := os.ReadFile(filepath.Join(f.Dir, fingerprintLossFile))
	if os.IsNotExist(err) {
		return l, false
	}
	timeText, why, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	l.LossReason = why
	l.LossTime, err = time.Parse(time.RFC3339, timeText)
	if err != nil {
		l.LossTime, l.LossReason = f.Now(), fingerprintLossFile+" cannot be read"
	}
	l.EndTime = l.LossTime.Add(maxBlockAge)
	return l, l.EndTime.After(f.Now())
}
