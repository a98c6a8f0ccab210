// This file reads and writes the prints of a home.

package fingerprint

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Names of files in the directory.
const (
	printsFile = "read.prints"
	keyFile    = "read.key"
	lockFile   = "read.lock"
)

const (
	// keepFor is how long a text is found again after it was read.
	keepFor = 14 * 24 * time.Hour

	maxFile   = 8 << 20   // bytes; then the oldest blocks are dropped,
	keepBytes = 5 << 20   // until there are so many
	recent    = 256 << 10 // bytes at the end, in which a text is not written twice
	again     = 24 * time.Hour
	keySize   = 32
	maxLabels = 8 // of a block
	rounds    = 100
)

// File is the file of prints of a home. Many processes may read it and add to it at once.
type File struct {
	Dir string // it is made when something is added
	Now func() time.Time
}

// id returns a digest of a block.
func blockID(key []byte, x block) uint64 {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte{byte(x.level)})
	for _, l := range x.labels {
		mac.Write([]byte(l + "\x00"))
	}
	var b []byte
	for _, p := range x.prints {
		b = le.AppendUint64(b, uint64(p))
	}
	mac.Write(b)
	return le.Uint64(mac.Sum(nil))
}

// Add adds the prints of a text that was read, and returns an identifier of them, which
// [File.Has] knows while they are there. A text without words is found by its identifier
// alone.
func (f File) Add(level Level, text string, labels ...string) (id string, err error) {
	return f.add(level, labels, func(seed uint64) []Print { return ofRead(text, seed) })
}

func (f File) add(level Level, labels []string, prints func(seed uint64) []Print) (id string, err error) {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	key, err := makeKey(root)
	if err != nil {
		return "", err
	}
	seal, err := sealer(key)
	if err != nil {
		return "", err
	}
	x := block{level, labels[:min(len(labels), maxLabels)], prints(le.Uint64(key))}
	n := blockID(key, x)
	id = strconv.FormatUint(n, 36)
	now := f.Now()
	if level < Vouched && f.isRecent(root, n, now) { // the order of the others counts
		return id, nil
	}
	b := appendBlock(nil, seal, now, n, x)
	size := int64(0)
	for range rounds {
		var done bool
		if done, size, err = appendTo(root, b); done || err != nil {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("keeping what was read: %w", err)
	}
	if size > maxFile {
		return id, f.shrink()
	}
	return id, nil
}

// appendTo appends bytes to the file, and reports whether the name still leads to the file
// that has them, and how long that is.
func appendTo(root *os.Root, b []byte) (done bool, size int64, err error) {
	f, err := root.OpenFile(printsFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return false, 0, err
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		return false, 0, err
	}
	mine, err := f.Stat()
	if err != nil {
		return false, 0, err
	}
	now, err := root.Lstat(printsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, 0, nil
	}
	return err == nil && os.SameFile(mine, now), mine.Size(), err
}

// isRecent reports whether a block was added within the last day, as far as the end of the
// file tells.
func (f File) isRecent(root *os.Root, id uint64, now time.Time) bool {
	file, err := root.Open(printsFile)
	if err != nil {
		return false
	}
	defer file.Close()
	fi, err := file.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return false
	}
	b := make([]byte, min(fi.Size(), recent))
	n, _ := file.ReadAt(b, fi.Size()-int64(len(b)))
	for x := range blocks(b[:n], func(int) {}) {
		if x.id == id && now.Sub(x.time) < again {
			return true
		}
	}
	return false
}

// makeKey returns the key of the home, which it makes if there is none.
func makeKey(root *os.Root) ([]byte, error) {
	key, err := readKey(root)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	key = make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	own := keyFile + "-" + hex.EncodeToString(key[:4])
	if err := root.WriteFile(own, key, 0o600); err != nil {
		return nil, err
	}
	defer func() { _ = root.Remove(own) }() // it is gone if it was renamed
	if err = root.Link(own, keyFile); err != nil && !errors.Is(err, fs.ErrExist) {
		if err = root.Rename(own, keyFile); err != nil { // a file system without hard links
			return nil, err
		}
	}
	return readKey(root)
}

func readKey(root *os.Root) ([]byte, error) {
	key, err := root.ReadFile(keyFile)
	if err == nil && len(key) != keySize {
		err = fmt.Errorf("%s has %d bytes, not %d", keyFile, len(key), keySize)
	}
	return key, err
}

// content is the file, and what reads it.
type content struct {
	file    []byte
	key     []byte
	oldest  time.Time // blocks before it do not count
	damaged int       // bytes that are no block
}

// read returns the content of the file, which is empty if there is none.
func (f File) read() (c content, err error) {
	c.oldest = f.Now().Add(-keepFor)
	file, err := vfs.OpenRegular(filepath.Join(f.Dir, printsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer file.Close()
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return c, err
	}
	defer root.Close()
	if c.key, err = readKey(root); err != nil {
		return c, fmt.Errorf("reading the key of what was read: %w", err)
	}
	fi, err := file.Stat()
	if err != nil {
		return c, err
	}
	c.file = make([]byte, min(fi.Size(), 2*maxFile))
	n, _ := file.ReadAt(c.file, max(0, fi.Size()-int64(len(c.file))))
	c.file = c.file[:n]
	return c, nil
}

// each calls fn with the blocks that count, in the order in which they were added. The
// labels and prints are valid until it returns.
func (c *content) each(fn func(x *sealedBlock, level Level, labels []string, prints []byte)) error {
	if len(c.file) == 0 {
		return nil
	}
	seal, err := sealer(c.key)
	if err != nil {
		return err
	}
	buf := make([]byte, 0, 64<<10)
	for x := range blocks(c.file, func(n int) { c.damaged += n }) {
		if x.time.Before(c.oldest) {
			continue
		}
		if cap(buf) < len(x.body) {
			buf = make([]byte, 0, len(x.body))
		}
		level, labels, prints, err := x.open(seal, buf)
		if err != nil {
			c.damaged += len(x.body)
			continue
		}
		fn(&x, level, labels, prints)
	}
	return nil
}

// Has reports whether the prints of all of these identifiers are there.
func (f File) Has(ids ...string) bool {
	if len(ids) == 0 {
		return true
	}
	c, err := f.read()
	if err != nil {
		return false
	}
	there := map[string]bool{}
	err = c.each(func(x *sealedBlock, _ Level, _ []string, _ []byte) { there[strconv.FormatUint(x.id, 36)] = true })
	return err == nil && !slices.ContainsFunc(ids, func(id string) bool { return !there[id] })
}

// shrink drops the oldest blocks, and those that count no more. Another process that
// shrinks it does it alone.
func (f File) shrink() error {
	dir, err := vfs.Dir(f.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	lock, err := dir.OpenLock(lockFile)
	if err != nil {
		return err
	}
	defer lock.Close()
	if ok, err := lock.TryLock(); !ok || err != nil {
		return err
	}
	c, err := f.read()
	if err != nil || len(c.file) <= maxFile { // another process was first
		return err
	}
	var kept [][]byte
	for x := range blocks(c.file, func(int) {}) {
		if !x.time.Before(c.oldest) {
			kept = append(kept, x.whole())
		}
	}
	size, from := 0, len(kept)
	for from > 0 && size+len(kept[from-1]) <= keepBytes {
		from--
		size += len(kept[from])
	}
	return vfs.WriteFile(dir, printsFile, slices.Concat(kept[from:]...), 0o600)
}
