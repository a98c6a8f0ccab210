// This file limits the size of request bodies.

package web

import (
	"io"
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// uploadPreviewPath is the path to which the form of an upload is sent, relative to [page.RootPath].
const uploadPreviewPath = "transfer/preview"

// maxDiscardedUploadBytes is the maximum number of bytes that the server reads from an upload that is too large. A
// browser shows the response only after it has sent the whole request.
const maxDiscardedUploadBytes = 1 << 30

// limitBody limits the body of a request to [auth.MaxBodyBytes] bytes.
func limitBody(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == page.RootPath+uploadPreviewPath {
		r.Body = &uploadBody{r.Body, auth.MaxBodyBytes}
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, auth.MaxBodyBytes)
}

// uploadBody is a limited body. Unlike [http.MaxBytesReader], it keeps the connection open.
type uploadBody struct {
	io.ReadCloser
	remainingBytes int64 // number of bytes that may still be read
}

// Read reads from the body. If the body has more than [auth.MaxBodyBytes] bytes, it returns an [*http.MaxBytesError].
func (b *uploadBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.remainingBytes+1)])
	if int64(n) > b.remainingBytes {
		return 0, &http.MaxBytesError{Limit: auth.MaxBodyBytes}
	}
	b.remainingBytes -= int64(n)
	return n, err
}

// discardRest reads and ignores the rest of the body, but at most maxDiscardedUploadBytes bytes.
func (b *uploadBody) discardRest() {
	_, _ = io.Copy(
		io.Discard,
		io.LimitReader(b.ReadCloser, maxDiscardedUploadBytes),
	) // ignore the error, because the browser may have disconnected
}
