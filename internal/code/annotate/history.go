// This file declares how the store reads git's history, and caches old versions of files.

package annotate

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// GitHistory gives access to the git history of a working tree. Its methods are safe for concurrent
// use.
type GitHistory interface {
	// HeadCommit returns the commit of HEAD in hex, or "" before the first commit.
	HeadCommit(ctx context.Context) (string, error)

	// ReadBlobs returns the contents of blobs, by name. Only names of existing blobs are included.
	ReadBlobs(ctx context.Context, names []string) (map[string][]byte, error)

	// BlobAt returns the blob name of the path in a commit, or "" if the commit lacks the
	// path.
	BlobAt(ctx context.Context, commit, file string) (string, error)

	// FormerNames returns the former names of a file in HEAD, newest first. It also returns the names of the files from
	// which this file was copied. If a commit copied a file without changing the original, git finds the original only
	// if the list others contains the original's name. If git fails, FormerNames returns the names found so far and the
	// error.
	FormerNames(ctx context.Context, file string, others []string) ([]string, error)

	// FilesChangedWith returns the files, except the given file, that commits after the given commit added
	// or changed together with the file.
	FilesChangedWith(ctx context.Context, commit, file string) ([]string, error)

	// LaterNames returns the names to which commits renamed a file that is not in HEAD, in the order of the renames.
	// The names need not exist in HEAD. wasInHistory reports whether a commit deleted or renamed the file, which shows
	// that the file existed in the history.
	LaterNames(ctx context.Context, file string) (names []string, wasInHistory bool, err error)

	// BlobsAroundTime returns two blobs of a file: before is from the last commit at or before t that changed the file,
	// and after is from the first such commit at or after t. Only commits in HEAD's history count. A blob is "" if no
	// such commit exists.
	BlobsAroundTime(ctx context.Context, file string, t time.Time) (before, after string, err error)

	// IsSHA256 reports whether git names objects by SHA-256 instead of SHA-1.
	IsSHA256() bool
}

// Limits of the store's caches.
const (
	maxCachedHistories  = 16       // maximum number of files whose old versions are cached
	maxOldFileTextBytes = 64 << 20 // maximum total size, in bytes, of a file's old versions
	maxInternedLines    = 1 << 20  // maximum number of different lines in a file and its old versions
	blobBatchSize       = 32       // number of blobs that one git call reads
)

// oldVersionCache caches the old versions of one file.
type oldVersionCache struct {
	mu           sync.Mutex // guards the fields below; held while the file's annotations are searched
	numberer     *lineAndWordNumberer
	mapper       diff.LineMapper
	oldFileTexts map[string]*oldFileText // old versions, by blob name
	// blobs that git does not have; the value is the commit that was HEAD when git was asked for the blob
	missingAtHead map[string]string
	cachedBytes   int
}

func newOldVersionCache() *oldVersionCache {
	return &oldVersionCache{
		numberer:      newLineAndWordNumberer(),
		oldFileTexts:  map[string]*oldFileText{},
		missingAtHead: map[string]string{},
	}
}

// internText splits an old version of a file into lines and assigns an ID to each line. Equal lines get the same ID.
func (l *oldVersionCache) internText(data []byte) *oldFileText {
	lines := SplitLines(data)
	return &oldFileText{lines, l.numberer.lineIDs.LineIDs(lines)}
}

// fetchUncachedBlobs reads those of the wanted blobs from git that are not cached yet, and caches their texts. A blob
// that git does not have, or that is binary or too long, is recorded as missing. The argument head is the commit of
// HEAD. After HEAD has changed, fetchUncachedBlobs asks again for missing blobs.
func (l *oldVersionCache) fetchUncachedBlobs(
	ctx context.Context,
	h GitHistory,
	head string,
	blobNames map[string]bool,
) error {
	var names []string
	for n := range blobNames {
		if l.isBlobUnread(n, head) && (len(n) == 64) == h.IsSHA256() {
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
			l.oldFileTexts[n] = l.internText(data)
			l.cachedBytes += len(data)
		}
	}
	return nil
}

// isBlobUnread reports whether a blob must be read from git. The result is false if the text of the blob is cached, or
// if git was already asked for the blob when HEAD was headCommit and did not have it.
func (l *oldVersionCache) isBlobUnread(name, headCommit string) bool {
	asked, isMissing := l.missingAtHead[name]
	return l.oldFileTexts[name] == nil && (!isMissing || asked != headCommit)
}

// collectBlobNames returns the blob names of the file contents for which the annotations were written. It leaves out
// currentBlob, which names the present content.
func collectBlobNames(sidecars []*sidecar, currentBlob string) map[string]bool {
	want := map[string]bool{}
	for _, s := range sidecars {
		for _, r := range s.records {
			if r.FileBlobName != "" && r.FileBlobName != currentBlob {
				want[r.FileBlobName] = true
			}
		}
	}
	return want
}
