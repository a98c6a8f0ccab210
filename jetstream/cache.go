// This file implements the local cache of a process. The cache contains two files for each brain (a memory in the
// cluster). The log file has the format of a local memory. The other file records how far the brain's stream was read.

package jetstream

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/keytable"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/vfs"
)

// minRecentEnvelopeIDs is the minimum number of message IDs that the file "place" and a snapshot contain. These are the
// IDs of the most recent messages. A process looks for its own message's ID among them, to find out whether its message
// was stored. There are fewer IDs only if there were fewer messages.
const minRecentEnvelopeIDs = 256

// replicaPosition is the position of a replica in the stream.
type replicaPosition struct {
	Cluster        string `json:"cluster"`
	LastReadSeq    uint64 `json:"seq"` // sequence of the last message that was read from the stream
	EnvelopeNumber uint64 `json:"n"`   // number of the last envelope (message with changes) that was read
	// hash that covers all messages up to the message with the number EnvelopeNumber
	ChainHash    chainHash `json:"hash"`
	EnvelopeTime int64     `json:"time"` // time of the envelope with the number EnvelopeNumber
	// number of the brain's last change after all messages up to the envelope with the number EnvelopeNumber
	LastChange uint64 `json:"last"`
	IsSynced   bool   `json:"clean"` // the log file is synced and has not been changed since
	// IDs of the last messages with changes. The last ID belongs to the envelope with the number EnvelopeNumber.
	RecentEnvelopeIDs []string `json:"recent"`

	// last snapshot of the brain in the stream, without the file that it may contain
	LastSnapshot           *snapshot `json:"held,omitempty"`
	BytesAfterSnapshot     int64     `json:"tail"` // total size of the envelopes after the snapshot, in bytes
	EnvelopesAfterSnapshot uint64    `json:"envs"` // number of messages with changes that follow the last snapshot
}

// These are the files in the directory of a brain.
const (
	logFileName      = "memory.oxbow"
	positionFileName = "place"
)

// brainFiles contains the file paths of a brain (a memory in the cluster). Each brain has a directory of its own. This
// is faster because a store lists its whole directory when it creates a file.
type brainFiles struct {
	fsys vfs.FS
	dir  string
}

func (f brainFiles) logFilePath() string  { return path.Join(f.dir, logFileName) }
func (f brainFiles) positionPath() string { return path.Join(f.dir, positionFileName) }

// readPosition reads the position in the stream. ok is false if no valid position exists.
func (f brainFiles) readPosition() (p replicaPosition, ok bool) {
	b, err := readFile(f.fsys, f.positionPath())
	if err != nil || len(b) < 4 {
		return p, false
	}
	if crc32.Checksum(b[4:], castagnoli) != binary.LittleEndian.Uint32(b) {
		return p, false
	}
	return p, json.Unmarshal(b[4:], &p) == nil
}

// writePosition replaces the file that records how far the brain's stream was read. If the position must survive a
// power failure, the caller must sync the log file first.
func (f brainFiles) writePosition(p replicaPosition) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	b = append(binary.LittleEndian.AppendUint32(nil, crc32.Checksum(b, castagnoli)), b...)
	return replaceFileAtomically(f.fsys, f.positionPath(), b)
}

// createDir prepares an empty directory for the brain (the memory). It creates the directory if it does not exist, and
// deletes the brain's old files in it.
func (f brainFiles) createDir() error {
	if _, err := f.fsys.Stat(f.dir); errors.Is(err, fs.ErrNotExist) {
		if err := errors.Join(f.fsys.MkdirAll(f.dir, 0o700), f.fsys.SyncDir(".")); err != nil {
			return err
		}
	}
	for _, n := range []string{f.positionPath(), f.logFilePath(), f.logFilePath() + index.FileSuffix, f.logFilePath() + ".snap",
		f.logFilePath() + ".words", f.logFilePath() + keytable.ForeignTextTableSuffix, f.logFilePath() + ".lock"} {
		if err := f.fsys.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// readLog returns the content of the log file. The caller must ensure that no change is in progress.
func (f brainFiles) readLog() ([]byte, error) { return readFile(f.fsys, f.logFilePath()) }

// syncLog makes the log file durable. If there is no log file, it does nothing.
func (f brainFiles) syncLog() error {
	h, err := f.fsys.OpenFile(f.logFilePath(), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(h.Sync(), h.Close())
}

func readFile(fsys vfs.FS, name string) ([]byte, error) {
	h, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(io.NewSectionReader(h, 0, info.Size()), b); err != nil {
		return nil, err
	}
	return b, nil
}

// replaceFileAtomically replaces the content of a file by b, and syncs the file and its directory. After a crash, the
// file has either the old content or the new content. The file name with ".new" appended is used for a temporary file.
func replaceFileAtomically(fsys vfs.FS, name string, b []byte) error {
	h, err := fsys.OpenFile(name+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = h.WriteAt(b, 0)
	err = errors.Join(err, h.Sync(), h.Close())
	if err != nil {
		return err
	}
	return errors.Join(fsys.Rename(name+".new", name), fsys.SyncDir(path.Dir(name)))
}

// unsyncedFS is a file system whose syncs do nothing. Changes that a crash loses are read again from the brain's
// stream on the servers.
type unsyncedFS struct{ vfs.FS }

// OpenFile implements [vfs.FS].
func (u unsyncedFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := u.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

type unsyncedFile struct{ vfs.File }

// Sync implements [vfs.File].
func (unsyncedFile) Sync() error { return nil }

// logFileRandomSource supplies random bytes for the log file of a brain (a memory in the cluster). The bytes are
// determined by the seed. Therefore every local copy of a brain has the same log file with the same chain of hashes.
type logFileRandomSource struct {
	seed               [32]byte
	generatedHashCount uint64
	unreadBytes        []byte
}

func newLogFileRandomSource(cluster, brain string, epoch uint64) *logFileRandomSource {
	return &logFileRandomSource{seed: sha256.Sum256(fmt.Appendf(nil, "oxbow log %s %s %d", cluster, brain, epoch))}
}

// Read implements [io.Reader].
func (r *logFileRandomSource) Read(b []byte) (int, error) {
	for i := range b {
		if len(r.unreadBytes) == 0 {
			h := sha256.Sum256(binary.LittleEndian.AppendUint64(r.seed[:], r.generatedHashCount))
			r.unreadBytes = h[:]
			r.generatedHashCount++
		}
		b[i], r.unreadBytes = r.unreadBytes[0], r.unreadBytes[1:]
	}
	return len(b), nil
}

// lockDirectory locks the root directory of fsys, so that only one process uses its files. If another process has the
// lock, the error matches [oxbow.ErrBusy] and contains inUseMessage. The caller must close the returned lock.
func lockDirectory(fsys vfs.FS, inUseMessage string) (vfs.Lock, error) {
	l, err := fsys.OpenLock("lock")
	if err != nil {
		return nil, err
	}
	if ok, err := l.TryLock(); err != nil || !ok {
		_ = l.Close()
		if err == nil {
			err = fmt.Errorf("%w: %s", oxbow.ErrBusy, inUseMessage)
		}
		return nil, err
	}
	return l, nil
}
