// This file encodes and decodes the messages of a brain. A message has a frame with a checksum, and contains the chain
// of the previous message.

package jetstream

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
	"github.com/oxbow-memory/oxbow"
)

// A message is a frame around a body. Integers are little-endian:
//
//	offset size field
//	     0    4 magic "oxj1"
//	     4    1 form of the body: 0 JSON, 1 JSON compressed by zstd
//	     5    4 CRC-32C of the rest of the message
//	     9    … body
//
// The chain at an envelope is the SHA-256 of its body as sent. The body contains the chain of the
// previous envelope, so that each hash covers all earlier envelopes.
const (
	frameMagic      = "oxj1"
	frameHeadSize   = 9
	minCompressSize = 16 << 10 // minimum size in bytes of a JSON text that is compressed
	maxBody         = 64 << 20 // maximum size in bytes of a JSON text after decompression
)

// envelopeVersion is the version of envelopes that this code writes, and the newest version that it can
// read.
//
//	1 November 2026: changes, and snapshots in segments
const envelopeVersion = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chainHash is the value of the chain at an envelope.
type chainHash [32]byte

// MarshalText implements [encoding.TextMarshaler].
func (h chainHash) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%x", h[:]), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (h *chainHash) UnmarshalText(b []byte) error {
	var v []byte
	n, err := fmt.Sscanf(string(b), "%x", &v)
	isRead := err == nil && n == 1
	if !isRead || len(v) != len(h) {
		return fmt.Errorf("%.80q is not a hash", b)
	}
	*h = chainHash(v)
	return nil
}

// envelope is a message of a brain. It contains either changes that were made together, or a
// snapshot of all earlier messages. A snapshot is not a link of the chain. Its number is the number
// of the last envelope in the snapshot, and Prev is the chain at that envelope.
type envelope struct {
	Version          int       `json:"v"`
	Brain            string    `json:"brain"`
	Number           uint64    `json:"n"` // number of the envelope, starting at 1, without gaps
	Prev             chainHash `json:"prev_hash"`
	Epoch            uint64    `json:"epoch"`
	Node             string    `json:"node"`
	ID               string    `json:"id"`   // random ID, by which the sender recognizes the envelope if its acknowledgement was lost
	Time             int64     `json:"time"` // time of all changes in the envelope, in nanoseconds since 1970
	LastChangeBefore uint64    `json:"base"` // number of the last change before this envelope
	State            string    `json:"state,omitempty"`

	Changes  []brainChange `json:"changes,omitempty"`
	Snapshot *snapshot     `json:"snapshot,omitempty"`
}

// snapshot is the file of a replica after the change LastChange. A small file is stored in the message itself, and a
// larger file in segments.
type snapshot struct {
	Size       int64     `json:"size"`
	Hash       chainHash `json:"sha256"`           // hash of the file
	LastChange uint64    `json:"last"`             // number of the file's last change
	RecentIDs  []string  `json:"recent"`           // IDs of the last envelopes in the file
	Stored     int64     `json:"stored"`           // size of the compressed file in the stream, in bytes
	Inline     []byte    `json:"inline,omitempty"` // compressed file (empty if it is stored in segments)
	Segments   []segment `json:"segments,omitempty"`
}

// segment is a part of a file. It is compressed by zstd and stored in a separate message.
type segment struct {
	Number uint64    `json:"number"` // last token of the segment's subject
	Size   int64     `json:"size"`   // size in bytes before compression
	Stored int64     `json:"stored"` // size in bytes after compression
	Hash   chainHash `json:"sha256"` // hash before compression
}

// These coders are only used with EncodeAll and DecodeAll, which are safe for concurrent use.
var (
	zstdEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2))
	zstdDecoder, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBody), zstd.WithDecoderConcurrency(2))
)

// encodeMessage returns the envelope as a message, and the value of the chain at the envelope.
func (e *envelope) encodeMessage() ([]byte, chainHash, error) {
	var b bytes.Buffer
	b.WriteString(frameMagic)
	b.Write(make([]byte, frameHeadSize-len(frameMagic)))
	j := json.NewEncoder(&b)
	j.SetEscapeHTML(false)
	if err := j.Encode(e); err != nil {
		return nil, chainHash{}, fmt.Errorf("encode envelope %d: %w", e.Number, err)
	}
	m := b.Bytes()
	if len(m) > minCompressSize {
		m = zstdEncoder.EncodeAll(m[frameHeadSize:], append(make([]byte, 0, len(m)/2), m[:frameHeadSize]...))
		m[4] = 1
	}
	setChecksum(m)
	return m, sha256.Sum256(m[frameHeadSize:]), nil
}

// setChecksum sets the checksum of a message.
func setChecksum(m []byte) {
	binary.LittleEndian.PutUint32(m[5:], crc32.Checksum(m[frameHeadSize:], castagnoli))
}

// decodeEnvelope decodes a message. It returns the envelope and the value of the chain at the envelope. Errors match
// [oxbow.ErrCorrupt] or [oxbow.ErrVersion].
func decodeEnvelope(m []byte) (*envelope, chainHash, error) {
	if len(m) < frameHeadSize || string(m[:4]) != frameMagic {
		return nil, chainHash{}, fmt.Errorf("%w: a message is no envelope", oxbow.ErrCorrupt)
	}
	body := m[frameHeadSize:]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(m[5:]) {
		return nil, chainHash{}, fmt.Errorf("%w: the checksum of an envelope is wrong", oxbow.ErrCorrupt)
	}
	hash := sha256.Sum256(body)
	switch m[4] {
	case 0:
	case 1:
		var err error
		body, err = zstdDecoder.DecodeAll(body, nil)
		if err != nil {
			return nil, hash, fmt.Errorf("%w: an envelope cannot be unpacked: %v", oxbow.ErrCorrupt, err)
		}
	default:
		return nil, hash, fmt.Errorf(
			"%w: an envelope is of form %d; a newer oxbow wrote it: update this one",
			oxbow.ErrVersion,
			m[4],
		)
	}
	e := new(envelope)
	if err := json.Unmarshal(body, e); err != nil {
		return nil, hash, fmt.Errorf("%w: an envelope cannot be read: %v", oxbow.ErrCorrupt, err)
	}
	if e.Version != envelopeVersion {
		return nil, hash, fmt.Errorf(
			"%w: envelope %d of %s is of version %d; a newer oxbow wrote it: update this one",
			oxbow.ErrVersion,
			e.Number,
			e.Brain,
			e.Version,
		)
	}
	if (len(e.Changes) == 0) == (e.Snapshot == nil) || e.Number == 0 {
		return nil, hash, fmt.Errorf(
			"%w: envelope %d of %s holds no changes and no snapshot, or both",
			oxbow.ErrCorrupt,
			e.Number,
			e.Brain,
		)
	}
	return e, hash, nil
}
