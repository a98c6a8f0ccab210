// This file implements open files: reading, writing and truncating.

package browser

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync/atomic"
	"syscall"
	"syscall/js"

	"github.com/oxbow-memory/oxbow/vfs"
)

// maxFileBytes is the maximum size of a file, 1 GiB. Because the program has at most 4 GiB of memory in a browser, a
// file with a damaged length must not use up all memory.
const maxFileBytes = 1 << 30

// chunksPerRead is how many chunks, which are parts of a file, one request to the browser reads: 4 MiB.
const chunksPerRead = 256

var (
	errWrongMode      = fmt.Errorf("%w: file is not open for that", fs.ErrPermission)
	errNegativeOffset = fmt.Errorf("%w: negative offset", fs.ErrInvalid)
	errFileDeleted    = fmt.Errorf("%w: the browser has thrown the file away", syscall.EIO)
)

// accessMode is the mask of the flags for reading and writing. A file is opened with exactly one of these flags.
const accessMode = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

// file is an open file.
type file struct {
	fileSystem *FS
	nodeNumber float64
	name       string
	flag       int
	// prevents others from deleting the file's bytes while the file is open, even after its name was removed
	openWebLock *acquiredLock
	isClosed    atomic.Bool
}

var _ vfs.File = (*file)(nil)

// checkAccess returns an error if the file is closed, if off is negative, or if the file was opened in the access mode
// refusedMode. For a write, the caller passes os.O_RDONLY as refusedMode.
func (o *file) checkAccess(off int64, refusedMode int) error {
	switch {
	case o.isClosed.Load():
		return fs.ErrClosed
	case o.flag&accessMode == refusedMode:
		return errWrongMode
	case off < 0:
		return errNegativeOffset
	}
	return nil
}

// readNode returns the node of the file. It returns errFileDeleted if the database does not contain the node any more.
func (o *file) readNode(t *transaction) (node, error) {
	n, ok, err := t.readNode(o.nodeNumber)
	if err == nil && !ok {
		err = errFileDeleted
	}
	return n, err
}

// chunkKeyRange returns the key range that contains chunk i of a file and all its later chunks.
func (f *FS) chunkKeyRange(ino, i float64) js.Value {
	return f.keyRangeClass.Call("bound", []any{ino, i}, []any{ino, []any{}})
}

func (o *file) ReadAt(p []byte, off int64) (n int, err error) {
	if err := o.checkAccess(off, os.O_WRONLY); err != nil {
		return 0, pathError("read", o.name, err)
	}
	switch {
	case len(p) == 0:
		return 0, nil
	case off >= maxFileBytes:
		return 0, io.EOF
	}
	err = o.fileSystem.viewTransaction(func(t *transaction) error {
		own, err := startRequest(t.nodeObjects, "get", o.nodeNumber)
		if err != nil {
			return err
		}
		// Request the first chunks before the file's length is known, so that the program waits only once for both
		// answers.
		first, last := off/chunkSize, min(off+int64(len(p)), maxFileBytes)/chunkSize
		rows, err := t.requestChunks(o, first, min(last, first+chunksPerRead-1))
		if err != nil {
			return err
		}
		v, err := own.waitForAnswer()
		row, ok := decodeNode(v)
		if err == nil && !ok {
			err = errFileDeleted
		}
		n = int(max(0, min(int64(len(p)), row.size-off)))
		clear(p[:n])
		for {
			v, rerr := rows.waitForAnswer()
			err = cmp.Or(err, rerr)
			if err != nil {
				return err
			}
			for i := range v.Length() {
				copyFromChunk(p[:n], off, v.Index(i))
			}
			first += chunksPerRead
			if first > last || first*chunkSize >= off+int64(n) {
				return nil
			}
			rows, err = t.requestChunks(o, first, min(last, first+chunksPerRead-1))
			if err != nil {
				return err
			}
		}
	})
	switch {
	case err != nil:
		return 0, pathError("read", o.name, err)
	case n < len(p):
		return n, io.EOF
	}
	return n, nil
}

// requestChunks requests the parts (chunks) of a file with the numbers from first to last, including last.
func (t *transaction) requestChunks(o *file, first, last int64) (*pendingAnswer, error) {
	return startRequest(t.chunkObjects, "getAll", o.fileSystem.keyRangeClass.Call("bound",
		[]any{o.nodeNumber, float64(first)}, []any{o.nodeNumber, float64(last)}))
}

// copyFromChunk copies the bytes of the stored chunk row into p. off is the offset in the file of the first byte of p.
// Bytes of the chunk outside this range are ignored.
func copyFromChunk(p []byte, off int64, row js.Value) {
	at, b := int64(numberProperty(row, "i"))*chunkSize, row.Get("b")
	if at < off {
		b, at = b.Call("subarray", int(off-at)), off
	}
	if at-off < int64(len(p)) {
		js.CopyBytesToGo(p[at-off:], b)
	}
}

func (o *file) WriteAt(p []byte, off int64) (int, error) {
	err := o.checkAccess(off, os.O_RDONLY)
	if err == nil && off > maxFileBytes-int64(len(p)) {
		err = vfs.ErrTooLarge
	}
	if err == nil && len(p) > 0 { // A write of no bytes does not extend the file, even if off is beyond its end.
		err = o.fileSystem.updateTransaction(durabilityRelaxed, func(t *transaction) error {
			return o.writeChunks(t, p, off)
		})
	}
	if err != nil {
		return 0, pathError("write", o.name, err)
	}
	return len(p), nil
}

func (o *file) writeChunks(t *transaction, p []byte, off int64) error {
	n, err := o.readNode(t)
	if err != nil {
		return err
	}
	end := off + int64(len(p))
	buf := make([]byte, chunkSize)
	for i := off / chunkSize; i*chunkSize < end; i++ {
		at := i * chunkSize
		from, to := max(off, at), min(end, at+chunkSize)
		have := 0
		// the write does not overwrite the whole chunk, so the chunk's other bytes must be kept
		isPart := from > at || to < at+chunkSize
		if isPart && at < n.size {
			have, err = t.readChunk(o.nodeNumber, i, buf)
			if err != nil {
				return err
			}
		}
		clear(buf[have:])
		copy(buf[from-at:], p[from-off:to-off])
		if err := t.writeChunk(o.nodeNumber, i, buf[:max(int64(have), to-at)]); err != nil {
			return err
		}
	}
	n.size, n.modTimeMillis = max(n.size, end), o.fileSystem.nextChangeTime(n.modTimeMillis)
	return t.writeNode(n)
}

// readChunk reads the i-th chunk of the file with the number ino into buf. A chunk has a fixed size. readChunk returns
// how many bytes of the chunk are stored. All later bytes of the chunk are zeros.
func (t *transaction) readChunk(ino float64, i int64, buf []byte) (int, error) {
	row, err := runRequest(t.chunkObjects, "get", []any{ino, float64(i)})
	if err != nil || row.Type() != js.TypeObject {
		return 0, err
	}
	return js.CopyBytesToGo(buf, row.Get("b")), nil
}

// writeChunk stores the chunk i of a file without the zeros at its end. If all bytes are zeros, writeChunk deletes the
// stored chunk, because a missing chunk is read as zeros.
func (t *transaction) writeChunk(ino float64, i int64, b []byte) error {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	key := []any{ino, float64(i)}
	if len(b) == 0 {
		return sendRequest(t.chunkObjects, "delete", js.ValueOf(key))
	}
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return sendRequest(t.chunkObjects, "put", map[string]any{"i": float64(i), "b": array}, js.ValueOf(key))
}

func (o *file) Truncate(size int64) error {
	err := o.checkAccess(size, os.O_RDONLY)
	if err == nil && size > maxFileBytes {
		err = vfs.ErrTooLarge
	}
	if err == nil {
		err = o.fileSystem.updateTransaction(durabilityRelaxed, func(t *transaction) error {
			n, err := o.readNode(t)
			if err != nil {
				return err
			}
			return o.fileSystem.truncateNode(t, n, size)
		})
	}
	return pathError("truncate", o.name, err)
}

// truncateNode sets the size of a file and deletes the chunks beyond it.
func (f *FS) truncateNode(t *transaction, n node, size int64) error {
	if size < n.size {
		i, part := size/chunkSize, size%chunkSize
		if part > 0 {
			buf := make([]byte, chunkSize)
			have, err := t.readChunk(n.number, i, buf)
			if err == nil && int64(have) > part {
				err = t.writeChunk(n.number, i, buf[:part])
			}
			if err != nil {
				return err
			}
			i++
		}
		if err := sendRequest(t.chunkObjects, "delete", f.chunkKeyRange(n.number, float64(i))); err != nil {
			return err
		}
	}
	n.size, n.modTimeMillis = size, f.nextChangeTime(n.modTimeMillis)
	return t.writeNode(n)
}

// Sync waits until the file and all earlier writes are on stable storage.
func (o *file) Sync() error {
	err := o.checkAccess(0, -1)
	if err == nil {
		err = o.fileSystem.updateTransaction(durabilityStrict, func(t *transaction) error {
			n, err := o.readNode(t)
			if err != nil {
				return err
			}
			// Write the node, although it has not changed. The browser makes earlier changes durable only at the end of
			// a transaction that writes data.
			return t.writeNode(n)
		})
	}
	return pathError("sync", o.name, err)
}

func (o *file) Stat() (fs.FileInfo, error) {
	var n node
	err := o.checkAccess(0, -1)
	if err == nil {
		err = o.fileSystem.viewTransaction(func(t *transaction) (err error) {
			n, err = o.readNode(t)
			return err
		})
	}
	if err != nil {
		return nil, pathError("stat", o.name, err)
	}
	return o.fileSystem.newNodeInfo(n, path.Base(o.name)), nil
}

// Close closes the file. If the file was removed and nobody else has it open, Close deletes the bytes.
func (o *file) Close() error {
	if o.isClosed.Swap(true) {
		return pathError("close", o.name, fs.ErrClosed)
	}
	o.openWebLock.startRelease()
	gone := false
	err := o.fileSystem.viewTransaction(func(t *transaction) error {
		n, ok, err := t.readNode(o.nodeNumber)
		gone = ok && n.parentNumber == 0
		return err
	})
	o.openWebLock.releaseAndWait()
	if err == nil && gone {
		o.fileSystem.deleteUnusedBytes(o.nodeNumber)
	}
	return nil
}
