// This file recovers the readable parts of damaged sidecars.

package annotate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/oxbow-memory/oxbow/vfs"
)

// RecoverResult is the result of [Store.Recover] for one sidecar.
type RecoverResult struct {
	File   string // path of the sidecar, relative to the tree's root
	Lines  int    // number of lines that could not be read
	Found  int    // number of annotations and events that were found inside damaged lines and written to the sidecar
	KeptIn string // file that keeps the unreadable lines; it never replaces an existing file
}

// Recover repairs sidecars with lines that cannot be read. It saves these lines unchanged in a file
// next to the sidecar. If such a line contains complete annotations, for example because two lines
// were joined, Recover restores the annotations. Readable lines are kept. A dry run changes
// nothing. Errors match [oxbow.ErrBusy] or the errors of package io/fs.
func (b *Store) Recover(ctx context.Context, dryRun bool) ([]RecoverResult, error) {
	var all []RecoverResult
	err := b.walkSidecars(ctx, func(name string) error {
		s, err := b.readSidecar(name)
		if err != nil {
			return err
		}
		if len(s.damaged) == 0 && !s.torn {
			return nil
		}
		saved, err := b.recover(ctx, name, dryRun)
		if err == nil {
			all = append(all, saved)
		}
		return err
	})
	if err != nil {
		return all, fmt.Errorf("recovering annotations: %w", err)
	}
	return all, nil
}

func (b *Store) recover(ctx context.Context, name string, dryRun bool) (saved RecoverResult, err error) {
	full := path.Join(b.dir, name)
	if !dryRun {
		unlock, err := b.lockWriters(ctx)
		if err != nil {
			return saved, err
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	data, err := vfs.ReadFile(b.work, full, maxSidecar)
	if err != nil {
		return saved, err
	}
	saved.File = full
	var good, bad []byte
	for l := range bytes.Lines(data) {
		text := bytes.TrimRight(l, "\r\n")
		if _, _, _, err := parseLine(text); err == nil {
			good = append(append(good, text...), '\n')
			continue
		}
		saved.Lines++
		bad = append(append(bad, text...), '\n')
		for _, p := range recordsInside(text) {
			saved.Found++
			good = append(append(good, p...), '\n')
		}
	}
	saved.KeptIn, err = b.freeName(full)
	if err != nil {
		return saved, err
	}
	if dryRun || saved.Lines == 0 {
		return saved, nil
	}
	// Write the copy first, so that a crash loses nothing.
	if err := vfs.WriteFile(b.work, saved.KeptIn, bad, 0o644); err != nil {
		return saved, err
	}
	return saved, vfs.WriteFile(b.work, full, good, 0o644)
}

// maxKeptFiles is the maximum number of names that freeName tries.
const maxKeptFiles = 1000

// freeName returns an unused name next to the sidecar.
func (b *Store) freeName(full string) (string, error) {
	for n := range maxKeptFiles {
		name := full + ".damaged"
		if n > 0 {
			name += fmt.Sprintf("-%d", n+1)
		}
		if _, err := b.work.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%s has %d damaged versions beside it: %w", full, maxKeptFiles, fs.ErrExist)
}

// recordsInside returns the complete lines that are contained in an unreadable line.
func recordsInside(text []byte) [][]byte {
	var found [][]byte
	const begin = `{"v":`
	for len(text) > 0 {
		i := bytes.Index(text, []byte(begin))
		if i < 0 {
			break
		}
		text = text[i:]
		var raw json.RawMessage
		if json.NewDecoder(bytes.NewReader(text)).Decode(&raw) == nil {
			if r, e, _, _ := parseLine(raw); r != nil || e != nil {
				found = append(found, raw)
				text = text[len(raw):]
				continue
			}
		}
		text = text[len(begin):]
	}
	return found
}
