// This file tests how data sets of chats and questions are read in every published format. The test data are invented.

package quality

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func file(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func packed(t testing.TB, s string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

// The chats of an invented person, in the published format of LongMemEval.
const published = `[
{"question_id":"q1","question_type":"plain","question":"Which whale sings?","answer":"the blue one","question_date":"2026/01/09 (Fri) 10:00",
 "haystack_session_ids":["a","b","answer_c","a"],
 "haystack_dates":["2026/01/01 (Thu) 10:00","2026/01/02 (Fri) 10:00","2026/01/03 (Sat) 10:00","2026/01/04 (Sun) 10:00"],
 "haystack_sessions":[
  [{"role":"user","content":"blue whale whale"},{"role":"assistant","content":"Noted."}],
  [{"role":"user","content":"Good morning."},{"role":"assistant","content":"A whale song.","has_answer":true}],
  [{"role":"user","content":"nothing of that"}],
  [{"role":"user","content":"the second a is passed over"}]],
 "answer_session_ids":["b"]},
{"question_id":"q2_abs","question_type":"plain","question":"answer","answer":7,
 "haystack_session_ids":["a","answer_c"],
 "haystack_dates":["2026/01/01 (Thu) 10:00","2026/01/03 (Sat) 10:00"],
 "haystack_sessions":[[{"role":"user","content":"blue whale whale"},{"role":"assistant","content":"Noted."}],[{"role":"user","content":"nothing of that"}]],
 "answer_session_ids":["answer_c"]}
]`

// These constants contain a small set of invented chats and questions in a reduced format. The sessions (splitSessions)
// are in another file than the questions (splitAsked).
const (
	splitSessions = `{"id":"a","turns":[["user","blue whale whale"],["assistant","Noted."]]}
{"id":"b","turns":[["user","Good morning."],["assistant","A whale song."]]}
{"id":"answer_c","turns":[["user","nothing of that"]]}
`
	splitAsked = `{"question_id":"q1","question_type":"plain","question":"Which whale sings?","answer_session_ids":["b"],"evidence_turns":[["b",1]],` +
		`"haystack":[["a","2026/01/01 (Thu) 10:00"],["b","2026/01/02 (Fri) 10:00"],["answer_c","2026/01/03 (Sat) 10:00"],["a","2026/01/04 (Sun) 10:00"]]}
{"question_id":"q2_abs","question_type":"plain","question":"answer","answer_session_ids":["answer_c"],"haystack":[["a","2026/01/01 (Thu) 10:00"],["answer_c","2026/01/03 (Sat) 10:00"]]}
`
)

const talks = `[{"sample_id":"talk-1","conversation":{
 "speaker_a":"Ann","speaker_b":"Ben",
 "session_1":[{"speaker":"Ann","dia_id":"D1:1","text":"I bought a kayak."},{"speaker":"Ben","dia_id":"D1:2","text":"Lovely river weather.","img_url":["x"],"blip_caption":"a river"}],
 "session_1_date_time":"1:56 pm on 8 May, 2023",
 "session_3":[{"speaker":"Ben","dia_id":"D3:1","text":"My dentist moved."}],
 "session_3_date_time":"11:05 am on 12 June, 2023",
 "session_4_date_time":"11:05 am on 13 June, 2023"},
 "qa":[{"question":"Who has a dentist?","category":4,"evidence":["D3:1"]},
  {"question":"What about the kayak?","category":1,"evidence":["D1:2; D3:1"]},
  {"question":"kayak","category":5,"evidence":["D1:1"],"adversarial_answer":"x"},
  {"question":"kayak","category":3,"evidence":[]}]}]`

const meetings = `{"topic_list":[],"general_query_list":[{"query":"Sum it up."}],
 "specific_query_list":[{"query":"What of the budget?","answer":"x","relevant_text_span":[["1","2"],[3,3]]},{"query":"no stretch","relevant_text_span":[]}],
 "meeting_transcripts":[{"speaker":"Chair","content":"Welcome ."},{"speaker":"Ann","content":"The budget is small ."},{"speaker":"Ben","content":"How small ?"},{"speaker":"Ann","content":"Budget of ten ."}]}
`

const chats = `{"chat":1,"messages":[{"id":0,"role":"user","content":"My anchor is a kayak. ->-> 1,1","time_anchor":"March-15-2024","index":"1,1"},{"id":1,"role":"assistant","content":"Noted."},
 {"id":2,"role":"user","content":"The dentist moved."},{"id":3,"role":"assistant","content":"Where to?","time_anchor":null},{"id":4,"role":"assistant","content":"Well?","time_anchor":"April-02-2024"}],
 "questions":{"temporal_reasoning":[{"question":"When was the kayak?","source_chat_ids":{"second_event":[2],"first_event":[0]}}],
  "abstention":[{"question":"Who?"}],"event_ordering":[{"question":"In what order?","source_chat_ids":[4,[0,9]]},{"question":"None?","source_chat_ids":[]}]}}
`

const (
	beirCorpus = `{"_id":"11","title":"Whales","text":"Whales sing. They dive.","metadata":{}}
{"_id":"12","title":"Deserts","text":"Camels rest.","metadata":{}}
{"_id":"13","title":"Songs","text":"A song of whales and whalers.","metadata":{}}
`
	beirQueries = `{"_id":"1","text":"the camel"}
{"_id":"2","text":"whale"}
{"_id":"3","text":"unjudged"}
`
	beirQrels = "query-id\tcorpus-id\tscore\n1\t12\t1\n2\t13\t1\n2\t12\t0\n"
)

func zipped(t testing.TB) *fstest.MapFile {
	t.Helper()
	var z bytes.Buffer
	w := zip.NewWriter(&z)
	f, err := w.Create("corpus_train.csv")
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write([]byte("doc_id,title,abstract,structured\n" +
		"11,Whales,\"['Whales sing.'\n 'They dive.']\",False\n" +
		"12,Deserts,['Camels rest.'],False\n" +
		"13,Songs,['A song of whales and whalers.'],False\n"))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: z.Bytes()}
}

// forms returns each data set in several forms, which must be read in the same way. The first form has the names and
// the format of the published files. The other forms have other paths or packed files, or contain the questions and
// sessions in separate files.
func forms(t testing.TB) map[string][]fstest.MapFS {
	return map[string][]fstest.MapFS{
		"longmemeval": {
			{"longmemeval_s.json": file(published)},
			{"longmemeval-cleaned/longmemeval_s_cleaned.json": file("\uFEFF" + published)},
			{"longmemeval/data/longmemeval_s.json.gz": packed(t, published)},
			{"dev/questions.jsonl.gz": packed(t, splitAsked), "dev/sessions.jsonl.gz": packed(t, splitSessions)},
			{"questions.jsonl": file(splitAsked), "sessions.jsonl": file(splitSessions)},
		},
		"locomo": {
			{"locomo/data/locomo10.json": file(talks)},
			{"dev/locomo5.json.gz": packed(t, talks)},
		},
		"beam": {
			{"beam/beam_100K.jsonl": file(chats)},
			{"beam_500K.jsonl.gz": packed(t, chats)},
		},
		"qmsum": {
			{"QMSum/data/ALL/jsonl/test.jsonl": file(meetings)},
			{"qmsum-val/val.jsonl.gz": packed(t, meetings)},
		},
		"scifact": {
			{
				"scifact/corpus.jsonl":   file(beirCorpus),
				"scifact/queries.jsonl":  file(beirQueries),
				"scifact/qrels/test.tsv": file(beirQrels),
			},
			{
				"beir/scifact/corpus.jsonl.gz": packed(t, beirCorpus),
				"beir/scifact/queries.jsonl":   file(beirQueries),
				"beir/scifact/qrels/test.tsv":  file(beirQrels),
			},
			{
				"scifact/scifact.zip":                            zipped(t),
				"scifact/topics.beir-v1.0.0-scifact.test.tsv.gz": packed(t, "1\tthe camel\n2\twhale\n3\tunjudged\n"),
				"scifact/qrels.beir-v1.0.0-scifact.test.txt":     file("1 0 12 1\n2 0 13 1\n2 0 12 0\n"),
			},
		},
	}
}

// told describes cases in a text, so that they can be compared.
func told(t testing.TB, s *DataSetSource) string {
	t.Helper()
	var b strings.Builder
	for c, err := range s.Cases() {
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(c.EntryKind + "\n")
		for _, e := range c.Entries {
			b.WriteString("  " + e.Name + " " + e.ID + " " + e.Date.Format("2006-01-02 15:04") + " " +
				strings.ReplaceAll(e.Text, "\n\n", " | ") + "\n")
		}
		for _, a := range c.Questions {
			var right []string
			for id := range a.RelevantIDs {
				right = append(right, id)
			}
			slices.Sort(right)
			b.WriteString("  ? " + a.Text + " [" + strings.Join(a.GroupNames, ", ") + "] " + strings.Join(right, " ") +
				"\n")
		}
	}
	return b.String()
}

func TestSetsAreRead(t *testing.T) {
	want := map[string]string{
		"longmemeval": `sessions
  s0001 a 2026-01-01 10:00 user: blue whale whale | assistant: Noted.
  s0002 b 2026-01-02 10:00 user: Good morning. | assistant: A whale song.
  s0003 answer_c 2026-01-03 10:00 user: nothing of that
  ? Which whale sings? [plain, answerable] b
turns
  t00001 a#0 2026-01-01 10:00 user: blue whale whale
  t00002 a#1 2026-01-01 10:00 assistant: Noted.
  t00003 b#0 2026-01-02 10:00 user: Good morning.
  t00004 b#1 2026-01-02 10:00 assistant: A whale song.
  t00005 answer_c#0 2026-01-03 10:00 user: nothing of that
  ? Which whale sings? [plain, answerable] b#1
sessions
  s0001 a 2026-01-01 10:00 user: blue whale whale | assistant: Noted.
  s0002 answer_c 2026-01-03 10:00 user: nothing of that
  ? answer [plain] answer_c
`,
		"locomo": `sessions
  s0001 D1 2023-05-08 13:56 Ann: I bought a kayak. | Ben: Lovely river weather.
  s0003 D3 2023-06-12 11:05 Ben: My dentist moved.
  ? Who has a dentist? [single hop, all five categories] D3
  ? What about the kayak? [several hops, all five categories] D1 D3
  ? kayak [adversarial, all five categories] D1
sessions with captions
  s0001 D1 2023-05-08 13:56 Ann: I bought a kayak. | Ben: Lovely river weather. [shares a river]
  s0003 D3 2023-06-12 11:05 Ben: My dentist moved.
  ? Who has a dentist? [single hop, all five categories] D3
  ? What about the kayak? [several hops, all five categories] D1 D3
  ? kayak [adversarial, all five categories] D1
turns
  t0001 D1:1 2023-05-08 13:56 Ann: I bought a kayak.
  t0002 D1:2 2023-05-08 13:56 Ben: Lovely river weather.
  t0003 D3:1 2023-06-12 11:05 Ben: My dentist moved.
  ? Who has a dentist? [single hop, all five categories] D3:1
  ? What about the kayak? [several hops, all five categories] D1:2 D3:1
  ? kayak [adversarial, all five categories] D1:1
`,
		"beam": `exchanges
  t00001 0 2024-03-15 12:00 user: My anchor is a kayak. | assistant: Noted.
  t00003 2 2024-03-15 12:00 user: The dentist moved. | assistant: Where to? | assistant: Well?
  ? In what order? [event ordering] 0 2
  ? When was the kayak? [temporal reasoning] 0 2
turns
  t00001 0 2024-03-15 12:00 user: My anchor is a kayak.
  t00002 1 2024-03-15 12:00 assistant: Noted.
  t00003 2 2024-03-15 12:00 user: The dentist moved.
  t00004 3 2024-03-15 12:00 assistant: Where to?
  t00005 4 2024-04-02 12:00 assistant: Well?
  ? In what order? [event ordering] 0 4 9
  ? When was the kayak? [temporal reasoning] 0 2
`,
		"qmsum": `turns
  t00001 0 2020-01-01 12:00 Chair: Welcome .
  t00002 1 2020-01-01 12:00 Ann: The budget is small .
  t00003 2 2020-01-01 12:00 Ben: How small ?
  t00004 3 2020-01-01 12:00 Ann: Budget of ten .
  ? What of the budget? [] 1 2 3
`,
		"scifact": `abstracts
  a00001 11 2020-01-01 12:00 Whales | Whales sing. They dive.
  a00002 12 2020-01-01 12:00 Deserts | Camels rest.
  a00003 13 2020-01-01 12:00 Songs | A song of whales and whalers.
  ? the camel [] 12
  ? whale [] 13
`,
	}
	for name, fss := range forms(t) {
		for _, fsys := range fss {
			s, err := FindSource(fsys, "/sets", name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := told(t, s); got != want[name] {
				t.Errorf("%v gives\n%s\nwant\n%s", s.Files, got, want[name])
			}
		}
	}
}

// TestFind tests how the files of a test set are found. A file name such as val.jsonl is used by many sets. Such a file
// may only be used if another sign, such as the directory's name, shows that it belongs to the set.
func TestFind(t *testing.T) {
	other := fstest.MapFS{"nfcorpus/corpus.jsonl": file(beirCorpus), "nfcorpus/queries.jsonl": file(beirQueries),
		"nfcorpus/qrels/test.tsv": file(beirQrels),
		"val.jsonl":               file(meetings), "scifact/corpus.jsonl": file(beirCorpus)}
	for _, s := range QuestionSets() {
		if found, err := s.FindSources(other, "/sets"); err != nil || len(found) > 0 {
			t.Errorf("%s: Find() = %v, %v, want nothing", s.Name, found, err)
		}
	}
	if s, err := FindSource(other, "/home/me/QMSum-dev", "qmsum"); err != nil ||
		!slices.Equal(s.Files, []string{"val.jsonl"}) {
		t.Errorf("FindSource(qmsum) = %v, %v", s, err)
	}
	if _, err := FindSource(other, "/sets", "locomo"); err == nil || !strings.Contains(err.Error(), "locomo10.json") ||
		!strings.Contains(err.Error(), "https://") {
		t.Errorf("FindSource(locomo) = %v, want what is missing and where it is", err)
	}
	both := fstest.MapFS{
		"a/locomo10.json":  file(talks),
		"b/locomo5.json":   file(talks),
		"qmsum/val.jsonl":  file(meetings),
		"qmsum/test.jsonl": file(meetings),
	}
	for name, want := range map[string][][]string{
		"locomo": {{"a/locomo10.json"}, {"b/locomo5.json"}},
		"qmsum":  {{"qmsum/val.jsonl", "qmsum/test.jsonl"}},
	} {
		for _, s := range QuestionSets() {
			if s.Name != name {
				continue
			}
			found, err := s.FindSources(both, ".")
			var got [][]string
			for _, f := range found {
				got = append(got, f.Files)
			}
			if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s: Find() = %v, %v, want %v", name, got, err, want)
			}
		}
	}
}

// TestDamagedSets tests that an error about damaged data names the file, the position, and where to get
// the file again.
func TestDamagedSets(t *testing.T) {
	cut := func(f *fstest.MapFile) *fstest.MapFile { return &fstest.MapFile{Data: f.Data[:len(f.Data)/2]} }
	swap := func(s, from, to string) *fstest.MapFile {
		if !strings.Contains(s, from) {
			t.Fatalf("the sample has no %q", from)
		}
		return file(strings.Replace(s, from, to, 1))
	}
	qrels := "scifact/qrels/test.tsv"
	beir := func(name string, f *fstest.MapFile) fstest.MapFS {
		m := fstest.MapFS{
			"scifact/corpus.jsonl":  file(beirCorpus),
			"scifact/queries.jsonl": file(beirQueries),
			qrels:                   file(beirQrels),
		}
		m[name] = f
		return m
	}
	for _, tt := range []struct {
		set  string
		fsys fstest.MapFS
		want []string
	}{
		{
			"longmemeval",
			fstest.MapFS{"longmemeval_s.json": file(published[:len(published)/2])},
			[]string{"longmemeval_s.json: object 1", "cut off"},
		},
		{"longmemeval", fstest.MapFS{"longmemeval_s.json": file(published[:len(published)-1])}, []string{"cut off"}},
		{"longmemeval", fstest.MapFS{"longmemeval_s.json": file("")}, []string{"cut off"}},
		{"longmemeval", fstest.MapFS{"longmemeval_s.json": file("[]")}, nil},
		{
			"longmemeval",
			fstest.MapFS{"longmemeval_s.json.gz": cut(packed(t, published))},
			[]string{"longmemeval_s.json.gz", "cut off"},
		},
		{"longmemeval", fstest.MapFS{"longmemeval_s.json.gz": file(published)}, []string{"unpacking it"}},
		{
			"longmemeval",
			fstest.MapFS{"longmemeval_s.json": file(`<html>not found</html>`)},
			[]string{"object 1", "invalid character"},
		},
		{
			"longmemeval",
			fstest.MapFS{"longmemeval_s.json": swap(published, `"2026/01/02 (Fri) 10:00"`, `"yesterday"`)},
			[]string{"question 1", `session "b"`, "2023/04/30"},
		},
		{
			"longmemeval",
			fstest.MapFS{"longmemeval_s.json": swap(published, `"2026/01/02 (Fri) 10:00",`, ``)},
			[]string{"question 1", "3 haystack_dates"},
		},
		{
			"longmemeval",
			fstest.MapFS{"longmemeval_s.json": swap(published, `["b"]`, `["z"]`)},
			[]string{"question 1", `"z", which is not in its haystack`},
		},
		{
			"longmemeval",
			fstest.MapFS{"longmemeval_s.json": swap(published, `"role":"user",`, ``)},
			[]string{"a turn has no role"},
		},
		{
			"longmemeval",
			fstest.MapFS{
				"questions.jsonl": file(splitAsked),
				"sessions.jsonl":  swap(splitSessions, `"id":"b"`, `"id":"d"`),
			},
			[]string{"questions.jsonl", `names session "b"`},
		},
		{
			"longmemeval",
			fstest.MapFS{
				"questions.jsonl": swap(splitAsked, `["b",1]`, `["b",2]`),
				"sessions.jsonl":  file(splitSessions),
			},
			[]string{"turn 2 of session"},
		},
		{
			"longmemeval",
			fstest.MapFS{
				"questions.jsonl": file(splitAsked),
				"sessions.jsonl":  swap(splitSessions, `["user","Good morning."]`, `["user"]`),
			},
			[]string{"sessions.jsonl", "[role, text]"},
		},
		{
			"locomo",
			fstest.MapFS{"locomo10.json": swap(talks, "8 May, 2023", "8.5.2023")},
			[]string{"conversation 1", "session_1", "8 May, 2023"},
		},
		{
			"locomo",
			fstest.MapFS{"locomo10.json": swap(talks, `"dia_id":"D1:1",`, "")},
			[]string{"turn 1 has no speaker or no dia_id"},
		},
		{
			"locomo",
			fstest.MapFS{"locomo10.json": swap(talks, `"category":4`, `"category":9`)},
			[]string{"question 1", "category 9"},
		},
		{
			"locomo",
			fstest.MapFS{"locomo10.json": file(`[{"conversation":{}}]`)},
			[]string{"conversation 1", "no sessions"},
		},
		{
			"beam",
			fstest.MapFS{"beam_1M.jsonl": swap(chats, "March-15-2024", "2024-03-15")},
			[]string{"chat 1", "message 1", "March-15-2024"},
		},
		{
			"beam",
			fstest.MapFS{"beam_1M.jsonl": swap(chats, `"id":1`, `"id":0`)},
			[]string{"message 2", "the id of another"},
		},
		{"beam", fstest.MapFS{"beam_1M.jsonl": swap(chats, `[4,[0,9]]`, `["four"]`)}, []string{"four, which is no id"}},
		{"beam", fstest.MapFS{"beam_1M.jsonl": file(`{"messages":[]}`)}, []string{"chat 1", "no messages"}},
		{
			"qmsum",
			fstest.MapFS{"qmsum/test.jsonl": swap(meetings, `["1","2"]`, `["2"]`)},
			[]string{"meeting 1", "query 1", "[2]"},
		},
		{
			"qmsum",
			fstest.MapFS{"qmsum/test.jsonl": swap(meetings, `["1","2"]`, `["one","2"]`)},
			[]string{`"one" is not the number of a turn`},
		},
		{"qmsum", fstest.MapFS{"qmsum/test.jsonl": file("{}")}, []string{"meeting 1", "no meeting_transcripts"}},
		{"scifact", beir(qrels, file("1\t12\n")), []string{qrels, "line 1 has 2 fields"}},
		{"scifact", beir(qrels, file("1\t12\tvery\n")), []string{`"very" is not a relevance`}},
		{"scifact", beir(qrels, file("9\t12\t1\n")), []string{"judges none of the 3 queries"}},
		{
			"scifact",
			beir("scifact/corpus.jsonl", swap(beirCorpus, `"_id":"12"`, `"id":"12"`)),
			[]string{"corpus.jsonl", "object 2 has no _id"},
		},
		{
			"scifact",
			fstest.MapFS{
				"scifact/scifact.zip":                         file("PK"),
				"scifact/topics.beir-v1.0.0-scifact.test.tsv": file("1\ta\n"),
				"scifact/qrels.beir-v1.0.0-scifact.test.txt":  file("1 0 1 1\n"),
			},
			[]string{"scifact.zip", "unpacking"},
		},
	} {
		_, err := Run(t.Context(), Options{DataFS: tt.fsys, DataDir: "/sets", DataSetNames: []string{tt.set}})
		var d *DataError
		if !errors.As(err, &d) || !strings.HasPrefix(d.URL, "https://") {
			t.Errorf("%s: Run() = %v, want a DataError", tt.set, err)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %q is without %q", tt.set, err, w)
			}
		}
	}
}

func TestPythonStrings(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{`[]`, nil},
		{`['one']`, []string{"one"}},
		{"['one'\n 'two' 'three']", []string{"one", "two", "three"}},
		{`['a', "it's", 'say \'x\'', "say \"y\""]`, []string{"a", "it's", "say 'x'", `say "y"`}},
		{`['p \xb1 q\u2009r', 'café ≥', 'back\\slash\n']`, []string{"p ± q\u2009r", "café ≥", "back\\slash\n"}},
	} {
		if got, err := parsePythonStrings(tt.in); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("parsePythonStrings(%s) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{``, `'a'`, `['a]`, `[a]`, `['\q']`} {
		if got, err := parsePythonStrings(in); err == nil {
			t.Errorf("parsePythonStrings(%s) = %q, want an error", in, got)
		}
	}
}

// FuzzCases tests that any file is read or refused, and that every question has an answer.
func FuzzCases(f *testing.F) {
	for _, s := range []string{published, talks, meetings, beirCorpus, beirQueries, beirQrels, splitAsked,
		splitSessions, "1 0 12 1\n", "['a' 'b']", "[", ""} {
		for which := range 8 {
			f.Add(byte(which), []byte(s))
		}
	}
	names := []string{"longmemeval_s.json", "questions.jsonl", "sessions.jsonl", "locomo10.json", "qmsum/val.jsonl",
		"scifact/corpus.jsonl", "scifact/queries.jsonl", "scifact/qrels/test.tsv"}
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		fsys := fstest.MapFS{"questions.jsonl": file(splitAsked), "sessions.jsonl": file(splitSessions),
			"scifact/corpus.jsonl": file(beirCorpus), "scifact/queries.jsonl": file(beirQueries),
			"scifact/qrels/test.tsv": file(beirQrels)}
		fsys[names[int(which)%len(names)]] = &fstest.MapFile{Data: b}
		for _, set := range QuestionSets() {
			found, err := set.FindSources(fsys, "/")
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range found {
				for c, err := range s.Cases() {
					var d *DataError
					if err != nil {
						if !errors.As(err, &d) {
							t.Fatalf("error %v is no DataError", err)
						}
						continue
					}
					for _, a := range c.Questions {
						if len(a.RelevantIDs) == 0 || len(c.Entries) == 0 ||
							(strings.TrimSpace(a.Text) == "" && set.Name != "scifact") {
							t.Fatalf(
								"%s: asks %q of %d entries, %d of them right",
								set.Name,
								a.Text,
								len(c.Entries),
								len(a.RelevantIDs),
							)
						}
					}
				}
			}
		}
		if list, err := parsePythonStrings(string(b)); err != nil && list != nil {
			t.Fatal("a list beside an error")
		}
	})
}
