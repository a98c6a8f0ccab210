// This file changes stores and prompts so that the right unit is harder to find.

package inject

import (
	"fmt"
	"strings"
	"time"
)

// interleaveSessions mixes the sessions of two stores, so that each session begins with one subject and continues with
// another. If s has only one session, parts of o's session are inserted into it.
func (s *TestStore) interleaveSessions(o *TestStore) *TestStore {
	j := *s
	j.Units = nil
	const piece = 4 // how many consecutive units are from the same store
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

// longSessionTurns is the number of turns in the session that withLongSession adds.
const longSessionTurns = 1500

// withLongSession returns a copy of the store with an additional session, which has longSessionTurns turns by other
// people. It begins an hour before the first unit of the store. If the stores in others have too few turns, the turns
// are repeated.
func (s *TestStore) withLongSession(others []*TestStore) *TestStore {
	j := *s
	j.Units = append([]StoreUnit(nil), s.Units...)
	var all []StoreUnit
	for _, o := range others {
		all = append(all, o.Units...)
	}
	if len(all) == 0 {
		return &j
	}
	first := s.Units[0].Time.Add(-time.Hour)
	for n := range longSessionTurns {
		u := all[n%len(all)]
		u.ID = fmt.Sprintf("marathon %d", n)
		u.Session = "marathon"
		u.Time = first.Add(time.Duration(n) * time.Second)
		j.Units = append(j.Units, u)
	}
	return &j
}

// withAnswersAsToolOutput returns a copy of the store in which each unit with an answer has only a failed command's
// output as its text.
func (s *TestStore) withAnswersAsToolOutput() *TestStore {
	right := map[string]bool{}
	for _, a := range s.Asks {
		for id := range a.Right {
			right[id] = true
		}
	}
	j := *s
	j.Units = append([]StoreUnit(nil), s.Units...)
	for i, u := range j.Units {
		if right[u.ID] {
			j.Units[i].Printed = strings.TrimSpace(u.Prompt)
			j.Units[i].Prompt, j.Units[i].Reply = "Please run it.", "It failed."
		}
	}
	return &j
}

// paraphrase moves the second half of the words in a prompt to the front.
func paraphrase(prompt string) string {
	words := strings.Fields(strings.TrimRight(prompt, "?.! "))
	half := len(words) / 2
	return "Sorry, once more: " + strings.Join(words[half:], " ") + ", " + strings.Join(words[:half], " ") + "?"
}
