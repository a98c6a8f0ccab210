// This file reads the lines of the stdio transport. An invalid line is answered with an
// error, and the server continues.

package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
)

// maxLineBytes is the maximum length of a message, in bytes.
const maxLineBytes = 16 << 20

// noBatchVersion is the first protocol version without batches (lists of messages).
const noBatchVersion = "2025-06-18"

// messageReader passes on the lines of a client that are messages. It answers a line that is not
// JSON with error -32700 and any other invalid line with -32600. It skips empty lines.
type messageReader struct {
	input        *bufio.Reader
	replyWriter  io.Writer
	maxLineBytes int    // maximum length of a line in bytes
	pendingLine  []byte // rest of the message that Read is returning
	err          error  // error of in, returned after the last line

	allowsBatches bool // the client speaks a version that allows batches
}

func newMessageReader(in io.Reader, reply io.Writer) *messageReader {
	return &messageReader{input: bufio.NewReaderSize(in, 64<<10), replyWriter: reply, maxLineBytes: maxLineBytes}
}

// Read implements [io.Reader]. It reads from the next valid message, which is a single line with a line feed at the
// end. Empty lines are skipped. For a line that is too long or invalid, Read writes an error to m.replyWriter and goes
// on with the next line.
func (m *messageReader) Read(p []byte) (int, error) {
	for len(m.pendingLine) == 0 {
		if m.err != nil {
			return 0, m.err
		}
		var line []byte
		var long bool
		line, long, m.err = m.readLine()
		if m.err != nil && !errors.Is(m.err, io.EOF) {
			return 0, m.err
		}
		line = bytes.TrimSpace(line)
		var refused *lineError
		switch {
		case long:
			refused = &lineError{
				code:   jsonrpc.CodeInvalidRequest,
				reason: fmt.Sprintf("the line is longer than %d bytes", m.maxLineBytes),
			}
		case len(line) == 0:
			continue
		default:
			refused = m.checkLine(line)
		}
		if refused != nil && m.err != nil {
			refused.reason += "; the input ended within this line"
		}
		if refused == nil {
			m.pendingLine = append(line, '\n')
		} else if err := refused.writeTo(m.replyWriter); err != nil {
			return 0, err
		}
	}
	n := copy(p, m.pendingLine)
	m.pendingLine = m.pendingLine[n:]
	return n, nil
}

// readLine reads one line. If the line exceeds the limit, isTooLong is true and the line is nil.
func (m *messageReader) readLine() (line []byte, isTooLong bool, err error) {
	for {
		part, err := m.input.ReadSlice('\n')
		isTooLong = isTooLong || len(line)+len(part) > m.maxLineBytes+2
		if isTooLong { // the limit does not count \r\n
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, isTooLong, err
		}
	}
}

// lineError is the error with which a line is answered.
type lineError struct {
	id     json.RawMessage // ID of the request, in the bytes that the client wrote, or nil if the ID is not known
	code   int
	reason string
}

func (r *lineError) writeTo(w io.Writer) error {
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	b, err := json.Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   fault           `json:"error"`
	}{"2.0", r.id, fault{r.code, r.reason}})
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// checkLine returns the error for an invalid line, or nil if the line is valid.
func (m *messageReader) checkLine(line []byte) *lineError {
	if !rawjson.Valid(line) {
		return &lineError{
			code: jsonrpc.CodeParseError,
			reason: "the line is not JSON; a message is one JSON object on one line, in UTF-8 without a byte order " +
				"mark",
		}
	}
	if line[0] == '[' {
		return m.checkBatch(line)
	}
	msg, refused := checkMessage(line)
	if r, ok := msg.(*jsonrpc.Request); ok && r.Method == "initialize" {
		var p struct{ ProtocolVersion string }
		m.allowsBatches = json.Unmarshal(r.Params, &p) == nil && p.ProtocolVersion < noBatchVersion
	}
	return refused
}

func checkMessage(b []byte) (jsonrpc.Message, *lineError) {
	msg, err := jsonrpc.DecodeMessage(b)
	if err == nil {
		return msg, checkID(msg, b)
	}
	var o struct{ ID json.RawMessage }
	_ = json.Unmarshal(b, &o) // ignore the error: without an ID, the answer has the ID null
	if len(o.ID) > 0 && !strings.ContainsRune(`"-0123456789`, rune(o.ID[0])) {
		o.ID = nil // invalid as an ID: neither a string nor a number
	}
	return nil, &lineError{id: o.ID, code: jsonrpc.CodeInvalidRequest, reason: "the line is no JSON-RPC 2.0 message: " +
		err.Error()}
}

// checkID returns an error if the ID of the request in b could not be returned unchanged:
// the SDK stores numbers as float64, rounds them to integers, and treats null like a missing
// ID, which makes the request a notification.
func checkID(msg jsonrpc.Message, b []byte) *lineError {
	r, asks := msg.(*jsonrpc.Request)
	if !asks {
		return nil
	}
	if _, ok := r.ID.Raw().(string); ok {
		return nil
	}
	var o struct{ ID json.RawMessage }
	_ = json.Unmarshal(b, &o) // cannot fail: b has been decoded before
	if len(o.ID) == 0 || isExactInteger(o.ID) {
		return nil
	}
	return &lineError{
		id:   o.ID,
		code: jsonrpc.CodeInvalidRequest,
		reason: "the id of a request is a string, or a whole number below 2^53; give it such a one, or leave it out " +
			"of a notification",
	}
}

// isExactInteger reports whether b is a whole number that a float64 represents exactly.
func isExactInteger(b []byte) bool {
	n, err := strconv.ParseFloat(string(b), 64)
	return err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53
}

// checkBatch checks a batch of messages. Their IDs must be unique.
func (m *messageReader) checkBatch(b []byte) *lineError {
	no := func(why string) *lineError { return &lineError{code: jsonrpc.CodeInvalidRequest, reason: why} }
	var list []json.RawMessage
	err := json.Unmarshal(b, &list)
	isBatch := err == nil && len(list) > 0
	if !isBatch || !m.allowsBatches {
		return no("the line is a list; send one JSON-RPC 2.0 message a line")
	}
	ids := map[jsonrpc.ID]bool{}
	for _, one := range list {
		msg, refused := checkMessage(one)
		if refused != nil {
			return refused
		}
		if r, ok := msg.(*jsonrpc.Request); ok {
			if ids[r.ID] {
				return no("two messages of the list have one id")
			}
			ids[r.ID] = true
		}
	}
	return nil
}

// lockedWriter makes concurrent writes atomic.
type lockedWriter struct {
	mu     sync.Mutex // guards w
	writer io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writer.Write(p)
}
