// This file reads the public sets of questions as stores.

package inject

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/test/bench/quality"
)

// DataSetNames returns the names of the supported public sets of questions.
func DataSetNames() []string { return []string{"longmemeval", "beam", "locomo"} }

// ReadTestMemories yields the test stores that are made from a public set of questions. If there is an error, it is the
// last element.
func ReadTestMemories(src *quality.DataSetSource) iter.Seq2[*TestMemory, error] {
	return func(yield func(*TestMemory, error) bool) {
		read := map[string]iter.Seq2[*TestMemory, error]{
			"longmemeval": convertToTestMemories(src.Questions(), newMemoryFromQuestion),
			"beam":        convertToTestMemories(src.Chats(), newMemoryFromChat),
			"locomo":      convertToTestMemories(src.Conversations(), newMemoryFromConversation),
		}[src.Set.Name]
		if read == nil {
			yield(nil, fmt.Errorf("%s is no set of talk", src.Set.Title))
			return
		}
		for s, err := range read {
			if d := new(quality.DataError); errors.As(err, &d) {
				d.URL = src.Set.DownloadURL
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// convertToTestMemories converts each element of the sequence values to a test memory, and yields the memory. It calls
// the function toTestMemory with the element and the number of the element, counting from 1. If the sequence yields an
// error, convertToTestMemories yields the error and ends.
func convertToTestMemories[T any](
	values iter.Seq2[T, error],
	toTestMemory func(T, int) *TestMemory,
) iter.Seq2[*TestMemory, error] {
	return func(yield func(*TestMemory, error) bool) {
		n := 0
		for v, err := range values {
			if err != nil {
				yield(nil, err)
				return
			}
			n++
			if !yield(toTestMemory(v, n), nil) {
				return
			}
		}
	}
}

// newMemoryFromQuestion returns a test memory with the turns of the sessions that the benchmark LongMemEval provides
// for the question q. The test memory contains q as its only question. The question's AnswerUnitIDs are the IDs of the
// turns that contain the answer.
func newMemoryFromQuestion(q *quality.Question, _ int) *TestMemory {
	s := &TestMemory{Name: q.ID, SourceKind: inject.SourceKindSessions, SourceNames: map[string]bool{}}
	ask := Question{
		Text:          q.Text,
		AnswerUnitIDs: map[string]bool{},
		SourceNames:   q.Answers,
		Unanswerable:  strings.HasSuffix(q.ID, "_abs"),
	}
	for _, chat := range q.Sessions {
		s.SourceNames[chat.ID] = true
		first := len(s.Units)
		for i, t := range chat.Turns {
			id := fmt.Sprintf("%s#%d", chat.ID, i)
			s.addMessage(first, t.Role, t.Text)
			if len(s.Units) > 0 {
				u := &s.Units[len(s.Units)-1]
				if u.ID == "" {
					u.ID = id
					u.Session = chat.ID
					u.Time = chat.Date.Add(time.Duration(i) * time.Minute)
				}
				if q.EvidenceTurnIDs[id] {
					ask.AnswerUnitIDs[u.ID] = true
				}
			}
		}
	}
	s.Questions = []Question{ask}
	return s
}

// addMessage adds a message of a conversation to the test memory. A message of the user begins a new turn (unit). Any
// other message is added to the reply in the last turn. However, the first message of a session always begins a new
// turn. turnsBeforeSession is the number of turns before the session.
func (s *TestMemory) addMessage(turnsBeforeSession int, role, text string) {
	switch {
	case role == "user":
		s.Units = append(s.Units, MemoryUnit{Prompt: text})
		return
	case len(s.Units) == turnsBeforeSession:
		s.Units = append(s.Units, MemoryUnit{})
	}
	u := &s.Units[len(s.Units)-1]
	u.Reply = strings.TrimPrefix(u.Reply+"\n\n"+text, "\n\n")
}

// newMemoryFromChat returns a test memory from the chat c, which is a chat of the data set BEAM. The memory contains
// only one session, and the session contains all messages of the chat. The memory's questions are the questions that
// BEAM asks about the chat.
func newMemoryFromChat(c *quality.Chat, chatNumber int) *TestMemory {
	s := &TestMemory{Name: fmt.Sprintf("chat %d", chatNumber), SourceKind: inject.SourceKindSessions}
	s.SourceNames = map[string]bool{s.Name: true}
	unit := map[int]string{} // maps a message ID to the ID of the turn that contains the message
	for i, m := range c.Messages {
		s.addMessage(0, m.Role, m.Text)
		u := &s.Units[len(s.Units)-1]
		if u.ID == "" {
			u.ID = strconv.Itoa(m.ID)
			u.Session = s.Name
			u.Time = m.Date.Add(time.Duration(i) * time.Second)
		}
		unit[m.ID] = u.ID
	}
	for _, q := range c.Questions {
		ask := Question{
			Text:          q.Text,
			AnswerUnitIDs: map[string]bool{},
			SourceNames:   []string{s.Name},
			Unanswerable:  q.Ability == "abstention",
		}
		for _, id := range q.AnswerMessageIDs {
			if unit[id] != "" {
				ask.AnswerUnitIDs[unit[id]] = true
			}
		}
		s.Questions = append(s.Questions, ask)
	}
	return s
}

// newMemoryFromConversation returns a store with a LoCoMo conversation, in which each turn is a note. The adversarial
// questions concern subjects of the conversation, but lack an answer.
func newMemoryFromConversation(t *quality.Conversation, conversationNumber int) *TestMemory {
	s := &TestMemory{Name: fmt.Sprintf("talk %d", conversationNumber), SourceKind: inject.SourceKindNotes}
	s.SourceNames = map[string]bool{s.Name: true}
	for i, e := range t.Turns {
		s.Units = append(
			s.Units,
			MemoryUnit{ID: e.ID, Prompt: e.Text, Time: e.Date.Add(time.Duration(i) * time.Second)},
		)
	}
	for _, a := range t.Questions {
		s.Questions = append(
			s.Questions,
			Question{Text: a.Text, AnswerUnitIDs: a.AnswerTurnIDs, SourceNames: []string{s.Name}},
		)
	}
	for _, a := range t.AdversarialQuestions {
		s.Questions = append(s.Questions, Question{Text: a.Text, SourceNames: []string{s.Name}, Unanswerable: true})
	}
	return s
}
