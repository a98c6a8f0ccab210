// Tests that what every client reads first is short.

package mcpserver

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow/tool"
)

// The most bytes of a list of tools, for each of them, and of what of it a model
// reads: names, descriptions and the schemas of what they take. A client sends
// the latter with each turn of a conversation; measure before raising them.
const (
	maxList = 1700
	maxRead = 1200
)

func TestToolListIsShort(t *testing.T) {
	desk := harborDesk(nil)
	cs := overMemory(t, New(desk, &Options{Profiles: harborProfiles(t)}), "")
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	size := func(v any) int {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return len(b)
	}
	all, read := size(list.Tools), 0
	for _, tl := range list.Tools {
		read += size(mcp.Tool{Name: tl.Name, Description: tl.Description, InputSchema: tl.InputSchema})
	}
	t.Logf("%d tools: %d bytes, of which a model reads %d", len(list.Tools), all, read)
	n := len(list.Tools)
	if n != len(tool.Table())+2 {
		t.Errorf("%d tools, want those of the table and two", n)
	}
	if all > n*maxList || read > n*maxRead {
		t.Errorf("the list of %d tools has %d bytes, of which a model reads %d; want at most %d and %d", n, all, read, n*maxList, n*maxRead)
	}
}

// The outline of a schema still names every member, and those of lists.
func TestSlim(t *testing.T) {
	var long jsonschema.Schema
	if err := json.Unmarshal([]byte(`{"type":"object","required":["parts"],"additionalProperties":false,"properties":{
		"note":{"type":"string","description":"what is to be said"},
		"source":{"type":"object","properties":{"by":{"type":"string"}}},
		"parts":{"type":"array","items":{"type":"object","required":["name"],"properties":{
			"name":{"type":"string"},"deep":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer","minimum":0}}}}}}}}}`), &long); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(slim(&long))
	const want = `{"type":"object","required":["parts"],"properties":{"note":{"type":"string"},` +
		`"parts":{"type":"array","items":{"type":"object","properties":{"deep":{"type":"array","items":{"type":"object"}},"name":{"type":"string"}}}},"source":{"type":"object"}}}`
	if err != nil || !sameJSON(t, string(got), want) {
		t.Errorf("slim = %s, %v, want %s", got, err, want)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	for s, v := range map[string]*any{a: &x, b: &y} {
		if err := json.Unmarshal([]byte(s), v); err != nil {
			t.Fatal(err)
		}
	}
	return reflect.DeepEqual(x, y)
}
