// This file encodes and decodes the file format of the log. A log file consists of a header and records. Each record
// contains a hash of all changes up to it, which is called the chain. Integers are little-endian.
//
// Header, 96 bytes:
//
//	offset size field
//	0    8 magic: "OXBOW" 0D 0A 1A
//	8    4 version, 1
//	12    4 flags, 0; other values are refused
//	16   16 identity of the log, random, kept by every rewrite
//	32    8 time when the log was created, nanoseconds since 1970
//	40    8 base: the sequence number before the first chained record
//	48   32 chain at base
//	80    8 end of the base section, an offset in the file
//	88    4 reserved, 0
//	92    4 CRC-32C of bytes 0 to 91
//
// In a new log, base is 0, the chain at base is SHA-256 of bytes 0 to 31, and the base section is empty, which means
// that it ends at 96. A rewrite of the log may drop old records. It then stores the state after these records as
// unchained records in the base section. The base section is on stable storage before the file is renamed. Therefore
// damage in the base section is never caused by an interrupted write.
//
// Record, 72 bytes and its body:
//
//	offset size field
//	0    4 mark: 0A "oxr"; 0 means that the log ends here
//	4    4 length of the body, n, at most 64 MiB
//	8    8 sequence number
//	16    8 durable: the highest sequence number known to be on stable
//	storage when this record was written
//	24    8 time, nanoseconds since 1970
//	32    1 type
//	33    3 reserved, 0
//	36    4 CRC-32C of the log's identity, bytes 0 to 35, body and chain
//	40    n body
//	40+n   32 chain
//
// A record of type 1 to 127 is chained. Its sequence number is one higher than the previous chained record's, and
//
//	chain = SHA-256(previous chain ‖ sequence number ‖ time ‖ type ‖ digest)
//
// where digest is 32 bytes that the user of the log computes from the body. A record of type 128 to 255 does not belong
// to the history. It repeats the sequence number and the chain of the previous chained record (or the base). Type 255
// is a seal: an empty record, written only for its durable field.
//
// A gap may separate two records if a seal between them was damaged. The record after the gap then links to the record
// before it, which proves that nothing is missing.
//
// A torn tail is the invalid end of a log, which remains if a write was interrupted. The durable field distinguishes a
// torn tail from damage. An invalid record was never acknowledged if no later record marks it as durable, so the record
// is cut off. If a later record says that the invalid record was durable, data was lost and the log is refused.
//
// The checksum includes the log's identity, so that records from other logs, or inside an entry's text, are never
// mistaken for this log's records.
//
// Versions:
//
//	1  2026-11: first version
//	2026-12: A rewrite writes many small records into the base section. Before, it wrote a few
//	records of 1 MiB. Older programs can read the small records.

package wal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"
)

const (
	// FormatVersion is the version of the file format that this package reads and writes.
	FormatVersion = 1

	// MaxBody is the maximum size of a record's body in bytes.
	MaxBody = 64 << 20

	// HeaderSize is the size of the log file's header in bytes.
	HeaderSize = 96

	// RecordOverhead is the number of bytes that a record has in addition to its body.
	RecordOverhead = prefixSize + chainHashSize

	prefixSize    = 40
	chainHashSize = 32

	// MinTypeOutsideHashChain is the lowest type of records that are not changes, so the log's hash chain does not
	// include them.
	MinTypeOutsideHashChain = 128

	// TypeBaseSection is the type of the records that contain the state before the first change of the log (the base
	// section).
	TypeBaseSection = 128

	// TypeSeal is the type of a seal, an empty record that marks the record before it as durable.
	TypeSeal = 255
)

var (
	fileMagic   = [8]byte{'O', 'X', 'B', 'O', 'W', 0x0d, 0x0a, 0x1a}
	recordMagic = [4]byte{'\n', 'o', 'x', 'r'}
	crcTable    = crc32.MakeTable(crc32.Castagnoli)
)

// Header is the header of a log file.
type Header struct {
	ID              [16]byte
	CreatedUnixNano int64 // nanoseconds since 1970
	BaseSeq         uint64
	// Hash of the log up to and including the change BaseSeq. The hashes of later changes continue this hash.
	BaseChainHash        [32]byte
	BaseSectionEndOffset int64 // offset at which the records end that contain the state after the change BaseSeq
}

// Record is one record in a log.
type Record struct {
	Seq          uint64
	DurableSeq   uint64
	TimeUnixNano int64 // nanoseconds since 1970
	Type         uint8
	Body         []byte
	ChainHash    [32]byte
	FileOffset   int64 // offset of the record's first byte in the file
}

// encodedSize returns the number of bytes that the record has in the file.
func (r *Record) encodedSize() int64 { return RecordOverhead + int64(len(r.Body)) }

// IsChainedRecord reports whether r is a change with this sequence number and this hash. The hash (chain) covers the
// change and all changes before it.
func (r *Record) IsChainedRecord(seq uint64, chain [32]byte) bool {
	return r.Type < MinTypeOutsideHashChain && r.Seq == seq && r.ChainHash == chain
}

func (h *Header) encode() []byte {
	b := make([]byte, HeaderSize)
	copy(b, fileMagic[:])
	le := binary.LittleEndian
	le.PutUint32(b[8:], FormatVersion)
	copy(b[16:], h.ID[:])
	le.PutUint64(b[32:], uint64(h.CreatedUnixNano))
	le.PutUint64(b[40:], h.BaseSeq)
	copy(b[48:], h.BaseChainHash[:])
	le.PutUint64(b[80:], uint64(h.BaseSectionEndOffset))
	le.PutUint32(b[92:], crc32.Checksum(b[:92], crcTable))
	return b
}

// FirstChainHash returns the hash with which the hash chain of a new log begins. It depends on the log's identity id.
// The hash of the log's first change is computed from the change and this hash.
func FirstChainHash(id [16]byte) [32]byte {
	h := Header{ID: id}
	return sha256.Sum256(h.encode()[:32])
}

// HeaderID returns the identity of the log in an encoded header. It returns an error if the header is damaged or has
// an unknown version.
func HeaderID(header []byte) ([16]byte, error) {
	h, err := decodeHeader(header)
	return h.ID, err
}

// decodeHeader decodes a header. An error may be a *recordDamage, which the caller must convert to a CorruptError.
func decodeHeader(b []byte) (Header, error) {
	if len(b) < len(fileMagic) || [8]byte(b[:8]) != fileMagic {
		return Header{}, ErrNotLog
	}
	if len(b) < HeaderSize {
		return Header{}, &recordDamage{0, "the header is cut short"}
	}
	le := binary.LittleEndian
	// Check the version first, because a newer version may have a different header. The version field may also be
	// damaged. It is damaged if the version is 0, or if the checksum would be right with the version FormatVersion.
	if v := le.Uint32(b[8:]); v != FormatVersion {
		known := append(le.AppendUint32(bytes.Clone(b[:8]), FormatVersion), b[12:92]...)
		if v == 0 || crc32.Checksum(known, crcTable) == le.Uint32(b[92:]) {
			return Header{}, &recordDamage{8, "the version in the header is damaged"}
		}
		return Header{}, &VersionError{Version: v}
	}
	if crc32.Checksum(b[:92], crcTable) != le.Uint32(b[92:]) {
		return Header{}, &recordDamage{0, "the header does not match its checksum"}
	}
	if f := le.Uint32(b[12:]); f != 0 {
		return Header{}, &VersionError{Version: FormatVersion, UnknownFlags: f}
	}
	var h Header
	copy(h.ID[:], b[16:])
	h.CreatedUnixNano = int64(le.Uint64(b[32:]))
	h.BaseSeq = le.Uint64(b[40:])
	copy(h.BaseChainHash[:], b[48:])
	h.BaseSectionEndOffset = int64(le.Uint64(b[80:]))
	if h.BaseSectionEndOffset < HeaderSize || le.Uint32(b[88:]) != 0 {
		return Header{}, &recordDamage{80, "the header has an unknown form"}
	}
	return h, nil
}

// checksumSeed returns the CRC-32C of the log's identity. It is the start value of each record's checksum.
func (h *Header) checksumSeed() uint32 { return crc32.Checksum(h.ID[:], crcTable) }

// appendRecord appends the encoded record to b. seed is the result of checksumSeed.
func appendRecord(b []byte, r *Record, seed uint32) []byte {
	le := binary.LittleEndian
	start := len(b)
	b = append(b, recordMagic[:]...)
	b = le.AppendUint32(b, uint32(len(r.Body)))
	b = le.AppendUint64(b, r.Seq)
	b = le.AppendUint64(b, r.DurableSeq)
	b = le.AppendUint64(b, uint64(r.TimeUnixNano))
	b = append(b, r.Type, 0, 0, 0)
	crc := crc32.Update(seed, crcTable, b[start:])
	crc = crc32.Update(crc, crcTable, r.Body)
	crc = crc32.Update(crc, crcTable, r.ChainHash[:])
	b = le.AppendUint32(b, crc)
	b = append(b, r.Body...)
	return append(b, r.ChainHash[:]...)
}

// decodeRecord returns these errors for bytes that are not a complete record.
var (
	errLogEnd      = errors.New("the log ends here")
	errShortRecord = errors.New("the record is cut short")
)

// decodeRecord decodes the record at the start of b. The record's body shares memory with b. seed is the result of
// checksumSeed. The error is errLogEnd if b begins with zeros, which fill the file after the last record. It is
// errShortRecord if b is too short, and then requiredSize is the required length. Other errors describe damage.
func decodeRecord(b []byte, seed uint32) (r Record, requiredSize int64, err error) {
	if len(b) < prefixSize {
		return Record{}, prefixSize, errShortRecord
	}
	le := binary.LittleEndian
	if m := [4]byte(b); m != recordMagic {
		if m == [4]byte{} {
			return Record{}, 0, errLogEnd
		}
		return Record{}, 0, errors.New("no record begins here")
	}
	n := int64(le.Uint32(b[4:]))
	if n > MaxBody {
		return Record{}, 0, fmt.Errorf("a record claims a body of %d bytes", n)
	}
	requiredSize = RecordOverhead + n
	if int64(len(b)) < requiredSize {
		return Record{}, requiredSize, errShortRecord
	}
	crc := crc32.Update(seed, crcTable, b[:36])
	crc = crc32.Update(crc, crcTable, b[prefixSize:requiredSize])
	if crc != le.Uint32(b[36:]) {
		return Record{}, 0, errors.New("a record does not match its checksum")
	}
	if b[33]|b[34]|b[35] != 0 || b[32] == 0 {
		return Record{}, 0, errors.New("a record has an unknown form")
	}
	r = Record{
		Seq:          le.Uint64(b[8:]),
		DurableSeq:   le.Uint64(b[16:]),
		TimeUnixNano: int64(le.Uint64(b[24:])),
		Type:         b[32],
		Body:         b[prefixSize : prefixSize+n : prefixSize+n],
	}
	copy(r.ChainHash[:], b[prefixSize+n:])
	return r, requiredSize, nil
}

// ComputeChainHash returns a record's chain, which is a hash of all changes up to this record. ComputeChainHash
// computes the hash from the previous record's chain and the fields of this record.
func ComputeChainHash(
	previousChainHash [32]byte,
	seq uint64,
	unixNano int64,
	recordType uint8,
	digest [32]byte,
) [32]byte {
	var b [32 + 8 + 8 + 1 + 32]byte
	copy(b[:], previousChainHash[:])
	binary.LittleEndian.PutUint64(b[32:], seq)
	binary.LittleEndian.PutUint64(b[40:], uint64(unixNano))
	b[48] = recordType
	copy(b[49:], digest[:])
	return sha256.Sum256(b[:])
}

func isZero(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// A VersionError reports that this package does not support the file's version or flags.
type VersionError struct {
	Version      uint32
	UnknownFlags uint32 // the file's flags that this version of oxbow does not support (0 if Version is not supported)
}

func (e *VersionError) Error() string {
	if e.UnknownFlags != 0 {
		return fmt.Sprintf("the file has unknown flags %#x", e.UnknownFlags)
	}
	return fmt.Sprintf("the file is of format version %d; this program knows version %d", e.Version, FormatVersion)
}

// lockFileMetadata is the content of the lock file. It describes the process that is the lock's present or last holder,
// and how far the log is durable. If the log lacks a change up to DurableSeq, a process notices that the log went back
// to an earlier state.
//
// The lock file is not synced, so it may be outdated or missing after a crash. It never claims more than is on stable
// storage. A checksum is needed, because a crash may leave a mixture of two versions. A wrong number could name changes
// that never existed, and the log would be refused because it lacks these changes.
type lockFileMetadata struct {
	LockHolder
	ID         string `json:"id,omitempty"`      // identity of the log, in hex
	DurableSeq uint64 `json:"durable,omitempty"` // highest sequence number that is known to be on stable storage
	// a sync of the file failed, and the log could not replace the file
	HasFailedSync bool   `json:"unsynced,omitempty"`
	Checksum      uint32 `json:"sum,omitempty"` // CRC-32C of the encoded fields ID, DurableSeq and HasFailedSync
}

// lockMetaSize is the size of the lock file in bytes. The content is padded with spaces to this size, so that a single
// write replaces all of it.
const lockMetaSize = 256

// encode returns the metadata as JSON, padded with spaces to lockMetaSize bytes. The result uses the memory of b, which
// must be empty. encode builds the JSON by hand, because encode is called for every change and must be fast.
func (n *lockFileMetadata) encode(b []byte) []byte {
	b = append(b, lockFilePrefix()...)
	b = n.Since.AppendFormat(b, time.RFC3339Nano)
	if n.ID != "" {
		b = append(b, `",`...)
		start := len(b)
		b = n.appendFields(b)
		sum := crc32.Checksum(b[start:], crcTable)
		b = append(b, `,"sum":`...)
		b = strconv.AppendUint(b, uint64(sum), 10)
		b = append(b, '}')
	} else {
		b = append(b, `"}`...)
	}
	for len(b) < lockMetaSize-1 {
		b = append(b, ' ')
	}
	return append(b[:lockMetaSize-1], '\n')
}

// appendFields appends the fields of the lock file that a checksum covers. These are the fields whose values must be
// right, because oxbow relies on them.
func (n *lockFileMetadata) appendFields(b []byte) []byte {
	b = append(b, `"id":"`...)
	b = append(b, n.ID...)
	b = append(b, `","durable":`...)
	b = strconv.AppendUint(b, n.DurableSeq, 10)
	if n.HasFailedSync {
		b = append(b, `,"unsynced":true`...)
	}
	return b
}
