// This file examines the sidecars line by line, and saves what can be read of
// damaged ones.

package annotate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Problem is one line of a sidecar that is not sound.
type Problem struct {
	File   string // path of the sidecar, below the root of the tree
	Line   int    // from 1; 0 when it is about the whole file
	Offset int64  // of the line, in bytes
	What   string
}

// Report is what [Book.Check] found.
type Report struct {
	Files       int // sidecars
	Annotations int // that can be read
	Lines       int // that are not empty
	Torn        int // sidecars whose last line is a write that was cut off: normal after a crash
	Newer       int // lines that a newer program wrote
	Problems    []Problem
}

// Check reads every line of every sidecar. A line that cannot be read is a
// problem, and so are a block that is not what its hash says and a sidecar
// whose name is that of no file: nobody would look for it there. It changes
// nothing.
func (b *Store) Check(ctx context.Context) (Report, error) {
	var r Report
	err := b.walk(ctx, func(name string) error {
		full := path.Join(b.dir, name)
		data, err := vfs.ReadFile(b.work, full, maxSidecar)
		if errors.Is(err, vfs.ErrTooLarge) {
			r.Problems = append(r.Problems, Problem{File: full, What: fmt.Sprintf("is longer than %d MiB, and is not read", maxSidecar>>20)})
			return nil
		}
		if err != nil {
			return err
		}
		r.Files++
		r.examine(full, data)
		// A name that was cut to fit the file system only its records tell.
		if _, ok := sourceOf(name); !ok && !strings.Contains(name, "%~") {
			r.Problems = append(r.Problems, Problem{File: full, What: "is named as no sidecar is: its annotations are found by a search only"})
		}
		return nil
	})
	if err != nil {
		return Report{}, fmt.Errorf("checking annotations: %w", err)
	}
	return r, nil
}

// examine reads one sidecar.
func (r *Report) examine(full string, data []byte) {
	s := parse(data)
	r.Annotations += len(s.records)
	r.Newer += s.newer
	if s.torn {
		r.Torn++
	}
	for _, d := range s.damaged {
		r.Problems = append(r.Problems, Problem{full, d.line, d.offset, "cannot be read: " + d.err.Error()})
	}
	n, at := 0, int64(0)
	for l := range bytes.Lines(data) {
		n++
		if text := bytes.TrimSpace(l); len(text) > 0 {
			r.Lines++
			if rec, _, _, err := parseLine(text); err == nil && rec != nil && rec.Cut == 0 && len(rec.Block) == rec.Span.Len() &&
				len(rec.Block) > 0 && rec.Hash != "" && HashLines(rec.Block) != rec.Hash {
				r.Problems = append(r.Problems, Problem{full, n, at, "the lines it keeps are not those that its hash is of"})
			}
		}
		at += int64(len(l))
	}
}

// Saved is what [Book.Recover] did, or would do, with one sidecar.
type Saved struct {
	File   string // path of the sidecar, below the root of the tree
	Lines  int    // lines that could not be read
	Found  int    // annotations and events that were found inside of those lines, and are in the sidecar now
	Beside string // the file that keeps those lines; it is never written over
}

// Recover mends the sidecars that have lines that cannot be read: it keeps
// those lines beside, byte for byte, and what whole annotations are found
// inside of them, such as where two lines ran together, are put back. Lines
// that can be read stay as they are. A dry run changes nothing. Errors match
// [oxbow.ErrBusy] or those of package io/fs.
func (b *Store) Recover(ctx context.Context, dryRun bool) ([]Saved, error) {
	var all []Saved
	err := b.walk(ctx, func(name string) error {
		s, err := b.read(name)
		if err != nil || len(s.damaged) == 0 && !s.torn {
			return err
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

func (b *Store) recover(ctx context.Context, name string, dryRun bool) (saved Saved, err error) {
	full := path.Join(b.dir, name)
	if !dryRun {
		unlock, err := b.lock(ctx)
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
		for _, p := range inside(text) {
			saved.Found++
			good = append(append(good, p...), '\n')
		}
	}
	if saved.Beside, err = b.beside(full); err != nil || dryRun || saved.Lines == 0 {
		return saved, err
	}
	// First beside, then away: a crash in between leaves both.
	if err := vfs.WriteFile(b.work, saved.Beside, bad, 0o644); err != nil {
		return saved, err
	}
	return saved, vfs.WriteFile(b.work, full, good, 0o644)
}

// maxBeside bounds the names that beside tries.
const maxBeside = 1000

// beside returns a name next to the sidecar that is free.
func (b *Store) beside(full string) (string, error) {
	for n := range maxBeside {
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
	return "", fmt.Errorf("%s has %d damaged versions beside it: %w", full, maxBeside, fs.ErrExist)
}

// inside returns the whole lines that stand inside of one that cannot be read.
func inside(text []byte) [][]byte {
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
			if r, e, _, err := parseLine(raw); err == nil && (r != nil || e != nil) {
				found = append(found, raw)
				text = text[len(raw):]
				continue
			}
		}
		text = text[len(begin):]
	}
	return found
}
