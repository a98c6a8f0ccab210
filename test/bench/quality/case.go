// This file defines cases: entries, the questions about them, and the memory in which a case
// is tested.

package quality

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// MemoryEntry is an entry of the memory in which the questions are asked.
type MemoryEntry struct {
	Name string // name in the memory; it reveals nothing about the text
	ID   string // ID of the entry in the published data set, such as a session ID
	Text string
	Date time.Time
}

// CaseQuestion is a question with the IDs of the entries that answer it.
type CaseQuestion struct {
	Text        string
	GroupNames  []string // groups to which the question belongs
	RelevantIDs map[string]bool
	// The question counts in the scores of its groups, but not in the score for all questions, because other
	// evaluations of this data set omit it.
	IsExcludedFromTotal bool
}

// TestCase is a memory and the questions about it.
type TestCase struct {
	EntryKind string // kind of the entries: sessions, turns or abstracts
	Entries   []MemoryEntry
	Questions []CaseQuestion
}

// defaultDate is the date of entries in sets without dates.
var defaultDate = time.Date(2020, 1, 1, 12, 0, 0, 0, time.UTC)

// recalledMemory is a memory with the entries of a [TestCase], in which the questions are asked.
type recalledMemory struct {
	*oxbow.Memory
	dataSetIDByEntryName map[string]string // by name of an entry: ID of the entry in the data set from which it comes
}

// createMemory writes the entries into a new memory, each at its date. The caller must close it.
func createMemory(ctx context.Context, es []MemoryEntry, ranking string) (*recalledMemory, error) {
	var now time.Time
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem(), Ranking: ranking, Clock: func() time.Time {
		return now
	}})
	if err != nil {
		return nil, err
	}
	h := &recalledMemory{m, make(map[string]string, len(es))}
	var ops []oxbow.Op
	for i, e := range es {
		h.dataSetIDByEntryName[e.Name] = e.ID
		ops = append(ops, oxbow.Add{Name: e.Name, Kind: oxbow.Archive, Content: e.Text, Created: e.Date})
		isNextOfDate := i+1 < len(es) && es[i+1].Date.Equal(e.Date)
		if isNextOfDate && len(ops) < 1000 {
			continue
		}
		now = e.Date
		if err := m.Apply(ctx, ops...); err != nil {
			return nil, errors.Join(fmt.Errorf("remembering %s: %w", e.ID, err), m.Close())
		}
		ops = ops[:0]
	}
	return h, nil
}

// neighborTurnCount is the number of turns that are shown before and after a hit in a conversation.
const neighborTurnCount = 2

// recall asks a question. The result contains the ranking of the hits, and the IDs of the first five hits and the turns
// around them. If the function onHits is not nil, it is called with the hits.
func (h *recalledMemory) recall(
	ctx context.Context,
	query string,
	limit int,
	onHits func([]oxbow.Hit),
) (a questionQueryResult, err error) {
	hits, err := h.Recall(ctx, oxbow.Query{Text: query, Limit: limit, Around: neighborTurnCount})
	if err != nil {
		return a, err
	}
	if onHits != nil {
		onHits(hits)
	}
	for i, hit := range hits {
		a.ranking = append(a.ranking, h.dataSetIDByEntryName[hit.Entry.Name])
		for _, e := range slices.Concat(hit.Before, []oxbow.Entry{hit.Entry}, hit.After) {
			if i < 5 {
				a.shownIDs = append(a.shownIDs, h.dataSetIDByEntryName[e.Name])
			}
		}
	}
	return a, nil
}

// close checks the store and closes the memory. Rankings from a damaged store would be
// worthless.
func (h *recalledMemory) close(ctx context.Context) error {
	r, err := h.Check(ctx)
	if err == nil && len(r.Problems) > 0 {
		err = fmt.Errorf("the store that was asked is damaged: %s", r.Problems[0].What)
	}
	return errors.Join(err, h.Close())
}

// askQuestions creates a memory with the entries of c, and searches it for the words of each question. Each search
// returns at most limit hits. If onHits is not nil, it is called with the hits.
func (c *TestCase) askQuestions(
	ctx context.Context,
	ranking string,
	limit int,
	onHits func(question string, hits []oxbow.Hit),
) (found []questionQueryResult, err error) {
	h, err := createMemory(ctx, c.Entries, ranking)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close(ctx)) }()
	for _, a := range c.Questions {
		one, err := h.recall(ctx, a.Text, limit, func(hits []oxbow.Hit) {
			if onHits != nil {
				onHits(a.Text, hits)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("asking %q: %w", a.Text, err)
		}
		found = append(found, one)
	}
	return found, nil
}
