// This file reads messages from standard input, one in each line. An invalid line is answered with an error, and the
// server continues with the next line.

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

// maxLineBytes is the maximum length of a line in bytes.
const maxLineBytes = 16 << 20

// noBatchVersion is the first protocol version without batches (lists of messages).
const noBatchVersion = "2025-06-18"

// messageReader reads lines from a client and passes on those that contain a valid message. It answers a line that is
// not JSON with error -32700, and any other invalid line with error -32600. It skips empty lines.
type messageReader struct {
	input        *bufio.Reader
	replyWriter  io.Writer
	maxLineBytes int    // maximum length of a line in bytes
	pendingLine  []byte // rest of the line that Read has not returned yet
	err          error  // error of input, which Read returns after the last line

	allowsBatches bool // the client uses a protocol version that allows batches
}

func newMessageReader(in io.Reader, reply io.Writer) *messageReader {
	return &messageReader{input: bufio.NewReaderSize(in, 64<<10), replyWriter: reply, maxLineBytes: maxLineBytes}
}

// Read implements [io.Reader]. It returns the valid messages, each as a single line that ends in a line feed. For a
// line that is too long or invalid, it writes an error to m.replyWriter and continues with the next line.
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

// readLine reads one line. If the line is longer than the limit, isTooLong is true and line is nil.
func (m *messageReader) readLine() (line []byte, isTooLong bool, err error) {
	for {
		part, err := m.input.ReadSlice('\n')
		isTooLong = isTooLong || len(line)+len(part) > m.maxLineBytes+2
		if isTooLong { // The limit does not include \r\n.
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, isTooLong, err
		}
	}
}

// lineError is an error with which the server answers an invalid line.
type lineError struct {
	id     json.RawMessage // ID of the request as the client wrote it (nil if unknown)
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

// checkLine returns the error for a line, or nil if the line is valid.
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
	_ = json.Unmarshal(b, &o) // Ignore the error: without a known ID, the answer has the ID null.
	if len(o.ID) > 0 && !strings.ContainsRune(`"-0123456789`, rune(o.ID[0])) {
		o.ID = nil // The value is neither a string nor a number, so it is not a valid ID.
	}
	return nil, &lineError{id: o.ID, code: jsonrpc.CodeInvalidRequest, reason: "the line is no JSON-RPC 2.0 message: " +
		err.Error()}
}

// checkID returns an error if the answer could not have the same ID as the request b. The SDK stores numbers as
// float64 and rounds them to integers. It treats the ID null like a missing ID, so that the request becomes a
// notification.
func checkID(msg jsonrpc.Message, b []byte) *lineError {
	r, asks := msg.(*jsonrpc.Request)
	if !asks {
		return nil
	}
	if _, ok := r.ID.Raw().(string); ok {
		return nil
	}
	var o struct{ ID json.RawMessage }
	_ = json.Unmarshal(b, &o) // This cannot fail, because b has been decoded before.
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

// isExactInteger reports whether b is a whole number that a float64 can represent exactly.
func isExactInteger(b []byte) bool {
	n, err := strconv.ParseFloat(string(b), 64)
	return err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53
}

// checkBatch returns the error for a batch of messages, or nil if the batch is valid. The IDs of its requests must be
// unique.
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

// lockedWriter serializes concurrent writes.
type lockedWriter struct {
	mu     sync.Mutex // guards w
	writer io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writer.Write(p)
}
