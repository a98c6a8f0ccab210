// This file finds what lies beside a store: what interrupted work left, and
// what was kept when a store was mended.

package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// leftKind is what a file beside the store is.
type leftKind int

const (
	leftTemp      leftKind = iota // of a rewrite that did not come to its end
	leftTorn                      // the tail of an interrupted write, cut off and kept
	leftDamaged                   // the store before oxbow recover --replace
	leftRecovered                 // what oxbow recover saved
	leftUnsaved                   // a text that oxbow edit could not save
)

// leftover is one file beside the store.
type leftover struct {
	kind leftKind
	path string
	size int64
	time time.Time
}

// The names beside the store, behind its own.
const (
	tempEnd      = ".tmp"
	lostEnd      = ".lost"
	damagedEnd   = ".damaged-"
	recoveredEnd = ".recovered"
)

// leftovers lists what lies beside the store of that path, by name. Missing
// directories hold nothing.
func leftovers(store string) ([]leftover, error) {
	dir, base := filepath.Split(store)
	found, err := listFiles(dir, func(name string) (leftKind, bool) {
		rest, ours := strings.CutPrefix(name, base)
		switch {
		case !ours:
		case strings.HasPrefix(rest, ".") && strings.HasSuffix(rest, tempEnd):
			return leftTemp, true
		case strings.HasPrefix(rest, damagedEnd):
			return leftDamaged, true
		case rest == recoveredEnd || strings.HasPrefix(rest, recoveredEnd+"-"):
			return leftRecovered, true
		}
		return 0, false
	})
	if err != nil {
		return nil, err
	}
	for _, d := range []struct {
		dir  string
		kind leftKind
	}{{store + lostEnd, leftTorn}, {filepath.Join(dir, unsavedDir), leftUnsaved}} {
		more, err := listFiles(d.dir, func(string) (leftKind, bool) { return d.kind, true })
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

func listFiles(dir string, kindOf func(name string) (leftKind, bool)) ([]leftover, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking beside the store: %w", err)
	}
	var found []leftover
	for _, e := range entries {
		kind, ok := kindOf(e.Name())
		if !ok {
			continue
		}
		fi, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("looking beside the store: %w", err)
		}
		if fi.Mode().IsRegular() {
			found = append(found, leftover{kind, filepath.Join(dir, e.Name()), fi.Size(), fi.ModTime()})
		}
	}
	return found, nil
}

// freePath returns the path, or the path with the first number behind it, from
// 2 on, under which there is nothing.
func freePath(path string) (string, error) {
	try := path
	for n := 2; ; n++ {
		_, err := os.Lstat(try)
		if errors.Is(err, fs.ErrNotExist) {
			return try, nil
		}
		if err != nil {
			return "", err
		}
		try = fmt.Sprintf("%s-%d", path, n)
	}
}
