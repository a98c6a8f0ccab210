// Merging the sidecars of two branches.

package annotate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Merged is what [Merge] made of two sidecars.
type Merged struct {
	Data       []byte // the sidecar that holds what both held
	Records    int    // annotations in it
	Unreadable []byte // lines of ours and theirs that cannot be read, each with a line feed; not in Data
	Removed    int    // lines of base that one side had taken out
}

// Merge joins two sidecars that both come from base, which may be empty. The
// result is the same whichever is called ours: the lines of base in their
// order, then the lines of both sides by time. A line stands in it once, and so
// does an annotation that both sides added, which is the same but for time and
// commit. A line of base that one side has taken out stays out, as a person
// does who must erase something; unless that side is damaged, which says
// nothing of intent. Lines of newer versions are kept as they are.
func Merge(base, ours, theirs []byte) Merged {
	b := mergeSideOf(base)
	o := mergeSideOf(ours)
	t := mergeSideOf(theirs)
	var m Merged
	var all []*mergeLine
	at := map[string]int{}
	add := func(p *mergeLine) {
		// Of those that are the same, the one that counts when it is read.
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
		if (inOurs && inTheirs) || (inOurs && t.damaged) || (inTheirs && o.damaged) {
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
	slices.SortFunc(added, func(x, y *mergeLine) int { return cmp.Or(x.time.Compare(y.time), strings.Compare(x.raw, y.raw)) })
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

// mergeLine is one line that can be read.
type mergeLine struct {
	raw  string
	time time.Time
	id   string // of an annotation
	key  string // the same for annotations that differ in time, commit and blob only
}

// mergeSide is the lines of one side, each once.
type mergeSide struct {
	order   []*mergeLine
	has     map[string]bool
	bad     []string
	damaged bool
}

func mergeSideOf(data []byte) *mergeSide {
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
			if err != nil { // longer than a line may be only without its time
				key = l
			}
			p.key = string(key)
		case e != nil:
			p.time = e.time
		case newer:
			var v struct {
				Time time.Time `json:"time"`
			}
			_ = json.Unmarshal(l, &v) // what it is about is not known, nor when
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
