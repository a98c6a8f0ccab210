// This file defines a realistic memory of a user, and the questions that are asked about it.

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

// TestMemory is a memory and its questions.
type TestMemory struct {
	Name string
	// inject.SourceSessions if the memory contains turns of sessions, inject.SourceNotes if it contains notes
	SourceKind string
	Units      []MemoryUnit
	Questions  []Question
	// Names of the conversations or documents in the memory. A question about another source cannot be answered.
	SourceNames map[string]bool
}

// MemoryUnit is the smallest part of a memory that can be shown: a person's message and the reply, or a note.
type MemoryUnit struct {
	ID                  string
	Session             string
	Prompt              string // the person's message, or the note's text
	Reply               string
	FailedCommandOutput string // end of a failed command's output (may be empty)
	Time                time.Time
}

// Question is a question about a store.
type Question struct {
	Text          string
	AnswerUnitIDs map[string]bool // IDs of the units that contain the answer
	// names of the conversations or documents that contain the answer (see TestMemory.SourceNames)
	SourceNames []string
	// the question is about a subject in the memory, but the memory does not contain the answer
	Unanswerable bool
}

// clientName is the name of the client to which all turns belong.
const clientName = "claude"

// openedMemory is an open memory that contains the notes or turns of a test memory.
type openedMemory struct {
	*oxbow.Memory
	memorySource inject.MemorySource
	// for each entry name, the ID of the test store's text from which the entry was made
	unitIDByEntryName map[string]string
	// strength that 98 % of the decoys, prompts that have nothing to do with the memory, do not exceed
	decoyStrengthLimit float64

	lastHits struct { // results of the last BM25 search, which several rules use for the same prompt
		prompt string
		found  []oxbow.Hit
	}
}

// openMemory creates a memory with the notes or turns of the test memory. The caller must close it.
func (s *TestMemory) openMemory(ctx context.Context) (*openedMemory, error) {
	now := time.Unix(0, 0)
	if len(s.Units) > 0 {
		now = slices.MaxFunc(s.Units, func(a, b MemoryUnit) int { return a.Time.Compare(b.Time) }).Time.Add(time.Hour)
	}
	own, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return now }})
	if err != nil {
		return nil, err
	}
	m := &openedMemory{
		Memory:            own,
		memorySource:      inject.MemorySource{SourceKind: s.SourceKind, Memory: own},
		unitIDByEntryName: map[string]string{},
	}
	put := m.storeAsTurns
	if s.SourceKind == inject.SourceKindNotes {
		put = m.storeAsNotes
	}
	if err := put(ctx, s.Units); err != nil {
		return nil, errors.Join(fmt.Errorf("making the memory of %s: %w", s.Name, err), own.Close())
	}
	if err := m.calibrateThresholds(ctx); err != nil {
		return nil, errors.Join(err, own.Close())
	}
	return m, nil
}

func (m *openedMemory) storeAsNotes(ctx context.Context, units []MemoryUnit) error {
	ops := make([]oxbow.Op, len(units))
	for i, u := range units {
		name := fmt.Sprintf("n%05d", i+1)
		m.unitIDByEntryName[name] = u.ID
		ops[i] = oxbow.Add{Name: name, Kind: oxbow.Archive, Content: u.Prompt, Created: u.Time}
	}
	return m.Apply(ctx, ops...)
}

// storeAsTurns adds the units of a conversation to the memory as turns. For this purpose, it passes the archive the
// same events that a client would report. It records in unitIDByEntryName which unit each turn contains, and returns an
// error if one of these turns is missing afterwards. The names of sessions are numbers, because the original names in
// LongMemEval reveal which sessions contain an answer.
func (m *openedMemory) storeAsTurns(ctx context.Context, units []MemoryUnit) error {
	m.memorySource.Filter = session.TurnFilter
	var events []session.Event
	sessions, turns := map[string]string{}, map[string]int{}
	for i, u := range units {
		if sessions[u.Session] == "" {
			sessions[u.Session] = fmt.Sprintf("s%04d", len(sessions)+1)
		}
		name := sessions[u.Session]
		turns[name]++
		m.unitIDByEntryName[fmt.Sprintf("%s/%s/%04d", clientName, name, turns[name])] = u.ID
		events = append(events, u.sessionEvents(name, fmt.Sprint(i))...)
	}
	a := &session.Archive{Memory: m.Memory}
	if _, err := a.AddEvents(ctx, events); err != nil {
		return err
	}
	for name := range maps.Keys(m.unitIDByEntryName) {
		if _, err := m.Get(ctx, name); err != nil {
			return fmt.Errorf("unit %s is no turn: %w", m.unitIDByEntryName[name], err)
		}
	}
	return nil
}

// sessionEvents returns the events that a client would report to oxbow for this turn: the prompt, a failed command and
// the reply.
func (u *MemoryUnit) sessionEvents(name, turn string) []session.Event {
	e := session.Event{Client: clientName, Session: name, TurnID: turn, Time: u.Time}
	prompt := e
	reply := e
	call := e
	// The prompt's text is empty if a chat begins with a message of the program.
	prompt.Kind, prompt.Text = session.KindPrompt, u.Prompt
	es := []session.Event{prompt}
	if u.FailedCommandOutput != "" {
		call.Kind = session.KindToolCall
		call.ID = "c" + turn
		call.Time = u.Time.Add(time.Second)
		call.Call = &session.ToolCall{Tool: "Bash", Command: "cat notes", Failed: true, Output: u.FailedCommandOutput}
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

// maxShownHitsPerPrompt is the maximum number of notes or turns that a rule shows for a prompt.
const maxShownHitsPerPrompt = 3

// recallByBM25 returns the best hits for a prompt, including explanations. It ranks them by BM25 alone, without any
// other criteria of oxbow's default ranking. For the same prompt as in the last call, it returns the hits of that call.
func (m *openedMemory) recallByBM25(ctx context.Context, prompt string) ([]oxbow.Hit, error) {
	if m.lastHits.prompt == prompt && prompt != "" {
		return m.lastHits.found, nil
	}
	found, err := m.Recall(
		ctx,
		oxbow.Query{
			Text:    prompt,
			Filter:  m.memorySource.Filter,
			Limit:   maxShownHitsPerPrompt,
			Explain: true,
			Rank:    oxbow.RankSeed,
		},
	)
	m.lastHits.prompt, m.lastHits.found = prompt, found
	return found, err
}

// checkStoreAndClose checks the store and closes the memory.
func (m *openedMemory) checkStoreAndClose(ctx context.Context) error {
	r, err := m.Check(ctx)
	if err == nil && len(r.Problems) > 0 {
		err = fmt.Errorf("the store that was asked is damaged: %s", r.Problems[0].What)
	}
	return errors.Join(err, m.Close())
}
