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

// maxFile is the maximum size of a file, 1 GiB. A page has at most 4 GiB of memory, and a file with a damaged length
// must not use up all of it.
const maxFile = 1 << 30

// readChunks is the number of chunks that one request reads: 4 MiB.
const readChunks = 256

var (
	errMode     = fmt.Errorf("%w: file is not open for that", fs.ErrPermission)
	errNegative = fmt.Errorf("%w: negative offset", fs.ErrInvalid)
	errLost     = fmt.Errorf("%w: the browser has thrown the file away", syscall.EIO)
)

// accessMode is the mask of the flags for reading and writing. A file is opened with exactly one of these flags.
const accessMode = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

// file is an open file.
type file struct {
	f      *FS
	ino    float64
	name   string
	flag   int
	open   *hold // prevents others from deleting the bytes when the file is removed
	closed atomic.Bool
}

var _ vfs.File = (*file)(nil)

// check returns an error if the file is closed, if off is negative, or if the file was opened with the access mode
// refused, such as os.O_RDONLY for a write.
func (o *file) check(off int64, refused int) error {
	switch {
	case o.closed.Load():
		return fs.ErrClosed
	case o.flag&accessMode == refused:
		return errMode
	case off < 0:
		return errNegative
	}
	return nil
}

// own returns the node of the file. It returns errLost if the database does not contain the node any more.
func (o *file) own(t *tx) (node, error) {
	n, ok, err := t.node(o.ino)
	if err == nil && !ok {
		err = errLost
	}
	return n, err
}

// chunksFrom returns the key range that contains chunk i of a file and all its later chunks.
func (f *FS) chunksFrom(ino, i float64) js.Value {
	return f.ranges.Call("bound", []any{ino, i}, []any{ino, []any{}})
}

func (o *file) ReadAt(p []byte, off int64) (n int, err error) {
	if err := o.check(off, os.O_WRONLY); err != nil {
		return 0, pathError("read", o.name, err)
	}
	switch {
	case len(p) == 0:
		return 0, nil
	case off >= maxFile:
		return 0, io.EOF
	}
	err = o.f.view(func(t *tx) error {
		own, err := ask(t.nodes, "get", o.ino)
		if err != nil {
			return err
		}
		// The first chunks are requested before the length is known, so that both requests take one wait.
		first, last := off/chunkSize, min(off+int64(len(p)), maxFile)/chunkSize
		rows, err := t.askChunks(o, first, min(last, first+readChunks-1))
		if err != nil {
			return err
		}
		v, err := own.wait()
		row, ok := decodeNode(v)
		if err == nil && !ok {
			err = errLost
		}
		n = int(max(0, min(int64(len(p)), row.size-off)))
		clear(p[:n])
		for {
			v, rerr := rows.wait()
			err = cmp.Or(err, rerr)
			if err != nil {
				return err
			}
			for i := range v.Length() {
				copyChunk(p[:n], off, v.Index(i))
			}
			first += readChunks
			if first > last || first*chunkSize >= off+int64(n) {
				return nil
			}
			rows, err = t.askChunks(o, first, min(last, first+readChunks-1))
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

// askChunks requests the chunks from first to last of a file. The answer contains also the chunk last.
func (t *tx) askChunks(o *file, first, last int64) (*pending, error) {
	return ask(t.chunks, "getAll", o.f.ranges.Call("bound",
		[]any{o.ino, float64(first)}, []any{o.ino, float64(last)}))
}

// copyChunk copies the bytes of a stored chunk into p. p contains the bytes of the file from offset off on.
func copyChunk(p []byte, off int64, row js.Value) {
	at, b := int64(number(row, "i"))*chunkSize, row.Get("b")
	if at < off {
		b, at = b.Call("subarray", int(off-at)), off
	}
	if at-off < int64(len(p)) {
		js.CopyBytesToGo(p[at-off:], b)
	}
}

func (o *file) WriteAt(p []byte, off int64) (int, error) {
	err := o.check(off, os.O_RDONLY)
	if err == nil && off > maxFile-int64(len(p)) {
		err = vfs.ErrTooLarge
	}
	if err == nil && len(p) > 0 { // Writing nothing beyond the end does not extend the file.
		err = o.f.update(relaxed, func(t *tx) error { return o.write(t, p, off) })
	}
	if err != nil {
		return 0, pathError("write", o.name, err)
	}
	return len(p), nil
}

func (o *file) write(t *tx, p []byte, off int64) error {
	n, err := o.own(t)
	if err != nil {
		return err
	}
	end := off + int64(len(p))
	buf := make([]byte, chunkSize)
	for i := off / chunkSize; i*chunkSize < end; i++ {
		at := i * chunkSize
		from, to := max(off, at), min(end, at+chunkSize)
		have := 0
		isPart := from > at || to < at+chunkSize // whether some bytes of the chunk are not overwritten
		if isPart && at < n.size {
			have, err = t.readChunk(o.ino, i, buf)
			if err != nil {
				return err
			}
		}
		clear(buf[have:])
		copy(buf[from-at:], p[from-off:to-off])
		if err := t.putChunk(o.ino, i, buf[:max(int64(have), to-at)]); err != nil {
			return err
		}
	}
	n.size, n.mod = max(n.size, end), o.f.stamp(n.mod)
	return t.put(n)
}

// readChunk reads chunk i into buf. It returns how many bytes of the chunk are stored; all later bytes are zeros.
func (t *tx) readChunk(ino float64, i int64, buf []byte) (int, error) {
	row, err := get(t.chunks, "get", []any{ino, float64(i)})
	if err != nil || row.Type() != js.TypeObject {
		return 0, err
	}
	return js.CopyBytesToGo(buf, row.Get("b")), nil
}

// putChunk stores a chunk without the zeros at its end. It stores nothing if all bytes are zeros.
func (t *tx) putChunk(ino float64, i int64, b []byte) error {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	key := []any{ino, float64(i)}
	if len(b) == 0 {
		return tell(t.chunks, "delete", js.ValueOf(key))
	}
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return tell(t.chunks, "put", map[string]any{"i": float64(i), "b": array}, js.ValueOf(key))
}

func (o *file) Truncate(size int64) error {
	err := o.check(size, os.O_RDONLY)
	if err == nil && size > maxFile {
		err = vfs.ErrTooLarge
	}
	if err == nil {
		err = o.f.update(relaxed, func(t *tx) error {
			n, err := o.own(t)
			if err != nil {
				return err
			}
			return o.f.truncate(t, n, size)
		})
	}
	return pathError("truncate", o.name, err)
}

// truncate sets the size of a file and deletes the chunks beyond it.
func (f *FS) truncate(t *tx, n node, size int64) error {
	if size < n.size {
		i, part := size/chunkSize, size%chunkSize
		if part > 0 {
			buf := make([]byte, chunkSize)
			have, err := t.readChunk(n.ino, i, buf)
			if err == nil && int64(have) > part {
				err = t.putChunk(n.ino, i, buf[:part])
			}
			if err != nil {
				return err
			}
			i++
		}
		if err := tell(t.chunks, "delete", f.chunksFrom(n.ino, float64(i))); err != nil {
			return err
		}
	}
	n.size, n.mod = size, f.stamp(n.mod)
	return t.put(n)
}

// Sync waits until the file and all earlier writes are on stable storage.
func (o *file) Sync() error {
	err := o.check(0, -1)
	if err == nil {
		err = o.f.update(strict, func(t *tx) error {
			n, err := o.own(t)
			if err != nil {
				return err
			}
			// The node is written although it has not changed. The browser waits for stable storage only at the end of
			// a transaction that writes something.
			return t.put(n)
		})
	}
	return pathError("sync", o.name, err)
}

func (o *file) Stat() (fs.FileInfo, error) {
	var n node
	err := o.check(0, -1)
	if err == nil {
		err = o.f.view(func(t *tx) (err error) {
			n, err = o.own(t)
			return err
		})
	}
	if err != nil {
		return nil, pathError("stat", o.name, err)
	}
	return o.f.info(n, path.Base(o.name)), nil
}

// Close closes the file. If the file was removed and nobody else has it open, Close deletes its bytes.
func (o *file) Close() error {
	if o.closed.Swap(true) {
		return pathError("close", o.name, fs.ErrClosed)
	}
	o.open.free()
	gone := false
	err := o.f.view(func(t *tx) error {
		n, ok, err := t.node(o.ino)
		gone = ok && n.dir == 0
		return err
	})
	o.open.release()
	if err == nil && gone {
		o.f.reap(o.ino)
	}
	return nil
}
