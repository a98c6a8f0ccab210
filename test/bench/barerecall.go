// This file measures whole recalls for the command "bare". The other measurements of this command include only the
// search in an index.

package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/oxbow-memory/oxbow"
)

// recallIndex is a memory that was written to the disk and opened again. A recall costs more than a search in the
// index, because it also reads the file, analyzes the query, and ranks dialogues.
type recallIndex struct{ memory *oxbow.Memory }

// newRecallEngine writes a memory with the texts and the memory's index below dir, and opens the
// memory.
func newRecallEngine(ctx context.Context, dir string, texts []string) (recallIndex, error) {
	path := filepath.Join(dir, fmt.Sprintf("recall-%d.oxbow", len(texts)))
	m, err := oxbow.Open(path, nil)
	if err != nil {
		return recallIndex{}, err
	}
	es := make([]oxbow.Add, len(texts))
	for i, t := range texts {
		es[i] = oxbow.Add{Name: fmt.Sprint("text ", i+1), Content: t}
	}
	err = fillMemory(ctx, m, es)
	if err == nil {
		_, err = m.Recall(ctx, oxbow.Query{Text: "makes the index"})
	}
	if err == nil {
		err = m.Checkpoint(ctx)
	}
	err = errors.Join(err, m.Close())
	if err != nil {
		return recallIndex{}, err
	}
	m, err = oxbow.Open(path, nil)
	return recallIndex{m}, err
}

func (e recallIndex) recall(text string) []oxbow.Hit {
	hits, err := e.memory.Recall(context.Background(), oxbow.Query{Text: text, Limit: indexHitLimit})
	if err != nil {
		panic(err) // This cannot happen, because the memory was just created.
	}
	return hits
}

func (e recallIndex) countHits(text string, _ []string) int { return len(e.recall(text)) }

func (e recallIndex) listHits(text string, _ []string) iter.Seq2[uint64, float64] {
	return func(yield func(uint64, float64) bool) {
		for _, h := range e.recall(text) {
			if !yield(h.Entry.ID, h.Score) {
				return
			}
		}
	}
}
