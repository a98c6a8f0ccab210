// This file computes an entry's state as if some of its versions had never been written. It
// repeats all changes that are not reverted, for each part of the entry separately.

package revert

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

// replay is an entry's state while its changes are repeated.
type replay struct {
	now *oxbow.Entry // the entry without the reverted versions (nil if it would not exist)
	// Contents of reverted versions, each with the entry that would have been there instead.
	bad   map[string]*oxbow.Entry
	good  map[string]bool // contents of versions that are not reverted
	took  []uint64        // numbers of the reverted versions
	later []*node         // other versions after the first reverted version
}

// replayWithout repeats an entry's changes except the reverted changes.
func replayWithout(before *oxbow.Entry, nodes []*node, sel *Selection) *replay {
	r := &replay{now: before, bad: map[string]*oxbow.Entry{}, good: map[string]bool{}}
	if before != nil {
		r.good[before.Content] = true
	}
	for _, n := range nodes {
		content := n.Entry.Content
		switch {
		case n.undone:
			continue
		case n.isToRevert(sel):
			r.took = append(r.took, n.Seq)
			if n.Verb != oxbow.VerbRemove && !r.knowsContent(content) {
				r.bad[content] = r.now
			}
			continue
		case n.Verb == oxbow.VerbRemove:
			r.now = nil
		default:
			r.now = r.repeatChange(n)
			if !n.isRestore() {
				r.good[content] = true
				delete(r.bad, content)
			}
		}
		if len(r.took) > 0 {
			r.later = append(r.later, n)
		}
	}
	return r
}

// knowsContent reports whether an earlier version of the entry had the content.
func (r *replay) knowsContent(content string) bool {
	_, isBad := r.bad[content]
	return isBad || r.good[content]
}

// repeatChange repeats a version's change, for only those parts that the version changed. If the
// version restores a reverted content, repeatChange uses the content that would have been there
// instead. It returns nil if the entry would be empty.
func (r *replay) repeatChange(n *node) *oxbow.Entry {
	old := oxbow.Entry{}
	if n.prev != nil {
		old = *n.prev
	}
	e := oxbow.Entry{Name: n.Entry.Name, Kind: n.Entry.Kind, Created: n.Entry.Created}
	if r.now != nil {
		e = r.now.Clone()
	}
	if content, ok := r.contentAfter(n, old.Content); ok {
		e.Content = content
	} else {
		return nil
	}
	e.Aliases, e.Labels = threeway.MergeWords(&old, &n.Entry, &e)
	if addOperation(&e).Check() != nil { // there are too many labels, so keep the version's own
		e.Aliases, e.Labels = n.Entry.Aliases, n.Entry.Labels
	}
	return &e
}

// contentAfter returns the content after the version. ok is false if the entry would not exist.
func (r *replay) contentAfter(n *node, old string) (content string, ok bool) {
	content = n.Entry.Content
	if n.prev != nil && content == old {
		if r.now == nil {
			return "", false
		}
		return r.now.Content, true
	}
	if n.isRestore() {
		was, ok := r.bad[content]
		if !ok {
			return content, true
		}
		if was == nil {
			return "", false
		}
		return was.Content, true
	}
	if n.prev == nil || r.now == nil {
		return content, true
	}
	if merged, ok := diff.MergeLines(old, content, r.now.Content); ok && merged != "" {
		return merged, true
	}
	return content, true
}

// addOperation returns the operation that adds the entry.
func addOperation(e *oxbow.Entry) oxbow.Add {
	return oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels,
		Created: e.Created}
}

// editOps returns the operations that change the entry from into to. Either may be nil, for an entry
// that does not exist. The operations require the version of from. It returns nil if nothing
// differs.
func editOps(from, to *oxbow.Entry) []oxbow.Op {
	switch {
	case from == nil && to == nil:
		return nil
	case from == nil:
		return []oxbow.Op{addOperation(to)}
	case to == nil:
		return []oxbow.Op{oxbow.Remove{Name: from.Name, If: from.Version}}
	case from.Kind != to.Kind:
		return []oxbow.Op{oxbow.Remove{Name: from.Name, If: from.Version}, addOperation(to)}
	case from.Content == to.Content && slices.Equal(from.Aliases, to.Aliases) && slices.Equal(from.Labels, to.Labels):
		return nil
	}
	return []oxbow.Op{
		oxbow.Update{Name: from.Name, Content: to.Content, Aliases: to.Aliases, Labels: to.Labels, If: from.Version},
	}
}

// isLost reports whether the text of the version before n was redacted.
func isLost(ctx context.Context, h oxbow.Historian, n *node) (bool, error) {
	if n.Prev == 0 {
		return false, nil
	}
	if n.prev != nil && n.prev.Version == n.Prev {
		return false, nil // the previous version could be read
	}
	for v, err := range h.Versions(ctx, n.Entry.Name) {
		if err != nil {
			return false, err
		}
		if v.Seq == n.Prev {
			return v.Erased, nil
		}
	}
	return false, nil
}
