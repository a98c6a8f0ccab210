// This file handles answers that ask the client to try again later: status 429 or 503 with a Retry-After header (RFC
// 9110).

package remote

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryLaterError means that the server asks the client to try again after some time.
type RetryLaterError struct {
	RetryAfter time.Duration
	Err        error // the error that the server sent
}

func (e *RetryLaterError) Error() string { return e.Err.Error() }
func (e *RetryLaterError) Unwrap() error { return e.Err }

// maxRetryAfter is the maximum time that a client waits before another attempt, if the server names such a time. If the
// server names a longer time, the client waits maxRetryAfter.
const maxRetryAfter = 365 * 24 * time.Hour

// parseRetryAfter returns how long the client should wait before it sends the request again, or 0 if the server does
// not ask the client to wait. The result is at least one second and at most maxRetryAfter. If the server names a date,
// the result is the time from the date of the answer to the named date.
func parseRetryAfter(res *http.Response) time.Duration {
	if res.StatusCode != http.StatusTooManyRequests && res.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	after := strings.TrimSpace(res.Header.Get("Retry-After"))
	if after == "" {
		return 0
	}
	if n, err := strconv.ParseUint(after, 10, 32); err == nil {
		return max(time.Second, min(time.Duration(n)*time.Second, maxRetryAfter))
	}
	at, err := http.ParseTime(after)
	now, nerr := http.ParseTime(res.Header.Get("Date"))
	if err != nil || nerr != nil {
		return 0
	}
	return max(time.Second, min(at.Sub(now), maxRetryAfter))
}

// withRetryAfter wraps err in a RetryLaterError if the answer asks the client to try again later.
func withRetryAfter(res *http.Response, err error) error {
	if after := parseRetryAfter(res); after > 0 {
		return &RetryLaterError{after, err}
	}
	return err
}
