// This file sends the client's requests.

package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// routePrefix is the part of the path that all store routes have in common.
const routePrefix = "/api/v1/store/"

// Limits for the answers of a server, in bytes.
const (
	maxProblemBytes  = 64 << 10
	maxDocumentBytes = maxLineBytes
)

// lostAnswerError means that a request may have reached the server, but no answer arrived.
type lostAnswerError struct{ err error }

func (e *lostAnswerError) Error() string   { return "the answer was lost: " + e.err.Error() }
func (e *lostAnswerError) Unwrap() []error { return []error{oxbow.ErrUnknownOutcome, e.err} }

// serverLink contains the values that are needed to send requests to a server.
type serverLink struct {
	baseURL string // URL of the server without a slash at its end
	token   string
	client  *http.Client
	// waits until the server can be asked again (see [Options.WaitForServer]); nil if requests are not repeated
	waitBeforeRetry func(ctx context.Context, after time.Duration) error
}

// get sends a GET request and returns the answer, which is a document or a stream.
func (k *serverLink) get(ctx context.Context, route string, q url.Values) (*http.Response, error) {
	if len(q) > 0 {
		route += "?" + q.Encode()
	}
	return k.sendReadRequest(ctx, http.MethodGet, route, nil)
}

// post sends a JSON document in a POST request that changes nothing on the server. The answer is a document or a
// stream.
func (k *serverLink) post(ctx context.Context, route string, v any) (*http.Response, error) {
	b, err := encodeJSON(v)
	if err != nil {
		return nil, err
	}
	return k.sendReadRequest(ctx, http.MethodPost, route, b)
}

// sendReadRequest sends a request that changes nothing on the server. It therefore repeats the request if the server
// asks for this.
func (k *serverLink) sendReadRequest(ctx context.Context, method, route string, body []byte) (*http.Response, error) {
	for {
		res, err := k.sendOnce(ctx, method, route, "", body)
		if err == nil || !k.waitForServer(ctx, err) {
			return res, err
		}
	}
}

// sendChangeRequest sends a JSON document that requests a change. preferHeader is the value of the Prefer header, or
// "". If no answer arrives, the error is a lostAnswerError, unless the connection could not be made.
func (k *serverLink) sendChangeRequest(
	ctx context.Context,
	route, preferHeader string,
	body []byte,
) (*http.Response, error) {
	for {
		res, err := k.sendOnce(ctx, http.MethodPost, route, preferHeader, body)
		_, answered := err.(*serverError)
		if answered && k.waitForServer(ctx, err) {
			continue
		}
		if err == nil || answered {
			return res, err
		}
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
			return res, err // Connecting to the server failed, so the server did not receive the request.
		}
		return nil, &lostAnswerError{err}
	}
}

// canRetryLater reports whether the server asks the client to try again later, and whether the client is able to wait.
func (k *serverLink) canRetryLater(err error) bool {
	return k.waitBeforeRetry != nil && errors.As(err, new(*RetryLaterError))
}

// waitForServer waits for the time that the server asked for in err. It returns false if the server did not ask, or if
// ctx is done first.
func (k *serverLink) waitForServer(ctx context.Context, err error) bool {
	e, ok := errors.AsType[*RetryLaterError](err)
	return ok && k.waitBeforeRetry != nil && ctx.Err() == nil && k.waitBeforeRetry(ctx, e.RetryAfter) == nil
}

// serverError is an error that certainly comes from the server and not from a proxy.
type serverError struct{ error }

func (e *serverError) Unwrap() error { return e.error }

// sendOnce sends a request once. If the status of the answer is not 200, it returns an error. This error is a
// serverError unless the answer may come from a proxy.
func (k *serverLink) sendOnce(
	ctx context.Context,
	method, route, preferHeader string,
	body []byte,
) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, k.baseURL+routePrefix+route, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+k.token)
	req.Header.Set("User-Agent", "oxbow")
	if preferHeader != "" {
		req.Header.Set(preferHeaderName, preferHeader)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := k.client.Do(req)
	if err != nil {
		if u, ok := err.(*url.Error); ok {
			err = u.Err // The message below already contains the server's URL, so remove it from the error.
		}
		return nil, fmt.Errorf("asking %s: %w", k.baseURL, err)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close()
	return nil, k.refusalError(res)
}

// refusalError returns the error for an answer whose status is not 200.
func (k *serverLink) refusalError(res *http.Response) error {
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	b, err := io.ReadAll(io.LimitReader(res.Body, maxProblemBytes))
	var p Problem
	isProblem := media == "application/problem+json" && err == nil && json.Unmarshal(b, &p) == nil
	if isProblem && p.Code != "" {
		p.Detail = text.TruncateWithEllipsis(p.Detail, maxErrorDetailBytes)
		return &serverError{withRetryAfter(res, p.Err())}
	}
	err = fmt.Errorf("%w: %s answered %s", errInvalidAnswer, k.baseURL, text.TruncateWithEllipsis(res.Status, 200))
	err = withRetryAfter(res, err)
	// The answer may come from a proxy, so it does not prove that the server refused the request.
	if res.StatusCode >= http.StatusInternalServerError {
		return err
	}
	return &serverError{err}
}

// closeAnswerBody closes the body of an answer. A few remaining bytes are read first, so that the connection can be
// reused.
func closeAnswerBody(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10)
	_ = res.Body.Close()
}

// decodeJSON decodes the JSON document in an answer into v.
func decodeJSON(res *http.Response, v any) error {
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxDocumentBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("the answer was cut: %w", err)
	case len(b) > maxDocumentBytes:
		return fmt.Errorf("%w: it has more than %d bytes", errInvalidAnswer, maxDocumentBytes)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %w", errInvalidAnswer, err)
	}
	return nil
}
