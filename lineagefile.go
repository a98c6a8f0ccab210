// This file implements LineageFile. In this file, package lineage stores the word sequences of a memory's history.
// Therefore package lineage can find the sources of a text without reading the whole log each time.

package oxbow

import (
	"context"
	"io"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

const lineageFileSuffix = ".words"

// LineageFile is a file next to the log of a memory. Package lineage reads and writes this file. The file is derived
// from the log and may be deleted at any time.
type LineageFile struct {
	db       *logstore.DB
	epoch    uint64
	readOnly bool
}

// LineageFile returns the file that stores results computed from the whole history of the memory's log. It returns nil
// if m does not show the whole history of a log. For example, a memory that was restricted by the package scope shows
// only a part of another memory. The option [Options.History] can replace the history by another history.
func (m *Memory) LineageFile() *LineageFile {
	h, err := m.History()
	if err != nil {
		return nil
	}
	d, ok := store.ReadHistory(h).(*logstore.DB)
	if !ok {
		return nil
	}
	return &LineageFile{db: d, epoch: d.CurrentLogState(func() {}).LogEpoch, readOnly: !m.opts.writesDerivedFiles()}
}

// Open opens the file for reading. The caller must close it.
func (f *LineageFile) Open() (vfs.File, error) { return f.db.DerivedFile(lineageFileSuffix).Open() }

// Versions returns the versions that change number seq wrote, in their order. For the version with the index i in the
// change, Versions calls the function wanted with i. It leaves out the version if this function returns false. If the
// log does not contain the change, Versions returns nil.
func (f *LineageFile) Versions(seq uint64, wanted func(i int) bool) ([]Version, error) {
	c, _, err := f.db.ReadChangePart(seq, wanted)
	return c.Versions, err
}

// Write replaces the content of the file. It calls its parameter write, which must write the new content. Write does
// nothing if the memory may not write files, if another process is writing, or if the log was rewritten since the call
// of [Memory.LineageFile]. Errors are ignored, because the file contains only data that the caller can compute again
// from the log.
func (f *LineageFile) Write(ctx context.Context, write func(io.WriterAt) error) {
	if f.readOnly {
		return
	}
	_ = f.db.DerivedFile(lineageFileSuffix).Create(ctx, f.epoch, func(file vfs.File) error { return write(file) })
}
