// This file writes and opens snapshots, which store an index in a file.
//
// All numbers are little-endian. A checksum is the CRC-32C over the preceding bytes in the same piece, or over the
// bytes that the description names. The length of a document is called dl. The number of documents that contain a term
// is called df, and the frequency of a term in a document is called Frequency. The list of a term contains the
// documents with the term and the frequencies. The parameters of the scoring formula BM25 are called k1 and b. A
// document does not count if the average length excludes the document, for example because the document has no terms. A
// snapshot consists of these parts, in this order:
//
//	documents: a file of package pagefile, that is, pages of 4,096 bytes, each with
//	a checksum. Page 0, with offset and size of each field:
//	   0    4  number of documents, N
//	   4    4  number of long documents, L
//	   8    8  sum of dl over the documents that have terms
//	  16    8  k1, float64
//	  24    8  b, float64
//	  32    4  1 if documents without terms count, otherwise 0
//	  36    4  checksum of the rows of table 1, concatenated
//	  40    4  number of units in the signatures of all documents
//	  44       zeros
//	tables, one after the other:
//	  1 documents  24 bytes, ascending by ID: ID, updated, created
//	  2 lengths    2 bytes: dl; 2¹⁶−1 for a document that does not count,
//	               2¹⁶−2 for a long document
//	  3 long       8 bytes, ascending: number of a document (4), its dl (4), which
//	               is 2¹⁶−2 or more, and at most 2³²−2
//	  4 times      24 bytes for 64 documents: the earliest created, the latest
//	               created, the latest updated
//	  5 sizes      2 bytes: number of units in the signature of a document
//	  6 signatures 4 bytes: a unit, which is 32 bits of a document's signature
//	               (see signature.go); the units of a document are in order
//	blocks, each of 64 terms except the last, ascending by text:
//	  the lists of its terms, concatenated
//	  for each term: length of the text (4), df (4), length of its list (4),
//	  checksum of its list (4); then the texts
//	  after some blocks, and after the last: a batch with the texts of the
//	  terms in all blocks since the previous batch (see [textBatchWriter])
//	table of the blocks:
//	  for each block: offset (8), size of lists (4), size of terms (4),
//	  checksum of the terms (4), length of the first term (4)
//	  then the first terms
//	  for each batch: offset (8), size (4), checksum of the batch (4)
//	  then a checksum
//	footer, 32 bytes, with offset and size of each field:
//	   0    4  number of terms
//	   4    4  number of blocks
//	   8    8  offset of the table of the blocks, from the first byte of the snapshot
//	  16    8  length of the snapshot
//	  24    4  checksum of page 0
//	  28    4  checksum
//
// A list has a varint for each document. The varint is twice the distance to the previous document number minus one
// (the first distance is counted from -1), plus 1 if the Frequency is not [FrequencyPerOccurrence]. In that case the
// Frequency follows as a second varint. For example, a term that occurs once in documents 0 and 2, and with Frequency 2
// in document 3, has the list 00 02 01 02.
//
// Deleted documents are not written. Readers verify each piece's checksum and the range of each value in the piece, so
// that a number cannot lead outside the snapshot. Opening a snapshot reads page 0, the lengths, the table of the blocks
// and the footer. A query reads a block's terms, a list for each query term, and a page of documents for each hit.
// Lengths are stored apart from a document's remaining fields because a query needs them for all documents that contain
// its terms. If a query has an unknown word, all batches are read to find similar words.

package index

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// FileSuffix is the suffix of a snapshot file's name.
const FileSuffix = ".idx"

// WriteSnapshot writes a snapshot of the index to w, starting at offset, and returns the snapshot's size in bytes. It
// needs memory for one block of terms per segment, one batch of texts, and a few bytes per document. An error comes
// from w, or from reading the snapshot from which the index was opened. After an error, the written data must be
// discarded.
func (x *Searcher) WriteSnapshot(w io.WriterAt, offset int64) (size int64, err error) {
	s := snapshotWriter{searcher: x, out: bufio.NewWriterSize(io.NewOffsetWriter(w, offset), writeBufferSize)}
	s.writeDocuments()
	if err := s.writeTerms(); err != nil {
		return 0, err
	}
	f := snapshotFooter{
		termCount:        int64(s.termCount),
		blockCount:       int64(len(s.blockTable) / termBlockRowBytes),
		blockTableOffset: s.size,
		docsChecksum:     s.docsChecksum,
	}
	s.write(s.blockTable)
	s.write(s.blockFirstTerms)
	s.write(s.textBatches.batchTable)
	checksum := crc32.Checksum(s.blockTable, castagnoli)
	checksum = crc32.Update(checksum, castagnoli, s.blockFirstTerms)
	checksum = crc32.Update(checksum, castagnoli, s.textBatches.batchTable)
	s.write(binary.LittleEndian.AppendUint32(nil, checksum))
	f.blockTableSize = s.size + footerSize
	s.write(f.appendTo(nil))
	return s.size, cmp.Or(s.out.Flush(), x.Err())
}

// writeBufferSize is the size, in bytes, of the buffer for writing.
const writeBufferSize = 1 << 18

// snapshotWriter writes the snapshot of a searcher. The first error of out is returned when out is flushed.
type snapshotWriter struct {
	searcher     *Searcher
	out          *bufio.Writer
	size         int64  // number of bytes written so far
	docsChecksum uint32 // checksum of page 0, the first page of the part with the documents
	termCount    int
	// for each part of the index, each document's number in the snapshot (deletedNumberMark for a deleted document)
	newDocNumbers [][]uint32

	currentBlock                termBlock
	blockTable, blockFirstTerms []byte
	textBatches                 textBatchWriter
	encodedPostingList          []byte // reused memory for an encoded list
}

// termBlock is the block of terms that is being written.
type termBlock struct {
	// listsOffset is the offset in the snapshot at which the posting lists of the block's terms begin. A posting list
	// contains the documents with one term.
	listsOffset                          int64
	firstTerm                            string
	termCount                            int
	encodedTermEntries, encodedTermTexts []byte
}

func (w *snapshotWriter) write(b []byte) { _, _ = w.Write(b) }

func (w *snapshotWriter) Write(b []byte) (int, error) {
	w.size += int64(len(b))
	return w.out.Write(b)
}

// docRef identifies a document by the part of the index that contains it (an index in Searcher.views), and by the
// document's number in this part.
type docRef struct{ viewIndex, documentNumber uint32 }

// writeDocuments writes the documents in ascending order of their IDs, and sets each document's new number in
// newDocNumbers.
func (w *snapshotWriter) writeDocuments() {
	views := w.searcher.views
	docs := make([]docRef, 0, w.searcher.DocumentCount())
	w.newDocNumbers = make([][]uint32, len(views))
	ids := make([][]uint64, len(views))
	updated := make([][]int64, len(views))
	created := make([][]int64, len(views))
	for i := range views {
		v := &views[i]
		ids[i] = v.ids.allValues()
		updated[i] = v.updated.allValues()
		created[i] = v.created.allValues()
		w.newDocNumbers[i] = make([]uint32, len(v.docLengths))
		for n := range v.docLengths {
			w.newDocNumbers[i][n] = deletedNumberMark
			if !v.isDeleted(uint32(n)) {
				docs = append(docs, docRef{uint32(i), uint32(n)})
			}
		}
	}
	byID := func(a, b docRef) int {
		return cmp.Compare(ids[a.viewIndex][a.documentNumber], ids[b.viewIndex][b.documentNumber])
	}
	if !slices.IsSortedFunc(docs, byID) {
		slices.SortFunc(docs, byID)
	}
	for n, d := range docs {
		w.newDocNumbers[d.viewIndex][d.documentNumber] = uint32(n)
	}
	w.docsChecksum = writeDocs(
		w,
		docsHeader{docCount: len(docs), totalLength: w.searcher.totalLength, params: w.searcher.params},
		func(i int) (uint64, int64, int64, uint32) {
			d := docs[i]
			return ids[d.viewIndex][d.documentNumber], updated[d.viewIndex][d.documentNumber],
				created[d.viewIndex][d.documentNumber],
				views[d.viewIndex].docLengths[d.documentNumber]
		},
		func(i int) (*signatureColumn, uint32) {
			return &views[docs[i].viewIndex].signatures, docs[i].documentNumber
		},
	)
}

// writeTerms writes the terms of the whole index, sorted by text. It stops if a snapshot from which terms are read
// cannot be read.
func (w *snapshotWriter) writeTerms() error {
	w.currentBlock.listsOffset = w.size
	var list, room []posting
	cursors := openCursors(w.searcher.views, w.newDocNumbers)
	for n := 0; len(cursors) > 0; n++ {
		if n%termsPerBlock == 0 && w.searcher.Err() != nil {
			return w.searcher.Err()
		}
		text, same := cursors[0].text, 1
		for same < len(cursors) && cursors[same].text == text {
			same++
		}
		list = list[:0]
		for _, c := range cursors[:same] {
			list = c.appendPostings(list)
		}
		list, room = sortPostingRuns(list, room)
		// If all documents with the term were deleted, no postings remain, and the snapshot does not contain the term.
		if len(list) > 0 {
			if err := w.writeTerm(text, list); err != nil {
				return err
			}
		}
		cursors = advanceCursors(cursors, same)
	}
	err := w.writeBlock()
	if len(w.textBatches.encodedBlocks) > 0 {
		w.writeTextBatch()
	}
	return err
}

// writeTerm writes a term and its posting list to the snapshot. The caller must write the terms in ascending order of
// their texts.
func (w *snapshotWriter) writeTerm(text string, list []posting) error {
	le, k := binary.LittleEndian, &w.currentBlock
	w.encodePostingList(list)
	if uint64(len(w.encodedPostingList)) > math.MaxUint32 {
		return fmt.Errorf("writing the index snapshot: a list of %d bytes is too large", len(w.encodedPostingList))
	}
	w.write(w.encodedPostingList)
	if k.termCount == 0 {
		k.firstTerm = text
	}
	k.encodedTermEntries = le.AppendUint32(k.encodedTermEntries, uint32(len(text)))
	k.encodedTermEntries = le.AppendUint32(k.encodedTermEntries, uint32(len(list)))
	k.encodedTermEntries = le.AppendUint32(k.encodedTermEntries, uint32(len(w.encodedPostingList)))
	k.encodedTermEntries = le.AppendUint32(k.encodedTermEntries, crc32.Checksum(w.encodedPostingList, castagnoli))
	k.encodedTermTexts = append(k.encodedTermTexts, text...)
	w.textBatches.addText(text)
	w.termCount++
	k.termCount++
	if k.termCount == termsPerBlock {
		return w.writeBlock()
	}
	return nil
}

// writeBlock writes the current block of up to 64 terms to the snapshot. It does nothing if the block is empty. The
// lists of the documents with these terms must have been written before.
func (w *snapshotWriter) writeBlock() error {
	le, k := binary.LittleEndian, &w.currentBlock
	if k.termCount == 0 {
		return nil
	}
	size := w.size - k.listsOffset
	k.encodedTermEntries = append(k.encodedTermEntries, k.encodedTermTexts...)
	if size > math.MaxUint32 || uint64(len(k.encodedTermEntries)) > math.MaxUint32 {
		return fmt.Errorf("writing the index snapshot: a block of %d bytes is too large", size)
	}
	w.blockTable = le.AppendUint64(w.blockTable, uint64(k.listsOffset))
	w.blockTable = le.AppendUint32(w.blockTable, uint32(size))
	w.blockTable = le.AppendUint32(w.blockTable, uint32(len(k.encodedTermEntries)))
	w.blockTable = le.AppendUint32(w.blockTable, crc32.Checksum(k.encodedTermEntries, castagnoli))
	w.blockTable = le.AppendUint32(w.blockTable, uint32(len(k.firstTerm)))
	w.blockFirstTerms = append(w.blockFirstTerms, k.firstTerm...)
	w.write(k.encodedTermEntries)
	w.textBatches.finishBlock()
	if len(w.textBatches.encodedBlocks) >= minTextBatchBytes {
		if uint64(len(w.textBatches.encodedBlocks)) > math.MaxUint32 {
			return errors.New("writing the index snapshot: the texts of the terms are too large")
		}
		w.writeTextBatch()
	}
	*k = termBlock{
		listsOffset:        w.size,
		encodedTermEntries: k.encodedTermEntries[:0],
		encodedTermTexts:   k.encodedTermTexts[:0],
	}
	return nil
}

// writeTextBatch writes the texts of the terms that were added since the last call.
func (w *snapshotWriter) writeTextBatch() { w.write(w.textBatches.finishBatch(w.size)) }

// encodePostingList stores the encoded form of the posting list in w.encodedPostingList.
func (w *snapshotWriter) encodePostingList(list []posting) {
	b, next := w.encodedPostingList[:0], uint32(0)
	for _, p := range list {
		if v := uint64(p.docNumber-next) << 1; p.termFrequency == FrequencyPerOccurrence {
			b = binary.AppendUvarint(b, v)
		} else {
			b = binary.AppendUvarint(binary.AppendUvarint(b, v|1), uint64(p.termFrequency))
		}
		next = p.docNumber + 1
	}
	w.encodedPostingList = b
}

// snapshotFooter is the end of a snapshot file. It contains the offset of the table that describes all term blocks.
type snapshotFooter struct {
	termCount, blockCount            int64
	blockTableOffset, blockTableSize int64
	docsChecksum                     uint32
}

func (f *snapshotFooter) appendTo(b []byte) []byte {
	le, from := binary.LittleEndian, len(b)
	b = le.AppendUint32(le.AppendUint32(b, uint32(f.termCount)), uint32(f.blockCount))
	b = le.AppendUint64(le.AppendUint64(b, uint64(f.blockTableOffset)), uint64(f.blockTableSize))
	b = le.AppendUint32(b, f.docsChecksum)
	return le.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// readFooter reads the footer at the end of a snapshot. The argument size is the size of the snapshot in bytes. The
// documents are in the first part of the snapshot. The argument termsOffset is the offset after this part, at which the
// terms begin. The argument docsChecksum is the checksum of this part. If the footer does not contain this checksum, or
// does not fit these values, readFooter returns an error.
func readFooter(r io.ReaderAt, size, termsOffset int64, docsChecksum uint32) (snapshotFooter, error) {
	b, err := readCheckedBytes(r, size-footerSize, footerSize, size)
	if err != nil {
		return snapshotFooter{}, err
	}
	le := binary.LittleEndian
	f := snapshotFooter{
		int64(le.Uint32(b)),
		int64(le.Uint32(b[4:])),
		int64(le.Uint64(b[8:])),
		int64(le.Uint64(b[16:])),
		le.Uint32(b[24:]),
	}
	isOfFile := f.blockTableSize == size && f.docsChecksum == docsChecksum
	if !isOfFile || !f.hasTable(termsOffset, size-footerSize) {
		return f, fmt.Errorf("%w: its foot has an unknown form", errDamagedSnapshot)
	}
	return f, nil
}

// hasTable reports whether the table of term blocks begins between the offsets in the arguments, and whether the block
// count fits the term count.
func (f *snapshotFooter) hasTable(startOffset, endOffset int64) bool {
	return f.blockTableOffset >= startOffset && f.blockTableOffset <= endOffset &&
		f.blockCount == (f.termCount+termsPerBlock-1)/termsPerBlock
}

// OpenSnapshot opens the index in r. The argument size is the number of bytes that the index has at the start of r. The
// index also reads these bytes later, so they must not change while the index is used. The parameters p must be the
// parameters with which the snapshot was written. An error matches errDamagedSnapshot, or comes from package pagefile
// or from r.
func OpenSnapshot(r io.ReaderAt, size int64, p Params) (*Index, error) {
	x := New(p)
	var h docsHeader
	docs, err := pagefile.Open(r, func(page []byte) (_ []pagefile.TableSize, err error) {
		h, err = readDocsHeader(page, size, x.params)
		return h.tableSizes(), err
	})
	if err != nil {
		return nil, err
	}
	from := int64(pagefile.CountPages(h.tableSizes())) * pagefile.PageSize
	f, err := readFooter(r, size, from, h.pageChecksum)
	if err != nil {
		return nil, err
	}
	s, err := h.newSegment(docs)
	if err != nil {
		return nil, err
	}
	table, err := readCheckedBytes(r, f.blockTableOffset, size-footerSize-f.blockTableOffset, size)
	if err != nil {
		return nil, err
	}
	to := &Searcher{
		params:              x.params,
		seed:                x.seed,
		scoredDocumentCount: s.scoredDocumentCount,
		totalLength:         s.totalDocumentLength,
	}
	img := &snapshotTerms{
		reader:           r,
		docs:             docs,
		rowsChecksum:     h.rowsChecksum,
		docLengths:       s.docLengths,
		scoreImpactScale: to.currentBM25Scale(),
		termCount:        int(f.termCount),
	}
	img.blocks, table, err = readBlockTable(table, f.blockCount, from, f.blockTableOffset)
	if err != nil {
		return nil, err
	}
	img.textBatches, err = readTextBatchTable(table, from, f.blockTableOffset)
	if err != nil {
		return nil, err
	}
	s.snapshot, s.scoreImpactK1Slope = img, img.scoreImpactScale.adjustedK1Slope
	to.views = []segmentView{{segment: s}}
	x.current.Store(to)
	return x, nil
}

// readBlockTable decodes the table of blocks at the start of b, and returns the rest of b. The argument blockCount is
// the number of blocks. No block may begin before the offset startOffset or end after the offset endOffset in the
// snapshot.
func readBlockTable(b []byte, blockCount, startOffset, endOffset int64) (_ []dictBlock, rest []byte, err error) {
	le := binary.LittleEndian
	if int64(len(b)) < blockCount*termBlockRowBytes {
		return nil, nil, fmt.Errorf("%w: its table is cut short", errDamagedSnapshot)
	}
	firsts := string(b[blockCount*termBlockRowBytes:])
	bs := make([]dictBlock, blockCount)
	for i := range bs {
		e := b[i*termBlockRowBytes:]
		k := &bs[i]
		k.listsOffset = int64(le.Uint64(e))
		k.listsSize = le.Uint32(e[8:])
		k.termsSize = le.Uint32(e[12:])
		k.checksum = le.Uint32(e[16:])
		n := int64(le.Uint32(e[20:]))
		switch {
		case k.listsOffset < startOffset,
			k.listsOffset > endOffset,
			int64(k.listsSize)+int64(k.termsSize) > endOffset-k.listsOffset,
			n > int64(len(firsts)):
			return nil, nil, fmt.Errorf("%w: a block of its table leads outside", errDamagedSnapshot)
		}
		k.firstTerm, firsts = firsts[:n], firsts[n:]
		if i > 0 && k.firstTerm <= bs[i-1].firstTerm {
			return nil, nil, fmt.Errorf("%w: its table does not rise", errDamagedSnapshot)
		}
	}
	return bs, b[len(b)-len(firsts):], nil
}
