// This file implements EditsFile, the cache file of package agentedit. With this cache the
// package does not have to read the whole log each time.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	editsFileSuffix   = ".edits"
	maxEditsFileBytes = 64 << 20 // maximum size of the edits file in bytes
)

// newDisposableFileKind describes a derived file with this suffix to the log store. The log store deletes the file when
// it compacts the log or redacts an entry, because the file contains entry names or hashes of entry words. The log
// store never checks the content of the file. If the file is unusable, its reader computes the content anew.
func newDisposableFileKind(suffix string) logstore.DerivedFileKind {
	return logstore.DerivedFileKind{
		Suffix:                 suffix,
		IsValidAfterCompaction: neverValidAfterCompaction,
		Check:                  func(context.Context, logstore.CheckedFile) ([]Problem, error) { return nil, nil },
	}
}

// neverValidAfterCompaction is the function IsValidAfterCompaction of [logstore.DerivedFileKind] for files that every
// compaction deletes. It returns false.
func neverValidAfterCompaction(vfs.File, uint64, func(id, version uint64) bool) bool { return false }

// EditsFile is the file that package agentedit reads and writes. The file is stored next to the log of a memory. The
// file's content is derived from the log, so the file may be deleted at any time.
type EditsFile struct {
	db            *logstore.DB
	storeLogEpoch uint64
	readOnly      bool
}

// EditsFile returns an [EditsFile], which is a file next to the log. Package agentedit caches its results in this file,
// so that the package does not have to read the whole log. The returned EditsFile belongs to the current state of the
// log: the method EditsFile.Write does nothing after the log was rewritten. EditsFile returns nil if the store is not a
// log, or if m is only a part of a memory, as in package scope.
func (m *Memory) EditsFile() *EditsFile {
	d, ok := m.store.(*logstore.DB)
	if !ok {
		return nil
	}
	return &EditsFile{
		db:            d,
		storeLogEpoch: d.CurrentLogState(func() {}).LogEpoch,
		readOnly:      !m.opts.writesDerivedFiles(),
	}
}

// Read returns the content of the file, or nil if it cannot be read.
func (f *EditsFile) Read() []byte {
	file, err := f.db.DerivedFile(editsFileSuffix).Open()
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() > maxEditsFileBytes {
		return nil
	}
	data := make([]byte, info.Size())
	if n, err := file.ReadAt(data, 0); n < len(data) {
		_ = err // ignore the error: the file may have been replaced or truncated during the read
		return nil
	}
	return data
}

// Write replaces the content of the file. It does nothing if the memory may not write
// files, if another process is writing, or if the log was rewritten since the call of
// EditsFile. The caller can derive the content again.
func (f *EditsFile) Write(ctx context.Context, data []byte) {
	if f.readOnly || len(data) > maxEditsFileBytes {
		return
	}
	_ = f.db.DerivedFile(editsFileSuffix).Create(ctx, f.storeLogEpoch, func(file vfs.File) error {
		_, err := file.WriteAt(data, 0)
		return err
	})
}
