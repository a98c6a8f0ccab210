// This file defines the format of key tables, and reads key tables.

// Package keytable reads and writes key tables: files in which the texts that have a certain key can be found quickly.
// A text may have many keys, and many texts may have the same key.
package keytable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"sort"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/vfs"
)

// A file of keys lists short keys of texts, so that the texts with a given key are found quickly. It consists of pages
// (see package pagefile). All integers are little-endian. Page 0 has these fields, with offset and size in bytes:
//
//	 0    8 89 "oxkey" 0D 0A
//	 8    4 format, 1
//	12    4 revision of the rules by which keys are computed from texts
//	16   16 version of Unicode, which is part of these rules, padded with zeros
//	32   64 position in the log up to which the texts are in the file (see package logpos)
//	96    8 number of texts, N
//	104   8 number of rows in the second table
//	112   8 number of texts when the file was last made from all entries
//
// The texts are numbered from 0. The first table has a row of 16 bytes for each text, which the caller defines. The
// second table has a row of 8 bytes for each key in each text. The key is in the upper 40 bits of the row, and the
// text's number in the lower 24 bits. The second table is in ascending order.
const (
	formatVersion = 1
	headSize      = 120

	textNumberBits = 24

	// MaxTexts is the maximum number of texts that a key file can index, because a text's number has 24 bits.
	MaxTexts = 1 << textNumberBits

	textTableNumber = 0
	keyTableNumber  = 1
)

var fileMagic = [8]byte{0x89, 'o', 'x', 'k', 'e', 'y', '\r', '\n'}

// ForeignTextTableSuffix is the suffix of the key table for texts written by others, such as web pages. A key is a
// number computed from some words of a text, so that texts with the same words are found.
const ForeignTextTableSuffix = ".foreign"

// ErrFormat is returned for a file that is not a key table in the format that the caller expects.
var ErrFormat = errors.New("the file of keys has another format")

// errDamaged is returned for a file of texts' keys whose content contradicts itself, so it must be damaged.
var errDamaged = errors.New("the file of keys is damaged")

// TextRow is the row of a text: two numbers whose meaning the caller defines.
type TextRow [2]uint64

// FileHeader is the content of page 0, which describes the file.
type FileHeader struct {
	KeyRulesVersion uint32          // version of the rules by which the caller computes keys from a text
	UnicodeVersion  string          // version of Unicode, at most 16 bytes
	Position        logpos.Position // the file contains the texts up to this position in the log
	TextCount       int             // number of texts
	// row count for the second table; each row has a key and the number of a text that has this key
	KeyRowCount        int
	TextCountAtRebuild int // number of texts when the file was last made anew, and not extended
}

func (h *FileHeader) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, headSize)
	copy(b, fileMagic[:])
	le.PutUint32(b[8:], formatVersion)
	le.PutUint32(b[12:], h.KeyRulesVersion)
	copy(b[16:32], h.UnicodeVersion)
	copy(b[32:96], h.Position.Encode())
	le.PutUint64(b[96:], uint64(h.TextCount))
	le.PutUint64(b[104:], uint64(h.KeyRowCount))
	le.PutUint64(b[112:], uint64(h.TextCountAtRebuild))
	return b
}

// decodeHead decodes the header of a key table file from the bytes b of its first page. If the magic bytes or the
// format version are wrong, the error is ErrFormat. If the position or the counts are impossible, the error matches
// errDamaged.
func decodeHead(b []byte) (h FileHeader, err error) {
	le := binary.LittleEndian
	if [8]byte(b) != fileMagic || le.Uint32(b[8:]) != formatVersion {
		return h, ErrFormat
	}
	texts := le.Uint64(b[96:])
	keys := le.Uint64(b[104:])
	whole := le.Uint64(b[112:])
	var ok bool
	h.Position, ok = logpos.DecodePosition(string(b[32:96]))
	areCountsPossible := texts <= MaxTexts && max(keys, whole) <= maxKeyRows
	if !ok || !areCountsPossible {
		return h, fmt.Errorf("%w: its counts are impossible", errDamaged)
	}
	h.KeyRulesVersion = le.Uint32(b[12:])
	h.UnicodeVersion = string(bytes.TrimRight(b[16:32], "\x00"))
	h.TextCount = int(texts)
	h.KeyRowCount = int(keys)
	h.TextCountAtRebuild = int(whole)
	return h, nil
}

// maxKeyRows is the maximum number of rows in the table that lists all texts' keys. On 32-bit systems, the limit is the
// largest int.
const maxKeyRows = min(1<<40, math.MaxInt)

func (h *FileHeader) tableSizes() []pagefile.TableSize {
	return []pagefile.TableSize{{RowSize: 16, RowCount: h.TextCount}, {RowSize: 8, RowCount: h.KeyRowCount}}
}

// File is an open file with keys of texts, by which texts with a given key are found. It is safe for concurrent use.
// If a page cannot be read, the methods return zeros instead of an error. Therefore the caller must call Err
// afterwards.
type File struct {
	Head       FileHeader
	pageReader *pagefile.Reader
	file       vfs.File
}

// Open opens a key table file, which is an index of texts by their keys, and reads the header on its first page. If
// Open fails, it closes the file. If the file is empty or has another format, the error matches ErrFormat. If the
// file's size does not fit the header, the error matches errDamaged.
func Open(file vfs.File) (*File, error) {
	f := &File{file: file}
	info, err := file.Stat()
	if err == nil && info.Size() == 0 {
		err = ErrFormat
	}
	if err == nil {
		f.pageReader, err = pagefile.Open(file, func(head []byte) (tables []pagefile.TableSize, err error) {
			f.Head, err = decodeHead(head)
			tables = f.Head.tableSizes()
			if err == nil && int64(pagefile.CountPages(tables))*pagefile.PageSize != info.Size() {
				err = fmt.Errorf("%w: it has another size than its head says", errDamaged)
			}
			return tables, err
		})
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func (f *File) Close() error { return f.file.Close() }

// Err returns the first error that occurred while a page was read, or nil.
func (f *File) Err() error { return f.pageReader.Err() }

// TextAt returns the data of the text with the given number.
func (f *File) TextAt(textNumber int) TextRow {
	row := f.pageReader.Row(textTableNumber, textNumber)
	return TextRow{binary.LittleEndian.Uint64(row), binary.LittleEndian.Uint64(row[8:])}
}

// EachText calls fn for each text, in the order of the texts' numbers. If a page cannot be read, EachText stops and
// returns the error. The method [File.Err] then returns the error too.
func (f *File) EachText(fn func(t TextRow)) error {
	le := binary.LittleEndian
	return f.pageReader.EachTablePage(textTableNumber, func(rows []byte) {
		for ; len(rows) > 0; rows = rows[16:] {
			fn(TextRow{le.Uint64(rows), le.Uint64(rows[8:])})
		}
	})
}

// PackKeyRow returns a row of the file's second table, which connects keys with texts. The row means that the text with
// the number textNumber has this key. The row's upper 40 bits are the key's upper 40 bits, and the row's lower 24 bits
// are the text's number.
func PackKeyRow(key uint64, textNumber int) uint64 {
	return key>>textNumberBits<<textNumberBits | uint64(textNumber)
}

// EachTextWithKey calls fn with the numbers of the texts that have the key, in ascending order. The lower 24 bits of
// the key are ignored.
func (f *File) EachTextWithKey(key uint64, fn func(number int)) {
	least := PackKeyRow(key, 0)
	for i := f.findRowIndex(least); i < f.Head.KeyRowCount; i++ {
		row := f.pageReader.RowKey(keyTableNumber, i)
		if row-least >= MaxTexts {
			return
		}
		fn(int(row - least))
	}
}

// EachTextInRows calls fn with the number of each text that has the key, in ascending order. The slice rows contains
// pairs of a key and a text number, each encoded as one integer by [PackKeyRow]. The rows must be in ascending order.
func EachTextInRows(rows []uint64, key uint64, fn func(number int)) {
	least := PackKeyRow(key, 0)
	i := sort.Search(len(rows), func(i int) bool { return rows[i] >= least })
	for ; i < len(rows) && rows[i]-least < MaxTexts; i++ {
		fn(int(rows[i] - least))
	}
}

// findRowIndex returns the index of the first row that is not smaller than minRow. Keys are hashes and therefore spread
// evenly, so findRowIndex guesses the page by interpolation. It usually reads two or three pages.
func (f *File) findRowIndex(minRow uint64) int {
	perPage := pagefile.PageDataBytes / 8
	// The row that is searched for is on a page from low to high-1, or is the first row of page high.
	low, high := 0, (f.Head.KeyRowCount+perPage-1)/perPage
	lowRow, highRow := uint64(0), uint64(1<<64-1)
	for guesses := 0; low < high; guesses++ {
		page := (low + high) / 2
		// Interpolate to guess the page. After six wrong guesses, halve the range of pages instead, so that at most
		// about log2(pages) more pages are read.
		if guesses < 6 && minRow < highRow {
			above, below := bits.Mul64(minRow-lowRow, uint64(high-low))
			quotient, _ := bits.Div64(above, below, highRow-lowRow)
			page = low + int(quotient)
		}
		first := f.pageReader.RowKey(keyTableNumber, page*perPage)
		last := f.pageReader.RowKey(keyTableNumber, min((page+1)*perPage, f.Head.KeyRowCount)-1)
		switch {
		case minRow <= first:
			high, highRow = page, first
		case minRow > last:
			low, lowRow = page+1, last
		default:
			count := min(perPage, f.Head.KeyRowCount-page*perPage)
			return page*perPage + sort.Search(count, func(i int) bool {
				return f.pageReader.RowKey(keyTableNumber, page*perPage+i) >= minRow
			})
		}
	}
	return min(low*perPage, f.Head.KeyRowCount)
}

// CheckFile reads a whole key table, that is, a file that says which texts have which keys. It returns nil if the file
// is valid, and otherwise an error that describes the damage.
func CheckFile(file io.ReaderAt, size int64) error {
	var head FileHeader
	r, err := pagefile.Open(file, func(b []byte) (tables []pagefile.TableSize, err error) {
		head, err = decodeHead(b)
		tables = head.tableSizes()
		if err == nil && int64(pagefile.CountPages(tables))*pagefile.PageSize != size {
			err = fmt.Errorf("%w: it has another size than its head says", errDamaged)
		}
		return tables, err
	})
	if err != nil {
		return err
	}
	if err := r.EachTablePage(textTableNumber, func([]byte) {}); err != nil {
		return err
	}
	last, isAscending := uint64(0), true
	err = r.EachTablePage(keyTableNumber, func(rows []byte) {
		for ; len(rows) > 0; rows = rows[8:] {
			row := binary.LittleEndian.Uint64(rows)
			isAscending = isAscending && row >= last && row%MaxTexts < uint64(head.TextCount)
			last = row
		}
	})
	if err == nil && !isAscending {
		err = fmt.Errorf("%w: its keys are not in order", errDamaged)
	}
	return err
}
