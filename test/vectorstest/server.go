// Package vectorstest implements a server that computes vectors of texts, for tests. A hash assigns each word to an
// element of the vector. The element is the number of these words in the text.
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

// ModelName is the name of the server's only model.
const ModelName = "bag"

// BagOfWords returns the vector of a text. Each word adds 1 to the element that the word's hash determines. The
// vector is not normalized, so clients must normalize it.
func BagOfWords(text string) []float32 {
	v := make([]float32, 512)
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		h := fnv.New64a()
		_, _ = io.WriteString(h, w)
		v[h.Sum64()%512]++
	}
	return v
}

// Server is an HTTP server that computes vectors.
type Server struct {
	*httptest.Server

	// BeforeAnswer, if not nil, is called for each request. It may answer the request itself and must then return
	// true. If it returns false, the server answers. n is the number of the request, from 1.
	BeforeAnswer func(w http.ResponseWriter, n int) bool

	mu    sync.Mutex
	texts [][]string
	keys  []string
}

// NewServer starts a server. The server stops at the end of the test.
func NewServer(t testing.TB) *Server {
	s := new(Server)
	s.Server = httptest.NewServer(http.HandlerFunc(s.serveVectors))
	t.Cleanup(s.Close)
	return s
}

// TextsByRequest returns a list for each request so far. The list contains the texts of the request.
func (s *Server) TextsByRequest() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.texts)
}

// BatchSizes returns the number of texts in each request so far.
func (s *Server) BatchSizes() (ns []int) {
	for _, texts := range s.TextsByRequest() {
		ns = append(ns, len(texts))
	}
	return ns
}

// AuthorizationHeaders returns the header Authorization of each request so far.
func (s *Server) AuthorizationHeaders() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys)
}

func (s *Server) serveVectors(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string
		Input []string
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	isKnown := r.Method == http.MethodPost && r.URL.Path == "/v1/embeddings" && in.Model == ModelName
	if err != nil || !isKnown {
		http.Error(w, fmt.Sprintf("what is %s %s of model %q? %v", r.Method, r.URL, in.Model, err), http.StatusNotFound)
		return
	}
	s.mu.Lock()
	s.texts, s.keys = append(s.texts, in.Input), append(s.keys, r.Header.Get("Authorization"))
	n := len(s.texts)
	s.mu.Unlock()
	if s.BeforeAnswer != nil && s.BeforeAnswer(w, n) {
		return
	}
	type one struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var out struct {
		Data []one `json:"data"`
	}
	// The embedding API allows answers in any order, so this test server returns the vectors in reverse order.
	for i, text := range slices.Backward(in.Input) {
		out.Data = append(out.Data, one{i, BagOfWords(text)})
	}
	_ = json.NewEncoder(w).Encode(out)
}
