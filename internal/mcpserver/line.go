// Lines of the standard-stream transport: what is no message is answered with
// an error, and the server goes on.

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

// maxLine is the most bytes of one message.
const maxLine = 16 << 20

// noLists is the version of the protocol from which on there are no lists of
// messages.
const noLists = "2025-06-18"

// messages reads the lines of a client that are messages. It answers any other
// line with an error, -32700 where it is no JSON and -32600 where it is no
// message, and skips empty lines.
type messages struct {
	in    *bufio.Reader
	reply io.Writer
	limit int    // most bytes of a line
	line  []byte // rest of the message that Read returns
	err   error  // of in, after its last line

	lists bool // the client speaks a version before noLists
}

func newMessages(in io.Reader, reply io.Writer) *messages {
	return &messages{in: bufio.NewReaderSize(in, 64<<10), reply: reply, limit: maxLine}
}

// Read reads from the next message. A message ends with a line feed.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.line) == 0 {
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
		var refused *refusal
		switch {
		case long:
			refused = &refusal{code: jsonrpc.CodeInvalidRequest, reason: fmt.Sprintf("the line is longer than %d bytes", m.limit)}
		case len(line) == 0:
			continue
		default:
			refused = m.check(line)
		}
		if refused != nil && m.err != nil {
			refused.reason += "; the input ended within this line"
		}
		if refused == nil {
			m.line = append(line, '\n')
		} else if err := refused.write(m.reply); err != nil {
			return 0, err
		}
	}
	n := copy(p, m.line)
	m.line = m.line[n:]
	return n, nil
}

// readLine reads one line. Of one that is longer than the limit it keeps
// nothing.
func (m *messages) readLine() (line []byte, long bool, err error) {
	for {
		part, err := m.in.ReadSlice('\n')
		long = long || len(line)+len(part) > m.limit+2
		if long { // the limit leaves out \r\n
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// refusal is the error that a line is answered with.
type refusal struct {
	id     json.RawMessage // of the request, as written; null when it is not known
	code   int
	reason string
}

func (r *refusal) write(w io.Writer) error {
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

// check returns why a line is no message, nil when it is one.
func (m *messages) check(line []byte) *refusal {
	if !rawjson.Valid(line) {
		return &refusal{code: jsonrpc.CodeParseError, reason: "the line is not JSON; a message is one JSON object on one line, in UTF-8 without a byte order mark"}
	}
	if line[0] == '[' {
		return m.checkList(line)
	}
	msg, refused := checkMessage(line)
	if r, ok := msg.(*jsonrpc.Request); ok && r.Method == "initialize" {
		var p struct{ ProtocolVersion string }
		m.lists = json.Unmarshal(r.Params, &p) == nil && p.ProtocolVersion < noLists
	}
	return refused
}

func checkMessage(b []byte) (jsonrpc.Message, *refusal) {
	msg, err := jsonrpc.DecodeMessage(b)
	if err == nil {
		return msg, checkID(msg, b)
	}
	var o struct{ ID json.RawMessage }
	_ = json.Unmarshal(b, &o) // without an id the answer has null
	if len(o.ID) > 0 && !strings.ContainsRune(`"-0123456789`, rune(o.ID[0])) {
		o.ID = nil // neither a string nor a number
	}
	return nil, &refusal{id: o.ID, code: jsonrpc.CodeInvalidRequest, reason: "the line is no JSON-RPC 2.0 message: " + err.Error()}
}

// checkID returns why the id of a message, which b has, cannot be that of its answer: the
// SDK has numbers as float64, makes them whole, and takes null for no id, as of a
// notification.
func checkID(msg jsonrpc.Message, b []byte) *refusal {
	r, asks := msg.(*jsonrpc.Request)
	if !asks {
		return nil
	}
	if _, ok := r.ID.Raw().(string); ok {
		return nil
	}
	var o struct{ ID json.RawMessage }
	_ = json.Unmarshal(b, &o) // it was decoded before
	n, err := strconv.ParseFloat(string(o.ID), 64)
	if len(o.ID) == 0 || (err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53) {
		return nil
	}
	return &refusal{id: o.ID, code: jsonrpc.CodeInvalidRequest, reason: "the id of a request is a string, or a whole number below 2^53; give it such a one, or leave it out of a notification"}
}

// checkList checks a list of messages. The ids in one must differ.
func (m *messages) checkList(b []byte) *refusal {
	no := func(why string) *refusal { return &refusal{code: jsonrpc.CodeInvalidRequest, reason: why} }
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil || len(list) == 0 || !m.lists {
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

// lockedWriter lets one Write at a time pass.
type lockedWriter struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
