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

// maxSniffedLines is the maximum number of lines that are read to recognize the client.
const maxSniffedLines = 200

// ReadTranscript reads a transcript, which has a JSON object on each line or is a single object. path is the path
// of the transcript, or "" if the path is not known. Lines that cannot be read are counted and ignored. Errors
// match [ErrUnknownTranscript] or are errors of r.
func ReadTranscript(r io.Reader, path string) (*Transcript, error) {
	t := &Transcript{}
	in := clientRecognizer{transcript: t, path: path}
	document, br, err := clientfile.ReadDocument(bufio.NewReaderSize(r, 1<<16))
	if document != nil {
		in.readLine(document, int64(len(document)))
		return in.finishTranscript()
	}
	for err == nil {
		var b []byte
		var size int64
		b, size, err = clientfile.NextLine(br)
		if err == nil || err == io.EOF {
			in.readLine(b, size)
		}
		if len(in.heldLines) > maxSniffedLines {
			return nil, ErrUnknownTranscript
		}
	}
	if err != io.EOF {
		return nil, fmt.Errorf("reading a transcript: %w", err)
	}
	return in.finishTranscript()
}

// clientRecognizer passes lines to the reader of the client that wrote them.
type clientRecognizer struct {
	transcript *Transcript
	path       string
	reader     *eventReader // nil if the client was not recognized yet
	heldLines  [][]byte     // lines before the client was recognized
}

// readLine reads a line, or a document as if it were a line.
func (r *clientRecognizer) readLine(b []byte, size int64) {
	isLong := size > clientfile.MaxLineSize && b == nil
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff")))
	if !isLong && len(b) == 0 {
		return
	}
	if isLong {
		r.transcript.LineCount++
		r.transcript.UnreadableLines++
		return
	}
	objects, rest := clientfile.SplitObjects(b)
	if len(rest) > 0 {
		r.transcript.LineCount++
		r.transcript.UnreadableLines++
	}
	for _, object := range objects {
		r.readObject(object)
	}
}

// readObject reads an object, or keeps it until the client is recognized.
func (r *clientRecognizer) readObject(b []byte) {
	r.transcript.LineCount++
	switch {
	case r.reader != nil:
		r.passToReader(b)
	default:
		r.heldLines = append(r.heldLines, bytes.Clone(b))
		r.reader = r.transcript.openReader(b, r.path)
		if r.reader != nil {
			for _, h := range r.heldLines {
				r.passToReader(h)
			}
			r.heldLines = nil
		}
	}
}

func (r *clientRecognizer) passToReader(b []byte) {
	if err := r.reader.readLine(b); err != nil {
		r.transcript.UnreadableLines++
		if last := clientfile.LastObject(b); last != nil && !json.Valid(b) {
			_ = r.reader.readLine(last) // the line is counted already
		}
	}
}

// finishTranscript completes and returns the transcript. It returns ErrUnknownTranscript if the client was not
// recognized.
func (r *clientRecognizer) finishTranscript() (*Transcript, error) {
	if r.reader == nil {
		return nil, ErrUnknownTranscript
	}
	r.reader.collectEdits()
	return r.transcript, nil
}

// openReader returns a reader for the client that writes such lines, or nil if the client is
// unknown.
func (t *Transcript) openReader(line []byte, path string) *eventReader {
	for _, c := range clientfile.EventClients {
		if c.RecognizesLine(line) {
			t.Client = agentName(c.Name)
			return newEventReader(c, t, path)
		}
	}
	return nil
}
