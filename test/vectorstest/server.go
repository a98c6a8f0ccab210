// Package vectorstest is an endpoint that really embeds, for tests: a bag of words,
// hashed.
package vectorstest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Model is the only one that the endpoint has.
const Model = "bag"

// Bag returns the vector of a text: how often each word stands in it, at a place
// that its hash gives. It has not length 1, so that clients must see to that.
func Bag(text string) []float32 {
	v := make([]float32, 512)
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		h := fnv.New64a()
		_, _ = io.WriteString(h, w)
		v[h.Sum64()%512]++
	}
	return v
}

// Server is an endpoint.
type Server struct {
	*httptest.Server

	// Before, if not nil, may answer instead, and reports whether it did; n
	// counts the requests from 1.
	Before func(w http.ResponseWriter, n int) bool

	mu    sync.Mutex
	texts [][]string
	keys  []string
}

// NewServer starts an endpoint, which stops at the end of the test.
func NewServer(t testing.TB) *Server {
	s := new(Server)
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

// Texts returns the texts of each request.
func (s *Server) Texts() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.texts)
}

// Batches returns how many texts each request had.
func (s *Server) Batches() (ns []int) {
	for _, texts := range s.Texts() {
		ns = append(ns, len(texts))
	}
	return ns
}

// Keys returns the header Authorization of each request.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/embeddings" || in.Model != Model {
		http.Error(w, fmt.Sprintf("what is %s %s of model %q? %v", r.Method, r.URL, in.Model, err), http.StatusNotFound)
		return
	}
	s.mu.Lock()
	s.texts, s.keys = append(s.texts, in.Input), append(s.keys, r.Header.Get("Authorization"))
	n := len(s.texts)
	s.mu.Unlock()
	if s.Before != nil && s.Before(w, n) {
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
		out.Data = append(out.Data, one{i, Bag(text)})
	}
	_ = json.NewEncoder(w).Encode(out)
}
