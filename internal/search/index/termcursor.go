// This file iterates over the terms in all parts of the index, ordered by text, to write them to a snapshot file.

package index

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
)

// termCursor iterates over a view's terms in the order of their texts. For a snapshot, it keeps only one block in
// memory.
type termCursor struct {
	view              *segmentView
	newDocNumbers     []uint32 // new number of each document (deletedNumberMark for a deleted document)
	firstNewDocNumber uint32   // smallest number in newDocNumbers. Views with the same term are ordered by it.
	text              string   // text of the term that the cursor has reached

	sortedTerms  []sortedTerm // all terms, if this part of the index is in memory
	currentIndex int          // index of the current term in sortedTerms or in the snapshot

	terms           []snapshotTerm // terms of the block that the cursor has reached, if the view is in a snapshot
	blockPostings   encodedBlockPostings
	scratchPostings []posting
}

// sortedTerm is a term in a part of the index that is kept in memory. The field termNumber is the term's number in this
// part.
type sortedTerm struct {
	text       string
	termNumber int
}

// openCursors returns a cursor for each segment in views that has terms. The cursors are sorted by the text of their
// first term. For each segment, the slice numbers[i] contains the numbers that the documents of views[i] get in the
// snapshot that is being written.
func openCursors(views []segmentView, numbers [][]uint32) (cs []*termCursor) {
	for i := range views {
		c := &termCursor{
			view:              &views[i],
			newDocNumbers:     numbers[i],
			firstNewDocNumber: deletedNumberMark,
			currentIndex:      -1,
		}
		if len(numbers[i]) > 0 {
			c.firstNewDocNumber = slices.Min(numbers[i])
		}
		if c.view.snapshot == nil {
			c.sortTerms()
		}
		if c.nextTerm() {
			cs = append(cs, c)
		}
	}
	slices.SortFunc(cs, (*termCursor).compare)
	return cs
}

// compare orders the cursors c and d by the text of their current term. If the texts are equal, the cursor with the
// lower firstNewDocNumber comes first. In this order, the posting lists of the term can be joined, and the documents in
// the joined list are usually already sorted.
func (c *termCursor) compare(d *termCursor) int {
	if order := strings.Compare(c.text, d.text); order != 0 {
		return order
	}
	return cmp.Compare(c.firstNewDocNumber, d.firstNewDocNumber)
}

// advanceCursors moves the first advanceCount cursors to their next term. It returns the cursors that still have a
// term, sorted by the text of the term.
func advanceCursors(cs []*termCursor, advanceCount int) []*termCursor {
	if advanceCount == 1 && len(cs) == 1 {
		if !cs[0].nextTerm() {
			return nil
		}
		return cs
	}
	for range advanceCount {
		c := cs[0]
		copy(cs, cs[1:])
		cs = cs[:len(cs)-1]
		if c.nextTerm() {
			at, _ := slices.BinarySearchFunc(cs, c, (*termCursor).compare)
			cs = slices.Insert(cs, at, c)
		}
	}
	return cs
}

// sortTerms fills c.sortedTerms with the terms of the view, sorted by their texts. It leaves out terms that no document
// contains. The view must be in memory.
func (c *termCursor) sortTerms() {
	for n := range c.view.termCount() {
		if t := c.view.termCountsAt(n); t.docFrequency > 0 {
			c.sortedTerms = append(c.sortedTerms, sortedTerm{t.text, n})
		}
	}
	slices.SortFunc(c.sortedTerms, func(s, t sortedTerm) int { return strings.Compare(s.text, t.text) })
}

// nextTerm moves the cursor to the next term. It returns false after the last term, and also if a snapshot cannot be
// read.
func (c *termCursor) nextTerm() bool {
	c.currentIndex++
	img := c.view.snapshot
	if img == nil {
		if c.currentIndex == len(c.sortedTerms) {
			return false
		}
		c.text = c.sortedTerms[c.currentIndex].text
		return true
	}
	if c.currentIndex >= img.termCount || img.docs.Err() != nil {
		return false
	}
	if c.currentIndex%termsPerBlock == 0 {
		if err := c.readBlock(c.currentIndex / termsPerBlock); err != nil {
			img.recordReadError(err)
			return false
		}
	}
	if c.currentIndex%termsPerBlock >= len(c.terms) {
		img.recordReadError(fmt.Errorf("%w: a block has too few terms", errDamagedSnapshot))
		return false
	}
	c.text = c.terms[c.currentIndex%termsPerBlock].text
	return true
}

// readBlock reads the terms and lists of a snapshot's block n. They replace the previous block's terms and lists.
func (c *termCursor) readBlock(n int) error {
	img := c.view.snapshot
	k := &img.blocks[n]
	b, err := readBytesAt(img.reader, k.listsOffset, int64(k.listsSize)+int64(k.termsSize), math.MaxInt64)
	if err != nil {
		return err
	}
	c.blockPostings = encodedBlockPostings{n, b[:k.listsSize]}
	b = b[k.listsSize:]
	if crc32.Checksum(b, castagnoli) != k.checksum {
		return fmt.Errorf(
			"%w: %d bytes at %d do not match their checksum",
			errDamagedSnapshot,
			len(b),
			k.listsOffset+int64(k.listsSize),
		)
	}
	c.terms, err = readTerms(b, k)
	return err
}

// appendPostings appends the postings of the cursor's current term to the slice list, and returns the extended slice.
// The appended postings have the new document numbers, which the documents get in the merged segment. Postings of
// deleted documents are left out.
func (c *termCursor) appendPostings(list []posting) []posting {
	var own []posting
	if img := c.view.snapshot; img != nil {
		t := &c.terms[c.currentIndex%termsPerBlock]
		c.scratchPostings = img.decodePostingListBytes(
			t,
			c.blockPostings.encodedPostings[t.listOffset-img.blocks[c.blockPostings.termBlockNumber].listsOffset:],
			c.scratchPostings[:0],
		)
		own = c.scratchPostings
	} else {
		own = c.view.termPostings(c.sortedTerms[c.currentIndex].termNumber, &c.scratchPostings)
	}
	for _, p := range own {
		p.docNumber = c.newDocNumbers[p.docNumber]
		if p.docNumber != deletedNumberMark {
			list = append(list, p)
		}
	}
	return list
}

// sortPostingRuns sorts the postings in list by document number. The list consists of a few ascending runs.
// sortPostingRuns merges pairs of runs until only one run is left. It needs a second slice for the merged runs, and
// uses reusedMemory for this purpose. The result sorted contains the sorted postings. The result spareMemory is the
// slice that sorted does not use, which the caller may reuse.
func sortPostingRuns(list, reusedMemory []posting) (sorted, spareMemory []posting) {
	for ascendingRunLength(list) < len(list) {
		reusedMemory = reusedMemory[:0]
		for rest := list; len(rest) > 0; {
			n := ascendingRunLength(rest)
			a, b := rest[:n], rest[n:]
			b = b[:ascendingRunLength(b)]
			rest = rest[len(a)+len(b):]
			for len(a) > 0 && len(b) > 0 {
				if a[0].docNumber < b[0].docNumber {
					reusedMemory, a = append(reusedMemory, a[0]), a[1:]
				} else {
					reusedMemory, b = append(reusedMemory, b[0]), b[1:]
				}
			}
			reusedMemory = append(append(reusedMemory, a...), b...)
		}
		list, reusedMemory = reusedMemory, list
	}
	return list, reusedMemory
}

// ascendingRunLength returns how many postings at the start of list are in ascending order.
func ascendingRunLength(list []posting) int {
	for i := 1; i < len(list); i++ {
		if list[i].docNumber <= list[i-1].docNumber {
			return i
		}
	}
	return len(list)
}
