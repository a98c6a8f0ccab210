// The byte format of the log: header, record, chain. Integers are little-endian.
//
// Header, 96 bytes:
//
//	offset size field
//	     0    8 magic: "OXBOW" 0D 0A 1A
//	     8    4 version, 1
//	    12    4 flags, 0; any other is refused
//	    16   16 identity of the log, random, kept by every rewrite
//	    32    8 time the log was made, nanoseconds since 1970
//	    40    8 base: the sequence number that the first chained record follows
//	    48   32 chain at base
//	    80    8 end of the base section, an offset in the file
//	    88    4 reserved, 0
//	    92    4 CRC-32C of bytes 0 to 91
//
// In a new log, base is 0, the chain at base is SHA-256 of bytes 0 to 31, and
// the base section is empty: it ends at 96. A rewrite may put there, as
// unchained records, the state that the dropped records had led to. It is on
// stable storage before the file has its name, so that damage in it is never a
// torn tail.
//
// Record, 72 bytes and its body:
//
//	offset size field
//	     0    4 mark: 0A "oxr"; 0 means that the log ends here
//	     4    4 length of the body, n, at most 64 MiB
//	     8    8 sequence number
//	    16    8 durable: the highest sequence number known to be on stable
//	            storage when this record was written
//	    24    8 time, nanoseconds since 1970
//	    32    1 type
//	    33    3 reserved, 0
//	    36    4 CRC-32C of the log's identity, bytes 0 to 35, body and chain
//	    40    n body
//	  40+n   32 chain
//
// A record of type 1 to 127 is chained: its sequence number is one more than
// that of the chained record before it, and
//
//	chain = SHA-256(chain before ‖ sequence number ‖ time ‖ type ‖ digest)
//
// where digest is 32 bytes made from the body by the log's user. A record of
// type 128 to 255 says nothing new about history: it repeats the sequence
// number and the chain of the chained record before it (or of the base). Type
// 255 is a seal: an empty record whose only purpose is its durable field.
//
// Between two records there may be a gap, where a seal was damaged: the record
// after it then links to the one before, which proves that nothing is missing.
//
// The durable field tells a torn tail from damage. A record that does not check
// and that no later record marks as durable was never acknowledged: it is cut. When
// a later record says that the damaged one had been durable, something was
// lost, and the log is refused.
//
// The identity in the checksum keeps a record of another log, or one in
// the body of an entry, from passing for one of this log.
//
// Versions:
//
//	1  2026-11: first
//	   2026-12: a rewrite puts small records into the base section, where it put few of 1 MiB;
//	   each is read without the others, so that programs of before read them, too

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
	// Version is the format version that this package writes and reads.
	Version = 1

	// MaxBody is the most bytes that the body of a record may have.
	MaxBody = 64 << 20

	// HeaderSize is the number of bytes before the first record.
	HeaderSize = 96

	// Overhead is the number of bytes a record takes in addition to its body.
	Overhead = prefixSize + chainSize

	prefixSize = 40
	chainSize  = 32

	// Unchained is the first type of a record that is not part of the chain.
	Unchained = 128

	// Base is the type of a record of the base section.
	Base = 128

	// Seal is the type of a seal record.
	Seal = 255
)

var (
	magic      = [8]byte{'O', 'X', 'B', 'O', 'W', 0x0d, 0x0a, 0x1a}
	recordMark = [4]byte{'\n', 'o', 'x', 'r'}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// Header describes a log file.
type Header struct {
	ID      [16]byte
	Created int64 // nanoseconds since 1970
	Base    uint64
	Chain   [32]byte // chain at Base
	BaseEnd int64    // offset after the base section
}

// Record is one record of a log.
type Record struct {
	Seq     uint64
	Durable uint64
	Time    int64 // nanoseconds since 1970
	Type    uint8
	Body    []byte
	Chain   [32]byte
	Offset  int64 // of its first byte in the file
}

// size returns the number of bytes the record takes in the file.
func (r *Record) size() int64 { return Overhead + int64(len(r.Body)) }

func (h *Header) encode() []byte {
	b := make([]byte, HeaderSize)
	copy(b, magic[:])
	le := binary.LittleEndian
	le.PutUint32(b[8:], Version)
	copy(b[16:], h.ID[:])
	le.PutUint64(b[32:], uint64(h.Created))
	le.PutUint64(b[40:], h.Base)
	copy(b[48:], h.Chain[:])
	le.PutUint64(b[80:], uint64(h.BaseEnd))
	le.PutUint32(b[92:], crc32.Checksum(b[:92], castagnoli))
	return b
}

// FirstChain returns the chain at base 0 of a log of that identity.
func FirstChain(id [16]byte) [32]byte {
	h := Header{ID: id}
	return sha256.Sum256(h.encode()[:32])
}

// HeaderID returns the identity in the header of a log. It returns an error if the
// header is damaged, or of an unknown version.
func HeaderID(header []byte) ([16]byte, error) {
	h, err := decodeHeader(header)
	return h.ID, err
}

// decodeHeader reads a header. The error's reason is for the caller to wrap.
func decodeHeader(b []byte) (Header, error) {
	if len(b) < len(magic) || [8]byte(b[:8]) != magic {
		return Header{}, ErrMagic
	}
	if len(b) < HeaderSize {
		return Header{}, &damage{0, "the header is cut short"}
	}
	le := binary.LittleEndian
	// A newer version may have another header, so it is checked first. A version that
	// was this one, by the checksum, is damaged.
	if v := le.Uint32(b[8:]); v != Version {
		known := append(le.AppendUint32(bytes.Clone(b[:8]), Version), b[12:92]...)
		if v == 0 || crc32.Checksum(known, castagnoli) == le.Uint32(b[92:]) {
			return Header{}, &damage{8, "the version in the header is damaged"}
		}
		return Header{}, &VersionError{Have: v}
	}
	if crc32.Checksum(b[:92], castagnoli) != le.Uint32(b[92:]) {
		return Header{}, &damage{0, "the header does not match its checksum"}
	}
	if f := le.Uint32(b[12:]); f != 0 {
		return Header{}, &VersionError{Have: Version, Flags: f}
	}
	var h Header
	copy(h.ID[:], b[16:])
	h.Created = int64(le.Uint64(b[32:]))
	h.Base = le.Uint64(b[40:])
	copy(h.Chain[:], b[48:])
	h.BaseEnd = int64(le.Uint64(b[80:]))
	if h.BaseEnd < HeaderSize || le.Uint32(b[88:]) != 0 {
		return Header{}, &damage{80, "the header has an unknown form"}
	}
	return h, nil
}

// seed is the state of the checksum after the log's identity.
func (h *Header) seed() uint32 { return crc32.Checksum(h.ID[:], castagnoli) }

// appendRecord appends the bytes of r to b.
func appendRecord(b []byte, r *Record, seed uint32) []byte {
	le := binary.LittleEndian
	start := len(b)
	b = append(b, recordMark[:]...)
	b = le.AppendUint32(b, uint32(len(r.Body)))
	b = le.AppendUint64(b, r.Seq)
	b = le.AppendUint64(b, r.Durable)
	b = le.AppendUint64(b, uint64(r.Time))
	b = append(b, r.Type, 0, 0, 0)
	crc := crc32.Update(seed, castagnoli, b[start:])
	crc = crc32.Update(crc, castagnoli, r.Body)
	crc = crc32.Update(crc, castagnoli, r.Chain[:])
	b = le.AppendUint32(b, crc)
	b = append(b, r.Body...)
	return append(b, r.Chain[:]...)
}

// Reasons that bytes are no record.
var (
	errEnd   = errors.New("the log ends here")
	errShort = errors.New("the record is cut short")
)

// decodeRecord reads the record at the start of b. Its body aliases b. The
// error is errEnd where free space begins, errShort when b holds too little to
// tell, with the number of bytes needed in need, or else says what is wrong.
func decodeRecord(b []byte, seed uint32) (r Record, need int64, err error) {
	if len(b) < prefixSize {
		return Record{}, prefixSize, errShort
	}
	le := binary.LittleEndian
	if m := [4]byte(b); m != recordMark {
		if m == [4]byte{} {
			return Record{}, 0, errEnd
		}
		return Record{}, 0, errors.New("no record begins here")
	}
	n := int64(le.Uint32(b[4:]))
	if n > MaxBody {
		return Record{}, 0, fmt.Errorf("a record claims a body of %d bytes", n)
	}
	need = Overhead + n
	if int64(len(b)) < need {
		return Record{}, need, errShort
	}
	crc := crc32.Update(seed, castagnoli, b[:36])
	crc = crc32.Update(crc, castagnoli, b[prefixSize:need])
	if crc != le.Uint32(b[36:]) {
		return Record{}, 0, errors.New("a record does not match its checksum")
	}
	if b[33]|b[34]|b[35] != 0 || b[32] == 0 {
		return Record{}, 0, errors.New("a record has an unknown form")
	}
	r = Record{
		Seq:     le.Uint64(b[8:]),
		Durable: le.Uint64(b[16:]),
		Time:    int64(le.Uint64(b[24:])),
		Type:    b[32],
		Body:    b[prefixSize : prefixSize+n : prefixSize+n],
	}
	copy(r.Chain[:], b[prefixSize+n:])
	return r, need, nil
}

// Link returns the chain of a chained record.
func Link(before [32]byte, seq uint64, time int64, typ uint8, digest [32]byte) [32]byte {
	var b [32 + 8 + 8 + 1 + 32]byte
	copy(b[:], before[:])
	binary.LittleEndian.PutUint64(b[32:], seq)
	binary.LittleEndian.PutUint64(b[40:], uint64(time))
	b[48] = typ
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

// VersionError says that the file is of a version this package does not know.
type VersionError struct {
	Have  uint32
	Flags uint32 // unknown flags of a known version
}

func (e *VersionError) Error() string {
	if e.Flags != 0 {
		return fmt.Sprintf("the file has unknown flags %#x", e.Flags)
	}
	return fmt.Sprintf("the file is of format version %d; this program knows version %d", e.Have, Version)
}

// lockMeta is the content of the lock file: the holder of the lock, or the last
// one, and what is known of the log, so that a log that went back is noticed. It
// is not synced. It only says what already is on stable storage, so that after a
// crash it is older than the log or gone, never ahead. It has a checksum, because a crash can
// leave the beginning of one version and the end of another: two numbers then
// make a third, which would have the log refused for changes never made.
type lockMeta struct {
	Holder
	ID       string `json:"id,omitempty"`       // of the log, in hex
	Durable  uint64 `json:"durable,omitempty"`  // highest sequence number known to be on stable storage
	Unsynced bool   `json:"unsynced,omitempty"` // a sync of the file failed and it could not be replaced
	Sum      uint32 `json:"sum,omitempty"`      // CRC-32C of the text of the three before
}

// lockMetaSize is the number of bytes in the lock file, padded with
// spaces, so that one write replaces the one before.
const lockMetaSize = 256

// encode appends the metadata of this process to b, as JSON of noteSize bytes. It
// is written for every change, so it is made by hand.
func (n *lockMeta) encode(b []byte) []byte {
	b = append(b, me()...)
	b = n.Since.AppendFormat(b, time.RFC3339Nano)
	if n.ID != "" {
		b = append(b, `",`...)
		start := len(b)
		b = n.facts(b)
		sum := crc32.Checksum(b[start:], castagnoli)
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

// facts appends the fields that decisions depend on, which the checksum covers.
func (n *lockMeta) facts(b []byte) []byte {
	b = append(b, `"id":"`...)
	b = append(b, n.ID...)
	b = append(b, `","durable":`...)
	b = strconv.AppendUint(b, n.Durable, 10)
	if n.Unsynced {
		b = append(b, `,"unsynced":true`...)
	}
	return b
}
