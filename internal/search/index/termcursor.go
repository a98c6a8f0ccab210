// The terms of views, each in the order of the texts: what a snapshot is merged of.

package index

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
)

// termCursor goes through the terms of a view, rising by text. Of a snapshot it keeps
// one block in memory.
type termCursor struct {
	view    *view
	numbers []uint32 // that the documents get; dropped for those that are deleted
	order   uint32   // among the views: the least of the numbers
	text    string   // of the term that it is at

	sorted []sortedTerm // those to come, of a view in memory
	at     int          // which of them, or of the terms of a snapshot

	terms []imageTerm // of the block that it is in
	lists lists
	room  []posting
}

// sortedTerm is a term of a view in memory.
type sortedTerm struct {
	text string
	n    int
}

// cursors returns those of all views that have a term, by text. Numbers are those that
// the documents get, by view.
func cursors(views []view, numbers [][]uint32) (cs []*termCursor) {
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

// compare orders cursors by text, those of one text by the first documents of their
// views: most often all postings of the text rise then.
func (c *termCursor) compare(d *termCursor) int {
	if order := strings.Compare(c.text, d.text); order != 0 {
		return order
	}
	return cmp.Compare(c.order, d.order)
}

// advance moves the first n cursors on, and returns those that have a term, by text.
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

// sort sets the terms of a view in memory.
func (c *termCursor) sort() {
	for n := range c.view.numTerms() {
		if t := c.view.term(n); t.df > 0 {
			c.sorted = append(c.sorted, sortedTerm{t.text, n})
		}
	}
	slices.SortFunc(c.sorted, func(s, t sortedTerm) int { return strings.Compare(s.text, t.text) })
}

// next moves on to the next term, and reports whether there is one. A snapshot that
// cannot be read has none.
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

// readBlock reads a block of a snapshot, its lists and its terms. The block in memory, if
// any, is of no use any more.
func (c *termCursor) readBlock(n int) error {
	img := c.view.image
	k := &img.blocks[n]
	b, err := piece(img.r, k.lists, int64(k.size)+int64(k.rest), math.MaxInt64)
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

// appendPostings appends the postings of the term, with the numbers that the documents
// get.
func (c *termCursor) appendPostings(list []posting) []posting {
	var own []posting
	if img := c.view.image; img != nil {
		t := &c.terms[c.at%blockTerms]
		c.room = img.decodeBytes(t, c.lists.b[t.at-img.blocks[c.lists.block].lists:], c.room[:0])
		own = c.room
	} else {
		own = c.view.postingsOf(c.sorted[c.at].n, &c.room)
	}
	for _, p := range own {
		p.doc = c.numbers[p.doc]
		if p.doc != dropped {
			list = append(list, p)
		}
	}
	return list
}

// sortRuns returns postings by their documents, and the other of the two arrays. They
// come as a few runs that rise, one of each view or some: neighbours are merged until
// there is one.
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

// risingRun returns how many postings rise by their documents, from the first on.
func risingRun(list []posting) int {
	for i := 1; i < len(list); i++ {
		if list[i].doc <= list[i-1].doc {
			return i
		}
	}
	return len(list)
}
