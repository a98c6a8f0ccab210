// This file changes test memories so that the note or turn with the answer is harder to find.

package inject

import (
	"fmt"
	"strings"
	"time"
)

// interleaveSessions returns a copy of s in which turns of the memory o are inserted into the sessions. Therefore each
// session is about several subjects. If s has only one session, o's turns are inserted at several places in this
// session.
func (s *TestMemory) interleaveSessions(o *TestMemory) *TestMemory {
	j := *s
	j.Units = nil
	const piece = 4 // how many consecutive turns come from the same memory
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

// withLongSession returns a copy of the test memory with an additional session, which has longSessionTurns turns by
// other people. The session begins an hour before the first turn of the memory. If the memories in others have too few
// turns, the turns are repeated.
func (s *TestMemory) withLongSession(others []*TestMemory) *TestMemory {
	j := *s
	j.Units = append([]MemoryUnit(nil), s.Units...)
	var all []MemoryUnit
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

// withAnswersAsToolOutput returns a copy of the test memory in which answers are in command output. If a unit contains
// the answer to a question, its prompt becomes the output of a command (FailedCommandOutput). Its prompt and reply are
// replaced by "Please run it." and "It failed."
func (s *TestMemory) withAnswersAsToolOutput() *TestMemory {
	right := map[string]bool{}
	for _, a := range s.Questions {
		for id := range a.AnswerUnitIDs {
			right[id] = true
		}
	}
	j := *s
	j.Units = append([]MemoryUnit(nil), s.Units...)
	for i, u := range j.Units {
		if right[u.ID] {
			j.Units[i].FailedCommandOutput = strings.TrimSpace(u.Prompt)
			j.Units[i].Prompt, j.Units[i].Reply = "Please run it.", "It failed."
		}
	}
	return &j
}

// paraphrase rewords a prompt. It moves the second half of the words to the front, puts "Sorry, once more:" before the
// words, and ends with a question mark.
func paraphrase(prompt string) string {
	words := strings.Fields(strings.TrimRight(prompt, "?.! "))
	half := len(words) / 2
	return "Sorry, once more: " + strings.Join(words[half:], " ") + ", " + strings.Join(words[:half], " ") + "?"
}
