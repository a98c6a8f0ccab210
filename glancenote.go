// This file holds what glances leave beside the store, so that there is an end of
// them, and how the index is made before anybody asks.

package oxbow

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/oxbow-memory/oxbow/internal/bm25"
	"github.com/oxbow-memory/oxbow/vfs"
)

// mostGlances is how many processes may glance before one makes the index: about
// as many as take the time of making it.
const mostGlances = 8

// glanceMark is the byte that stands for each of them in the index file.
const glanceMark = '.'

// glancesIn returns how many glances a file in the place of the index file
// counts, 0 when it is none of those.
func glancesIn(f vfs.File) (int, error) {
	info, err := f.Stat()
	if err != nil || info.Size() >= indexHeadSize {
		return 0, err
	}
	b := make([]byte, info.Size())
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return 0, err
	}
	if len(bytes.Trim(b, string(glanceMark))) > 0 {
		return 0, nil
	}
	return len(b), nil
}

// glances returns how many glances were noted beside the store.
func (d *db) glances() int {
	f, err := d.fs.OpenFile(d.indexName(), os.O_RDONLY, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	n, err := glancesIn(f)
	if err != nil {
		return 0
	}
	return n
}

// noteGlance notes that a process glanced for want of an index file, unless
// another process has made one meanwhile. One that was found to be damaged goes.
func (d *db) noteGlance(ranking string, damaged bool) error {
	return d.besideWriters(func() error {
		if err := d.catchUp(); err != nil {
			return err
		}
		if !damaged && d.hasIndex(ranking) {
			return nil
		}
		n := min(d.glances()+1, mostGlances)
		return vfs.WriteDerived(d.fs, d.indexName(), 0o600, bytes.Repeat([]byte{glanceMark}, n))
	})
}

// hasIndex reports whether there is an index file of the log. logmu is held.
func (d *db) hasIndex(ranking string) bool {
	f, err := d.fs.OpenFile(d.indexName(), os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	h, err := readIndexHead(f)
	if err != nil || h.ranking != ranking || !h.fits(d.log) {
		return false
	}
	if _, err := h.readRows(f); err != nil {
		return false
	}
	_, err = bm25.OpenImage(io.NewSectionReader(f, h.imageAt(), h.image), h.image, paramsOf(ranking))
	return err == nil
}

// onlyGlanced reports whether the memory did without an index.
func (m *Memory) onlyGlanced() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.hadGlance && m.shelf == nil
}

// MakeIndex makes the index now, and with it the index file ([IndexSuffix]) when
// the memory is closed, so that the next recall need not wait for it. It is for
// programs that have just written much, and worth nothing to others. A memory
// over another store than oxbow's own has no such file: nothing is done.
func (m *Memory) MakeIndex(ctx context.Context) error {
	if _, ok := m.store.(*db); !ok {
		return nil
	}
	return m.fresh(ctx)
}
