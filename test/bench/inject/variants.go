// Other forms of a store and of a prompt: what makes the right unit harder to find.

package inject

import (
	"fmt"
	"strings"
	"time"
)

// joined returns the store with the sessions of another in its own: each is begun
// about one thing and continues about another. A store of one session gets pieces
// of the other one between its own.
func (s *Store) joined(o *Store) *Store {
	j := *s
	j.Units = nil
	const piece = 4 // units before it is the other's turn
	left := o.Units
	for i, u := range s.Units {
		j.Units = append(j.Units, u)
		last := i+1 == len(s.Units) || s.Units[i+1].Session != u.Session
		if !last && (i+1)%piece != 0 {
			continue
		}
		n := min(piece, len(left))
		for k, f := range left[:n] {
			f.ID = "other " + f.ID
			f.Session = u.Session
			f.Time = u.Time.Add(time.Duration(k+1) * time.Millisecond)
			j.Units = append(j.Units, f)
		}
		left = left[n:]
	}
	return &j
}

// marathonTurns is how many turns the long session has.
const marathonTurns = 1500

// beside returns the store with one long session more, of the turns of others,
// which begin again when they are all there.
func (s *Store) beside(others []*Store) *Store {
	j := *s
	j.Units = append([]Unit(nil), s.Units...)
	var all []Unit
	for _, o := range others {
		all = append(all, o.Units...)
	}
	if len(all) == 0 {
		return &j
	}
	first := s.Units[0].Time.Add(-time.Hour)
	for n := range marathonTurns {
		u := all[n%len(all)]
		u.ID = fmt.Sprintf("marathon %d", n)
		u.Session = "marathon"
		u.Time = first.Add(time.Duration(n) * time.Second)
		j.Units = append(j.Units, u)
	}
	return &j
}

// printed returns the store with each unit that answers a question turned into one
// in which only a failed command printed what the person had said.
func (s *Store) printed() *Store {
	right := map[string]bool{}
	for _, a := range s.Asks {
		for id := range a.Right {
			right[id] = true
		}
	}
	j := *s
	j.Units = append([]Unit(nil), s.Units...)
	for i, u := range j.Units {
		if right[u.ID] {
			j.Units[i].Printed = strings.TrimSpace(u.Prompt)
			j.Units[i].Prompt, j.Units[i].Reply = "Please run it.", "It failed."
		}
	}
	return &j
}

// paraphrase returns a prompt in another form: the second half of its words first.
func paraphrase(prompt string) string {
	words := strings.Fields(strings.TrimRight(prompt, "?.! "))
	half := len(words) / 2
	return "Sorry, once more: " + strings.Join(words[half:], " ") + ", " + strings.Join(words[:half], " ") + "?"
}
