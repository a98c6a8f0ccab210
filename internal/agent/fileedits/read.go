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

// annotationAgentName returns the agent's name for annotations. The parameter client is the name of the agent's client,
// as the command "oxbow setup" uses it.
func annotationAgentName(client string) string {
	if client == "claude" {
		return "claude-code"
	}
	return client
}

// maxSniffedLines is the maximum number of lines that are read to find out which client wrote them.
const maxSniffedLines = 200

// ReadTranscript reads a transcript, which has a JSON object on each line or is a single JSON object. path is the
// transcript's path, or "" if it is not known. Lines that cannot be read are counted and skipped. If no client's
// transcript is recognized, the error matches [ErrUnknownTranscript]. All other errors come from r.
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
		b, size, err = clientfile.ReadNextLine(br)
		if err == nil || err == io.EOF {
			in.readLine(b, size)
		}
		if len(in.linesBeforeRecognition) > maxSniffedLines {
			return nil, ErrUnknownTranscript
		}
	}
	if err != io.EOF {
		return nil, fmt.Errorf("reading a transcript: %w", err)
	}
	return in.finishTranscript()
}

// clientRecognizer finds out which client wrote the lines, and passes the lines to that client's reader.
type clientRecognizer struct {
	transcript             *Transcript
	path                   string
	reader                 *eventReader // nil until the client is recognized
	linesBeforeRecognition [][]byte     // copies of the lines that were read before the client was recognized
}

// readLine reads the line b of the transcript. b may also be a whole JSON document with several lines. size is the
// length of the line in bytes. If b is nil and size is greater than clientfile.MaxLineBytes, the line is too long to be
// read and is only counted as unreadable.
func (r *clientRecognizer) readLine(b []byte, size int64) {
	isLong := size > clientfile.MaxLineBytes && b == nil
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff")))
	if !isLong && len(b) == 0 {
		return
	}
	if isLong {
		r.transcript.LineCount++
		r.transcript.UnreadableLines++
		return
	}
	objects, rest := clientfile.SplitJSONObjects(b)
	if len(rest) > 0 {
		r.transcript.LineCount++
		r.transcript.UnreadableLines++
	}
	for _, object := range objects {
		r.readJSONObject(object)
	}
}

// readJSONObject passes a JSON object from the transcript to the client's reader. As long as no object has shown which
// client wrote the transcript, readJSONObject stores the objects. It passes the stored objects to the reader when the
// client is recognized.
func (r *clientRecognizer) readJSONObject(b []byte) {
	r.transcript.LineCount++
	switch {
	case r.reader != nil:
		r.passLineToReader(b)
	default:
		r.linesBeforeRecognition = append(r.linesBeforeRecognition, bytes.Clone(b))
		r.reader = r.transcript.newReaderForLine(b, r.path)
		if r.reader != nil {
			for _, h := range r.linesBeforeRecognition {
				r.passLineToReader(h)
			}
			r.linesBeforeRecognition = nil
		}
	}
}

// passLineToReader passes a line to the client's reader. If the reader cannot read the line, the line is counted as
// unreadable, and the complete JSON object at its end, if there is one, is passed instead.
func (r *clientRecognizer) passLineToReader(b []byte) {
	if err := r.reader.readLine(b); err != nil {
		r.transcript.UnreadableLines++
		if last := clientfile.LastJSONObject(b); last != nil && !json.Valid(b) {
			_ = r.reader.readLine(last) // Ignore the result: the line was already counted.
		}
	}
}

// finishTranscript completes the transcript and returns it. It returns ErrUnknownTranscript if no client was
// recognized.
func (r *clientRecognizer) finishTranscript() (*Transcript, error) {
	if r.reader == nil {
		return nil, ErrUnknownTranscript
	}
	r.reader.moveEditsToTranscript()
	return r.transcript, nil
}

// newReaderForLine returns a reader for the client that writes lines like this line, and sets t.Client to the name of
// the client. It returns nil if no such client is known.
func (t *Transcript) newReaderForLine(line []byte, path string) *eventReader {
	for _, c := range clientfile.EventClients {
		if c.RecognizesLine(line) {
			t.Client = annotationAgentName(c.Name)
			return newEventReader(c, t, path)
		}
	}
	return nil
}
