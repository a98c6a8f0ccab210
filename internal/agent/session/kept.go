// This file loads a stored session. It loads either the whole session or only the turns at its end
// that new events can change.
//
// If a turn begins more than joinReach before every turn that the new events touch, the new events
// do not change it, unless an event names the turn or shares an identifier with the turn's events.
// The entries CLIENT/SESSION/ids/0001 (pages) contain hashes of these names and identifiers, so
// that other turns need not be read. A page has a line for each of pageTurns turns.

package session

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
)

const (
	pageTurns = 64
	hashSigns = 8 // characters of a 40-bit hash

	// joinReach exceeds the maximum distance between prompts that are joined in two steps of
	// promptNear, plus another promptNear to the next prompt.
	joinReach = 3*promptNear + 2*doubleNear
)

// storedSession is a stored session. Entries of version 0 do not exist.
type storedSession struct {
	talk  talk
	head  oxbow.Entry
	sum   Summary       // parsed content of head
	pages []oxbow.Entry // hashes for all turns
	lead  []Turn        // first turns of the session that determine its summary
	first int           // number of the first turn in turns
	turns []oxbow.Entry
	all   []Turn // the parsed turns, except unreadable turns
}

// load reads a whole session. Turns that cannot be read are skipped.
func (a *Archive) load(ctx context.Context, t talk) (storedSession, error) {
	k, err := a.begin(ctx, t)
	for n := 1; err == nil; n++ {
		var e oxbow.Entry
		e, err = a.get(ctx, t.turn(n))
		isEnd := e.Version == 0 && n > k.sum.Turns
		if err != nil || isEnd {
			break
		}
		k.turns = append(k.turns, e)
		if turn, ok := t.parse(e, n); ok {
			k.all = append(k.all, turn)
		}
	}
	return k, err
}

// begin reads the summary and the pages of a session.
func (a *Archive) begin(ctx context.Context, t talk) (k storedSession, err error) {
	k.talk, k.first = t, 1
	k.head, err = a.get(ctx, t.name())
	if err != nil {
		return k, err
	}
	_ = json.Unmarshal([]byte(k.head.Content), &k.sum) // without a summary, the session is empty
	for n := 1; ; n++ {
		e, err := a.get(ctx, t.page(n))
		isEnd := e.Version == 0 && n > k.sum.countPages()
		if err != nil || isEnd {
			return k, err
		}
		k.pages = append(k.pages, e)
	}
}

func (s *Summary) countPages() int { return (s.Turns + pageTurns - 1) / pageTurns }

func (t talk) page(n int) string { return fmt.Sprintf("%s/ids/%04d", t.name(), n) }

// parse returns the turn stored in an entry if it is turn n of this session.
func (t talk) parse(e oxbow.Entry, n int) (Turn, bool) {
	turn, err := Parse(e.Content)
	return turn, err == nil && turn.Client == t.client && turn.Session == t.session && turn.N == n
}

// get returns the named entry, or an entry of version 0 if it does not exist.
func (a *Archive) get(ctx context.Context, name string) (oxbow.Entry, error) {
	e, err := a.Memory.Store().Get(ctx, name)
	if errors.Is(err, oxbow.ErrNotFound) {
		return oxbow.Entry{}, nil
	}
	return e, err
}

// loadEnd reads the turns of a session that the events can change and the turns near them. It
// returns false if these turns do not suffice.
func (a *Archive) loadEnd(ctx context.Context, t talk, events []Event) (k storedSession, enough bool, err error) {
	k, err = a.begin(ctx, t)
	if err != nil || k.sum.Turns == 0 {
		return k, false, err
	}
	touched := newTouched(events)
	for n := k.sum.Turns; ; n-- {
		e, err := a.get(ctx, t.turn(n))
		turn, ok := t.parse(e, n)
		if err != nil {
			return k, false, err
		}
		if !ok || n == 1 {
			return k, false, nil
		}
		k.turns = append(k.turns, e)
		k.all = append(k.all, turn)
		k.first = n
		if touched.from(&turn).Sub(turn.Start) > joinReach {
			break
		}
	}
	slices.Reverse(k.turns)
	slices.Reverse(k.all)
	if !k.isApart(events) {
		return k, false, nil
	}
	enough, err = a.loadLead(ctx, &k)
	return k, enough, err
}

// loadLead reads the session's first turns, up to the loaded turns, because they determine the
// summary. It returns false if a turn cannot be read.
func (a *Archive) loadLead(ctx context.Context, k *storedSession) (bool, error) {
	for n, s := 1, (Summary{}); n < k.first &&
		((s.Prompt == "" && k.sum.Prompt != "") || (s.Dir == "" && k.sum.Dir != "")); n++ {
		e, err := a.get(ctx, k.talk.turn(n))
		turn, ok := k.talk.parse(e, n)
		if err != nil || !ok {
			return false, err
		}
		k.lead = append(k.lead, turn)
		s.add(&turn)
	}
	return true, nil
}

// turnRange describes which turns new events may change. These are the turns from start on, and
// turns joined to the events by name or prompt text.
type turnRange struct {
	start time.Time
	names map[string]bool // turn names, prompt IDs and prompt texts
}

func newTouched(events []Event) turnRange {
	t := turnRange{start: events[0].Time, names: map[string]bool{}}
	for _, e := range events {
		if e.Time.Before(t.start) {
			t.start = e.Time
		}
		t.add(&e)
	}
	return t
}

func (t *turnRange) add(e *Event) {
	t.names["turn "+e.Turn] = e.Turn != ""
	if e.Kind == Prompt && e.Agent == "" {
		t.names["text "+e.Text], t.names["id "+e.ID] = true, e.ID != ""
	}
}

// from returns the time from which turns are touched, after it has examined the given turn.
func (t *turnRange) from(turn *Turn) time.Time {
	if slices.ContainsFunc(turn.reports, func(e Event) bool {
		return t.names["turn "+e.Turn] || (e.Kind == Prompt && (t.names["text "+e.Text] || t.names["id "+e.ID]))
	}) {
		for _, e := range turn.reports {
			t.add(&e)
		}
		if turn.Start.Before(t.start) {
			t.start = turn.Start
		}
	}
	return t.start
}

// isApart reports whether no turn before the loaded turns has a name or an identifier in common
// with the events or the loaded turns. It returns false if a page is missing.
func (k *storedSession) isApart(events []Event) bool {
	asked := map[string]bool{}
	ask := func(events []Event) {
		for _, e := range events {
			_, other := eventHashes(&e)
			for _, h := range other {
				asked[h] = true
			}
		}
	}
	ask(events)
	for i := range k.all {
		ask(k.all[i].reports)
	}
	n := 1
	for _, p := range k.pages {
		if p.Version == 0 { // missing
			return false
		}
		for line := range strings.Lines(p.Content) {
			if n == k.first {
				return true
			}
			for line = strings.TrimSpace(line); len(line) >= hashSigns; line = line[hashSigns:] {
				if asked[line[:hashSigns]] {
					return false
				}
			}
			n++
		}
	}
	return n == k.first
}

// eventHashes returns the hashes of an event's turn name and identifier (own), and the hashes that an
// event in the same turn but with another name would have (other). Events that name different
// turns may have the same identifier.
func eventHashes(e *Event) (own, other []string) {
	id := string(e.Kind) + "\x00" + e.ID
	switch {
	case e.Turn != "":
		own = []string{hash("turn", e.Turn)}
		other = own
	case e.Kind == Prompt && e.Agent == "" && e.ID != "":
		own = []string{hash("prompt", e.ID)}
		other = own
	case e.ID != "":
		return []string{hash("free", id)}, []string{hash("free", id), hash("owned", id)}
	}
	if e.ID == "" {
		return own, other
	}
	return append(slices.Clip(own), hash("owned", id)), append(slices.Clip(other), hash("free", id))
}

func hash(kind, s string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind + "\x00" + s)) // never fails
	return signs.EncodeToString(binary.BigEndian.AppendUint64(nil, h.Sum64())[:5])
}

// line returns the turn's line on a page.
func (t *Turn) line() string {
	var all []string
	for i := range t.reports {
		own, _ := eventHashes(&t.reports[i])
		all = append(all, own...)
	}
	slices.Sort(all)
	return " " + strings.Join(slices.Compact(all), "") + "\n"
}

// pageOps returns the operations that update the pages after turns replace the loaded turns.
func (k *storedSession) pageOps(turns []Turn, labels []oxbow.Label) (ops []oxbow.Op) {
	total, first := k.first-1+len(turns), (k.first-1)/pageTurns
	for p := first; p*pageTurns < total || p < len(k.pages); p++ {
		var old oxbow.Entry
		if p < len(k.pages) {
			old = k.pages[p]
		}
		var b strings.Builder
		n := p * pageTurns
		for line := range strings.Lines(old.Content) {
			if n >= k.first-1 {
				break
			}
			b.WriteString(line)
			n++
		}
		for ; n < min((p+1)*pageTurns, total); n++ {
			b.WriteString(turns[n-k.first+1].line())
		}
		name, content := k.talk.page(p+1), b.String()
		switch {
		case content == "" && old.Version != 0:
			ops = append(ops, oxbow.Remove{Name: name, If: old.Version})
		case old.Version == 0:
			ops = append(ops, oxbow.Add{Name: name, Kind: oxbow.History, Content: content, Labels: labels})
		case content != old.Content:
			ops = append(ops, oxbow.Update{Name: name, Content: content, Labels: labels, If: old.Version})
		}
	}
	return ops
}
