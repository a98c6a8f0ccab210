// This file implements a client for an embedding endpoint. It sends texts in batches to an OpenAI-compatible server
// (POST /v1/embeddings), and repeats requests that failed.

package vectors

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/vfs"
)

// defaultAttempts is the default value of Client.MaxAttempts.
const defaultAttempts = 5

// defaultMaxTextBytes is the default value of Client.MaxTextBytes.
const defaultMaxTextBytes = 8000

// A Client computes vectors of texts by asking an embedding endpoint. It is not safe for concurrent use.
type Client struct {
	Model       string
	BearerToken string // sent as a bearer token, unless it is ""

	// BatchSize is the maximum number of texts in a request. 0 means 64.
	BatchSize int

	// MaxTextBytes is the maximum length of a text. Longer texts are truncated, because models accept
	// only some thousand tokens. 0 means 8000.
	MaxTextBytes int

	Cache Cache // stores vectors that were computed before (nil means no cache)
	// Sends the requests (nil means a client that waits two minutes and does not follow redirects).
	HTTPClient *http.Client

	// MaxAttempts is the maximum number of times that a request is sent. 0 means 5. The client waits a second after
	// the first failure, and twice as long after each further failure.
	MaxAttempts int

	// RetryWait waits before a request is repeated. If it is nil, a timer is used.
	RetryWait func(ctx context.Context, d time.Duration) error

	endpoint  string
	dimension int // number of elements in each vector (0 until the first vector was received)
	stats     Stats
}

// A Cache stores vectors by endpoint, model and text. Get returns nil if the cache lacks the vector. The caller must
// not change the vector that Get returns.
type Cache interface {
	Get(endpoint, model, text string) []float32
	Put(endpoint, model, text string, v []float32) error
}

// An Error describes a request to which the endpoint did not answer with vectors.
type Error struct {
	Endpoint  string
	Status    int // HTTP status of the answer (0 without an answer)
	TextCount int // number of texts in the request
	Attempts  int
	Err       error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("asking %s for vectors of %d texts: %v", e.Endpoint, e.TextCount, e.Err)
	if e.Attempts > 1 {
		s += fmt.Sprintf(" (tried %d times)", e.Attempts)
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Stats counts how the vectors of texts were obtained.
type Stats struct {
	Endpoint       string `json:"endpoint"`
	Model          string `json:"model"`
	Dimension      int    `json:"dimensions"`
	ComputedTexts  int    `json:"made"`     // number of texts whose vectors the endpoint computed
	CachedTexts    int    `json:"cached"`   // number of texts whose vectors were in the cache
	Requests       int    `json:"requests"` // number of requests, including repeated requests
	TruncatedTexts int    `json:"cut"`      // number of texts that were truncated
	MaxTextBytes   int    `json:"max_bytes"`
}

// NewClient returns a client for the endpoint at an address. The address may include the path /v1/embeddings, or end
// with /embeddings.
func NewClient(address, model string) (*Client, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is not a URL: %w", address, err)
	case (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return nil, fmt.Errorf("%q is not the URL of an endpoint, such as http://127.0.0.1:8080", address)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, fmt.Errorf("%q has more than a scheme, a host and a path", u.Redacted())
	case model == "":
		return nil, errors.New("the model has no name")
	}
	p := strings.TrimRight(u.Path, "/")
	switch {
	case strings.HasSuffix(p, "/embeddings"):
	case strings.HasSuffix(p, "/v1"):
		p += "/embeddings"
	default:
		p += "/v1/embeddings"
	}
	u.Path = p
	return &Client{Model: model, endpoint: u.String()}, nil
}

// SetBearerToken sets the bearer token that is sent with each request. It returns an error if this would expose the
// token, because the endpoint is on another machine and has a plain HTTP URL.
func (e *Client) SetBearerToken(token string) error {
	u, err := url.Parse(e.endpoint)
	if err != nil {
		return err
	}
	isReadableOnWay := u.Scheme == "http" && !isLocalHost(u.Hostname())
	if token != "" && isReadableOnWay {
		return fmt.Errorf("a key is not sent to %s without encryption: use https", u.Host)
	}
	e.BearerToken = token
	return nil
}

// isLocalHost reports whether a host name or IP address certainly belongs to this machine.
func isLocalHost(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Stats returns what the client has counted since it was created. The result also contains the client's endpoint,
// model, vector dimension and maximum text length.
func (e *Client) Stats() *Stats {
	s := e.stats
	s.Endpoint = e.endpoint
	s.Model = e.Model
	s.Dimension = e.dimension
	s.MaxTextBytes = cmp.Or(e.MaxTextBytes, defaultMaxTextBytes)
	return &s
}

// Vectors returns a vector for each text in the list texts. Each vector is normalized, which means that its Euclidean
// norm is 1. For a text that cannot have a vector, such as an empty text, the result contains an empty slice. A text
// with more than e.MaxTextBytes bytes is truncated before its vector is computed. Vectors in the cache are used again,
// and new vectors are stored in the cache.
func (e *Client) Vectors(ctx context.Context, texts []string) ([][]float32, error) {
	vs := make([][]float32, len(texts))
	ask := map[string][]int{} // for each text that the endpoint must embed, its indexes in texts
	var order []string
	for i, t := range texts {
		if maxBytes := cmp.Or(e.MaxTextBytes, defaultMaxTextBytes); len(t) > maxBytes {
			for maxBytes > 0 && !utf8.RuneStart(t[maxBytes]) {
				maxBytes--
			}
			t = t[:maxBytes]
			e.stats.TruncatedTexts++
		}
		if _, ok := ask[t]; !ok {
			if v := e.cachedVector(t); v != nil && e.hasModelDimension(v) {
				e.dimension = len(v)
				e.stats.CachedTexts++
				vs[i] = v
				continue
			}
			order = append(order, t)
		}
		ask[t] = append(ask[t], i)
	}
	for len(order) > 0 {
		batch := order[:min(cmp.Or(e.BatchSize, 64), len(order))]
		order = order[len(batch):]
		newVectors, err := e.requestVectors(ctx, batch)
		if err != nil {
			return nil, err
		}
		for j, v := range newVectors {
			normalizeVector(v)
			if e.Cache != nil {
				if err := e.Cache.Put(e.endpoint, e.Model, batch[j], v); err != nil {
					return nil, fmt.Errorf("keeping a vector: %w", err)
				}
			}
			for _, i := range ask[batch[j]] {
				vs[i] = v
			}
		}
		e.stats.ComputedTexts += len(batch)
	}
	return vs, nil
}

func (e *Client) cachedVector(text string) []float32 {
	if e.Cache == nil {
		return nil
	}
	return e.Cache.Get(e.endpoint, e.Model, text)
}

// requestVectors asks the endpoint for the vectors of texts, in a single request. If the request fails, it is sent
// again, at most e.MaxAttempts times in total. The error is an [Error].
func (e *Client) requestVectors(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": e.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	wait := time.Second
	for n := 1; ; n++ {
		vs, status, retry, err := e.tryRequest(ctx, body, len(texts))
		if err == nil {
			return vs, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if retry == 0 || n == cmp.Or(e.MaxAttempts, defaultAttempts) {
			return nil, &Error{e.endpoint, status, len(texts), n, err}
		}
		pause := e.RetryWait
		if pause == nil {
			pause = vfs.Sleep
		}
		if err := pause(ctx, max(wait, min(retry, time.Minute))); err != nil {
			return nil, err
		}
		wait *= 2
	}
}

// These limits determine the maximum size of an answer in bytes: maxVectorBytes for each vector (16,384 numbers with
// 24 bytes each), and maxAnswerOverhead for the remaining JSON. An answer with this size is read and decoded in a
// fraction of the time for which a recall waits.
const (
	maxVectorBytes    = 16384 * 24
	maxAnswerOverhead = 64 << 10
)

// tryRequest sends a request for textCount vectors once. If it fails, retryDelay is the minimum time to wait before the
// next attempt, or 0 if another attempt cannot succeed.
func (e *Client) tryRequest(
	ctx context.Context,
	body []byte,
	textCount int,
) (vs [][]float32, status int, retryDelay time.Duration, err error) {
	e.stats.Requests++
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, 0, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if e.BearerToken != "" {
		req.Header.Set("Authorization", "Bearer "+e.BearerToken)
	}
	client := e.HTTPClient
	if client == nil {
		client = &http.Client{Timeout: 2 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
	}
	resp, err := client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // Return the error without the URL, because the caller's message contains the URL already.
		}
		return nil, 0, time.Nanosecond, err
	}
	defer resp.Body.Close()
	maxBytes := maxAnswerOverhead + int64(textCount)*maxVectorBytes
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxBytes+1))
	if err != nil {
		return nil, 0, time.Nanosecond, fmt.Errorf("reading the answer: %w", err)
	}
	if int64(len(answer)) > maxBytes {
		return nil, resp.StatusCode, 0, fmt.Errorf(
			"its answer is longer than the %d bytes that %d vectors may have",
			maxBytes,
			textCount,
		)
	}
	if resp.StatusCode != http.StatusOK {
		err := fmt.Errorf("it answered %s: %s", resp.Status, errorText(answer))
		if s := resp.StatusCode; s != http.StatusTooManyRequests && s < 500 {
			return nil, s, 0, err
		}
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return nil, resp.StatusCode, max(time.Duration(seconds)*time.Second, time.Nanosecond), err
	}
	vs, err = e.decodeAnswer(answer, textCount)
	return vs, resp.StatusCode, 0, err
}

// errorText returns the error message in an answer of the endpoint. If the answer has no error message in a known form,
// the result is the beginning of the whole answer.
func errorText(answer []byte) string {
	var o struct {
		Error struct{ Message string }
	}
	s := string(answer)
	if json.Unmarshal(answer, &o) == nil && o.Error.Message != "" {
		s = o.Error.Message
	}
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return "nothing more"
	}
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// decodeAnswer returns the vectors in an answer of the endpoint, in the order of the requested texts. The answer may
// contain them in any order. If it does not contain textCount vectors of the expected length, decodeAnswer returns an
// error.
func (e *Client) decodeAnswer(answer []byte, textCount int) ([][]float32, error) {
	var o struct {
		Data []struct {
			Index     *int
			Embedding []float32
		}
	}
	if err := json.Unmarshal(answer, &o); err != nil {
		return nil, fmt.Errorf("its answer is not what /v1/embeddings gives: %w", err)
	}
	if len(o.Data) != textCount {
		return nil, fmt.Errorf("its answer has %d vectors for %d texts", len(o.Data), textCount)
	}
	vs := make([][]float32, textCount)
	for i, d := range o.Data {
		if d.Index != nil {
			i = *d.Index
		}
		isText := i >= 0 && i < textCount
		if !isText || vs[i] != nil {
			return nil, fmt.Errorf("its answer has a vector of text %d twice, or of none", i)
		}
		if len(d.Embedding) == 0 || !e.hasModelDimension(d.Embedding) {
			return nil, fmt.Errorf(
				"its answer has a vector of %d numbers, where others have %d",
				len(d.Embedding),
				e.dimension,
			)
		}
		for _, x := range d.Embedding {
			if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, fmt.Errorf("its answer has a vector with a number that is not finite")
			}
		}
		e.dimension = len(d.Embedding)
		vs[i] = d.Embedding
	}
	return vs, nil
}

// hasModelDimension reports whether v has as many elements as the vectors that the model returned before, if there were
// any.
func (e *Client) hasModelDimension(v []float32) bool {
	return e.dimension == 0 || len(v) == e.dimension
}

// normalizeVector scales v to length 1. It does not change a vector of zeros.
func normalizeVector(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	factor := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * factor)
	}
}
