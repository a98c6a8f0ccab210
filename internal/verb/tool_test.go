// This file contains helper functions for the tests, and tests the standard tools.

package verb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// bench is a workspace with a memory for one test.
type bench struct {
	*Workspace
	t *testing.T
	m *oxbow.Memory
}

// newBench opens an empty memory. Each call of its clock returns a time one minute later.
func newBench(t *testing.T) *bench {
	t.Helper()
	now := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { now = now.Add(time.Minute); return now }
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: clock})
	b := &bench{t: t, m: m}
	b.Workspace = &Workspace{
		Open:   func(context.Context, MemoryAccess) (*oxbow.Memory, error) { return m, nil },
		Now:    func() time.Time { return time.Date(2026, 4, 20, 12, 0, 0, 0, time.UTC) },
		Source: oxbow.Source{Door: "cli", Actor: oxbow.Person},
	}
	return b
}

// try calls a verb with arguments in JSON. It checks that the answer's JSON contains no null.
func (b *bench) try(verb, args string) (Answer, error) {
	b.t.Helper()
	t, ok := FindTool(verb)
	if !ok {
		b.t.Fatalf("Find(%q) found nothing", verb)
	}
	a, err := t.CallForModel(b.t.Context(), b.Workspace, json.RawMessage(args))
	if err != nil {
		return Answer{}, err
	}
	checkAnswer(b.t, t, a)
	return a, nil
}

func checkAnswer(t *testing.T, verb Tool, a Answer) {
	t.Helper()
	own := map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[Note](): {Type: "string"}}
	resolved, err := inferSchema(reflect.TypeOf(a.Result), own).Resolve(nil)
	if err != nil {
		t.Fatalf("%s: schema of the answer: %v", verb.Name, err)
	}
	data, err := json.Marshal(a.Result)
	if err != nil {
		t.Fatalf("%s: answer: %v", verb.Name, err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(v); err != nil {
		t.Errorf("%s answered what its type forbids: %v\n%s", verb.Name, err, data)
	}
	if strings.TrimSpace(a.Text()) == "" {
		t.Errorf("%s answered without text: %s", verb.Name, data)
	}
}

// do calls a verb, and fails the test if the call fails.
func do[A report.Reporter](b *bench, verb, args string) A {
	b.t.Helper()
	a, err := b.try(verb, args)
	if err != nil {
		b.t.Fatalf("%s(%.200s): %v (%s)", verb, args, err, ErrorRemedy(err).String())
	}
	return a.Result.(A)
}

// fail calls the tool verb with the arguments args, and returns the error. It fails the test if the call succeeds. The
// error and its remedy together must contain each string of words, and must have at most 2000 bytes.
func (b *bench) fail(verb, args string, words ...string) error {
	b.t.Helper()
	a, err := b.try(verb, args)
	if err == nil {
		b.t.Errorf("%s(%.100q) = %s, want an error", verb, args, a.Text())
		return nil
	}
	said := err.Error() + "\n" + ErrorRemedy(err).String()
	for _, w := range words {
		if !strings.Contains(said, w) {
			b.t.Errorf("%s(%.100q) failed with %q, want %q in it", verb, args, said, w)
		}
	}
	if len(said) > 2000 {
		b.t.Errorf("%s(%.100q) failed with %d bytes of text", verb, args, len(said))
	}
	return err
}

// args encodes arguments as JSON.
func args(t *testing.T, m map[string]any) string {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTable(t *testing.T) {
	want := []string{"remember", "recall", "get", "list", "forget", "history", "undo", "restore", "save_memory",
		"handoff_task"}
	var got []string
	for _, v := range Tools() {
		got = append(got, v.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("Table() = %v, want %v", got, want)
	}
	if _, ok := FindTool("add_memory"); ok {
		t.Error("Find(add_memory) found a verb")
	}
	Tools()[0].Name = "changed"
	if Tools()[0].Name != "remember" {
		t.Error("a caller can change the table")
	}
}

// TestDescriptions checks the descriptions, by which a model chooses a tool. They must be short and begin with
// everyday words. Description and schema together must mention each parameter.
func TestDescriptions(t *testing.T) {
	first := map[string]string{"remember": "Remember, save, store, note", "recall": "Recall, search memory",
		"get":  "Get, read",
		"list": "List, browse", "forget": "Forget, delete", "history": "History, log", "undo": "Undo, revert",
		"restore":     "Restore",
		"save_memory": "Save a memory", "handoff_task": "Hand off"}
	for _, v := range Tools() {
		if !strings.HasPrefix(v.Description, first[v.Name]) || first[v.Name] == "" {
			t.Errorf("%s: description begins with %.40q, want %q", v.Name, v.Description, first[v.Name])
		}
		if n := len(v.Description); n > 700 {
			t.Errorf("%s: description has %d bytes, want at most 700", v.Name, n)
		}
		if !strings.Contains(v.Description, "Call it ") {
			t.Errorf("%s: description does not say when to call it", v.Name)
		}
		described(t, v)
		if v.Title == "" {
			t.Errorf("%s has no title", v.Name)
		}
		if v.ReadOnly && v.Destructive {
			t.Errorf("%s is both read-only and destructive", v.Name)
		}
	}
}

// described checks that the description or the schema explains each listed parameter, unless its name is clear.
func described(t *testing.T, v Tool) {
	t.Helper()
	plain := []string{"name", "project", "tags", "kind", "aliases", "related_files", "start_line", "end_line"}
	for _, p := range v.Params {
		if p.Unlisted || slices.Contains(plain, p.Name) {
			continue
		}
		if v.Input.Properties[p.Name].Description == "" && !strings.Contains(v.Description, "`"+p.Name+"`") {
			t.Errorf("%s: neither the description nor the schema tells of %s", v.Name, p.Name)
		}
	}
}

// TestDestructive checks that only forget is marked as destructive, so that clients ask the person. The changes by all
// other tools can be undone by one call.
func TestDestructive(t *testing.T) {
	for _, v := range Tools() {
		if want := v.Name == "forget"; v.Destructive != want {
			t.Errorf("%s: destructive %v, want %v", v.Name, v.Destructive, want)
		}
		// Models read the names of tools, and clients search the titles.
		if !strings.Contains(strings.ToLower(v.Title), "memor") {
			t.Errorf("%s: title %q does not say memory", v.Name, v.Title)
		}
	}
}

func TestSchemas(t *testing.T) {
	for _, v := range Tools() {
		if v.Input.Type != "object" {
			t.Errorf("%s: schema is of type %q, want object", v.Name, v.Input.Type)
		}
		data, err := json.Marshal(v.Input)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), `"null"`) {
			t.Errorf("%s: schema allows null: %s", v.Name, data)
		}
		r, err := v.Input.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: schema: %v", v.Name, err)
		}
		if err := r.Validate(map[string]any{"no_such_member": 1.0}); err == nil {
			t.Errorf("%s: schema allows an unknown member", v.Name)
		}
		seen := map[string]bool{}
		for _, p := range v.Params {
			s := v.Input.Properties[p.Name]
			if p.Unlisted {
				if s != nil {
					t.Errorf("%s: parameter %s is in the schema", v.Name, p.Name)
				}
				continue
			}
			if s == nil {
				t.Fatalf("%s: parameter %s is not in the schema", v.Name, p.Name)
			}
			want := p.Type
			if p.Repeatable {
				want = "array"
			}
			if s.Type != want {
				t.Errorf("%s.%s: schema type %q, want %q", v.Name, p.Name, s.Type, want)
			}
			if len(p.Usage) < 10 || len(s.Description) > len(p.Usage)+15 {
				t.Errorf("%s.%s: usage %q, schema says %q", v.Name, p.Name, p.Usage, s.Description)
			}
			if slices.Contains(v.Input.Required, p.Name) != p.Required {
				t.Errorf("%s.%s: required differs between schema and params", v.Name, p.Name)
			}
			for _, n := range append([]string{p.Name, "--" + cmp.Or(p.Flag, p.Name)}, p.OtherNames...) {
				if seen[n] {
					t.Errorf("%s: %q means two parameters", v.Name, n)
				}
				seen[n] = true
			}
		}
	}
	kind := func(verb string) Param {
		v, _ := FindTool(verb)
		i := slices.IndexFunc(v.Params, func(p Param) bool { return p.Name == "kind" })
		return v.Params[i]
	}
	if got := kind("remember").Enum; len(got) != len(oxbow.Kinds()) || got[0] != "note" {
		t.Errorf("remember.kind may be %v, want the kinds of an entry", got)
	}
}

func TestOpenOnFirstUse(t *testing.T) {
	opened := 0
	fsys := vfs.NewMem()
	get, closeAll := OpenOnFirstUse(func(context.Context) (*oxbow.Memory, error) {
		opened++
		if opened == 1 {
			return nil, oxbow.ErrBusy
		}
		return oxbow.Open("m.oxbow", &oxbow.Options{FS: fsys})
	})
	if _, err := get(t.Context(), Read); err != oxbow.ErrBusy {
		t.Errorf("first get = %v, want the error of opening", err)
	}
	a, err := get(t.Context(), Read)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := get(t.Context(), Read); a != b || opened != 2 {
		t.Errorf("opened %d times, want 2: a failure is tried again, a success kept", opened)
	}
	if err := closeAll(); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t.Context(), Read); err != oxbow.ErrClosed {
		t.Errorf("get after close = %v, want ErrClosed", err)
	}
}

// oddStore is a store that contains an entry with an invalid name, as files of other programs may.
type oddStore struct {
	oxbow.Store
	removed string
}

func (s *oddStore) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	if name == " pad " {
		return oxbow.Entry{ID: 1, Name: name, Content: "x", Version: 1}, nil
	}
	return s.Store.Get(ctx, name)
}

func (s *oddStore) Apply(_ context.Context, ops ...oxbow.Op) error {
	s.removed = ops[0].Target()
	return nil
}

func TestOddNamesAreReadAndForgotten(t *testing.T) {
	m := storetest.Open(t, "memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	s := &oddStore{Store: m}
	odd := oxbow.New(s, nil)
	w := &Workspace{Open: func(context.Context, MemoryAccess) (*oxbow.Memory, error) { return odd, nil }}
	if out, err := Get(t.Context(), w, GetIn{Name: " pad "}); err != nil || *out.Content != "x" {
		t.Errorf("Get = %+v, %v", out, err)
	}
	if out, err := Forget(t.Context(), w, ForgetIn{Name: " pad "}); err != nil || !out.Forgotten ||
		s.removed != " pad " {
		t.Errorf("Forget = %+v, %v", out, err)
	}
	if _, err := Get(t.Context(), w, GetIn{Name: " other "}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Get of a name that no entry has = %v", err)
	}
}
