// This file repeats responses: requests with the same Idempotency-Key are executed once.

package httpapi

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow"
)

// keyHeader is the header with a client's ID for a request. The client sends the same ID
// when it repeats the request.
const keyHeader = "Idempotency-Key"

// replays keeps the responses to requests with a key, for one room. They are lost when the
// process ends. For verbs that make a single change, the store also keeps the key (see
// [room.keepKey]), so that a repeated request is recognized after a restart. The zero value
// is empty.
type replays struct {
	mu     sync.Mutex // guards the following
	byKey  map[string]*replay
	recent []string // keys in byKey, oldest first
	bytes  int      // total size of the kept bodies
}

// replay is the response to a request, or the promise of it.
type replay struct {
	digest   [sha256.Size]byte // digest of the request
	done     chan struct{}
	response *response // nil until done is closed, and if the request failed
}

// Limits for replays, and for the length of a key in bytes.
const (
	maxReplays     = 1024
	maxReplayBytes = 8 << 20
	maxKey         = 255
)

// once returns the response that an earlier request with the same key got, or else executes
// the request. It waits if the earlier request is still running. Failed requests are not
// kept: they changed nothing, or the store has the key.
func (p *replays) once(r *http.Request, args *arguments, call func() (*response, error)) (*response, error) {
	key := r.Header.Get(keyHeader)
	if key == "" || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return call()
	}
	if len(key) > maxKey {
		return nil, &oxbow.InvalidError{Field: keyHeader, Value: clip(key), Reason: "is longer than 255 bytes"}
	}
	digest, err := requestDigest(r, args)
	if err != nil {
		return nil, err
	}
	for {
		first, mine := p.begin(key, digest)
		if mine {
			return p.make(key, first, call)
		}
		if first.digest != digest {
			return nil, refuse(http.StatusUnprocessableEntity, "key_reused", "The key is of another request",
				"the "+keyHeader+" was used before, with another request", "give each request a key of its own")
		}
		select {
		case <-first.done:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		if first.response != nil {
			again := *first.response
			again.header = again.header.Clone()
			again.header.Set("Idempotent-Replayed", "true")
			return &again, nil
		}
	}
}

// begin returns the replay of a key, and whether the caller has to execute the request.
func (p *replays) begin(key string, digest [sha256.Size]byte) (*replay, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, ok := p.byKey[key]; ok {
		return first, false
	}
	if p.byKey == nil {
		p.byKey = map[string]*replay{}
	}
	first := &replay{digest: digest, done: make(chan struct{})}
	p.byKey[key] = first
	return first, true
}

// make executes the first request with a key.
func (p *replays) make(key string, first *replay, call func() (*response, error)) (res *response, err error) {
	defer func() { p.end(key, first, res) }() // even if the call panics
	return call()
}

// end stores the response to a request and drops the oldest responses. A failed request has
// the response nil and is forgotten.
func (p *replays) end(key string, promise *replay, res *response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	promise.response = res
	close(promise.done)
	if res == nil {
		delete(p.byKey, key)
		return
	}
	p.recent, p.bytes = append(p.recent, key), p.bytes+len(res.body)
	for len(p.recent) > maxReplays || (p.bytes > maxReplayBytes && len(p.recent) > 1) {
		p.bytes -= len(p.byKey[p.recent[0]].response.body)
		delete(p.byKey, p.recent[0])
		p.recent = slices.Delete(p.recent, 0, 1)
	}
}

// requestDigest returns a digest of all that two requests with the same key must have in common.
func requestDigest(r *http.Request, args *arguments) (print [sha256.Size]byte, err error) {
	b, err := json.Marshal([]any{r.Method, r.URL.EscapedPath(), args.values, string(args.body),
		r.Header.Values("If-Match"), r.Header.Values("If-None-Match")})
	return sha256.Sum256(b), err
}
