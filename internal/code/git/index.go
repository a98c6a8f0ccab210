// Git's index, read without git: what is asked on every run must not start a
// program. The format is Documentation/gitformat-index.txt.

package git

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxIndex is the bytes of the largest index that is read.
const maxIndex = 256 << 20

var errIndex = errors.New("git's index is of a form that is not known")

// Tracked returns the names that the index of a working tree lists at or below a
// path, as slash-separated paths from there; the path itself is ".". Of a path
// that is in no working tree there are none. Letter case does not count, as on
// most file systems of macOS and Windows.
func Tracked(path string) ([]string, error) {
	r := &Repo{}
	if err := r.find(filepath.Dir(path)); err != nil {
		if r.root == "" {
			return nil, nil
		}
		return nil, err
	}
	rel, err := filepath.Rel(r.root, path)
	if err != nil {
		return nil, err
	}
	r.sha256 = r.usesSHA256()
	at := strings.ToLower(filepath.ToSlash(rel))
	var names []string
	err = r.readIndex(filepath.Join(r.dir, "index"), true, func(e IndexEntry) {
		name := e.Name
		switch lower := strings.ToLower(name); {
		case lower == at, strings.HasSuffix(name, "/") && strings.HasPrefix(at+"/", lower): // a link, a module, or a directory of a sparse index
			names = append(names, ".")
		case strings.HasPrefix(lower, at+"/"):
			names = append(names, name[len(at)+1:])
		}
	})
	if err != nil {
		return nil, fmt.Errorf("reading what git tracks: %w", err)
	}
	return names, nil
}

// InTree reports whether a directory is in a working tree of git.
func InTree(dir string) bool {
	r := &Repo{}
	return r.find(dir) == nil || r.root != ""
}

// IndexEntry is a file of the index.
type IndexEntry struct {
	Name  string
	Blob  string
	File  bool // a regular one
	Stage int  // not 0 in a conflict

	// What the file was like when git last looked: with the same size and time it
	// has still the content of the blob, unless that time is not before that of
	// the index.
	Size  uint32
	Time  time.Time
	Apart bool // it is not checked out
}

// Index returns the entries of the index of the working tree, and its time.
func (r *Repo) Index() (entries []IndexEntry, at time.Time, err error) {
	name := filepath.Join(r.dir, "index")
	if fi, err := os.Stat(name); err == nil {
		at = fi.ModTime()
	}
	err = r.readIndex(name, false, func(e IndexEntry) { entries = append(entries, e) })
	return entries, at, err
}

// readIndex calls fn with the entries of an index, and of the one that it shares
// with others when their names alone are wanted: what is changed in a shared one is not
// followed.
func (r *Repo) readIndex(file string, names bool, fn func(IndexEntry)) error {
	b, err := readBounded(file, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	hash := 20
	if r.sha256 {
		hash = 32
	}
	if len(b) < 12+hash || string(b[:4]) != "DIRC" {
		return errIndex
	}
	version, n := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 {
		return errIndex
	}
	rest, name := b[12:len(b)-hash], ""
	for range n {
		head := rest
		name, rest, err = indexEntry(rest, name, version, hash)
		if err != nil {
			return err
		}
		fn(entryOf(head, name, hash))
	}
	shared, err := sharedIndex(rest, hash)
	if err != nil || shared == "" {
		return err
	}
	if !names {
		return errIndex
	}
	shared = filepath.Join(filepath.Dir(file), shared)
	if _, err := os.Stat(shared); err != nil {
		return err
	}
	return r.readIndex(shared, names, fn)
}

// sharedIndex returns the name of the index that an index shares with others, as its
// extensions say, or "".
func sharedIndex(rest []byte, hash int) (string, error) {
	for len(rest) >= 8 {
		size := binary.BigEndian.Uint32(rest[4:])
		if uint64(size) > uint64(len(rest)-8) {
			return "", errIndex
		}
		if body := rest[8 : 8+size]; string(rest[:4]) == "link" && len(body) >= hash {
			return "sharedindex." + hex.EncodeToString(body[:hash]), nil
		}
		rest = rest[8+size:]
	}
	return "", nil
}

// entryOf reads what stands before the name of an entry, which is long enough.
func entryOf(b []byte, name string, hash int) IndexEntry {
	word := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
	flags := binary.BigEndian.Uint16(b[40+hash:])
	e := IndexEntry{Name: name, Blob: hex.EncodeToString(b[40 : 40+hash]), File: word(24)>>12 == 0o10, Stage: int(flags>>12) & 3,
		Size: word(36), Time: time.Unix(int64(word(8)), int64(word(12)))}
	if flags&0x4000 != 0 {
		e.Apart = binary.BigEndian.Uint16(b[40+hash+2:])&0x4000 != 0
	}
	return e
}

// indexEntry returns the name of the first entry of b, which follows the entry
// of another name, and what comes after it.
func indexEntry(b []byte, before string, version uint32, hash int) (name string, rest []byte, err error) {
	head := 40 + hash + 2
	if len(b) < head {
		return "", nil, errIndex
	}
	if version >= 3 && binary.BigEndian.Uint16(b[head-2:])&0x4000 != 0 {
		head += 2
	}
	if len(b) < head {
		return "", nil, errIndex
	}
	text, kept := b[head:], 0
	if version == 4 { // the name begins as the one before, without its last bytes
		drop := 0
		for more := true; more; text = text[1:] {
			if len(text) == 0 || drop > len(before) {
				return "", nil, errIndex
			}
			more = text[0]&0x80 != 0
			drop = drop<<7 | int(text[0]&0x7f)
			if more {
				drop++
			}
		}
		if drop > len(before) {
			return "", nil, errIndex
		}
		kept = len(before) - drop
	}
	end := bytes.IndexByte(text, 0)
	if end < 0 {
		return "", nil, errIndex
	}
	name, rest = before[:kept]+string(text[:end]), text[end+1:]
	if version < 4 {
		size := (head + end + 8) &^ 7
		if size > len(b) {
			return "", nil, errIndex
		}
		rest = b[size:]
	}
	return name, rest, nil
}
