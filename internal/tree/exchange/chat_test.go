// This file tests the reading of chat logs and of the dates of their sessions.

package exchange

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

func chat(text string) ([]Item, []string) {
	return collect(readChat(
		strings.NewReader(text),
		"c.jsonl",
		&ReadOptions{SessionDates: map[string]time.Time{"dated": time.Date(2023, 4, 30, 13, 59, 0, 0, time.UTC)}},
	))
}

func TestReadChatGood(t *testing.T) {
	for _, tt := range []struct{ in, name, content, created, warning string }{
		{`{"id":"s","turns":[["user","Hi"],["assistant","Yes?\n"]]}`, "s", "user: Hi\n\nassistant: Yes?\n", "", ""},
		{`{"id":"dated","turns":[["user",""]]}`, "dated", "user:", "2023-04-30T13:59:00Z", ""},
		{`{"id":"dated","date":"2023/05/01 (Mon) 08:00","turns":[["user","x"]]}`, "dated", "user: x",
			"2023-05-01T08:00:00Z", ""},
		{`{"session_id":7,"created":"2024-01-01","messages":[{"role":"user","content":"Hi"},{"role":"tool","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`,
			"7", "user: Hi\n\ntool: a\nb", "2024-01-01T10:00:00Z", ""},
		{`{"id":"s","mood":1,"messages":[{"role":"user","content":[{"type":"image","url":"x"}],"has_answer":true},["a","b"]]}`,
			"s", "user:\n\na: b", "", `mood, turn's has_answer, turn's part of type "image"`},
		{`{"id":"s","turns":[["human","Ask <private>Ada</private>."],["user","<private>x"],["a","<private>y"]]}`,
			"s", "human: Ask […].\n\nuser: […]\n\na: <private>y", "", ""},
	} {
		items, errs := chat(tt.in)
		if len(items) != 1 || len(errs) != 0 {
			t.Errorf("chat(%s) = %d items, %q", tt.in, len(items), errs)
			continue
		}
		e := items[0].Entry
		created := ""
		if !e.Created.IsZero() {
			created = e.Created.Format(time.RFC3339)
		}
		if e.Name != tt.name || e.Content != tt.content || created != tt.created || e.Kind != oxbow.Archive {
			t.Errorf("chat(%s) = %+v, want %+v", tt.in, e, tt)
		}
		if got := strings.Join(items[0].LossMessages, "\n"); (got == "") != (tt.warning == "") ||
			!strings.HasSuffix(got, tt.warning) {
			t.Errorf("chat(%s) warns %q, want %q", tt.in, got, tt.warning)
		}
	}
}

func TestReadChatBad(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"turns":[["user","x"]]}`, "has no id"},
		{`{"id":"a","session_id":"b","turns":[["user","x"]]}`, "differ"},
		{`{"id":"a"}`, "has no turns"},
		{`{"id":"a","turns":[]}`, "has no turns"},
		{`{"id":"a","turns":[["user","x"]],"messages":[]}`, "both turns and messages"},
		{`{"id":"a","turns":"x"}`, "turns must be a list"},
		{`{"id":"a","turns":[["user"]]}`, "turn 1 is not [role, text]"},
		{`{"id":"a","turns":[["user","x"],["user",1]]}`, "turn 2 is not [role, text]"},
		{`{"id":"a","messages":[{"content":"x"}]}`, "turn 1 has no role"},
		{`{"id":"a","messages":[{"role":"user","content":5}]}`, "content must be a string"},
		{`{"id":"a","messages":[5]}`, "turn 1 is not a JSON object"},
		{`{"id":"a","messages":[{"role":"user","content":[5]}]}`, "turn 1 has a part that"},
		{`{"id":"a","date":"soon","turns":[["user","x"]]}`, `date "soon"`},
		{`{"id":"a\tb","turns":[["user","x"]]}`, "control character"},
		{`{"id":"a","turns":[["user","x"]]`, "ends too early"},
	} {
		items, errs := chat("{\"id\":\"ok\",\"turns\":[[\"user\",\"x\"]]}\n" + tt.in +
			"\n{\"id\":\"ok2\",\"turns\":[[\"user\",\"x\"]]}")
		if len(items) != 2 || len(errs) != 1 || !strings.HasPrefix(errs[0], "c.jsonl:2: ") ||
			!strings.Contains(errs[0], tt.want) {
			t.Errorf("chat(%s) = %d items, %q; want c.jsonl:2 and %q", tt.in, len(items), errs, tt.want)
		}
	}
}

func TestReadDates(t *testing.T) {
	in := `{"haystack":[["a","2023/05/30 (Tue) 09:13"],["b","2023/05/21 (Sun) 02:32"]]}
{"haystack":[["a","2023/05/21 (Sun) 02:32"],["b","2023/05/30 (Tue) 09:13"],["c","soon"],["d"]]}
{"question":"x"}
{"haystack":5}
`
	dates := make(map[string]time.Time)
	var errs []string
	for err := range readSessionDates(strings.NewReader(in), "q.jsonl", nil, dates) {
		errs = append(errs, err.Error())
	}
	want := time.Date(2023, 5, 21, 2, 32, 0, 0, time.UTC)
	if len(dates) != 2 || !dates["a"].Equal(want) || !dates["b"].Equal(want) {
		t.Errorf("readDates = %v, want the earliest of both, %v", dates, want)
	}
	for i, want := range []string{
		`q.jsonl:2: session 3 of the haystack: date "soon"`,
		"q.jsonl:2: session 4",
		"q.jsonl:3: has no haystack",
		"q.jsonl:4: haystack must be a list",
	} {
		if i >= len(errs) || !strings.HasPrefix(errs[i], want) {
			t.Errorf("readDates errors = %q, want the %d. to begin with %q", errs, i+1, want)
		}
	}
}

// TestLongMemEval tests that sessions of LongMemEval get the dates from the file of questions.
func TestLongMemEval(t *testing.T) {
	fsys := vfs.NewMem()
	for _, name := range []string{"sessions.jsonl", "questions.jsonl"} {
		b, err := os.ReadFile("testdata/longmemeval/" + name)
		if err != nil {
			t.Fatal(err)
		}
		put(t, fsys, "lme/"+name, string(b))
	}
	s := newStore()
	rep := load(t, s, Read(fsys, "lme", nil), nil)
	if counts(rep) != [4]int{5, 0, 0, 0} || len(rep.Notes)+len(rep.Problems) != 0 {
		t.Fatalf("Import = %+v, want 5 sessions", rep)
	}
	for name, want := range map[string]string{
		"sharegpt_6nLR5n5_0": "2023-04-07T16:40:00Z",
		"sharegpt_kT6YLtX_0": "2023-05-21T02:32:00Z", // The session has two dates, and the earlier date is used.
		"sharegpt_cYthigl_0": "2023-05-24T21:44:00Z",
	} {
		e, err := s.Get(t.Context(), name)
		if got := e.Created.Format(time.RFC3339); err != nil || got != want || e.Kind != oxbow.Archive {
			t.Errorf("%s is of %s and %v (%v), want %s", name, got, e.Kind, err, want)
		}
	}
	if got, want := s.content(
		t,
		"sharegpt_6nLR5n5_0",
	), "user: hi\n\nassistant: Hello! How can I assist you today?"; got != want {
		t.Errorf("content = %q, want %q", got, want)
	}
	if rep := load(t, s, Read(fsys, "lme", nil), nil); counts(rep) != [4]int{0, 0, 5, 0} {
		t.Errorf("a second import = %+v, want all the same", rep)
	}
}
