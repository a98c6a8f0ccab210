// This file compresses responses if the browser accepts it. Requests that other sites cause contain no cookies, so
// that the length of a compressed page reveals nothing to these sites.

package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// minBytesToCompress is the minimum size in bytes of a text that is compressed.
const minBytesToCompress = 1000

// withCompression calls handle with a writer that compresses texts, if the browser accepts compressed responses.
func withCompression(w http.ResponseWriter, r *http.Request, handle func(http.ResponseWriter)) {
	if !acceptsGzip(r.Header.Get("Accept-Encoding")) {
		handle(w)
		return
	}
	z := &compressingWriter{ResponseWriter: w}
	defer z.closeCompressor()
	handle(z)
}

// acceptsGzip reports whether a header Accept-Encoding lists gzip without refusing it. A weight of 0 refuses it (RFC
// 9110, section 12.4.2).
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			return strings.TrimRight(weight, "0") != "q=" && strings.TrimRight(weight, "0") != "q=0."
		}
	}
	return false
}

// compressingWriter compresses the response body with gzip if the first write is a text and long enough.
type compressingWriter struct {
	http.ResponseWriter
	unwrittenStatus int // status that has not been written yet (0 if no status is delayed)
	bodyWriter      io.Writer
	gz              *gzip.Writer
}

// WriteHeader only stores the status. The first write sends the status, because only then is it known whether the body
// is compressed.
func (z *compressingWriter) WriteHeader(status int) { z.unwrittenStatus = status }

func (z *compressingWriter) Write(p []byte) (int, error) {
	if z.bodyWriter == nil {
		z.bodyWriter = z.ResponseWriter
		header := z.Header()
		isText := isCompressibleText(header.Get("Content-Type"))
		isLongText := isText && len(p) >= minBytesToCompress
		if isLongText && header.Get("Content-Encoding") == "" {
			header.Set("Content-Encoding", "gzip")
			header.Del("Content-Length")
			z.gz = gzip.NewWriter(z.ResponseWriter)
			z.bodyWriter = z.gz
		}
		if isText {
			header.Add("Vary", "Accept-Encoding")
		}
		z.sendHeader()
	}
	return z.bodyWriter.Write(p)
}

// isCompressibleText reports whether a content type is text. Streams of events do not count as text.
func isCompressibleText(contentType string) bool {
	return strings.HasPrefix(contentType, "text/") && !strings.HasPrefix(contentType, "text/event-stream")
}

func (z *compressingWriter) sendHeader() {
	if z.unwrittenStatus != 0 {
		z.ResponseWriter.WriteHeader(z.unwrittenStatus)
		z.unwrittenStatus = 0
	}
}

// Unwrap sends the header and returns the wrapped ResponseWriter. [http.ResponseController] calls Unwrap to flush
// streams of events, which are not compressed.
func (z *compressingWriter) Unwrap() http.ResponseWriter {
	z.sendHeader()
	return z.ResponseWriter
}

func (z *compressingWriter) closeCompressor() {
	z.sendHeader()
	if z.gz != nil {
		_ = z.gz.Close() // ignore the error: the browser has disconnected
	}
}
