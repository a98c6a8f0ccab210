// This file implements the list of known files. With this list, a dump and a load need not read the
// files that nobody has changed.
//
// The list contains a hash and a stamp for each file: the size, the inode, and the times of the last
// change of the content and of the inode. While the stamp stays the same, the file has the same
// content. The only exception is a change within the resolution of the clock. Therefore a file that
// was changed shortly before it was examined is left out of the list, like git does.
//
// The list belongs to a directory on one machine: in a copy, the stamps differ, and all files are
// read. A damaged list counts as empty. A wrong row cannot destroy text, because a dump reads a file
// again before it replaces or removes the file.

package mdtree

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	knownFilesFile = ".oxbow-dump.files"
	probeFile      = ".oxbow-dump.clock"

	// knownFilesMagic is the beginning of the list: its name and version.
	//
	//	1: the first
	//	2: with the hash of the manifest
	knownFilesMagic = "known files of a dump of oxbow, version 2\n"
)

// knownFile is a row of the list.
type knownFile struct {
	path  string
	stamp fileStamp
	sum   [sha256.Size]byte // hash of the content
}

// knownFiles is the list.
type knownFiles struct {
	rows         []knownFile // sorted by path
	manifestHash string      // hash, in hex, of the manifest after the dump that wrote the list
}

// find returns the row of a path. It examines the row at index likely first.
func (k *knownFiles) find(p string, likely int) (row int, ok bool) {
	if likely < len(k.rows) && k.rows[likely].path == p {
		return likely, true
	}
	return slices.BinarySearchFunc(k.rows, p, func(f knownFile, p string) int { return strings.Compare(f.path, p) })
}

// marshal encodes the list: the magic, the hash of the manifest, the number of rows, the rows in order of
// their paths, and the SHA-256 of all bytes before. Numbers are varints. A row consists of the length of the
// path, the path, the hash, the size, both times, and the inode. The hash of the manifest is preceded by its
// length.
func (k *knownFiles) marshal() []byte {
	b := make([]byte, 0, 128*len(k.rows)+256)
	b = append(b, knownFilesMagic...)
	b = binary.AppendUvarint(b, uint64(len(k.manifestHash)))
	b = append(b, k.manifestHash...)
	b = binary.AppendUvarint(b, uint64(len(k.rows)))
	for _, f := range k.rows {
		b = binary.AppendUvarint(b, uint64(len(f.path)))
		b = append(b, f.path...)
		b = append(b, f.sum[:]...)
		b = binary.AppendVarint(b, f.stamp.size)
		b = binary.AppendVarint(b, f.stamp.modTime)
		b = binary.AppendVarint(b, f.stamp.changeTime)
		b = binary.AppendUvarint(b, f.stamp.inode)
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// parseKnownFiles decodes a list. It returns an empty list if the data is damaged or of an unknown
// version.
func parseKnownFiles(data []byte) knownFiles {
	body := len(data) - sha256.Size
	if body < 0 || sha256.Sum256(data[:body]) != [sha256.Size]byte(data[body:]) {
		return knownFiles{}
	}
	rest, ok := bytes.CutPrefix(data[:body], []byte(knownFilesMagic))
	if !ok {
		return knownFiles{}
	}
	r := rowReader{rest: rest}
	known := knownFiles{manifestHash: string(r.readBytes(r.readUnsigned()))}
	count := r.readUnsigned()
	const minRow = sha256.Size + 5 // bytes
	if count > uint64(len(rest))/minRow {
		return knownFiles{}
	}
	known.rows = make([]knownFile, 0, count)
	last := ""
	for i := range count {
		p := string(r.readBytes(r.readUnsigned()))
		f := knownFile{path: p, sum: [sha256.Size]byte(r.readBytes(sha256.Size))}
		f.stamp.size = r.readSigned()
		f.stamp.modTime = r.readSigned()
		f.stamp.changeTime = r.readSigned()
		f.stamp.inode = r.readUnsigned()
		isSorted := i == 0 || last < p
		if r.failed || !isSorted {
			return knownFiles{}
		}
		known.rows = append(known.rows, f)
		last = p
	}
	return known
}

// rowReader decodes numbers and bytes. After an error it returns zeros.
type rowReader struct {
	rest   []byte
	failed bool
}

func (r *rowReader) readUnsigned() uint64 {
	v, n := binary.Uvarint(r.rest)
	return v * uint64(r.advance(n))
}

func (r *rowReader) readSigned() int64 {
	v, n := binary.Varint(r.rest)
	return v * int64(r.advance(n))
}

// advance skips n bytes that were decoded. It returns 1, or 0 after an error.
func (r *rowReader) advance(n int) int {
	if n <= 0 || r.failed {
		r.failed = true
		return 0
	}
	r.rest = r.rest[n:]
	return 1
}

func (r *rowReader) readBytes(n uint64) []byte {
	if r.failed || n > uint64(len(r.rest)) {
		r.failed = true
		return make([]byte, sha256.Size)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// loadKnownFiles reads the list of a tree. It returns an empty list if the list cannot be read.
func (t *dumpTree) loadKnownFiles() knownFiles {
	data, err := vfs.ReadFile(t.fs, t.fullPath(knownFilesFile), maxListSize)
	if err != nil {
		return knownFiles{}
	}
	return parseKnownFiles(data)
}

// unchangedRow returns the row of a file that has not changed since it entered the list. It examines the
// row at index likely first.
func (k *knownFiles) unchangedRow(it *item, likely int) (row int, ok bool) {
	if !it.hasStamp {
		return 0, false
	}
	row, ok = k.find(it.path, likely)
	return row, ok && k.rows[row].stamp == it.stamp
}

// isHexOf reports whether s is the hash in hex.
func isHexOf(s string, sum *[sha256.Size]byte) bool {
	var digits [2 * sha256.Size]byte
	hex.Encode(digits[:], sum[:])
	return string(digits[:]) == s
}

// examination collects the rows of the next list.
type examination struct {
	rows      []knownFile // in any order, and possibly with several rows for a file
	hasNewRow bool        // the new list has a row that the present list lacks

	settledTime   int64 // only files whose last change was before this time enter the list; 0 until known
	isTimeUnknown bool  // the time is unknown, so no file enters the list
}

// addFile adds a file to the list, unless it was changed too late.
func (x *examination) addFile(p string, info fs.FileInfo, sum [sha256.Size]byte) {
	s, ok := stampFromInfo(info)
	if !ok || max(s.modTime, s.changeTime) >= x.settledTime {
		return
	}
	x.rows = append(x.rows, knownFile{p, s, sum})
	x.hasNewRow = true
}

// knownFiles returns the next list. Its argument is the hash of the manifest in hex.
func (x *examination) knownFiles(manifest string) knownFiles {
	slices.SortStableFunc(x.rows, func(a, b knownFile) int { return strings.Compare(a.path, b.path) })
	rows := slices.CompactFunc(x.rows, func(a, b knownFile) bool { return a.path == b.path })
	return knownFiles{rows: rows, manifestHash: manifest}
}

// hasStamps reports whether files of the tree have stamps.
func (t *dumpTree) hasStamps() bool {
	info, err := t.fs.Stat(t.dir)
	if err != nil {
		return false
	}
	_, ok := stampFromInfo(info)
	return ok
}

// settledTime returns the time of the file system's clock, less the time within which a change may
// not change a stamp. Any change from now on gives a file a later time. It uses the clock of
// the file system, because a file server may have a different clock.
func (t *dumpTree) settledTime() (int64, bool) {
	f, err := t.fs.OpenFile(t.fullPath(probeFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, false
	}
	_, err = f.WriteAt([]byte("x"), 0)
	info, serr := f.Stat()
	cerr := f.Close()
	rerr := t.fs.Remove(t.fullPath(probeFile))
	if errors.Join(err, serr, cerr, rerr) != nil {
		return 0, false
	}
	s, ok := stampFromInfo(info)
	return s.modTime - int64(cmp.Or(t.resolution, timeResolution(s.modTime))), ok
}

// timeResolution returns an upper bound for the resolution of a file system's clock, given one of its times. Some file
// systems record times in whole seconds or in steps of two seconds. If a time has a fraction of a millisecond, the
// clock advances with each tick of the kernel, which takes at most 10 ms.
func timeResolution(nanoseconds int64) time.Duration {
	if nanoseconds%int64(time.Millisecond) == 0 {
		return 3 * time.Second
	}
	return 100 * time.Millisecond
}
