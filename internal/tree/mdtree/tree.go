// This file reads files in the directory of a store or dump, and changes several files atomically.
//
// It takes several steps to replace the files of a directory. Therefore a change is staged in a separate directory,
// and committed by writing a journal (see package journal). Before the journal is in its place, no file of the tree
// has changed, and the next writer deletes the staged files. Afterwards the change is valid: the next writer completes
// it, and a reader that cannot write reads the staged files instead.

package mdtree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// maxEntryFileBytes is the maximum size, in bytes, of a file with entries. It leaves much more room around
// the content than a file needs.
const maxEntryFileBytes = 4*oxbow.MaxContent + 1<<20

// fileTree is a directory of files. Paths are relative to it.
type fileTree struct {
	fs          vfs.FS
	dir         string // path in fs
	stagingArea journal.StagingDir

	// newTextFileByPath maps each file that an incomplete change writes to the file with the new text. It maps each
	// file that this change removes to "". The map is nil unless [fileTree.simulateCompletedChange] has set it.
	newTextFileByPath map[string]string

	syncedDirs map[string]bool // directories whose creation is durable, because their parent directories were synced
	movedDirs  map[string]bool // new directories that finishChange moved from the staging area to the tree as a whole
	dirPerm    fs.FileMode     // mode of new directories

	// keepsEditedFiles specifies what happens to a file that was edited between the planning and the execution of a
	// change. If it is set, the edited file is kept and the change to this file is dropped. Otherwise, the edited file
	// is renamed to a conflict copy, and warn is called.
	keepsEditedFiles bool
	warn             func(format string, args ...any)

	removesEmptyDirs bool // directories that become empty by a change are removed at the end of the change
	// Files that list all entries. Such a file may be as large as a journal.
	entryListFiles      []string
	minFilesForBulkSync int // minimum number of staged files for which the whole file system is synced at once
}

func newTree(fsys vfs.FS, dir, stagingDir string) fileTree {
	return fileTree{fs: fsys, dir: dir, stagingArea: journal.StagingDir{FS: fsys, Home: dir, Name: stagingDir},
		syncedDirs: map[string]bool{}, movedDirs: map[string]bool{}, dirPerm: 0o755,
		minFilesForBulkSync: filesPerWorker}
}

// fullPath converts the path p, which is relative to the tree's directory, to a path for the file system t.fs.
func (t *fileTree) fullPath(p string) string {
	if t.dir == "." {
		return p
	}
	return path.Join(t.dir, p)
}

// readBuffers contains buffers that are used again for each file that is read. A reader copies the text from the
// buffer to a string.
var readBuffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// errNotFile is returned if a name does not belong to a regular file.
var errNotFile = errors.New("not a regular file")

// openForReading opens a file for reading. If a change is incomplete, it opens the staged file.
func (t *fileTree) openForReading(filePath string) (vfs.File, error) {
	if staged, ok := t.newTextFileByPath[filePath]; ok {
		if staged == "" {
			return nil, fs.ErrNotExist
		}
		f, err := t.openFile(staged)
		// the file may be missing because another writer has just moved it to the final place
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return t.openFile(t.fullPath(filePath))
}

func (t *fileTree) openFile(name string) (vfs.File, error) {
	f, err := t.fs.OpenFile(name, os.O_RDONLY, 0)
	if err == nil {
		return f, nil
	}
	if info, serr := t.fs.Stat(name); serr == nil && !info.Mode().IsRegular() {
		return nil, errNotFile
	}
	return nil, err
}

// readText returns the text of a file, and the file's metadata from before the read. If the file has more than limit
// bytes, the error matches [vfs.ErrTooLarge]. If another program writes the file during the read, the caller can notice
// the write, because a later Stat then returns other metadata.
func (t *fileTree) readText(p string, limit int64) (string, fs.FileInfo, error) {
	f, err := t.openForReading(p)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", nil, err
	}
	if info.Size() > limit {
		return "", info, fmt.Errorf("%w: it has %d bytes, the most is %d", vfs.ErrTooLarge, info.Size(), limit)
	}
	scratch := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(scratch)
	buf := *scratch
	if int64(len(buf)) <= info.Size() {
		buf = make([]byte, info.Size()+1)
	}
	for n := 0; ; {
		k, err := f.ReadAt(buf[n:], int64(n))
		n += k
		switch {
		case int64(n) > limit:
			return "", info, fmt.Errorf("%w: the most is %d bytes", vfs.ErrTooLarge, limit)
		case errors.Is(err, io.EOF):
			return string(buf[:n]), info, nil
		case err != nil:
			return "", info, err
		}
		if n == len(buf) {
			buf = append(buf, make([]byte, n)...)
		}
	}
}

// maxFileSize returns the maximum size of a file in bytes.
func (t *fileTree) maxFileSize(filePath string) int64 {
	if slices.Contains(t.entryListFiles, filePath) {
		return journal.MaxJournalBytes
	}
	return maxEntryFileBytes
}

// hashFile returns the hash of a file, or "" if it does not exist.
func (t *fileTree) hashFile(p string) (string, error) {
	if slices.Contains(t.entryListFiles, p) {
		return t.hashFileStream(p)
	}
	text, _, err := t.readText(p, t.maxFileSize(p))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}
	return journal.HexSum([]byte(text)), nil
}

// hashFileStream returns the hash of a file, or "" if it does not exist. It does not need memory for the
// whole file.
func (t *fileTree) hashFileStream(filePath string) (string, error) {
	f, err := t.openFile(t.fullPath(filePath))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, math.MaxInt64)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// nameExists reports whether fs contains a file or directory with that name.
func (t *fileTree) nameExists(name string) (bool, error) {
	_, err := t.fs.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// createAndSyncDir creates a directory and its parents, and syncs the names of all these directories. It also syncs
// directories that existed already, because the process that created them may have ended before the sync. Each
// directory is synced only once. The caller must hold the lock that keeps other processes from changing the tree.
func (t *fileTree) createAndSyncDir(dir string) error {
	if dir == "." {
		return nil
	}
	if _, err := t.fs.Stat(t.fullPath(dir)); err != nil {
		delete(t.syncedDirs, dir)
	}
	if t.syncedDirs[dir] {
		return nil
	}
	if err := t.fs.MkdirAll(t.fullPath(dir), t.dirPerm); err != nil {
		return err
	}
	for p := dir; p != "."; p = path.Dir(p) {
		if err := t.fs.SyncDir(t.fullPath(path.Dir(p))); err != nil {
			return err
		}
	}
	t.syncedDirs[dir] = true
	return nil
}

// These constants limit how new files are staged. Several workers are faster, because a sync waits for the disk, and
// file systems can complete several syncs with a single write of their journal. If each file is synced on its own,
// every worker stages at least filesPerWorker files. Therefore a single worker stages all files, in order, if there are
// only a few. If the files are synced together, this minimum does not apply.
const (
	maxStagingWorkers = 8
	filesPerWorker    = 64
)

// stagedFile is a new file that is first written to the staging directory and later moved to its place.
type stagedFile struct {
	name string
	data []byte
	perm fs.FileMode

	// writeContent writes the content. writeContent is nil unless the file is so large that it should not be in memory
	// as a whole.
	writeContent func(w io.Writer) error
}

// A stagedFileFunc returns the i-th file to be staged. It may store the content in buf, which a worker reuses for
// all calls.
type stagedFileFunc func(i int, buf *[]byte) (stagedFile, error)

// stageFiles writes and syncs fileCount new files. If there are many files and the file system supports it,
// stageFiles syncs all files together.
func (t *fileTree) stageFiles(ctx context.Context, fileCount int, getStagedFile stagedFileFunc) error {
	if err := t.fs.MkdirAll(t.fullPath(t.stagingArea.Name), t.dirPerm); err != nil {
		return err
	}
	opened := vfs.OpenDirsOnce(t.fs)
	defer opened.Close()
	stage := t.stagingArea
	stage.FS = opened
	if bulk, ok := t.fs.(vfs.BulkSyncer); ok && fileCount >= t.minFilesForBulkSync {
		err := bulk.SyncAfter(t.fullPath(t.stagingArea.Name), func() error {
			// Use a single worker. A file system creates only one file in a directory at a time, so that several
			// workers would mostly wait.
			return t.writeFiles(ctx, fileCount, 1, getStagedFile, func(f stagedFile) error {
				if f.writeContent != nil {
					return stage.CreateStreamedFile(f.name, f.perm, f.writeContent)
				}
				return stage.CreateFile(f.name, f.data, f.perm)
			})
		})
		if !errors.Is(err, vfs.ErrUnsupported) {
			return err
		}
	}
	return t.writeFiles(
		ctx,
		fileCount,
		min(maxStagingWorkers, 1+fileCount/filesPerWorker),
		getStagedFile,
		func(f stagedFile) error {
			if f.writeContent != nil {
				return stage.CreateStreamedFileSync(f.name, f.perm, f.writeContent)
			}
			return stage.CreateFileSync(f.name, f.data, f.perm)
		},
	)
}

// writeFiles writes fileCount new files, in as many goroutines as the parameter workers says. For each index from 0 to
// fileCount-1, a goroutine calls the function getStagedFile, which returns the file with this index. It then calls the
// function putFile, which writes the file. writeFiles stops after the first error and returns this error.
func (t *fileTree) writeFiles(
	ctx context.Context,
	fileCount, workers int,
	getStagedFile stagedFileFunc,
	putFile func(stagedFile) error,
) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var buf []byte
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= fileCount {
					return
				}
				f, err := getStagedFile(i, &buf)
				if err == nil {
					err = putFile(f)
				}
				if err != nil {
					stop(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// simulateCompletedChange makes [fileTree.readText] return the files as they will be when the change in the journal j
// is complete. If j is nil, readText returns the files as they are now.
func (t *fileTree) simulateCompletedChange(j *journal.Journal) error {
	t.newTextFileByPath = nil
	if j == nil {
		return nil
	}
	overlay := map[string]string{}
	for i, c := range j.Writes {
		staged, err := t.nameExists(t.stagingArea.StagedFile(i))
		if err != nil {
			return err
		}
		if staged && t.keepsEditedFiles {
			sum, err := t.hashFile(c.Path)
			if err != nil {
				return err
			}
			staged = sum == "" || sum == c.OldFileHash || sum == c.NewFileHash
		}
		if staged {
			overlay[c.Path] = t.stagingArea.StagedFile(i)
		}
	}
	for _, r := range j.Removals {
		if sum, err := t.hashFile(r.Path); err == nil && sum == r.OldFileHash {
			overlay[r.Path] = ""
		}
	}
	for _, d := range j.NewDirs {
		if err := t.addStagedDir(d, overlay); err != nil {
			return err
		}
	}
	t.newTextFileByPath = overlay
	return nil
}

// addStagedDir searches the staging directory of dir for new files. An interrupted change can leave such files. If no
// file has the final path yet, addStagedDir adds the file to the map stagedPathByFinalPath. The key is the final path,
// and the value is the path in the staging directory.
func (t *fileTree) addStagedDir(dir string, stagedPathByFinalPath map[string]string) error {
	items, err := t.fs.ReadDir(t.stagingArea.StagedPath(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, it := range items {
		p := path.Join(dir, it.Name())
		there, err := t.nameExists(t.fullPath(p))
		if err != nil {
			return err
		}
		if !there {
			stagedPathByFinalPath[p] = t.stagingArea.StagedPath(p)
		}
	}
	return nil
}

// removeTemps deletes leftover temporary files in a directory.
func (t *fileTree) removeTemps(dir string) {
	items, err := t.fs.ReadDir(t.fullPath(dir))
	if err != nil {
		return // ignore the error: the directory does not exist, or the next listing of it returns the same error
	}
	for _, it := range items {
		if isTemp(it.Name()) {
			// Ignore the error, because a leftover temporary file does no harm.
			_ = t.fs.Remove(t.fullPath(path.Join(dir, it.Name())))
		}
	}
}

// isTemp reports whether [vfs.WriteFile] uses the name for a temporary file: a name, 16 hexadecimal
// digits, and .tmp.
func isTemp(name string) bool {
	_, ok := vfs.TempOf(name)
	return ok
}
