// The names in git's index, read without git: what is asked on every run must
// not start a program. The format is Documentation/gitformat-index.txt.

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
	err = r.indexNames(filepath.Join(r.dir, "index"), func(name string) {
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

// indexNames calls fn with the names of an index, and of the one that it shares
// with others.
func (r *Repo) indexNames(file string, fn func(string)) error {
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
		if name, rest, err = indexEntry(rest, name, version, hash); err != nil {
			return err
		}
		fn(name)
	}
	for len(rest) >= 8 { // extensions
		size := binary.BigEndian.Uint32(rest[4:])
		if uint64(size) > uint64(len(rest)-8) {
			return errIndex
		}
		if body := rest[8 : 8+size]; string(rest[:4]) == "link" && len(body) >= hash {
			shared := filepath.Join(filepath.Dir(file), "sharedindex."+hex.EncodeToString(body[:hash]))
			if _, err := os.Stat(shared); err != nil {
				return err
			}
			return r.indexNames(shared, fn)
		}
		rest = rest[8+size:]
	}
	return nil
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
