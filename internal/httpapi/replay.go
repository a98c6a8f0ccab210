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
	key      string
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

// begin returns the response that an earlier request with the same key got. If there was none, it
// returns a replay, and the caller executes the request and calls end. Without a key, both are nil. begin
// waits if the earlier request is still running. Failed requests are not kept: they changed nothing, or
// the store has the key.
func (p *replays) begin(r *http.Request, args *arguments) (first *replay, earlier *response, err error) {
	key := r.Header.Get(keyHeader)
	isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
	if key == "" || isRead {
		return nil, nil, nil
	}
	if len(key) > maxKey {
		return nil, nil, &oxbow.InvalidError{Field: keyHeader, Value: clip(key), Reason: "is longer than 255 bytes"}
	}
	digest, err := requestDigest(r, args)
	if err != nil {
		return nil, nil, err
	}
	for {
		first, isNew := p.find(key, digest)
		if isNew {
			return first, nil, nil
		}
		if first.digest != digest {
			return nil, nil, refuse(http.StatusUnprocessableEntity, "key_reused", "The key is of another request",
				"the "+keyHeader+" was used before, with another request", "give each request a key of its own")
		}
		select {
		case <-first.done:
		case <-r.Context().Done():
			return nil, nil, r.Context().Err()
		}
		if first.response != nil {
			again := *first.response
			again.header = again.header.Clone()
			again.header.Set("Idempotent-Replayed", "true")
			return nil, &again, nil
		}
	}
}

// find returns the replay of a key, and whether it is new.
func (p *replays) find(key string, digest [sha256.Size]byte) (first *replay, isNew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, ok := p.byKey[key]; ok {
		return first, false
	}
	if p.byKey == nil {
		p.byKey = map[string]*replay{}
	}
	first = &replay{key: key, digest: digest, done: make(chan struct{})}
	p.byKey[key] = first
	return first, true
}

// end stores the response to a request that begin returned, and drops the oldest responses. A failed
// request has the response nil and is forgotten. If first is nil, end does nothing.
func (p *replays) end(first *replay, res *response) {
	if first == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	first.response = res
	close(first.done)
	if res == nil {
		delete(p.byKey, first.key)
		return
	}
	p.recent, p.bytes = append(p.recent, first.key), p.bytes+len(res.body)
	for len(p.recent) > maxReplays || (p.bytes > maxReplayBytes && len(p.recent) > 1) {
		p.bytes -= len(p.byKey[p.recent[0]].response.body)
		delete(p.byKey, p.recent[0])
		p.recent = slices.Delete(p.recent, 0, 1)
	}
}

// requestDigest returns a digest of all that two requests with the same key must have in common.
func requestDigest(r *http.Request, args *arguments) (print [sha256.Size]byte, err error) {
	b, err := json.Marshal([]any{r.Method, r.URL.EscapedPath(), args.list,
		r.Header.Values("If-Match"), r.Header.Values("If-None-Match")})
	return sha256.Sum256(b), err
}
