// This file implements the ranking of crabtalk's design, which is BM25 over the description and the content.

package entryfiles

import (
	"context"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// ranker is an index of a memory's entries, without their names. As in crabtalk's RFC 0038, it ignores words of one
// byte and 49 stop words. An entry that contains only such words still counts in the number of entries and in the mean
// length.
type ranker struct {
	mu      sync.Mutex // guards the fields below
	memory  *oxbow.Memory
	index   *index.Index
	entries map[uint64]oxbow.Entry
}

// search returns the entries that contain words of the query and for which isWanted returns true, at most limit, the
// best first. If the scores are equal, the newer version comes first, and then the lower ID.
func (r *ranker) search(
	ctx context.Context,
	m *oxbow.Memory,
	query string,
	limit int,
	isWanted func(*oxbow.Entry) bool,
) ([]oxbow.Entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.updateIndex(ctx, m); err != nil {
		return nil, err
	}
	var hits []oxbow.Entry
	accept := func(id uint64) bool {
		e := r.entries[id]
		return isWanted(&e)
	}
	for _, h := range r.index.Searcher().Search(index.Query{
		Terms:          index.TermsForWords(text.OldCrabtalkTerms(query)),
		Limit:          limit,
		AcceptDocument: accept,
	}) {
		hits = append(hits, r.entries[h.ID])
	}
	return hits, nil
}

// indexedEntry returns the entry with this ID, in the version that is indexed. The second result is false if the entry
// is not indexed.
func (r *ranker) indexedEntry(id uint64) (oxbow.Entry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.entries[id]
	return e, ok
}

// updateIndex brings the index up to date with the memory m. It indexes only entries that have changed since the last
// call. The caller must hold r.mu.
func (r *ranker) updateIndex(ctx context.Context, m *oxbow.Memory) error {
	if r.memory != m {
		r.memory, r.entries = m, map[uint64]oxbow.Entry{}
		r.index = index.New(index.Params{CountEmptyDocuments: true})
	}
	n := 0
	var fresh []oxbow.Entry
	there := make(map[uint64]bool, len(r.entries))
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return err
		}
		n++
		there[e.ID] = true
		old, ok := r.entries[e.ID]
		isSame := ok && old.Version == e.Version && old.Updated.Equal(e.Updated)
		if !isSame {
			fresh = append(fresh, e)
		}
	}
	var changes []index.Change
	for _, e := range fresh {
		changes = append(changes, index.Change{ID: e.ID, Document: indexedDocument(e), Old: r.documentInIndex(e.ID)})
		r.entries[e.ID] = e
	}
	if len(r.entries) > n {
		for id := range r.entries {
			if !there[id] {
				changes = append(changes, index.Change{ID: id, Old: r.documentInIndex(id)})
				delete(r.entries, id)
			}
		}
	}
	r.index.Apply(changes...)
	return nil
}

// indexedDocument returns the document to index for an entry. It contains the words of the content, but not the name.
func indexedDocument(e oxbow.Entry) *index.Document {
	d := &index.Document{ID: e.ID, Updated: e.Updated.UnixNano()}
	d.SetWords(text.OldCrabtalkTerms(e.Content))
	return d
}

// documentInIndex returns the document that is indexed for an entry, or nil if the entry is not indexed.
func (r *ranker) documentInIndex(id uint64) *index.Document {
	if e, ok := r.entries[id]; ok {
		return indexedDocument(e)
	}
	return nil
}

// noHitsReply is the answer of recall if it finds no entry.
const noHitsReply = "no memories found"

// formatHits returns the answer of the tool recall for the found entries.
func formatHits(hits []oxbow.Entry) string {
	if len(hits) == 0 {
		return noHitsReply
	}
	var b strings.Builder
	for i, e := range hits {
		if i > 0 {
			b.WriteString("\n---\n")
		}
		description, content := splitDescription(e.Content)
		b.WriteString("## " + e.Name + "\n" + verb.TrustWarning(e.Trust()) + description + "\n\n" +
			strings.TrimSpace(content))
	}
	return b.String()
}
