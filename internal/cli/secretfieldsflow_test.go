// This file tests that a secret in any field of any call is not stored in a file, through each interface.

package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fieldSecret is a secret. fieldText contains it, and is a valid value for any text field.
const (
	fieldSecret = "ghp_a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi"
	fieldText   = "tag:" + fieldSecret
)

// fieldSchema is the part of a JSON schema that this test needs.
type fieldSchema struct {
	Type       any                     `json:"type"`
	Enum       []any                   `json:"enum"`
	Items      *fieldSchema            `json:"items"`
	Properties map[string]*fieldSchema `json:"properties"`
	Required   []string                `json:"required"`
}

// hasType reports whether the schema allows values of this type.
func (s *fieldSchema) hasType(want string) bool {
	switch t := s.Type.(type) {
	case string:
		return t == want
	case []any:
		return slices.Contains(t, any(want))
	}
	return false
}

// value returns a value that is valid for the schema. All its strings are equal to the argument text, except that
// fields with a list of permitted values are left out. It returns nil if the schema has no field for free text.
func (s *fieldSchema) value(text string) any {
	switch {
	case s == nil || len(s.Enum) > 0:
		return nil
	case s.hasType("string"):
		return text
	case s.hasType("array"):
		if v := s.Items.value(text); v != nil {
			return []any{v}
		}
	case s.hasType("object"):
		v := object{}
		for name, p := range s.Properties {
			if x := p.value(text); x != nil {
				v[name] = x
			}
		}
		if len(v) > 0 {
			return v
		}
	}
	return nil
}

// fieldDefaults contains values with which calls succeed, by field name.
var fieldDefaults = map[string]any{
	"name": "base", "names": []string{"base"}, "content": "A text.", "labels": []string{"tag:first"},
	"old": "tag:first", "new": "tag:second",
	"into": "tag:joined", "file": "code.go", "start_line": 1, "why": "because of the cache",
	"summary": "The grid is done.", "query": "text",
	"message": "Remember the grid.", "agent_id": "helper", "task": "look", "memory_profile": "p", "profile": "p",
	"version": 1, "session": "s",
	"prompt": "what is the text", "ids": []string{"x"}, "skills": []string{"s"}, "where": []string{},
	"agent": "helper", "id": "x", "seq": []int{1},
}

// calls invokes fn once for each field of the schema that accepts free text. The field's value in args contains the
// text fieldText, which has the secret.
func (s *fieldSchema) calls(fn func(field string, args object)) {
	// Use a fixed order. A secret in a name is replaced by other text. If a later call used the same text as an alias,
	// it could be refused, because the text is already the name of another entry.
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		v := s.Properties[field].value(fieldText)
		if v == nil {
			continue
		}
		args := object{}
		for _, name := range s.Required {
			args[name] = cmp.Or[any](fieldDefaults[name], s.Properties[name].value("text"))
		}
		// These optional fields are needed by many calls.
		for _, name := range []string{"name", "names", "labels", "content", "summary"} {
			if _, has := s.Properties[name]; has && field != name {
				args[name] = fieldDefaults[name]
			}
		}
		args[field] = v
		fn(field, args)
	}
}

// newFieldWorld returns a world that contains a home, an entry and a file with code.
func newFieldWorld(t *testing.T) *world {
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "remember", "base", "A text.", "--tag", "first")
	w.must(t, "profile", "new", "p", "--tag", "first")
	w.write(t, "code.go", "package code\n\nfunc f() {}\n")
	return w
}

// noFieldSecret fails the test if a file in the directory dir contains the secret in any letter case. It searches for
// the secret without its prefix "ghp_". It then empties the file, so that later checks do not report the file again.
func noFieldSecret(t *testing.T, dir, what string) {
	t.Helper()
	for _, name := range filesWith(t, dir, fieldSecret[4:]) {
		t.Errorf("after %s, the secret is in %s", what, name)
		if err := os.Truncate(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
}

// checkFields fails the test if one of the given fields was in no successful call.
func checkFields(t *testing.T, succeeded map[string]bool, want ...string) {
	t.Helper()
	for _, field := range want {
		if !succeeded[field] {
			t.Errorf("no call with a secret in %s succeeded: %v", field, succeeded)
		}
	}
}

func TestSecretFieldsMCP(t *testing.T) {
	t.Parallel()
	eachDoor(t, func(t *testing.T, _ *world, _ door) {
		w := newFieldWorld(t)
		open := w.openStdio
		if strings.HasSuffix(t.Name(), "http") {
			open = w.openHTTP
		}
		cs := open(t, "--tools", "all")
		succeeded := map[string]bool{}
		for tool, err := range cs.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(tool.InputSchema)
			if err != nil {
				t.Fatal(err)
			}
			var s fieldSchema
			if err := json.Unmarshal(b, &s); err != nil {
				t.Fatal(err)
			}
			s.calls(func(field string, args object) {
				what := tool.Name + "." + field
				said, failed := callIn(t, cs, tool.Name, args)
				succeeded[what] = !failed
				if isReader := tool.Annotations != nil && tool.Annotations.ReadOnlyHint; !failed && !isReader &&
					strings.Contains(said, fieldSecret) {
					t.Errorf("the answer of %s repeats the secret: %s", what, said)
				}
				noFieldSecret(t, w.dir, what)
			})
		}
		checkFields(
			t,
			succeeded,
			"remember.content",
			"remember.aliases",
			"remember.tags",
			"remember.project",
			"remember.related_files",
			"save_memory.content", "annotate.why", "annotate.rejected", "annotate.model", "handoff_task.summary",
			"handoff_task.plan", "handoff_task.files_to_read",
		)
		w.must(t, "check")
	})
}

func TestSecretFieldsHTTP(t *testing.T) {
	t.Parallel()
	w := newFieldWorld(t)
	b, err := os.ReadFile("../httpapi/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Parameters  []struct{ Name, In string }
			RequestBody struct {
				Content map[string]struct{ Schema fieldSchema }
			} `json:"requestBody"`
		}
	}
	if err := json.Unmarshal(b, &api); err != nil {
		t.Fatal(err)
	}
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("all "+tokenSecret+" rw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	base, stop := w.serveCommand(t, "serve", "--http", "127.0.0.1:0", "--tokens", tokens)
	defer stop()
	client := &http.Client{Transport: bearer(tokenSecret)}
	succeeded := map[string]bool{}
	send := func(what, method, path string, body any) {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Oxbow-Session", fieldSecret)
		req.Header.Set("User-Agent", "agent "+fieldSecret)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		said, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		succeeded[what] = res.StatusCode < 300
		if !succeeded[what] {
			t.Logf("%s: %s %s", what, res.Status, said)
		}
		if succeeded[what] && !strings.Contains(what, "search.") && !strings.Contains(what, "hook_") &&
			strings.Contains(string(said), fieldSecret) {
			t.Errorf("the answer of %s repeats the secret: %s", what, said)
		}
		noFieldSecret(t, w.dir, what)
	}
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		methods := api.Paths[path]
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			op := methods[method]
			if strings.ToUpper(method) == http.MethodGet {
				continue
			}
			s := op.RequestBody.Content["application/json"].Schema
			inPath := path
			for _, p := range op.Parameters {
				if p.In == "path" {
					value := fmt.Sprint(cmp.Or[any](fieldDefaults[p.Name], "x"))
					send(op.OperationID+".path."+
						p.Name, strings.ToUpper(method), strings.ReplaceAll(path, "{"+p.Name+
						"}", url.PathEscape(fieldText)), object{"content": "A text."})
					inPath = strings.ReplaceAll(inPath, "{"+p.Name+"}", value)
				}
			}
			s.calls(func(field string, args object) {
				switch {
				case inPath != path:
					delete(args, "name")
				case op.OperationID == "create" && field != "name":
					args["name"] = "new " + field
				}
				send(op.OperationID+"."+field, strings.ToUpper(method), inPath, args)
			})
		}
	}
	checkFields(
		t,
		succeeded,
		"create.name",
		"create.content",
		"update.aliases",
		"create.tags",
		"create.project",
		"remember.path.name",
		"remember.content",
		"add_labels.labels", "merge_labels.into", "hand_off.summary", "hand_off.plan",
	)
	w.must(t, "check")
}

// TestSecretFieldsCLI tests that a person's secret is refused with a message that does not repeat the secret, and that
// an agent's secret is replaced by a mark.
func TestSecretFieldsCLI(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"remember", fieldText, "A text."},
		{"remember", "other", fieldText},
		{"remember", "base", "--tag", fieldText},
		{"remember", "base", "--alias", fieldText},
		{"remember", "base", "--project", fieldText},
		{"remember", "base", "--related", fieldText},
		{"label", "add", fieldText, "--name", "base"},
		{"label", "rename", "tag:first", fieldText},
		{"label", "merge", "tag:first", fieldText},
		{"profile", "new", "q", "--description", fieldText},
		{"profile", "new", "q", "--tag", fieldText},
		{"profile", "new", "q", "--project", fieldText},
		{"profile", "new", "q", "--without-tag", fieldText},
		{"profile", "new", "q", "--always", fieldText},
		{"profile", "new", "q-" + fieldSecret, "--tag", "first"},
		{"annotate", "code.go:1", "--why", fieldText},
		{"annotate", "code.go:1", "--why", "because", "--rejected", fieldText},
		{"annotate", "code.go:1", "--why", "because", "--model", fieldText},
		{"handoff", "new", fieldText},
		{"handoff", "new", "The grid is done.", "--plan", fieldText},
		{"handoff", "new", "The grid is done.", "--read", fieldText},
		{"import", fieldSecret},
		{"load", fieldSecret},
	} {
		for _, by := range []string{"person", "agent"} {
			w := newFieldWorld(t)
			args := slices.Clone(args)
			isRead := args[0] == "import" || args[0] == "load"
			if isRead { // The call reads a file outside of the home.
				args[1] = filepath.Join(t.TempDir(), args[1])
				w.must(t, "dump", args[1])
			}
			if by == "agent" {
				w.vars["OXBOW_AGENT"] = "bot"
			}
			what := by + ": " + strings.Join(args, " ")
			status, said, stderr := w.run(t, args...)
			if by == "person" && !isRead && (status == exitSuccess || !strings.Contains(stderr, "secret")) {
				t.Errorf("%s ended with status %d and %q, want a refusal", what, status, stderr)
			}
			if !isRead && strings.Contains(said+stderr, fieldSecret) {
				t.Errorf("%s repeats the secret: %s%s", what, said, stderr)
			}
			noFieldSecret(t, w.dir, what)
			w.must(t, "check")
		}
	}
}
