// This file writes and reads the texts of all terms. A snapshot stores them a second time, in few bytes and apart from
// the posting lists, so that they can all be compared with a word. Most groups of terms can be skipped, because the
// common prefix of the terms and their pairs of adjacent letters show that none is similar to the word.

package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

const (
	minTextBatchBytes  = 1 << 16 // a batch of term texts ends at the first block of terms after so many bytes
	textBatchRowBytes  = 16      // size in bytes of an entry in the table that describes all batches
	letterPairSetBytes = 64      // size in bytes of an encoded text.LetterPairSet
)

// textBatchWriter encodes the texts of terms. A batch contains, for each block of terms: the size of the encoded texts
// in bytes (uvarint), the length of the texts' common prefix (uvarint), a [text.LetterPairSet] (8 numbers of 8 bytes),
// and the encoded texts. Each text is encoded as three values: how many bytes at its start are equal to the previous
// text's start (uvarint), how many bytes remain (uvarint), and these remaining bytes. The first text of a block has no
// previous text.
type textBatchWriter struct {
	encodedBlocks []byte // the finished blocks of the current batch
	batchTable    []byte // encoded entries of the finished batches

	// the current block
	encodedTexts        []byte
	firstText, lastText string
	letterPairs         text.LetterPairSet
}

func (w *textBatchWriter) addText(text string) {
	n := 0
	if len(w.encodedTexts) == 0 {
		w.firstText = text
	} else {
		n = commonPrefixLength(text, w.lastText)
	}
	w.encodedTexts = binary.AppendUvarint(w.encodedTexts, uint64(n))
	w.encodedTexts = binary.AppendUvarint(w.encodedTexts, uint64(len(text)-n))
	w.encodedTexts = append(w.encodedTexts, text[n:]...)
	w.letterPairs.AddText(text)
	w.lastText = text
}

// finishBlock ends a block of terms, whose texts have been added.
func (w *textBatchWriter) finishBlock() {
	w.encodedBlocks = binary.AppendUvarint(w.encodedBlocks, uint64(len(w.encodedTexts)))
	w.encodedBlocks = binary.AppendUvarint(w.encodedBlocks, uint64(commonPrefixLength(w.firstText, w.lastText)))
	for _, n := range w.letterPairs {
		w.encodedBlocks = binary.LittleEndian.AppendUint64(w.encodedBlocks, n)
	}
	w.encodedBlocks = append(w.encodedBlocks, w.encodedTexts...)
	w.encodedTexts, w.letterPairs = w.encodedTexts[:0], text.LetterPairSet{}
}

func commonPrefixLength(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// finishBatch ends the current batch of term texts, and returns the encoded batch. The caller must write the result at
// the given offset of the snapshot file, because finishBatch adds this offset to the table of batches together with the
// batch's length and checksum. The result is valid only until the next block is added to the writer (see finishBlock).
func (w *textBatchWriter) finishBatch(offset int64) (encoded []byte) {
	le := binary.LittleEndian
	w.batchTable = le.AppendUint64(w.batchTable, uint64(offset))
	w.batchTable = le.AppendUint32(w.batchTable, uint32(len(w.encodedBlocks)))
	w.batchTable = le.AppendUint32(w.batchTable, crc32.Checksum(w.encodedBlocks, castagnoli))
	encoded = w.encodedBlocks
	w.encodedBlocks = w.encodedBlocks[:0]
	return encoded
}

// readTextBatchTable decodes the table of batches. All batches must be between the offsets from and end.
func readTextBatchTable(b []byte, from, end int64) ([]textBatch, error) {
	le := binary.LittleEndian
	if len(b)%textBatchRowBytes != 0 {
		return nil, fmt.Errorf("%w: its table has an unknown form", errDamagedSnapshot)
	}
	batches := make([]textBatch, len(b)/textBatchRowBytes)
	for i := range batches {
		row := b[i*textBatchRowBytes:]
		batches[i] = textBatch{int64(le.Uint64(row)), le.Uint32(row[8:]), le.Uint32(row[12:])}
		t := &batches[i]
		if t.offset < from || t.offset > end || int64(t.size) > end-t.offset {
			return nil, fmt.Errorf("%w: a batch of its table leads outside", errDamagedSnapshot)
		}
	}
	return batches, nil
}

// textBlockReader reads the texts of all terms in a snapshot, block by block. It keeps one batch in memory.
type textBlockReader struct {
	snapshot        *snapshotTerms
	batches         []textBatch // the batches that have not been read
	buffer          []byte      // memory for a batch
	remainingBlocks []byte      // the blocks of the current batch that have not been read

	// the current block
	texts        encodedTexts
	prefixLength int // length of the texts' common prefix in bytes
	letterPairs  text.LetterPairSet
}

// next moves the reader to the next block. ok is false after the last block.
func (r *textBlockReader) next() (ok bool, err error) {
	for len(r.remainingBlocks) == 0 {
		if len(r.batches) == 0 {
			return false, nil
		}
		if err := r.readBatch(); err != nil {
			return false, err
		}
	}
	size, b, hasSize := cutUvarint(r.remainingBlocks)
	prefixLength, b, hasPrefixLength := cutUvarint(b)
	isCutShort := len(b) < letterPairSetBytes || size > uint64(len(b)-letterPairSetBytes) || prefixLength > size
	if !hasSize || !hasPrefixLength || isCutShort {
		return false, newTermTextError()
	}
	for i := range r.letterPairs {
		r.letterPairs[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	b = b[letterPairSetBytes:]
	r.prefixLength = int(prefixLength)
	r.texts = encodedTexts{remainingTexts: b[:size], currentText: r.texts.currentText[:0]}
	r.remainingBlocks = b[size:]
	return true, nil
}

func (r *textBlockReader) readBatch() error {
	t := r.batches[0]
	r.batches = r.batches[1:]
	var err error
	r.buffer, err = readBytesInto(r.buffer, r.snapshot.reader, t.offset, int64(t.size), math.MaxInt64)
	if err != nil {
		return err
	}
	if crc32.Checksum(r.buffer, castagnoli) != t.checksum {
		return newChecksumError(int(t.size), t.offset)
	}
	r.remainingBlocks = r.buffer
	return nil
}

// decodeCommonPrefix returns the common prefix of the texts in the current block. It decodes the first text.
func (r *textBlockReader) decodeCommonPrefix() ([]byte, error) {
	first := encodedTexts{remainingTexts: r.texts.remainingTexts}
	_, more, b, err := first.decodeTextLengths()
	if err != nil || more < r.prefixLength {
		return nil, newTermTextError()
	}
	return b[:r.prefixLength], nil
}

// encodedTexts decodes the texts of a block.
type encodedTexts struct {
	remainingTexts []byte // the texts that have not been decoded
	currentText    []byte // the current text
}

// next moves to the next text. sharedBytes is the number of bytes at the start of the text that are equal to the start
// of the previous text. The caller must check that e.remainingTexts is not empty.
func (e *encodedTexts) next() (sharedBytes int, err error) {
	sharedBytes, more, b, err := e.decodeTextLengths()
	if err != nil {
		return 0, err
	}
	e.currentText = append(e.currentText[:sharedBytes], b[:more]...)
	e.remainingTexts = b[more:]
	return sharedBytes, nil
}

// decodeTextLengths decodes the lengths at the start of a text: how many bytes the text shares with the previous text,
// and how many other bytes it has (rest begins with them).
func (e *encodedTexts) decodeTextLengths() (sharedPrefixLength, otherByteCount int, rest []byte, err error) {
	if b := e.remainingTexts; len(b) >= 2 && b[0]|b[1] < 0x80 {
		sharedPrefixLength, otherByteCount = int(b[0]), int(b[1])
		rest = b[2:]
		if sharedPrefixLength <= len(e.currentText) && otherByteCount <= len(rest) {
			return sharedPrefixLength, otherByteCount, rest, nil
		}
	}
	longShared, rest, hasShared := cutUvarint(e.remainingTexts)
	longMore, rest, hasMore := cutUvarint(rest)
	if !hasShared || !hasMore || longShared > uint64(len(e.currentText)) || longMore > uint64(len(rest)) {
		return 0, 0, nil, newTermTextError()
	}
	return int(longShared), int(longMore), rest, nil
}

// cutUvarint decodes the number at the start of b.
func cutUvarint(b []byte) (n uint64, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, nil, false
	}
	return n, b[size:], true
}

func newTermTextError() error {
	return fmt.Errorf("%w: the texts of its terms have an unknown form", errDamagedSnapshot)
}

// checkBlock compares the next block of texts with the terms of a block.
func (r *textBlockReader) checkBlock(terms []snapshotTerm) error {
	ok, err := r.next()
	if err != nil {
		return err
	}
	var want textBatchWriter
	for i := range terms {
		want.addText(terms[i].text)
	}
	isEqual := ok && bytes.Equal(r.texts.remainingTexts, want.encodedTexts) && r.letterPairs == want.letterPairs &&
		r.prefixLength == commonPrefixLength(want.firstText, want.lastText)
	if !isEqual {
		return fmt.Errorf("%w: the texts of its terms are not those of a block", errDamagedSnapshot)
	}
	return nil
}

// checkEnd returns an error if there are further texts.
func (r *textBlockReader) checkEnd() error {
	ok, err := r.next()
	if ok {
		err = newTermTextError()
	}
	return err
}

// EachTermText calls fn with the text of each term, until fn returns false. sharedBytes is the number of bytes at the
// start of the text that are equal to the start of the text in the previous call (or less). fn must not keep the text,
// because its memory is used again.
//
// EachTermText may leave out a group of terms for which mayNeed returns false. All terms of the group begin with
// prefix, and pairs contains their letter pairs.
//
// EachTermText takes much less time than [Searcher.TermsWithPrefix] for all terms. Unlike TermsWithPrefix, it may pass
// a term several times, and it also passes terms that only deleted documents contain. When ctx is done, EachTermText
// ends early.
func (x *Searcher) EachTermText(
	ctx context.Context,
	mayNeed func(prefix []byte, pairs *text.LetterPairSet) bool,
	fn func(text []byte, sharedBytes int) bool,
) {
	for i := range x.views {
		if !x.views[i].eachTermText(ctx, mayNeed, fn) {
			return
		}
	}
}

// textsPerContextCheck is the number of texts in memory after which eachTermText checks its context again.
const textsPerContextCheck = 4096

// eachTermText implements [Searcher.EachTermText] for a segment. It returns false if fn has returned false, or if ctx
// is done.
func (s *segment) eachTermText(
	ctx context.Context,
	mayNeed func(prefix []byte, pairs *text.LetterPairSet) bool,
	fn func(text []byte, sharedBytes int) bool,
) bool {
	if s.snapshot != nil {
		more, err := s.snapshot.eachTermText(ctx, mayNeed, fn)
		if err != nil {
			s.snapshot.recordReadError(err)
		}
		return more
	}
	var b []byte
	for n := range s.termCount() {
		if n%textsPerContextCheck == 0 && ctx.Err() != nil {
			return false
		}
		if s.memtable != nil {
			b = append(b[:0], s.memtable.terms[n].text...)
		} else {
			b = append(b[:0], s.arena.get(s.terms[n].textReference)...)
		}
		if !fn(b, 0) {
			return false
		}
	}
	return true
}

// eachTermText implements [Searcher.EachTermText] for a snapshot. more is false if fn has returned false, or if ctx is
// done.
func (img *snapshotTerms) eachTermText(
	ctx context.Context,
	mayNeed func(prefix []byte, pairs *text.LetterPairSet) bool,
	fn func(text []byte, sharedBytes int) bool,
) (more bool, err error) {
	r := textBlockReader{snapshot: img, batches: img.textBatches}
	for img.docs.Err() == nil {
		if isBatchEnd := len(r.remainingBlocks) == 0; isBatchEnd && ctx.Err() != nil {
			return false, nil
		}
		ok, err := r.next()
		if err != nil || !ok {
			return true, err
		}
		prefix, err := r.decodeCommonPrefix()
		if err != nil {
			return true, err
		}
		if !mayNeed(prefix, &r.letterPairs) {
			continue
		}
		for len(r.texts.remainingTexts) > 0 {
			sharedBytes, err := r.texts.next()
			if err != nil {
				return true, err
			}
			if !fn(r.texts.currentText, sharedBytes) {
				return false, nil
			}
		}
	}
	return true, nil
}
