// This file reads LoCoMo: long conversations between two people, and questions that some of
// their turns answer.

package quality

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// Conversation is a LoCoMo conversation with its questions.
type Conversation struct {
	Sessions          []MemoryEntry
	CaptionedSessions []MemoryEntry // the sessions with the captions of their pictures
	Turns             []MemoryEntry
	Questions         []ConversationQuestion

	// AdversarialQuestions are questions about things that the conversation does not say. The authors made such a
	// question from a text of the conversation, often from a statement by another speaker. The sessions and turns of
	// the question are the sessions and turns that contain this text.
	AdversarialQuestions []ConversationQuestion

	// number of IDs in the data that are given as evidence for an answer but do not belong to a turn
	unknownEvidenceCount int
	hasPictures          bool // a speaker shares a picture in some turn of the conversation
}

// ConversationQuestion is a question about a conversation with the IDs of the sessions and turns that answer it.
type ConversationQuestion struct {
	Text                            string
	Category                        int // number of the question's kind in LoCoMo, a key of categoryNames
	AnswerSessionIDs, AnswerTurnIDs map[string]bool
}

// categoryNames are LoCoMo's kinds of questions.
var categoryNames = map[int]string{1: "several hops", 2: "time", 3: "open domain", 4: "single hop",
	adversarialCategory: "adversarial"}

const adversarialCategory = 5

// locomoDateFormat is the format of a session's date.
const locomoDateFormat = "3:04 pm on 2 January, 2006"

// publishedConversation is an element of locomo10.json. In addition to the two speakers,
// Conversation contains session_1, session_1_date_time, session_2 and so on.
type publishedConversation struct {
	Conversation map[string]json.RawMessage `json:"conversation"`
	QA           []struct {
		Question json.RawMessage `json:"question"`
		Category int             `json:"category"`
		Evidence []string        `json:"evidence"` // IDs of turns such as D1:3, sometimes several as in "D8:6; D9:17"
	} `json:"qa"`
}

func (p *publishedConversation) toConversation() (*Conversation, error) {
	t := new(Conversation)
	missing := 0
	for n := 1; missing < 10; n++ { // session numbers may have gaps
		raw, ok := p.Conversation[fmt.Sprintf("session_%d", n)]
		if !ok {
			missing++
			continue
		}
		if err := t.addSession(n, raw, p.Conversation[fmt.Sprintf("session_%d_date_time", n)]); err != nil {
			return nil, fmt.Errorf("session_%d: %w", n, err)
		}
	}
	if len(t.Turns) == 0 {
		return nil, errors.New("has no sessions")
	}
	known := map[string]bool{}
	for _, e := range t.Turns {
		known[e.ID] = true
	}
	for i, q := range p.QA {
		sessions, turns := parseEvidence(q.Evidence)
		if len(turns) == 0 {
			continue
		}
		if q.Category < 1 || q.Category > 5 {
			return nil, fmt.Errorf("question %d: is of category %d, not 1 to 5", i+1, q.Category)
		}
		var text string
		if err := json.Unmarshal(q.Question, &text); err != nil || strings.TrimSpace(text) == "" {
			return nil, fmt.Errorf("question %d: has no text", i+1)
		}
		for id := range turns {
			if !known[id] {
				t.unknownEvidenceCount++
			}
		}
		asks := &t.Questions
		if q.Category == adversarialCategory {
			asks = &t.AdversarialQuestions
		}
		*asks = append(*asks, ConversationQuestion{text, q.Category, sessions, turns})
	}
	return t, nil
}

// addSession adds the session with the number n to the conversation. turnsJSON contains the session's turns in JSON,
// and dateJSON contains its date.
func (t *Conversation) addSession(n int, turnsJSON, dateJSON json.RawMessage) error {
	var turns []struct {
		Speaker string `json:"speaker"`
		ID      string `json:"dia_id"`
		Text    string `json:"text"`
		Caption string `json:"blip_caption"` // caption of the picture that the turn shares, or ""
	}
	if err := json.Unmarshal(turnsJSON, &turns); err != nil {
		return err
	}
	var stamp string
	if err := json.Unmarshal(dateJSON, &stamp); err != nil {
		return fmt.Errorf("its date: %w", err)
	}
	date, err := time.Parse(locomoDateFormat, stamp)
	if err != nil {
		return fmt.Errorf("its date is not like 1:56 pm on 8 May, 2023: %w", err)
	}
	if len(turns) == 0 {
		return nil
	}
	var text, captioned strings.Builder
	for i, s := range turns {
		if s.Speaker == "" || s.ID == "" {
			return fmt.Errorf("turn %d has no speaker or no dia_id", i+1)
		}
		line := s.Speaker + ": " + s.Text
		text.WriteString(line + "\n\n")
		captioned.WriteString(line)
		if s.Caption != "" {
			captioned.WriteString(" [shares " + s.Caption + "]")
			t.hasPictures = true
		}
		captioned.WriteString("\n\n")
		t.Turns = append(t.Turns, MemoryEntry{fmt.Sprintf("t%04d", len(t.Turns)+1), s.ID, line, date})
	}
	whole := MemoryEntry{fmt.Sprintf("s%04d", n), fmt.Sprintf("D%d", n), strings.TrimSpace(text.String()), date}
	t.Sessions = append(t.Sessions, whole)
	whole.Text = strings.TrimSpace(captioned.String())
	t.CaptionedSessions = append(t.CaptionedSessions, whole)
	return nil
}

// parseEvidence returns the sessions and the turns to which a question's evidence refers. The keys of both maps are
// IDs. Each text in ids can contain several turn IDs, separated by semicolons, commas or spaces. The session ID is the
// part of a turn ID before the colon. A few turn IDs in the test data belong to no turn. They are also returned,
// although no search can find them.
func parseEvidence(ids []string) (sessionIDs, turnIDs map[string]bool) {
	sessionIDs, turnIDs = map[string]bool{}, map[string]bool{}
	for _, id := range ids {
		for _, t := range strings.FieldsFunc(id, func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
			if s, _, ok := strings.Cut(t, ":"); ok {
				sessionIDs[s], turnIDs[t] = true, true
			}
		}
	}
	return sessionIDs, turnIDs
}

// Conversations yields the conversations in the file of a LoCoMo source. It yields at most one
// error, as the last value.
func (s *DataSetSource) Conversations() iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		n := 0
		for p, err := range eachObject[publishedConversation](s.fsys, s.Files[0]) {
			n++
			var t *Conversation
			if err == nil {
				t, err = p.toConversation()
				if err != nil {
					err = fmt.Errorf("conversation %d: %w", n, err)
				}
			}
			if err != nil {
				yield(nil, &DataError{File: s.Files[0], Err: err})
				return
			}
			s.countDataAnomaly("evidence that names no turn counts as not found: %d", t.unknownEvidenceCount)
			if !yield(t, nil) {
				return
			}
		}
	}
}

// allCategoriesGroup is the group of all questions including the adversarial ones, which other
// evaluations omit.
const allCategoriesGroup = "all five categories"

// readLoCoMoCases yields up to three test cases for each conversation of the data set LoCoMo. In one, the entries are
// the sessions. If the conversation has pictures, there is one with sessions and captions of the pictures. In the last,
// the entries are the turns.
func readLoCoMoCases(s *DataSetSource) iter.Seq2[TestCase, error] {
	return func(yield func(TestCase, error) bool) {
		for t, err := range s.Conversations() {
			if err != nil {
				yield(TestCase{}, err)
				return
			}
			if len(t.Questions) == 0 {
				continue
			}
			var sessions, turns []CaseQuestion
			for _, a := range slices.Concat(t.Questions, t.AdversarialQuestions) {
				groups, apart := []string{
					categoryNames[a.Category],
					allCategoriesGroup,
				}, a.Category == adversarialCategory
				sessions = append(sessions, CaseQuestion{a.Text, groups, a.AnswerSessionIDs, apart})
				turns = append(turns, CaseQuestion{a.Text, groups, a.AnswerTurnIDs, apart})
			}
			cases := []TestCase{{"sessions", t.Sessions, sessions}}
			if t.hasPictures {
				cases = append(cases, TestCase{"sessions with captions", t.CaptionedSessions, sessions})
			}
			for _, c := range append(cases, TestCase{"turns", t.Turns, turns}) {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}
