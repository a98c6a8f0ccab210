// This file tests that reading ends when the context is done, and that endless white space is refused.

package exchange

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// endlessText is a reader that repeats a text forever. It cancels a context after a certain number of bytes.
type endlessText struct {
	text   string
	left   int
	cancel func()
}

func (e *endlessText) Read(p []byte) (int, error) {
	n := 0
	for n+len(e.text) <= len(p) {
		n += copy(p[n:], e.text)
	}
	if n == 0 {
		n = copy(p, e.text)
	}
	e.left -= n
	if e.left < 0 {
		e.cancel()
	}
	return n, nil
}

// packed returns the content of r, compressed with gzip.
func packed(r io.Reader) io.Reader {
	out, in := io.Pipe()
	go func() {
		z, _ := gzip.NewWriterLevel(in, gzip.BestSpeed)
		_, err := io.Copy(z, r)
		in.CloseWithError(err)
	}()
	return out
}

func TestReadStreamEnds(t *testing.T) {
	for name, text := range map[string]string{
		"one line":    "{\"name\":\"aaaaaaaa",
		"blank lines": "\n\n\n\n\n\n\n\n",
		"spaces":      "        ",
	} {
		for _, zip := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			var r io.Reader = &endlessText{text, 8 << 20, cancel}
			if zip {
				r = packed(r)
			}
			var last error
			for _, err := range ReadStream(r, "in.jsonl", &ReadOptions{Format: JSONL, Context: ctx}) {
				last = err
			}
			if !errors.Is(last, context.Canceled) {
				t.Errorf("%s, gzip %v: the reading ended with %v", name, zip, last)
			}
			if p, ok := r.(*io.PipeReader); ok {
				p.Close()
			}
		}
	}
}

func TestBlankLinesEnd(t *testing.T) {
	var last error
	for _, err := range ReadStream(&endlessText{"\n", 1 << 62, func() {}}, "in.jsonl", &ReadOptions{Format: JSONL}) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "blank lines") {
		t.Errorf("endless blank lines ended with %v", last)
	}
}
