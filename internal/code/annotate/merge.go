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

// MergeResult is the result of [MergeSidecars].
type MergeResult struct {
	Data            []byte // the merged sidecar
	RecordCount     int    // number of annotations in Data
	UnreadableLines []byte // lines of ours and theirs that cannot be read, each with a line feed; they are not in Data
	RemovedLines    int    // lines in base that one side had deleted
}

// MergeSidecars merges two sidecars with the common ancestor base, which may be empty. ours and theirs
// may be swapped without changing the result. Data contains the lines of base in their order,
// followed by both sides' added lines, sorted by time. Equal lines occur only once, and so do
// annotations that both sides added and that differ only in time, commit and blob. A line of
// base that one side deleted is deleted, because a person may have had to erase it. If that side
// is damaged, the line is kept, because the deletion may have been an accident. Lines of newer
// versions are kept.
func MergeSidecars(base, ours, theirs []byte) MergeResult {
	b := parseMergeSide(base)
	o := parseMergeSide(ours)
	t := parseMergeSide(theirs)
	var m MergeResult
	var all []*mergeLine
	at := map[string]int{}
	add := func(p *mergeLine) {
		// If several annotations have the same key, keep the annotation that parse would use.
		if i, ok := at[p.equalityKey]; ok && p.equalityKey != "" {
			if p.text < all[i].text {
				all[i] = p
			}
			return
		}
		at[p.equalityKey] = len(all)
		all = append(all, p)
	}
	for _, p := range b.lines {
		inOurs, inTheirs := o.contains[p.text], t.contains[p.text]
		// A side with damage may have lost the line, and did not remove it.
		isKept := (inOurs && inTheirs) || (inOurs && t.isDamaged) || (inTheirs && o.isDamaged)
		if isKept {
			add(p)
		} else if inOurs || inTheirs {
			m.RemovedLines++
		}
	}
	fresh := map[string]*mergeLine{}
	for _, side := range []*mergeSide{o, t} {
		for _, p := range side.lines {
			if !b.contains[p.text] {
				fresh[p.text] = p
			}
		}
	}
	added := make([]*mergeLine, 0, len(fresh))
	for _, p := range fresh {
		added = append(added, p)
	}
	slices.SortFunc(added, func(x, y *mergeLine) int {
		return cmp.Or(x.time.Compare(y.time), strings.Compare(x.text, y.text))
	})
	for _, p := range added {
		add(p)
	}
	ids := map[string]bool{}
	for _, p := range all {
		m.Data = append(append(m.Data, p.text...), '\n')
		if p.id != "" {
			ids[p.id] = true
		}
	}
	m.RecordCount = len(ids)
	bad := slices.Concat(o.unreadable, t.unreadable)
	slices.Sort(bad)
	for _, l := range slices.Compact(bad) {
		m.UnreadableLines = append(append(m.UnreadableLines, l...), '\n')
	}
	return m
}

// mergeLine is a readable line.
type mergeLine struct {
	text string
	time time.Time
	id   string // ID of the annotation ("" for other lines)
	// equal for annotations that differ only in time, commit and blob; "" for lines that are not
	// annotations
	equalityKey string
}

// mergeSide contains the lines of one side, without repetitions.
type mergeSide struct {
	lines      []*mergeLine
	contains   map[string]bool
	unreadable []string
	isDamaged  bool
}

func parseMergeSide(data []byte) *mergeSide {
	s := &mergeSide{contains: map[string]bool{}}
	for l := range bytes.Lines(data) {
		l = bytes.TrimRight(l, "\r\n")
		r, e, newer, err := parseSidecarLine(l)
		p := &mergeLine{text: string(l)}
		switch {
		case err != nil:
			s.unreadable, s.isDamaged = append(s.unreadable, p.text), true
			continue
		case r != nil:
			p.time, p.id = r.Time, r.ID
			same := *r
			same.Time = time.Time{}
			same.Commit = ""
			same.Blob = ""
			key, err := appendRecord(nil, &same)
			if err != nil { // compare whole lines, because a line that is too long cannot be encoded again
				key = l
			}
			p.equalityKey = string(key)
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
		if !s.contains[p.text] {
			s.contains[p.text] = true
			s.lines = append(s.lines, p)
		}
	}
	return s
}
