// This file stores the fingerprints of a home and drops old ones.

package fingerprint

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	maxFileBytes = 8 << 20 // maximum size of a file in bytes, above which its oldest blocks are dropped
	// size of a fingerprint file in bytes after the fingerprints of the oldest texts were dropped
	fileBytesAfterShrinking = 6 << 20
	// number of bytes that a long text's parts have in common, so that no word sequence is lost between them
	textPartOverlapBytes = 4 << 10
	maxLabels            = 8 // maximum number of labels that are stored with a text's fingerprints
	lockWait             = 2 * time.Second
)

// A Store stores the fingerprints of a home (the directory of a memory) in the directory Dir. The directory contains
// two files: the first contains text fingerprints, and the second contains hashed paths of written files. Several
// processes may use the directory at the same time.
type Store struct {
	Dir string // directory of the files; AddText and AddAll create it
	Now func() time.Time
}

// errTextTooLong means that a text was too long to be stored as a whole with its labels. Only the fingerprints of its
// beginning and its end were stored with the labels. The fingerprints of its middle have no labels.
var errTextTooLong = errors.New("it is too long to be kept as a whole")

// errFingerprintsLocked means that another process holds the lock of the fingerprint files for longer than lockWait.
var errFingerprintsLocked = errors.New("keeping fingerprints: another process has locked them")

// AddText stores fingerprints of a text that was read, with the given labels. It returns an identifier for
// [Store.HasAllIDs], even if the text contains no words. If the text is too long, AddText returns an error. In this
// case, it has stored the fingerprints of the beginning and the end with the labels, and the fingerprints of the middle
// without labels.
func (f Store) AddText(blockKind BlockKind, text string, labels ...string) (id string, err error) {
	ids, err := f.AddAll(TextReadByTool{blockKind, text, labels})
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// AddAll is like [Store.AddText] for several texts. It returns an identifier for each text. It locks and writes the
// file only once.
func (f Store) AddAll(texts ...TextReadByTool) (ids []string, err error) {
	known := &cacheOfDir(f.Dir).textIDs
	if key, blockIDs := known.findAll(texts); blockIDs != nil &&
		f.containsRecentBlocks(fingerprintsFile, key, blockIDs) {
		return formatBlockIDs(blockIDs), nil
	}
	var blocks []unwrittenFileBlock
	var longTexts []int // indexes
	for i, t := range texts {
		hashes, isWhole := hashesToStore(t.Text)
		blocks = append(blocks, newHashBlock(t.BlockKind, t.Labels, hashes))
		if !isWhole {
			longTexts = append(longTexts, i)
		}
	}
	key, blockIDs, err := f.addFileBlocks(fingerprintsFile, blocks...)
	if err != nil {
		return nil, err
	}
	ids = formatBlockIDs(blockIDs)
	// The fingerprints of a long text are stored in several places, so their identifiers are not remembered.
	if len(longTexts) == 0 {
		known.addAll(key, texts, blockIDs)
	}
	for _, i := range longTexts {
		err = errors.Join(err, cmp.Or(f.addMiddleFingerprints(texts[i].Text, blockIDs[i]), errTextTooLong))
	}
	return ids, err
}

// maxMiddleTextBytes is the maximum size, in bytes, of a very long text's middle. The middle is the part between the
// beginning and the end. If the middle is larger, none of its fingerprints are stored.
const maxMiddleTextBytes = 8 << 20

// addMiddleFingerprints stores fingerprints of the middle of a long text. They are stored without labels in a Bloom
// filter, which needs little space. If the middle is longer than maxMiddleTextBytes, addMiddleFingerprints stores
// nothing and records that fingerprints were lost.
//
// A person may have vouched for some of the fingerprints before the text was read. Such a vouch must not hide the words
// of this text. But it would hide fingerprints in the Bloom filter, which does not say when a text was read. Therefore
// addMiddleFingerprints also writes these fingerprints to a new block of the file, which is newer than the vouch. The
// identifier of this block depends on the whole text, and on blockID, which is the identifier of the block with the
// beginning and the end. So the block is omitted only if the same text was read within the last day. The block is also
// written if it is empty. Otherwise a vouch that follows it would be void if the same text were read again.
func (f Store) addMiddleFingerprints(text string, blockID uint64) error {
	// The word sequences at the ends of the middle are also stored, because they may continue in the other parts. In a
	// text of less than twice maxFullyHashedTextBytes, the beginning and the end overlap. If they have more than these
	// word sequences in common, nothing is between them.
	from := maxFullyHashedTextBytes - textPartOverlapBytes
	to := len(text) - maxFullyHashedTextBytes + textPartOverlapBytes
	if from >= to {
		return nil
	}
	ok, err := vfs.WithLock(context.Background(), f.Dir, lockFile, lockWait, func(dir *vfs.OS) error {
		if len(text)-2*maxFullyHashedTextBytes > maxMiddleTextBytes {
			f.writeFingerprintLoss(dir, fmt.Sprintf("a text of %d bytes is too long", len(text)))
			return nil
		}
		key, err := f.openOrCreateKey(dir)
		if err != nil {
			return err
		}
		var prints []textFingerprint
		eachReadTextHash(text[from:to], func(h uint64) { prints = append(prints, key.encryptWordRunHash(h)) })
		if err := f.addRemovedFingerprints(dir, key, prints); err != nil {
			return err
		}
		vouched, err := f.vouchedFingerprints(prints)
		if err != nil {
			return err
		}
		block := key.newUnencodedBlock(UnknownAuthorTextBlock, []string{removedFingerprintLabel}, vouched)
		block.id = key.shortHMAC([]byte("middle"), byteOrder.AppendUint64(nil, blockID), []byte(text))
		file, err := openWithKey(dir, fingerprintsFile, key)
		if err != nil {
			return err
		}
		return f.appendBlocksTo(dir, file, key, []unencodedBlock{block})
	})
	if err == nil && !ok {
		err = errFingerprintsLocked
	}
	return err
}

// vouchedFingerprints returns those of the given fingerprints for which a person vouched, sorted and without
// duplicates. Fingerprints that a text contained after the vouch are returned, too, because the block of this text may
// be too old earlier than the vouch.
func (f Store) vouchedFingerprints(fingerprints []textFingerprint) (vouched []textFingerprint, err error) {
	isVouched := map[textFingerprint]bool{}
	err = f.scanBlocks(fingerprintsFile, func(_ *cipherKey, h *blockHeader, _, prints []byte) error {
		if h.blockKind != acceptedWordsBlock {
			return nil
		}
		for ; len(prints) >= bytesPerFingerprint; prints = prints[bytesPerFingerprint:] {
			isVouched[decodeFingerprint(prints)] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range fingerprints {
		if isVouched[p] {
			vouched = append(vouched, p)
		}
	}
	slices.Sort(vouched)
	return slices.Compact(vouched), nil
}

// unwrittenFileBlock contains the labels and fingerprints of one text that will be added to a file.
type unwrittenFileBlock struct {
	blockKind BlockKind
	labels    []string
	// returns the fingerprints of the block, which depend on the key
	computeFingerprints func(*cipherKey) []textFingerprint
}

// newHashBlock returns a block that contains fingerprints. They are made by encrypting the hashes with the home's
// key.
func newHashBlock(blockKind BlockKind, labels []string, hashes []uint64) unwrittenFileBlock {
	return unwrittenFileBlock{blockKind, labels, func(key *cipherKey) []textFingerprint {
		prints := make([]textFingerprint, len(hashes))
		for i, h := range hashes {
			prints[i] = key.encryptWordRunHash(h)
		}
		return prints
	}}
}

// unencodedBlocks computes the fingerprints and identifiers of blocks, which depend on the home's key.
func unencodedBlocks(key *cipherKey, blocks []unwrittenFileBlock) []unencodedBlock {
	unencoded := make([]unencodedBlock, len(blocks))
	for i, b := range blocks {
		prints := b.computeFingerprints(key)
		slices.Sort(prints)
		unencoded[i] = key.newUnencodedBlock(b.blockKind, b.labels[:min(len(b.labels), maxLabels)], prints)
	}
	return unencoded
}

// addFileBlocks appends blocks to the file with this name, and returns the home's key and the identifier of each block.
// Each block contains the labels and fingerprints of one text. If the file certainly contains recent copies of all
// blocks, addFileBlocks does not lock or write anything. It returns an error if another process holds the lock for
// longer than lockWait.
func (f Store) addFileBlocks(
	name string,
	blocks ...unwrittenFileBlock,
) (key *cipherKey, blockIDs []uint64, err error) {
	var unencoded []unencodedBlock
	key = cacheOfDir(f.Dir).checkedFiles.cachedKey()
	if key != nil {
		unencoded = unencodedBlocks(key, blocks)
		isAccepting := slices.ContainsFunc(
			unencoded,
			func(b unencodedBlock) bool { return b.blockKind >= acceptedWordsBlock },
		)
		if ids := idsOfBlocks(unencoded); !isAccepting && f.containsRecentBlocks(name, key, ids) {
			return key, ids, nil
		}
	}
	ok, err := vfs.WithLock(context.Background(), f.Dir, lockFile, lockWait, func(dir *vfs.OS) error {
		file, currentKey, err := f.openForAppending(dir, name)
		if err != nil {
			return err
		}
		if key == nil || !bytes.Equal(key.key, currentKey.key) {
			unencoded = unencodedBlocks(currentKey, blocks)
		}
		key = currentKey
		return f.appendBlocksTo(dir, file, currentKey, unencoded)
	})
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("keeping fingerprints: %w", err)
	case !ok:
		return nil, nil, errFingerprintsLocked
	}
	return key, idsOfBlocks(unencoded), nil
}

func idsOfBlocks(blocks []unencodedBlock) []uint64 {
	ids := make([]uint64, len(blocks))
	for i := range blocks {
		ids[i] = blocks[i].id
	}
	return ids
}

// formatBlockIDs returns the identifiers of blocks in the form that AddText returns.
func formatBlockIDs(blockIDs []uint64) []string {
	ids := make([]string, len(blockIDs))
	for i, id := range blockIDs {
		ids[i] = strconv.FormatUint(id, 36)
	}
	return ids
}

// appendBlocksTo appends blocks to a file, and closes the file. A block that was already written within the last day is
// usually omitted. If the file becomes longer than maxFileBytes, its oldest blocks are dropped. The new size is written
// into the header only after the blocks, and readers ignore bytes after this size. Therefore the process may be killed
// at any time without damage.
func (f Store) appendBlocksTo(dir *vfs.OS, file *fileForAppending, key *cipherKey, blocks []unencodedBlock) error {
	// After a successful write, the file is already closed, and the error is ignored.
	defer func() { _ = file.Close() }()
	recent := cachedRecentBlocks(filepath.Join(f.Dir, file.name))
	recent.mu.Lock()
	defer recent.mu.Unlock()
	var added []byte
	now := f.Now()
	for _, block := range f.omitRecentBlocks(recent, file, blocks) {
		added = key.appendBlock(added, block, now)
	}
	if len(added) == 0 {
		return nil
	}
	newSize := file.validSize + int64(len(added))
	writeBlocks := func() error {
		if _, err := file.WriteAt(added, file.validSize); err != nil {
			return err
		}
		_, err := file.WriteAt(key.makeHeader(newSize), 0)
		return err
	}
	if file.name == fingerprintsFile {
		infoAfter, err := cacheOfDir(f.Dir).appendBlocks(key, file, added, writeBlocks)
		if err != nil {
			return err
		}
		recent.addWrittenBlocks(file, added, infoAfter)
	} else if err := writeBlocks(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if newSize > maxFileBytes {
		return f.dropOldBlocks(dir, file.name, key)
	}
	return nil
}

// omitRecentBlocks returns the blocks that must be written to a fingerprint file. It leaves out a block that was
// already written within the last day, and a block that occurs earlier in the list blocks.
//
// Blocks with file paths, and blocks with texts that a person has confirmed, are never left out. In such blocks, a
// later record about a path or text replaces an earlier one, so that the order of the records matters.
func (f Store) omitRecentBlocks(
	recent *recentBlockIDs,
	file *fileForAppending,
	blocks []unencodedBlock,
) (blocksToWrite []unencodedBlock) {
	isAdded := map[uint64]bool{}
	isRead := false
	now := f.Now()
	for _, b := range blocks {
		if b.blockKind >= acceptedWordsBlock {
			blocksToWrite = append(blocksToWrite, b)
			continue
		}
		if !isRead {
			recent.readNewBlocks(file)
			isRead = true
		}
		if !isAdded[b.id] && !recent.isRecentBlock(b.id, now) {
			isAdded[b.id] = true
			blocksToWrite = append(blocksToWrite, b)
		}
	}
	return blocksToWrite
}

// containsRecentBlocks reports whether a fingerprint file certainly contains the blocks with these identifiers already,
// and none of them must be written again. It does not lock the file: it compares the blocks with those that this
// process has found in the file, and checks that the file is still the same.
func (f Store) containsRecentBlocks(name string, key *cipherKey, blockIDs []uint64) bool {
	recent := cachedRecentBlocks(filepath.Join(f.Dir, name))
	recent.mu.Lock()
	defer recent.mu.Unlock()
	now := f.Now()
	for _, id := range blockIDs {
		if !recent.isRecentBlock(id, now) {
			return false
		}
	}
	info, err := f.lstat(name)
	return err == nil && recent.version.isSame(info) &&
		cacheOfDir(f.Dir).checkedFiles.areUnchanged(key, name, f.lstat)
}

// lstat describes a file in the directory f.Dir. It does not follow links.
func (f Store) lstat(name string) (fs.FileInfo, error) { return os.Lstat(filepath.Join(f.Dir, name)) }

// openForAppending opens a fingerprint file and reads the key of the home. It creates missing files and replaces
// damaged files. It reads the key, and checks the home's other file, only if they may have been changed since this
// process has read them. The caller must have locked the directory.
func (f Store) openForAppending(dir *vfs.OS, name string) (*fileForAppending, *cipherKey, error) {
	checked := &cacheOfDir(f.Dir).checkedFiles
	if key := checked.cachedKey(); key != nil && checked.areUnchanged(key, name, dir.Stat) {
		if file, err := openWithKey(dir, name, key); err == nil {
			return file, key, nil
		}
	}
	key, err := f.openOrCreateKey(dir)
	if err != nil {
		return nil, nil, err
	}
	file, err := openWithKey(dir, name, key)
	return file, key, err
}

// openOrCreateKey reads the key of the home. It creates missing files, including the file with the key. It renames
// damaged files and creates new files under the old names.
func (f Store) openOrCreateKey(dir *vfs.OS) (*cipherKey, error) {
	checked := &cacheOfDir(f.Dir).checkedFiles
	key, err := checked.readKey(dir)
	hasKey, reason := !errors.Is(err, fs.ErrNotExist), ""
	if err != nil {
		if hasKey {
			reason = lossReason(fingerprintKeyFile, err)
			f.renameDamagedFile(dir, fingerprintKeyFile, reason)
		}
		b := make([]byte, fingerprintKeyBytes)
		_, _ = rand.Read(b) // never fails
		if err := vfs.WriteFile(dir, fingerprintKeyFile, b, 0o600); err != nil {
			return nil, err
		}
		key, err = checked.readKey(dir)
		if err != nil {
			return nil, err
		}
	}
	for _, name := range []string{fingerprintsFile, writtenPathsFile} {
		err := checked.checkHeader(dir, name, key)
		if err == nil {
			continue
		}
		if isMissing := errors.Is(err, fs.ErrNotExist); !isMissing || hasKey {
			f.renameDamagedFile(dir, name, cmp.Or(reason, lossReason(name, err)))
		}
		if err := vfs.WriteFile(dir, name, key.makeHeader(headerSize), 0o600); err != nil {
			return nil, err
		}
	}
	return key, nil
}

// scanBlocks reads a fingerprint file and calls fn for each block that is not too old (see [BlockKind.maxAge]), in the
// order in which the blocks were added. A block contains the labels and fingerprints of one text. The arguments of fn
// are valid until it returns. If a block cannot be read, scanBlocks returns an error.
func (f Store) scanBlocks(name string, fn func(key *cipherKey, h *blockHeader, sealed, prints []byte) error) error {
	file, key, size, err := f.openFile(name)
	if file == nil || err != nil {
		return err
	}
	defer file.Close()
	now := f.Now()
	w := newFileReadWindow(io.NewSectionReader(file, headerSize, size-headerSize))
	defer w.release()
	var h blockHeader
	for w.unreadByteCount() > 0 {
		head, err := w.peek(blockHeaderSize)
		if err != nil {
			return err
		}
		h, err = readBlockHeader(head)
		if err != nil {
			return err
		}
		block, err := w.peek(h.blockSize())
		if err != nil {
			return err
		}
		h.encoded = block[:blockHeaderSize]
		body := block[blockHeaderSize:]
		if crc32.Checksum(body, castagnoli) != h.bodyChecksum {
			return errDamaged
		}
		if !h.time.Before(now.Add(-h.blockKind.maxAge())) {
			err = fn(key, &h, body[:h.encryptedLabelsSize], body[h.encryptedLabelsSize:])
		}
		if err != nil {
			return err
		}
		w.skip(len(block))
	}
	return nil
}

// openFile opens the fingerprint file with this name for reading. The result key is the key of the home, and the result
// size is the number of valid bytes at the beginning of the file. If no fingerprints were ever stored, the result file
// is nil and the error is nil.
func (f Store) openFile(name string) (file *os.File, key *cipherKey, size int64, err error) {
	dir, err := vfs.Dir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, 0, nil
	}
	if err != nil {
		return nil, nil, 0, err
	}
	defer dir.Close()
	file, err = vfs.OpenRegular(filepath.Join(f.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		if _, keyErr := dir.Stat(fingerprintKeyFile); errors.Is(keyErr, fs.ErrNotExist) {
			return nil, nil, 0, nil
		}
	}
	if err != nil {
		return nil, nil, 0, err
	}
	key, err = cacheOfDir(f.Dir).checkedFiles.readKey(dir)
	if err == nil {
		size, err = readValidPartSize(file, key)
	}
	if err != nil {
		_ = file.Close() // Nothing was written, so the error does not matter.
		return nil, nil, 0, err
	}
	return file, key, size, nil
}

// readValidPartSize returns the valid part's size from the header of a file. If the header seems to be damaged, it
// reads the header again, because another process may just be writing the header.
func readValidPartSize(file *os.File, key *cipherKey) (size int64, err error) {
	b := make([]byte, headerSize)
	for range 3 {
		n, _ := file.ReadAt(b, 0) // Ignore the error: readHeader fails if the header was not read completely.
		size, err = key.readHeader(b[:n])
		if err == nil {
			break
		}
	}
	return size, err
}

// HasAllIDs reports whether the file contains the fingerprints of all texts with these identifiers. It returns false if
// an identifier is invalid or if the file cannot be read.
func (f Store) HasAllIDs(textIDs ...string) bool {
	if len(textIDs) == 0 {
		return true
	}
	missing := map[uint64]bool{}
	for _, id := range textIDs {
		n, err := strconv.ParseUint(id, 36, 64)
		if err != nil {
			return false
		}
		missing[n] = true
	}
	err := f.scanBlocks(fingerprintsFile, func(_ *cipherKey, h *blockHeader, _, _ []byte) error {
		delete(missing, h.blockID)
		return nil
	})
	return err == nil && len(missing) == 0
}

// dropOldBlocks makes a file of fingerprints smaller. A block in the file contains the fingerprints of one text.
// dropOldBlocks first removes the blocks that are too old, which scanBlocks leaves out. Then it removes the oldest
// remaining blocks, until the file has at most fileBytesAfterShrinking bytes. Blocks about text that a person vouched
// for, and blocks about files with foreign text, are removed last. If the file is damaged, dropOldBlocks keeps only
// blocks before the damage, renames the damaged file, and records the loss.
//
// If a block that is removed for its size contains fingerprints of a text by others or by an unknown author,
// dropOldBlocks adds these fingerprints to a Bloom filter. The Bloom filter is needed because a flood of new texts
// could otherwise make the home forget an earlier text. Fingerprints for which a person vouched after the text was read
// are not added, because the Bloom filter could keep them for longer than the vouch is kept. If a person vouched for a
// fingerprint before the text was read, dropOldBlocks deletes this vouch, because a vouch would also hide the
// fingerprint in the Bloom filter, which does not say when a text was read.
func (f Store) dropOldBlocks(dir *vfs.OS, name string, key *cipherKey) error {
	var blocks []storedBlock
	err := f.scanBlocks(name, func(_ *cipherKey, h *blockHeader, sealed, prints []byte) error {
		blocks = append(blocks, storedBlock{h.blockKind, h.time, slices.Concat(h.encoded, sealed, prints), len(prints)})
		return nil
	})
	if err != nil { // The file is damaged. Keep only the blocks before the damage, which were read.
		f.renameDamagedFile(dir, name, lossReason(name, err))
	}
	size := headerSize
	isKept := make([]bool, len(blocks))
	for _, isLasting := range []bool{true, false} {
		for i, b := range slices.Backward(blocks) {
			if b.isLastToRemove() != isLasting {
				continue
			}
			if size+len(b.encoded) > fileBytesAfterShrinking {
				break
			}
			isKept[i] = true
			size += len(b.encoded)
		}
	}
	removed := fingerprintsToKeep(blocks, isKept)
	if err := f.addRemovedFingerprints(dir, key, slices.Collect(maps.Keys(removed))); err != nil {
		return err
	}
	contents := make([]byte, headerSize, size)
	for i := range blocks {
		if isKept[i] {
			contents = append(contents, blocks[i].withoutOldVouches(key, i, removed)...)
		}
	}
	copy(contents, key.makeHeader(int64(len(contents))))
	return vfs.WriteFile(dir, name, contents, 0o600)
}

// fingerprintsToKeep returns the fingerprints of the blocks for which isKept is false, if the blocks describe texts by
// others or by an unknown author. It leaves out fingerprints for which a person vouched in a later block. The value for
// a fingerprint is the index of the last such block that contains the fingerprint.
func fingerprintsToKeep(blocks []storedBlock, isKept []bool) (lastBlockIndexes map[textFingerprint]int) {
	lastBlockIndexes = map[textFingerprint]int{}
	isAccepted := map[textFingerprint]bool{} // whether a block after the current one contains a vouch
	for i, b := range slices.Backward(blocks) {
		switch {
		case b.blockKind == acceptedWordsBlock:
			for _, p := range b.appendFingerprints(nil) {
				isAccepted[p] = true
			}
		case !isKept[i] && (b.blockKind == ForeignTextBlock || b.blockKind == UnknownAuthorTextBlock):
			for _, p := range b.appendFingerprints(nil) {
				if _, isListed := lastBlockIndexes[p]; !isListed && !isAccepted[p] {
					lastBlockIndexes[p] = i
				}
			}
		}
	}
	return lastBlockIndexes
}

// storedBlock is a block as it was read from a fingerprint file. A block contains the labels and fingerprints of one
// text.
type storedBlock struct {
	blockKind        BlockKind
	addedTime        time.Time
	encoded          []byte
	fingerprintsSize int // length in bytes of the fingerprints at the end of encoded
}

// withoutOldVouches returns the encoded block. If the block records that a person vouched for words, the result lacks
// the fingerprints that also occur in a later block that is about to be removed. The argument blockIndex is the index
// of the block in the file. The argument removed contains each fingerprint from the removed blocks, with the index of
// the last removed block that contains it.
func (b *storedBlock) withoutOldVouches(key *cipherKey, blockIndex int, removed map[textFingerprint]int) []byte {
	if b.blockKind != acceptedWordsBlock {
		return b.encoded
	}
	all := b.appendFingerprints(nil)
	remaining := slices.DeleteFunc(slices.Clone(all), func(p textFingerprint) bool { return removed[p] > blockIndex })
	if len(remaining) == len(all) {
		return b.encoded
	}
	return key.appendBlock(nil, key.newUnencodedBlock(b.blockKind, nil, remaining), b.addedTime)
}

// isLastToRemove reports whether dropOldBlocks removes this block from the file only after all other blocks.
func (b *storedBlock) isLastToRemove() bool {
	return b.blockKind == acceptedWordsBlock || b.blockKind == foreignTextPathsBlock ||
		b.blockKind == foreignTextProgramRunBlock ||
		b.blockKind == unknownAuthorProgramRunBlock
}

// appendFingerprints appends the fingerprints in the block to a list.
func (b *storedBlock) appendFingerprints(list []textFingerprint) []textFingerprint {
	for p := b.encoded[len(b.encoded)-b.fingerprintsSize:]; len(p) >= bytesPerFingerprint; p = p[bytesPerFingerprint:] {
		list = append(list, decodeFingerprint(p))
	}
	return list
}
