// This file holds what an opened index reads of its image later on: the terms
// that somebody asks for, or all of them.

package bm25

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// noteFrom is how many terms an index may have read while it still looks
// through all their lists to find those of one document.
const noteFrom = 2048

// find returns the term of that text.
func (img *Image) find(text string) (imageTerm, bool, error) {
	i, found := slices.BinarySearchFunc(img.blocks, text, func(b block, s string) int { return strings.Compare(b.first, s) })
	if !found {
		i--
	}
	if i < 0 {
		return imageTerm{}, false, nil
	}
	ts, err := img.block(i)
	if err != nil {
		return imageTerm{}, false, err
	}
	j, found := slices.BinarySearchFunc(ts, text, func(t imageTerm, s string) int { return strings.Compare(t.text, s) })
	if !found {
		return imageTerm{}, false, nil
	}
	return ts[j], true, nil
}

// block returns the terms of a block. They are kept.
func (img *Image) block(i int) ([]imageTerm, error) {
	img.mu.Lock()
	defer img.mu.Unlock()
	if ts, ok := img.terms[i]; ok {
		return ts, nil
	}
	k := &img.blocks[i]
	at := k.lists + int64(k.size)
	b, err := piece(img.r, at, int64(k.behind), math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(b, castagnoli) != k.check {
		return nil, fmt.Errorf("%w: %d bytes at %d do not match their checksum", ErrImage, len(b), at)
	}
	ts, err := readTerms(b, k)
	if err == nil {
		img.terms[i] = ts
	}
	return ts, err
}

// readTerms reads the entries of a block. All but the last block have
// [blockTerms] of them; how many the last one has shows where its texts end.
func readTerms(b []byte, k *block) ([]imageTerm, error) {
	le := binary.LittleEndian
	n, texts := 0, 0 // entries, and the bytes of their texts
	for n < blockTerms && (n+1)*imageEntry <= len(b) && n*imageEntry+texts < len(b) {
		texts += int(min(le.Uint32(b[n*imageEntry:]), math.MaxInt32))
		n++
		if n*imageEntry+texts == len(b) {
			break
		}
	}
	if n == 0 || n*imageEntry+texts != len(b) {
		return nil, fmt.Errorf("%w: the terms of a block have an unknown form", ErrImage)
	}
	rest := string(b[n*imageEntry:])
	ts := make([]imageTerm, n)
	at, end := k.lists, k.lists+int64(k.size)
	for i := range ts {
		e := b[i*imageEntry:]
		t := imageTerm{df: le.Uint32(e[4:]), at: at, size: le.Uint32(e[8:]), check: le.Uint32(e[12:])}
		size := le.Uint32(e)
		t.text, rest = rest[:size], rest[size:]
		at += int64(t.size)
		// Each posting has a byte at least.
		if at > end || t.df == 0 || t.df > t.size || i == 0 && t.text != k.first || i > 0 && t.text <= ts[i-1].text {
			return nil, fmt.Errorf("%w: a term of a block has an unknown form", ErrImage)
		}
		ts[i] = t
	}
	if at != end {
		return nil, fmt.Errorf("%w: the lists of a block have an unknown form", ErrImage)
	}
	return ts, nil
}

// list reads the list of a term without the dead, with room for more.
func (x *Index) list(t imageTerm, more int) ([]posting, error) {
	b, err := piece(x.image.r, t.at, int64(t.size), math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(b, castagnoli) != t.check {
		return nil, fmt.Errorf("%w: the list of a term does not match its checksum", ErrImage)
	}
	return x.decodeList(make([]posting, 0, int(t.df)+more), b, t.df)
}

// decodeList appends the living of the df postings that b is to list.
func (x *Index) decodeList(list []posting, b []byte, df uint32) ([]posting, error) {
	next, s := uint64(0), x.ofImpacts()
	docs := uint64(len(x.loaded))
	for range df {
		v, n := uint64(0), 1
		if len(b) > 0 && b[0] < 0x80 {
			v = uint64(b[0])
		} else if v, n = binary.Uvarint(b); n <= 0 {
			return nil, fmt.Errorf("%w: a list is cut short", ErrImage)
		}
		b = b[n:]
		tf := uint64(One)
		if v&1 != 0 {
			if tf, n = binary.Uvarint(b); n <= 0 || tf == 0 || tf > math.MaxUint16 {
				return nil, fmt.Errorf("%w: a list has an unknown form", ErrImage)
			}
			b = b[n:]
		}
		number := next + v>>1
		if v>>1 >= docs || number >= docs {
			return nil, fmt.Errorf("%w: a list names a document that is not there", ErrImage)
		}
		next = number + 1
		if x.lens[number] != dead {
			list = append(list, posting{uint32(number), uint16(tf), s.impact(uint32(tf), x.lens[number])})
		}
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%w: a list has an unknown form", ErrImage)
	}
	return list, nil
}

// need sees to it that what the image knows of the term is in the index.
func (x *Index) need(text string) {
	if x.opened {
		x.needFor([]QueryTerm{{Text: text}})
	}
}

// needFor is need for each term of a query.
func (x *Index) needFor(terms []QueryTerm) {
	if !x.opened {
		return
	}
	if x.part != nil {
		x.needPart(terms)
		return
	}
	x.mu.RLock()
	waits := slices.ContainsFunc(terms, func(t QueryTerm) bool { return x.lacks(t.Text) })
	x.mu.RUnlock()
	if !waits {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, t := range terms {
		if x.lacks(t.Text) {
			x.read(t.Text)
		}
	}
}

// lacks reports whether the image knows something of the term that the index
// does not. The caller holds the lock.
func (x *Index) lacks(text string) bool {
	if x.image == nil {
		return false
	}
	if n, ok := x.lookUp(text); ok {
		return x.terms[n].waits
	}
	_, there, err := x.image.find(text)
	return there || err != nil
}

// read takes in what the image knows of the term. The caller holds the lock
// exclusively, and knows that the index lacks it.
func (x *Index) read(text string) {
	t, there, err := x.image.find(text)
	if err == nil {
		err = x.take(t, there, text)
	}
	if err != nil {
		x.fail(err)
	}
}

// take puts a term of the image, if it is there, into the index.
func (x *Index) take(it imageTerm, there bool, text string) error {
	n, known := x.lookUp(text)
	if !there {
		if known {
			x.terms[n].waits = false
		}
		return nil
	}
	var own, room []posting // of documents put since
	if known {
		own = x.postings(&x.terms[n], &room)
	}
	list, err := x.list(it, len(own))
	if err != nil {
		return err
	}
	return x.adopt(list, own, n, known, text)
}

func (x *Index) adopt(list, own []posting, n uint32, known bool, text string) error {
	if !known {
		if len(list) == 0 {
			return nil // all that held it are dead
		}
		n = x.newTerm(text, maphash.String(x.seed, text))
	}
	t := &x.terms[n]
	t.waits = false
	t.df += uint32(len(list))
	x.setPostings(t, append(list, own...), len(x.docs))
	return nil
}

// fail notes that the image cannot be read. The index is of no use any more.
func (x *Index) fail(err error) {
	x.err, x.image = err, nil
	for i := range x.terms {
		x.terms[i].waits = false
	}
}

// needBeginning is need for all terms that begin so.
func (x *Index) needBeginning(prefix string) {
	if !x.opened {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.part != nil {
		x.needAllPart(prefix)
		return
	}
	if prefix == "" {
		x.readAll()
	}
	if x.image == nil {
		return
	}
	blocks := x.image.blocks
	first, _ := slices.BinarySearchFunc(blocks, prefix, func(b block, s string) int { return strings.Compare(b.first, s) })
	for i := max(first-1, 0); i < len(blocks) && (blocks[i].first <= prefix || strings.HasPrefix(blocks[i].first, prefix)); i++ {
		ts, err := x.image.block(i)
		if err != nil {
			x.fail(err)
			return
		}
		for _, t := range ts {
			if n, known := x.lookUp(t.text); strings.HasPrefix(t.text, prefix) && (!known || x.terms[n].waits) {
				if err := x.take(t, true, t.text); err != nil {
					x.fail(err)
					return
				}
			}
		}
	}
}

// readAll takes in all that the image knows, and lets go of it. The caller
// holds the lock exclusively.
func (x *Index) readAll() {
	if x.part != nil {
		x.needAllPart("")
		return
	}
	img := x.image
	if img == nil {
		return
	}
	for i := range img.blocks {
		ts, err := img.block(i)
		if err == nil {
			err = x.takeBlock(&img.blocks[i], ts)
		}
		if err != nil {
			x.fail(err)
			return
		}
		delete(img.terms, i)
	}
	for i := range x.terms {
		x.terms[i].waits = false
	}
	x.image = nil
}

// takeBlock puts those terms of a block that the index lacks into it, reading
// all their lists at once.
func (x *Index) takeBlock(k *block, ts []imageTerm) error {
	b, err := piece(x.image.r, k.lists, int64(k.size), math.MaxInt64)
	if err != nil {
		return err
	}
	all := uint64(0)
	for _, t := range ts {
		if !isWide(int(t.df), len(x.docs)) {
			all += uint64(t.df)
		}
	}
	room := make([]posting, 0, all) // all lists of the block in one piece
	var broad, since []posting
	for _, t := range ts {
		n, known := x.lookUp(t.text)
		if known && !x.terms[n].waits {
			continue
		}
		data := b[t.at-k.lists:][:t.size]
		if crc32.Checksum(data, castagnoli) != t.check {
			return fmt.Errorf("%w: the list of a term does not match its checksum", ErrImage)
		}
		var list []posting
		if isWide(int(t.df), len(x.docs)) { // it will not keep its list
			broad, err = x.decodeList(broad[:0], data, t.df)
			list = broad
		} else {
			from := len(room)
			if room, err = x.decodeList(room, data, t.df); err == nil {
				list = room[from:len(room):len(room)]
			}
		}
		if err != nil {
			return err
		}
		var own []posting
		if known {
			own = x.postings(&x.terms[n], &since)
		}
		if !isWide(len(list), len(x.docs)) && len(broad) > 0 {
			list = slices.Clone(list)
		}
		if err := x.adopt(list, own, n, known, t.text); err != nil {
			return err
		}
	}
	return nil
}

// note writes down the terms of the living documents that came from an image or
// a Bulk, as add does with those that are put. The caller holds the lock
// exclusively.
func (x *Index) note() {
	x.readAll()
	docs := x.docs[:x.unnoted]
	sizes, last := make([]int, len(docs)), make([]uint32, len(docs))
	var room []posting
	each := func(fn func(number, term uint32)) {
		clear(last)
		for n := range x.terms {
			t := &x.terms[n]
			for _, p := range x.postings(t, &room) {
				if int(p.doc) >= len(docs) {
					break
				}
				if x.lens[p.doc] != dead {
					fn(p.doc, uint32(n)-last[p.doc])
					last[p.doc] = uint32(n)
				}
			}
		}
	}
	sum := 0
	each(func(number, step uint32) {
		n := (bits.Len32(step|1) + 6) / 7
		sizes[number] += n
		sum += n
	})
	packed, at := make([]byte, sum), 0
	for i, n := range sizes {
		sizes[i], at = at, at+n // from here on where its next byte goes
	}
	each(func(number, step uint32) {
		sizes[number] += binary.PutUvarint(packed[sizes[number]:], uint64(step))
	})
	all := string(packed)
	at = 0
	for i, to := range sizes {
		docs[i].terms, at = all[at:to], to
	}
	x.unnoted = 0
}
