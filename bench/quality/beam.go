// BEAM: long chats of one person with a program, and questions of ten
// abilities, most of which some messages answer.

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

// publishedChat is a line of beam_100K.jsonl.
type publishedChat struct {
	Messages []struct {
		ID      int    `json:"id"`
		Role    string `json:"role"`
		Content string `json:"content"`
		Anchor  string `json:"time_anchor"` // the date of it and of those that follow, "" for no new one
	} `json:"messages"`
	Questions map[string][]struct { // by ability
		Text    string      `json:"question"`
		Sources chatSources `json:"source_chat_ids"`
	} `json:"questions"`
}

// chatSources are the ids of the messages that answer a question. The set writes
// them as a list, as a list of lists, or as an object of lists.
type chatSources []int

func (s *chatSources) UnmarshalJSON(b []byte) error {
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

// beamDate is the form of a time_anchor.
const beamDate = "January-02-2006"

// cases returns two cases of a chat, its messages and its exchanges, and how many
// sources are no message of it. An exchange is what the person wrote, and what
// followed up to the next that the person wrote.
func (p *publishedChat) cases() (cs []Case, lost int, err error) {
	if len(p.Messages) == 0 {
		return nil, 0, errors.New("has no messages")
	}
	turns, pairs := Case{Unit: "turns"}, Case{Unit: "exchanges"}
	date, known := undated, map[int]string{} // id to that of its exchange
	for i, m := range p.Messages {
		if m.Role == "" || known[m.ID] != "" {
			return nil, 0, fmt.Errorf("message %d has no role, or the id of another", i+1)
		}
		if m.Anchor != "" {
			day, err := time.Parse(beamDate, m.Anchor)
			if err != nil {
				return nil, 0, fmt.Errorf("message %d: its time_anchor is not like March-15-2024: %w", i+1, err)
			}
			date = day.Add(12 * time.Hour)
		}
		// A text ends in its place in the plan that it was made by.
		text, _, _ := strings.Cut(m.Content, "->->")
		text = m.Role + ": " + strings.TrimSpace(text)
		e := Entry{fmt.Sprintf("t%05d", i+1), strconv.Itoa(m.ID), text, date}
		turns.Entries = append(turns.Entries, e)
		if last := len(pairs.Entries) - 1; last >= 0 && m.Role != "user" {
			pairs.Entries[last].Text += "\n\n" + text
		} else {
			pairs.Entries = append(pairs.Entries, e)
		}
		known[m.ID] = pairs.Entries[len(pairs.Entries)-1].ID
	}
	for _, ability := range slices.Sorted(maps.Keys(p.Questions)) {
		for i, q := range p.Questions[ability] {
			if strings.TrimSpace(q.Text) == "" {
				return nil, 0, fmt.Errorf("question %d of %s: has no text", i+1, ability)
			}
			groups := []string{strings.ReplaceAll(ability, "_", " ")}
			turn, pair := Ask{Text: q.Text, Groups: groups, Right: map[string]bool{}}, Ask{Text: q.Text, Groups: groups, Right: map[string]bool{}}
			for _, id := range q.Sources {
				turn.Right[strconv.Itoa(id)] = true
				if known[id] == "" {
					lost++
				} else {
					pair.Right[known[id]] = true
				}
			}
			if len(turn.Right) > 0 {
				turns.Asks = append(turns.Asks, turn)
			}
			if len(pair.Right) > 0 {
				pairs.Asks = append(pairs.Asks, pair)
			}
		}
	}
	return []Case{pairs, turns}, lost, nil
}

// findBEAM returns a source for each file of chats in the directory.
func findBEAM(fsys fs.FS, _, dir string) [][]string {
	var names []string
	in, _ := fs.ReadDir(fsys, dir) // what cannot be read holds nothing
	for _, d := range in {
		if n := strings.TrimSuffix(d.Name(), ".gz"); strings.HasPrefix(n, "beam_") && path.Ext(n) == ".jsonl" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return each(fsys, dir, names...)
}

// beam yields two cases a chat: its exchanges and its messages.
func beam(s *Source) iter.Seq2[Case, error] {
	return func(yield func(Case, error) bool) {
		n := 0
		for p, err := range objects[publishedChat](s.fsys, s.Files[0]) {
			n++
			var cs []Case
			lost := 0
			if err == nil {
				if cs, lost, err = p.cases(); err != nil {
					err = fmt.Errorf("chat %d: %w", n, err)
				}
			}
			if err != nil {
				yield(Case{}, &DataError{File: s.Files[0], Err: err})
				return
			}
			s.note("sources that name no message count as not found: %d", lost)
			for _, c := range cs {
				if len(c.Asks) > 0 && !yield(c, nil) {
					return
				}
			}
		}
	}
}
