// This file compresses responses if the browser accepts it. Requests that other sites cause contain no cookies, so
// that the length of a compressed page reveals nothing to these sites.

package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// minCompressedBytes is the minimum size in bytes of a text that is compressed.
const minCompressedBytes = 1000

// withCompression calls handle with a writer that compresses texts, if the browser accepts compressed responses.
func withCompression(w http.ResponseWriter, r *http.Request, handle func(http.ResponseWriter)) {
	if !acceptsGzip(r.Header.Get("Accept-Encoding")) {
		handle(w)
		return
	}
	z := &gzipWriter{ResponseWriter: w}
	defer z.close()
	handle(z)
}

// acceptsGzip reports whether a header Accept-Encoding lists gzip without refusing it.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			return weight != "q=0" && weight != "q=0.0"
		}
	}
	return false
}

// gzipWriter compresses the body if the first write is a long part of a text.
type gzipWriter struct {
	http.ResponseWriter
	status int // status that has not been written yet (0 if there is none)
	out    io.Writer
	gz     *gzip.Writer
}

// WriteHeader stores the status. It is written when the first write decides whether the body is compressed.
func (z *gzipWriter) WriteHeader(status int) { z.status = status }

func (z *gzipWriter) Write(p []byte) (int, error) {
	if z.out == nil {
		z.out = z.ResponseWriter
		header := z.Header()
		isText := isCompressibleText(header.Get("Content-Type"))
		isLongText := isText && len(p) >= minCompressedBytes
		if isLongText && header.Get("Content-Encoding") == "" {
			header.Set("Content-Encoding", "gzip")
			header.Del("Content-Length")
			z.gz = gzip.NewWriter(z.ResponseWriter)
			z.out = z.gz
		}
		if isText {
			header.Add("Vary", "Accept-Encoding")
		}
		z.sendHeader()
	}
	return z.out.Write(p)
}

// isCompressibleText reports whether a content type is text. Streams of events do not count as text.
func isCompressibleText(contentType string) bool {
	return strings.HasPrefix(contentType, "text/") && !strings.HasPrefix(contentType, "text/event-stream")
}

func (z *gzipWriter) sendHeader() {
	if z.status != 0 {
		z.ResponseWriter.WriteHeader(z.status)
		z.status = 0
	}
}

// Unwrap lets [http.ResponseController] flush streams of events, which are not compressed.
func (z *gzipWriter) Unwrap() http.ResponseWriter {
	z.sendHeader()
	return z.ResponseWriter
}

func (z *gzipWriter) close() {
	z.sendHeader()
	if z.gz != nil {
		_ = z.gz.Close() // ignore the error: the browser has disconnected
	}
}
