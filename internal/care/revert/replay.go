// What an entry would be without some of its versions: the changes of the others are
// made again, part by part.

package revert

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// replay is one name, from before its first version that is taken back.
type replay struct {
	now   *oxbow.Entry            // what it would be; nil for none
	bad   map[string]*oxbow.Entry // contents of versions that are taken back, and what it would have been then
	good  map[string]bool         // contents of the others
	took  []uint64                // versions that are taken back
	later []*node                 // those of others after the first of these
}

// without makes the changes of one name again, but those that are taken back.
func without(before *oxbow.Entry, nodes []*node, sel *Selection) *replay {
	r := &replay{now: before, bad: map[string]*oxbow.Entry{}, good: map[string]bool{}}
	if before != nil {
		r.good[before.Content] = true
	}
	for _, n := range nodes {
		content := n.Entry.Content
		switch {
		case n.undone:
			continue
		case n.out(sel):
			r.took = append(r.took, n.Seq)
			if _, ok := r.bad[content]; n.Verb != oxbow.VerbRemove && !ok && !r.good[content] {
				r.bad[content] = r.now
			}
			continue
		case n.Verb == oxbow.VerbRemove:
			r.now = nil
		default:
			r.now = r.follow(n)
			if !n.restores() {
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

// follow makes the change of a version again: the parts that it changed, and no
// other. Where it puts back a content that is taken back, what was there instead
// comes back. An entry without a content is none.
func (r *replay) follow(n *node) *oxbow.Entry {
	old := oxbow.Entry{}
	if n.prev != nil {
		old = *n.prev
	}
	e := oxbow.Entry{Name: n.Entry.Name, Kind: n.Entry.Kind, Created: n.Entry.Created}
	if r.now != nil {
		e = r.now.Clone()
	}
	if content, ok := r.content(n, old.Content); ok {
		e.Content = content
	} else {
		return nil
	}
	e.Aliases = apply(e.Aliases, old.Aliases, n.Entry.Aliases)
	e.Labels = oxbow.SortLabels(oneConfidence(apply(e.Labels, old.Labels, n.Entry.Labels), n.Entry.Labels))
	if addOf(&e).Check() != nil { // too many labels: what others wrote stays as it is
		e.Aliases, e.Labels = n.Entry.Aliases, n.Entry.Labels
	}
	return &e
}

// content returns what the content is after the version, if there is one.
func (r *replay) content(n *node, old string) (content string, ok bool) {
	content = n.Entry.Content
	if n.prev != nil && content == old {
		if r.now == nil {
			return "", false
		}
		return r.now.Content, true
	}
	if n.restores() {
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
	if merged, ok := diff.Lines(old, content, r.now.Content); ok && merged != "" {
		return merged, true
	}
	return content, true
}

// apply makes to list the change from old to new.
func apply[T comparable](list, old, new []T) []T {
	if slices.Equal(list, old) {
		return slices.Clone(new)
	}
	list = slices.DeleteFunc(slices.Clone(list), func(x T) bool { return slices.Contains(old, x) && !slices.Contains(new, x) })
	for _, x := range new {
		if !slices.Contains(old, x) && !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// oneConfidence drops all confidences but the newest.
func oneConfidence(labels, newest []oxbow.Label) []oxbow.Label {
	is := func(l oxbow.Label) bool { return l.Key == oxbow.LabelConfidence }
	i := slices.IndexFunc(newest, is)
	if i < 0 {
		return labels
	}
	return slices.DeleteFunc(labels, func(l oxbow.Label) bool { return is(l) && l != newest[i] })
}

// addOf returns the change that makes an entry.
func addOf(e *oxbow.Entry) oxbow.Add {
	return oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels, Created: e.Created}
}

// ops returns the changes from one state of an entry to another, either of which may
// be none; no changes where nothing differs. They hold for the version that is there.
func ops(from, to *oxbow.Entry) []oxbow.Op {
	switch {
	case from == nil && to == nil:
		return nil
	case from == nil:
		return []oxbow.Op{addOf(to)}
	case to == nil:
		return []oxbow.Op{oxbow.Remove{Name: from.Name, If: from.Version}}
	case from.Kind != to.Kind:
		return []oxbow.Op{oxbow.Remove{Name: from.Name, If: from.Version}, addOf(to)}
	case from.Content == to.Content && slices.Equal(from.Aliases, to.Aliases) && slices.Equal(from.Labels, to.Labels):
		return nil
	}
	return []oxbow.Op{oxbow.Update{Name: from.Name, Content: to.Content, Aliases: to.Aliases, Labels: to.Labels, If: from.Version}}
}

// isLost reports whether the version before the node is one whose text was redacted.
func isLost(ctx context.Context, h oxbow.Historian, n *node) (bool, error) {
	if n.Prev == 0 || (n.prev != nil && n.prev.Version == n.Prev) {
		return false, nil
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
