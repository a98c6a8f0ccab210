// Servers that are to be asked again later: 429 and 503 with Retry-After (RFC 9110).

package remote

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// LaterError is the error of a server that is to be asked again after a while.
type LaterError struct {
	After time.Duration
	Err   error // the server's
}

func (e *LaterError) Error() string { return e.Err.Error() }
func (e *LaterError) Unwrap() error { return e.Err }

// longestAfter bounds the times that are counted with.
const longestAfter = 365 * 24 * time.Hour

// retryAfter returns after what time a server is to be asked again, 0 where it gives
// none. A moment is counted from the server's own.
func retryAfter(res *http.Response) time.Duration {
	after := strings.TrimSpace(res.Header.Get("Retry-After"))
	if (res.StatusCode != http.StatusTooManyRequests && res.StatusCode != http.StatusServiceUnavailable) || after == "" {
		return 0
	}
	if n, err := strconv.ParseUint(after, 10, 32); err == nil {
		return max(time.Second, min(time.Duration(n)*time.Second, longestAfter))
	}
	at, err := http.ParseTime(after)
	now, nerr := http.ParseTime(res.Header.Get("Date"))
	if err != nil || nerr != nil {
		return 0
	}
	return max(time.Second, min(at.Sub(now), longestAfter))
}

// later returns the error as one to be asked again after, where the answer is so.
func later(res *http.Response, err error) error {
	if after := retryAfter(res); after > 0 {
		return &LaterError{after, err}
	}
	return err
}
