// How the files of a set are found below a directory, and read,
// packed or not.

package quality

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
)

// DataError is a file of a set that cannot be read as what it should be.
type DataError struct {
	File string // below the directory of the data
	From string // where the set is published
	Err  error
}

func (e *DataError) Error() string { return fmt.Sprintf("reading %s: %v", e.File, e.Err) }
func (e *DataError) Unwrap() error { return e.Err }

// places are the directories, below one that holds a set, in which its authors
// keep its files.
var places = []string{".", "data", "data/ALL/jsonl", "scifact"}

// dirs returns the directories that may hold files of sets: the root and those
// in it, and in each the places.
func dirs(fsys fs.FS) ([]string, error) {
	in, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	tops := []string{"."}
	for _, d := range in {
		// A link to a directory is one, too.
		if fi, err := fs.Stat(fsys, d.Name()); err == nil && fi.IsDir() {
			tops = append(tops, d.Name())
		}
	}
	var ds []string
	for _, t := range tops {
		for _, p := range places {
			if d := path.Join(t, p); !slices.Contains(ds, d) {
				ds = append(ds, d)
			}
		}
	}
	return ds, nil
}

// pick returns the name of the file, or of the same packed by gzip; "" when
// there is neither.
func pick(fsys fs.FS, dir, name string) string {
	for _, n := range []string{name, name + ".gz"} {
		if fi, err := fs.Stat(fsys, path.Join(dir, n)); err == nil && fi.Mode().IsRegular() {
			return path.Join(dir, n)
		}
	}
	return ""
}

// pickAll returns the names of all the files; nil when one is missing.
func pickAll(fsys fs.FS, dir string, names ...string) []string {
	var found []string
	for _, n := range names {
		f := pick(fsys, dir, n)
		if f == "" {
			return nil
		}
		found = append(found, f)
	}
	return found
}

// open opens a file, and unpacks it when its name ends in .gz.
func open(fsys fs.FS, name string) (io.ReadCloser, error) {
	f, err := fsys.Open(name)
	if err != nil || !strings.HasSuffix(name, ".gz") {
		return f, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("unpacking it: %w", explain(err)), f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// explain says what it means when a reader meets its end too early.
func explain(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("it ends too early: it was cut off")
	}
	return err
}

// objects yields the JSON objects of a file, one after another or as the
// elements of one array. It yields at most one error, last.
func objects[T any](fsys fs.FS, name string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		f, err := open(fsys, name)
		if err != nil {
			yield(none, err)
			return
		}
		defer f.Close() // only read
		r := bufio.NewReaderSize(f, 1<<16)
		first, err := firstByte(r)
		if err != nil {
			yield(none, explain(err))
			return
		}
		d := json.NewDecoder(r)
		if first == '[' {
			if _, err := d.Token(); err != nil {
				yield(none, explain(err))
				return
			}
		}
		for n := 1; ; n++ {
			if first == '[' && !d.More() {
				if _, err := d.Token(); err != nil {
					yield(none, explain(err))
				}
				return
			}
			var v T
			switch err := d.Decode(&v); {
			case err == io.EOF && first != '[':
				return
			case err != nil:
				yield(none, fmt.Errorf("object %d: %w", n, explain(err)))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// firstByte returns the first byte that is not white space, and leaves it to be
// read. A byte order mark is skipped.
func firstByte(r *bufio.Reader) (byte, error) {
	if b, err := r.Peek(3); err == nil && bytes.Equal(b, []byte("\uFEFF")) {
		if _, err := r.Discard(3); err != nil {
			return 0, err
		}
	}
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if strings.IndexByte(" \t\r\n", b) < 0 {
			return b, r.UnreadByte()
		}
	}
}

// readLines yields the lines of a file that are not empty, numbered from 1. It
// yields at most one error, last.
func readLines(fsys fs.FS, name string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		f, err := open(fsys, name)
		if err != nil {
			yield(line{}, err)
			return
		}
		defer f.Close() // only read
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 1<<20)
		n := 0
		for sc.Scan() {
			n++
			if strings.TrimSpace(sc.Text()) != "" && !yield(line{n, sc.Text()}, nil) {
				return
			}
		}
		if err := sc.Err(); err != nil {
			yield(line{}, explain(err))
		}
	}
}

type line struct {
	num  int
	text string
}
