// This file reads git's index without running git, because hooks read the index each time they run.
// Documentation/gitformat-index.txt of git describes the format.

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

// maxIndexBytes is the maximum size, in bytes, of an index that is read.
const maxIndexBytes = 256 << 20

var errUnknownIndexFormat = errors.New("git's index is of a form that is not known")

// ListTrackedFiles returns the names of the files that git tracks at or below a path. The names are slash-separated and
// relative to the path. Letter case is ignored, as on most file systems of macOS and Windows. If the path is not in a
// working tree, ListTrackedFiles returns no names.
//
// The name "." means that git tracks the path itself. It also means that the path is in a submodule, or in a directory
// that is only a single entry in a sparse index.
func ListTrackedFiles(path string) ([]string, error) {
	r := &Repo{}
	if err := r.locateDirs(filepath.Dir(path)); err != nil {
		if r.root == "" {
			return nil, nil
		}
		return nil, err
	}
	rel, err := filepath.Rel(r.root, path)
	if err != nil {
		return nil, err
	}
	r.isSHA256 = r.usesSHA256()
	at := strings.ToLower(filepath.ToSlash(rel))
	depth := strings.Count(at, "/") + 1 // number of names in the path
	var names []string
	err = r.readIndexNames(filepath.Join(r.gitDir, "index"), func(e IndexEntry) {
		name := e.Name
		above, below := cutPathAfter(name, depth)
		switch lower := strings.ToLower(name); {
		// The requested path is a tracked file or link, or it is below an index entry for a whole directory. An index
		// contains entries for whole directories if they are submodules or if the index is sparse.
		case lower == at, strings.HasSuffix(name, "/") && strings.HasPrefix(at+"/", lower):
			names = append(names, ".")
		case below != "" && strings.ToLower(above) == at:
			names = append(names, below)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("reading what git tracks: %w", err)
	}
	return names, nil
}

// cutPathAfter splits a path, whose names are separated by slashes, after its first n names. Both results are without
// the slash between them. The result below is empty if the path has at most n names.
func cutPathAfter(name string, n int) (above, below string) {
	rest := name
	for range n {
		_, rest, _ = strings.Cut(rest, "/")
	}
	return strings.TrimSuffix(name[:len(name)-len(rest)], "/"), rest
}

// IsInWorktree reports whether a directory is in a git working tree.
func IsInWorktree(dir string) bool {
	r := &Repo{}
	return r.locateDirs(dir) == nil || r.root != ""
}

// IndexEntry describes a file that git tracks.
type IndexEntry struct {
	Name       string
	BlobName   string
	IsRegular  bool // The file is a regular file, and not a link or a submodule.
	MergeStage int  // side of a merge conflict, or 0 for a file without a conflict

	// Size and Time are the size and the modification time that the file had when git last examined it. If both are
	// unchanged, the file still has the blob's content, unless Time is the time of the index or later.
	Size            uint32
	Time            time.Time
	IsNotCheckedOut bool // The file is not in the working tree, because the checkout is sparse.
}

// IndexEntries returns the entries in the working tree's index, and the modification time of the index file.
func (r *Repo) IndexEntries() (entries []IndexEntry, modTime time.Time, err error) {
	name := filepath.Join(r.gitDir, "index")
	if fi, err := os.Stat(name); err == nil {
		modTime = fi.ModTime()
	}
	shared, err := r.readIndex(name, func(e IndexEntry) { entries = append(entries, e) })
	if err == nil && shared != "" {
		// Fail, because this is a split index: it contains changes of the entries in another file, the shared index.
		// readIndex does not apply these changes.
		err = errUnknownIndexFormat
	}
	return entries, modTime, err
}

// readIndexNames calls fn with each entry of a git index file. Git can split an index into two files: a shared file
// with old entries, and the index file itself with later changes. In this case, fn also receives the entries of the
// shared file. An entry of the shared file may be outdated except for its name, because readIndexNames does not apply
// the later changes to it.
func (r *Repo) readIndexNames(file string, fn func(IndexEntry)) error {
	shared, err := r.readIndex(file, fn)
	if err != nil || shared == "" {
		return err
	}
	if _, err := os.Stat(shared); err != nil {
		return err
	}
	return r.readIndexNames(shared, fn)
}

// readIndex calls the function fn with each entry in an index file of git. If git has split the index, the file
// contains only some of the entries, and a second file (the shared index) contains the others. In this case, readIndex
// returns the path of the shared index. Otherwise sharedIndexPath is "". If the file does not exist, readIndex returns
// "" and no error.
func (r *Repo) readIndex(file string, fn func(IndexEntry)) (sharedIndexPath string, err error) {
	b, err := readFileStart(file, maxIndexBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	hash := 20
	if r.isSHA256 {
		hash = 32
	}
	if len(b) < 12+hash || string(b[:4]) != "DIRC" {
		return "", errUnknownIndexFormat
	}
	version, n := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 {
		return "", errUnknownIndexFormat
	}
	rest, name := b[12:len(b)-hash], ""
	for range n {
		head := rest
		name, rest, err = parseEntryName(rest, name, version, hash)
		if err != nil {
			return "", err
		}
		fn(parseEntryStat(head, name, hash))
	}
	sharedIndexPath, err = sharedIndexName(rest, hash)
	if err != nil || sharedIndexPath == "" {
		return "", err
	}
	return filepath.Join(filepath.Dir(file), sharedIndexPath), nil
}

// sharedIndexName returns the shared index's file name, which is in an extension of a split index. It returns "" if
// this extension is missing. hashSize is the length of an object name in bytes.
func sharedIndexName(extensions []byte, hashSize int) (string, error) {
	for len(extensions) >= 8 {
		size := binary.BigEndian.Uint32(extensions[4:])
		if uint64(size) > uint64(len(extensions)-8) {
			return "", errUnknownIndexFormat
		}
		if body := extensions[8 : 8+size]; string(extensions[:4]) == "link" && len(body) >= hashSize {
			return "sharedindex." + hex.EncodeToString(body[:hashSize]), nil
		}
		extensions = extensions[8+size:]
	}
	return "", nil
}

// parseEntryStat parses the fixed-size part of an entry, which precedes the name. The caller must check that b is long
// enough. hashSize is the length of an object name in bytes.
func parseEntryStat(b []byte, name string, hashSize int) IndexEntry {
	word := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
	flags := binary.BigEndian.Uint16(b[40+hashSize:])
	e := IndexEntry{Name: name, BlobName: hex.EncodeToString(b[40 : 40+hashSize]), IsRegular: word(24)>>12 == 0o10,
		MergeStage: int(flags>>12) & 3,
		Size:       word(36), Time: time.Unix(int64(word(8)), int64(word(12)))}
	if flags&0x4000 != 0 {
		e.IsNotCheckedOut = binary.BigEndian.Uint16(b[40+hashSize+2:])&0x4000 != 0
	}
	return e
}

// parseEntryName returns the path of the first entry in b, and the bytes after this entry. In version 4 of git's index
// format, only the difference from the path of the previous entry (previousName) is stored.
func parseEntryName(b []byte, previousName string, version uint32, hashSize int) (name string, rest []byte, err error) {
	head := 40 + hashSize + 2
	if len(b) < head {
		return "", nil, errUnknownIndexFormat
	}
	if version >= 3 && binary.BigEndian.Uint16(b[head-2:])&0x4000 != 0 {
		head += 2
	}
	if len(b) < head {
		return "", nil, errUnknownIndexFormat
	}
	text, kept := b[head:], 0
	// Version 4 of the index format stores a name as a difference, which tells how many bytes to remove from the
	// previous name's end, and a suffix to append.
	if version == 4 {
		drop := 0
		for more := true; more; text = text[1:] {
			if len(text) == 0 || drop > len(previousName) {
				return "", nil, errUnknownIndexFormat
			}
			more = text[0]&0x80 != 0
			drop = drop<<7 | int(text[0]&0x7f)
			if more {
				drop++
			}
		}
		if drop > len(previousName) {
			return "", nil, errUnknownIndexFormat
		}
		kept = len(previousName) - drop
	}
	end := bytes.IndexByte(text, 0)
	if end < 0 {
		return "", nil, errUnknownIndexFormat
	}
	name, rest = previousName[:kept]+string(text[:end]), text[end+1:]
	if version < 4 {
		size := (head + end + 8) &^ 7
		if size > len(b) {
			return "", nil, errUnknownIndexFormat
		}
		rest = b[size:]
	}
	return name, rest, nil
}
