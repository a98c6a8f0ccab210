// This file merges the sidecars of two branches.

package annotate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// MergeResult is the result of [Merge].
type MergeResult struct {
	Data       []byte // the merged sidecar
	Records    int    // number of annotations in Data
	Unreadable []byte // lines of ours and theirs that cannot be read, each with a line feed; they are not in Data
	Removed    int    // lines in base that one side had deleted
}

// Merge merges two sidecars with the common ancestor base, which may be empty. ours and theirs
// may be swapped without changing the result. Data contains the lines of base in their order,
// followed by both sides' added lines, sorted by time. Equal lines occur only once, and so do
// annotations that both sides added and that differ only in time, commit and blob. A line of
// base that one side deleted is deleted, because a person may have had to erase it. If that side
// is damaged, the line is kept, because the deletion may have been an accident. Lines of newer
// versions are kept.
func Merge(base, ours, theirs []byte) MergeResult {
	b := parseMergeSide(base)
	o := parseMergeSide(ours)
	t := parseMergeSide(theirs)
	var m MergeResult
	var all []*mergeLine
	at := map[string]int{}
	add := func(p *mergeLine) {
		// If several annotations have the same key, keep the annotation that parse would use.
		if i, ok := at[p.key]; ok && p.key != "" {
			if p.raw < all[i].raw {
				all[i] = p
			}
			return
		}
		at[p.key] = len(all)
		all = append(all, p)
	}
	for _, p := range b.order {
		inOurs, inTheirs := o.has[p.raw], t.has[p.raw]
		// A side with damage may have lost the line, and did not remove it.
		isKept := (inOurs && inTheirs) || (inOurs && t.damaged) || (inTheirs && o.damaged)
		if isKept {
			add(p)
		} else if inOurs || inTheirs {
			m.Removed++
		}
	}
	fresh := map[string]*mergeLine{}
	for _, side := range []*mergeSide{o, t} {
		for _, p := range side.order {
			if !b.has[p.raw] {
				fresh[p.raw] = p
			}
		}
	}
	added := make([]*mergeLine, 0, len(fresh))
	for _, p := range fresh {
		added = append(added, p)
	}
	slices.SortFunc(added, func(x, y *mergeLine) int {
		return cmp.Or(x.time.Compare(y.time), strings.Compare(x.raw, y.raw))
	})
	for _, p := range added {
		add(p)
	}
	ids := map[string]bool{}
	for _, p := range all {
		m.Data = append(append(m.Data, p.raw...), '\n')
		if p.id != "" {
			ids[p.id] = true
		}
	}
	m.Records = len(ids)
	bad := slices.Concat(o.bad, t.bad)
	slices.Sort(bad)
	for _, l := range slices.Compact(bad) {
		m.Unreadable = append(append(m.Unreadable, l...), '\n')
	}
	return m
}

// mergeLine is a readable line.
type mergeLine struct {
	raw  string
	time time.Time
	id   string // ID of the annotation ("" for other lines)
	// equal for annotations that differ only in time, commit and blob; "" for lines that are not
	// annotations
	key string
}

// mergeSide contains the lines of one side, without repetitions.
type mergeSide struct {
	order   []*mergeLine
	has     map[string]bool
	bad     []string
	damaged bool
}

func parseMergeSide(data []byte) *mergeSide {
	s := &mergeSide{has: map[string]bool{}}
	for l := range bytes.Lines(data) {
		l = bytes.TrimRight(l, "\r\n")
		r, e, newer, err := parseLine(l)
		p := &mergeLine{raw: string(l)}
		switch {
		case err != nil:
			s.bad, s.damaged = append(s.bad, p.raw), true
			continue
		case r != nil:
			p.time, p.id = r.Time, r.ID
			same := *r
			same.Time = time.Time{}
			same.Commit = ""
			same.Blob = ""
			key, err := encode(nil, &same)
			if err != nil { // compare whole lines, because a line that is too long cannot be encoded again
				key = l
			}
			p.key = string(key)
		case e != nil:
			p.time = e.time
		case newer:
			var v struct {
				Time time.Time `json:"time"`
			}
			_ = json.Unmarshal(l, &v) // ignore the error, because a newer version may have a different format
			p.time = v.Time
		default:
			continue
		}
		if !s.has[p.raw] {
			s.has[p.raw] = true
			s.order = append(s.order, p)
		}
	}
	return s
}
