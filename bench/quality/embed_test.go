// Tests vectors and fusion against an endpoint of our own that really
// embeds: a bag of words, hashed.

package quality

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// bag is the vector of a text: how often each word stands in it, at a place that
// its hash gives, without length 1 so that the client must see to that.
func bag(text string) []float32 {
	v := make([]float32, 512)
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		h := fnv.New64a()
		_, _ = io.WriteString(h, w)
		v[h.Sum64()%512]++
	}
	return v
}

// stub is an endpoint that embeds. before, if not nil, may answer instead.
type stub struct {
	*httptest.Server
	batches []int
	keys    []string
	before  func(w http.ResponseWriter, n int) bool
}

func newStub(t *testing.T) *stub {
	s := new(stub)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/embeddings" || in.Model != "bag" {
			http.Error(w, fmt.Sprintf("what is %s %s of model %q? %v", r.Method, r.URL, in.Model, err), http.StatusNotFound)
			return
		}
		s.batches = append(s.batches, len(in.Input))
		s.keys = append(s.keys, r.Header.Get("Authorization"))
		if s.before != nil && s.before(w, len(s.batches)) {
			return
		}
		type one struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var out struct {
			Data []one `json:"data"`
		}
		for i, text := range slices.Backward(in.Input) { // any order will do
			out.Data = append(out.Data, one{i, bag(text)})
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(s.Close)
	return s
}

// client returns an Embedder that waits for nothing and writes down how long it
// would have.
func (s *stub) client(t *testing.T) (*Embedder, *[]time.Duration) {
	t.Helper()
	e, err := NewEmbedder(s.URL, "bag")
	if err != nil {
		t.Fatal(err)
	}
	waits := new([]time.Duration)
	e.Client = s.Client()
	e.Wait = func(ctx context.Context, d time.Duration) error { *waits = append(*waits, d); return ctx.Err() }
	return e, waits
}

func TestFuse(t *testing.T) {
	for _, tt := range []struct {
		a, b, want string
	}{
		// a is worth 1/61 + 1/62, c 1/63 + 1/61, b 1/62, d 1/64.
		{"a b c d", "c a", "a c b d"},
		// x is worth 1/61 + 1/63 = .03227, y 1/62 + 1/61 = .03252, z 1/63 + 1/62
		// = .03200.
		{"x y z", "y z x", "y x z"},
		// The ends gain more than the middle loses: 1/61 + 1/63 > 2/62.
		{"a b c", "c b a", "a c b"},
		{"a b", "", "a b"},
		{"", "b a", "b a"},
		{"", "", ""},
		// Equal worth: as met.
		{"a b", "c d", "a c b d"},
	} {
		if got := Fuse(strings.Fields(tt.a), strings.Fields(tt.b)); strings.Join(got, " ") != tt.want {
			t.Errorf("Fuse(%s; %s) = %v, want %s", tt.a, tt.b, got, tt.want)
		}
	}
}

// A made-up history in which words and vectors disagree.
//
// The question is "Any heron?", the vector of which has length √2. x says heron
// four times among 40 other words, and "user": its cosine is 4/(√(16+41)·√2) =
// .375. y says "user: heron": 1/(√2·√2) = .5. z has one word more: 1/(√3·√2) =
// .408. By words, four times is more. So words rank x y z, vectors y z x, and
// fused they are y x z (see TestFuse).
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
		turn(other(1)), turn(other(2)), turn(other(3))}, ",") + `]}]`
}

func TestFusionChangesRanks(t *testing.T) {
	s := newStub(t)
	for _, tt := range []struct {
		right                 string
		words, vectors, fused float64 // 1 divided by the place
	}{
		{"x", 1, 1. / 3, 1. / 2},
		{"y", 1. / 2, 1, 1},
		{"z", 1. / 3, 1. / 2, 1. / 3},
	} {
		e, _ := s.client(t)
		r, err := Run(t.Context(), Options{Data: fstest.MapFS{"longmemeval_s.json": file(herons(tt.right))}, Root: "/sets", Sets: []string{"longmemeval"}, Embedder: e})
		if err != nil {
			t.Fatal(err)
		}
		got := rows(r, "longmemeval", "sessions")
		for name, want := range map[string]float64{"oxbow": tt.words, Vectors: tt.vectors, Fused: tt.fused} {
			if s := got[name]; s.N != 1 || math.Abs(s.MRR-want) > 1e-9 {
				t.Errorf("%s is right: %s gives MRR %v of %d, want %v", tt.right, name, s.MRR, s.N, want)
			}
		}
		if len(got) != 4 {
			t.Errorf("rankings %v, want 4", got)
		}
		if m := r.Embed; m == nil || m.Made != 7 || m.Requests != 2 || m.Length != 512 || m.Model != "bag" || m.Endpoint != s.URL+"/v1/embeddings" {
			t.Errorf("embedding = %+v", m)
		}
	}
}

func TestVectors(t *testing.T) {
	s := newStub(t)
	e, _ := s.client(t)
	e.Batch, e.MaxBytes = 2, 7
	if err := e.SetKey("secret"); err != nil {
		t.Fatal(err)
	}
	fsys := vfs.NewMem()
	e.Cache = &Cache{fsys}
	texts := []string{"red red", "blue", "red red", "", "green über alles", "blue"}
	vs, err := e.Vectors(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	// Four different ones, the last of them cut off within the ü, at a rune.
	want := []string{"red red", "blue", "red red", "", "green ", "blue"}
	for i, v := range vs {
		w := bag(want[i])
		normalise(w)
		if !slices.Equal(v, w) {
			t.Errorf("vector of %q is not that of %q", texts[i], want[i])
		}
	}
	if !slices.Equal(s.batches, []int{2, 2}) || !slices.Equal(s.keys, []string{"Bearer secret", "Bearer secret"}) {
		t.Errorf("requests of %v texts with the keys %v", s.batches, s.keys)
	}
	// Again, by another client: all are there.
	e, _ = s.client(t)
	e.MaxBytes, e.Cache = 7, &Cache{fsys}
	again, err := e.Vectors(t.Context(), texts)
	if err != nil || len(s.batches) != 2 || !slices.EqualFunc(vs, again, slices.Equal) {
		t.Errorf("from the cache: %v, after %d requests", err, len(s.batches))
	}
	if e.stats.Cached != 6 || e.stats.Made != 0 || e.stats.Cut != 1 {
		t.Errorf("stats %+v", e.stats)
	}
	// A damaged one is made anew, and one of another model is none.
	name := cacheName(e.endpoint, "bag", "blue")
	b, err := vfs.ReadFile(fsys, name, maxVector)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := vfs.WriteFile(fsys, name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err = e.Vectors(t.Context(), texts); err != nil || !slices.Equal(s.batches, []int{2, 2, 1}) || !slices.Equal(again[1], vs[1]) {
		t.Errorf("with a damaged file: %v, requests %v", err, s.batches)
	}
	if (e.Cache).get(e.endpoint, "other", "blue") != nil || (e.Cache).get("http://other", "bag", "blue") != nil {
		t.Error("the cache gives a vector of another model or endpoint")
	}
}

func TestRetries(t *testing.T) {
	ask := func(before func(w http.ResponseWriter, n int) bool) (*stub, []time.Duration, error) {
		s := newStub(t)
		s.before = before
		e, waits := s.client(t)
		_, err := e.Vectors(t.Context(), []string{"one", "two"})
		return s, *waits, err
	}
	fail := func(w http.ResponseWriter, status int, body string) bool {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
	// Twice too busy, then well.
	s, waits, err := ask(func(w http.ResponseWriter, n int) bool { return n < 3 && fail(w, 503, "loading") })
	if err != nil || len(s.batches) != 3 || !slices.Equal(waits, []time.Duration{time.Second, 2 * time.Second}) {
		t.Errorf("busy twice: %v after %d requests and %v", err, len(s.batches), waits)
	}
	// It says how long to wait, within reason.
	_, waits, err = ask(func(w http.ResponseWriter, n int) bool {
		w.Header().Set("Retry-After", []string{"7", "86400", ""}[n-1])
		return n < 3 && fail(w, 429, "")
	})
	if err != nil || !slices.Equal(waits, []time.Duration{7 * time.Second, time.Minute}) {
		t.Errorf("Retry-After: %v, %v", err, waits)
	}
	// Always too busy.
	s, _, err = ask(func(w http.ResponseWriter, n int) bool { return fail(w, 500, "out of\nmemory") })
	var e *EmbedError
	if !errors.As(err, &e) || e.Status != 500 || e.Tries != tries || len(s.batches) != tries || !strings.Contains(err.Error(), "500 Internal Server Error: out of memory (tried 5 times)") {
		t.Errorf("always busy: %v after %d requests", err, len(s.batches))
	}
	// What another try cannot mend.
	s, waits, err = ask(func(w http.ResponseWriter, n int) bool {
		return fail(w, 401, `{"error":{"message":"no key","type":"auth"}}`)
	})
	if !errors.As(err, &e) || e.Status != 401 || len(s.batches) != 1 || len(waits) > 0 || !strings.HasSuffix(err.Error(), "401 Unauthorized: no key") {
		t.Errorf("no key: %v after %d requests", err, len(s.batches))
	}
	for body, want := range map[string]string{
		`hello`:                        "not what /v1/embeddings gives",
		`{"data":[{"embedding":[1]}]}`: "1 vectors for 2 texts",
		`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`: "twice",
		`{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`: "of none",
		`{"data":[{"embedding":[1]},{"embedding":[1,2]}]}`:                   "2 numbers, where others have 1",
		`{"data":[{"embedding":[]},{"embedding":[]}]}`:                       "0 numbers",
		`{"data":[{"embedding":[1e99]},{"embedding":[1]}]}`:                  "not what /v1/embeddings gives",
	} {
		if _, _, err = ask(func(w http.ResponseWriter, n int) bool { return fail(w, 200, body) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("answer %s: %v, want %q", body, err, want)
		}
	}
	// Nobody there, and a stop while it waits.
	s = newStub(t)
	c, _ := s.client(t)
	s.Close()
	if _, err := c.Vectors(t.Context(), []string{"x"}); !errors.As(err, &e) || e.Status != 0 || e.Tries != tries {
		t.Errorf("nobody there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c.Wait = func(context.Context, time.Duration) error { cancel(); return nil }
	if _, err := c.Vectors(ctx, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

func TestNewEmbedder(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:11434":            "http://127.0.0.1:11434/v1/embeddings",
		"https://api.example.org/v1/":       "https://api.example.org/v1/embeddings",
		"https://example.org/x/embeddings":  "https://example.org/x/embeddings",
		"http://localhost:8080/openai/v1":   "http://localhost:8080/openai/v1/embeddings",
		"127.0.0.1:8080":                    "",
		"ftp://example.org":                 "",
		"http://":                           "",
		"http://me:pass@example.org":        "",
		"http://example.org/v1?key=1":       "",
		"http://example.org:80:80/v1 space": "",
	} {
		e, err := NewEmbedder(in, "m")
		if (err == nil) != (want != "") || err == nil && e.endpoint != want {
			t.Errorf("NewEmbedder(%q) = %+v, %v, want %q", in, e, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "pass") {
			t.Errorf("the error says the password: %v", err)
		}
	}
	if _, err := NewEmbedder("http://127.0.0.1", ""); err == nil {
		t.Error("a model without a name is no error")
	}
	for at, ok := range map[string]bool{"http://127.0.0.1:1": true, "http://[::1]:1": true, "http://localhost": true, "https://example.org": true, "http://example.org": false, "http://10.0.0.1": false} {
		e, err := NewEmbedder(at, "m")
		if err != nil {
			t.Fatal(err)
		}
		if err := e.SetKey("k"); (err == nil) != ok {
			t.Errorf("SetKey for %s = %v, want it taken: %v", at, err, ok)
		}
		if err := e.SetKey(""); err != nil {
			t.Errorf("no key for %s: %v", at, err)
		}
	}
}

func TestNearest(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	es := []Entry{{ID: "old", Date: day(1)}, {ID: "new", Date: day(2)}, {ID: "newer", Date: day(2)}, {ID: "best", Date: day(1)}, {ID: "none", Date: day(3)}}
	vs := [][]float32{{1, 0}, {1, 0}, {1, 0}, {.8, .6}, {0, 0}}
	if got := nearest(es, vs, []float32{.8, .6}, 4); strings.Join(got, " ") != "best newer new old" {
		t.Errorf("nearest() = %v", got)
	}
}

// Whatever an endpoint answers, it is vectors of one length or an error.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[3,-4.5]}]}`))
	f.Add([]byte(`{"data":[{"embedding":null},{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e Embedder
		vs, err := e.read(b, 2)
		if err != nil {
			return
		}
		if len(vs) != 2 || len(vs[0]) == 0 || len(vs[0]) != len(vs[1]) || e.length != len(vs[0]) {
			t.Fatalf("read(%q) = %v", b, vs)
		}
	})
}

// A file of the cache is what was written, or nothing.
func FuzzVector(f *testing.F) {
	f.Add(encodeVector([]float32{1, -2.5, 0}))
	f.Add([]byte(cacheMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if v := decodeVector(b); v != nil && string(encodeVector(v)) != string(b) {
			t.Fatalf("decodeVector(%x) = %v", b, v)
		}
	})
}
