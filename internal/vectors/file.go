// This file stores vectors on disk: a header, followed by records of equal length.
//
// The file can be deleted at any time, because it can be computed again from the memory with the
// endpoint. A damaged record is ignored. The whole file is ignored if it is for a different
// endpoint or model. The last record of an entry replaces the entry's earlier records. Integers and
// floats are little-endian:
//
//	header: "oxbow vectors 1\n", 16 bytes of SHA-256 over endpoint and model,
//	        u32 dimension of the vectors, u32 CRC32C over the 36 bytes before
//	record: u64 ID, u64 version, 16 bytes of SHA-256 over the text, f32 scale,
//	        the numbers as int8, u32 CRC32C over the bytes before

package vectors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	fileMagic        = "oxbow vectors 1\n"
	headerSize       = len(fileMagic) + 16 + 4 + 4
	rowOverheadBytes = 8 + 8 + 16 + 4 + 4 // number of bytes in a row without its vector's numbers

	maxDimension = 1 << 16 // maximum number of elements in a vector, which is higher than in every model's vectors
	maxFileSize  = 8 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// vectorFile stores the rows of an index in a file.
type vectorFile struct {
	fsys      vfs.FS // file system of the file; nil means that rows are not stored
	name      string
	key       [16]byte // hash of the endpoint and the model, which the header contains
	size      int64    // number of valid bytes in the file (0 means that the file must be created)
	newRows   []byte   // computed vectors, in the file's format, that are not in the file yet
	dimension int      // number of elements in each vector (0 if it is unknown)
}

// readRows adds the vectors in the file to rows, by the ID of the entry. If the file cannot be read, is damaged, or
// belongs to another endpoint or model, readRows adds nothing, and the vectors are computed again.
func (f *vectorFile) readRows(rows map[uint64]storedVector) {
	if f.fsys == nil {
		return
	}
	b, err := vfs.ReadFile(f.fsys, f.name, maxFileSize)
	if err != nil || len(b) < headerSize {
		return
	}
	dimension := int(binary.LittleEndian.Uint32(b[headerSize-8:]))
	if !bytes.Equal(b[:headerSize], f.encodeHeader(dimension)) {
		// Do not use the file's vectors: the file is damaged, or the vectors come from another endpoint or model.
		return
	}
	f.dimension = dimension
	f.size = int64(headerSize)
	for record := range slices.Chunk(b[headerSize:], rowOverheadBytes+f.dimension) {
		if id, r, ok := decodeRow(record, f.dimension); ok {
			rows[id] = r
		}
		if len(record) == rowOverheadBytes+f.dimension {
			f.size += int64(len(record))
		}
	}
}

// encodeHeader returns the header of a file with vectors. The parameter dimension is the number of elements in each
// vector.
func (f *vectorFile) encodeHeader(dimension int) []byte {
	b := append([]byte(fileMagic), f.key[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(dimension))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func appendRow(b []byte, id uint64, r storedVector) []byte {
	from := len(b)
	b = binary.LittleEndian.AppendUint64(b, id)
	b = binary.LittleEndian.AppendUint64(b, r.entryVersion)
	b = append(b, r.textHash[:]...)
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(r.numberScale))
	for _, n := range r.roundedNumbers {
		b = append(b, byte(n))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// decodeRow decodes a row whose vector has dimension elements. ok is false if the row is damaged.
func decodeRow(b []byte, dimension int) (id uint64, r storedVector, ok bool) {
	if len(b) != rowOverheadBytes+dimension || dimension > maxDimension {
		return 0, r, false
	}
	if binary.LittleEndian.Uint32(b[len(b)-4:]) != crc32.Checksum(b[:len(b)-4], castagnoli) {
		return 0, r, false
	}
	id, r.entryVersion = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	copy(r.textHash[:], b[16:])
	r.numberScale = math.Float32frombits(binary.LittleEndian.Uint32(b[32:]))
	r.roundedNumbers = make([]int8, dimension)
	for i, x := range b[36 : 36+dimension] {
		r.roundedNumbers[i] = int8(x)
	}
	return id, r, !math.IsNaN(float64(r.numberScale)) && !math.IsInf(float64(r.numberScale), 0)
}

// addRow adds a row, which the next call of writeRows writes to the file. id is the ID of the entry.
func (f *vectorFile) addRow(id uint64, r storedVector) {
	// If this is the first vector, or if the model now returns vectors of another length, mark the file as empty. Then
	// the next writeRows writes all vectors to the file again.
	if f.dimension != len(r.roundedNumbers) {
		f.dimension = len(r.roundedNumbers)
		f.size = 0
		f.newRows = nil
	}
	if f.fsys != nil && f.size > 0 {
		f.newRows = appendRow(f.newRows, id, r)
	}
}

// writeRows appends the new rows to the file. If the file must be created, it writes all rows. If two processes append
// at the same time, the rows of one process may be lost, and are computed again later.
func (f *vectorFile) writeRows(rows map[uint64]storedVector) error {
	if f.fsys == nil || !f.hasUnwrittenRows() {
		return nil
	}
	added := f.newRows
	f.newRows = nil
	if f.size > 0 && f.appendRows(added) == nil {
		return nil
	}
	all := f.encodeHeader(f.dimension)
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		if r := rows[id]; len(r.roundedNumbers) == f.dimension {
			all = appendRow(all, id, r)
		}
	}
	f.size = 0
	if err := vfs.WriteDerived(f.fsys, f.name, 0o600, all); err != nil {
		return fmt.Errorf("keeping vectors: %w", err)
	}
	f.size = int64(len(all))
	return nil
}

// hasUnwrittenRows reports whether the file lacks some rows. A file that must be created lacks all rows.
func (f *vectorFile) hasUnwrittenRows() bool {
	if f.size == 0 {
		return f.dimension > 0
	}
	return len(f.newRows) > 0
}

func (f *vectorFile) appendRows(encodedRows []byte) error {
	w, err := f.fsys.OpenFile(f.name, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if fi, serr := w.Stat(); serr == nil && fi.Size() > f.size { // Another process has appended rows.
		f.size += (fi.Size() - f.size) / int64(rowOverheadBytes+f.dimension) * int64(rowOverheadBytes+f.dimension)
	}
	_, err = w.WriteAt(encodedRows, f.size)
	f.size += int64(len(encodedRows))
	return errors.Join(err, w.Close())
}
