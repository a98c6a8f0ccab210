// This file lists files next to a store that were left by interrupted work or kept when a store was
// repaired.

package maintenance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// staleKind is the kind of a file next to the store.
type staleKind int

const (
	staleTemp      staleKind = iota // unfinished rewrite
	staleTorn                       // end of an interrupted write, which was cut off and kept
	staleDamaged                    // the old store, from oxbow recover --replace
	staleRecovered                  // the output of oxbow recover
	staleUnsaved                    // a text that oxbow edit could not save
)

// staleFile is a file next to the store.
type staleFile struct {
	kind staleKind
	path string
	size int64
	time time.Time
}

// Suffixes of files next to the store.
const (
	tempSuffix      = ".tmp"
	lostSuffix      = ".lost"
	damagedSuffix   = ".damaged-"
	recoveredSuffix = ".recovered"
)

// UnsavedDir is the directory in a home for texts that could not be remembered.
const UnsavedDir = "unsaved"

// listStaleFiles lists the stale files next to the store, by name. A missing directory counts as empty.
func listStaleFiles(store string) ([]staleFile, error) {
	dir, base := filepath.Split(store)
	found, err := listFiles(dir, func(name string) (staleKind, bool) {
		if _, isDraft := vfs.TempOf(name); isDraft {
			return staleTemp, true
		}
		rest, ours := strings.CutPrefix(name, base)
		switch {
		case !ours:
		case strings.HasPrefix(rest, ".") && strings.HasSuffix(rest, tempSuffix):
			return staleTemp, true
		case strings.HasPrefix(rest, damagedSuffix):
			return staleDamaged, true
		case rest == recoveredSuffix || strings.HasPrefix(rest, recoveredSuffix+"-"):
			return staleRecovered, true
		}
		return 0, false
	})
	if err != nil {
		return nil, err
	}
	unsaved := filepath.Join(dir, UnsavedDir)
	type place struct {
		dir  string
		kind staleKind
	}
	places := []place{{store + lostSuffix, staleTorn}, {unsaved, staleUnsaved}}
	profiles, err := listFiles(filepath.Join(dir, "profiles"), func(name string) (staleKind, bool) {
		_, isDraft := vfs.TempOf(name)
		return staleTemp, isDraft
	})
	if err != nil {
		return nil, err
	}
	found = append(found, profiles...)
	editing, _ := os.ReadDir(unsaved) // listFiles reports the error
	for _, e := range editing {
		if e.IsDir() { // left by an open editor or by a killed process
			places = append(places, place{filepath.Join(unsaved, e.Name()), staleUnsaved})
		}
	}
	for _, d := range places {
		more, err := listFiles(d.dir, func(string) (staleKind, bool) { return d.kind, true })
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

func listFiles(dir string, kindOf func(name string) (staleKind, bool)) ([]staleFile, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking beside the store: %w", err)
	}
	var found []staleFile
	for _, e := range entries {
		kind, ok := kindOf(e.Name())
		if !ok {
			continue
		}
		fi, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted in the meantime
		}
		if err != nil {
			return nil, fmt.Errorf("looking beside the store: %w", err)
		}
		if fi.Mode().IsRegular() {
			found = append(found, staleFile{kind, filepath.Join(dir, e.Name()), fi.Size(), fi.ModTime()})
		}
	}
	return found, nil
}

// unusedPath returns the path if nothing is there. Otherwise it appends the first number, from 2 on,
// with which the path is unused.
func unusedPath(path string) (string, error) {
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
