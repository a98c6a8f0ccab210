// This file reads and writes the format of fingerprint files.
//
// The file begins with a header of 32 bytes. Numbers are little-endian.
//
//	magic   8 bytes "OXprint1"
//	key     8 bytes by which the key is recognized: the start of HMAC-SHA-256(key, "prints")
//	size    8 bytes length of the valid part of the file; the rest is ignored
//	zero    4 bytes
//	check   4 bytes CRC-32C of the bytes before
//
// Blocks follow the header. Each block describes a text or a change of a file:
//
//	magic   4 bytes "OXfp"
//	check   4 bytes CRC-32C of the rest of the head
//	check   4 bytes CRC-32C of the bytes after the head
//	sealed  4 bytes length of the encrypted labels
//	prints  4 bytes length of the fingerprints
//	level   4 bytes kind of the block, a [BlockKind]
//	time    8 bytes seconds since 1970
//	id      8 bytes start of an HMAC of the level, the labels and the fingerprints; if the fingerprints
//	        are divided among several blocks, it is that of all of them in the first block; for
//	        the middle of a very long text, it depends on the whole text instead
//	labels  a nonce of 12 bytes, and the labels encrypted with AES-256-GCM, with the head
//	        from "level" on as additional data; each label follows its length (uvarint)
//	prints  6 bytes each: AES-256 of the hash of a run of words, with the key of the home
//
// Therefore nobody can read the labels or the words from the file without the key, and a search does not need to
// decrypt the file.

package fingerprint

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"
)

const (
	headerSize            = 32
	blockHeaderSize       = 40
	nonceSize             = 12
	bytesPerFingerprint   = 6
	maxFileBlockBodyBytes = 4 << 20 // maximum size in bytes of a block's encrypted labels, and of its fingerprints
)

var (
	headerMagic = []byte("OXprint1")
	blockMagic  = []byte("OXfp")
	castagnoli  = crc32.MakeTable(crc32.Castagnoli)
	byteOrder   = binary.LittleEndian
)

// errDamaged reports that a file is damaged.
var errDamaged = errors.New("the file of fingerprints is damaged")

// BlockKind is the kind of data in a fingerprint file's block. A block describes a text that an agent read, or files
// that were written.
type BlockKind uint32

// These are all kinds of blocks in a fingerprint file. The numbers are part of the file format.
const (
	ForeignTextBlock       BlockKind = 1 // fingerprints of a text that neither the agent nor the person wrote
	UnknownAuthorTextBlock BlockKind = 2 // fingerprints of a text whose author is unknown
	// Fingerprints of words that a person vouched for. If an older block contains the same fingerprint, that
	// fingerprint is ignored, so that a repetition of these words is not reported.
	acceptedWordsBlock    BlockKind = 3
	agentPathsBlock       BlockKind = 4 // paths of files that the agent wrote (stored in place of fingerprints)
	foreignTextPathsBlock BlockKind = 5 // paths of files into which a program wrote foreign text
	// The block contains the start and end time of a program run, in place of fingerprints. The program may have
	// written foreign text to files.
	foreignTextProgramRunBlock BlockKind = 6
	// The block contains the start and end time of a program run, in place of fingerprints. The program may have
	// written text of unknown origin to files.
	unknownAuthorProgramRunBlock BlockKind = 7
)

const (
	// maxBlockAge is the time for which the fingerprints of a text are kept.
	maxBlockAge = 14 * 24 * time.Hour

	// maxAcceptedBlockAge is the time for which fingerprints are kept for which a person vouched. Removed fingerprints
	// are searched for as long, so that no older fingerprint outlives the vouch for it.
	maxAcceptedBlockAge = 2 * maxBlockAge
)

// maxAge returns the time for which blocks of this kind are kept.
func (k BlockKind) maxAge() time.Duration {
	if k == acceptedWordsBlock {
		return maxAcceptedBlockAge
	}
	return maxBlockAge
}

// textFingerprint is a keyed hash, with 48 bits, of a word sequence. Such a hash is also called a print.
type textFingerprint uint64

// cipherKey contains the ciphers that are derived from the key of a home.
type cipherKey struct {
	key         []byte
	blockCipher cipher.Block
	aead        cipher.AEAD
	headerKeyID uint64 // identifies the key in the header of a fingerprint file
}

func newCipherKey(key []byte) (*cipherKey, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	k := &cipherKey{key: key, blockCipher: block, aead: seal}
	k.headerKeyID = k.shortHMAC([]byte("prints"))
	return k, nil
}

// encryptWordRunHash encrypts a word run's hash with the home's key. The result is the print that is stored instead of
// the hash.
func (k *cipherKey) encryptWordRunHash(hash uint64) textFingerprint {
	var b [16]byte
	byteOrder.PutUint64(b[:], hash)
	b[15] = 1 // Set the last byte, so that no other use of this cipher encrypts the same 16 bytes.
	k.blockCipher.Encrypt(b[:], b[:])
	return decodeFingerprint(b[:])
}

// decodeFingerprint decodes the fingerprint at the start of b.
func decodeFingerprint(b []byte) textFingerprint {
	return textFingerprint(byteOrder.Uint32(b)) | textFingerprint(byteOrder.Uint16(b[4:]))<<32
}

// shortHMAC returns the first eight bytes of the parts' HMAC-SHA-256.
func (k *cipherKey) shortHMAC(parts ...[]byte) uint64 {
	h := hmac.New(sha256.New, k.key)
	for _, p := range parts {
		h.Write(p)
	}
	return byteOrder.Uint64(h.Sum(nil))
}

// makeHeader returns the header of a fingerprint file. The parameter size is how many bytes at the beginning of the
// file are valid.
func (k *cipherKey) makeHeader(size int64) []byte {
	b := make([]byte, headerSize)
	copy(b, headerMagic)
	byteOrder.PutUint64(b[8:], k.headerKeyID)
	byteOrder.PutUint64(b[16:], uint64(size))
	byteOrder.PutUint32(b[28:], crc32.Checksum(b[:28], castagnoli))
	return b
}

// readHeader reads a fingerprint file's header, and returns the size of the file's usable part. It fails with
// errDamaged if the header is not valid or was made with another key.
func (k *cipherKey) readHeader(b []byte) (size int64, err error) {
	if len(b) < headerSize || !bytes.Equal(b[:8], headerMagic) {
		return 0, errDamaged
	}
	if crc32.Checksum(b[:28], castagnoli) != byteOrder.Uint32(b[28:]) {
		return 0, errDamaged
	}
	size = int64(byteOrder.Uint64(b[16:]))
	if byteOrder.Uint64(b[8:]) != k.headerKeyID || size < headerSize {
		return 0, errDamaged
	}
	return size, nil
}

type blockHeader struct {
	encoded             []byte
	bodyChecksum        uint32 // checksum of the bytes after the head
	encryptedLabelsSize int    // length of the encrypted labels in bytes
	fingerprintsSize    int    // length of the fingerprints in bytes
	blockKind           BlockKind
	time                time.Time
	blockID             uint64
}

// readBlockHeader decodes the block head at the start of b.
func readBlockHeader(b []byte) (h blockHeader, err error) {
	if len(b) < blockHeaderSize || !bytes.Equal(b[:4], blockMagic) {
		return h, errDamaged
	}
	if byteOrder.Uint32(b[4:]) != crc32.Checksum(b[8:blockHeaderSize], castagnoli) {
		return h, errDamaged
	}
	sealed, prints := byteOrder.Uint32(b[12:]), byteOrder.Uint32(b[16:])
	switch {
	case sealed > maxFileBlockBodyBytes, prints > maxFileBlockBodyBytes, prints%bytesPerFingerprint != 0:
		return h, errDamaged
	}
	return blockHeader{
		b[:blockHeaderSize],
		byteOrder.Uint32(b[8:]),
		int(sealed),
		int(prints),
		BlockKind(byteOrder.Uint32(b[20:])),
		time.Unix(int64(byteOrder.Uint64(b[24:])), 0),
		byteOrder.Uint64(b[32:]),
	}, nil
}

// blockSize returns the block's length in bytes: the head, the encrypted labels and the fingerprints of one text.
func (h *blockHeader) blockSize() int {
	return blockHeaderSize + h.encryptedLabelsSize + h.fingerprintsSize
}

// unencodedBlock is a block that has an identifier, but was not encoded and encrypted yet.
type unencodedBlock struct {
	blockKind        BlockKind
	id               uint64
	labelBytes       []byte // each label follows its length
	fingerprintBytes []byte
}

// newUnencodedBlock returns a block with the labels and fingerprints of one text. The fingerprints must be sorted.
func (k *cipherKey) newUnencodedBlock(
	blockKind BlockKind,
	labels []string,
	fingerprints []textFingerprint,
) unencodedBlock {
	block := unencodedBlock{
		blockKind:        blockKind,
		fingerprintBytes: make([]byte, 0, bytesPerFingerprint*len(fingerprints)),
	}
	for _, l := range labels {
		block.labelBytes = append(binary.AppendUvarint(block.labelBytes, uint64(len(l))), l...)
	}
	for _, p := range fingerprints {
		block.fingerprintBytes = append(
			block.fingerprintBytes,
			byte(p), byte(p>>8), byte(p>>16), byte(p>>24), byte(p>>32), byte(p>>40),
		)
	}
	block.id = k.shortHMAC(
		byteOrder.AppendUint32(nil, uint32(blockKind)),
		block.labelBytes,
		[]byte{0},
		block.fingerprintBytes,
	)
	return block
}

// maxFingerprintBytesPerBlock is the maximum size in bytes of the fingerprints in an encoded block. It is the largest
// multiple of bytesPerFingerprint that readBlockHeader accepts.
const maxFingerprintBytesPerBlock = maxFileBlockBodyBytes / bytesPerFingerprint * bytesPerFingerprint

// appendBlock encodes a block and appends it to b. The argument addedTime is stored in the block. If the fingerprints
// have more than maxFingerprintBytesPerBlock bytes, appendBlock divides them among several encoded blocks with the same
// kind, labels and time. The first of these blocks has the identifier block.id. Because dropOldBlocks removes the
// oldest blocks first, the file contains all of them if it contains the first.
func (k *cipherKey) appendBlock(b []byte, block unencodedBlock, addedTime time.Time) []byte {
	wholeID := block.id
	rest := block.fingerprintBytes
	for part := uint32(1); len(rest) > maxFingerprintBytesPerBlock; part++ {
		block.fingerprintBytes = rest[:maxFingerprintBytesPerBlock]
		b = k.appendSmallBlock(b, block, addedTime)
		rest = rest[maxFingerprintBytesPerBlock:]
		block.id = k.shortHMAC(
			[]byte("continued"),
			byteOrder.AppendUint64(nil, wholeID),
			byteOrder.AppendUint32(nil, part),
		)
	}
	block.fingerprintBytes = rest
	return k.appendSmallBlock(b, block, addedTime)
}

// appendSmallBlock is like appendBlock for a block whose fingerprints have at most maxFingerprintBytesPerBlock bytes.
func (k *cipherKey) appendSmallBlock(b []byte, block unencodedBlock, addedTime time.Time) []byte {
	raw := make([]byte, blockHeaderSize)
	copy(raw, blockMagic)
	byteOrder.PutUint32(raw[20:], uint32(block.blockKind))
	byteOrder.PutUint64(raw[24:], uint64(addedTime.Unix()))
	byteOrder.PutUint64(raw[32:], block.id)
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // never fails
	sealed := k.aead.Seal(nonce, nonce, block.labelBytes, raw[20:])
	byteOrder.PutUint32(raw[12:], uint32(len(sealed)))
	byteOrder.PutUint32(raw[16:], uint32(len(block.fingerprintBytes)))
	byteOrder.PutUint32(
		raw[8:],
		crc32.Update(crc32.Checksum(sealed, castagnoli), castagnoli, block.fingerprintBytes),
	)
	byteOrder.PutUint32(raw[4:], crc32.Checksum(raw[8:], castagnoli))
	return append(append(append(b, raw...), sealed...), block.fingerprintBytes...)
}

// openLabels decrypts the labels that are stored with the fingerprints of a text. It fails if the stored data were
// changed.
func (k *cipherKey) openLabels(h *blockHeader, encryptedLabels []byte) (labels []string, err error) {
	if len(encryptedLabels) < nonceSize {
		return nil, errDamaged
	}
	b, err := k.aead.Open(nil, encryptedLabels[:nonceSize], encryptedLabels[nonceSize:], h.encoded[20:])
	if err != nil {
		return nil, errDamaged
	}
	for len(b) > 0 {
		size, used := binary.Uvarint(b)
		if used <= 0 || size > uint64(len(b)-used) {
			return nil, errDamaged
		}
		labels = append(labels, string(b[used:used+int(size)]))
		b = b[used+int(size):]
	}
	return labels, nil
}
