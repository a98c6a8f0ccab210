// This file finds and reads the files of public data sets below a directory, with or without gzip compression.

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

// DataError is the error for a file of a public data set that cannot be read.
type DataError struct {
	File string // relative to the data directory
	URL  string // address at which the data set is published
	Err  error
}

func (e *DataError) Error() string { return fmt.Sprintf("reading %s: %v", e.File, e.Err) }
func (e *DataError) Unwrap() error { return e.Err }

// dataDirs contains the directories in which the authors of a data set store the set's files, relative to the
// downloaded directory.
var dataDirs = []string{".", "data", "data/ALL/jsonl", "scifact"}

// findDirectories returns the directories that may contain files of public data sets. These are the directories in
// dataDirs, below the root and below each directory in the root.
func findDirectories(fsys fs.FS) ([]string, error) {
	in, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	tops := []string{"."}
	for _, d := range in {
		// Follow links to directories.
		if fi, err := fs.Stat(fsys, d.Name()); err == nil && fi.IsDir() {
			tops = append(tops, d.Name())
		}
	}
	var ds []string
	for _, t := range tops {
		for _, p := range dataDirs {
			if d := path.Join(t, p); !slices.Contains(ds, d) {
				ds = append(ds, d)
			}
		}
	}
	return ds, nil
}

// findFile returns the name of the file or its gzip version, or "" if neither exists.
func findFile(fsys fs.FS, dir, name string) string {
	for _, n := range []string{name, name + ".gz"} {
		if fi, err := fs.Stat(fsys, path.Join(dir, n)); err == nil && fi.Mode().IsRegular() {
			return path.Join(dir, n)
		}
	}
	return ""
}

// findFiles returns the names of all files, or nil if one is missing.
func findFiles(fsys fs.FS, dir string, names ...string) []string {
	var found []string
	for _, n := range names {
		f := findFile(fsys, dir, n)
		if f == "" {
			return nil
		}
		found = append(found, f)
	}
	return found
}

// openFile opens a file, and decompresses it if the name ends in .gz.
func openFile(fsys fs.FS, name string) (io.ReadCloser, error) {
	f, err := fsys.Open(name)
	if err != nil || !strings.HasSuffix(name, ".gz") {
		return f, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("unpacking it: %w", explainReadError(err)), f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// explainReadError replaces the error of a file that ends too early by an error with a clear message. It returns other
// errors unchanged.
func explainReadError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("it ends too early: it was cut off")
	}
	return err
}

// eachObject yields the JSON objects of a file, which are in sequence or in one array. It
// yields at most one error, as the last value.
func eachObject[T any](fsys fs.FS, name string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		f, err := openFile(fsys, name)
		if err != nil {
			yield(none, err)
			return
		}
		defer f.Close() // ignore the error: the file is only read
		r := bufio.NewReaderSize(f, 1<<16)
		first, err := peekFirstByte(r)
		if err != nil {
			yield(none, explainReadError(err))
			return
		}
		d := json.NewDecoder(r)
		if first == '[' {
			if _, err := d.Token(); err != nil {
				yield(none, explainReadError(err))
				return
			}
		}
		for n := 1; ; n++ {
			if first == '[' && !d.More() {
				if _, err := d.Token(); err != nil {
					yield(none, explainReadError(err))
				}
				return
			}
			var v T
			switch err := d.Decode(&v); {
			case err == io.EOF && first != '[':
				return
			case err != nil:
				yield(none, fmt.Errorf("object %d: %w", n, explainReadError(err)))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// peekFirstByte returns the first byte that is not white space, without consuming it. It skips a
// byte order mark.
func peekFirstByte(r *bufio.Reader) (byte, error) {
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

// readLines yields the non-empty lines of a file with their numbers, from 1. It yields at
// most one error, as the last value.
func readLines(fsys fs.FS, name string) iter.Seq2[numberedLine, error] {
	return func(yield func(numberedLine, error) bool) {
		f, err := openFile(fsys, name)
		if err != nil {
			yield(numberedLine{}, err)
			return
		}
		defer f.Close() // ignore the error: the file is only read
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 1<<20)
		n := 0
		for sc.Scan() {
			n++
			if strings.TrimSpace(sc.Text()) != "" && !yield(numberedLine{n, sc.Text()}, nil) {
				return
			}
		}
		if err := sc.Err(); err != nil {
			yield(numberedLine{}, explainReadError(err))
		}
	}
}

type numberedLine struct {
	number int
	text   string
}
