// This file tests the measurements of quality on sets that are small enough to
// check by eye.

package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/oxbow-memory/oxbow/internal/bm25"
)

// The tiny set works without data, and the figures are those of its rankings.
func TestQualityTiny(t *testing.T) {
	out := runBench(t, "quality")
	if !strings.HasPrefix(out, "machine: ") {
		t.Errorf("output begins with %q, want the machine", out[:20])
	}
	for name, want := range map[string][]string{
		"oxbow":                       {"3", "1.0000", "1.0000", "1.0000", "1.0000", "1.0000", "1.0000"},
		"oxbow, answerable questions": {"3", "1.0000"},
		"oxbow, two sessions":         {"1", "1.0000"},
		// Without as many stop words, "did we with" lift the wrong session of
		// t3 to the top: 2 of 3, and (1 + 1 + 1/log2(3))/3, (1 + 1 + 1/2)/3.
		"same scorer": {"3", "0.6667", "1.0000", "1.0000", "1.0000", "0.8770", "0.8333"},
	} {
		got := cells(t, out, name)
		if !slices.Equal(got[1:1+len(want)], want) {
			t.Errorf("row %q = %v, want %v", name, got[1:], want)
		}
	}
	// All but the first line, which tells the load of the moment.
	_, body, _ := strings.Cut(out, "\n")
	if _, again, _ := strings.Cut(runBench(t, "quality"), "\n"); again != body {
		t.Errorf("two runs differ:\n%s\n%s", body, again)
	}
}

// What is not found first must lower the figures.
func TestQualityCountsMisses(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "longmemeval-dev")
	if err := os.Mkdir(set, 0o700); err != nil {
		t.Fatal(err)
	}
	// Packed, as the real sets are.
	write := func(name string, lines ...string) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(set, name+".gz"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sessions.jsonl",
		`{"id":"a","turns":[["user","blue whale whale"]]}`,
		`{"id":"b","turns":[["user","blue whale song"]]}`,
		`{"id":"answer_c","turns":[["user","nothing of that"]]}`)
	const hay = `"haystack":[["a","2026/01/01 (Thu) 10:00"],["b","2026/01/02 (Fri) 10:00"],["answer_c","2026/01/03 (Sat) 10:00"]]}`
	write("questions.jsonl",
		`{"question_id":"q1","question_type":"x","question":"whale?","answer_session_ids":["b"],`+hay,
		`{"question_id":"q2_abs","question_type":"x","question":"answer","answer_session_ids":["answer_c"],`+hay)
	out := runBench(t, "quality", "--data", dir)
	// q1 finds b second. q2 asks for a word of the session's id, which no
	// entry may be found by.
	if got, want := cells(t, out, "oxbow")[1:], []string{"2", "0.0000", "0.5000", "0.5000", "0.5000", "0.3155", "0.2500"}; !slices.Equal(got, want) {
		t.Errorf("all = %v, want %v", got, want)
	}
	if got, want := cells(t, out, "oxbow, answerable")[1:], []string{"1", "0.0000", "1.0000", "1.0000", "1.0000", "0.6309", "0.5000"}; !slices.Equal(got, want) {
		t.Errorf("answerable = %v, want %v", got, want)
	}
}

func TestStraws(t *testing.T) {
	texts := map[string]string{"a": "A", "b": "B"}
	q := question{ID: "q", Answers: []string{"b"}, Haystack: [][2]string{
		{"a", "2023/04/30 (Sun) 13:59"}, {"b", "2023/05/02 (Tue) 05:35"}, {"a", "2023/05/03 (Wed) 00:00"}}}
	got, err := q.straws(texts)
	if err != nil {
		t.Fatal(err)
	}
	want := []straw{{"s0001", "a", "A", time.Date(2023, 4, 30, 13, 59, 0, 0, time.UTC)}, {"s0002", "b", "B", time.Date(2023, 5, 2, 5, 35, 0, 0, time.UTC)}}
	if !slices.Equal(got, want) {
		t.Errorf("straws = %v, want %v", got, want)
	}
	for name, bad := range map[string]question{
		"unknown session": {Haystack: [][2]string{{"z", "2023/04/30 (Sun) 13:59"}}},
		"bad date":        {Haystack: [][2]string{{"a", "yesterday"}}},
		"answer not in the haystack": {Answers: []string{"b"},
			Haystack: [][2]string{{"a", "2023/04/30 (Sun) 13:59"}}},
	} {
		if got, err := bad.straws(texts); err == nil {
			t.Errorf("%s: straws = %v, want an error", name, got)
		}
	}
}

func TestLuceneTerms(t *testing.T) {
	l := newLucene()
	for _, tt := range []struct {
		in   string
		want []string
	}{
		// Stems by Porter's published rules.
		{"The relational databases' ponies", []string{"relat", "databas", "poni"}},
		{"It is NOT on the list", []string{"list"}},
		{"Parkinson's and Crohn\u2019s", []string{"parkinson", "crohn"}},
		{"TNF-alpha 1.5 mg, (ab) by", []string{"tnf", "alpha", "1.5", "mg", "ab"}},
		{"... -- !", nil},
		{"running running", []string{"run", "run"}},
	} {
		if got := l.terms(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("terms(%q) = %q, want %q", tt.in, got, tt.want)
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
		if got, err := pythonStrings(tt.in); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("pythonStrings(%s) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{``, `'a'`, `['a]`, `[a]`, `['\q']`} {
		if got, err := pythonStrings(in); err == nil {
			t.Errorf("pythonStrings(%s) = %q, want an error", in, got)
		}
	}
}

// A term that stands twice in the query counts twice.
func TestRepeated(t *testing.T) {
	x := bm25.New(bm25.Params{K1: .9, B: .4})
	x.Put(1, 0, bm25.Words([]string{"red", "x", "y"}))
	x.Put(2, 0, bm25.Words([]string{"blue", "x", "y"}))
	x.Put(3, 0, bm25.Words([]string{"red", "z", "z"})) // makes red the commoner, weaker word
	got := idsOf(repeated(x, []string{"red", "blue"}, 10))
	if want := []string{"2", "1", "3"}; !slices.Equal(got, want) {
		t.Errorf("once: %v, want %v", got, want)
	}
	// idf(blue) = ln(2.5/1.5 + 1) = 0.981, idf(red) = ln(1.5/2.5 + 1) = 0.470.
	got = idsOf(repeated(x, []string{"red", "blue", "red", "red"}, 2))
	if want := []string{"1", "3"}; !slices.Equal(got, want) {
		t.Errorf("three times red: %v, want %v", got, want)
	}
}

func TestSciFact(t *testing.T) {
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
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := fstest.MapFS{
		"scifact.zip":                         {Data: z.Bytes()},
		"topics.beir-v1.0.0-scifact.test.tsv": {Data: []byte("1\tthe camel\n2\twhale\n3\tunjudged\n")},
		"qrels.beir-v1.0.0-scifact.test.txt":  {Data: []byte("1 0 12 1\n2 0 13 1\n2 0 12 0\n")},
	}
	var out, log bytes.Buffer
	if err := measureSciFact(t.Context(), &bench{out: &out, log: &log}, data); err != nil {
		t.Fatal(err)
	}
	// Topic 1 is found first. Topic 2 comes second, after the shorter abstract
	// that says whales twice: (1 + 1/log2(3))/2 = 0.8155.
	if got, want := cells(t, out.String(), "oxbow's scorer")[1:5], []string{"0.9", "0.4", "0.8155", "1.0000"}; !slices.Equal(got, want) {
		t.Errorf("scifact = %v, want %v", got, want)
	}
}

func TestLoCoMo(t *testing.T) {
	data := fstest.MapFS{"locomo5.json": {Data: []byte(`[{"conversation":{
		"speaker_a":"Ann","speaker_b":"Ben",
		"session_1":[{"speaker":"Ann","dia_id":"D1:1","text":"I bought a kayak."},{"speaker":"Ben","dia_id":"D1:2","text":"Lovely river weather."}],
		"session_1_date_time":"1:56 pm on 8 May, 2023",
		"session_2":[{"speaker":"Ben","dia_id":"D2:1","text":"My dentist moved."}],
		"session_2_date_time":"11:05 am on 12 June, 2023"},
		"qa":[{"question":"Who has a dentist?","category":4,"evidence":["D2:1"]},
			{"question":"What about the kayak?","category":1,"evidence":["D1:2; D2:1"]},
			{"question":"kayak","category":5,"evidence":["D1:1"]},
			{"question":"kayak","category":3,"evidence":[]}]}]`)}}
	var out, log bytes.Buffer
	if err := measureLoCoMo(t.Context(), &bench{out: &out, log: &log}, data); err != nil {
		t.Fatal(err)
	}
	// The second question finds session 1, where part of the answer stands,
	// and turn D1:1 before its neighbour D1:2. The other two do not count.
	if got, want := cells(t, out.String(), "sessions")[1:4], []string{"2", "1.0000", "1.0000"}; !slices.Equal(got, want) {
		t.Errorf("sessions = %v, want %v", got, want)
	}
	if got, want := cells(t, out.String(), "turns")[1:4], []string{"2", "0.5000", "1.0000"}; !slices.Equal(got, want) {
		t.Errorf("turns = %v, want %v", got, want)
	}
}
