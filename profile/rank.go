// This file ranks the entries that a profile includes by their labels and sizes, before their texts are read. It then
// reads the entries that rank highest.

package profile

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// rankedEntry is an entry with the values that determine its rank in a profile's text. The content is read later,
// because most entries are not selected.
type rankedEntry struct {
	rankTraits
	id           uint64
	entry        *oxbow.Entry // the entry (nil if it has not been read yet)
	contentBytes int          // size of the entry's content in bytes
	updateTime   time.Time
	// rank of the entry among the query's hits, starting at 1 (0 if the query did not find the entry)
	queryRank        int
	isNamedInProfile bool // the profile's file lists the entry by name
}

// rankTraits contains the contribution by an entry's labels to the entry's rank in a selection.
type rankTraits struct {
	rankClass       entryRankClass
	labelConfidence float64
}

// An entryRankClass is the first criterion by which entries are ranked. Entries with a lower value rank higher.
type entryRankClass uint8

const (
	rankClassPinned entryRankClass = iota
	rankClassProcess
	rankClassOther
	rankClassCovered
)

// rankReason returns the reason for the rank of the entry. The report contains this reason.
func (x *rankedEntry) rankReason() string {
	switch {
	case x.isNamedInProfile:
		return "named by the profile"
	case x.rankClass == rankClassPinned:
		return "pinned:true"
	case x.queryRank > 0:
		return fmt.Sprintf("found by the query, place %d", x.queryRank)
	case x.rankClass == rankClassCovered:
		return "covered:true"
	case x.rankClass == rankClassProcess:
		return "process:true"
	}
	return "last written " + x.updateTime.UTC().Format(time.DateOnly)
}

// queryRanksByID runs the query on the entries in the scope (the argument queryScope). It returns the rank of each
// entry that the query finds, by entry ID. The ranks start at 1. If the query is empty, the result is nil.
func queryRanksByID(
	ctx context.Context,
	m *oxbow.Memory,
	queryScope scope.Scope,
	query string,
) (map[uint64]int, error) {
	if strings.TrimSpace(query) == "" {
		return nil, nil
	}
	if !queryScope.IsAll() {
		m = scope.Within(m, queryScope)
		defer m.Close()
	}
	ids, err := m.RecallIDs(ctx, oxbow.Query{Text: query, Limit: oxbow.MaxLimit})
	if err != nil {
		return nil, err
	}
	hits := make(map[uint64]int, len(ids))
	for i, id := range ids {
		hits[id] = i + 1
	}
	return hits, nil
}

// rankingHeadNeeds returns which data of each entry (besides the content) must be known before a profile can
// rank the entries.
func (r *Resolved) rankingHeadNeeds(selectionScope *scope.Scope) heads.Needs {
	a := selectionScope.HeadNeeds()
	a.Keys = append(a.Keys, "kind", LabelPinned, LabelProcess, LabelCovered, oxbow.LabelConfidence)
	a.Keys = append(a.Keys, oxbow.UnaskedByLabels.HeldLabels()...)
	for _, c := range r.Includes {
		a.Names = append(a.Names, c.Entries...)
	}
	return a
}

// rankingInput contains the parameters by which a selection chooses and ranks entries.
type rankingInput struct {
	profileScope *scope.Scope
	*Request
	queryRanksByID map[uint64]int // ranks of the entries that the query finds, by ID

	// reports whether a text repeats texts that others wrote (see [Set.Repeats])
	repeatsForeignText func(text string) bool
}

// isBarredFromSelection reports whether a selection must not contain the entry.
func (o *rankingInput) isBarredFromSelection(e *oxbow.Entry) bool {
	return !e.MayShow(oxbow.Unasked) || (o.repeatsForeignText != nil && o.repeatsForeignText(e.Name+"\n"+e.Content))
}

// selectedEntryParts contains the entries for a selection, before the budget is applied.
type selectedEntryParts struct {
	selectedCount int // number of entries that the profile selects
	textParts     []prompt.Part
	// number of entries that ranked too low to be formatted as text before the budget was used up, and their total
	// token count
	omittedCount, omittedTokens int
}

// chooseEntries returns the entries that rank highest, in the form of text parts. It formats entries until the parts
// have more than tokenBudget tokens. The result also counts the entries that the profile selects and the entries that
// were not formatted.
func (r *Resolved) chooseEntries(
	ctx context.Context,
	s oxbow.Store,
	input *rankingInput,
	tokenBudget int,
) (c selectedEntryParts, err error) {
	needs := r.rankingHeadNeeds(input.profileScope)
	if !dependsOnTimes(input.profileScope) {
		ok, err := heads.ViewTable(ctx, s, needs, func(t *oxbow.HeadTable) error {
			best, sum, err := r.rankTableEntries(t, input, tokenBudget)
			if err == nil {
				c, err = readBestEntries(best, sum, t.Read, input, tokenBudget)
			}
			return err
		})
		if ok {
			return c, err
		}
	}
	err = heads.View(ctx, s, needs, func(all heads.List) error {
		best, sum, err := r.rankEntries(all, input, tokenBudget)
		if err == nil {
			c, err = readBestEntries(best, sum, all.Read, input, tokenBudget)
		}
		return err
	})
	return c, err
}

// dependsOnTimes reports whether an entry's creation time decides whether the entry is in the scope.
func dependsOnTimes(s *scope.Scope) bool {
	return slices.ContainsFunc(slices.Concat(s.Any, s.Shared, s.Except), func(f oxbow.Filter) bool {
		return !f.After.IsZero() || !f.Before.IsZero()
	})
}

// readBestEntries reads those entries in the list best that have not been read yet, and formats them for the text of
// the profile. An entry is left out if its author or content does not allow oxbow to show the entry without a request.
// The argument totals counts all entries that the profile includes. readBestEntries stops after the first entry with
// which the formatted text has more than tokenBudget tokens.
func readBestEntries(
	best []rankedEntry,
	totals includedEntryTotals,
	readEntries func(ids []uint64) ([]*oxbow.Entry, error),
	input *rankingInput,
	tokenBudget int,
) (selectedParts selectedEntryParts, err error) {
	var ids []uint64 // IDs of the entries whose texts are needed for the selection and were not read yet
	for i := range best {
		if best[i].entry == nil {
			ids = append(ids, best[i].id)
		}
	}
	read, err := readEntries(ids)
	if err != nil {
		return selectedParts, err
	}
	selectedParts.selectedCount = totals.entryCount
	selectedParts.omittedCount = totals.entryCount
	selectedParts.omittedTokens = totals.tokenCount
	tried := 0
	// The entries in the list best were ranked before their authors and contents were known. Now that the entries have
	// been read, leave out each entry that must not be shown.
	held := func(x rankedEntry) bool {
		if !input.isBarredFromSelection(x.entry) {
			return false
		}
		selectedParts.selectedCount--
		selectedParts.omittedCount--
		selectedParts.omittedTokens -= x.contentBytes / 4
		return true
	}
	for i := range best {
		if best[i].entry == nil {
			best[i].entry, read = read[0], read[1:]
		}
	}
	for _, x := range omitSummarizedEntries(slices.DeleteFunc(best, held)) {
		if tried > tokenBudget {
			break
		}
		shown := input.profileScope.Shown(*x.entry)
		p := formatEntryPart(&shown, x.rankReason())
		tried += len(p.Text) / 4
		selectedParts.textParts = append(selectedParts.textParts, p)
		selectedParts.omittedCount, selectedParts.omittedTokens = selectedParts.omittedCount-1,
			selectedParts.omittedTokens-x.contentBytes/4
	}
	return selectedParts, nil
}

// includedEntryTotals contains how many entries a profile includes, and their total number of tokens.
type includedEntryTotals struct{ entryCount, tokenCount int }

// addEntry adds an entry to the totals. The argument contentBytes is the length of the entry's content in bytes.
func (s *includedEntryTotals) addEntry(contentBytes int) {
	s.entryCount++
	s.tokenCount += contentBytes / 4
}

// rankEntries returns the highest-ranking entries that the profile includes, with the best entry first. It returns only
// as many entries as are necessary to exceed tokenBudget, a number of tokens. The second result, totals, contains the
// number of all entries that the profile includes, and their total number of tokens.
func (r *Resolved) rankEntries(
	all heads.List,
	input *rankingInput,
	tokenBudget int,
) (ranked []rankedEntry, totals includedEntryTotals, err error) {
	named := map[string]bool{}
	for _, c := range r.Includes {
		for _, n := range c.Entries {
			named[n] = true
		}
	}
	best := bestEntries{tokenBudget: tokenBudget}
	for h, err := range all.All {
		if err != nil {
			return nil, totals, err
		}
		e := h.Entry
		if !r.isSelectable(e, input) {
			continue
		}
		totals.addEntry(h.Size)
		x := rankedEntry{
			rankTraits:       rankTraitsFromLabels(e),
			id:               e.ID,
			contentBytes:     h.Size,
			updateTime:       e.Updated,
			queryRank:        input.queryRanksByID[e.ID],
			isNamedInProfile: named[e.Name],
		}
		if x.isNamedInProfile {
			x.rankClass = rankClassPinned
		}
		if h.Whole {
			x.entry = e
		}
		best.add(x)
	}
	return best.sortedByRank(), totals, nil
}

// isSelectable reports whether a selection may contain the entry e. e may be a head, which is an entry without its
// content and author. The caller must check these parts after it has read the whole entry.
func (r *Resolved) isSelectable(e *oxbow.Entry, input *rankingInput) bool {
	return input.profileScope.Sees(e) && !r.isTextOmitted(e)
}

// bestEntries collects the highest-ranking entries. The estimated number of tokens in their contents must exceed
// tokenBudget, and bestEntries keeps only as many entries as are necessary for this.
type bestEntries struct {
	heap         rankHeap
	contentBytes int // total size of the contents of all entries in the heap, in bytes
	tokenBudget  int
}

// add adds the entry x, and returns true. If x ranks too low, add returns false and does not add the entry. All entries
// that rank lower than x would be refused too. If the added entries exceed the token budget, add removes the entries
// with the lowest rank.
func (b *bestEntries) add(x rankedEntry) bool {
	if b.ranksTooLow(&x) {
		return false
	}
	heap.Push(&b.heap, x)
	for b.contentBytes += x.contentBytes; (b.contentBytes-b.heap[0].contentBytes)/4 > b.tokenBudget; {
		b.contentBytes -= heap.Pop(&b.heap).(rankedEntry).contentBytes
	}
	return true
}

// ranksTooLow reports whether the function add would not keep the entry x. This is the case if the entries in b already
// fill the budget, and each of them ranks higher than x.
func (b *bestEntries) ranksTooLow(x *rankedEntry) bool {
	return b.contentBytes/4 > b.tokenBudget && compareByRank(x, &b.heap[0]) > 0
}

// sortedByRank returns the entries in b, the best first. It sorts b.heap in place, so the caller must not add entries
// to b afterwards.
func (b *bestEntries) sortedByRank() []rankedEntry {
	slices.SortFunc(b.heap, func(a, b rankedEntry) int { return compareByRank(&a, &b) })
	return b.heap
}

// rankTraitsFromLabels returns the contribution by an entry's labels to the entry's rank. It is for entries that the
// profile does not list by name.
func rankTraitsFromLabels(e *oxbow.Entry) rankTraits {
	t := rankTraits{rankClassOther, entryConfidence(e)}
	switch {
	case isLabelTrue(e, LabelPinned):
		t.rankClass = rankClassPinned
	case isLabelTrue(e, LabelCovered):
		t.rankClass = rankClassCovered
	case isLabelTrue(e, LabelProcess):
		t.rankClass = rankClassProcess
	}
	return t
}

// rankHeap is a heap of entries. The lowest-ranking entry is at the top.
type rankHeap []rankedEntry

func (r rankHeap) Len() int           { return len(r) }
func (r rankHeap) Less(i, j int) bool { return compareByRank(&r[i], &r[j]) > 0 }
func (r rankHeap) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }

func (r *rankHeap) Push(x any) { *r = append(*r, x.(rankedEntry)) }

func (r *rankHeap) Pop() any {
	last := len(*r) - 1
	x := (*r)[last]
	*r = (*r)[:last]
	return x
}

func compareByRank(a, b *rankedEntry) int {
	if p := cmp.Compare(min(a.rankClass, 1), min(b.rankClass, 1)); p != 0 {
		return p // Pinned entries come before all other entries.
	}
	hasHit := a.queryRank > 0 || b.queryRank > 0
	if a.rankClass != rankClassPinned && hasHit {
		switch {
		case a.queryRank == 0:
			return 1
		case b.queryRank == 0:
			return -1
		}
		return cmp.Compare(a.queryRank, b.queryRank)
	}
	return cmp.Or(cmp.Compare(a.rankClass, b.rankClass), cmp.Compare(dayNumber(b.updateTime), dayNumber(a.updateTime)),
		cmp.Compare(b.labelConfidence, a.labelConfidence), b.updateTime.Compare(a.updateTime), cmp.Compare(b.id, a.id))
}

func dayNumber(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }

// entryConfidence returns the confidence of an entry. The confidence of an entry without a confidence label is 0.5.
func entryConfidence(e *oxbow.Entry) float64 {
	if f, ok := e.Confidence(); ok {
		return f
	}
	return 0.5
}

func isLabelTrue(e *oxbow.Entry, key string) bool {
	return slices.Contains(e.Labels, oxbow.Label{Key: key, Value: "true"})
}
