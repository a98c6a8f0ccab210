// This file reads a verb's arguments from the path, the query and the body of a request.

package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// requestArguments contains a request's arguments: first those in the path, then query parameters sorted by name, and
// then members of the body. If an argument is given twice with the same value, it is contained once.
type requestArguments struct{ values verb.Arguments }

// readArguments reads the arguments of a request from the URL's path and query and, unless the method is GET or DELETE,
// from the body. It returns an error if the URL and the body contain different values for the same argument.
func readArguments(w http.ResponseWriter, r *http.Request, rt *route) (*requestArguments, error) {
	args := &requestArguments{}
	for _, name := range rt.argumentNames() {
		if err := args.addTexts(name, r.PathValue(name)); err != nil {
			return nil, err
		}
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil { // Refuse a query with a syntax error. Otherwise, arguments that the client sent could be lost.
		return nil, &oxbow.InvalidError{
			Field: "query of the URL",
			Reason: "cannot be read (" + shortenQuotedText(err.Error()) +
				"); write % as %25, & as %26 and ; as %3B",
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		add := args.addTexts
		if rt.isListArgument(name) {
			add = args.addListArgument
		}
		if err := add(name, query[name]...); err != nil {
			return nil, err
		}
	}
	if rt.method == http.MethodGet || rt.method == http.MethodDelete {
		return args, nil
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	members, err := verb.ParseArguments(body)
	if err != nil {
		return nil, err
	}
	outside := *args
	// The members of the JSON body. Members that occur twice are all added, because the verb reports them as an error.
	for _, m := range members {
		switch old := outside.argumentValue(m.Key); {
		case old == nil:
			args.values = append(args.values, m)
		case !isSameArgumentValue(old, m.Value):
			return nil, repeatedArgumentError(m.Key)
		}
	}
	return args, nil
}

// isListArgument reports whether an argument of the route is a list.
func (rt *route) isListArgument(name string) bool {
	return slices.ContainsFunc(rt.verb.Params, func(p verb.Param) bool {
		return p.Repeatable && (p.Name == name || slices.Contains(p.OtherNames, name))
	})
}

// addTexts adds an argument whose value is a text. If several texts are given, they must be equal.
func (a *requestArguments) addTexts(name string, texts ...string) error {
	for _, s := range texts {
		if err := verb.CheckText(name, s); err != nil {
			return err
		}
		value, err := json.Marshal(s)
		if err != nil {
			return err
		}
		switch old := a.argumentValue(name); {
		case old == nil:
			a.values = append(a.values, verb.Argument{Key: name, Value: value})
		case !isSameArgumentValue(old, value):
			return repeatedArgumentError(name)
		}
	}
	return nil
}

// addListArgument adds an argument whose value is a list of texts.
func (a *requestArguments) addListArgument(name string, texts ...string) error {
	for _, s := range texts {
		if err := verb.CheckText(name, s); err != nil {
			return err
		}
	}
	return a.setArgument(name, texts)
}

// argumentValue returns the JSON value of an argument, or nil if the argument is missing.
func (a *requestArguments) argumentValue(name string) json.RawMessage {
	for _, arg := range a.values {
		if arg.Key == name {
			return arg.Value
		}
	}
	return nil
}

// setArgument sets the value of an argument and replaces an earlier value.
func (a *requestArguments) setArgument(name string, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return err
	}
	a.removeArgument(name)
	a.values = append(a.values, verb.Argument{Key: name, Value: b})
	return nil
}

// removeArgument removes an argument if it exists.
func (a *requestArguments) removeArgument(name string) {
	a.values = slices.DeleteFunc(a.values, func(arg verb.Argument) bool { return arg.Key == name })
}

func repeatedArgumentError(name string) error {
	return &oxbow.InvalidError{
		Field:  "parameter",
		Value:  shortenQuotedText(name),
		Reason: "is given twice, and not the same; give it once",
	}
}

// isSameArgumentValue reports whether two JSON values are equal. A number is equal to a string with the same digits.
func isSameArgumentValue(a, b json.RawMessage) bool { return argumentText(a) == argumentText(b) }

func argumentText(v json.RawMessage) string {
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

// readBody reads the body of the request, and checks that its content type is JSON. It does not check whether the body
// is valid JSON. It returns nil if the request lacks a body.
func readBody(w http.ResponseWriter, r *http.Request) (json.RawMessage, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, auth.MaxBodyBytes))
	if err != nil {
		return nil, bodyReadError(err)
	}
	body = bytes.TrimSpace(body)
	isEmpty := len(body) == 0 || string(body) == "null"
	if t := r.Header.Get("Content-Type"); t != "" && !isEmpty {
		if !isJSONContentType(t) {
			return nil, requestError(
				http.StatusUnsupportedMediaType,
				"media_type",
				"The body is of another type",
				"the body is "+shortenQuotedText(
					t,
				)+", and JSON is understood",
				"send it with Content-Type: application/json",
			)
		}
	}
	return body, nil
}

// isJSONContentType reports whether a Content-Type header means JSON.
func isJSONContentType(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

// bodyReadError returns the error for a client whose request body is too long or incomplete.
func bodyReadError(err error) error {
	if p := problemForError(err); p.Code != "internal" {
		return err
	}
	return requestError(http.StatusBadRequest, "body", "The body could not be read", "reading the body: "+
		shortenQuotedText(err.Error()), "send the request again")
}
