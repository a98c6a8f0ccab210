// This file implements the list of known files. A dump writes the entries of a store to files, and a load reads the
// files. With this list, neither a dump nor a load needs to read files that nobody has changed.
//
// The list contains two values for each file: a hash of its content, and a stamp. The stamp consists of the size, the
// inode, and the times at which the content and the inode last changed. While the stamp stays the same, the file has
// the same content. The only exception is a change within the resolution of the clock. Therefore a file that was
// changed shortly before it was examined is left out of the list, like git does.
//
// The list belongs to a directory on one machine: in a copy, the stamps differ, and all files are read. A damaged list
// counts as empty. A wrong row cannot destroy text, because a dump reads a file again before it replaces or removes the
// file.

package mdtree

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
)

const (
	knownHashListFile = ".oxbow-dump.files"
	clockProbeFile    = ".oxbow-dump.clock"

	// knownHashListMagic is the name and version at the beginning of the list. These are the versions:
	//
	//	1: the first version
	//	2: adds the hash of the manifest
	//	3: adds the hash of the table of contents, and allows files in any order
	knownHashListMagic = "known files of a dump of oxbow, version 3\n"

	// maxKnownHashRowBytes is the maximum length, in bytes, for a row in the list of known files.
	maxKnownHashRowBytes = 1024
)

// fileWithKnownHash is a file whose hash is recorded, so that a dump or a load need not read it as long as its stamp
// (size, inode and times) stays the same.
type fileWithKnownHash struct {
	path          string
	fileStamp     sysinfo.FileStamp
	contentDigest sha256Digest // hash of the content
}

// knownHashListHeader identifies the dump that wrote the list of files which need not be read again.
type knownHashListHeader struct {
	manifestDigest sha256Digest // hash of the manifest after the dump
	summaryDigest  sha256Digest // hash that the table of contents has after the dump
}

// knownHashListWriter writes the list of known files, which a dump and a load need not read again if nobody has changed
// them. The list contains, in this order, the magic, the manifest's hash, the hash of the table of contents, the rows,
// a zero, and the SHA-256 over all previous bytes. A row consists of the path's length, the path, the hash, the size,
// the times at which the file's content and its inode last changed, and the inode. Numbers are varints.
type knownHashListWriter struct {
	out                 io.Writer
	knownHashListDigest hash.Hash
	buf                 []byte
	err                 error
}

// knownHashListBufferBytes is the number of bytes that are collected before they are written to the list of known
// files.
const knownHashListBufferBytes = 1 << 16

func newKnownHashListWriter(out io.Writer, header knownHashListHeader) *knownHashListWriter {
	w := &knownHashListWriter{out: out, knownHashListDigest: sha256.New()}
	w.buf = append(w.buf, knownHashListMagic...)
	w.buf = append(w.buf, header.manifestDigest[:]...)
	w.buf = append(w.buf, header.summaryDigest[:]...)
	return w
}

func (w *knownHashListWriter) addFile(f fileWithKnownHash) {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(f.path)))
	w.buf = append(w.buf, f.path...)
	w.buf = append(w.buf, f.contentDigest[:]...)
	w.buf = binary.AppendVarint(w.buf, f.fileStamp.Size)
	w.buf = binary.AppendVarint(w.buf, f.fileStamp.ModUnixNano)
	w.buf = binary.AppendVarint(w.buf, f.fileStamp.ChangeUnixNano)
	w.buf = binary.AppendUvarint(w.buf, f.fileStamp.Inode)
	if len(w.buf) >= knownHashListBufferBytes {
		w.flushBuffer()
	}
}

func (w *knownHashListWriter) flushBuffer() {
	w.knownHashListDigest.Write(w.buf)
	if w.err == nil {
		_, w.err = w.out.Write(w.buf)
	}
	w.buf = w.buf[:0]
}

// finishKnownHashList writes the end of the list of known files: a zero byte, which marks the end of the rows, and the
// checksum. It returns the first error that occurred while the list was written.
func (w *knownHashListWriter) finishKnownHashList() error {
	w.buf = append(w.buf, 0)
	w.flushBuffer()
	if w.err == nil {
		_, w.err = w.out.Write(w.knownHashListDigest.Sum(nil))
	}
	return w.err
}

// readKnownHashList reads a list of known files and their hashes, and calls fn for each row. The parameter size is the
// length of the whole list in bytes. If the list is damaged or has an unknown version, ok is false and fn is not
// called.
func readKnownHashList(file io.ReaderAt, size int64, fn func(fileWithKnownHash)) (header knownHashListHeader, ok bool) {
	body := size - sha256.Size
	if body < int64(len(knownHashListMagic)) {
		return header, false
	}
	h := sha256.New()
	var want sha256Digest
	_, err := io.Copy(h, io.NewSectionReader(file, 0, body))
	_, werr := io.ReadFull(io.NewSectionReader(file, body, sha256.Size), want[:])
	isWhole := err == nil && werr == nil && sha256Digest(h.Sum(nil)) == want
	if !isWhole {
		return header, false
	}
	r := bufio.NewReaderSize(io.NewSectionReader(file, 0, body), knownHashListBufferBytes)
	magic := make([]byte, len(knownHashListMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != knownHashListMagic {
		return header, false
	}
	for _, d := range []*sha256Digest{&header.manifestDigest, &header.summaryDigest} {
		if _, err := io.ReadFull(r, d[:]); err != nil {
			return knownHashListHeader{}, false
		}
	}
	// The checksum of the list of known files is correct, so all rows are complete.
	for {
		rest, _ := r.Peek(maxKnownHashRowBytes)
		row := rowReader{remainingBytes: rest}
		f := fileWithKnownHash{path: string(row.readBytes(row.readUnsigned()))}
		if f.path == "" || row.hasFailed {
			return header, true
		}
		f.contentDigest = sha256Digest(row.readBytes(sha256.Size))
		f.fileStamp.Size = row.readSignedNumber()
		f.fileStamp.ModUnixNano = row.readSignedNumber()
		f.fileStamp.ChangeUnixNano = row.readSignedNumber()
		f.fileStamp.Inode = row.readUnsigned()
		if row.hasFailed {
			return header, true
		}
		fn(f)
		// Discard cannot fail, because it discards only bytes that Peek has already returned.
		_, _ = r.Discard(len(rest) - len(row.remainingBytes))
	}
}

// rowReader decodes numbers and byte strings. After an error, it returns zeros.
type rowReader struct {
	remainingBytes []byte
	hasFailed      bool
}

func (r *rowReader) readUnsigned() uint64 {
	v, n := binary.Uvarint(r.remainingBytes)
	return v * uint64(r.skipDecodedNumber(n))
}

func (r *rowReader) readSignedNumber() int64 {
	v, n := binary.Varint(r.remainingBytes)
	return v * int64(r.skipDecodedNumber(n))
}

// skipDecodedNumber skips the byteCount bytes of a number that was decoded. It returns 1, or 0 if the row is damaged.
// The caller multiplies the number by this result, so that a damaged number becomes 0.
func (r *rowReader) skipDecodedNumber(byteCount int) int {
	if byteCount <= 0 || r.hasFailed {
		r.hasFailed = true
		return 0
	}
	r.remainingBytes = r.remainingBytes[byteCount:]
	return 1
}

func (r *rowReader) readBytes(n uint64) []byte {
	if r.hasFailed || n > uint64(len(r.remainingBytes)) {
		r.hasFailed = true
		return make([]byte, sha256.Size)
	}
	b := r.remainingBytes[:n]
	r.remainingBytes = r.remainingBytes[n:]
	return b
}

// loadKnownFiles reads the list of known files, and calls fn for each row of the list. A row contains a file's path,
// its hash, and a stamp of its size, inode and times. If the stamp is unchanged, a dump need not read the file. The
// result head is the header of the list. The result ok is false if the list cannot be read.
func (t *dumpTree) loadKnownFiles(fn func(fileWithKnownHash)) (head knownHashListHeader, ok bool) {
	f, err := t.openFile(t.fullPath(knownHashListFile))
	if err != nil {
		return head, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() > maxEntryListBytes {
		return head, false
	}
	return readKnownHashList(f, info.Size(), fn)
}

// fileStampHash is the hash of a file's stamp, which contains size, inode and times. It is 0 without a stamp. A table
// of hashes needs a quarter of the memory that a table of stamps would need.
type fileStampHash uint64

// hashFileStamp returns the hash of a file's stamp (size, inode and times).
func (t *dumpTree) hashFileStamp(s sysinfo.FileStamp) fileStampHash {
	return fileStampHash(maphash.Comparable(t.fileStampHashSeed, s) | 1)
}

// hashEntryStamp returns the hash of the stamp (size, inode and times) of a file in a directory. It returns 0 for a
// file without a stamp.
func (t *dumpTree) hashEntryStamp(f fs.DirEntry) fileStampHash {
	s, ok := fileStampOfDirEntry(f)
	if !ok {
		return 0
	}
	return t.hashFileStamp(s)
}

// fileStampOfDirEntry returns the stamp (size, inode and times) of a file in a directory. ok is false if the file is
// not a regular file, or if its stamp cannot be read.
func fileStampOfDirEntry(f fs.DirEntry) (s sysinfo.FileStamp, ok bool) {
	info, err := f.Info()
	if err != nil || !info.Mode().IsRegular() {
		return s, false
	}
	return sysinfo.ReadFileStamp(info)
}

// fileStabilityTest decides which files can be added to the list of known files, so that later dumps need not read
// them. If a file was changed just before the test, a further change in the same tick of the clock would leave the
// file's time unchanged. Therefore such a file is not added.
type fileStabilityTest struct {
	// a file may be added to the list of known files only if its last change was before this time (0 until the time is
	// determined)
	stabilityCutoffNanos int64
	isCutoffUnknown      bool // the time is unknown, so no file is added to the list of known files
}

// isFileStable reports whether the file's stamp s is old enough to add the file to the list of known files, which a
// dump need not read again. The file must have been changed before x.stabilityCutoffNanos. Each later change of such a
// file then sets a different time, so that a dump notices the change.
func (x *fileStabilityTest) isFileStable(s sysinfo.FileStamp) bool {
	return max(s.ModUnixNano, s.ChangeUnixNano) < x.stabilityCutoffNanos
}

// supportsFileStamps reports whether the system returns stamps (size, inode and times) for the files of the tree.
func (t *dumpTree) supportsFileStamps() bool {
	info, err := t.fs.Stat(t.dir)
	if err != nil {
		return false
	}
	_, ok := sysinfo.ReadFileStamp(info)
	return ok
}

// measureStabilityCutoff returns a time in nanoseconds since 1970. Files that last changed before this time may be
// added to the list of known files, which are not read again as long as their times stay the same. The result is the
// present time minus the resolution of the clock. If a known file changes later, its new time therefore differs from
// the recorded time. measureStabilityCutoff uses the file system's clock, because the clock of a file server may be
// different. The second result is false if the time cannot be determined.
func (t *dumpTree) measureStabilityCutoff() (int64, bool) {
	f, err := t.fs.OpenFile(t.fullPath(clockProbeFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, false
	}
	_, err = f.WriteAt([]byte("x"), 0)
	info, serr := f.Stat()
	cerr := f.Close()
	rerr := t.fs.Remove(t.fullPath(clockProbeFile))
	if errors.Join(err, serr, cerr, rerr) != nil {
		return 0, false
	}
	s, ok := sysinfo.ReadFileStamp(info)
	return s.ModUnixNano - int64(cmp.Or(t.clockResolution, estimateClockResolution(s.ModUnixNano))), ok
}

// estimateClockResolution returns an upper bound for the resolution of a file system's clock. The argument nanoseconds
// is a time that this clock recorded. A time in whole milliseconds may come from a file system that records times in
// steps of up to two seconds, so the bound is 3 s. Any other time comes from a clock that advances with each kernel
// tick, which takes at most 10 ms. The bound is then 100 ms, which is more than enough.
func estimateClockResolution(nanoseconds int64) time.Duration {
	if nanoseconds%int64(time.Millisecond) == 0 {
		return 3 * time.Second
	}
	return 100 * time.Millisecond
}
