// Tests that what every client reads first is short.

package mcpserver

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/prompt"
	"github.com/oxbow-memory/oxbow/tool"
)

// The most tokens of a list of tools as a model reads it: names, descriptions
// and the schemas of what they take. A client sends them with each turn of a
// conversation; measure before raising them. All bytes count with the answers'
// outlines, which no model reads.
const (
	maxCore, maxCoreBytes = 1500, 8_000
	maxFull, maxFullBytes = 4100, 19_000
)

func TestToolListIsShort(t *testing.T) {
	for _, tt := range []struct {
		sets          tool.Sets
		n, most, sent int
	}{
		{tool.Sets{tool.SetCore}, 6, maxCore, maxCoreBytes},
		{tool.Sets{tool.SetFull}, 15, maxFull, maxFullBytes},
	} {
		desk := harborDesk(nil)
		desk.Annotations = func(context.Context) (*annotate.Store, error) { return nil, oxbow.ErrUnsupported }
		cs := overMemory(t, New(desk, &Options{Sets: tt.sets, Code: tool.Code(), Whole: tool.SubAgents(), Profiles: harborProfiles(t)}), "")
		list, err := cs.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		encode := func(v any) string {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		read := ""
		for _, tl := range list.Tools {
			read += encode(mcp.Tool{Name: tl.Name, Description: tl.Description, InputSchema: tl.InputSchema})
		}
		estimate, bytes, sent := prompt.Tokens(read), len(read)/4, len(encode(list.Tools))
		t.Logf("%v: %d tools, %d bytes, of which a model reads %d tokens by estimate, %d by bytes", tt.sets, len(list.Tools), sent, estimate, bytes)
		if len(list.Tools) != tt.n || max(estimate, bytes) > tt.most || sent > tt.sent {
			t.Errorf("%v: %d tools, %d bytes, of which a model reads %d tokens (by bytes %d); want %d, %d and %d",
				tt.sets, len(list.Tools), sent, estimate, bytes, tt.n, tt.sent, tt.most)
		}
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
