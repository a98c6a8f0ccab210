// This file defines the response that a handler has prepared and the server has not sent yet.

package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// response is a response that was not sent yet.
type response struct {
	status int
	header http.Header
	body   []byte
}

// encodeJSON encodes a result as JSON in a single line.
func encodeJSON(out any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(out)
	return b.Bytes(), err
}
