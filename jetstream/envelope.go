// This file encodes and decodes the messages with the changes of a brain, which is a memory on the servers. A message
// has a frame with a checksum. It contains the hash of the previous message, so that the messages form a chain.

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

// These are the parts of a message. A message that contains changes or a snapshot of a brain (a memory in the cluster)
// is called an envelope. A message is a frame around a body. Integers are little-endian:
//
//	offset size field
//	     0    4 magic "oxj1"
//	     4    1 form of the body: 0 JSON, 1 JSON compressed by zstd
//	     5    4 CRC-32C of the rest of the message
//	     9    … body
//
// The chain at an envelope is a hash: the SHA-256 of the body of the message as sent. The body contains the chain of
// the previous envelope, so that each hash covers all earlier envelopes.
const (
	messageMagic           = "oxj1"
	messageHeadSize        = 9
	minCompressedBodyBytes = 16 << 10 // minimum size in bytes of a JSON text that is compressed
	maxBodyBytes           = 64 << 20 // maximum size in bytes of a JSON text after decompression
)

// envelopeVersion is the format version of the messages (envelopes) that this code writes. It is also the newest
// version that this code can read. These versions exist:
//
//	version 1, November 2026: changes, and snapshots in segments
const envelopeVersion = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chainHash is the SHA-256 of a message with changes. The message contains the chainHash of the message before it, so
// each chainHash covers all earlier messages.
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

// envelope is a message in the stream of a brain (a memory in the cluster). It contains either changes that were made
// together, or a snapshot of all earlier messages. Envelopes form a chain, because each envelope contains the hash of
// the previous one. A snapshot is not a link of this chain. A snapshot's EnvelopeNumber is the number of the last
// envelope that the snapshot contains, and PrevChainHash is that envelope's chain hash.
type envelope struct {
	Version          int       `json:"v"`
	BrainName        string    `json:"brain"`
	EnvelopeNumber   uint64    `json:"n"` // number of the envelope, starting at 1, without gaps
	PrevChainHash    chainHash `json:"prev_hash"`
	BrainEpoch       uint64    `json:"epoch"`
	SenderNode       string    `json:"node"`
	EnvelopeID       string    `json:"id"`   // random ID, by which the sender recognizes the envelope if its acknowledgement was lost
	ChangeTime       int64     `json:"time"` // time of all changes in this message, in nanoseconds since 1970
	LastChangeBefore uint64    `json:"base"` // number of the brain's last change before the changes in this message
	FileChainHash    string    `json:"state,omitempty"`

	Changes  []requestedChange `json:"changes,omitempty"`
	Snapshot *snapshot         `json:"snapshot,omitempty"`
}

// snapshot describes a copy of the file that a process uses as its local copy of a brain (a memory in the cluster). The
// copy was made after the change LastChange. If the copy is small, the message with the snapshot contains it. A larger
// copy is divided into segments, which are separate messages.
type snapshot struct {
	FileSize   int64     `json:"size"`
	FileHash   chainHash `json:"sha256"` // hash of the file
	LastChange uint64    `json:"last"`   // number of the file's last change
	// IDs of the last messages (envelopes) whose changes the file contains
	RecentEnvelopeIDs []string `json:"recent"`
	CompressedBytes   int64    `json:"stored"` // size of the compressed file in the stream, in bytes
	// the compressed snapshot file (empty if the file is stored in segments)
	InlineFile   []byte        `json:"inline,omitempty"`
	FileSegments []fileSegment `json:"segments,omitempty"`
}

// fileSegment is a part of a file. It is compressed by zstd and stored in a separate message.
type fileSegment struct {
	// number of the segment, which is the last part of the subject of its message
	SegmentNumber     uint64    `json:"number"`
	UncompressedBytes int64     `json:"size"`   // size in bytes before compression
	CompressedBytes   int64     `json:"stored"` // size in bytes after compression
	UncompressedHash  chainHash `json:"sha256"` // hash before compression
}

// The zstd encoder and decoder are only used with EncodeAll and DecodeAll, which are safe for concurrent use.
var (
	zstdEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2))
	zstdDecoder, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBodyBytes), zstd.WithDecoderConcurrency(2))
)

// encodeMessage returns the envelope in the form in which it is sent, and the SHA-256 of its body. The next envelope
// contains this hash, so that the envelopes form a chain.
func (e *envelope) encodeMessage() ([]byte, chainHash, error) {
	var b bytes.Buffer
	b.WriteString(messageMagic)
	b.Write(make([]byte, messageHeadSize-len(messageMagic)))
	j := json.NewEncoder(&b)
	j.SetEscapeHTML(false)
	if err := j.Encode(e); err != nil {
		return nil, chainHash{}, fmt.Errorf("encode envelope %d: %w", e.EnvelopeNumber, err)
	}
	m := b.Bytes()
	if len(m) > minCompressedBodyBytes {
		m = zstdEncoder.EncodeAll(m[messageHeadSize:], append(make([]byte, 0, len(m)/2), m[:messageHeadSize]...))
		m[4] = 1
	}
	setChecksum(m)
	return m, sha256.Sum256(m[messageHeadSize:]), nil
}

// setChecksum computes the checksum of an encoded message, and writes it into the head of the message.
func setChecksum(message []byte) {
	binary.LittleEndian.PutUint32(message[5:], crc32.Checksum(message[messageHeadSize:], castagnoli))
}

// decodeEnvelope decodes a message from the stream of a brain (a memory). It returns the envelope in the message, and
// the SHA-256 hash of the message's body. A message with changes contains in its body the hash of the previous such
// message, so the hash covers all messages with changes up to this message. Errors match [oxbow.ErrCorrupt] or
// [oxbow.ErrVersion].
func decodeEnvelope(message []byte) (*envelope, chainHash, error) {
	if len(message) < messageHeadSize || string(message[:4]) != messageMagic {
		return nil, chainHash{}, fmt.Errorf("%w: a message is no envelope", oxbow.ErrCorrupt)
	}
	body := message[messageHeadSize:]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(message[5:]) {
		return nil, chainHash{}, fmt.Errorf("%w: the checksum of an envelope is wrong", oxbow.ErrCorrupt)
	}
	hash := sha256.Sum256(body)
	switch message[4] {
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
			message[4],
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
			e.EnvelopeNumber,
			e.BrainName,
			e.Version,
		)
	}
	if (len(e.Changes) == 0) == (e.Snapshot == nil) || e.EnvelopeNumber == 0 {
		return nil, hash, fmt.Errorf(
			"%w: envelope %d of %s holds no changes and no snapshot, or both",
			oxbow.ErrCorrupt,
			e.EnvelopeNumber,
			e.BrainName,
		)
	}
	return e, hash, nil
}
