// Repeats: a request with an Idempotency-Key has one outcome, however often it is sent.

package httpapi

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow"
)

// keyHeader carries the id that a client gives a request, and repeats with it.
const keyHeader = "Idempotency-Key"

// replays holds the answers to requests with a key, of one room. They last as long as
// the process, and longer in part: a change that the store makes once for a key stays
// one; see [keep]. The zero value is empty.
type replays struct {
	mu     sync.Mutex // guards the following
	byKey  map[string]*replay
	recent []string // the keys in byKey, the newest last
	bytes  int      // of the bodies that are held
}

// replay is the answer to a request, once it is there.
type replay struct {
	print    [sha256.Size]byte // of the request
	done     chan struct{}
	response *response // nil when it failed
}

// Bounds of what replays holds, and of a key, in bytes.
const (
	maxReplays     = 1024
	maxReplayBytes = 8 << 20
	maxKey         = 255
)

// once makes the answer to a request, or gives the one that its key has had. A request
// whose first is still on its way waits for it. What fails is not kept: nothing was
// changed, or the store knows the key.
func (p *replays) once(r *http.Request, args *arguments, call func() (*response, error)) (*response, error) {
	key := r.Header.Get(keyHeader)
	if key == "" || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return call()
	}
	if len(key) > maxKey {
		return nil, &oxbow.InvalidError{Field: keyHeader, Value: clip(key), Reason: "is longer than 255 bytes"}
	}
	print, err := printOf(r, args)
	if err != nil {
		return nil, err
	}
	for {
		first, mine := p.begin(key, print)
		if mine {
			return p.make(key, first, call)
		}
		if first.print != print {
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

// begin returns the replay of a key, and whether the caller is to make its answer.
func (p *replays) begin(key string, print [sha256.Size]byte) (*replay, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, ok := p.byKey[key]; ok {
		return first, false
	}
	if p.byKey == nil {
		p.byKey = map[string]*replay{}
	}
	first := &replay{print: print, done: make(chan struct{})}
	p.byKey[key] = first
	return first, true
}

// make makes the answer to the first request of a key.
func (p *replays) make(key string, first *replay, call func() (*response, error)) (res *response, err error) {
	defer func() { p.end(key, first, res) }() // also when the call panics
	return call()
}

// end keeps the answer to a request, nil for one that failed, and drops the oldest.
func (p *replays) end(key string, of *replay, res *response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of.response = res
	close(of.done)
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

// printOf is what two requests with one key must have in common.
func printOf(r *http.Request, args *arguments) (print [sha256.Size]byte, err error) {
	b, err := json.Marshal([]any{r.Method, r.URL.EscapedPath(), args.values, string(args.body), r.Header.Values("If-Match"), r.Header.Values("If-None-Match")})
	return sha256.Sum256(b), err
}
