// This file iterates over the terms of several views, sorted by text, to merge them into a
// snapshot.

package index

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
)

// termCursor iterates over a view's terms, sorted by text. For a snapshot, it keeps a
// single block in memory.
type termCursor struct {
	view        *view
	newNumbers  []uint32 // new document numbers (dropped for deleted documents)
	firstNumber uint32   // smallest of the numbers, for ordering views
	text        string   // text of the current term

	sortedTerms  []sortedTerm // all terms, for a view in memory
	currentIndex int          // index of the current term in sorted or in the snapshot

	terms           []snapshotTerm // terms of the current block
	lists           blockLists
	scratchPostings []posting
}

// sortedTerm is a term of a view in memory.
type sortedTerm struct {
	text   string
	number int
}

// openCursors returns the cursors of all views that have terms, ordered by text. numbers are
// the new document numbers by view.
func openCursors(views []view, numbers [][]uint32) (cs []*termCursor) {
	for i := range views {
		c := &termCursor{view: &views[i], newNumbers: numbers[i], firstNumber: droppedNumber, currentIndex: -1}
		if len(numbers[i]) > 0 {
			c.firstNumber = slices.Min(numbers[i])
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

// compare orders cursors by text and, for equal texts, by the first document of their
// views, so that the concatenated postings are usually in order.
func (c *termCursor) compare(d *termCursor) int {
	if order := strings.Compare(c.text, d.text); order != 0 {
		return order
	}
	return cmp.Compare(c.firstNumber, d.firstNumber)
}

// advanceCursors moves the first n cursors to their next terms. It returns the cursors that have
// a next term, sorted by the term's text.
func advanceCursors(cs []*termCursor, n int) []*termCursor {
	if n == 1 && len(cs) == 1 {
		if !cs[0].nextTerm() {
			return nil
		}
		return cs
	}
	for range n {
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

// sortTerms sets the sorted terms of a view in memory.
func (c *termCursor) sortTerms() {
	for n := range c.view.termCount() {
		if t := c.view.termCountsAt(n); t.df > 0 {
			c.sortedTerms = append(c.sortedTerms, sortedTerm{t.text, n})
		}
	}
	slices.SortFunc(c.sortedTerms, func(s, t sortedTerm) int { return strings.Compare(s.text, t.text) })
}

// nextTerm moves to the next term. It returns false at the end, and also if a snapshot cannot be read.
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
			img.recordError(err)
			return false
		}
	}
	if c.currentIndex%termsPerBlock >= len(c.terms) {
		img.recordError(fmt.Errorf("%w: a block has too few terms", errSnapshot))
		return false
	}
	c.text = c.terms[c.currentIndex%termsPerBlock].text
	return true
}

// readBlock reads a block of a snapshot with its lists and terms, and replaces the previous
// block.
func (c *termCursor) readBlock(n int) error {
	img := c.view.snapshot
	k := &img.blocks[n]
	b, err := readBytesAt(img.reader, k.listsOffset, int64(k.listsSize)+int64(k.termsSize), math.MaxInt64)
	if err != nil {
		return err
	}
	c.lists = blockLists{n, b[:k.listsSize]}
	b = b[k.listsSize:]
	if crc32.Checksum(b, castagnoli) != k.checksum {
		return fmt.Errorf(
			"%w: %d bytes at %d do not match their checksum",
			errSnapshot,
			len(b),
			k.listsOffset+int64(k.listsSize),
		)
	}
	c.terms, err = readTerms(b, k)
	return err
}

// appendPostings appends the postings of the current term, with the new document numbers.
func (c *termCursor) appendPostings(list []posting) []posting {
	var own []posting
	if img := c.view.snapshot; img != nil {
		t := &c.terms[c.currentIndex%termsPerBlock]
		c.scratchPostings = img.decodeListBytes(
			t,
			c.lists.encoded[t.listOffset-img.blocks[c.lists.blockNumber].listsOffset:],
			c.scratchPostings[:0],
		)
		own = c.scratchPostings
	} else {
		own = c.view.termPostings(c.sortedTerms[c.currentIndex].number, &c.scratchPostings)
	}
	for _, p := range own {
		p.doc = c.newNumbers[p.doc]
		if p.doc != droppedNumber {
			list = append(list, p)
		}
	}
	return list
}

// sortPostingRuns sorts postings by document. It returns the sorted array and the unused
// array. The input consists of a few ascending runs, which are merged pairwise until a
// single run is left.
func sortPostingRuns(list, room []posting) (sorted, other []posting) {
	for ascendingRunLength(list) < len(list) {
		room = room[:0]
		for rest := list; len(rest) > 0; {
			n := ascendingRunLength(rest)
			a, b := rest[:n], rest[n:]
			b = b[:ascendingRunLength(b)]
			rest = rest[len(a)+len(b):]
			for len(a) > 0 && len(b) > 0 {
				if a[0].doc < b[0].doc {
					room, a = append(room, a[0]), a[1:]
				} else {
					room, b = append(room, b[0]), b[1:]
				}
			}
			room = append(append(room, a...), b...)
		}
		list, room = room, list
	}
	return list, room
}

// ascendingRunLength returns the length of the ascending run that list begins with.
func ascendingRunLength(list []posting) int {
	for i := 1; i < len(list); i++ {
		if list[i].doc <= list[i-1].doc {
			return i
		}
	}
	return len(list)
}
