// This file encodes and decodes the format CRMEM v1, which doc.go specifies.

package crmem

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

const (
	formatMagic       = "CRMEM\x00"
	formatVersion     = 1
	headerSize        = 16
	firstEntryOffset  = headerSize + 8 + 4 // offset of the first entry in the memory file
	minEntrySize      = 8 + 8 + 4 + 4 + 4 + 4
	kindNumberNote    = 0
	kindNumberArchive = 1
	// kind of entry that newer versions of crabtalk write, although they use the same format version
	kindNumberTopic = 2
)

// memoryFile is the content of a file in the format CRMEM v1.
type memoryFile struct {
	NextID  uint64   // ID of the next entry
	Entries []record // sorted by ID
}

// record is an entry as stored in the file.
type record struct {
	ID                 uint64
	CreatedUnixSeconds uint64 // seconds since 1970
	Kind               uint32 // kind of the entry: kindNumberNote or kindNumberArchive
	Name               string
	Content            string
	Aliases            []string

	computedVersion uint64 // number that [entryVersion] computes from the encoded record
}

// equals reports whether two records have the same ID, version, name, content and aliases.
func (r *record) equals(other *record) bool {
	return r.ID == other.ID && r.computedVersion == other.computedVersion && r.Name == other.Name &&
		r.Content == other.Content &&
		slices.Equal(r.Aliases, other.Aliases)
}

// ErrBadFormat is matched by every [*FormatError].
var ErrBadFormat = errors.New("bad memory file format")

// FormatError is returned if a file is not valid CRMEM v1. It matches [ErrBadFormat] and one other error. This is
// [oxbow.ErrNotStore] if the file has a different format, [oxbow.ErrVersion] if the file has a different layout or
// version, and [oxbow.ErrCorrupt] if the file is damaged.
type FormatError struct {
	Path            string // path of the file ("" if the data was not read from a file)
	Offset          int64  // offset of the error, or -1 if unknown
	Reason          string
	Hint            string // advice for the user (may be empty)
	matchedSentinel error
}

func (e *FormatError) Error() string {
	s := "bad memory file format: " + e.Reason
	if e.Offset >= 0 {
		s += fmt.Sprintf(" at byte %d", e.Offset)
	}
	if e.Path != "" {
		s = e.Path + ": " + s
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Is reports whether e is a target error. It returns true for [ErrBadFormat] and for the category of e, for example
// [oxbow.ErrCorrupt].
func (e *FormatError) Is(target error) bool {
	return target == ErrBadFormat || target == e.matchedSentinel
}

func corruptError(offset int, reason string) *FormatError {
	return &FormatError{Offset: int64(offset), Reason: reason, matchedSentinel: oxbow.ErrCorrupt}
}

// decodeMemoryFile decodes a file in the format CRMEM v1. It also returns the entries by name. The result
// does not share memory with data. All errors are [*FormatError]. The package comment describes
// which files are refused.
func decodeMemoryFile(data []byte) (*memoryFile, map[string]*record, error) {
	d, err := decodeEntries(data, kindNumberArchive)
	if err != nil {
		return nil, nil, err
	}
	if d.readOffset < len(data) {
		return nil, nil, corruptError(
			d.readOffset,
			fmt.Sprintf("%d bytes behind the last entry", len(data)-d.readOffset),
		)
	}
	for i := range data[12:headerSize] {
		if data[12+i] != 0 {
			return nil, nil, corruptError(12+i, "reserved bytes are not zero")
		}
	}
	f := d.file
	slices.SortStableFunc(f.Entries, func(a, b record) int { return cmp.Compare(a.ID, b.ID) })
	names := make(map[string]*record, len(f.Entries))
	for i := range f.Entries {
		r := &f.Entries[i]
		if i > 0 && f.Entries[i-1].ID == r.ID {
			return nil, nil, corruptError(
				-1,
				fmt.Sprintf("entries %q and %q have the same id %d", f.Entries[i-1].Name, r.Name, r.ID),
			)
		}
		if other := names[r.Name]; other != nil {
			return nil, nil, corruptError(
				-1,
				fmt.Sprintf("entries %d and %d have the same name %q", other.ID, r.ID, r.Name),
			)
		}
		names[r.Name] = r
	}
	f.NextID = nextID(f)
	return f, names, nil
}

// nextID returns the ID of the next entry. If the next ID in the file is not higher than the last entry's ID, nextID
// returns the ID after the last entry's ID instead.
func nextID(f *memoryFile) uint64 {
	next := max(f.NextID, 1)
	if n := len(f.Entries); n > 0 {
		if last := f.Entries[n-1].ID; last >= next && last < math.MaxUint64 {
			next = last + 1
		}
	}
	return next
}

// checkHeader checks the first 16 bytes of a file in the format CRMEM v1, in the same order as crabtalk's reader.
func checkHeader(data []byte) error {
	switch {
	case len(data) < headerSize:
		class := oxbow.ErrNotStore
		if len(data) > 0 &&
			string(data[:min(len(data), len(formatMagic))]) == formatMagic[:min(len(data), len(formatMagic))] {
			class = oxbow.ErrCorrupt
		}
		return &FormatError{Offset: int64(len(data)), Reason: "file shorter than header", matchedSentinel: class}
	case string(data[:6]) != formatMagic:
		return &FormatError{Offset: 0, Reason: "invalid magic", matchedSentinel: oxbow.ErrNotStore}
	case binary.LittleEndian.Uint32(data[6:]) != formatVersion:
		return &FormatError{Offset: 6, Reason: "unsupported version", matchedSentinel: oxbow.ErrVersion}
	case binary.LittleEndian.Uint16(data[10:]) != 0:
		return &FormatError{Offset: 10, Reason: "unknown flags", matchedSentinel: oxbow.ErrVersion}
	}
	return nil
}

// entryDecoder decodes the part of a file after the header. It stores the first error.
type entryDecoder struct {
	data       []byte
	text       string // data as a string, so that substrings need no copies
	readOffset int
	err        error
	file       *memoryFile
}

// decodeEntries decodes the header and the entries of a memory file, in the file's order. It refuses entries with a
// kind above maxKind. The caller has to check the bytes after the last entry.
func decodeEntries(data []byte, maxKind uint32) (*entryDecoder, error) {
	if err := checkHeader(data); err != nil {
		return nil, err
	}
	d := &entryDecoder{data: data, readOffset: headerSize, file: &memoryFile{}}
	d.file.NextID = d.readUint64()
	count := int64(d.readUint32())
	if d.err == nil && count > int64(len(data)-d.readOffset)/minEntrySize {
		d.recordError(len(data), "truncated body")
	}
	if d.err != nil {
		return nil, d.err
	}
	d.text = string(data)
	d.file.Entries = make([]record, count)
	for i := range d.file.Entries {
		d.readRecord(&d.file.Entries[i], maxKind)
		if d.err != nil {
			return nil, d.err
		}
	}
	return d, nil
}

func (d *entryDecoder) recordError(offset int, reason string) {
	if d.err == nil {
		d.err = corruptError(offset, reason)
	}
}

// readBytes returns the next n bytes. If there are fewer, it records an error and returns nil. It also returns nil if
// an error was recorded before.
func (d *entryDecoder) readBytes(n int64) []byte {
	if d.err == nil && n > int64(len(d.data)-d.readOffset) {
		d.recordError(len(d.data), "truncated body")
	}
	if d.err != nil {
		return nil
	}
	b := d.data[d.readOffset : d.readOffset+int(n)]
	d.readOffset += int(n)
	return b
}

func (d *entryDecoder) readUint32() uint32 {
	if b := d.readBytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *entryDecoder) readUint64() uint64 {
	if b := d.readBytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *entryDecoder) readString() string {
	n := int64(d.readUint32())
	start := d.readOffset
	if d.readBytes(n) == nil {
		return ""
	}
	s := d.text[start:d.readOffset]
	if !utf8.ValidString(s) {
		d.recordError(start, "invalid utf8")
	}
	return s
}

func (d *entryDecoder) readRecord(r *record, maxKind uint32) {
	start := d.readOffset
	r.ID, r.CreatedUnixSeconds = d.readUint64(), d.readUint64()
	kindAt := d.readOffset
	r.Kind = d.readUint32()
	if d.err == nil && r.Kind > maxKind {
		d.recordError(kindAt, "unknown entry kind")
	}
	r.Name, r.Content = d.readString(), d.readString()
	count := int64(d.readUint32())
	if d.err == nil && count > int64(len(d.data)-d.readOffset)/4 {
		d.recordError(len(d.data), "truncated body")
	}
	if d.err != nil {
		return
	}
	if count > 0 {
		r.Aliases = make([]string, count)
		for i := range r.Aliases {
			r.Aliases[i] = d.readString()
		}
	}
	r.computedVersion = entryVersion(d.data[start:d.readOffset])
}

func appendHeader(b []byte, nextID uint64, count int) []byte {
	b = append(b, formatMagic...)
	b = binary.LittleEndian.AppendUint32(b, formatVersion)
	b = append(b, 0, 0, 0, 0, 0, 0) // flags and reserved bytes, which are always zero
	b = binary.LittleEndian.AppendUint64(b, nextID)
	return binary.LittleEndian.AppendUint32(b, uint32(count))
}

// appendEncoded appends the entry to b, encoded as in the memory file.
func (r *record) appendEncoded(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, r.ID)
	b = binary.LittleEndian.AppendUint64(b, r.CreatedUnixSeconds)
	b = binary.LittleEndian.AppendUint32(b, r.Kind)
	b = appendString(b, r.Name)
	b = appendString(b, r.Content)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Aliases)))
	for _, a := range r.Aliases {
		b = appendString(b, a)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entryVersion computes the version of an entry from its bytes in the file. The format does not store versions, but a
// program needs them to say which version of an entry it wants to change. The result is between 1 and 2^53-1, so that
// JSON implementations in other languages can represent it exactly. Two 32-bit checksums are used because processors
// compute them fastest. The bytes include the ID and the date, so that an entry that was removed and added again has a
// different version.
func entryVersion(record []byte) uint64 {
	v := uint64(crc32.Checksum(record, castagnoli))<<32 | uint64(crc32.ChecksumIEEE(record))
	return max(v&(1<<53-1), 1)
}
