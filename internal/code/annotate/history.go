// What git knows of the tree, and the older versions of a file that are kept in memory.

package annotate

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// History is what git knows of a working tree. Its methods are safe for
// concurrent use.
type History interface {
	// Head returns the commit of HEAD in hex, and "" before the first.
	Head(ctx context.Context) (string, error)

	// Blobs returns the contents of those objects that are there and are
	// blobs, by name.
	Blobs(ctx context.Context, names []string) (map[string][]byte, error)

	// At returns the name of the blob that the path leads to in a commit, and
	// "" when there is none.
	At(ctx context.Context, commit, file string) (string, error)

	// Names returns what the file of HEAD was called before, or copied from,
	// newest first, without its name of now. A file that the copying commit
	// left alone is found when it is among the others. With an error, it returns
	// the names that it found before git failed.
	Names(ctx context.Context, file string, others []string) ([]string, error)

	// Alongside returns the other files that commits since that one, which is
	// not counted, have added or changed together with the file.
	Alongside(ctx context.Context, commit, file string) ([]string, error)

	// Successors returns what a file that HEAD does not have was renamed to,
	// and that in turn, newest last, and whether it was ever deleted or
	// renamed. None of the names need be in HEAD.
	Successors(ctx context.Context, file string) (names []string, was bool, err error)

	// Around returns the blobs that the path led to in the last commit that
	// changed it before that time, and in the first that did so from then on,
	// in the history of HEAD; "" for none.
	Around(ctx context.Context, file string, t time.Time) (before, after string, err error)

	// SHA256 reports whether objects are named by SHA-256 and not by SHA-1.
	SHA256() bool
}

// Bounds of what is kept for the next lookup.
const (
	maxHistories = 16       // files
	maxKept      = 64 << 20 // bytes of old texts of one file
	maxLines     = 1 << 20  // different lines of one file and its old texts
	batch        = 32       // blobs that are read at once
)

// blobHistory is the old texts of one file.
type blobHistory struct {
	mu      sync.Mutex // guards all below, and is held while the file is placed
	in      *interner
	mapper  diff.Mapper
	texts   map[string]*oldText // by name of the blob
	missing map[string]string   // blobs that git did not have, by HEAD when it was asked
	bytes   int
}

func newBlobHistory() *blobHistory {
	return &blobHistory{in: newInterner(), texts: map[string]*oldText{}, missing: map[string]string{}}
}

// text adds an old text.
func (l *blobHistory) text(data []byte) *oldText {
	lines := Lines(data)
	return &oldText{lines, l.in.lines.Lines(lines)}
}

// fetch reads the blobs that are not there yet. Those that git does not have,
// and those that have no lines, are passed over.
func (l *blobHistory) fetch(ctx context.Context, h History, head string, want map[string]bool) error {
	var names []string
	for n := range want {
		if asked, ok := l.missing[n]; l.texts[n] == nil && (!ok || asked != head) && (len(n) == 64) == h.SHA256() {
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
				l.missing[n] = head
				continue
			}
			l.texts[n] = l.text(data)
			l.bytes += len(data)
		}
	}
	return nil
}
