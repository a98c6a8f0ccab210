// Responses: answers that are made and not sent yet.

package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// response is an answer that is made and not sent yet.
type response struct {
	status int
	header http.Header
	body   []byte
}

// encode writes an answer as --json does, on one line.
func encode(out any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(out)
	return b.Bytes(), err
}
