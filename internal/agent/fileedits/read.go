// This file reads a transcript line by line.

package fileedits

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// agentName returns the name of a client in annotations.
func agentName(client string) string {
	if client == "claude" {
		return "claude-code"
	}
	return client
}

// maxSniff is the maximum number of lines that are read to recognize the client.
const maxSniff = 200

// Read reads a transcript, which has a JSON object on each line or is a single object. path is the path of the
// transcript, or "" if the path is not known. Lines that cannot be read are counted and ignored. Errors match
// [ErrUnknown] or are errors of r.
func Read(r io.Reader, path string) (*Transcript, error) {
	t := &Transcript{}
	in := recognizer{t: t, path: path}
	document, br, err := clientfile.ReadDocument(bufio.NewReaderSize(r, 1<<16))
	if document != nil {
		in.take(document, int64(len(document)))
		return in.finish()
	}
	for err == nil {
		var b []byte
		var size int64
		b, size, err = clientfile.Next(br)
		if err == nil || err == io.EOF {
			in.take(b, size)
		}
		if len(in.held) > maxSniff {
			return nil, ErrUnknown
		}
	}
	if err != io.EOF {
		return nil, fmt.Errorf("reading a transcript: %w", err)
	}
	return in.finish()
}

// recognizer passes lines to the reader of the client that wrote them.
type recognizer struct {
	t    *Transcript
	path string
	in   *eventReader // nil if the client was not recognized yet
	held [][]byte     // lines before the client was recognized
}

// take reads a line, or a document as if it were a line.
func (r *recognizer) take(b []byte, size int64) {
	isLong := size > clientfile.Max && b == nil
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff")))
	if !isLong && len(b) == 0 {
		return
	}
	if isLong {
		r.t.Lines++
		r.t.Bad++
		return
	}
	objects, rest := clientfile.SplitObjects(b)
	if len(rest) > 0 {
		r.t.Lines++
		r.t.Bad++
	}
	for _, object := range objects {
		r.takeObject(object)
	}
}

// takeObject reads an object, or keeps it until the client is recognized.
func (r *recognizer) takeObject(b []byte) {
	r.t.Lines++
	switch {
	case r.in != nil:
		r.give(b)
	default:
		r.held = append(r.held, bytes.Clone(b))
		r.in = r.t.openReader(b, r.path)
		if r.in != nil {
			for _, h := range r.held {
				r.give(h)
			}
			r.held = nil
		}
	}
}

func (r *recognizer) give(b []byte) {
	if err := r.in.readLine(b); err != nil {
		r.t.Bad++
		if last := clientfile.LastObject(b); last != nil && !json.Valid(b) {
			_ = r.in.readLine(last) // the line is counted already
		}
	}
}

// finish completes and returns the transcript. It returns ErrUnknown if the client was not recognized.
func (r *recognizer) finish() (*Transcript, error) {
	if r.in == nil {
		return nil, ErrUnknown
	}
	r.in.end()
	return r.t, nil
}

// openReader returns a reader for the client that writes such lines, or nil if the client is
// unknown.
func (t *Transcript) openReader(line []byte, path string) *eventReader {
	for _, c := range clientfile.EventClients {
		if c.Recognizes(line) {
			t.Client = agentName(c.Name)
			return newEventReader(c, t, path)
		}
	}
	return nil
}
