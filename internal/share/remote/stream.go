// This file reads and writes streams. A stream has a JSON object on each line, and its last line
// confirms that the stream is complete.
//
//	{"entry":{"id":1,"name":"deploy",…}}
//	{"entry":{"id":4,"name":"port",…}}
//	{"end":{"count":2}}
//
// The last line may be {"problem":{…}} instead. A stream without such a line is incomplete.

package remote

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// streamLine is one line of a stream. Exactly one of its fields is set.
type streamLine struct {
	Entry   *wireEntry   `json:"entry,omitempty"`
	Change  *wireChange  `json:"change,omitempty"`
	Version *wireVersion `json:"version,omitempty"`
	Delta   *wireDelta   `json:"delta,omitempty"`
	End     *streamEnd   `json:"end,omitempty"`
	Problem *Problem     `json:"problem,omitempty"`
}

// streamEnd is the content of the last line, which shows that the stream is complete.
type streamEnd struct {
	LineCount int    `json:"count"` // number of lines in the stream before the last line
	Position  []byte `json:"position,omitempty"`
}

// maxLineBytes is the maximum length of a line in bytes. A line may contain the longest content, with each byte
// escaped, and the remaining fields of an entry.
const maxLineBytes = 6*oxbow.MaxContent + 1<<20

// writeTimeout is the time in which a client must receive the data that the server writes at once, which is some
// kilobytes.
const writeTimeout = time.Minute

// streamWriter writes the lines of a stream. Its methods return an error if the client has disconnected.
type streamWriter struct {
	w              http.ResponseWriter
	out            *bufio.Writer
	enc            *json.Encoder
	lineCount      int
	hasSentHeaders bool
	log            *slog.Logger // may be nil
}

func newStreamWriter(w http.ResponseWriter, log *slog.Logger) *streamWriter {
	s := &streamWriter{w: w, log: log}
	s.out = bufio.NewWriterSize(s, 32<<10)
	s.enc = json.NewEncoder(s.out)
	s.enc.SetEscapeHTML(false)
	return s
}

// Write sends bytes to the client. It limits the time, because a client that does not read would block the reader of
// the store.
func (s *streamWriter) Write(b []byte) (int, error) {
	// Ignore the error, because the response recorder of a test does not support deadlines.
	_ = http.NewResponseController(s.w).SetWriteDeadline(time.Now().Add(writeTimeout))
	s.setHeaders()
	return s.w.Write(b)
}

// setHeaders sets the headers of the answer, unless they were set before. The caller must not set another status than
// 200.
func (s *streamWriter) setHeaders() {
	if !s.hasSentHeaders {
		s.hasSentHeaders = true
		s.w.Header().Set("Content-Type", "application/x-ndjson")
		s.w.Header().Set("Cache-Control", "no-store")
	}
}

func (s *streamWriter) writeLine(l streamLine) error {
	s.lineCount++
	return s.enc.Encode(l)
}

// writeChange writes a line for a change, and then a line for each of its versions.
func (s *streamWriter) writeChange(c oxbow.Change) error {
	err := s.writeLine(streamLine{Change: toWireChange(c)})
	for _, v := range c.Versions {
		err = cmp.Or(err, s.writeLine(streamLine{Version: toWireVersion(v)}))
	}
	return err
}

// close writes the last line: the end line, or a problem if err is not nil. If no line was written yet, an error is
// sent as a problem document instead.
func (s *streamWriter) close(err error, p oxbow.Position) {
	defer func() { _ = http.NewResponseController(s.w).SetWriteDeadline(time.Time{}) }()
	problem, failed := Problem{}, err != nil
	if failed {
		problem = MakeProblem(err)
		problem.LogErrorWithFileNames(s.log)
	}
	switch {
	case failed && !s.hasSentHeaders:
		problem.Write(s.w)
		return
	case failed:
		_ = s.writeLine(streamLine{Problem: &problem})
	default:
		_ = s.writeLine(streamLine{End: &streamEnd{s.lineCount, []byte(p)}})
	}
	_ = s.out.Flush()
}

// streamReader reads the lines of a stream.
type streamReader struct {
	r         *bufio.Reader
	buf       []byte
	lineCount int
	endLine   *streamEnd
}

func newStreamReader(r io.Reader) *streamReader {
	return &streamReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// errIncompleteStream is the error for a stream that ends without its last line.
var errIncompleteStream = fmt.Errorf("the answer was cut: %w", io.ErrUnexpectedEOF)

// errInvalidAnswer is the error for an answer that no oxbow server sends.
var errInvalidAnswer = errors.New("the answer is not one of an oxbow server")

// nextLine returns the next line, or io.EOF after the end line. If the server sent a problem instead of the end line,
// nextLine returns the problem's error.
func (s *streamReader) nextLine() (l streamLine, err error) {
	if s.endLine != nil {
		return l, io.EOF
	}
	b, err := s.readLine()
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(b, &l); err != nil {
		return l, fmt.Errorf("%w: %w", errInvalidAnswer, err)
	}
	switch {
	case l.Problem != nil:
		return l, l.Problem.Err()
	case l.End != nil && l.End.LineCount != s.lineCount:
		return l, fmt.Errorf("%w: it ends after %d lines of %d", errInvalidAnswer, s.lineCount, l.End.LineCount)
	case l.End != nil:
		s.endLine = l.End
		return l, io.EOF
	}
	s.lineCount++
	return l, nil
}

// readLine returns the bytes of the next line. They are valid until the next call.
func (s *streamReader) readLine() ([]byte, error) {
	s.buf = s.buf[:0]
	for {
		b, err := s.r.ReadSlice('\n')
		if len(s.buf)+len(b) > maxLineBytes {
			return nil, fmt.Errorf("%w: a line has more than %d bytes", errInvalidAnswer, maxLineBytes)
		}
		switch {
		case err == nil && len(s.buf) == 0:
			return b, nil
		case err == io.EOF:
			return nil, errIncompleteStream
		case err != nil && err != bufio.ErrBufferFull:
			return nil, fmt.Errorf("the answer was cut: %w", err)
		}
		s.buf = append(s.buf, b...)
		if err == nil {
			return s.buf, nil
		}
	}
}

// Each of the methods readEntry, readDelta and so on reads the next line of the server's answer, which must be of the
// kind that the method's name says. At the end, they return io.EOF. They return an error if the lines are not in the
// order that the store's interfaces require.

func (s *streamReader) readEntry(previousID uint64) (oxbow.Entry, error) {
	l, err := s.nextLine()
	switch {
	case err != nil:
		return oxbow.Entry{}, err
	case l.Entry == nil || l.Entry.ID <= previousID:
		return oxbow.Entry{}, fmt.Errorf("%w: no entry where one is next", errInvalidAnswer)
	}
	return oxbow.Entry(*l.Entry), nil
}

func (s *streamReader) readDelta() (oxbow.Delta, error) {
	l, err := s.nextLine()
	switch {
	case err != nil:
		return oxbow.Delta{}, err
	case l.Delta == nil:
		return oxbow.Delta{}, fmt.Errorf("%w: no delta where one is next", errInvalidAnswer)
	case l.Delta.Entry == nil:
		return oxbow.Delta{ID: l.Delta.ID}, nil
	}
	e := oxbow.Entry(*l.Delta.Entry)
	return oxbow.Delta{ID: l.Delta.ID, Entry: &e}, nil
}

// readVersion reads a version of an entry. The parameter maxChangeNumber is the highest change number that the version
// may have. If the stream contains anything else, the error matches errInvalidAnswer.
func (s *streamReader) readVersion(maxChangeNumber uint64) (oxbow.Version, error) {
	l, err := s.nextLine()
	if err != nil {
		return oxbow.Version{}, err
	}
	if l.Version != nil {
		if v, ok := l.Version.toVersion(); ok && v.Seq <= maxChangeNumber {
			return v, nil
		}
	}
	return oxbow.Version{}, fmt.Errorf("%w: no version where one is next", errInvalidAnswer)
}

// readChange reads a change and the change's versions from the stream. The number of the change must be less than the
// limit in the parameter changeNumberLimit. If it is not, or if the next line is not a change, the error matches
// errInvalidAnswer. If the stream ends before all versions of the change were read, the error is errIncompleteStream.
func (s *streamReader) readChange(changeNumberLimit uint64) (oxbow.Change, error) {
	l, err := s.nextLine()
	if err != nil {
		return oxbow.Change{}, err
	}
	if l.Change == nil || l.Change.Seq >= changeNumberLimit {
		return oxbow.Change{}, fmt.Errorf("%w: no change where one is next", errInvalidAnswer)
	}
	c := l.Change.toChange()
	for size := 0; len(c.Versions) < l.Change.VersionCount; {
		v, err := s.readVersion(c.Seq)
		switch size += len(v.Entry.Content) + 256; {
		case err == io.EOF:
			return c, errIncompleteStream
		case err != nil:
			return c, err
		case size > maxChangeVersionBytes:
			return c, fmt.Errorf("%w: a change has more than %d bytes", errInvalidAnswer, maxChangeVersionBytes)
		}
		c.Versions = append(c.Versions, v)
	}
	return c, nil
}

// maxChangeVersionBytes is the maximum size of a change in bytes: its versions' contents, and 256 bytes for each
// version. The engine's limit for an encoded change is lower.
const maxChangeVersionBytes = 1 << 29
