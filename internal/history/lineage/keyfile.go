// This file reads and writes the key file, by which the versions with a certain key are found.

package lineage

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/vfs"
)

// A key file is a pagefile (see package pagefile). All integers are little-endian. Page 0 has these fields, with offset
// and size in bytes:
//
//	 0    8 magic: 89 "oxwds" 0D 0A
//	 8    4 format, 2 (in format 1, Lao, Khmer and Burmese letters were not words)
//	12    4 zeros
//	16   16 version of Unicode whose rules were used to divide the texts into words, padded with zeros
//	32    8 number of the last change in the file, S
//	40   32 hash of change S, so that the file is not used for another history
//	72    8 number of changes with versions
//	80    8 number of versions
//	88    8 number of keys
//
// The versions are numbered from 0, in the order of the changes. The first table has a row for each change with
// versions: the number of the change's first version and the change's number (8 bytes each). The second table has an
// 8-byte row for each key of each version: the key in the upper 40 bits, and the version's number in the lower 24 bits.
// Both tables are in ascending order.
const (
	keyFileFormatVersion = 2
	maxKeyFileVersions   = 1 << versionNumberBits
	// If the history has more keys (hashes of word sequences, names and labels), no key file is written.
	maxKeyFileKeys = 1 << 25

	changeTableIndex = 0
	keyTableIndex    = 1
)

var keyFileMagic = [8]byte{0x89, 'o', 'x', 'w', 'd', 's', '\r', '\n'}

// errUnusableKeyFile is returned if the file that lists where word sequences occur cannot be used. The whole history
// is then read instead.
var errUnusableKeyFile = errors.New("the file of words is of no use")

// errTooManyVersions is returned if a word sequence or name occurs in so many versions that reading the whole history
// is faster than reading these versions.
var errTooManyVersions = errors.New("too many versions have these words")

// decodeHash decodes the hash of a change from hex. ok is false if s is not such a hash.
func decodeHash(s string) (hash [32]byte, ok bool) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(hash) {
		return hash, false
	}
	return [32]byte(b), true
}

// keyFileHead is a key file's decoded first page. A key file is an index of a memory's history. The page contains the
// last change in the file and the sizes of the file's tables.
type keyFileHead struct {
	unicodeVersion                      string
	lastSeq                             uint64
	lastHash                            [32]byte
	changeCount, versionCount, keyCount int
}

func (h *keyFileHead) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, 96)
	copy(b, keyFileMagic[:])
	le.PutUint32(b[8:], keyFileFormatVersion)
	copy(b[16:32], h.unicodeVersion)
	le.PutUint64(b[32:], h.lastSeq)
	copy(b[40:], h.lastHash[:])
	le.PutUint64(b[72:], uint64(h.changeCount))
	le.PutUint64(b[80:], uint64(h.versionCount))
	le.PutUint64(b[88:], uint64(h.keyCount))
	return b
}

// decodeKeyFileHead decodes the first page of a key file, which indexes a memory's history.
func decodeKeyFileHead(b []byte) (h keyFileHead, err error) {
	le := binary.LittleEndian
	if [8]byte(b) != keyFileMagic || le.Uint32(b[8:]) != keyFileFormatVersion {
		return h, fmt.Errorf("%w: it has another format", errUnusableKeyFile)
	}
	h = keyFileHead{
		unicodeVersion: string(bytes.TrimRight(b[16:32], "\x00")),
		lastSeq:        le.Uint64(b[32:]),
		lastHash:       [32]byte(b[40:72]),
		changeCount:    int(le.Uint64(b[72:])),
		versionCount:   int(le.Uint64(b[80:])),
		keyCount:       int(le.Uint64(b[88:])),
	}
	counts := []int{h.changeCount, h.versionCount, h.keyCount}
	isTooLarge := h.versionCount > maxKeyFileVersions || h.changeCount > maxKeyFileVersions ||
		h.keyCount > maxKeyFileKeys
	if slices.Min(counts) < 0 || isTooLarge {
		return h, fmt.Errorf("%w: its counts are impossible", errUnusableKeyFile)
	}
	if h.unicodeVersion != unicode.Version {
		return h, fmt.Errorf("%w: it divides texts into words by other rules", errUnusableKeyFile)
	}
	return h, nil
}

func (h *keyFileHead) tables() []pagefile.TableSize {
	return []pagefile.TableSize{{RowSize: 16, RowCount: h.changeCount}, {RowSize: 8, RowCount: h.keyCount}}
}

// writeKeyFile writes a file from which a search finds the entry versions that contain a certain word sequence, name or
// label. The file lists these keys for all versions in the changes. The error matches errUnusableKeyFile if there are
// too many versions or keys, or if the changes have no hashes.
func writeKeyFile(to io.WriterAt, changes []oxbow.Change) error {
	h := keyFileHead{unicodeVersion: unicode.Version}
	var rows []uint64 // rows of the file's table of keys, which are hashes
	// For each change, the number of its first version. Versions are numbered through the whole history.
	var first []uint64
	scanner := wordGramHasher{hasStableHashes: true}
	for i := range changes {
		c := &changes[i]
		first = append(first, uint64(h.versionCount))
		scanner.eachVersionKey(c, func(i int, k versionKey) { rows = append(rows, uint64(k)|uint64(h.versionCount+i)) })
		h.versionCount += len(c.Versions)
		if len(c.Versions) > 0 {
			h.changeCount++
		}
		if h.versionCount > maxKeyFileVersions || len(rows) > maxKeyFileKeys {
			return fmt.Errorf("%w: the history has too many words", errUnusableKeyFile)
		}
		h.lastSeq = c.Seq
	}
	var ok bool
	h.lastHash, ok = decodeHash(changes[len(changes)-1].Hash)
	if !ok {
		return fmt.Errorf("%w: the history has no hashes", errUnusableKeyFile)
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	h.keyCount = len(rows)
	out := bufio.NewWriterSize(io.NewOffsetWriter(to, 0), 1<<18)
	w := pagefile.NewWriter(out)
	w.Write(h.encode())
	w.FinishPage()
	for i, c := range changes {
		if len(c.Versions) > 0 {
			w.AppendRow(first[i], c.Seq)
		}
	}
	w.FinishPage()
	for _, row := range rows {
		w.AppendRow(row)
	}
	w.FinishPage()
	return out.Flush()
}

// keyFile is an open key file. A key is a hash of a word sequence, and the key file lists the entry versions that
// contain each key.
type keyFile struct {
	head keyFileHead
	rows *pagefile.Reader
	file vfs.File
}

func openKeyFile(file vfs.File) (*keyFile, error) {
	k := &keyFile{file: file}
	var err error
	k.rows, err = pagefile.Open(file, func(head []byte) ([]pagefile.TableSize, error) {
		info, err := file.Stat()
		if err == nil {
			k.head, err = decodeKeyFileHead(head)
		}
		if err == nil && int64(pagefile.CountPages(k.head.tables()))*pagefile.PageSize != info.Size() {
			err = fmt.Errorf("%w: it has another size than its head says", errUnusableKeyFile)
		}
		return k.head.tables(), err
	})
	if err != nil {
		return nil, err
	}
	return k, nil
}

// versionPosition is the place of a version in the history: the change's number, and the version's index in the change.
type versionPosition struct {
	seq           uint64
	indexInChange int
}

// addVersionNumbersWithKey searches the key file for the versions with the key k, which is made from words or a name.
// It adds the numbers of these versions to the map. It returns errTooManyVersions if the map then has more than
// maxNumbers elements.
func (f *keyFile) addVersionNumbersWithKey(k versionKey, versionNumbers map[uint32]bool, maxNumbers int) error {
	for i := f.rows.SearchKey(keyTableIndex, uint64(k)); i < f.head.keyCount; i++ {
		row := f.rows.RowKey(keyTableIndex, i)
		if newVersionKey(row) != k {
			break
		}
		versionNumbers[uint32(row-uint64(k))] = true
		if len(versionNumbers) > maxNumbers {
			return errTooManyVersions
		}
	}
	return f.rows.Err()
}

// findVersion returns the position of an entry version in the history: the number of the change that wrote the version,
// and the index of the version in this change. The parameter number is the version's number in the key file. If the
// number is lower than the first number in the file, the error matches errUnusableKeyFile.
func (f *keyFile) findVersion(number uint32) (versionPosition, error) {
	i := f.rows.SearchKey(changeTableIndex, uint64(number)+1) - 1
	if i < 0 {
		return versionPosition{}, fmt.Errorf("%w: version %d is in no change", errUnusableKeyFile, number)
	}
	row := f.rows.Row(changeTableIndex, i)
	le := binary.LittleEndian
	p := versionPosition{le.Uint64(row[8:]), int(uint64(number) - le.Uint64(row))}
	return p, f.rows.Err()
}
