// This file makes the verb "recall", which searches the memory, rank entries by vectors as well as by words.

package verb

import (
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/vectors"
)

// VectorSuffix is the suffix of the file that contains vectors. It is next to the store.
const VectorSuffix = ".vec"

// Vectors contains the vectors for the entries of a workspace's memory.
type Vectors struct {
	*vectors.Index
	Model, Endpoint string
	MaxEndpointWait time.Duration // maximum time for which a recall waits for the endpoint
	Saved           bool          // vectors are stored in a file, so that "oxbow embed" can compute them in advance
}

// addVectorRanking sets q.Second, so that the query q ranks hits by vectors as well as by words. The caller must call
// the returned function after the query. The returned function returns notes about entries without vectors. If v is
// nil, or if the query asks for an earlier state of the memory, addVectorRanking does not change the query, and the
// returned function returns no notes. Earlier states are ranked only by words.
func (v *Vectors) addVectorRanking(q *oxbow.Query) func() []Note {
	if v == nil || q.AsOf != 0 {
		return func() []Note { return nil }
	}
	by := v.Query(v.MaxEndpointWait)
	q.Second = by
	return func() []Note { return v.missingVectorNotes(by) }
}

// missingVectorNotes returns notes about a ranking that lacked vectors. One note contains query.RankingErr, the reason
// why the ranking used only words. Another note says how many entries lack a vector and were therefore ranked by words
// alone.
func (v *Vectors) missingVectorNotes(query *vectors.Query) (notes []Note) {
	if query.RankingErr != nil {
		notes = append(notes, Notef("ranked by words, as vectors are lacking: %v", query.RankingErr))
	}
	if n := query.EntriesWithoutVector; n > 0 {
		remedy := "oxbow embed makes them"
		if !v.Saved {
			remedy = "each search makes more of them"
		}
		notes = append(
			notes,
			Notef(
				"%s no vector yet and ranked by words alone; %s",
				map[bool]string{true: "1 entry has", false: strconv.Itoa(n) + " entries have"}[n == 1],
				remedy,
			),
		)
	}
	return notes
}
