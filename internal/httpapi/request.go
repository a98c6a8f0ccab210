// This file reads a verb's arguments from the path, the query and the body of a request.

package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// arguments are the arguments of one call, each as JSON.
type arguments struct {
	names  []string // in the order of the request
	values map[string]json.RawMessage
	body   json.RawMessage // the whole body, nil if the request has none
}

// readArguments reads the arguments of a request.
func readArguments(w http.ResponseWriter, r *http.Request, rt *route) (*arguments, error) {
	a := &arguments{values: map[string]json.RawMessage{}}
	for _, name := range rt.argumentNames() {
		if err := a.addText(name, r.PathValue(name)); err != nil {
			return nil, err
		}
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil { // a partly parsed query would lack arguments that the caller gave
		return nil, &oxbow.InvalidError{Field: "query of the URL", Reason: "cannot be read (" + clip(err.Error()) +
			"); write % as %25, & as %26 and ; as %3B"}
	}
	for _, name := range slices.Sorted(mapKeys(query)) {
		if err := a.addQueryParam(name, query[name], rt); err != nil {
			return nil, err
		}
	}
	if rt.method == http.MethodGet || rt.method == http.MethodDelete {
		return a, nil
	}
	return a, a.readBody(w, r)
}

func mapKeys(m map[string][]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// addText adds an argument with a text value.
func (a *arguments) addText(name, value string) error {
	if err := verb.CheckText(name, value); err != nil {
		return err
	}
	b, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return a.add(name, b)
}

// addQueryParam adds a query parameter that may occur several times. For a list, the values
// are its elements. Otherwise all values must be the same.
func (a *arguments) addQueryParam(name string, values []string, rt *route) error {
	i := slices.IndexFunc(rt.verb.Params, func(p verb.Param) bool {
		return p.Name == name || slices.Contains(p.Also, name)
	})
	if i < 0 || !rt.verb.Params[i].Repeatable {
		for _, v := range values {
			if err := a.addText(name, v); err != nil {
				return err
			}
		}
		return nil
	}
	for _, v := range values {
		if err := verb.CheckText(name, v); err != nil {
			return err
		}
	}
	b, err := json.Marshal(values)
	if err != nil {
		return err
	}
	return a.add(name, b)
}

// add adds an argument. It fails if the argument is already there with a different value.
func (a *arguments) add(name string, value json.RawMessage) error {
	old, given := a.values[name]
	switch {
	case !given:
		a.names = append(a.names, name)
		a.values[name] = value
	case !sameValue(old, value):
		return givenTwice(name)
	}
	return nil
}

// setArgument sets an argument and replaces any earlier value.
func (a *arguments) setArgument(name string, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if _, given := a.values[name]; !given {
		a.names = append(a.names, name)
	}
	a.values[name] = b
	return nil
}

func givenTwice(name string) error {
	return &oxbow.InvalidError{
		Field:  "parameter",
		Value:  clip(name),
		Reason: "is given twice, and not the same; give it once",
	}
}

// sameValue reports whether two values are equal. A number is equal to its text.
func sameValue(a, b json.RawMessage) bool { return plain(a) == plain(b) }

func plain(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}

// readBody reads the body of the request, if there is one.
func (a *arguments) readBody(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, auth.MaxBody))
	if err != nil {
		return bodyError(err)
	}
	body = bytes.TrimSpace(body)
	if len(body) == 0 || string(body) == "null" { // null in place of path arguments would hide them
		return nil
	}
	if t := r.Header.Get("Content-Type"); t != "" {
		kind, _, err := mime.ParseMediaType(t)
		if err != nil || (kind != "application/json" && !strings.HasSuffix(kind, "+json")) {
			return refuse(http.StatusUnsupportedMediaType, "media_type", "The body is of another type", "the body is "+
				clip(t)+", and JSON is understood", "send it with Content-Type: application/json")
		}
	}
	a.body = body
	return nil
}

// bodyError returns the error for a body that is too long or incomplete.
func bodyError(err error) error {
	if p := makeProblem(err); p.Code != "internal" {
		return err
	}
	return refuse(http.StatusBadRequest, "body", "The body could not be read", "reading the body: "+
		clip(err.Error()), "send the request again")
}

// object returns the arguments as one JSON object. An argument that occurs both in the body
// and in the path or query must have the same value.
func (a *arguments) object() (json.RawMessage, error) {
	if a.body != nil && (len(a.names) == 0 || a.body[0] != '{') {
		return a.body, nil // let the verb report the problem
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range a.names {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeMember(&b, name, a.values[name]); err != nil {
			return nil, err
		}
	}
	if a.body != nil {
		if err := a.addBody(&b); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// addBody adds the members of the body that are not in the path or query.
func (a *arguments) addBody(b *bytes.Buffer) error {
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.UseNumber()
	broken := func(err error) error {
		return &oxbow.InvalidError{Field: "arguments", Reason: "are not one JSON object such as {\"query\":\"…\"}: " +
			err.Error()}
	}
	if _, err := d.Token(); err != nil {
		return broken(err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return broken(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return broken(err)
		}
		name := key.(string) // the decoder returns only strings here
		if old, given := a.values[name]; given {
			if !sameValue(old, value) {
				return givenTwice(name)
			}
			continue
		}
		b.WriteByte(',')
		if err := writeMember(b, name, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return broken(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return &oxbow.InvalidError{Field: "arguments", Reason: "are not one JSON object: something follows it"}
	}
	return nil
}

func writeMember(b *bytes.Buffer, name string, value json.RawMessage) error {
	key, err := json.Marshal(name)
	if err != nil {
		return err
	}
	b.Write(key)
	b.WriteByte(':')
	b.Write(value)
	return nil
}
