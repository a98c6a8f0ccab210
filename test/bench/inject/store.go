// This file defines a memory as a user would have it, and the questions that are asked about this
// memory.

package inject

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Store is a memory and its questions.
type Store struct {
	Name  string
	In    string // inject.InSessions if a unit is a turn, inject.InNotes if it is an entry
	Units []Unit
	Asks  []Question
	Holds map[string]bool // sources of the units; a question with none of these sources is foreign
}

// Unit is the smallest part that can be shown: a person's text and the reply, or a note.
type Unit struct {
	ID      string
	Session string
	Prompt  string // or the text of a note
	Reply   string
	Printed string // end of the output of a failed command (may be "")
	Time    time.Time
}

// Question is a question.
type Question struct {
	Text         string
	Right        map[string]bool // IDs of the units that answer it
	From         []string        // sources of these units, as in Holds
	Unanswerable bool            // the store covers the subject, but has no answer
}

// clientName is the client name of all turns.
const clientName = "claude"

// memory is an open memory with the units of a store.
type memory struct {
	*oxbow.Memory
	source         inject.MemorySource
	unitIDs        map[string]string // IDs of the units by the names of their entries
	decoyThreshold float64           // 98th percentile of the BM25 strengths of the decoys

	lastHits struct { // hits of the last prompt
		prompt string
		found  []oxbow.Hit
	}
}

// openMemory creates the memory. The caller must close it.
func (s *Store) openMemory(ctx context.Context) (*memory, error) {
	now := time.Unix(0, 0)
	if len(s.Units) > 0 {
		now = slices.MaxFunc(s.Units, func(a, b Unit) int { return a.Time.Compare(b.Time) }).Time.Add(time.Hour)
	}
	own, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return now }})
	if err != nil {
		return nil, err
	}
	m := &memory{Memory: own, source: inject.MemorySource{Kind: s.In, Memory: own}, unitIDs: map[string]string{}}
	put := m.putTurns
	if s.In == inject.SourceNotes {
		put = m.putNotes
	}
	if err := put(ctx, s.Units); err != nil {
		return nil, errors.Join(fmt.Errorf("making the memory of %s: %w", s.Name, err), own.Close())
	}
	if err := m.calibrateThresholds(ctx); err != nil {
		return nil, errors.Join(err, own.Close())
	}
	return m, nil
}

func (m *memory) putNotes(ctx context.Context, units []Unit) error {
	ops := make([]oxbow.Op, len(units))
	for i, u := range units {
		name := fmt.Sprintf("n%05d", i+1)
		m.unitIDs[name] = u.ID
		ops[i] = oxbow.Add{Name: name, Kind: oxbow.Archive, Content: u.Prompt, Created: u.Time}
	}
	return m.Apply(ctx, ops...)
}

// putTurns reports the units like a client. Sessions get numbers as names, because the
// original names in LongMemEval reveal which sessions contain an answer.
func (m *memory) putTurns(ctx context.Context, units []Unit) error {
	m.source.Filter = session.TurnFilter
	var events []session.Event
	sessions, turns := map[string]string{}, map[string]int{}
	for i, u := range units {
		if sessions[u.Session] == "" {
			sessions[u.Session] = fmt.Sprintf("s%04d", len(sessions)+1)
		}
		name := sessions[u.Session]
		turns[name]++
		m.unitIDs[fmt.Sprintf("%s/%s/%04d", clientName, name, turns[name])] = u.ID
		events = append(events, u.sessionEvents(name, fmt.Sprint(i))...)
	}
	a := &session.Archive{Memory: m.Memory}
	if _, err := a.AddEvents(ctx, events); err != nil {
		return err
	}
	for name := range maps.Keys(m.unitIDs) {
		if _, err := m.Get(ctx, name); err != nil {
			return fmt.Errorf("unit %s is no turn: %w", m.unitIDs[name], err)
		}
	}
	return nil
}

// sessionEvents returns the events that a client reports for the unit.
func (u *Unit) sessionEvents(name, turn string) []session.Event {
	e := session.Event{Client: clientName, Session: name, Turn: turn, Time: u.Time}
	prompt := e
	reply := e
	call := e
	prompt.Kind, prompt.Text = session.KindPrompt, u.Prompt // "" if the chat begins with a message of the program
	es := []session.Event{prompt}
	if u.Printed != "" {
		call.Kind = session.KindCall
		call.ID = "c" + turn
		call.Time = u.Time.Add(time.Second)
		call.Call = &session.ToolCall{Tool: "Bash", Command: "cat notes", Failed: true, Output: u.Printed}
		es = append(es, call)
	}
	if u.Reply != "" {
		reply.Kind = session.KindText
		reply.ID = "r" + turn
		reply.Text = u.Reply
		reply.Time = u.Time.Add(2 * time.Second)
		es = append(es, reply)
	}
	return es
}

// maxShownUnits is the maximum number of units that are shown for a prompt.
const maxShownUnits = 3

// recallByBM25 returns the first hits for a prompt by BM25 only, without the additions of the
// default ranking, with explanations.
func (m *memory) recallByBM25(ctx context.Context, prompt string) ([]oxbow.Hit, error) {
	if m.lastHits.prompt == prompt && prompt != "" {
		return m.lastHits.found, nil
	}
	found, err := m.Recall(
		ctx,
		oxbow.Query{Text: prompt, Filter: m.source.Filter, Limit: maxShownUnits, Explain: true, Rank: oxbow.RankSeed},
	)
	m.lastHits.prompt, m.lastHits.found = prompt, found
	return found, err
}

// close checks the store and closes the memory.
func (m *memory) close(ctx context.Context) error {
	r, err := m.Check(ctx)
	if err == nil && len(r.Problems) > 0 {
		err = fmt.Errorf("the store that was asked is damaged: %s", r.Problems[0].What)
	}
	return errors.Join(err, m.Close())
}
