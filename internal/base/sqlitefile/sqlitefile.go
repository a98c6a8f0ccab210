// This file opens a database and reads its pages.

// Package sqlitefile reads tables in SQLite databases, in which several clients of agents store their sessions. The
// package only reads, runs no SQL and acquires no locks, so it cannot disturb the client. If another program changes
// the database during a read, [DB.CheckForChanges] reports this.
//
// The format is described on https://www.sqlite.org/fileformat2.html. Tables without row IDs and texts in UTF-16 are
// not supported.
package sqlitefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/oxbow-memory/oxbow/vfs"
)

// errUnreadableFormat is returned for a file that is not a database, is damaged, or uses a part of the format that
// this package does not support.
var errUnreadableFormat = errors.New("not a readable SQLite database")

// errWriterActive is returned if another program is changing the database.
var errWriterActive = errors.New("another program is writing this database; try again")

const (
	headerSize    = 100
	maxTreeDepth  = 24        // maximum depth of a page tree
	maxRecordSize = 256 << 20 // maximum size of a record in bytes
)

var headerMagic = []byte("SQLite format 3\x00")

// DB is an open database.
type DB struct {
	file, walFile  *os.File // walFile is nil without a write-ahead log
	pageSize       int
	usablePageSize int              // bytes of a page without its reserved end
	pageCount      int64            // number of pages
	walOffsets     map[uint32]int64 // for each page in the write-ahead log, the offset of its newest version
	// changeCountersAtOpen is the result of the method readChangeCounters when the database was opened: a text with the
	// database's change counter, the log's header, and the sizes and times of both files. If readChangeCounters returns
	// another text later, another program has written to the database.
	changeCountersAtOpen string
	path                 string
	visitedPages         int64 // number of pages that were visited while the tree of one table or index is read
}

// IsDatabase reports whether a file begins with the header of an SQLite database.
func IsDatabase(path string) bool {
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(headerMagic))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, headerMagic)
}

// Open opens a database and its write-ahead log. The caller must close the database.
func Open(path string) (*DB, error) {
	if hasRollbackJournal(path) {
		return nil, errWriterActive
	}
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	db := &DB{file: f, path: path, walOffsets: map[uint32]int64{}}
	if err := db.readHeader(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (db *DB) readHeader() error {
	head := make([]byte, headerSize)
	if _, err := db.file.ReadAt(head, 0); err != nil || !bytes.HasPrefix(head, headerMagic) {
		return errUnreadableFormat
	}
	db.pageSize = int(binary.BigEndian.Uint16(head[16:]))
	if db.pageSize == 1 {
		db.pageSize = 1 << 16
	}
	db.usablePageSize = db.pageSize - int(head[20])
	isPageSize := db.pageSize >= 512 && db.pageSize&(db.pageSize-1) == 0
	if !isPageSize || db.usablePageSize < 480 {
		return fmt.Errorf("%w: its page size is %d", errUnreadableFormat, db.pageSize)
	}
	info, err := db.file.Stat()
	if err != nil {
		return err
	}
	db.pageCount = info.Size() / int64(db.pageSize)
	wal, err := vfs.OpenRegular(db.path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db.walFile = wal
	// Read the counters before the write-ahead log. If another process appends a transaction to this log in between,
	// the counters will then show that the file was changed.
	db.changeCountersAtOpen, err = db.readChangeCounters()
	if err != nil {
		return err
	}
	if db.walFile != nil {
		if err := db.readWAL(); err != nil {
			return err
		}
	}
	first, err := db.readPage(1)
	if err != nil {
		return err
	}
	if encoding := binary.BigEndian.Uint32(first[56:]); encoding > 1 {
		return fmt.Errorf("%w: its texts are in UTF-16", errUnreadableFormat)
	}
	return nil
}

// Close closes the files of the database.
func (db *DB) Close() error {
	err := db.file.Close()
	if db.walFile != nil {
		err = errors.Join(err, db.walFile.Close())
	}
	return err
}

// CheckForChanges returns an error if another program has changed the database since it was opened. In this case, the
// rows that were read may belong to different states of the database.
func (db *DB) CheckForChanges() error {
	state, err := db.readChangeCounters()
	if err != nil {
		return err
	}
	if hasRollbackJournal(db.path) || state != db.changeCountersAtOpen {
		return errWriterActive
	}
	return nil
}

// readChangeCounters returns a text that changes whenever another program writes to the database. The text contains the
// database's change counter, the write-ahead log's header, and the sizes and times of both files. Sizes and times are
// necessary because SQLite appends most transactions to the log and later copies their pages to the database, without
// changing the counter.
func (db *DB) readChangeCounters() (string, error) {
	counter := make([]byte, 4)
	if _, err := db.file.ReadAt(counter, 24); err != nil {
		return "", err
	}
	state := fmt.Sprintf("%x", counter)
	head := make([]byte, walHeaderSize)
	if db.walFile != nil {
		n, err := db.walFile.ReadAt(head, 0)
		if err != nil && err != io.EOF {
			return "", err
		}
		state += fmt.Sprintf(" %x", head[:n])
	}
	for _, path := range []string{db.path, db.path + "-wal"} {
		info, err := os.Stat(path)
		switch {
		case err == nil:
			state += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		case errors.Is(err, fs.ErrNotExist):
			state += " none"
		default:
			return "", err
		}
	}
	return state, nil
}

// hasRollbackJournal reports whether a rollback journal is in use, which means that another program is changing the
// database. At the end of a change, SQLite deletes, truncates or clears the journal.
func hasRollbackJournal(path string) bool {
	f, err := vfs.OpenRegular(path + "-journal")
	if err != nil {
		return false
	}
	defer f.Close()
	var head [8]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && head != [8]byte{}
}

// readPage returns the newest version of a page, from the write-ahead log or from the database.
func (db *DB) readPage(number uint32) ([]byte, error) {
	b := make([]byte, db.pageSize)
	if offset, ok := db.walOffsets[number]; ok {
		_, err := db.walFile.ReadAt(b, offset)
		return b, err
	}
	if number == 0 || int64(number) > db.pageCount {
		return nil, fmt.Errorf("%w: page %d is missing", errUnreadableFormat, number)
	}
	_, err := db.file.ReadAt(b, int64(number-1)*int64(db.pageSize))
	return b, err
}

// Sizes of the headers in the write-ahead log, in bytes.
const (
	walHeaderSize   = 32
	frameHeaderSize = 24
)

// readWAL finds the newest version of each page in the write-ahead log, and stores its offset in db.walOffsets. It uses
// only the pages of complete transactions. The log ends at the first frame whose checksum is wrong, or whose salt is
// not the salt in the log's header. Such a frame is a remainder of an older log.
func (db *DB) readWAL() error {
	head := make([]byte, walHeaderSize)
	if _, err := io.ReadFull(db.walFile, head); err != nil {
		return nil // The write-ahead log contains no transactions, so every page is in the database file.
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch binary.BigEndian.Uint32(head) {
	case 0x377f0682:
	case 0x377f0683:
		order = binary.BigEndian
	default:
		return fmt.Errorf("%w: the write-ahead log is damaged", errUnreadableFormat)
	}
	if size := binary.BigEndian.Uint32(head[8:]); int64(size) != int64(db.pageSize) {
		return fmt.Errorf("%w: the write-ahead log has pages of %d bytes", errUnreadableFormat, size)
	}
	sum := updateWALChecksum(order, [2]uint32{}, head[:24])
	if sum[0] != binary.BigEndian.Uint32(head[24:]) || sum[1] != binary.BigEndian.Uint32(head[28:]) {
		return nil // SQLite ignores a log with a damaged header.
	}
	pending := map[uint32]int64{}
	frame := make([]byte, frameHeaderSize+db.pageSize)
	for offset := int64(walHeaderSize); ; offset += int64(len(frame)) {
		if _, err := io.ReadFull(db.walFile, frame); err != nil {
			return nil
		}
		sum = updateWALChecksum(order, updateWALChecksum(order, sum, frame[:8]), frame[frameHeaderSize:])
		isSame := bytes.Equal(frame[8:16], head[16:24]) && sum[0] == binary.BigEndian.Uint32(frame[16:]) &&
			sum[1] == binary.BigEndian.Uint32(frame[20:])
		if !isSame {
			return nil
		}
		pending[binary.BigEndian.Uint32(frame)] = offset + frameHeaderSize
		// This frame in the write-ahead log is the last frame of a transaction.
		if size := binary.BigEndian.Uint32(frame[4:]); size > 0 {
			for number, at := range pending {
				db.walOffsets[number] = at
			}
			clear(pending)
			db.pageCount = int64(size)
		}
	}
}

// updateWALChecksum extends the checksum of a write-ahead log by the bytes data and returns the new checksum. The
// length of data must be divisible by eight.
func updateWALChecksum(byteOrder binary.ByteOrder, sum [2]uint32, data []byte) [2]uint32 {
	for i := 0; i+8 <= len(data); i += 8 {
		sum[0] += byteOrder.Uint32(data[i:]) + sum[1]
		sum[1] += byteOrder.Uint32(data[i+4:]) + sum[0]
	}
	return sum
}
