// This file walks the trees of pages in which tables and indexes are stored, and decodes records.

package sqlitefile

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Types of pages.
const (
	indexInterior = 0x02
	tableInterior = 0x05
	indexLeaf     = 0x0a
	tableLeaf     = 0x0d
)

// node is a page of a tree.
type node struct {
	db     *DB
	page   []byte
	kind   byte
	cells  []byte // two bytes for each cell, its offset in the page
	number uint32
	right  uint32 // last child, in an interior page
}

func (db *DB) readNode(number uint32, depth int) (*node, error) {
	db.visits++
	if depth > maxDepth || db.visits > db.pages+maxDepth { // a tree that contains itself would never end
		return nil, fmt.Errorf("%w: its tree is damaged", errFormat)
	}
	page, err := db.readPage(number)
	if err != nil {
		return nil, err
	}
	head := page
	if number == 1 {
		head = page[headerSize:]
	}
	n := &node{db: db, page: page, kind: head[0], number: number}
	size := 8
	switch n.kind {
	case indexInterior, tableInterior:
		size = 12
		n.right = binary.BigEndian.Uint32(head[8:])
	case indexLeaf, tableLeaf:
	default:
		return nil, n.damageError()
	}
	count := 2 * int(binary.BigEndian.Uint16(head[3:]))
	if size+count > len(head) {
		return nil, n.damageError()
	}
	n.cells = head[size : size+count]
	return n, nil
}

func (n *node) damageError() error { return fmt.Errorf("%w: page %d is damaged", errFormat, n.number) }

func (n *node) len() int { return len(n.cells) / 2 }

// cell is an entry of a page.
type cell struct {
	child uint32 // page with the entries before this one, in an interior page
	rowID int64  // in tables

	raw *record // nil in the interior pages of tables
}

// record is a record that is stored in a page and in its overflow pages.
type record struct {
	local    []byte
	size     int
	overflow uint32
}

// decodeCell decodes the cell at an index.
func (n *node) decodeCell(i int) (c cell, err error) {
	at := int(binary.BigEndian.Uint16(n.cells[2*i:]))
	if at+4 > n.db.usable {
		return c, n.damageError()
	}
	b := n.page[at:n.db.usable:n.db.usable]
	if n.kind == indexInterior || n.kind == tableInterior {
		c.child = binary.BigEndian.Uint32(b)
		b = b[4:]
	}
	if n.kind == tableInterior {
		id, size := decodeVarint(b)
		if size == 0 {
			return c, n.damageError()
		}
		c.rowID = int64(id)
		return c, nil
	}
	length, size := decodeVarint(b)
	isTooLong := length > uint64(n.db.pages)*uint64(n.db.pageSize) || length > maxRecord
	if size == 0 || isTooLong {
		return c, n.damageError()
	}
	b = b[size:]
	if n.kind == tableLeaf {
		id, size := decodeVarint(b)
		if size == 0 {
			return c, n.damageError()
		}
		c.rowID = int64(id)
		b = b[size:]
	}
	local := n.localSize(int(length))
	if local > len(b) {
		return c, n.damageError()
	}
	c.raw = &record{local: b[:local], size: int(length)}
	if local < int(length) {
		if local+4 > len(b) {
			return c, n.damageError()
		}
		c.raw.overflow = binary.BigEndian.Uint32(b[local:])
	}
	return c, nil
}

// localSize returns the number of a record's bytes that are stored in the page itself.
func (n *node) localSize(size int) int {
	usable := n.db.usable
	most := usable - 35
	if n.kind != tableLeaf {
		most = (usable-12)*64/255 - 23
	}
	if size <= most {
		return size
	}
	least := (usable-12)*32/255 - 23
	local := least + (size-least)%(usable-4)
	if local > most {
		return least
	}
	return local
}

// readRecord returns the bytes of a record.
func (db *DB) readRecord(r *record) ([]byte, error) {
	if r.overflow == 0 {
		return r.local, nil
	}
	b := append(make([]byte, 0, min(r.size, 1<<20)), r.local...)
	for next := r.overflow; len(b) < r.size; {
		page, err := db.readPage(next)
		if err != nil {
			return nil, err
		}
		next = binary.BigEndian.Uint32(page)
		b = append(b, page[4:min(db.usable, 4+r.size-len(b))]...)
	}
	return b, nil
}

// decodeValues decodes the columns of a record.
func (db *DB) decodeValues(r *record) ([]any, error) {
	b, err := db.readRecord(r)
	if err != nil {
		return nil, err
	}
	head, size := decodeVarint(b)
	switch {
	case size == 0, head > uint64(len(b)), head < uint64(size):
		return nil, fmt.Errorf("%w: a record is damaged", errFormat)
	}
	types, body := b[size:head], b[head:]
	var all []any
	for len(types) > 0 {
		kind, size := decodeVarint(types)
		if size == 0 {
			return nil, fmt.Errorf("%w: a record is damaged", errFormat)
		}
		types = types[size:]
		value, used, ok := decodeColumn(kind, body)
		if !ok {
			return nil, fmt.Errorf("%w: a record is damaged", errFormat)
		}
		all = append(all, value)
		body = body[used:]
	}
	return all, nil
}

// decodeColumn decodes a value: nil, an int64, a float64, a string or a []byte.
func decodeColumn(kind uint64, b []byte) (value any, size int, ok bool) {
	switch kind {
	case 0:
		return nil, 0, true
	case 8, 9:
		return int64(kind - 8), 0, true
	case 1, 2, 3, 4:
		size = int(kind)
	case 5:
		size = 6
	case 6, 7:
		size = 8
	case 10, 11:
		return nil, 0, false
	default:
		if (kind-12)/2 > uint64(len(b)) {
			return nil, 0, false
		}
		size = int((kind - 12) / 2)
		if kind%2 == 1 {
			return string(b[:size]), size, true
		}
		return b[:size:size], size, true
	}
	if size > len(b) {
		return nil, 0, false
	}
	n := int64(int8(b[0]))
	for _, c := range b[1:size] {
		n = n<<8 | int64(c)
	}
	if kind == 7 {
		return math.Float64frombits(uint64(n)), size, true
	}
	return n, size, true
}

// decodeVarint decodes a number of at most nine bytes. The size is 0 if b is too short.
func decodeVarint(b []byte) (n uint64, size int) {
	for i, c := range b {
		if i == 8 {
			return n<<8 | uint64(c), 9
		}
		n = n<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}

// walkTable calls yield with each cell of a table in order of row ID. It returns false if yield did.
func (db *DB) walkTable(number uint32, depth int, yield func(cell) bool) (hasMore bool, err error) {
	n, err := db.readNode(number, depth)
	if err != nil {
		return false, err
	}
	for i := range n.len() {
		c, err := n.decodeCell(i)
		if err != nil {
			return false, err
		}
		switch n.kind {
		case tableLeaf:
			hasMore = yield(c)
		case tableInterior:
			hasMore, err = db.walkTable(c.child, depth+1, yield)
		default:
			return false, n.damageError()
		}
		if !hasMore || err != nil {
			return false, err
		}
	}
	if n.kind == tableInterior {
		return db.walkTable(n.right, depth+1, yield)
	}
	return true, nil
}

// findRow returns the cell of a table with a row ID.
func (db *DB) findRow(number uint32, id int64) (c cell, found bool, err error) {
	visits := db.visits
	defer func() { db.visits = visits }()
	for depth := 0; ; depth++ {
		n, err := db.readNode(number, depth)
		if err != nil {
			return c, false, err
		}
		number = n.right
		for i := range n.len() {
			c, err := n.decodeCell(i)
			if err != nil {
				return c, false, err
			}
			if n.kind == tableLeaf && c.rowID == id {
				return c, true, nil
			}
			if n.kind == tableInterior && id <= c.rowID {
				number = c.child
				break
			}
		}
		if n.kind != tableInterior {
			return c, false, nil
		}
	}
}

// walkIndex calls yield with the row ID of each entry of an index whose first column is a text in the span,
// in the order of the index.
func (db *DB) walkIndex(number uint32, depth int, s span, yield func(rowID int64) error) error {
	n, err := db.readNode(number, depth)
	if err != nil {
		return err
	}
	for i := range n.len() {
		c, err := n.decodeCell(i)
		if err != nil {
			return err
		}
		values, err := db.decodeValues(c.raw)
		if err != nil {
			return err
		}
		if len(values) < 2 {
			return n.damageError()
		}
		position := s.compare(values[0])
		if position >= 0 && n.kind == indexInterior {
			if err := db.walkIndex(c.child, depth+1, s, yield); err != nil {
				return err
			}
		}
		if position > 0 {
			return nil
		}
		if id, ok := values[len(values)-1].(int64); ok && position == 0 {
			if err := yield(id); err != nil {
				return err
			}
		}
	}
	if n.kind == indexInterior {
		return db.walkIndex(n.right, depth+1, s, yield)
	}
	return nil
}

// span contains the texts from first on that are before end, in the order of their bytes.
type span struct{ first, end string }

// compare returns -1, 0 or 1 if a value is before, in or after the span, in SQLite's order of types.
func (s span) compare(value any) int {
	text, ok := value.(string)
	_, isBlob := value.([]byte)
	switch {
	case isBlob, ok && text >= s.end:
		return 1
	case !ok, text < s.first:
		return -1
	}
	return 0
}
