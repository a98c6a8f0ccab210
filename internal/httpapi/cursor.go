// This file implements cursors. A cursor marks the position in a list at which the next page begins.

package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/oxbow-memory/oxbow"
)

// listCursorEncoder encodes the cursors for one list. A cursor consists of four bytes from a hash over the request's
// arguments, and the offset as an unsigned varint, in URL-safe base64. The hash ensures that a cursor is only used
// with the same arguments.
type listCursorEncoder struct{ listHash [4]byte }

// decodeCursor removes the request's argument "cursor". If the request has this argument, decodeCursor sets the
// argument "offset" to the offset in the cursor. It returns an encoder for further cursors of the same list, or nil for
// a route without pages. The error is an [oxbow.InvalidError] if the cursor is not valid for this list, or if the
// request also has the argument "offset".
func (a *requestArguments) decodeCursor(rt *route) (*listCursorEncoder, error) {
	if !rt.isPaged {
		return nil, nil
	}
	given := a.argumentValue("cursor")
	a.removeArgument("cursor")
	c := &listCursorEncoder{}
	b, err := json.Marshal([]any{rt.path, a.otherArgumentTexts("offset")})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	copy(c.listHash[:], sum[:])
	if given == nil {
		return c, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(argumentText(given))
	bad := &oxbow.InvalidError{
		Field:  "cursor",
		Value:  shortenQuotedText(argumentText(given)),
		Reason: "is not of this list; take it from an answer to the same request",
	}
	if err != nil || len(raw) < 5 {
		return nil, bad
	}
	if !bytes.Equal(raw[:4], c.listHash[:]) {
		return nil, bad
	}
	offset, n := binary.Uvarint(raw[4:])
	if n != len(raw)-4 || offset > 1<<31 {
		return nil, bad
	}
	if a.argumentValue("offset") != nil {
		return nil, &oxbow.InvalidError{Field: "cursor", Reason: "is given next to offset; give one of them"}
	}
	return c, a.setArgument("offset", offset)
}

// otherArgumentTexts returns all arguments except the named one, as texts.
func (a *requestArguments) otherArgumentTexts(excludedName string) map[string]string {
	m := map[string]string{}
	for _, arg := range a.values {
		if arg.Key != excludedName {
			m[arg.Key] = argumentText(arg.Value)
		}
	}
	return m
}

// addNextPage adds the cursor of the next page to a response: in the JSON member next and in a Link header. If the
// response is the last page, it adds nothing.
func (c *listCursorEncoder) addNextPage(r *http.Request, res *response) error {
	var page struct {
		Next int `json:"next_offset"`
	}
	if err := json.Unmarshal(res.body, &page); err != nil || page.Next <= 0 {
		return err
	}
	next := base64.RawURLEncoding.EncodeToString(binary.AppendUvarint(bytes.Clone(c.listHash[:]), uint64(page.Next)))
	body := bytes.TrimSuffix(bytes.TrimSpace(res.body), []byte("}"))
	res.body = append(bytes.Clone(body), []byte(`,"next":"`+next+"\"}\n")...)
	q := r.URL.Query()
	q.Del("offset")
	q.Set("cursor", next)
	res.header.Set("Link", "<"+(&url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: q.Encode()}).String()+
		`>; rel="next"`)
	return nil
}
