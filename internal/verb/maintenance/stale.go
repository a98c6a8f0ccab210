// This file lists the files next to a store that interrupted commands left or that were kept when the store was
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

// leftoverFileKind says why a file next to the store exists.
type leftoverFileKind int

const (
	staleTempFile leftoverFileKind = iota // unfinished rewrite of the log
	// the end of the log that an interrupted write left incomplete; the end was cut off and is kept in this file
	leftoverIncompleteLogTail
	// The file is a damaged store that oxbow recover --replace has replaced.
	leftoverDamagedStore
	leftoverRecoveredStore  // The file is a store that oxbow recover has written.
	leftoverUnsavedEditText // The file contains a text that oxbow edit could not store.
)

// staleFile is a file next to the store that is not in use.
type staleFile struct {
	kind    leftoverFileKind
	path    string
	size    int64
	modTime time.Time
}

// These are the suffixes of the files next to the store: an unfinished rewrite of the log, the end of the log that was
// cut off, a damaged store that was replaced, and a store that oxbow recover has written.
const (
	tempSuffix              = ".tmp"
	incompleteLogTailSuffix = ".lost"
	damagedSuffix           = ".damaged-"
	recoveredSuffix         = ".recovered"
)

// UnsavedEditsDir is the directory in a home with the texts that oxbow edit could not store.
const UnsavedEditsDir = "unsaved"

// listStaleFiles lists the stale files next to a store, ordered by name. If the directory does not exist, there are
// none.
func listStaleFiles(store string) ([]staleFile, error) {
	dir, base := filepath.Split(store)
	found, err := listFiles(dir, func(name string) (leftoverFileKind, bool) {
		if _, isDraft := vfs.TempOf(name); isDraft {
			return staleTempFile, true
		}
		rest, ours := strings.CutPrefix(name, base)
		switch {
		case !ours:
		case strings.HasPrefix(rest, ".") && strings.HasSuffix(rest, tempSuffix):
			return staleTempFile, true
		case strings.HasPrefix(rest, damagedSuffix):
			return leftoverDamagedStore, true
		case rest == recoveredSuffix || strings.HasPrefix(rest, recoveredSuffix+"-"):
			return leftoverRecoveredStore, true
		}
		return 0, false
	})
	if err != nil {
		return nil, err
	}
	unsaved := filepath.Join(dir, UnsavedEditsDir)
	type place struct {
		dir  string
		kind leftoverFileKind
	}
	places := []place{{store + incompleteLogTailSuffix, leftoverIncompleteLogTail}, {unsaved, leftoverUnsavedEditText}}
	profiles, err := listFiles(filepath.Join(dir, "profiles"), func(name string) (leftoverFileKind, bool) {
		_, isDraft := vfs.TempOf(name)
		return staleTempFile, isDraft
	})
	if err != nil {
		return nil, err
	}
	found = append(found, profiles...)
	editing, _ := os.ReadDir(unsaved) // ignore the error, because listFiles reads the same directory and returns it
	for _, e := range editing {
		// Each directory contains texts that were not saved. It belongs to an open editor, or was left by a killed
		// process.
		if e.IsDir() {
			places = append(places, place{filepath.Join(unsaved, e.Name()), leftoverUnsavedEditText})
		}
	}
	for _, d := range places {
		more, err := listFiles(d.dir, func(string) (leftoverFileKind, bool) { return d.kind, true })
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

func listFiles(dir string, kindOf func(name string) (leftoverFileKind, bool)) ([]staleFile, error) {
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
			continue // The file was deleted in the meantime.
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

// unusedPath returns the path if no file has it. Otherwise it appends the lowest number, from 2 on, for which a file
// does not exist.
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
