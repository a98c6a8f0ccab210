// This file tests the command quality on the built-in set, on small sets in their published formats,
// and with a local embedding endpoint. Package quality tests the reading and measuring of sets.

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestQualityTiny(t *testing.T) {
	out := runBench(t, "quality", "--groups")
	if !strings.HasPrefix(out, "machine: ") {
		t.Errorf("output begins with %q, want the machine", out[:20])
	}
	for _, ranking := range []string{"seed", "oxbow"} {
		if all := regexp.MustCompile(ranking + ` \|   3 \|( +1\.0000 \|){11}`); !all.MatchString(out) {
			t.Errorf("%s does not find all first:\n%s", ranking, out)
		}
	}
	if got, want := cells(
		t,
		out,
		"LongMemEval sessions, two sessions",
	)[2:4], []string{"1", "1.0000"}; !slices.Equal(got, want) {
		t.Errorf("questions with two sessions: %v, want %v", got, want)
	}
	// Skip the first line, which contains the current load.
	_, body, _ := strings.Cut(out, "\n")
	if _, again, _ := strings.Cut(runBench(t, "quality", "--groups"), "\n"); again != body {
		t.Errorf("two runs differ:\n%s\n%s", body, again)
	}
}

func TestQualityData(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"questions.jsonl", "sessions.jsonl"} {
		b, err := tinyDataSet.ReadFile("tiny/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := runBench(t, "quality", "--data", dir, "--set", "longmemeval")
	if got := cells(t, out, "LongMemEval sessions"); got[2] != "3" {
		t.Errorf("row %v, want 3 questions", got)
	}
	// The scores of the questions can be compared later.
	scores := filepath.Join(t.TempDir(), "scores.jsonl")
	runBench(t, "quality", "--data", dir, "--scores", scores)
	out = runBench(t, "quality", "--data", dir, "--against", scores)
	if !strings.Contains(out, "| longmemeval sessions |   oxbow |   3 | +0.0000 | +0.0000 to +0.0000 |") {
		t.Errorf("compared with itself:\n%s", out)
	}
	if err := runCommand(
		t.Context(),
		[]string{"quality", "--data", dir, "--against", filepath.Join(dir, "questions.jsonl")},
		io.Discard,
		io.Discard,
	); err == nil || !strings.Contains(err.Error(), "is no line of --scores") {
		t.Errorf("a file of something else is compared with: %v", err)
	}
	// The table of common words is computed from the set.
	if out := runBench(t, "words", "--data", dir); !strings.HasPrefix(out, "the 571\na 500\non 357\n") {
		t.Errorf("words gives %q", out)
	}
	// The sessions are texts for other measurements.
	var ids []string
	if err := eachSession(os.DirFS(dir), func(id, text string) error {
		ids = append(ids, id)
		if !strings.HasPrefix(text, "user: ") {
			t.Errorf("session %s is %q", id, text)
		}
		return nil
	}); err != nil || !slices.Equal(ids, []string{"bike", "garden", "recipe", "trip", "trip2", "work"}) {
		t.Errorf("walkSessions gives %v, %v", ids, err)
	}
}

const qualitySets = "testdata/quality/sets"

// TestQualitySets runs the command quality for the published data sets, and checks the printed scores, the messages
// about missing sets, the groups and the JSON output.
func TestQualitySets(t *testing.T) {
	out := runBench(t, "quality", "--data", qualitySets)
	for _, want := range []string{
		"The scorer is not proved: SciFact with k1 0.9, b 0.4 gives nDCG@10 1.0000; published is .6777: ",
		"Not there: LoCoMo: locomo10.json, from https://github.com/snap-research/locomo",
		"| LongMemEval turns ", "| SciFact abstracts ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("output without %q:\n%s", want, out)
		}
	}
	if got, want := cells(t, out, "QMSum turns")[1:], []string{"seed", "1", ".0000", "1.0000", "1.0000", "1.0000",
		"1.0000", "1.0000", "1.0000", ".6309", ".6309", "1.0000", ".5000"}; !slices.Equal(got[:13], want) {
		t.Errorf("QMSum turns: %q, want %q", got, want)
	}
	if strings.Contains(out, ", plain") {
		t.Errorf("without --groups it shows a group:\n%s", out)
	}
	out = runBench(t, "quality", "--data", qualitySets, "--set", "longmemeval", "--groups")
	if !strings.Contains(out, "sessions, plain") || strings.Contains(out, "QMSum") ||
		strings.Contains(out, "Not there") {
		t.Errorf("one set by groups:\n%s", out)
	}
	out = runBench(t, "quality", "--data", qualitySets, "--json")
	for _, want := range []string{
		`"recall_any@1":1,`,
		`"files":["longmemeval/longmemeval_s.json"]`,
		`"missing":[{"set":"locomo"`,
		`"proved":false`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("JSON without %q:\n%s", want, out)
		}
	}
}

// TestQualityErrors tests that errors include advice, that each broken set is named, and that the other
// sets are measured nevertheless.
func TestQualityErrors(t *testing.T) {
	t.Setenv(embeddingKeyVar, "secret")
	local := []string{"--embed", "http://127.0.0.1:1"}
	with := func(args ...string) []string { return append([]string{"--data", qualitySets}, args...) }
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{with("--set", "squad"), []string{"there are longmemeval, locomo, beam, qmsum, scifact"}},
		{
			[]string{"--data", "nowhere"},
			[]string{
				"nowhere is not a directory",
				"from https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned",
			},
		},
		{[]string{"--data", t.TempDir()}, []string{"holds none of the sets", "LoCoMo: locomo10.json"}},
		{[]string{"--data", "testdata/quality/damaged"}, []string{
			"measuring LongMemEval: reading longmemeval_s.json: object 1: it ends too early: it was cut off",
			"get longmemeval_s.json again from https://huggingface.co/"}},
		{[]string{"--data", "testdata/quality/broken"}, []string{"reading longmemeval_s.json: object 1: ",
			"reading qmsum/val.jsonl: meeting 1: has no meeting_transcripts",
			"get val.jsonl again from https://github.com/Yale-LILY/QMSum"}},
		{with(local...), []string{"add --embed-model NAME"}},
		{with("--embed-model", "m"), []string{"add --embed URL"}},
		{with("--embed", "127.0.0.1:1", "--embed-model", "m"), []string{"for example --embed http://"}},
		{with("--embed", "http://192.0.2.1", "--embed-model", "m"), []string{"without encryption: use https"}},
		{with(append(local, "--embed-model", "m", "--embed-batch", "0")...), []string{"give numbers above 0"}},
		{
			with(append(local, "--embed-model", "m", "--cache", "testdata/quality/damaged/longmemeval_s.json")...),
			[]string{"making the cache"},
		},
	} {
		var out, log bytes.Buffer
		err := runCommand(t.Context(), append([]string{"quality"}, tt.args...), &out, &log)
		if err == nil {
			t.Errorf("quality %q is no error", tt.args)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("quality %q = %v, want %q", tt.args, err, want)
			}
		}
		if strings.HasSuffix(tt.args[1], "broken") && cells(t, out.String(), "LoCoMo turns")[3] != "1.0000" {
			t.Errorf("beside broken sets the sound one is not measured:\n%s", out.String())
		}
	}
}

// letters returns a vector with the number of times that each letter occurs in the text.
func letters(text string) []float64 {
	v := make([]float64, 26)
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' {
			v[r-'a']++
		}
	}
	return v
}

func TestQualityEmbedding(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // to find remaining files
	t.Setenv(embeddingKeyVar, "secret")
	asked := 0
	var key string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/embeddings" {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		key = r.Header.Get("Authorization")
		var data []map[string]any
		for i, s := range in.Input {
			asked++
			data = append(data, map[string]any{"index": i, "embedding": letters(s)})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	defer server.Close()
	sets := t.TempDir()
	// Session "a" is the answer. It contains no word of the question "zebra crossing", but all letters of the question.
	set := `[{"question_id":"q1","question_type":"plain","question":"zebra crossing",
		"haystack_session_ids":["a","b"],"haystack_dates":["2026/01/01 (Thu) 10:00","2026/01/02 (Fri) 10:00"],
		"haystack_sessions":[[{"role":"user","content":"zebras, crossings, zebras, crossings"}],[{"role":"user","content":"mummy"}]],
		"answer_session_ids":["a"]}]`
	if err := os.WriteFile(filepath.Join(sets, "longmemeval_s.json"), []byte(set), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"quality", "--data", sets, "--set", "longmemeval", "--embed", server.URL, "--embed-model",
		"letters", "--cache", t.TempDir()}
	out := runBench(t, args...)
	for _, want := range []string{
		"|    seed |   1 |  .0000 |", "|   oxbow |   1 | 1.0000 |", "| vectors |   1 | 1.0000 |",
		"|   fused |   1 | 1.0000 |",
		"Vectors: letters at " + server.URL + "/v1/embeddings, 26 numbers; 3 made in 2 requests",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("output without %q:\n%s", want, out)
		}
	}
	if asked != 3 || key != "Bearer secret" || strings.Contains(out, "secret") {
		t.Errorf("asked for %d vectors with the key %q", asked, key)
	}
	// The second run sends no requests, also with --json.
	out = runBench(t, append(args, "--json")...)
	if asked != 3 || !strings.Contains(out, `"ranking":"fused"`) || !strings.Contains(out, `"cached":3`) {
		t.Errorf("asked for %d vectors in all; output\n%s", asked, out)
	}
	// An error of the endpoint is reported with advice.
	notFound := httptest.NewServer(http.NotFoundHandler())
	defer notFound.Close()
	var buf bytes.Buffer
	err := runCommand(
		t.Context(),
		[]string{"quality", "--data", sets, "--embed", notFound.URL, "--embed-model", "m"},
		&buf,
		&buf,
	)
	if err == nil || !strings.Contains(err.Error(), "404 page not found") ||
		!strings.Contains(err.Error(), "does it have the model?") {
		t.Errorf("an endpoint without the model: %v", err)
	}
	// Without --cache, the vectors are deleted at the end.
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "oxbow-vectors-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
