// Merging three versions of an entry's file by meaning, as git's merge driver.
//
// Of labels and aliases, what one side added or took away counts. The content is merged
// by line. Where both sides changed the same lines, or lines that touch, both texts stay
// in the entry, between comments, and it gets the label conflict:content. They are not
// put into two files: a driver writes one, and a second that it left next to it would be
// untracked, in no merge commit, in the way of the next merge, and not there at all when
// git merges without a working tree.
//
// The order of merges does not matter. A version is the set of its changes to the base,
// from its first line up to its last; a merge is the union of two sets, and a conflict
// shows each of its changes whole, so that the next merge finds them again. That holds as
// far as a comparison by line does: of repeated lines it may choose others.
//
// What one side deleted and the other edited git itself reports, and a person decides. A
// file that cannot be read as an entry is left to git's merge by line.

package team

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// The lines around two texts of a conflict. Markdown shows none of them.
const (
	conflictOpen  = "<!-- conflict: both texts are kept; choose what is right, and take these comments and the label conflict away -->"
	conflictOr    = "<!-- conflict: or -->"
	conflictClose = "<!-- conflict: end -->"
)

// errNested is returned for what git is to merge by line, so that a person looks at it.
var errNested = errors.New("there is a conflict in it already, which this merge touches")

// Merge returns the merge of two files that come from a base, which is "" where both were
// new. The roles of ours and theirs may be exchanged. An error says why a person, or git
// by line, must do it.
func Merge(base, ours, theirs string) (string, error) {
	if ours == theirs || theirs == base {
		return ours, nil
	}
	if ours == base {
		return theirs, nil
	}
	var o, a, b oxbow.Entry
	for _, side := range []struct {
		to         *oxbow.Entry
		what, text string
	}{{&o, "the base", base}, {&a, "our version", ours}, {&b, "their version", theirs}} {
		e, notes, err := parse(side.text)
		if side.text == "" && side.what == "the base" {
			continue
		}
		if err == nil && len(notes) > 0 {
			err = errors.New(strings.Join(notes, "; "))
		}
		if err != nil {
			return "", fmt.Errorf("merging: %s %w", side.what, err)
		}
		*side.to = e
	}
	e, err := MergeEntries(&o, &a, &b)
	if err != nil {
		return "", fmt.Errorf("merging: %w", err)
	}
	text := format(&e)
	if _, _, err := parse(text); err != nil {
		return "", fmt.Errorf("merging: the result %w", err)
	}
	return text, nil
}

func MergeEntries(o, a, b *oxbow.Entry) (e oxbow.Entry, err error) {
	conflicts := map[string]bool{}
	e.Created = earlier(a.Created, b.Created)
	aliases := slices.Concat(a.Aliases, b.Aliases)
	switch {
	case a.Name == b.Name || b.Name == o.Name:
		e.Name = a.Name
	case a.Name == o.Name:
		e.Name = b.Name
	default: // both names find it
		e.Name = min(a.Name, b.Name)
		aliases = append(aliases, a.Name, b.Name)
		conflicts["name"] = true
	}
	e.Aliases = slices.DeleteFunc(mergeSets(o.Aliases, a.Aliases, b.Aliases, aliases), func(s string) bool { return s == e.Name })
	e.Labels = oxbow.SortLabels(mergeSets(o.Labels, a.Labels, b.Labels, slices.Concat(a.Labels, b.Labels)))
	if both := slices.DeleteFunc(slices.Clone(e.Labels), func(l oxbow.Label) bool { return l.Key != "status" || slices.Contains(o.Labels, l) }); len(both) > 1 {
		conflicts["status"] = true // what only one side changed is the newer, and took the place of the base's
	}
	lines, two, err := mergeLines(linesOf(o.Content), linesOf(a.Content), linesOf(b.Content))
	if err != nil {
		return e, err
	}
	e.Content = strings.Join(lines, "\n")
	if two {
		conflicts["content"] = true
	}
	for part := range conflicts {
		e.Labels = oxbow.SortLabels(append(e.Labels, oxbow.Label{Key: conflictLabel, Value: part}))
	}
	return e, nil
}

// mergeSets returns the values of base that neither side took away, in their order, and
// then those of all that are new, sorted.
func mergeSets[T comparable](base, a, b, all []T) (out []T) {
	for _, v := range base {
		if slices.Contains(a, v) && slices.Contains(b, v) {
			out = append(out, v)
		}
	}
	old := len(out)
	for _, v := range all {
		if !slices.Contains(base, v) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out[old:], func(x, y T) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
	return out
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func linesOf(content string) []string {
	if content == "" {
		return nil
	}
	return strings.Split(content, "\n")
}

// change is what a version has in the place of lines of the base.
type change struct {
	from, to int // lines of the base
	text     []string
}

func (c change) compare(d change) int {
	if c.from != d.from {
		return c.from - d.from
	}
	if c.to != d.to {
		return c.to - d.to
	}
	return slices.Compare(c.text, d.text)
}

// mergeLines returns the lines of the base with the changes of both sides, and whether
// there are some of which both are kept.
func mergeLines(base, a, b []string) (out []string, two bool, err error) {
	ca, err := changesOf(base, a)
	if err != nil {
		return nil, false, err
	}
	cb, err := changesOf(base, b)
	if err != nil {
		return nil, false, err
	}
	all := append(ca, cb...)
	slices.SortFunc(all, change.compare)
	all = slices.CompactFunc(all, func(x, y change) bool { return x.compare(y) == 0 })
	at := 0
	for len(all) > 0 {
		n, to := 1, all[0].to
		for n < len(all) && all[n].from <= to { // they touch
			to = max(to, all[n].to)
			n++
		}
		out = append(out, base[at:all[0].from]...)
		at = to
		if n == 1 {
			out = append(out, all[0].text...)
		} else {
			out, err = appendConflict(out, base, all[:n], to)
			if err != nil {
				return nil, false, err
			} else {
				two = true
			}
		}
		all = all[n:]
	}
	return append(out, base[at:]...), two, nil
}

// appendConflict appends changes that touch each other: for each, the lines of the base from
// where they begin up to their end with that change alone.
func appendConflict(out, base []string, cs []change, to int) ([]string, error) {
	from := cs[0].from
	var texts [][]string
	for _, c := range cs {
		text := slices.Concat(base[from:c.from], c.text, base[c.to:to])
		if slices.ContainsFunc(text, isConflictLine) || slices.ContainsFunc(base, isConflictLine) {
			return nil, errNested
		}
		texts = append(texts, text)
	}
	slices.SortFunc(texts, slices.Compare[[]string])
	return append(out, conflictOf(slices.CompactFunc(texts, slices.Equal[[]string]))...), nil
}

func isConflictLine(s string) bool {
	return s == conflictOpen || s == conflictOr || s == conflictClose
}

// changesOf returns the changes of a version to the base, and those of the texts of
// conflicts in it.
func changesOf(base, side []string) (out []change, err error) {
	var kept [][][]string
	if !slices.ContainsFunc(base, isConflictLine) {
		side, kept = cutConflicts(side)
	}
	for _, c := range compareLines(base, side) {
		i := slices.IndexFunc(c.text, isPlace)
		if i < 0 {
			out = append(out, c)
			continue
		}
		if slices.ContainsFunc(c.text[i+1:], isPlace) {
			return nil, errNested
		}
		texts := kept[placeNumber(c.text[i])]
		var all [][]change
		for _, text := range texts {
			var its []change
			for _, d := range compareLines(base[c.from:c.to], slices.Concat(c.text[:i], text, c.text[i+1:])) {
				its = append(its, change{c.from + d.from, c.from + d.to, d.text})
			}
			all = append(all, its)
		}
		if covered(all) {
			c.text = slices.Concat(c.text[:i], conflictOf(texts), c.text[i+1:])
			all = [][]change{{c}}
		}
		out = append(out, slices.Concat(all...)...)
	}
	return out, nil
}

// covered reports whether a text of a conflict changes no more of the base than another
// does, as one that was in the base: the changes of all would not show it.
func covered(all [][]change) bool {
	for i, a := range all {
		for j, b := range all {
			in := func(c change) bool { return slices.ContainsFunc(b, func(d change) bool { return c.compare(d) == 0 }) }
			if i != j && !slices.ContainsFunc(a, func(c change) bool { return !in(c) }) {
				return true
			}
		}
	}
	return false
}

// conflictOf returns the lines that show texts.
func conflictOf(texts [][]string) (out []string) {
	for i, text := range texts {
		out = append(append(out, []string{conflictOpen, conflictOr}[min(i, 1)]), text...)
	}
	return append(out, conflictClose)
}

// A place stands for a conflict that was cut out. No content has a NUL.
const place = "\x00"

func isPlace(s string) bool { return strings.HasPrefix(s, place) }

func placeNumber(s string) int { return len(s) - 1 }

// cutConflicts puts a place for each conflict of a text, and returns the texts of each. What
// is not closed stays.
func cutConflicts(side []string) (out []string, kept [][][]string) {
	for i := 0; i < len(side); i++ {
		end := -1
		if side[i] == conflictOpen {
			end = slices.Index(side[i:], conflictClose)
		}
		if end < 0 {
			out = append(out, side[i])
			continue
		}
		var texts [][]string
		text := []string{}
		for _, l := range side[i+1 : i+end] {
			if l == conflictOr {
				texts, text = append(texts, text), []string{}
			} else {
				text = append(text, l)
			}
		}
		out = append(out, strings.Repeat(place, len(kept)+1))
		kept = append(kept, append(texts, text))
		i += end
	}
	return out, kept
}

// compareLines returns the changes that make b of a, in order; lines of a stand between
// any two.
func compareLines(a, b []string) (out []change) {
	in := diff.Interner{}
	var m diff.Mapper
	ids := in.Lines(a)
	i, j := 0, 0
	add := func(to, end int) {
		if i < to || j < end {
			out = append(out, change{i, to, slices.Clone(b[j:end])})
		}
	}
	for line, to := range m.Map(ids, in.Lines(b)) {
		if to >= 0 {
			add(line, to)
			i, j = line+1, to+1
		}
	}
	add(len(a), len(b))
	return out
}

// MergeFiles is [Merge] for paths of files, of which it writes the merge to ours. It
// reports whether both versions of something were kept.
func MergeFiles(base, ours, theirs string) (conflict bool, err error) {
	var texts [3]string
	for i, p := range []string{base, ours, theirs} {
		texts[i], err = readFile(p)
		if err != nil {
			return false, fmt.Errorf("merging: %w", err)
		}
	}
	merged, err := Merge(texts[0], texts[1], texts[2])
	if err != nil {
		return false, err
	}
	e, _, err := parse(merged)
	_, conflict = e.Label(conflictLabel)
	if err != nil || merged == texts[1] {
		return conflict, wrap("merging", err)
	}
	return conflict, wrap("merging", replace(filepath.Dir(ours), filepath.Base(ours), merged))
}
