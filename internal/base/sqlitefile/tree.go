// This file reads the trees of pages in which SQLite stores tables and indexes, and decodes their records.

package sqlitefile

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Types of pages in the trees that store SQLite's tables and indexes.
const (
	indexInteriorPage = 0x02
	tableInteriorPage = 0x05
	indexLeafPage     = 0x0a
	tableLeafPage     = 0x0d
)

// treePage is a page in the B-tree of an SQLite table or index.
type treePage struct {
	db          *DB
	page        []byte
	pageType    byte
	cellOffsets []byte // for each cell, its offset in the page as two bytes
	pageNumber  uint32
	lastChild   uint32 // page number of the last child (only in interior pages)
}

func (db *DB) readNode(number uint32, depth int) (*treePage, error) {
	db.visitedPages++
	if depth > maxTreeDepth ||
		// The second condition stops the walk in a damaged tree that contains itself.
		db.visitedPages > db.pageCount+maxTreeDepth {
		return nil, fmt.Errorf("%w: its tree is damaged", errUnreadableFormat)
	}
	page, err := db.readPage(number)
	if err != nil {
		return nil, err
	}
	head := page
	if number == 1 {
		head = page[headerSize:]
	}
	n := &treePage{db: db, page: page, pageType: head[0], pageNumber: number}
	size := 8
	switch n.pageType {
	case indexInteriorPage, tableInteriorPage:
		size = 12
		n.lastChild = binary.BigEndian.Uint32(head[8:])
	case indexLeafPage, tableLeafPage:
	default:
		return nil, n.damageError()
	}
	count := 2 * int(binary.BigEndian.Uint16(head[3:]))
	if size+count > len(head) {
		return nil, n.damageError()
	}
	n.cellOffsets = head[size : size+count]
	return n, nil
}

func (n *treePage) damageError() error {
	return fmt.Errorf("%w: page %d is damaged", errUnreadableFormat, n.pageNumber)
}

func (n *treePage) cellCount() int { return len(n.cellOffsets) / 2 }

// treeCell is an entry in a page of a tree.
type treeCell struct {
	childPage uint32 // child page with the entries before this entry (only in interior pages, which have child pages)
	rowID     int64  // ID of the row (only in the tree of a table, not in an index)

	record *storedRecord // nil in an interior page of a table
}

// storedRecord locates the bytes of a record: the first bytes are in the page, and the rest is in overflow pages.
type storedRecord struct {
	bytesInPage  []byte
	recordSize   int
	overflowPage uint32
}

// decodeCell decodes cell i of the page.
func (n *treePage) decodeCell(i int) (c treeCell, err error) {
	at := int(binary.BigEndian.Uint16(n.cellOffsets[2*i:]))
	if at+4 > n.db.usablePageSize {
		return c, n.damageError()
	}
	b := n.page[at:n.db.usablePageSize:n.db.usablePageSize]
	if n.pageType == indexInteriorPage || n.pageType == tableInteriorPage {
		c.childPage = binary.BigEndian.Uint32(b)
		b = b[4:]
	}
	if n.pageType == tableInteriorPage {
		id, size := decodeVarint(b)
		if size == 0 {
			return c, n.damageError()
		}
		c.rowID = int64(id)
		return c, nil
	}
	length, size := decodeVarint(b)
	isTooLong := length > uint64(n.db.pageCount)*uint64(n.db.pageSize) || length > maxRecordSize
	if size == 0 || isTooLong {
		return c, n.damageError()
	}
	b = b[size:]
	if n.pageType == tableLeafPage {
		id, size := decodeVarint(b)
		if size == 0 {
			return c, n.damageError()
		}
		c.rowID = int64(id)
		b = b[size:]
	}
	local := n.bytesStoredInPage(int(length))
	if local > len(b) {
		return c, n.damageError()
	}
	c.record = &storedRecord{bytesInPage: b[:local], recordSize: int(length)}
	if local < int(length) {
		if local+4 > len(b) {
			return c, n.damageError()
		}
		c.record.overflowPage = binary.BigEndian.Uint32(b[local:])
	}
	return c, nil
}

// bytesStoredInPage returns how many bytes of a record are stored in the page itself, and not in overflow pages.
// recordSize is the size of the whole record in bytes.
func (n *treePage) bytesStoredInPage(recordSize int) int {
	usable := n.db.usablePageSize
	most := usable - 35
	if n.pageType != tableLeafPage {
		most = (usable-12)*64/255 - 23
	}
	if recordSize <= most {
		return recordSize
	}
	least := (usable-12)*32/255 - 23
	local := least + (recordSize-least)%(usable-4)
	if local > most {
		return least
	}
	return local
}

// readRecord returns all bytes of a record, including those in overflow pages.
func (db *DB) readRecord(r *storedRecord) ([]byte, error) {
	if r.overflowPage == 0 {
		return r.bytesInPage, nil
	}
	b := append(make([]byte, 0, min(r.recordSize, 1<<20)), r.bytesInPage...)
	for next := r.overflowPage; len(b) < r.recordSize; {
		page, err := db.readPage(next)
		if err != nil {
			return nil, err
		}
		next = binary.BigEndian.Uint32(page)
		b = append(b, page[4:min(db.usablePageSize, 4+r.recordSize-len(b))]...)
	}
	return b, nil
}

// decodeValues decodes the values of all columns in a record.
func (db *DB) decodeValues(r *storedRecord) ([]any, error) {
	b, err := db.readRecord(r)
	if err != nil {
		return nil, err
	}
	head, size := decodeVarint(b)
	switch {
	case size == 0, head > uint64(len(b)), head < uint64(size):
		return nil, fmt.Errorf("%w: a record is damaged", errUnreadableFormat)
	}
	types, body := b[size:head], b[head:]
	var all []any
	for len(types) > 0 {
		kind, size := decodeVarint(types)
		if size == 0 {
			return nil, fmt.Errorf("%w: a record is damaged", errUnreadableFormat)
		}
		types = types[size:]
		value, used, ok := decodeColumn(kind, body)
		if !ok {
			return nil, fmt.Errorf("%w: a record is damaged", errUnreadableFormat)
		}
		all = append(all, value)
		body = body[used:]
	}
	return all, nil
}

// decodeColumn decodes the value at the start of b: nil, an int64, a float64, a string or a []byte. serialType is the
// type number in the header of the SQLite record. The result size is the number of bytes that the value occupies in b.
// The result ok is false if b is too short, or if serialType is 10 or 11, which SQLite reserves.
func decodeColumn(serialType uint64, b []byte) (value any, size int, ok bool) {
	switch serialType {
	case 0:
		return nil, 0, true
	case 8, 9:
		return int64(serialType - 8), 0, true
	case 1, 2, 3, 4:
		size = int(serialType)
	case 5:
		size = 6
	case 6, 7:
		size = 8
	case 10, 11:
		return nil, 0, false
	default:
		if (serialType-12)/2 > uint64(len(b)) {
			return nil, 0, false
		}
		size = int((serialType - 12) / 2)
		if serialType%2 == 1 {
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
	if serialType == 7 {
		return math.Float64frombits(uint64(n)), size, true
	}
	return n, size, true
}

// decodeVarint decodes a number that has one to nine bytes. If b is too short, size is 0.
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

// eachTableCell calls yield for each cell in a table, in the order of row IDs. It stops and returns false when yield
// returns false.
func (db *DB) eachTableCell(pageNumber uint32, depth int, yield func(treeCell) bool) (hasMore bool, err error) {
	n, err := db.readNode(pageNumber, depth)
	if err != nil {
		return false, err
	}
	for i := range n.cellCount() {
		c, err := n.decodeCell(i)
		if err != nil {
			return false, err
		}
		switch n.pageType {
		case tableLeafPage:
			hasMore = yield(c)
		case tableInteriorPage:
			hasMore, err = db.eachTableCell(c.childPage, depth+1, yield)
		default:
			return false, n.damageError()
		}
		if !hasMore || err != nil {
			return false, err
		}
	}
	if n.pageType == tableInteriorPage {
		return db.eachTableCell(n.lastChild, depth+1, yield)
	}
	return true, nil
}

// findRow returns the cell that contains the row with the row ID id. The argument pageNumber is the number of the page
// at the root of the table's tree. found is false if the table lacks this row.
func (db *DB) findRow(pageNumber uint32, id int64) (c treeCell, found bool, err error) {
	visits := db.visitedPages
	defer func() { db.visitedPages = visits }()
	for depth := 0; ; depth++ {
		n, err := db.readNode(pageNumber, depth)
		if err != nil {
			return c, false, err
		}
		pageNumber = n.lastChild
		for i := range n.cellCount() {
			c, err := n.decodeCell(i)
			if err != nil {
				return c, false, err
			}
			if n.pageType == tableLeafPage && c.rowID == id {
				return c, true, nil
			}
			if n.pageType == tableInteriorPage && id <= c.rowID {
				pageNumber = c.childPage
				break
			}
		}
		if n.pageType != tableInteriorPage {
			return c, false, nil
		}
	}
}

// eachIndexEntry calls yield with the row ID of each index entry whose first column is a text in the span s. The
// calls are in the order of the index.
func (db *DB) eachIndexEntry(pageNumber uint32, depth int, s textSpan, yield func(rowID int64) error) error {
	n, err := db.readNode(pageNumber, depth)
	if err != nil {
		return err
	}
	for i := range n.cellCount() {
		c, err := n.decodeCell(i)
		if err != nil {
			return err
		}
		values, err := db.decodeValues(c.record)
		if err != nil {
			return err
		}
		if len(values) < 2 {
			return n.damageError()
		}
		position := s.compare(values[0])
		if position >= 0 && n.pageType == indexInteriorPage {
			if err := db.eachIndexEntry(c.childPage, depth+1, s, yield); err != nil {
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
	if n.pageType == indexInteriorPage {
		return db.eachIndexEntry(n.lastChild, depth+1, s, yield)
	}
	return nil
}

// textSpan is a range of texts, compared by their bytes. It includes the text in the field firstText and excludes the
// text in the field endText.
type textSpan struct{ firstText, endText string }

// compare compares a value with the span in SQLite's order of types. It returns -1 for a value before the span, 0 for
// a value in the span, and 1 for a value after the span.
func (s textSpan) compare(value any) int {
	text, ok := value.(string)
	_, isBlob := value.([]byte)
	switch {
	case isBlob, ok && text >= s.endText:
		return 1
	case !ok, text < s.firstText:
		return -1
	}
	return 0
}
