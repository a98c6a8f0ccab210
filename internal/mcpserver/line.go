// This file reads JSON-RPC messages from standard input, one in each line. An invalid line is answered with an error,
// and the server continues with the next line.

package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
)

// maxLineBytes is the maximum length of a line in bytes.
const maxLineBytes = 16 << 20

// firstVersionWithoutBatches is the first protocol version without batches (lists of messages).
const firstVersionWithoutBatches = "2025-06-18"

// messageReader reads lines from a client and passes on those that contain a valid message. It answers a line that is
// not JSON with error -32700, and any other invalid line with error -32600. It skips empty lines.
type messageReader struct {
	input        *bufio.Reader
	replyWriter  io.Writer
	maxLineBytes int    // maximum length of a line in bytes
	pendingLine  []byte // rest of the line that Read has not returned yet
	readError    error  // error of input, which Read returns after the last line

	allowsBatches bool // the client uses a protocol version that allows batches
}

func newMessageReader(in io.Reader, reply io.Writer) *messageReader {
	return &messageReader{input: bufio.NewReaderSize(in, 64<<10), replyWriter: reply, maxLineBytes: maxLineBytes}
}

// Read implements [io.Reader]. It returns the valid messages, each as a single line that ends in a line feed. For a
// line that is too long or invalid, it writes an error to m.replyWriter and continues with the next line.
func (m *messageReader) Read(p []byte) (int, error) {
	for len(m.pendingLine) == 0 {
		if m.readError != nil {
			return 0, m.readError
		}
		var line []byte
		var long bool
		line, long, m.readError = m.readLine()
		if m.readError != nil && !errors.Is(m.readError, io.EOF) {
			return 0, m.readError
		}
		line = bytes.TrimSpace(line)
		var refused *messageError
		switch {
		case long:
			refused = &messageError{
				jsonrpcCode: jsonrpc.CodeInvalidRequest,
				reason:      fmt.Sprintf("the line is longer than %d bytes", m.maxLineBytes),
			}
		case len(line) == 0:
			continue
		default:
			refused = m.checkLine(line)
		}
		if refused != nil && m.readError != nil {
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
		if isTooLong { // maxLineBytes does not include the \r\n at the end of a line.
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, isTooLong, err
		}
	}
}

// messageError is an error with which the server answers an invalid line.
type messageError struct {
	requestID   json.RawMessage // ID of the request as the client wrote it (nil if unknown)
	jsonrpcCode int
	reason      string
}

func (r *messageError) writeTo(w io.Writer) error {
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	b, err := json.Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   fault           `json:"error"`
	}{"2.0", r.requestID, fault{r.jsonrpcCode, r.reason}})
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// checkLine checks a line that the client sent. It returns nil if the line is valid, and otherwise an error. If the
// line is an initialize request, checkLine also sets allowsBatches, depending on the protocol version in the request.
func (m *messageReader) checkLine(line []byte) *messageError {
	if !rawjson.Valid(line) {
		return &messageError{
			jsonrpcCode: jsonrpc.CodeParseError,
			reason: "the line is not JSON; a message is one JSON object on one line, in UTF-8 without a byte order " +
				"mark",
		}
	}
	if line[0] == '[' {
		return m.checkBatch(line)
	}
	if isPlainRequest(line) {
		return nil
	}
	msg, refused := parseMessage(line)
	if r, ok := msg.(*jsonrpc.Request); ok && r.Method == "initialize" {
		var p struct{ ProtocolVersion string }
		m.allowsBatches = json.Unmarshal(r.Params, &p) == nil && p.ProtocolVersion < firstVersionWithoutBatches
	}
	return refused
}

// maxPlainBrackets is the maximum number of brackets and braces in a line that isPlainRequest accepts. The SDK refuses
// messages with deeply nested values.
const maxPlainBrackets = 500

// isPlainRequest reports whether a line with valid JSON is a request that the SDK can certainly decode, that
// checkRequestID accepts, and that is not an initialize request. It returns true for the usual requests of clients. It
// is faster than decoding the request, which the SDK does anyway.
func isPlainRequest(line []byte) bool {
	if line[0] != '{' || bytes.Count(line, []byte("{"))+bytes.Count(line, []byte("[")) > maxPlainBrackets {
		return false
	}
	members := map[string]json.RawMessage{}
	key := ""
	for b := range rawjson.EachElement(line) {
		if key == "" {
			key = string(b) // with quotes, so it is not empty
			continue
		}
		_, isRepeated := members[key]
		if isRepeated || !slices.Contains(requestMembers, key) {
			return false
		}
		members[key], key = b, ""
	}
	return string(members[`"jsonrpc"`]) == `"2.0"` && isExactInteger(members[`"id"`]) &&
		isPlainMethod(members[`"method"`]) && bytes.HasPrefix(members[`"params"`], []byte("{"))
}

// requestMembers are the names of the members of a request, as JSON.
var requestMembers = []string{`"jsonrpc"`, `"id"`, `"method"`, `"params"`}

// isPlainMethod reports whether the JSON value b is a string that consists of lower-case letters, slashes and
// underscores, and is not "initialize".
func isPlainMethod(b []byte) bool {
	if len(b) <= 2 || b[0] != '"' || string(b) == `"initialize"` {
		return false
	}
	isPlain := func(r rune) bool { return (r >= 'a' && r <= 'z') || r == '/' || r == '_' }
	return len(bytes.TrimFunc(b[1:len(b)-1], isPlain)) == 0
}

func parseMessage(line []byte) (jsonrpc.Message, *messageError) {
	msg, err := jsonrpc.DecodeMessage(line)
	if err == nil {
		return msg, checkRequestID(msg, line)
	}
	var o struct{ ID json.RawMessage }
	_ = json.Unmarshal(line, &o) // Ignore the error: without a known ID, the answer has the ID null.
	if len(o.ID) > 0 && !strings.ContainsRune(`"-0123456789`, rune(o.ID[0])) {
		// Drop an ID unless the ID is a string or a number, because JSON-RPC forbids other request IDs.
		o.ID = nil
	}
	return nil, &messageError{
		requestID:   o.ID,
		jsonrpcCode: jsonrpc.CodeInvalidRequest,
		reason: "the line is no JSON-RPC 2.0 message: " +
			err.Error(),
	}
}

// checkRequestID returns an error if the request msg has an ID that the server could not repeat exactly in its answer.
// The argument b contains the request as JSON. The ID must be a string or an exact integer, because the SDK stores a
// number as float64 and rounds it to an integer. The ID null is an error, because the SDK treats it as a missing ID and
// therefore reads the request as a notification, which gets no answer.
func checkRequestID(msg jsonrpc.Message, b []byte) *messageError {
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
	return &messageError{
		requestID:   o.ID,
		jsonrpcCode: jsonrpc.CodeInvalidRequest,
		reason: "the id of a request is a string, or a whole number below 2^53; give it such a one, or leave it out " +
			"of a notification",
	}
}

// hasExactIntegerID reports whether b is a JSON object with an ID that checkRequestID accepts because it is an exact
// integer.
func hasExactIntegerID(b []byte) bool {
	var o struct{ ID json.RawMessage }
	return json.Unmarshal(b, &o) == nil && isExactInteger(o.ID)
}

// isExactInteger reports whether b is a whole number with an absolute value below 2^53. A float64 represents all these
// numbers exactly.
func isExactInteger(b []byte) bool {
	n, err := strconv.ParseFloat(string(b), 64)
	return err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53
}

// checkBatch returns the error for a batch of messages, or nil if the batch is valid. The IDs of its requests must be
// unique.
func (m *messageReader) checkBatch(b []byte) *messageError {
	no := func(why string) *messageError {
		return &messageError{jsonrpcCode: jsonrpc.CodeInvalidRequest, reason: why}
	}
	var list []json.RawMessage
	err := json.Unmarshal(b, &list)
	isBatch := err == nil && len(list) > 0
	if !isBatch || !m.allowsBatches {
		return no("the line is a list; send one JSON-RPC 2.0 message a line")
	}
	ids := map[jsonrpc.ID]bool{}
	for _, one := range list {
		msg, refused := parseMessage(one)
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
