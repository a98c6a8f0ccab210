// This file keeps what a file was like at the times of its annotations, so that
// the next lookup, of the file as it is by then, need not ask git again.

package annotate

import (
	"context"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/diff"
)

// Bounds of what is kept for the next lookup.
const (
	maxLineages = 16       // files
	maxKept     = 64 << 20 // bytes of old texts of one file
	maxLines    = 1 << 20  // different lines of one file and its old texts
	batch       = 32       // blobs that are read at once
)

// lineage is the old texts of one file.
type lineage struct {
	mu    sync.Mutex // guards all below, and is held while the file is placed
	lex   *lexicon
	diff  diff.Mapper
	old   map[string]*oldText // by name of the blob
	none  map[string]string   // blobs that git did not have, by HEAD when it was asked
	bytes int
}

// oldText is one of them.
type oldText struct {
	lines []string
	num   []int32 // of the lines, by the lexicon of the lineage
}

func newLineage() *lineage {
	return &lineage{lex: newLexicon(), old: map[string]*oldText{}, none: map[string]string{}}
}

// lineage returns that of a file, with its lock held.
func (b *Store) lineage(file string) *lineage {
	b.mu.Lock()
	l := b.lineages[file]
	if l == nil {
		if len(b.lineages) >= maxLineages {
			clear(b.lineages)
		}
		l = newLineage()
		b.lineages[file] = l
	}
	b.mu.Unlock()
	l.mu.Lock()
	if l.bytes > maxKept || len(l.lex.in) > maxLines {
		l.lex, l.old, l.none, l.bytes = newLexicon(), map[string]*oldText{}, map[string]string{}, 0
	}
	return l
}

// text adds an old text.
func (l *lineage) text(data []byte) *oldText {
	lines := Lines(data)
	return &oldText{lines, l.lex.in.Lines(lines)}
}

// fetch reads the blobs that are not there yet. Those that git does not have,
// and those that have no lines, are passed over.
func (l *lineage) fetch(ctx context.Context, h History, head string, want map[string]bool) error {
	var names []string
	for n := range want {
		if asked, ok := l.none[n]; l.old[n] == nil && (!ok || asked != head) && (len(n) == 64) == h.SHA256() {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for some := range slices.Chunk(names, batch) {
		blobs, err := h.Blobs(ctx, some)
		if err != nil {
			return err
		}
		for _, n := range some {
			data, ok := blobs[n]
			if !ok || len(data) > MaxFile || isBinary(data) {
				l.none[n] = head
				continue
			}
			l.old[n] = l.text(data)
			l.bytes += len(data)
		}
	}
	return nil
}
