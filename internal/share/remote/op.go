// This file encodes and decodes changes. A change consists of ops and a stamp. The stamp contains the op ID, the note
// and the client's statement about itself. Package opjson encodes single ops.

package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/share/remote/opjson"
)

// With the header Prefer, a client asks the server to return the change that it has made. With the header
// Preference-Applied, the server reports that its response begins with this change.
const (
	preferHeaderName            = "Prefer"
	preferenceAppliedHeaderName = "Preference-Applied"
	preferReturnChange          = "return=representation"
)

// Limits for a request with a change. They are the limits of the store with additional room for JSON escapes.
const (
	maxChangeBodyBytes = 128 << 20 // maximum size of the request body in bytes
	maxOpsPerRequest   = 1 << 20
)

// wireChangeMetadata contains everything that a change has besides its ops.
type wireChangeMetadata struct {
	OpID            string      `json:"op_id,omitempty"`
	Note            string      `json:"note,omitempty"`
	ClaimedIdentity oxbow.Claim `json:"claimed,omitzero"`
}

// addMetadataToContext returns a context with data from the request: the operation ID, the note, and the client and the
// agent that the request claims to come from. The other fields of the source in ctx stay unchanged, for example the
// authenticated writer. If the source's Door (the interface of the request) is empty, it becomes "http". If the
// source's Actor is empty, it becomes [oxbow.Agent].
func (s wireChangeMetadata) addMetadataToContext(ctx context.Context) context.Context {
	from, _ := oxbow.SourceFrom(ctx)
	from.Door, from.Actor = cmp.Or(from.Door, "http"), cmp.Or(from.Actor, oxbow.Agent)
	from.Claimed.Client = cmp.Or(s.ClaimedIdentity.Client, from.Claimed.Client)
	from.Claimed.Agent = cmp.Or(s.ClaimedIdentity.Agent, from.Claimed.Agent)
	ctx = oxbow.WithSource(ctx, from)
	if s.OpID != "" {
		ctx = oxbow.WithOpID(ctx, s.OpID)
	}
	if s.Note != "" {
		ctx = oxbow.WithNote(ctx, s.Note)
	}
	return ctx
}

// wireApplyRequest is the request to make a change.
//
//	{"op_id": "…", "note": "…", "claimed": {"client": "…", "agent": "…"},
//	 "ops": [{"add": {"name": "a", "content": "…"}}, {"remove": {"name": "b", "if": 7}}]}
//
// If since is a position, the answer is a stream of the changes after that position. If the client sends Prefer:
// return=representation (RFC 7240), the answer is also a stream, and starts with the change that was made: a line with
// "change", followed by its versions. The server confirms this with the header Preference-Applied.
type wireApplyRequest struct {
	wireChangeMetadata
	Ops   []opjson.Op   `json:"ops"`
	Since *wirePosition `json:"since,omitempty"`
}

// wireRevertRequest is the request to undo changes, and wireRestoreRequest is the request to restore a version.
type (
	wireRevertRequest struct {
		wireChangeMetadata
		Seqs []uint64 `json:"seqs"`
	}
	wireRestoreRequest struct {
		wireChangeMetadata
		Name string `json:"name"`
		Seq  uint64 `json:"seq"`
		// expected version of the entry; 0 means that the entry must not exist, and nil that any version is accepted
		ExpectedVersion *uint64 `json:"version,omitempty"`
	}
)

// encodeOps checks the ops like a store does, and returns their JSON form.
func encodeOps(ops []oxbow.Op) ([]opjson.Op, error) {
	if len(ops) > maxOpsPerRequest {
		return nil, &oxbow.InvalidError{
			Field:  "change",
			Value:  fmt.Sprint(len(ops)),
			Reason: fmt.Sprintf("has more than %d ops; split it", maxOpsPerRequest),
		}
	}
	ws := make([]opjson.Op, len(ops))
	for i, op := range ops {
		err := op.Check()
		if err == nil {
			ws[i], err = opjson.EncodeOp(op)
		}
		if err != nil {
			return nil, err
		}
	}
	return ws, nil
}

// decodeApplyRequest decodes the JSON of a [wireApplyRequest] from r. The ops are decoded one by one and returned in
// the result ops instead of in w. So the text of a large request and its decoded ops are never both completely in RAM.
// decodeApplyRequest fails if a field is unknown, if an op is invalid, or if there are more than maxOpsPerRequest ops.
func decodeApplyRequest(r io.Reader) (w wireApplyRequest, ops []oxbow.Op, err error) {
	d := json.NewDecoder(text.LimitWhiteSpace(r))
	d.DisallowUnknownFields()
	err = eachField(d, func(key string) error {
		switch key {
		case "op_id":
			return d.Decode(&w.OpID)
		case "note":
			return d.Decode(&w.Note)
		case "claimed":
			return d.Decode(&w.ClaimedIdentity)
		case "since":
			return d.Decode(&w.Since)
		case "ops":
			return eachElement(d, func() error {
				var o opjson.Op
				if err := d.Decode(&o); err != nil {
					return err
				}
				op, err := o.Decode()
				switch {
				case err != nil:
					err = badRequestError(
						"has an op that is not exactly one of add, update, alias, relabel and remove",
					)
				default:
					err = op.Check()
				}
				ops = append(ops, op)
				if err == nil && len(ops) > maxOpsPerRequest {
					err = badRequestError(fmt.Sprintf("has more than %d ops; split it", maxOpsPerRequest))
				}
				return err
			})
		}
		return badRequestError(fmt.Sprintf("has an unknown field %q", text.TruncateWithEllipsis(key, 40)))
	})
	return w, ops, requestError(err)
}

// eachField reads an object and calls fn for each field. fn must read the field's value. eachField fails if something
// follows the object.
func eachField(d *json.Decoder, fn func(key string) error) error {
	if err := expectToken(d, '{'); err != nil {
		return err
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		if err := fn(t.(string)); err != nil { // In an object, the next token is always a key.
			return err
		}
	}
	if err := expectToken(d, '}'); err != nil {
		return err
	}
	return checkNoMoreInput(d)
}

// eachElement reads an array and calls fn for each element. fn must read the element.
func eachElement(d *json.Decoder, fn func() error) error {
	if err := expectToken(d, '['); err != nil {
		return err
	}
	for d.More() {
		if err := fn(); err != nil {
			return err
		}
	}
	return expectToken(d, ']')
}

func expectToken(d *json.Decoder, want json.Delim) error {
	t, err := d.Token()
	if err == nil && t != want {
		err = badRequestError(
			fmt.Sprintf("has %s where %q is expected", text.TruncateWithEllipsis(fmt.Sprint(t), 40), want.String()),
		)
	}
	return err
}

// checkNoMoreInput returns an error if anything but white space follows in the input.
func checkNoMoreInput(d *json.Decoder) error {
	if _, err := d.Token(); err != io.EOF {
		return badRequestError("has more after its end")
	}
	return nil
}

// decodeDocument decodes a JSON object into v. It fails if the object has an unknown field.
func decodeDocument(r io.Reader, v any) error {
	d := json.NewDecoder(text.LimitWhiteSpace(r))
	var raw json.RawMessage
	err := d.Decode(&raw)
	switch {
	case err != nil:
	case raw[0] != '{':
		err = badRequestError("is not a JSON object")
	default:
		err = checkNoMoreInput(d)
	}
	if err == nil {
		d = json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err = d.Decode(v)
	}
	return requestError(err)
}

func badRequestError(reason string) error {
	return &oxbow.InvalidError{Field: "request", Reason: reason}
}

// requestError converts an error that occurred while a request was read to an error that tells the client what is wrong
// with the request. It returns nil, errors that match [oxbow.ErrInvalid], and [*http.MaxBytesError] unchanged.
func requestError(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil, errors.Is(err, oxbow.ErrInvalid), errors.As(err, new(*http.MaxBytesError)):
		return err
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return badRequestError("ends before the JSON document does")
	case errors.As(err, &syntax):
		return badRequestError(fmt.Sprintf("is not JSON: %v, at byte %d", err, syntax.Offset))
	case errors.As(err, &kind):
		return badRequestError(
			fmt.Sprintf("has a %s where a %s is expected, in %q", kind.Value, kind.Type, kind.Field),
		)
	}
	return badRequestError("is refused: " + text.TruncateWithEllipsis(strings.TrimPrefix(err.Error(), "json: "), 200))
}

// encodeJSON returns v as JSON.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// checkUTF8 returns an error if a text is not valid UTF-8, because the JSON encoding would change it.
func checkUTF8(field, s string) error {
	if !utf8.ValidString(s) {
		return &oxbow.InvalidError{Field: field, Value: text.TruncateWithEllipsis(s, 40), Reason: "is not UTF-8"}
	}
	return nil
}
