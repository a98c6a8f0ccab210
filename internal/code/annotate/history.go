// This file declares the access to git's history, and caches old versions of files.

package annotate

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// History gives access to the git history of a working tree. Its methods are safe for concurrent
// use.
type History interface {
	// Head returns the commit of HEAD in hex, or "" before the first commit.
	Head(ctx context.Context) (string, error)

	// ReadBlobs returns the contents of blobs, by name. Names that do not exist or are not blobs are
	// left out.
	ReadBlobs(ctx context.Context, names []string) (map[string][]byte, error)

	// At returns the blob name of the path in a commit, or "" if the commit lacks the
	// path.
	At(ctx context.Context, commit, file string) (string, error)

	// FormerNames returns the former names of a file in HEAD, newest first, and the names of the files that it was
	// copied from. The original of a copy that the copying commit did not change is found only if it is in others. If
	// git fails, FormerNames returns the names found so far and the error.
	FormerNames(ctx context.Context, file string, others []string) ([]string, error)

	// Alongside returns the files, except the given file, that commits after the given commit added
	// or changed together with the file.
	Alongside(ctx context.Context, commit, file string) ([]string, error)

	// LaterNames returns the names to which commits renamed a file that is not in HEAD, in the
	// order of the renames. was reports whether a commit ever deleted or renamed the file. The
	// names need not be in HEAD.
	LaterNames(ctx context.Context, file string) (names []string, was bool, err error)

	// Around returns two blobs at the path: in the last commit before t that changed the path, and
	// in the first such commit at or after t. It considers only commits in HEAD's history. A blob
	// is "" if no such commit exists.
	Around(ctx context.Context, file string, t time.Time) (before, after string, err error)

	// SHA256 reports whether objects are named by SHA-256 instead of SHA-1.
	SHA256() bool
}

// Limits of the caches.
const (
	maxHistories = 16       // number of files
	maxKept      = 64 << 20 // total size of a file's old texts, in bytes
	maxLines     = 1 << 20  // number of different lines in a file and its old texts
	batch        = 32       // number of blobs that are read at once
)

// blobHistory contains a file's old texts.
type blobHistory struct {
	mu      sync.Mutex // guards all fields below; held while the annotations of the file are resolved
	in      *interner
	mapper  diff.Mapper
	texts   map[string]*oldText // by name of the blob
	missing map[string]string   // maps each blob that git did not have to the HEAD at that time
	bytes   int
}

func newBlobHistory() *blobHistory {
	return &blobHistory{in: newInterner(), texts: map[string]*oldText{}, missing: map[string]string{}}
}

// text returns an old text with the IDs of its lines.
func (l *blobHistory) text(data []byte) *oldText {
	lines := SplitLines(data)
	return &oldText{lines, l.in.lines.LineIDs(lines)}
}

// fetchMissing reads those blobs that were not read yet. Blobs that git does not have and binary blobs are
// skipped.
func (l *blobHistory) fetchMissing(ctx context.Context, h History, head string, want map[string]bool) error {
	var names []string
	for n := range want {
		if l.isUnread(n, head) && (len(n) == 64) == h.SHA256() {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for some := range slices.Chunk(names, batch) {
		blobs, err := h.ReadBlobs(ctx, some)
		if err != nil {
			return err
		}
		for _, n := range some {
			data, ok := blobs[n]
			if !ok || !isAnnotatable(data) {
				l.missing[n] = head
				continue
			}
			l.texts[n] = l.text(data)
			l.bytes += len(data)
		}
	}
	return nil
}

// isUnread reports whether a blob was not read yet, and was not missing at the same HEAD.
func (l *blobHistory) isUnread(name, head string) bool {
	asked, isMissing := l.missing[name]
	return l.texts[name] == nil && (!isMissing || asked != head)
}

// recordedBlobs returns the names of the contents for which the annotations were written, except now, the
// present content.
func recordedBlobs(sidecars []*sidecar, now string) map[string]bool {
	want := map[string]bool{}
	for _, s := range sidecars {
		for _, r := range s.records {
			if r.Blob != "" && r.Blob != now {
				want[r.Blob] = true
			}
		}
	}
	return want
}
