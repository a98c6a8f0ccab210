// This file tests vectors with a test server that computes embeddings from the words of a text. It also tests fusion,
// which combines the ranking by words with the ranking by vectors.

package quality

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/oxbow-memory/oxbow/internal/vectors"
	"github.com/oxbow-memory/oxbow/test/vectorstest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// client returns a client of the endpoint that does not wait, but records the waiting times.
func client(t *testing.T, s *vectorstest.Server) (*vectors.Client, *[]time.Duration) {
	t.Helper()
	e, err := vectors.NewClient(s.URL, vectorstest.ModelName)
	if err != nil {
		t.Fatal(err)
	}
	waits := new([]time.Duration)
	e.HTTPClient = s.Client()
	e.RetryWait = func(ctx context.Context, d time.Duration) error { *waits = append(*waits, d); return ctx.Err() }
	return e, waits
}

// herons returns a made-up history in which the rankings by words and by vectors disagree. The parameter right is the
// ID of the session that counts as the answer.
//
// The question is "Any heron?". Its vector has the length √2. Session x contains "heron" four times, 40 other words,
// and the role "user", so its cosine is 4/(√(16+41)·√2) = .375. Session y is "user: heron" and has the cosine 1/(√2·√2)
// = .5. Session z has one more word and the cosine 1/(√3·√2) = .408. The ranking by words prefers four occurrences. So
// the order by words is x y z, the order by vectors is y z x, and the fused order is y x z (see TestFuse in
// internal/search/ranking).
func herons(right string) string {
	other := func(n int) string {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, " w%c%c%c", 'a'+n, 'a'+i/6, 'k'+i%6)
		}
		return b.String()
	}
	const day = `"2026/01/01 (Thu) 10:00"`
	turn := func(s string) string { return `[{"role":"user","content":"` + s + `"}]` }
	return `[{"question_id":"q","question_type":"birds","question":"Any heron?","answer_session_ids":["` + right + `"],
		"haystack_session_ids":["x","y","z","f","g","h"],"haystack_dates":[` + strings.Repeat(day+",", 5) + day + `],
		"haystack_sessions":[` + strings.Join([]string{turn("heron heron heron heron" + other(0)), turn("heron"), turn("heron sky"),
		turn(other(1) + other(2)), turn(other(3) + other(4)), turn(other(5) + other(6))}, ",") + `]}]`
}

func TestFusionChangesRanks(t *testing.T) {
	s := vectorstest.NewServer(t)
	for _, tt := range []struct {
		right                 string
		words, vectors, fused float64 // 1 divided by the rank
	}{
		{"x", 1, 1. / 3, 1. / 2},
		{"y", 1. / 2, 1, 1},
		{"z", 1. / 3, 1. / 2, 1. / 3},
	} {
		e, _ := client(t, s)
		r, err := Run(
			t.Context(),
			Options{
				DataFS:       fstest.MapFS{"longmemeval_s.json": file(herons(tt.right))},
				DataDir:      "/sets",
				DataSetNames: []string{"longmemeval"},
				Embedder:     e,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		got := rows(r, "longmemeval", "sessions")
		for name, want := range map[string]float64{"oxbow": tt.words, VectorRanking: tt.vectors, FusedRanking: tt.fused} {
			if s := got[name]; s.QuestionCount != 1 || math.Abs(s.MRR-want) > 1e-9 {
				t.Errorf("%s is right: %s gives MRR %v of %d, want %v", tt.right, name, s.MRR, s.QuestionCount, want)
			}
		}
		if len(got) != 4 {
			t.Errorf("rankings %v, want 4", got)
		}
		if m := r.EmbeddingStats; m == nil || m.ComputedTexts != 7 || m.Requests != 2 || m.Dimension != 512 ||
			m.Model != "bag" ||
			m.Endpoint != s.URL+"/v1/embeddings" {
			t.Errorf("embedding = %+v", m)
		}
	}
}

// TestCache tests that a damaged vector is computed again, and that the vector of another model is not
// used.
func TestCache(t *testing.T) {
	s := vectorstest.NewServer(t)
	e, _ := client(t, s)
	fsys := vfs.NewMem()
	e.Cache = &VectorCache{fsys}
	vs, err := e.Vectors(t.Context(), []string{"red", "blue"})
	if err != nil {
		t.Fatal(err)
	}
	endpoint := s.URL + "/v1/embeddings"
	name := cacheFileName(endpoint, "bag", "blue")
	b, err := vfs.ReadFile(fsys, name, maxVectorFileBytes)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := vfs.WriteFile(fsys, name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := e.Vectors(t.Context(), []string{"red", "blue"}); err != nil ||
		!slices.Equal(s.BatchSizes(), []int{2, 1}) || !slices.Equal(again[1], vs[1]) {
		t.Errorf("with a damaged file: %v, requests %v", err, s.BatchSizes())
	}
	if e.Cache.Get(endpoint, "other", "blue") != nil || e.Cache.Get("http://other", "bag", "blue") != nil {
		t.Error("the cache gives a vector of another model or endpoint")
	}
}

func TestNearest(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	es := []MemoryEntry{
		{ID: "old", Date: day(1)},
		{ID: "new", Date: day(2)},
		{ID: "newer", Date: day(2)},
		{ID: "best", Date: day(1)},
		{ID: "none", Date: day(3)},
	}
	vs := [][]float32{{1, 0}, {1, 0}, {1, 0}, {.8, .6}, {0, 0}}
	if got := nearestEntries(es, vs, []float32{.8, .6}, 4); strings.Join(got, " ") != "best newer new old" {
		t.Errorf("nearest() = %v", got)
	}
}

// FuzzVector tests that a file of the cache is either read as it was written or ignored.
func FuzzVector(f *testing.F) {
	f.Add(encodeVector([]float32{1, -2.5, 0}))
	f.Add([]byte(cacheMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if v := decodeVector(b); v != nil && string(encodeVector(v)) != string(b) {
			t.Fatalf("decodeVector(%x) = %v", b, v)
		}
	})
}
