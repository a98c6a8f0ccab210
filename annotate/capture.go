// This file holds what those who bring annotations from elsewhere need to know
// of the tree.

package annotate

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/git"
)

// Text returns the lines of a file of the working tree, as [Lines] gives them.
// Errors match [oxbow.ErrInvalid] for a file that cannot be annotated, or those
// of package io/fs.
func (b *Store) Text(file string) ([]string, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	data, err := b.content(file)
	if err != nil {
		return nil, fmt.Errorf("reading a file: %w", err)
	}
	if isBinary(data) {
		return nil, &oxbow.InvalidError{Field: "file", Value: file, Reason: "is binary: it has no lines to annotate"}
	}
	return Lines(data), nil
}

// HasFile reports whether the tree has the file.
func (b *Store) HasFile(file string) bool {
	fi, err := b.work.Stat(file)
	return err == nil && fi.Mode().IsRegular()
}

// BlobName returns git's name for a content in the repository of the tree,
// whether or not git has it.
func (b *Store) BlobName(content []byte) string {
	return blobName(content, b.hist != nil && b.hist.SHA256())
}

// Has reports which of the records, that have a File and an ID, are in the
// book already.
func (b *Store) Has(ctx context.Context, records []Record) ([]bool, error) {
	known := map[string]map[string]bool{}
	out := make([]bool, len(records))
	for i, r := range records {
		ids := known[r.File]
		if ids == nil {
			have, err := b.Records(ctx, r.File)
			if err != nil {
				return nil, err
			}
			ids = map[string]bool{}
			for _, h := range have {
				ids[h.ID] = true
			}
			known[r.File] = ids
		}
		out[i] = ids[r.ID]
		ids[r.ID] = true // the same one once more
	}
	return out, nil
}

// Take fills in what a record keeps of its lines, which are those of its Span,
// from all lines of the file as [Lines] gives them. It reports false, and does
// nothing, when the file does not have that span.
func (r *Record) Take(lines []string) bool {
	if r.Span.Len() == 0 || r.Span.Last > len(lines) {
		return false
	}
	r.take(lines)
	return true
}

// Line returns the record as a line of a sidecar, without the line feed; see
// docs/format-annotations.md.
func (r *Record) Line() ([]byte, error) {
	b, err := encode(nil, r)
	return bytes.TrimSuffix(b, []byte{'\n'}), err
}

// ParseRecord reads a record from a line of a sidecar. The error matches
// [oxbow.ErrInvalid] for one that is no annotation.
func ParseRecord(b []byte) (Record, error) {
	r, _, _, err := parseLine(b)
	if err != nil || r == nil {
		reason := "is no annotation"
		if err != nil {
			reason = "cannot be read: " + err.Error()
		}
		return Record{}, &oxbow.InvalidError{Field: "annotation", Reason: reason}
	}
	return *r, nil
}

// All returns the records of all sidecars as they were written, by sidecar and
// then by time, each ID of a sidecar once.
func (b *Store) All(ctx context.Context) ([]Record, error) {
	var all []Record
	err := b.walk(ctx, func(name string) error {
		c, err := b.read(name)
		if err != nil {
			return err
		}
		for _, r := range c.records {
			all = append(all, *r)
		}
		return nil
	})
	return all, err
}

// Place is a file at a commit.
type Place struct {
	Commit string // whole name, in hex
	File   string
}

// Then is what a file was at a commit.
type Then struct {
	Lines []string // as [Lines] gives them; nil when git does not have the file then, or it is binary or too long
	Blob  string
	Time  time.Time // of the commit; zero when git does not have it
}

// At returns what files were at commits, in the order of the places. The error
// matches [oxbow.ErrUnsupported] when there is no git repository.
func (b *Store) At(ctx context.Context, places []Place) ([]Then, error) {
	if b.repo == nil {
		return nil, fmt.Errorf("%w: this tree is in no git repository", oxbow.ErrUnsupported)
	}
	asked := make([]git.Place, len(places))
	var commits []string
	for i, p := range places {
		asked[i] = git.Place{Commit: p.Commit, File: p.File}
		commits = append(commits, p.Commit)
	}
	names, err := b.repo.BlobsAt(ctx, asked)
	if err != nil {
		return nil, err
	}
	slices.Sort(commits)
	times, err := b.repo.Times(ctx, slices.Compact(commits))
	if err != nil {
		return nil, err
	}
	out := make([]Then, len(places))
	// Contents come in parts, so that git never says too much at once.
	for from := 0; from < len(names); from += maxAtOnce {
		part := names[from:min(len(names), from+maxAtOnce)]
		want := slices.DeleteFunc(slices.Clone(part), func(n string) bool { return n == "" })
		slices.Sort(want)
		blobs, err := b.repo.Blobs(ctx, slices.Compact(want))
		if err != nil {
			return nil, err
		}
		for i, n := range part {
			t := &out[from+i]
			t.Time = times[places[from+i].Commit]
			if data, ok := blobs[n]; ok && len(data) <= MaxFile && !isBinary(data) {
				t.Blob, t.Lines = n, Lines(data)
			}
		}
	}
	return out, nil
}

// maxAtOnce is how many files git is asked for in one run.
const maxAtOnce = 64

// Notes returns the texts of the git notes of a reference, such as
// refs/notes/ai, by commit. The error matches [oxbow.ErrUnsupported] when there
// is no git repository.
func (b *Store) Notes(ctx context.Context, ref string) (map[string][]byte, error) {
	if b.repo == nil {
		return nil, fmt.Errorf("%w: this tree is in no git repository", oxbow.ErrUnsupported)
	}
	at, err := b.repo.Notes(ctx, ref)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(at))
	for _, n := range at {
		names = append(names, n)
	}
	slices.Sort(names)
	texts := map[string][]byte{}
	for part := range slices.Chunk(slices.Compact(names), 16*maxAtOnce) {
		blobs, err := b.repo.Blobs(ctx, part)
		if err != nil {
			return nil, err
		}
		for n, t := range blobs {
			texts[n] = t
		}
	}
	out := map[string][]byte{}
	for commit, n := range at {
		if t, ok := texts[n]; ok {
			out[commit] = t
		}
	}
	return out, nil
}
