// This file is the format of the file of prints.
//
// The file is a sequence of blocks. Each is what one call returned, or one text:
//
//	magic    4 bytes "OXfp"
//	check    4 bytes CRC-32C of the rest of the head
//	size     4 bytes of what follows the head
//	time     8 bytes seconds since 1970
//	id       8 bytes
//	nonce   12 bytes
//	sealed  AES-256-GCM under the key of the home, with the head as additional data
//
// Sealed is: version (1 byte), level (1 byte), the number of labels (1 byte), each label
// after its length (uvarint), then the prints, 5 bytes each. Numbers are little-endian.
// A process that is killed may leave an unfinished block. The reader goes on at the next
// magic whose check is right.

package fingerprint

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"iter"
	"time"
)

// blockVersion is the version of what a block seals. Diary:
//
//	1  levels 1 to 5
const blockVersion = 1

const (
	headSize  = 28
	nonceSize = 12
	printSize = printBits / 8
	maxSealed = 4 << 20 // bytes of a block after its head
)

var (
	blockMagic = []byte("OXfp")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	le         = binary.LittleEndian
)

// errBlock is the error for sealed bytes that are no block.
var errBlock = errors.New("the block cannot be read")

// Level says what the prints of a block are of.
type Level byte

// The levels. They are part of the format.
const (
	Foreign     Level = 1 // text by others
	Unvouched   Level = 2 // text that nobody is known to vouch for
	Vouched     Level = 3 // text that a person vouched for: what is older counts no more
	ownPath     Level = 4 // paths of files that the agent wrote
	foreignPath Level = 5 // paths of files into which a program wrote what is not the agent's
)

// block is the content of a block.
type block struct {
	level  Level
	labels []string
	prints []Print
}

// sealer returns the cipher of a home's key.
func sealer(key []byte) (cipher.AEAD, error) {
	c, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(c)
}

// appendBlock appends a sealed block to b.
func appendBlock(b []byte, seal cipher.AEAD, at time.Time, id uint64, x block) []byte {
	plain := []byte{blockVersion, byte(x.level), byte(len(x.labels))}
	for _, l := range x.labels {
		plain = append(binary.AppendUvarint(plain, uint64(len(l))), l...)
	}
	for _, p := range x.prints {
		plain = append(plain, byte(p), byte(p>>8), byte(p>>16), byte(p>>24), byte(p>>32))
	}
	head := make([]byte, headSize, headSize+nonceSize)
	copy(head, blockMagic)
	le.PutUint32(head[8:], uint32(nonceSize+len(plain)+seal.Overhead()))
	le.PutUint64(head[12:], uint64(at.Unix()))
	le.PutUint64(head[20:], id)
	le.PutUint32(head[4:], crc32.Checksum(head[8:], castagnoli))
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // never fails
	b = append(append(b, head...), nonce...)
	return seal.Seal(b, nonce, plain, head)
}

// sealedBlock is a block in a file.
type sealedBlock struct {
	head, body []byte
	time       time.Time
	id         uint64
}

// blocks yields the blocks of a file. Damaged is called with the number of bytes that
// are no block.
func blocks(file []byte, damaged func(bytes int)) iter.Seq[sealedBlock] {
	return func(yield func(sealedBlock) bool) {
		for len(file) > 0 {
			if x, ok := readHead(file); ok {
				if !yield(x) {
					return
				}
				file = file[headSize+len(x.body):]
				continue
			}
			next := bytes.Index(file[1:], blockMagic) + 1
			if next == 0 {
				next = len(file)
			}
			damaged(next)
			file = file[next:]
		}
	}
}

// readHead reads the block at the start of b.
func readHead(b []byte) (x sealedBlock, ok bool) {
	if len(b) < headSize || !bytes.Equal(b[:4], blockMagic) || le.Uint32(b[4:]) != crc32.Checksum(b[8:headSize], castagnoli) {
		return x, false
	}
	size := le.Uint32(b[8:])
	if size > maxSealed || int(size) > len(b)-headSize {
		return x, false
	}
	return sealedBlock{b[:headSize], b[headSize : headSize+int(size)], time.Unix(int64(le.Uint64(b[12:])), 0), le.Uint64(b[20:])}, true
}

// whole returns the bytes of the block.
func (x *sealedBlock) whole() []byte { return x.head[:headSize+len(x.body)] }

// open returns the level and labels of the block and the bytes of its prints. It uses
// buf if that is large enough.
func (x *sealedBlock) open(seal cipher.AEAD, buf []byte) (level Level, labels []string, prints []byte, err error) {
	if len(x.body) < nonceSize {
		return 0, nil, nil, errBlock
	}
	b, err := seal.Open(buf[:0], x.body[:nonceSize], x.body[nonceSize:], x.head)
	if err != nil || len(b) < 3 || b[0] != blockVersion {
		return 0, nil, nil, errBlock
	}
	level, n := Level(b[1]), int(b[2])
	for b = b[3:]; n > 0; n-- {
		size, used := binary.Uvarint(b)
		if used <= 0 || size > uint64(len(b)-used) {
			return 0, nil, nil, errBlock
		}
		labels = append(labels, string(b[used:used+int(size)]))
		b = b[used+int(size):]
	}
	return level, labels, b, nil
}

// printAt returns the print at the start of b.
func printAt(b []byte) Print {
	return Print(b[0]) | Print(b[1])<<8 | Print(b[2])<<16 | Print(b[3])<<24 | Print(b[4])<<32
}
