// This file handles answers in which a server asks the client to try again later: status 429 and
// 503 with Retry-After (RFC 9110).

package remote

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryLaterError is returned if the server asks the client to try again after a while.
type RetryLaterError struct {
	After time.Duration
	Err   error // error of the server
}

func (e *RetryLaterError) Error() string { return e.Err.Error() }
func (e *RetryLaterError) Unwrap() error { return e.Err }

// maxRetryAfter is the maximum waiting time.
const maxRetryAfter = 365 * 24 * time.Hour

// retryAfter returns the waiting time that the server asks for, or 0. If the server specifies a
// date, the waiting time is relative to the server's own clock.
func retryAfter(res *http.Response) time.Duration {
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

// withRetryAfter wraps the error in a RetryLaterError if the server asks the client to try again.
func withRetryAfter(res *http.Response, err error) error {
	if after := retryAfter(res); after > 0 {
		return &RetryLaterError{after, err}
	}
	return err
}
