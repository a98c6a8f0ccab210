// This file tests how published data sets of conversations and questions are converted to memories.

package inject

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/oxbow-memory/oxbow/test/bench/quality"
)

var published = fstest.MapFS{
	"longmemeval_s.json": {
		Data: []byte(
			`[{"question_id":"q1","question_type":"plain","question":"Which whale sings?","answer_session_ids":["answer_b"],
"haystack_session_ids":["a","answer_b"],"haystack_dates":["2026/01/01 (Thu) 10:00","2026/01/02 (Fri) 10:00"],
"haystack_sessions":[[{"role":"user","content":"blue whale"},{"role":"assistant","content":"Noted."},{"role":"assistant","content":"And kept."}],
[{"role":"assistant","content":"Hello."},{"role":"user","content":"Good morning."},{"role":"assistant","content":"A whale song.","has_answer":true}]]},
{"question_id":"q2_abs","question_type":"plain","question":"Which shark?","answer_session_ids":["a"],
"haystack_session_ids":["a"],"haystack_dates":["2026/01/01 (Thu) 10:00"],"haystack_sessions":[[{"role":"user","content":"blue whale","has_answer":true}]]}]`,
		),
	},
	"beam_100K.jsonl": {
		Data: []byte(
			`{"messages":[{"id":5,"role":"user","content":"I keep bees. ->-> 1,1","time_anchor":"March-15-2024"},{"id":6,"role":"assistant","content":"How many?"},{"id":7,"role":"user","content":"Two hives."}],
"questions":{"abstention":[{"question":"Which queen?"}],"extraction":[{"question":"How many hives?","source_chat_ids":[6,7]}]}}`,
		),
	},
	"locomo10.json": {
		Data: []byte(
			`[{"conversation":{"session_1":[{"speaker":"Ann","dia_id":"D1:1","text":"I bought a kayak."},{"speaker":"Ben","dia_id":"D1:2","text":"Nice."}],"session_1_date_time":"1:56 pm on 8 May, 2023"},
"qa":[{"question":"What did Ann buy?","category":4,"evidence":["D1:1"]},{"question":"What did Ben buy?","category":5,"evidence":["D1:1"]}]}]`,
		),
	},
}

func TestRead(t *testing.T) {
	for name, want := range map[string]string{
		"longmemeval": `q1 of sessions holds [a answer_b]
  a#0 a | blue whale | Noted.  And kept. | 2026-01-01 10:00:00
  answer_b#0 answer_b |  | Hello. | 2026-01-02 10:00:00
  answer_b#1 answer_b | Good morning. | A whale song. | 2026-01-02 10:01:00
  ? Which whale sings? [answer_b#1] of [answer_b]
q2_abs of sessions holds [a]
  a#0 a | blue whale |  | 2026-01-01 10:00:00
  ?! Which shark? [a#0] of [a]
`,
		"beam": `chat 1 of sessions holds [chat 1]
  5 chat 1 | I keep bees. | How many? | 2024-03-15 12:00:00
  7 chat 1 | Two hives. |  | 2024-03-15 12:00:02
  ?! Which queen? [] of [chat 1]
  ? How many hives? [5 7] of [chat 1]
`,
		"locomo": `talk 1 of notes holds [talk 1]
  D1:1  | Ann: I bought a kayak. |  | 2023-05-08 13:56:00
  D1:2  | Ben: Nice. |  | 2023-05-08 13:56:01
  ? What did Ann buy? [D1:1] of [talk 1]
  ?! What did Ben buy? [] of [talk 1]
`,
	} {
		src, err := quality.FindSource(published, ".", name)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for s, err := range ReadTestMemories(src) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s of %s holds %v\n", s.Name, s.SourceKind, slices.Sorted(maps.Keys(s.SourceNames)))
			for _, u := range s.Units {
				fmt.Fprintf(
					&b,
					"  %s %s | %s | %s | %s\n",
					u.ID,
					u.Session,
					u.Prompt,
					strings.ReplaceAll(u.Reply, "\n", " "),
					u.Time.Format("2006-01-02 15:04:05"),
				)
			}
			for _, a := range s.Questions {
				mark := "?"
				if a.Unanswerable {
					mark = "?!"
				}
				fmt.Fprintf(
					&b,
					"  %s %s %v of %v\n",
					mark,
					a.Text,
					slices.Sorted(maps.Keys(a.AnswerUnitIDs)),
					a.SourceNames,
				)
			}
			m, err := s.openMemory(t.Context()) // openMemory fails if a unit cannot be stored as a turn
			if err != nil {
				t.Fatal(err)
			}
			if err := m.checkStoreAndClose(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if b.String() != want {
			t.Errorf("%s:\n%swant:\n%s", name, b.String(), want)
		}
	}
}

// TestForeign tests that selectOtherMemoryQuestions returns only questions whose answers are not in the memory s. The
// second argument is the index of the first question to examine, and the third is the maximum number of questions.
func TestForeign(t *testing.T) {
	p := questionPool{
		questions: []Question{
			{Text: "one", SourceNames: []string{"a"}},
			{Text: "two", SourceNames: []string{"b", "c"}},
			{Text: "three", SourceNames: []string{"d"}},
			{Text: "four", SourceNames: []string{"e"}},
		},
	}
	s := &TestMemory{SourceNames: map[string]bool{"c": true}}
	if got := p.selectOtherMemoryQuestions(s, 0, 10); !slices.Equal(got, []string{"one", "three", "four"}) {
		t.Errorf("foreign are %q", got)
	}
	if got := p.selectOtherMemoryQuestions(s, 1, 2); !slices.Equal(got, []string{"three", "four"}) {
		t.Errorf("two foreign from the second on are %q", got)
	}
}
