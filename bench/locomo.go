// This file holds the measurement on LoCoMo: which session, and which turn, of
// a long conversation between two people answers a question.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// conversation is one element of locomo5.json. Beside two speakers,
// Conversation holds session_1, session_1_date_time, session_2 and so on.
type conversation struct {
	Conversation map[string]json.RawMessage `json:"conversation"`
	QA           []struct {
		Question string   `json:"question"`
		Category int      `json:"category"` // 5 asks about what was never said
		Evidence []string `json:"evidence"` // of turns: D1:3, some "D8:6; D9:17"
	} `json:"qa"`
}

// turn is one thing said.
type turn struct {
	Speaker string `json:"speaker"`
	ID      string `json:"dia_id"`
	Text    string `json:"text"`
}

// locomoDate is the form of a session's date.
const locomoDate = "3:04 pm on 2 January, 2006"

// straws returns the sessions and the turns of the conversation, in order. The
// id of a session is the part of its turns' ids before the colon.
func (c *conversation) straws() (sessions, turns []straw, err error) {
	for n := 1; ; n++ {
		key := fmt.Sprintf("session_%d", n)
		raw, ok := c.Conversation[key]
		if !ok {
			if n == 1 {
				return nil, nil, errors.New("conversation has no sessions")
			}
			return sessions, turns, nil
		}
		var ts []turn
		if err := json.Unmarshal(raw, &ts); err != nil {
			return nil, nil, fmt.Errorf("reading %s: %w", key, err)
		}
		var stamp string
		if err := json.Unmarshal(c.Conversation[key+"_date_time"], &stamp); err != nil {
			return nil, nil, fmt.Errorf("reading the date of %s: %w", key, err)
		}
		date, err := time.Parse(locomoDate, stamp)
		if err != nil {
			return nil, nil, fmt.Errorf("reading the date of %s: %w", key, err)
		}
		var text strings.Builder
		for _, t := range ts {
			said := t.Speaker + ": " + t.Text
			text.WriteString(said + "\n\n")
			turns = append(turns, straw{fmt.Sprintf("t%04d", len(turns)+1), t.ID, said, date})
		}
		sessions = append(sessions, straw{fmt.Sprintf("s%04d", n), fmt.Sprintf("D%d", n), strings.TrimSpace(text.String()), date})
	}
}

// evidence returns the ids of the turns, and of their sessions, that answer.
func evidence(ids []string) (sessions, turns map[string]bool) {
	sessions, turns = map[string]bool{}, map[string]bool{}
	for _, id := range ids {
		for _, t := range strings.FieldsFunc(id, func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
			if s, _, ok := strings.Cut(t, ":"); ok {
				sessions[s], turns[t] = true, true
			}
		}
	}
	return sessions, turns
}

func measureLoCoMo(ctx context.Context, b *bench, data fs.FS) error {
	raw, err := fs.ReadFile(data, "locomo5.json")
	if err != nil {
		return err
	}
	var cs []conversation
	if err := json.Unmarshal(raw, &cs); err != nil {
		return fmt.Errorf("reading locomo5.json: %w", err)
	}
	var bySession, byTurn score
	for i, c := range cs {
		if err := c.measure(ctx, &bySession, &byTurn); err != nil {
			return fmt.Errorf("conversation %d: %w", i+1, err)
		}
		b.logf("locomo: %d of %d", i+1, len(cs))
	}
	b.printf("### LoCoMo: sessions and turns that answer a question\n\n")
	b.printf("Protocol: %d conversations, the questions of categories 1 to 4 that name evidence, each asked of a memory of its whole conversation; one entry a session, or one a turn, with \"Speaker: text\", neutral names, written at the session's date; limit 10, nothing tuned.\n\n", len(cs))
	t := newTable("entries are", "n", "any@1", "any@5", "any@10", "nDCG@5", "nDCG@10", "MRR")
	for _, r := range []struct {
		name string
		s    *score
	}{{"sessions", &bySession}, {"turns", &byTurn}} {
		s := r.s
		t.row(r.name, count(s.n), s.cell(s.any1), s.cell(s.any5), s.cell(s.any10), s.cell(s.ndcg5), s.cell(s.ndcg10), s.cell(s.mrr))
	}
	t.print(b.out)
	return nil
}

// measure asks the conversation's questions.
func (c *conversation) measure(ctx context.Context, bySession, byTurn *score) (err error) {
	sessions, turns, err := c.straws()
	if err != nil {
		return err
	}
	s, err := remember(ctx, sessions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	t, err := remember(ctx, turns)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	for _, q := range c.QA {
		rightSessions, rightTurns := evidence(q.Evidence)
		if q.Category == 5 || len(rightTurns) == 0 {
			continue
		}
		ids, err := s.recall(ctx, q.Question, 10)
		if err != nil {
			return err
		}
		bySession.add(ids, rightSessions)
		if ids, err = t.recall(ctx, q.Question, 10); err != nil {
			return err
		}
		byTurn.add(ids, rightTurns)
	}
	return nil
}
