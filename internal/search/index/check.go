// This file contains three checks. The first verifies only the checksums of a snapshot (an index that is stored in a
// file). The second checks a whole snapshot. The third compares documents with a snapshot. All of them read the
// snapshot block by block and cache nothing, so that checking a large index needs little memory.

package index

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"sort"
)

// VerifyChecksums reads the whole snapshot from which the index was opened, and verifies its checksums. It returns an
// error if the snapshot is damaged. It decodes nothing, so that it needs much less time than CheckSnapshot.
func (x *Searcher) VerifyChecksums() error {
	for i := range x.views {
		img := x.views[i].snapshot
		if img == nil {
			continue
		}
		err := img.docs.VerifyPages()
		var buf []byte
		for n := 0; n < len(img.blocks) && err == nil; n++ {
			buf, err = img.verifyBlock(&img.blocks[n], buf)
		}
		texts := textBlockReader{snapshot: img, batches: img.textBatches}
		for len(texts.batches) > 0 && err == nil {
			err = texts.readBatch()
		}
		if err != nil {
			img.recordReadError(err)
		}
	}
	return x.Err()
}

// verifyBlock verifies the checksums of a block and of its posting lists. It reads the block into the memory of buf if
// this is large enough, and returns the memory that it has used.
func (img *snapshotTerms) verifyBlock(k *dictBlock, buf []byte) ([]byte, error) {
	buf, err := readBytesInto(buf, img.reader, k.listsOffset, int64(k.listsSize)+int64(k.termsSize), math.MaxInt64)
	if err != nil {
		return buf, err
	}
	lists, terms := buf[:k.listsSize], buf[k.listsSize:]
	if crc32.Checksum(terms, castagnoli) != k.checksum {
		return buf, newChecksumError(len(terms), k.listsOffset+int64(k.listsSize))
	}
	n, err := countTerms(terms)
	if err != nil {
		return buf, err
	}
	for i := range n {
		entry := terms[i*termEntrySize:]
		size := binary.LittleEndian.Uint32(entry[8:])
		if int64(size) > int64(len(lists)) ||
			crc32.Checksum(lists[:size], castagnoli) != binary.LittleEndian.Uint32(entry[12:]) {
			return buf, newChecksumError(int(size), k.listsOffset)
		}
		lists = lists[size:]
	}
	return buf, nil
}

// CheckSnapshot reads the whole snapshot from which the index was opened. It returns an error if the snapshot is
// damaged.
func (x *Searcher) CheckSnapshot() error {
	for i := range x.views {
		img := x.views[i].snapshot
		if img == nil {
			continue
		}
		err := img.checkDocumentTables()
		texts := textBlockReader{snapshot: img, batches: img.textBatches}
		for n := 0; n < len(img.blocks) && err == nil; n++ {
			err = img.checkBlock(&img.blocks[n], &texts)
		}
		if err == nil {
			err = texts.checkEnd()
		}
		if err != nil {
			img.recordReadError(err)
		}
	}
	return x.Err()
}

// checkBlock decodes the terms and the posting lists of a block. The next text block must have the texts of these
// terms.
func (img *snapshotTerms) checkBlock(k *dictBlock, texts *textBlockReader) error {
	terms, err := img.readBlock(k)
	if err != nil {
		return err
	}
	if err := texts.checkBlock(terms); err != nil {
		return err
	}
	lists, err := readBytesAt(img.reader, k.listsOffset, int64(k.listsSize), math.MaxInt64)
	if err != nil {
		return err
	}
	for i := range terms {
		t := &terms[i]
		if err := img.checkPostingList(t, lists[t.listOffset-k.listsOffset:]); err != nil {
			return err
		}
	}
	return nil
}

// checkPostingList decodes the posting list of a term. b begins with the encoded list.
func (img *snapshotTerms) checkPostingList(t *snapshotTerm, b []byte) error {
	r, err := img.openPostingList(t, b)
	defer r.returnToPool()
	for err == nil && r.remainingPostings > 0 {
		_, err = r.decodeBatch()
	}
	return err
}

// ExpectedDocument is a document that a snapshot should contain.
type ExpectedDocument struct {
	ID     uint64
	Length uint32 // length in sixteenths of a word, see [Document.WeightedLength]
	// weighted frequency of each term; 16 is one occurrence in plain text (empty without terms)
	Frequencies map[string]int
	PairHashes  []uint32 // see [Document.PairHashes]
}

// FindSnapshotMismatch compares the documents in docs with the documents in the index snapshot. It returns the index of
// the first document that differs, or len(docs) if no document differs. A document differs in each of these cases:
//   - The document has terms, but the snapshot does not contain it or contains it without terms.
//   - The document has no terms, but the snapshot contains it with terms.
//   - The snapshot has another length for the document, or another frequency for one of its terms.
//   - The document's signature in the snapshot, which is made from hashes of word pairs, does not match PairHashes.
//
// The index must have been opened from a snapshot and must not have been changed. The documents must be ordered by ID.
func (x *Searcher) FindSnapshotMismatch(docs []ExpectedDocument) (i int, err error) {
	view := &x.views[0]
	c := documentComparison{snapshot: view.snapshot, firstMismatchIndex: len(docs)}
	var wanted []wantedPosting
	for i := range docs {
		d := &docs[i]
		number, ok := view.documentNumber(d.ID)
		isScored := ok && view.docLengths[number] != unscoredDocumentLength
		hasTerms := len(d.Frequencies) > 0
		isDifferent := isScored != hasTerms || (hasTerms && view.docLengths[number] != d.Length) ||
			(ok && !view.signatures.isSignatureOf(number, d.PairHashes))
		if isDifferent {
			c.recordMismatch(i)
			continue
		}
		for text, tf := range d.Frequencies {
			wanted = append(wanted, wantedPosting{text, number, min(tf, math.MaxUint16), i})
		}
	}
	slices.SortFunc(wanted, func(a, b wantedPosting) int {
		return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.docNumber, b.docNumber))
	})
	for len(wanted) > 0 && err == nil {
		n := 1
		for n < len(wanted) && wanted[n].term == wanted[0].term {
			n++
		}
		err = c.compareTerm(wanted[:n])
		wanted = wanted[n:]
	}
	return c.firstMismatchIndex, cmp.Or(err, x.Err())
}

// wantedPosting is a posting that a snapshot should contain.
type wantedPosting struct {
	term      string
	docNumber uint32 // number of the document
	tf        int    // frequency in sixteenths
	docIndex  int    // the document's index in the list of expected documents
}

// documentComparison compares postings with a snapshot.
type documentComparison struct {
	snapshot           *snapshotTerms
	firstMismatchIndex int // index of the first document that is different

	block *dictBlock // the block that was read last
	terms []snapshotTerm
}

func (c *documentComparison) recordMismatch(docIndex int) {
	c.firstMismatchIndex = min(c.firstMismatchIndex, docIndex)
}

// findTerm returns the term with this text, or nil if the snapshot does not contain it.
func (c *documentComparison) findTerm(text string) (*snapshotTerm, error) {
	blocks := c.snapshot.blocks
	i := sort.Search(len(blocks), func(i int) bool { return blocks[i].firstTerm > text }) - 1
	if i < 0 {
		return nil, nil
	}
	if c.block != &blocks[i] {
		terms, err := c.snapshot.readBlock(&blocks[i])
		if err != nil {
			return nil, err
		}
		c.block, c.terms = &blocks[i], terms
	}
	j := sort.Search(len(c.terms), func(j int) bool { return c.terms[j].text >= text })
	if j == len(c.terms) || c.terms[j].text != text {
		return nil, nil
	}
	return &c.terms[j], nil
}

// compareTerm compares the wanted postings of one term with the postings in the snapshot. The wanted postings must be
// ordered by document number. The documents of postings that the snapshot lacks, or contains with another frequency,
// are recorded by recordMismatch.
func (c *documentComparison) compareTerm(wanted []wantedPosting) error {
	t, err := c.findTerm(wanted[0].term)
	if err != nil {
		return err
	}
	if t != nil {
		wanted, err = c.compareList(t, wanted)
	}
	for _, w := range wanted { // the list has no postings for these documents
		c.recordMismatch(w.docIndex)
	}
	return err
}

// compareList compares wanted postings with the list of postings that the snapshot contains for the term t. The
// documents of postings that the list lacks, or contains with another frequency, are recorded by recordMismatch.
// compareList returns the wanted postings for documents after the list's last document.
func (c *documentComparison) compareList(t *snapshotTerm, wanted []wantedPosting) ([]wantedPosting, error) {
	b, err := readBytesAt(c.snapshot.reader, t.listOffset, int64(t.listSize), math.MaxInt64)
	if err != nil {
		return nil, err
	}
	r, err := c.snapshot.openPostingList(t, b)
	defer r.returnToPool()
	if err != nil {
		return nil, err
	}
	for r.remainingPostings > 0 && len(wanted) > 0 {
		n := int(min(r.remainingPostings, decodeBatchSize))
		if err := r.decodePostings(n); err != nil {
			return nil, err
		}
		for len(wanted) > 0 && wanted[0].docNumber <= r.batchDocNumbers[n-1] {
			j, found := slices.BinarySearch(r.batchDocNumbers[:n], wanted[0].docNumber)
			if !found || int(r.batchTermFrequencies[j]) != wanted[0].tf {
				c.recordMismatch(wanted[0].docIndex)
			}
			wanted = wanted[1:]
		}
	}
	return wanted, nil
}
