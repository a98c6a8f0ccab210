// This file generates the OpenAPI description from the table of routes, and compares it with the committed file.

package httpapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/oxbow-memory/oxbow/internal/share/remote"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

var update = flag.Bool("update", false, "write openapi.json anew")

type obj = map[string]any

func TestDescription(t *testing.T) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(describeAll(t)); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(b.Bytes(), openAPIDescription) {
		t.Error(
			"openapi.json is not what the table says; write it with: go test ./httpapi -run TestDescription$ -update",
		)
	}
}

// describeAll returns the OpenAPI description of all routes.
func describeAll(t *testing.T) obj {
	paths := obj{}
	for _, r := range routeTable() {
		path := basePath + r.path
		if paths[path] == nil {
			paths[path] = obj{}
		}
		paths[path].(obj)[strings.ToLower(r.method)] = describe(t, &r)
	}
	paths[basePath+"/events"] = obj{
		"get": obj{"operationId": "events", "tags": []string{"events"},
			"summary": "The changes of the memory as they come",
			"description": "The id of an event is the number of a change. A stream begins with ready, reset, or the " +
				"changes after Last-Event-ID; reset says that all is to be read again.",
			"parameters": []any{header("Last-Event-ID", "The id of the last event that was read.")},
			"responses": obj{
				"200": obj{
					"description": "Events named ready, change and reset, with this as data.",
					"content":     obj{"text/event-stream": obj{"schema": generic(t, schemaFor[changeEvent](t))}},
				},
				"4XX":     obj{"$ref": "#/components/responses/Problem"},
				"default": obj{"$ref": "#/components/responses/Problem"},
			}},
	}
	tags := groupTags(paths)
	s := shared{names: map[string]string{}, schemas: obj{"Problem": generic(t, schemaFor[remote.Problem](t))}}
	s.count(paths)
	paths = s.replace(paths, "").(obj)
	return obj{
		"openapi": "3.1.0",
		"info": obj{"title": "oxbow", "version": "1", "summary": "Memory for AI agents.",
			"license": obj{"name": "Apache 2.0", "identifier": "Apache-2.0"},
			"description": "Every route is a verb of oxbow: its arguments are those of the path, the query and, with " +
				"POST, PUT and PATCH, the members of a JSON object. An answer is what the command line prints with " +
				"--json. Below /api/v1/store/ a program in Go finds the memory as a store; see the package remote."},
		"servers":  []any{obj{"url": "/"}},
		"security": []any{obj{"token": []any{}}},
		"tags":     tags,
		"paths":    paths,
		"components": obj{
			"securitySchemes": obj{"token": obj{"type": "http", "scheme": "bearer"}},
			"schemas":         s.schemas,
			"responses": obj{"Problem": obj{"description": "Why not, and what to do about it.",
				"content": obj{
					"application/problem+json": obj{"schema": obj{"$ref": "#/components/schemas/Problem"}},
				}}},
		},
	}
}

// groupTags returns the tags that the operations have, sorted. Tools show the operations grouped by these tags.
func groupTags(paths obj) []any {
	names := map[string]bool{}
	for _, path := range paths {
		for _, op := range path.(obj) {
			for _, name := range op.(obj)["tags"].([]string) {
				names[name] = true
			}
		}
	}
	var tags []any
	for _, name := range slices.Sorted(maps.Keys(names)) {
		tags = append(tags, obj{"name": name})
	}
	return tags
}

// withWhat adds a description to a parameter or schema. If what is nil, it adds none, because OpenAPI does not allow a
// null description.
func withWhat(v obj, what any) obj {
	if what != nil {
		v["description"] = what
	}
	return v
}

// describe returns the OpenAPI description of a route.
func describe(t *testing.T, r *route) obj {
	tag, _, _ := strings.Cut(strings.TrimPrefix(r.path, "/"), "/")
	answer := generic(t, r.verb.Output())
	if r.isPaged {
		answer["properties"].(obj)["next"] = obj{
			"type":        "string",
			"description": "The cursor of the next page, where there is one.",
		}
	}
	ok := obj{"description": r.verb.Title + ".", "content": obj{"application/json": obj{"schema": answer}}}
	problem := obj{"$ref": "#/components/responses/Problem"}
	responses := obj{"200": ok, "4XX": problem, "default": problem}
	var params []any
	body := obj{}
	for _, p := range r.verb.Params {
		s := generic(t, r.verb.Input.Properties[p.Name])
		what := s["description"]
		delete(s, "description")
		switch {
		case slices.Contains(r.argumentNames(), p.Name):
			if p.Repeatable {
				s = s["items"].(obj)
			}
			params = append(params, withWhat(obj{"name": p.Name, "in": "path", "required": true, "schema": s}, what))
		case r.method == http.MethodGet || r.method == http.MethodDelete:
			params = append(
				params,
				withWhat(obj{"name": p.Name, "in": "query", "required": p.Required, "schema": s}, what),
			)
		default:
			body[p.Name] = withWhat(s, what)
		}
	}
	op := obj{"operationId": r.verb.Name, "summary": r.verb.Title, "tags": []string{tag}, "responses": responses}
	if r.method != http.MethodGet && r.method != http.MethodDelete {
		op["requestBody"] = obj{"content": obj{"application/json": obj{"schema": bodySchema(r, body)}}}
	}
	params = append(params, headers(r, ok, responses)...)
	if r.isPaged {
		params = append(
			params,
			obj{"name": "cursor", "in": "query", "required": false, "schema": obj{"type": "string"},
				"description": "Where the page begins: next of the page before."},
		)
	}
	if params != nil {
		op["parameters"] = params
	}
	if r.needsWholeMemory {
		op["description"] = "It looks at all of the memory: a token that sees a part of it gets 403."
	}
	return op
}

func bodySchema(r *route, properties obj) obj {
	s := obj{"type": "object", "additionalProperties": false, "properties": properties}
	var required []string
	for _, p := range r.verb.Params {
		if p.Required && properties[p.Name] != nil {
			required = append(required, p.Name)
		}
	}
	if required != nil {
		s["required"] = required
	}
	return s
}

// headers returns the parameters that describe the request headers of a route. It adds the response headers to the
// parameter ok, which describes the successful response. It adds the responses 201, 204, 304 and 412 to the parameter
// responses, if the route can return them.
func headers(r *route, ok, responses obj) (params []any) {
	tagged := obj{
		"ETag": obj{"description": "SHA-256 of the content, a dash, and the version.", "schema": obj{"type": "string"}},
	}
	if !r.verb.ReadOnly {
		params = append(
			params,
			header(
				idempotencyKeyHeader,
				"An id of the request, of your making: a repeat with it gives the same answer, and changes nothing.",
			),
			header("Prefer", "return=minimal for no body."),
		)
		responses["204"] = obj{"description": "Done; no body was wanted."}
	}
	if !r.hasEntryNameArgument {
		return params
	}
	ok["headers"] = tagged
	switch {
	case r.verb.ReadOnly:
		params = append(params, header("If-None-Match", "ETags of what you have."))
		responses["304"] = obj{"description": "You have it.", "headers": tagged}
	case r.method != http.MethodPost:
		params = append(params, header("If-Match", "Change the entry only if it has this ETag."))
		if r.method == http.MethodPut {
			params = append(params, header("If-None-Match", "* to make a new entry, and change none."))
		}
		responses["412"] = obj{"description": "The entry has another ETag.", "headers": tagged,
			"content": obj{"application/problem+json": obj{"schema": obj{"$ref": "#/components/schemas/Problem"}}}}
	}
	if r.method == http.MethodPut || r.verb.Name == "create" {
		responses["201"] = maps.Clone(ok)
		responses["201"].(obj)["description"] = "The entry is new."
	}
	return params
}

func header(name, what string) obj {
	return obj{"name": name, "in": "header", "required": false, "schema": obj{"type": "string"}, "description": what}
}

func schemaFor[T any](t *testing.T) *jsonschema.Schema {
	s, err := jsonschema.ForType(reflect.TypeFor[T](), &jsonschema.ForOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.AdditionalProperties = nil
	return s
}

// generic converts a schema to the value that decoding its JSON gives.
func generic(t *testing.T, s *jsonschema.Schema) (v obj) {
	b, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return v
}

// shared collects schemas that occur several times. Such a schema gets a name, and references replace its occurrences.
type shared struct {
	seen    map[string]int
	names   map[string]string // name of each schema, by its JSON
	schemas obj               // schemas by name
}

// The constant least is the minimum size in bytes of the JSON of a schema that is shared. A shared schema is stored
// once under a name, and references to the name replace its occurrences.
const least = 100

func keyOf(v obj) (string, bool) {
	if v["type"] != "object" || v["properties"] == nil {
		return "", false
	}
	b, err := json.Marshal(v)
	return string(b), err == nil && len(b) >= least
}

func (s *shared) count(v any) {
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	switch v := v.(type) {
	case obj:
		if key, ok := keyOf(v); ok {
			s.seen[key]++
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			s.count(v[k])
		}
	case []any:
		for _, x := range v {
			s.count(x)
		}
	}
}

// replace returns v with references in place of the shared schemas. name is the name of the JSON member whose value is
// v.
func (s *shared) replace(v any, name string) any {
	switch v := v.(type) {
	case obj:
		key, ok := keyOf(v)
		ok = ok && s.seen[key] > 1 && name != "schema"
		if known := s.names[key]; ok && known != "" {
			return obj{"$ref": "#/components/schemas/" + known}
		}
		if ok {
			s.names[key] = s.free(name)
		}
		out := obj{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			of := k
			if k == "items" || k == "additionalProperties" {
				of = name
			}
			out[k] = s.replace(v[k], of)
		}
		if !ok {
			return out
		}
		s.schemas[s.names[key]] = out
		return obj{"$ref": "#/components/schemas/" + s.names[key]}
	case []any:
		for i := range v {
			v[i] = s.replace(v[i], name)
		}
	}
	return v
}

// free returns an unused schema name derived from the name of a member, such as Entry for entries.
func (s *shared) free(member string) string {
	name := member
	if given, ok := map[string]string{
		"before":        "Turn",
		"files_to_read": "File",
		"citations":     "FileRef",
		"list":          "SessionTurn",
	}[member]; ok {
		name = given
	} else if one, ok := strings.CutSuffix(member, "ies"); ok {
		name = one + "y"
	} else if one, ok := strings.CutSuffix(member, "s"); ok {
		name = one
	}
	name = strings.ToUpper(name[:1]) + name[1:]
	taken := func(n string) bool {
		return s.schemas[n] != nil || slices.Contains(slices.Collect(maps.Values(s.names)), n)
	}
	if !taken(name) {
		return name
	}
	for i := 2; ; i++ {
		if n := fmt.Sprint(name, i); !taken(n) {
			return n
		}
	}
}

// TestDescriptionIsSound checks that every reference has a target, that every schema is valid, and that the operation
// IDs are unique.
func TestDescriptionIsSound(t *testing.T) {
	testenv.SkipInShortMode(t)
	var doc obj
	if err := json.Unmarshal(openAPIDescription, &doc); err != nil {
		t.Fatal(err)
	}
	refs := 0
	schemas := 0
	ids := map[string]bool{}
	walk(doc, "", func(at string, v obj) {
		if ref, ok := v["$ref"].(string); ok {
			refs++
			if followRef(doc, ref) == nil {
				t.Errorf("%s refers to %s, which is not there", at, ref)
			}
		}
		if id, ok := v["operationId"].(string); ok {
			if ids[id] {
				t.Errorf("%s is called %s, as another", at, id)
			}
			ids[id] = true
		}
		if s, ok := v["schema"].(obj); ok {
			schemas++
			checkSchema(t, at, s, doc)
		}
	})
	if refs < 100 || schemas < 100 || len(ids) != len(routeTable())+1 {
		t.Errorf("there are %d references, %d schemas, %d operations", refs, schemas, len(ids))
	}
}

// checkSchema checks that a schema is valid and that its references to shared schemas can be resolved. at names the
// schema in errors.
func checkSchema(t *testing.T, at string, s, doc obj) {
	t.Helper()
	whole := maps.Clone(s)
	whole["components"] = doc["components"]
	b, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.ReplaceAll(b, []byte("#/components/schemas/"), []byte("#/$defs/"))
	var schema jsonschema.Schema
	var all struct {
		Components struct {
			Schemas map[string]*jsonschema.Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	delete(whole, "components")
	b, _ = json.Marshal(whole)
	if err := json.Unmarshal(
		bytes.ReplaceAll(b, []byte("#/components/schemas/"), []byte("#/$defs/")),
		&schema,
	); err != nil {
		t.Errorf("%s: %v", at, err)
		return
	}
	schema.Defs = all.Components.Schemas
	if _, err := schema.Resolve(nil); err != nil {
		t.Errorf("%s: %v", at, err)
	}
}

func walk(v any, at string, fn func(string, obj)) {
	switch v := v.(type) {
	case obj:
		fn(at, v)
		for k, x := range v {
			walk(x, at+"/"+k, fn)
		}
	case []any:
		for i, x := range v {
			walk(x, fmt.Sprint(at, "/", i), fn)
		}
	}
}

// followRef returns the part of the document to which a reference refers.
func followRef(doc obj, ref string) any {
	var v any = doc
	for s := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		m, ok := v.(obj)
		if !ok {
			return nil
		}
		v = m[s]
	}
	return v
}

// TestPathArguments checks that each argument in a path is a parameter of the route's verb.
func TestPathArguments(t *testing.T) {
	for _, r := range routeTable() {
		for _, name := range r.argumentNames() {
			if !slices.ContainsFunc(r.verb.Params, func(p verb.Param) bool { return p.Name == name }) {
				t.Errorf("%s %s: the verb takes no %s", r.method, r.path, name)
			}
		}
	}
}
