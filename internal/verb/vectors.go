// Vectors, by which recall ranks next to the words.

package verb

import (
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/vectors"
)

// VectorSuffix ends the name of the file of vectors next to the store.
const VectorSuffix = ".vec"

// Vectors are the vectors of a workspace's memory.
type Vectors struct {
	*vectors.Index
	Model, Endpoint string
	Wait            time.Duration // the most that a recall waits for the endpoint
	Saved           bool          // in a file: oxbow embed makes vectors for later runs
}

// second makes the query rank by vectors, too, if there are any, and returns the
// function that says what they lacked. What was is ranked by words alone.
func (v *Vectors) second(q *oxbow.Query) func() []Note {
	if v == nil || q.AsOf != 0 {
		return func() []Note { return nil }
	}
	by := v.Query(v.Wait)
	q.Second = by
	return func() []Note { return v.notes(by) }
}

// notes says what a ranking by vectors lacked.
func (v *Vectors) notes(by *vectors.Query) (notes []Note) {
	if by.Err != nil {
		notes = append(notes, Notef("ranked by words, as vectors are lacking: %v", by.Err))
	}
	if n := by.Missing; n > 0 {
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
