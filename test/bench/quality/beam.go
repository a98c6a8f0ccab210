// This file reads the data set BEAM, which contains long chats between a person and a program. The questions about a
// chat test ten abilities. Most questions are answered by some messages of the chat.

package quality

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// publishedChat is a line in beam_100K.jsonl, a file of the data set BEAM. It contains a chat and questions about the
// chat.
type publishedChat struct {
	Messages []struct {
		ID      int    `json:"id"`
		Role    string `json:"role"`
		Content string `json:"content"`
		// date of this message, which also applies to later messages without a date ("" if the message has no date)
		Anchor string `json:"time_anchor"`
	} `json:"messages"`
	Questions map[string][]struct { // questions, by the ability that they test, such as "abstention"
		Text    string        `json:"question"`
		Sources chatSourceIDs `json:"source_chat_ids"`
	} `json:"questions"`
}

// chatSourceIDs are the IDs of the messages that answer a question. In the file, they are a list, a list of lists,
// or an object that contains lists.
type chatSourceIDs []int

func (s *chatSourceIDs) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	var add func(v any) error
	add = func(v any) error {
		switch v := v.(type) {
		case nil:
		case float64:
			*s = append(*s, int(v))
		case []any:
			for _, e := range v {
				if err := add(e); err != nil {
					return err
				}
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if err := add(v[k]); err != nil {
					return err
				}
			}
		default:
			return fmt.Errorf("source_chat_ids has %v, which is no id", v)
		}
		return nil
	}
	*s = nil
	return add(v)
}

// beamAnchorDateFormat is the format of a chat message's date in the JSON key time_anchor of the data set BEAM.
const beamAnchorDateFormat = "January-02-2006"

// Chat is a chat in the data set BEAM, together with its questions. BEAM consists of long chats between a person and a
// program.
type Chat struct {
	Messages  []Message
	Questions []ChatQuestion // questions about the chat, ordered by the ability that they test
}

// Message is a message of a chat.
type Message struct {
	ID   int
	Role string
	Text string
	Date time.Time // date of this message or, without one, of the last earlier message with a date
}

// ChatQuestion is a question about a chat. AnswerMessageIDs contains the IDs of the messages that answer the question.
// For the ability "abstention", AnswerMessageIDs is empty.
type ChatQuestion struct {
	Ability          string
	Text             string
	AnswerMessageIDs []int
}

func (p *publishedChat) toChat() (*Chat, error) {
	if len(p.Messages) == 0 {
		return nil, errors.New("has no messages")
	}
	c := new(Chat)
	date := defaultDate
	known := map[int]bool{}
	for i, m := range p.Messages {
		if m.Role == "" || known[m.ID] {
			return nil, fmt.Errorf("message %d has no role, or the id of another", i+1)
		}
		known[m.ID] = true
		if m.Anchor != "" {
			day, err := time.Parse(beamAnchorDateFormat, m.Anchor)
			if err != nil {
				return nil, fmt.Errorf("message %d: its time_anchor is not like March-15-2024: %w", i+1, err)
			}
			date = day.Add(12 * time.Hour)
		}
		// Cut off the end of the text. It begins with "->->" and is not part of the chat: it says by which step of a
		// plan the authors generated the message.
		text, _, _ := strings.Cut(m.Content, "->->")
		c.Messages = append(c.Messages, Message{m.ID, m.Role, strings.TrimSpace(text), date})
	}
	for _, ability := range slices.Sorted(maps.Keys(p.Questions)) {
		for i, q := range p.Questions[ability] {
			if strings.TrimSpace(q.Text) == "" {
				return nil, fmt.Errorf("question %d of %s: has no text", i+1, ability)
			}
			c.Questions = append(c.Questions, ChatQuestion{ability, q.Text, q.Sources})
		}
	}
	return c, nil
}

// makeTestCases makes two test cases from a chat. In the first, each entry is an exchange: a message of the person with
// all following messages up to the person's next message. In the second, each entry is a message.
//
// Each question lists the IDs of the messages that answer it. missingIDCount is the number of listed IDs that no
// message has. An ID that several questions list is counted several times.
func (c *Chat) makeTestCases() (cs []TestCase, missingIDCount int) {
	turns, pairs := TestCase{EntryKind: "turns"}, TestCase{EntryKind: "exchanges"}
	known := map[int]string{} // for each message ID: ID of the exchange that contains the message
	for i, m := range c.Messages {
		text := m.Role + ": " + m.Text
		e := MemoryEntry{fmt.Sprintf("t%05d", i+1), strconv.Itoa(m.ID), text, m.Date}
		turns.Entries = append(turns.Entries, e)
		if last := len(pairs.Entries) - 1; last >= 0 && m.Role != "user" {
			pairs.Entries[last].Text += "\n\n" + text
		} else {
			pairs.Entries = append(pairs.Entries, e)
		}
		known[m.ID] = pairs.Entries[len(pairs.Entries)-1].ID
	}
	for _, q := range c.Questions {
		groups := []string{strings.ReplaceAll(q.Ability, "_", " ")}
		turn, pair := CaseQuestion{
			Text:        q.Text,
			GroupNames:  groups,
			RelevantIDs: map[string]bool{},
		}, CaseQuestion{Text: q.Text, GroupNames: groups, RelevantIDs: map[string]bool{}}
		for _, id := range q.AnswerMessageIDs {
			turn.RelevantIDs[strconv.Itoa(id)] = true
			if known[id] == "" {
				missingIDCount++
			} else {
				pair.RelevantIDs[known[id]] = true
			}
		}
		if len(turn.RelevantIDs) > 0 {
			turns.Questions = append(turns.Questions, turn)
		}
		if len(pair.RelevantIDs) > 0 {
			pairs.Questions = append(pairs.Questions, pair)
		}
	}
	return []TestCase{pairs, turns}, missingIDCount
}

// findBEAMFiles returns a source for each file of chats in the directory.
func findBEAMFiles(fsys fs.FS, _, dir string) [][]string {
	var names []string
	in, _ := fs.ReadDir(fsys, dir) // Ignore the error, because a directory that cannot be read contains no files.
	for _, d := range in {
		n := strings.TrimSuffix(d.Name(), ".gz")
		isChats := strings.HasPrefix(n, "beam_") && path.Ext(n) == ".jsonl"
		if isChats && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return findSingleFileSources(fsys, dir, names...)
}

// Chats yields the chats in the file of a BEAM source. It yields at most one error, as the
// last value.
func (s *DataSetSource) Chats() iter.Seq2[*Chat, error] {
	return func(yield func(*Chat, error) bool) {
		n := 0
		for p, err := range eachObject[publishedChat](s.fsys, s.Files[0]) {
			n++
			var c *Chat
			if err == nil {
				c, err = p.toChat()
				if err != nil {
					err = fmt.Errorf("chat %d: %w", n, err)
				}
			}
			if err != nil {
				yield(nil, &DataError{File: s.Files[0], Err: err})
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// readBEAMCases yields up to two test cases for each chat: one with an entry for each exchange, and one with an entry
// for each message. A case without questions is skipped. The IDs of answers that are missing in the chat are counted as
// anomalies of the data.
func readBEAMCases(s *DataSetSource) iter.Seq2[TestCase, error] {
	return func(yield func(TestCase, error) bool) {
		for chat, err := range s.Chats() {
			if err != nil {
				yield(TestCase{}, err)
				return
			}
			cs, lost := chat.makeTestCases()
			s.countDataAnomaly("sources that name no message count as not found: %d", lost)
			for _, c := range cs {
				if len(c.Questions) > 0 && !yield(c, nil) {
					return
				}
			}
		}
	}
}
