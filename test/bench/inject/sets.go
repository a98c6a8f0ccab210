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

// SetNames returns the names of the supported public sets of questions.
func SetNames() []string { return []string{"longmemeval", "beam", "locomo"} }

// ReadStores yields the test stores that are made from a public set of questions. If there is an error, it is the last
// element.
func ReadStores(src *quality.DataSetSource) iter.Seq2[*TestMemory, error] {
	return func(yield func(*TestMemory, error) bool) {
		read := map[string]iter.Seq2[*TestMemory, error]{
			"longmemeval": convertToStores(src.Questions(), storeFromQuestion),
			"beam":        convertToStores(src.Chats(), storeFromChat),
			"locomo":      convertToStores(src.Conversations(), storeFromConversation),
		}[src.Set.Name]
		if read == nil {
			yield(nil, fmt.Errorf("%s is no set of talk", src.Set.Title))
			return
		}
		for s, err := range read {
			if d := new(quality.DataError); errors.As(err, &d) {
				d.URL = src.Set.From
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// convertToStores converts each element of the sequence values to a test memory, and yields the memory. It calls the
// function toStore with the element and the number of the element, counting from 1. If the sequence yields an error,
// convertToStores yields the error and ends.
func convertToStores[T any](
	values iter.Seq2[T, error],
	toStore func(T, int) *TestMemory,
) iter.Seq2[*TestMemory, error] {
	return func(yield func(*TestMemory, error) bool) {
		n := 0
		for v, err := range values {
			if err != nil {
				yield(nil, err)
				return
			}
			n++
			if !yield(toStore(v, n), nil) {
				return
			}
		}
	}
}

// storeFromQuestion returns a store with the sessions that the benchmark LongMemEval provides for the question q. Some
// of these sessions contain the answer.
func storeFromQuestion(q *quality.Question, _ int) *TestMemory {
	s := &TestMemory{Name: q.ID, In: inject.SourceKindSessions, Holds: map[string]bool{}}
	ask := Question{
		Text:         q.Text,
		Right:        map[string]bool{},
		From:         q.Answers,
		Unanswerable: strings.HasSuffix(q.ID, "_abs"),
	}
	for _, chat := range q.Sessions {
		s.Holds[chat.ID] = true
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
				if q.Evidence[id] {
					ask.Right[u.ID] = true
				}
			}
		}
	}
	s.Asks = []Question{ask}
	return s
}

// addMessage adds a message of a conversation to the test memory. A message of the user begins a new turn (unit). Any
// other message is added to the reply in the last turn. However, the first message of a session always begins a new
// turn. unitsBeforeSession is the number of turns before the session.
func (s *TestMemory) addMessage(unitsBeforeSession int, role, text string) {
	switch {
	case role == "user":
		s.Units = append(s.Units, MemoryUnit{Prompt: text})
		return
	case len(s.Units) == unitsBeforeSession:
		s.Units = append(s.Units, MemoryUnit{})
	}
	u := &s.Units[len(s.Units)-1]
	u.Reply = strings.TrimPrefix(u.Reply+"\n\n"+text, "\n\n")
}

// storeFromChat returns a store with a BEAM chat as its only session.
func storeFromChat(c *quality.Chat, n int) *TestMemory {
	s := &TestMemory{Name: fmt.Sprintf("chat %d", n), In: inject.SourceKindSessions}
	s.Holds = map[string]bool{s.Name: true}
	unit := map[int]string{} // ID of the turn that contains each message, by the ID of the message
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
			Text:         q.Text,
			Right:        map[string]bool{},
			From:         []string{s.Name},
			Unanswerable: q.Ability == "abstention",
		}
		for _, id := range q.Sources {
			if unit[id] != "" {
				ask.Right[unit[id]] = true
			}
		}
		s.Asks = append(s.Asks, ask)
	}
	return s
}

// storeFromConversation returns a store with a LoCoMo conversation, in which each turn is a note. The adversarial
// questions concern subjects of the conversation, but lack an answer.
func storeFromConversation(t *quality.Conversation, n int) *TestMemory {
	s := &TestMemory{Name: fmt.Sprintf("talk %d", n), In: inject.SourceKindNotes}
	s.Holds = map[string]bool{s.Name: true}
	for i, e := range t.Turns {
		s.Units = append(
			s.Units,
			MemoryUnit{ID: e.ID, Prompt: e.Text, Time: e.Date.Add(time.Duration(i) * time.Second)},
		)
	}
	for _, a := range t.Asks {
		s.Asks = append(s.Asks, Question{Text: a.Text, Right: a.Turns, From: []string{s.Name}})
	}
	for _, a := range t.Adversarial {
		s.Asks = append(s.Asks, Question{Text: a.Text, From: []string{s.Name}, Unanswerable: true})
	}
	return s
}
