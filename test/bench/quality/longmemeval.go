// This file reads the data set LongMemEval. It contains questions about earlier chats of a person with a program. Each
// question has a list of chat sessions, and some sessions in this list contain the answer.

package quality

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"
)

// Question is a LongMemEval question with the sessions in which the answer has to be found,
// and the sessions and turns that contain it.
type Question struct {
	ID              string // ID of the question. It ends in _abs if no session fully answers the question.
	Type            string
	Text            string
	Answers         []string        // IDs of the sessions that contain the answer, or a part of it
	EvidenceTurnIDs map[string]bool // IDs of the turns that contain the answer (see turnID)
	Sessions        []Session       // without duplicates
}

// Session is a chat.
type Session struct {
	ID    string
	Date  time.Time
	Turns []SessionTurn
}

// SessionTurn is a message of a session.
type SessionTurn struct{ Role, Text string }

func (t SessionTurn) String() string { return strings.TrimSpace(t.Role + ": " + t.Text) }

// Text returns the turns of the session as one text, with empty lines between them.
func (s *Session) Text() string {
	var b strings.Builder
	for i, t := range s.Turns {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(t.String())
	}
	return b.String()
}

func turnID(session string, i int) string { return fmt.Sprintf("%s#%d", session, i) }

// longMemEvalDateFormat is the format of LongMemEval's dates.
const longMemEvalDateFormat = "2006/01/02 (Mon) 15:04"

// publishedTurn is a turn in the form [role, text] or {"role":…,"content":…}.
type publishedTurn struct {
	SessionTurn
	hasAnswer bool
}

func (t *publishedTurn) UnmarshalJSON(b []byte) error {
	if b[0] == '[' {
		var pair []string
		if err := json.Unmarshal(b, &pair); err != nil || len(pair) != 2 {
			return errors.New("a turn is not [role, text]")
		}
		t.SessionTurn = SessionTurn{pair[0], pair[1]}
		return nil
	}
	var o struct {
		Role    *string
		Content string
		Answer  bool `json:"has_answer"`
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	if o.Role == nil {
		return errors.New("a turn has no role")
	}
	t.SessionTurn, t.hasAnswer = SessionTurn{*o.Role, o.Content}, o.Answer
	return nil
}

// longMemEvalQuestion is an element of longmemeval_s.json.
type longMemEvalQuestion struct {
	ID           string            `json:"question_id"`
	Type         string            `json:"question_type"`
	Text         string            `json:"question"`
	Answers      []string          `json:"answer_session_ids"`
	SessionIDs   []string          `json:"haystack_session_ids"`
	SessionDates []string          `json:"haystack_dates"`
	Sessions     [][]publishedTurn `json:"haystack_sessions"`
}

func (p *longMemEvalQuestion) toQuestion() (*Question, error) {
	haveEqualLength := len(p.SessionIDs) == len(p.SessionDates) && len(p.SessionIDs) == len(p.Sessions)
	if len(p.SessionIDs) == 0 || !haveEqualLength {
		return nil, fmt.Errorf(
			"has %d haystack_session_ids, %d haystack_dates and %d haystack_sessions",
			len(p.SessionIDs),
			len(p.SessionDates),
			len(p.Sessions),
		)
	}
	q := &Question{ID: p.ID, Type: p.Type, Text: p.Text, Answers: p.Answers, EvidenceTurnIDs: map[string]bool{}}
	for i, id := range p.SessionIDs {
		if err := q.addSession(id, p.SessionDates[i], p.Sessions[i]); err != nil {
			return nil, err
		}
	}
	return q, q.validate()
}

// splitQuestion is a line of questions.jsonl. Its sessions are in a separate file.
type splitQuestion struct {
	ID      string   `json:"question_id"`
	Type    string   `json:"question_type"`
	Text    string   `json:"question"`
	Answers []string `json:"answer_session_ids"`
	// for each session in which the answer has to be found: its ID and its date
	HaystackSessions [][2]string `json:"haystack"`
	// turns that contain the answer: each pair is a session ID and the index of the turn in the session
	EvidenceTurns [][2]json.RawMessage `json:"evidence_turns"`
}

func (p *splitQuestion) toQuestion(sessions map[string][]publishedTurn) (*Question, error) {
	q := &Question{ID: p.ID, Type: p.Type, Text: p.Text, Answers: p.Answers, EvidenceTurnIDs: map[string]bool{}}
	for _, h := range p.HaystackSessions {
		turns, ok := sessions[h[0]]
		if !ok {
			return nil, fmt.Errorf("names session %q, which is not there", h[0])
		}
		if err := q.addSession(h[0], h[1], turns); err != nil {
			return nil, err
		}
	}
	for _, e := range p.EvidenceTurns {
		var id string
		var i int
		if err := errors.Join(json.Unmarshal(e[0], &id), json.Unmarshal(e[1], &i)); err != nil {
			return nil, fmt.Errorf("its evidence_turns: %w", err)
		}
		if i < 0 || i >= len(sessions[id]) {
			return nil, fmt.Errorf("its evidence, turn %d of session %q, is not there", i, id)
		}
		q.EvidenceTurnIDs[turnID(id, i)] = true
	}
	return q, q.validate()
}

// addSession adds a session to q.Sessions, the sessions in which the answer has to be found. It adds the turns that
// contain the answer to q.EvidenceTurnIDs. If a session with this ID is already in q.Sessions, addSession does nothing.
// It returns an error if the date does not have the form of longMemEvalDateFormat, such as "2023/04/30 (Sun) 13:59".
func (q *Question) addSession(id, date string, turns []publishedTurn) error {
	if slices.ContainsFunc(q.Sessions, func(s Session) bool { return s.ID == id }) {
		return nil
	}
	d, err := time.Parse(longMemEvalDateFormat, date)
	if err != nil {
		return fmt.Errorf("session %q has no date like 2023/04/30 (Sun) 13:59: %w", id, err)
	}
	s := Session{ID: id, Date: d}
	for i, t := range turns {
		s.Turns = append(s.Turns, t.SessionTurn)
		if t.hasAnswer {
			q.EvidenceTurnIDs[turnID(id, i)] = true
		}
	}
	q.Sessions = append(q.Sessions, s)
	return nil
}

func (q *Question) validate() error {
	switch {
	case q.ID == "" || strings.TrimSpace(q.Text) == "":
		return errors.New("has no question_id or no question")
	case len(q.Sessions) == 0:
		return errors.New("has no sessions")
	}
	for _, id := range q.Answers {
		if !slices.ContainsFunc(q.Sessions, func(s Session) bool { return s.ID == id }) {
			return fmt.Errorf("is answered by session %q, which is not in its haystack", id)
		}
	}
	return nil
}

// Questions yields the questions in the files of a LongMemEval source. It yields at most one
// error, as the last value.
func (s *DataSetSource) Questions() iter.Seq2[*Question, error] {
	if len(s.Files) == 2 {
		return eachSplitQuestion(s.fsys, s.Files[0], s.Files[1])
	}
	return func(yield func(*Question, error) bool) {
		n := 0
		for p, err := range eachObject[longMemEvalQuestion](s.fsys, s.Files[0]) {
			n++
			var q *Question
			if err == nil {
				q, err = p.toQuestion()
				if err != nil {
					err = fmt.Errorf("question %d: %w", n, err)
				}
			}
			if err != nil {
				yield(nil, &DataError{File: s.Files[0], Err: err})
				return
			}
			if !yield(q, nil) {
				return
			}
		}
	}
}

func eachSplitQuestion(fsys fs.FS, questionsFile, sessionsFile string) iter.Seq2[*Question, error] {
	return func(yield func(*Question, error) bool) {
		turns := map[string][]publishedTurn{}
		for s, err := range eachObject[struct {
			ID    string
			Turns []publishedTurn
		}](fsys, sessionsFile) {
			isWhole := s.ID != "" && s.Turns != nil
			if err == nil && !isWhole {
				err = fmt.Errorf("object %d has no id or no turns", len(turns)+1)
			}
			if err != nil {
				yield(nil, &DataError{File: sessionsFile, Err: err})
				return
			}
			turns[s.ID] = s.Turns
		}
		n := 0
		for p, err := range eachObject[splitQuestion](fsys, questionsFile) {
			n++
			var q *Question
			if err == nil {
				q, err = p.toQuestion(turns)
				if err != nil {
					err = fmt.Errorf("question %d: %w", n, err)
				}
			}
			if err != nil {
				yield(nil, &DataError{File: questionsFile, Err: err})
				return
			}
			if !yield(q, nil) {
				return
			}
		}
	}
}

// SessionEntries returns the sessions as entries, in order. The names of the entries are not the IDs of the sessions.
// The reason is that the ID of a session with the answer begins with "answer", which a search would find.
func (q *Question) SessionEntries() []MemoryEntry {
	var es []MemoryEntry
	for i := range q.Sessions {
		s := &q.Sessions[i]
		es = append(es, MemoryEntry{fmt.Sprintf("s%04d", i+1), s.ID, s.Text(), s.Date})
	}
	return es
}

// turnEntries returns the turns of all sessions as entries.
func (q *Question) turnEntries() []MemoryEntry {
	var es []MemoryEntry
	for _, s := range q.Sessions {
		for i, t := range s.Turns {
			es = append(es, MemoryEntry{fmt.Sprintf("t%05d", len(es)+1), turnID(s.ID, i), t.String(), s.Date})
		}
	}
	return es
}

// AnswerSessionIDs returns the IDs of the sessions that answer the question.
func (q *Question) AnswerSessionIDs() map[string]bool {
	m := map[string]bool{}
	for _, id := range q.Answers {
		m[id] = true
	}
	return m
}

// readLongMemEvalCases yields up to two test cases for each question of the data set LongMemEval. In the first case,
// the entries are the sessions. It is omitted if no session contains the answer. In the second case, the entries are
// the turns. It is omitted if no turn contains the answer.
func readLongMemEvalCases(s *DataSetSource) iter.Seq2[TestCase, error] {
	return func(yield func(TestCase, error) bool) {
		for q, err := range s.Questions() {
			if err != nil {
				yield(TestCase{}, err)
				return
			}
			groups := []string{q.Type}
			if !strings.HasSuffix(q.ID, "_abs") {
				groups = append(groups, "answerable")
			}
			if len(q.Answers) > 0 && !yield(
				TestCase{"sessions", q.SessionEntries(), []CaseQuestion{{q.Text, groups, q.AnswerSessionIDs(), false}}},
				nil,
			) {
				return
			}
			if len(q.EvidenceTurnIDs) > 0 && !yield(
				TestCase{"turns", q.turnEntries(), []CaseQuestion{{q.Text, groups, q.EvidenceTurnIDs, false}}},
				nil,
			) {
				return
			}
		}
	}
}
