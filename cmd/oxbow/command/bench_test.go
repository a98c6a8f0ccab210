// This file tests "oxbow bench" against an embedding endpoint on this machine,
// and on a terminal.

package command

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// letters embeds a text as how often each letter stands in it.
func letters(text string) []float64 {
	v := make([]float64, 26)
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' {
			v[r-'a']++
		}
	}
	return v
}

func TestBenchEmbedding(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // to see what is left there
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
	w := newWorld(t)
	sets := filepath.Join(w.dir, "sets")
	if err := os.Mkdir(sets, 0o700); err != nil {
		t.Fatal(err)
	}
	// No word of the question stands in what answers it, but all its letters do.
	set := `[{"question_id":"q1","question_type":"plain","question":"zebra crossing",
		"haystack_session_ids":["a","b"],"haystack_dates":["2026/01/01 (Thu) 10:00","2026/01/02 (Fri) 10:00"],
		"haystack_sessions":[[{"role":"user","content":"zebras, crossings, zebras, crossings"}],[{"role":"user","content":"mummy"}]],
		"answer_session_ids":["a"]}]`
	if err := os.WriteFile(filepath.Join(sets, "longmemeval_s.json"), []byte(set), 0o600); err != nil {
		t.Fatal(err)
	}
	w.vars[embedKey] = "secret"
	args := []string{"bench", "quality", "--data", "sets", "--set", "longmemeval", "--embed", server.URL, "--embed-model", "letters", "--cache", "vectors"}
	out := w.must(t, args...)
	for _, want := range []string{
		" seed         1  .0000",
		" oxbow        1 1.0000",
		" vectors      1 1.0000",
		" fused        1 1.0000",
		"Vectors: letters at " + server.URL + "/v1/embeddings, 26 numbers; 3 made in 2 requests",
	} {
		if !strings.Contains(strings.ReplaceAll(out, "in\n", "in "), want) {
			t.Errorf("output without %q:\n%s", want, out)
		}
	}
	if asked != 3 || key != "Bearer secret" || strings.Contains(out, "secret") {
		t.Errorf("asked for %d vectors with the key %q", asked, key)
	}
	// The second time nothing is asked for, also as JSON.
	out = w.must(t, append(args, "--json")...)
	if asked != 3 || !strings.Contains(out, `"ranking":"fused"`) || !strings.Contains(out, `"cached":3`) {
		t.Errorf("asked for %d vectors in all; output\n%s", asked, out)
	}
	// Progress is for a terminal only.
	if w.errs.Len() > 0 {
		t.Errorf("without a terminal it says %q", w.errs.String())
	}
	w.env.StderrTerm = true
	w.must(t, args...)
	if got := w.errs.String(); !strings.Contains(got, "\rasking LongMemEval: 1") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("on a terminal it says %q", got)
	}
	// What cannot be had is said with what to do.
	w.env.StderrTerm = false
	notFound := httptest.NewServer(http.NotFoundHandler())
	defer notFound.Close()
	status, _, stderr := w.run(t, "bench", "quality", "--data", "sets", "--embed", notFound.URL, "--embed-model", "m")
	if status != exitFailed || !strings.Contains(stderr, "404 page not found") || !strings.Contains(stderr, "does it have the model?") {
		t.Errorf("status %d, %s", status, stderr)
	}
	// Without --cache, what was made goes with the run.
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "oxbow-vectors-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
