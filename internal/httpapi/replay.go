// This file repeats responses, so that requests with the same Idempotency-Key are executed only once.

package httpapi

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow"
)

// idempotencyKeyHeader is the header in which a client sends an ID of its request. A repeated request has the same ID.
const idempotencyKeyHeader = "Idempotency-Key"

// replayCache keeps the responses to requests with an idempotency key, so that a repeated request gets the same
// response. Each combination of token and profile has its own cache. The responses are lost when the process ends.
// After that, a repeated request is still recognized if it makes a single change, because the store keeps the
// idempotency key together with the change (see [memoryViewState.contextWithIdempotencyKey]). The zero replayCache is
// empty.
type replayCache struct {
	mu             sync.Mutex // guards the following fields
	responsesByKey map[string]*cachedResponse
	keysByAge      []string // keys of responsesByKey, the oldest first
	totalBytes     int      // total size of the kept response bodies
}

// cachedResponse is the response to a request with an idempotency key, which is kept to answer a repetition of the
// request. While the request runs, the response is still missing.
type cachedResponse struct {
	idempotencyKey string
	// digest of the request with this key, by which a different request with the same key is recognized
	requestDigest [sha256.Size]byte
	responseReady chan struct{}
	response      *response // nil until responseReady is closed, and nil if the request failed
}

// Maximum number and total size of the kept responses, and maximum key length in bytes.
const (
	maxKeptResponses       = 1024
	maxKeptResponseBytes   = 8 << 20
	maxIdempotencyKeyBytes = 255
)

// beginRequest decides how to answer a request with an idempotency key. A client repeats a request with the same key if
// it does not know whether the first request was executed.
//
// If an earlier request had the same key, beginRequest waits until the earlier request has ended. Then it returns the
// response of the earlier request in the result responseToReplay. If the earlier request failed, its response was not
// kept, and the new request must be executed.
//
// If the new request must be executed, beginRequest returns the result pending. The caller passes pending to endRequest
// after the execution. Both results are nil for a request without a key, and for a request that only reads.
//
// beginRequest returns an error if the earlier request was different, or if the key is too long.
func (p *replayCache) beginRequest(
	r *http.Request,
	args *requestArguments,
) (pending *cachedResponse, responseToReplay *response, err error) {
	key := r.Header.Get(idempotencyKeyHeader)
	isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
	if key == "" || isRead {
		return nil, nil, nil
	}
	if len(key) > maxIdempotencyKeyBytes {
		return nil, nil, &oxbow.InvalidError{
			Field:  idempotencyKeyHeader,
			Value:  shortenQuotedText(key),
			Reason: "is longer than 255 bytes",
		}
	}
	digest, err := requestDigest(r, args)
	if err != nil {
		return nil, nil, err
	}
	for {
		first, isNew := p.findOrAdd(key, digest)
		if isNew {
			return first, nil, nil
		}
		if first.requestDigest != digest {
			return nil, nil, requestError(
				http.StatusUnprocessableEntity,
				"key_reused",
				"The key is of another request",
				"the "+idempotencyKeyHeader+" was used before, with another request",
				"give each request a key of its own",
			)
		}
		select {
		case <-first.responseReady:
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

// findOrAdd returns the kept response for an idempotency key. For an unknown key, it adds an empty cachedResponse and
// isNew is true.
func (p *replayCache) findOrAdd(key string, digest [sha256.Size]byte) (responseForKey *cachedResponse, isNew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, ok := p.responsesByKey[key]; ok {
		return first, false
	}
	if p.responsesByKey == nil {
		p.responsesByKey = map[string]*cachedResponse{}
	}
	responseForKey = &cachedResponse{idempotencyKey: key, requestDigest: digest, responseReady: make(chan struct{})}
	p.responsesByKey[key] = responseForKey
	return responseForKey, true
}

// endRequest stores the response of a request in the cache, and removes the oldest responses if the cache is full. The
// argument pending is the result of beginRequest for this request. If pending is nil, endRequest does nothing. If res
// is nil, the request has failed, and endRequest removes its key from the cache.
func (p *replayCache) endRequest(pending *cachedResponse, res *response) {
	if pending == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pending.response = res
	close(pending.responseReady)
	if res == nil {
		delete(p.responsesByKey, pending.idempotencyKey)
		return
	}
	p.keysByAge, p.totalBytes = append(p.keysByAge, pending.idempotencyKey), p.totalBytes+len(res.body)
	for len(p.keysByAge) > maxKeptResponses || (p.totalBytes > maxKeptResponseBytes && len(p.keysByAge) > 1) {
		p.totalBytes -= len(p.responsesByKey[p.keysByAge[0]].response.body)
		delete(p.responsesByKey, p.keysByAge[0])
		p.keysByAge = slices.Delete(p.keysByAge, 0, 1)
	}
}

// requestDigest returns a digest of the request. If a client sends two requests with the same idempotency key, their
// digests are compared to find out whether the second request repeats the first.
func requestDigest(r *http.Request, args *requestArguments) (digest [sha256.Size]byte, err error) {
	b, err := json.Marshal([]any{r.Method, r.URL.EscapedPath(), args.values,
		r.Header.Values("If-Match"), r.Header.Values("If-None-Match")})
	return sha256.Sum256(b), err
}
