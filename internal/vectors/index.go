// Package vectors ranks the entries of a memory by vectors, in addition to the ranking by words. The vectors come from
// an embedding endpoint that the user runs or pays for. The texts of entries and queries are sent only to that
// endpoint.
package vectors

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// DefaultQueryTimeout is the maximum time for which a query waits for the endpoint that computes vectors. In this time,
// the endpoint computes the vector of the query and the missing vectors of new entries.
const DefaultQueryTimeout = 2 * time.Second

// textsPerRequest is the number of entries whose texts are sent in one request.
const textsPerRequest = 16

// Index contains a vector for each entry of a memory. It is safe for concurrent use.
type Index struct {
	client *Client
	file   vectorFile

	lockChan   chan struct{} // a mutex for client, file and rows: it is locked while the channel contains a value
	rows       map[uint64]storedVector
	isFileRead bool // the file with the stored vectors has been read
}

// storedVector is the vector of one entry version. Its elements are rounded to one byte each.
type storedVector struct {
	entryVersion uint64
	textHash     [16]byte // hash of the text from which the vector was computed
	// factor by which each element of numbers must be multiplied to get the element of the vector
	numberScale    float32
	roundedNumbers []int8
}

// New returns an index of vectors from the client c. The index is stored in the file with this name in fsys. New does
// not read the file. If fsys is nil, the index is not stored.
func New(c *Client, fsys vfs.FS, name string) *Index {
	return &Index{client: c, file: vectorFile{fsys: fsys, name: name, key: hashText(c.endpoint + "\n" +
		c.Model)}, lockChan: make(chan struct{}, 1), rows: map[uint64]storedVector{}}
}

// lock locks the index. The first call also reads the rows in the index file. lock returns an error if ctx is done
// before the index is locked.
func (x *Index) lock(ctx context.Context) error {
	select {
	case x.lockChan <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !x.isFileRead {
		x.file.readRows(x.rows)
		x.isFileRead = true
	}
	return nil
}

func (x *Index) unlock() { <-x.lockChan }

// Query is an [oxbow.Ranker] for a single recall.
type Query struct {
	RankingErr           error // why the ranking is missing or incomplete, or nil
	EntriesWithoutVector int   // number of entries that could not be ranked, because they lack a vector

	index   *Index
	timeout time.Duration
}

// Query returns an object that ranks entries for one recall. The argument wait is the maximum time for which the
// ranking waits for the server that computes vectors.
func (x *Index) Query(wait time.Duration) *Query { return &Query{index: x, timeout: wait} }

// Rank implements [oxbow.Ranker]. Before it ranks, it computes missing vectors until the query's timeout, beginning
// with the newest entries.
func (q *Query) Rank(ctx context.Context, words string, limit int, all oxbow.Entries) []uint64 {
	ctx, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	x := q.index
	if err := x.lock(ctx); err != nil {
		q.RankingErr = fmt.Errorf("waiting for the vectors of another query: %w", err)
		return nil
	}
	defer x.unlock()
	x.client.MaxAttempts = 1
	defer func() { x.client.MaxAttempts = 0 }()
	entries, err := x.client.Vectors(ctx, []string{words})
	if err != nil {
		q.RankingErr = err
		if ctx.Err() != nil {
			q.RankingErr = fmt.Errorf("%s did not answer within %v", x.client.endpoint, q.timeout)
		}
		return nil
	}
	ids, versions := all.Versions()
	none := x.findEntriesWithoutVector(ids, versions, all)
	count, err := x.computeAndStoreVectors(ctx, none, nil)
	q.EntriesWithoutVector = len(none) - count
	if ctx.Err() == nil {
		// If not all missing vectors could be computed, report the error and rank with the vectors that exist.
		q.RankingErr = err
	}
	return x.rankNearest(entries[0], ids, versions, limit, all)
}

// A Report says how many vectors Fill has computed.
type Report struct {
	ComputedVectors int // number of vectors that were computed or, in a dry run, would be computed
	ExistingVectors int // number of entries that already had a vector
	TextBytes       int // size in bytes of the texts that were sent or, in a dry run, would be sent
}

// ComputeMissingVectors computes all missing vectors, and removes the vectors of deleted entries. The argument all must
// contain all entries of the memory. If the argument isDryRun is true, ComputeMissingVectors changes nothing, and
// returns how many vectors it would compute.
func (x *Index) ComputeMissingVectors(
	ctx context.Context,
	all oxbow.Entries,
	isDryRun bool,
	progress func(done, of int),
) (r Report, err error) {
	if err := x.lock(ctx); err != nil {
		return r, err
	}
	defer x.unlock()
	ids, versions := all.Versions()
	none := x.findEntriesWithoutVector(ids, versions, all)
	r.ExistingVectors = len(ids) - len(none)
	for _, m := range none {
		r.TextBytes += min(len(m.text), cmp.Or(x.client.MaxTextBytes, defaultMaxTextBytes))
	}
	if isDryRun {
		r.ComputedVectors = len(none)
		return r, nil
	}
	had := len(x.rows)
	maps.DeleteFunc(x.rows, func(id uint64, _ storedVector) bool {
		_, ok := slices.BinarySearch(ids, id)
		return !ok
	})
	if had > len(x.rows) {
		x.file.size = 0
	}
	r.ComputedVectors, err = x.computeAndStoreVectors(ctx, none, progress)
	return r, err
}

// entryWithoutVector is an entry whose present version lacks a vector.
type entryWithoutVector struct {
	id   uint64
	row  storedVector // row of the index for the entry; the vector is added to this row when it has been computed
	text string
}

// findEntriesWithoutVector returns the entries that need a new vector, the newest first. An entry does not need one if
// the index has a vector of the same text, for another version or another entry. This vector is then used for the
// entry.
func (x *Index) findEntriesWithoutVector(ids, versions []uint64, all oxbow.Entries) []entryWithoutVector {
	var none []entryWithoutVector
	var byHash map[[16]byte]storedVector
	for i, id := range ids {
		if have, ok := x.versionRow(id, versions[i]); ok && x.hasCurrentVectorLength(have) {
			continue
		}
		e := all.Entry(id)
		if e == nil {
			continue
		}
		m := entryWithoutVector{id: id, text: entryText(e)}
		m.row.entryVersion, m.row.textHash = versions[i], hashText(m.text)
		if byHash == nil {
			byHash = make(map[[16]byte]storedVector, len(x.rows))
			for _, r := range x.rows {
				byHash[r.textHash] = r
			}
		}
		if isSame, ok := byHash[m.row.textHash]; ok && x.hasCurrentVectorLength(isSame) {
			m.row.numberScale, m.row.roundedNumbers = isSame.numberScale, isSame.roundedNumbers
			x.rows[id] = m.row
			x.file.addRow(id, m.row)
			continue
		}
		none = append(none, m)
	}
	slices.SortStableFunc(
		none,
		func(a, b entryWithoutVector) int { return cmp.Compare(b.row.entryVersion, a.row.entryVersion) },
	)
	return none
}

// versionRow returns the row of the entry with this ID. ok is false if the index has no row for the given version of
// the entry.
func (x *Index) versionRow(id, version uint64) (r storedVector, ok bool) {
	r, ok = x.rows[id]
	return r, ok && r.entryVersion == version
}

// hasCurrentVectorLength reports whether a stored vector has as many elements as the vectors that the endpoint returns
// now. If this number is still unknown (x.client.dimension is 0), the result is true.
func (x *Index) hasCurrentVectorLength(r storedVector) bool {
	return x.client.dimension == 0 || len(r.roundedNumbers) == x.client.dimension
}

// computeAndStoreVectors computes the vectors of the missing entries, and stores them in the index and its file. It
// stops when ctx is done, and the vectors that were computed until then are kept. count is the number of computed
// vectors.
func (x *Index) computeAndStoreVectors(
	ctx context.Context,
	missing []entryWithoutVector,
	progress func(done, of int),
) (count int,
	err error) {
	for part := range slices.Chunk(missing, textsPerRequest) {
		texts := make([]string, len(part))
		for i, m := range part {
			texts[i] = m.text
		}
		vs, err := x.client.Vectors(ctx, texts)
		if err != nil {
			return count, errors.Join(err, x.file.writeRows(x.rows))
		}
		for i, m := range part {
			m.row.setQuantizedVector(vs[i])
			x.rows[m.id] = m.row
			x.file.addRow(m.id, m.row)
		}
		count += len(part)
		if progress != nil {
			progress(count, len(missing))
		}
	}
	return count, x.file.writeRows(x.rows)
}

// rankNearest returns the IDs of at most limit entries whose vectors are most similar to v, the most similar first. ids
// and versions contain the ID and the version of each candidate. The similarity is the cosine of the angle between the
// vectors. Among equally similar entries, the newer entry comes first. A candidate is left out in these cases:
//   - The index has no vector for its version.
//   - The cosine is not positive.
//   - The set allowedEntries does not accept its ID.
func (x *Index) rankNearest(v []float32, ids, versions []uint64, limit int, allowedEntries oxbow.Entries) []uint64 {
	type near struct {
		id, version uint64
		cosine      float32
	}
	var ns []near
	for i, id := range ids {
		if r, ok := x.versionRow(id, versions[i]); ok && len(r.roundedNumbers) == len(v) {
			ns = append(ns, near{id, r.entryVersion, r.dotProduct(v)})
		}
	}
	slices.SortFunc(ns, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(b.version, a.version), cmp.Compare(a.id, b.id))
	})
	found := make([]uint64, 0, limit)
	for _, n := range ns {
		if len(found) == limit {
			break
		}
		if n.cosine > 0 && allowedEntries.Accepts(n.id) {
			found = append(found, n.id)
		}
	}
	return found
}

// setQuantizedVector sets the bytes and the scale of r so that they represent v. The element with the largest absolute
// value becomes 127 or -127.
func (r *storedVector) setQuantizedVector(v []float32) {
	maxValue := float32(0)
	for _, f := range v {
		maxValue = max(maxValue, float32(math.Abs(float64(f))))
	}
	r.numberScale, r.roundedNumbers = maxValue/127, make([]int8, len(v))
	if maxValue == 0 {
		return
	}
	for i, f := range v {
		r.roundedNumbers[i] = int8(math.Round(float64(f / r.numberScale)))
	}
}

// dotProduct returns the dot product of the two vectors, which must have equally many elements.
func (r *storedVector) dotProduct(v []float32) float32 {
	sum := float32(0)
	for i, n := range r.roundedNumbers {
		sum += float32(n) * v[i]
	}
	return sum * r.numberScale
}

// entryText returns the text of an entry that is sent to the endpoint.
func entryText(e *oxbow.Entry) string { return e.Name + "\n" + e.Content }

func hashText(text string) (h [16]byte) {
	sum := sha256.Sum256([]byte(text))
	return [16]byte(sum[:16])
}
