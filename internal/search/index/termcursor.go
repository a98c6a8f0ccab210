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
	view    *view
	numbers []uint32 // new document numbers (dropped for deleted documents)
	order   uint32   // smallest of the numbers, for ordering views
	text    string   // text of the current term

	sorted []sortedTerm // all terms, for a view in memory
	at     int          // index of the current term in sorted or in the snapshot

	terms []imageTerm // terms of the current block
	lists lists
	room  []posting
}

// sortedTerm is a term of a view in memory.
type sortedTerm struct {
	text string
	n    int
}

// openCursors returns the cursors of all views that have terms, ordered by text. numbers are
// the new document numbers by view.
func openCursors(views []view, numbers [][]uint32) (cs []*termCursor) {
	for i := range views {
		c := &termCursor{view: &views[i], numbers: numbers[i], order: dropped, at: -1}
		if len(numbers[i]) > 0 {
			c.order = slices.Min(numbers[i])
		}
		if c.view.image == nil {
			c.sort()
		}
		if c.next() {
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
	return cmp.Compare(c.order, d.order)
}

// advance moves the first n cursors to their next terms. It returns the cursors that have
// a next term, sorted by the term's text.
func advance(cs []*termCursor, n int) []*termCursor {
	if n == 1 && len(cs) == 1 {
		if !cs[0].next() {
			return nil
		}
		return cs
	}
	for range n {
		c := cs[0]
		copy(cs, cs[1:])
		cs = cs[:len(cs)-1]
		if c.next() {
			at, _ := slices.BinarySearchFunc(cs, c, (*termCursor).compare)
			cs = slices.Insert(cs, at, c)
		}
	}
	return cs
}

// sort sets the sorted terms of a view in memory.
func (c *termCursor) sort() {
	for n := range c.view.numTerms() {
		if t := c.view.term(n); t.df > 0 {
			c.sorted = append(c.sorted, sortedTerm{t.text, n})
		}
	}
	slices.SortFunc(c.sorted, func(s, t sortedTerm) int { return strings.Compare(s.text, t.text) })
}

// next moves to the next term. It returns false at the end, and also if a snapshot cannot be read.
func (c *termCursor) next() bool {
	c.at++
	img := c.view.image
	if img == nil {
		if c.at == len(c.sorted) {
			return false
		}
		c.text = c.sorted[c.at].text
		return true
	}
	if c.at >= img.terms || img.docs.Err() != nil {
		return false
	}
	if c.at%blockTerms == 0 {
		if err := c.readBlock(c.at / blockTerms); err != nil {
			img.fail(err)
			return false
		}
	}
	if c.at%blockTerms >= len(c.terms) {
		img.fail(fmt.Errorf("%w: a block has too few terms", errSnapshot))
		return false
	}
	c.text = c.terms[c.at%blockTerms].text
	return true
}

// readBlock reads a block of a snapshot with its lists and terms, and replaces the previous
// block.
func (c *termCursor) readBlock(n int) error {
	img := c.view.image
	k := &img.blocks[n]
	b, err := readPiece(img.r, k.lists, int64(k.size)+int64(k.rest), math.MaxInt64)
	if err != nil {
		return err
	}
	c.lists = lists{n, b[:k.size]}
	b = b[k.size:]
	if crc32.Checksum(b, castagnoli) != k.check {
		return fmt.Errorf("%w: %d bytes at %d do not match their checksum", errSnapshot, len(b), k.lists+int64(k.size))
	}
	c.terms, err = readTerms(b, k)
	return err
}

// appendPostings appends the postings of the current term, with the new document numbers.
func (c *termCursor) appendPostings(list []posting) []posting {
	var own []posting
	if img := c.view.image; img != nil {
		t := &c.terms[c.at%blockTerms]
		c.room = img.decodeBytes(t, c.lists.b[t.at-img.blocks[c.lists.block].lists:], c.room[:0])
		own = c.room
	} else {
		own = c.view.termPostings(c.sorted[c.at].n, &c.room)
	}
	for _, p := range own {
		p.doc = c.numbers[p.doc]
		if p.doc != dropped {
			list = append(list, p)
		}
	}
	return list
}

// sortRuns sorts postings by document. It returns the sorted array and the unused
// array. The input consists of a few ascending runs, which are merged pairwise until a
// single run is left.
func sortRuns(list, room []posting) (sorted, other []posting) {
	for risingRun(list) < len(list) {
		room = room[:0]
		for rest := list; len(rest) > 0; {
			n := risingRun(rest)
			a, b := rest[:n], rest[n:]
			b = b[:risingRun(b)]
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

// risingRun returns the length of the ascending run that list begins with.
func risingRun(list []posting) int {
	for i := 1; i < len(list); i++ {
		if list[i].doc <= list[i-1].doc {
			return i
		}
	}
	return len(list)
}
