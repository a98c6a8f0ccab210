// This file reads the data set QMSum. It contains transcripts of meetings, and questions. Some parts of a transcript
// answer each question.

package quality

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// Meeting is a QMSum meeting with one entry for each turn, and its questions.
type Meeting struct {
	Turns     []MemoryEntry
	Questions []CaseQuestion

	answersWithoutTurns int // number of answers in the data set that refer to turns which the meeting does not have
}

// publishedMeeting is a line in train.jsonl, val.jsonl or test.jsonl, the files of the data set QMSum. It contains a
// meeting and questions about the meeting.
type publishedMeeting struct {
	Transcript []struct {
		Speaker string `json:"speaker"`
		Content string `json:"content"`
	} `json:"meeting_transcripts"`
	Queries []struct {
		Text string `json:"query"`
		// for each part of the meeting that answers the query: first and last turn, counted from 0
		Spans [][]turnNumber `json:"relevant_text_span"`
	} `json:"specific_query_list"`
}

// turnNumber is the number of a turn in a meeting. The data set QMSum contains it as a JSON string.
type turnNumber int

func (p *turnNumber) UnmarshalJSON(b []byte) error {
	n, err := strconv.Atoi(strings.Trim(string(b), `"`))
	if err != nil {
		return fmt.Errorf("%s is not the number of a turn", b)
	}
	*p = turnNumber(n)
	return nil
}

func (p *publishedMeeting) toMeeting() (*Meeting, error) {
	if len(p.Transcript) == 0 {
		return nil, errors.New("has no meeting_transcripts")
	}
	m := new(Meeting)
	for i, s := range p.Transcript {
		m.Turns = append(m.Turns, MemoryEntry{fmt.Sprintf("t%05d", i+1), strconv.Itoa(i), s.Speaker + ": " +
			s.Content, defaultDate})
	}
	for i, q := range p.Queries {
		if strings.TrimSpace(q.Text) == "" {
			return nil, fmt.Errorf("query %d has no text", i+1)
		}
		right := map[string]bool{}
		for _, s := range q.Spans {
			if len(s) != 2 {
				return nil, fmt.Errorf("query %d has the span %v, not a first and a last turn", i+1, s)
			}
			first, last := int(s[0]), int(s[1])
			isInside := 0 <= first && first <= last && last < len(p.Transcript)
			if !isInside {
				m.answersWithoutTurns++
			}
			for n := max(first, 0); n <= min(last, len(p.Transcript)-1); n++ {
				right[strconv.Itoa(n)] = true
			}
		}
		if len(right) > 0 {
			m.Questions = append(m.Questions, CaseQuestion{Text: q.Text, RelevantIDs: right})
		}
	}
	return m, nil
}

// Meetings yields the meetings in the files of a QMSum source. It yields at most one error,
// as the last value.
func (s *DataSetSource) Meetings() iter.Seq2[*Meeting, error] {
	return func(yield func(*Meeting, error) bool) {
		for _, f := range s.Files {
			n := 0
			for p, err := range eachObject[publishedMeeting](s.fsys, f) {
				n++
				var m *Meeting
				if err == nil {
					m, err = p.toMeeting()
					if err != nil {
						err = fmt.Errorf("meeting %d: %w", n, err)
					}
				}
				if err != nil {
					yield(nil, &DataError{File: f, Err: err})
					return
				}
				s.countDataAnomaly(
					"stretches that do not lie in their meeting are cut to it: %d",
					m.answersWithoutTurns,
				)
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}

// readQMSumCases yields one test case for each meeting of the data set QMSum that has questions. If a meeting cannot be
// read, it yields the error and stops.
func readQMSumCases(s *DataSetSource) iter.Seq2[TestCase, error] {
	return func(yield func(TestCase, error) bool) {
		for m, err := range s.Meetings() {
			if err != nil {
				yield(TestCase{}, err)
				return
			}
			if len(m.Questions) > 0 && !yield(TestCase{"turns", m.Turns, m.Questions}, nil) {
				return
			}
		}
	}
}
