// This file holds what those who bring annotations from elsewhere need to know
// of the tree.

package annotate

import (
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow"
)

// Text returns the lines of a file of the working tree, as [Lines] gives them.
// Errors match [oxbow.ErrInvalid] for a file that cannot be annotated, or those
// of package io/fs.
func (b *Book) Text(file string) ([]string, error) {
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

// BlobName returns git's name for a content in the repository of the tree,
// whether or not git has it.
func (b *Book) BlobName(content []byte) string {
	return blobName(content, b.hist != nil && b.hist.SHA256())
}

// Has reports which of the records, that have a File and an ID, are in the
// book already.
func (b *Book) Has(ctx context.Context, records []Record) ([]bool, error) {
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
