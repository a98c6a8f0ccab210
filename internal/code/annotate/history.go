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
	// HeadCommit returns the commit of HEAD in hex, or "" before the first commit.
	HeadCommit(ctx context.Context) (string, error)

	// ReadBlobs returns the contents of blobs, by name. Names that do not exist or are not blobs are
	// left out.
	ReadBlobs(ctx context.Context, names []string) (map[string][]byte, error)

	// BlobAt returns the blob name of the path in a commit, or "" if the commit lacks the
	// path.
	BlobAt(ctx context.Context, commit, file string) (string, error)

	// FormerNames returns the former names of a file in HEAD, newest first, and the names of the files that it was
	// copied from. The original of a copy that the copying commit did not change is found only if it is in others. If
	// git fails, FormerNames returns the names found so far and the error.
	FormerNames(ctx context.Context, file string, others []string) ([]string, error)

	// FilesChangedWith returns the files, except the given file, that commits after the given commit added
	// or changed together with the file.
	FilesChangedWith(ctx context.Context, commit, file string) ([]string, error)

	// LaterNames returns the names to which commits renamed a file that is not in HEAD, in the
	// order of the renames. was reports whether a commit ever deleted or renamed the file. The
	// names need not be in HEAD.
	LaterNames(ctx context.Context, file string) (names []string, wasInHistory bool, err error)

	// BlobsAround returns two blobs at the path: in the last commit before t that changed the path, and
	// in the first such commit at or after t. It considers only commits in HEAD's history. A blob
	// is "" if no such commit exists.
	BlobsAround(ctx context.Context, file string, t time.Time) (before, after string, err error)

	// IsSHA256 reports whether objects are named by SHA-256 instead of SHA-1.
	IsSHA256() bool
}

// Limits of the caches.
const (
	maxHistories     = 16       // number of files
	maxOldTextBytes  = 64 << 20 // total size of a file's old texts, in bytes
	maxInternedLines = 1 << 20  // number of different lines in a file and its old texts
	blobBatchSize    = 32       // number of blobs that are read at once
)

// blobHistory contains a file's old texts.
type blobHistory struct {
	mu            sync.Mutex // guards all fields below; held while the annotations of the file are resolved
	interner      *lineInterner
	mapper        diff.Mapper
	oldTexts      map[string]*oldText // by name of the blob
	missingAtHead map[string]string   // maps each blob that git did not have to the HEAD at that time
	bytes         int
}

func newBlobHistory() *blobHistory {
	return &blobHistory{
		interner:      newLineInterner(),
		oldTexts:      map[string]*oldText{},
		missingAtHead: map[string]string{},
	}
}

// internText returns an old text with the IDs of its lines.
func (l *blobHistory) internText(data []byte) *oldText {
	lines := SplitLines(data)
	return &oldText{lines, l.interner.lineIDs.LineIDs(lines)}
}

// fetchMissing reads those blobs that were not read yet. Blobs that git does not have and binary blobs are
// skipped.
func (l *blobHistory) fetchMissing(ctx context.Context, h History, head string, wanted map[string]bool) error {
	var names []string
	for n := range wanted {
		if l.isUnread(n, head) && (len(n) == 64) == h.IsSHA256() {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for some := range slices.Chunk(names, blobBatchSize) {
		blobs, err := h.ReadBlobs(ctx, some)
		if err != nil {
			return err
		}
		for _, n := range some {
			data, ok := blobs[n]
			if !ok || !isAnnotatable(data) {
				l.missingAtHead[n] = head
				continue
			}
			l.oldTexts[n] = l.internText(data)
			l.bytes += len(data)
		}
	}
	return nil
}

// isUnread reports whether a blob was not read yet, and was not missing at the same HEAD.
func (l *blobHistory) isUnread(name, head string) bool {
	asked, isMissing := l.missingAtHead[name]
	return l.oldTexts[name] == nil && (!isMissing || asked != head)
}

// recordedBlobs returns the names of the contents for which the annotations were written, except currentBlob, the
// present content.
func recordedBlobs(sidecars []*sidecar, currentBlob string) map[string]bool {
	want := map[string]bool{}
	for _, s := range sidecars {
		for _, r := range s.records {
			if r.Blob != "" && r.Blob != currentBlob {
				want[r.Blob] = true
			}
		}
	}
	return want
}
