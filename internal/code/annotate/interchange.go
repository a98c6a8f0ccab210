// This file contains functions for programs that import annotations. The functions encode and parse records, read files
// at a commit, and read git notes.

package annotate

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// EncodeLine returns the record as a line of a sidecar, without the line feed (see
// docs/format.md).
func (r *Record) EncodeLine() ([]byte, error) {
	b, err := appendRecord(nil, r)
	return bytes.TrimSuffix(b, []byte{'\n'}), err
}

// ParseRecord parses a record in a line of a sidecar. If the line is not an annotation, the error
// matches [oxbow.ErrInvalid].
func ParseRecord(b []byte) (Record, error) {
	r, _, _, err := parseSidecarLine(b)
	if err != nil || r == nil {
		reason := "is no annotation"
		if err != nil {
			reason = "cannot be read: " + err.Error()
		}
		return Record{}, &oxbow.InvalidError{Field: "annotation", Reason: reason}
	}
	return *r, nil
}

// FileAtCommit names a file at a commit.
type FileAtCommit struct {
	Commit string // full ID of the commit, in hex
	File   string
}

// FileVersion is the content of a file at a commit.
type FileVersion struct {
	// lines as returned by [SplitLines] (nil if the commit lacks the file, or the file is binary or too long)
	Lines    []string
	BlobName string
	Time     time.Time // time of the commit (zero if the git repository lacks the commit)
}

// ReadFilesAtCommits returns the contents of files at commits, in the same order as places. Without a git repository,
// the error matches [oxbow.ErrUnsupported].
func (b *Store) ReadFilesAtCommits(ctx context.Context, places []FileAtCommit) ([]FileVersion, error) {
	if b.repo == nil {
		return nil, fmt.Errorf("%w: this tree is in no git repository", oxbow.ErrUnsupported)
	}
	asked := make([]git.FileAtCommit, len(places))
	var commits []string
	for i, p := range places {
		asked[i] = git.FileAtCommit{Commit: p.Commit, File: p.File}
		commits = append(commits, p.Commit)
	}
	names, err := b.repo.BlobsAt(ctx, asked)
	if err != nil {
		return nil, err
	}
	slices.Sort(commits)
	times, err := b.repo.CommitTimes(ctx, slices.Compact(commits))
	if err != nil {
		return nil, err
	}
	out := make([]FileVersion, len(places))
	// Read the contents in batches, to limit the size of git's answers.
	for from := 0; from < len(names); from += maxFilesPerGitCall {
		part := names[from:min(len(names), from+maxFilesPerGitCall)]
		want := slices.DeleteFunc(slices.Clone(part), func(n string) bool { return n == "" })
		slices.Sort(want)
		blobs, err := b.repo.ReadBlobs(ctx, slices.Compact(want))
		if err != nil {
			return nil, err
		}
		for i, n := range part {
			t := &out[from+i]
			t.Time = times[places[from+i].Commit]
			if data, ok := blobs[n]; ok && isAnnotatable(data) {
				t.BlobName, t.Lines = n, SplitLines(data)
			}
		}
	}
	return out, nil
}

// maxFilesPerGitCall is the number of files that one git call reads.
const maxFilesPerGitCall = 64

// ReadGitNotes returns the texts of the git notes under a reference, such as refs/notes/ai, by their commit's ID.
// Without a git repository, the error matches [oxbow.ErrUnsupported].
func (b *Store) ReadGitNotes(ctx context.Context, ref string) (map[string][]byte, error) {
	if b.repo == nil {
		return nil, fmt.Errorf("%w: this tree is in no git repository", oxbow.ErrUnsupported)
	}
	at, err := b.repo.ReadNotes(ctx, ref)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(at))
	for _, n := range at {
		names = append(names, n)
	}
	slices.Sort(names)
	texts := map[string][]byte{}
	for part := range slices.Chunk(slices.Compact(names), 16*maxFilesPerGitCall) {
		blobs, err := b.repo.ReadBlobs(ctx, part)
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
