// This file repeats tool calls that were recorded with clawft's own code. It compares the replies and the files with
// the recorded ones.

package clawft

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// better contains the expected files of the test cases in which clawft's result is not wanted. In these cases, clawft
// appends a text to the end of another text without a separator. The keys are the name of the case and the path of the
// file. In all other cases, the files must be equal to clawft's files except for blank lines at the end. Such blank
// lines can differ because oxbow appends texts in only one way.
var better = map[string]map[string]string{
	"mixed store then tool then store": {".clawft/workspace/memory/MEMORY.md": "a\n\nb\n\nc"},
	"legacy nanobot only":              {".nanobot/workspace/memory/MEMORY.md": "old\n\nn\n\ns"},
}

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name string
		Ops  []struct {
			Op, Content, Query string
			Max                int
			Args               m
		}
		Results []json.RawMessage
		Tree    map[string]string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 10 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			fsys := vfs.NewMem()
			// The files that were there before the calls.
			switch c.Name {
			case "legacy nanobot only":
				put(t, fsys, nanobotMemoryDir+"/MEMORY.md", "old")
			case "both exist":
				put(t, fsys, nanobotMemoryDir+"/MEMORY.md", "old")
				put(t, fsys, clawftMemoryDir+"/MEMORY.md", "new")
			case "bad utf8":
				put(t, fsys, clawftMemoryDir+"/MEMORY.md", "\xff x")
			}
			h := openHome(t, fsys)
			for i, op := range c.Ops {
				var got any
				var err error
				switch op.Op {
				case "schema":
					got = schemas(t, h)
					// Do not compare the descriptions of the tools, because oxbow words them differently from clawft.
					c.Results[i] = withoutWords(t, c.Results[i])
				case "new":
					got = m{"memory_path": h.displayPath + "/MEMORY.md", "history_path": h.displayPath + "/HISTORY.md"}
				case "append":
					_, err = h.AppendMemory(t.Context(), op.Content)
					got = m{"ok": err == nil}
				case "write":
					_, err = h.WriteMemory(t.Context(), op.Content)
					got = m{"ok": err == nil}
				case "append_history":
					err = h.AppendHistory(t.Context(), op.Content)
					got = m{"ok": err == nil}
				case "read":
					var text string
					text, _, err = h.ReadMemory(t.Context())
					got = m{"ok": err == nil, "text": strings.TrimRight(text, "\r\n")}
				case "search":
					found, serr := h.Search(t.Context(), op.Query, op.Max)
					if c.Name == "bad utf8" && serr == nil {
						t.Error("a search that could not read a file does not say so")
					}
					if c.Name == "mixed store then tool then store" {
						c.Results[i] = json.RawMessage(`["c"]`)
					}
					got = append([]string{}, found...)
				default:
					got, err = call(t, h, op.Op, op.Args)
				}
				if c.Name == "bad utf8" && op.Op != "search" {
					if err == nil || !strings.Contains(err.Error(), "UTF-8") {
						t.Errorf("call %d, %s, of a file that is no text: %v, %v", i, op.Op, got, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("call %d, %s: %v", i, op.Op, err)
				}
				if have, want := asJSON(t, got), asJSON(t, c.Results[i]); !reflect.DeepEqual(have, want) {
					t.Errorf("call %d, %s = %v, want %v", i, op.Op, have, want)
				}
			}
			for p, want := range c.Tree {
				if b, ok := better[c.Name][p]; ok {
					want = b
				}
				got := read(t, fsys, p)
				if c.Name == "bad utf8" {
					want = "\xff x"
				}
				if slices.ContainsFunc(c.Ops, func(op struct {
					Op, Content, Query string
					Max                int
					Args               m
				}) bool {
					return op.Op != "append_history"
				}) {
					// Ignore white space at the end, because oxbow ends each write with a blank line and clawft does
					// not.
					got, want = strings.TrimRight(got, " \r\n"), strings.TrimRight(want, " \r\n")
				}
				if got != want {
					t.Errorf("%s is %q, want %q", p, got, want)
				}
			}
			for _, p := range fsys.Names() {
				if _, ok := c.Tree[p]; !ok && strings.HasSuffix(p, ".md") {
					t.Errorf("there is %s, which clawft does not leave", p)
				}
			}
		})
	}
}

func asJSON(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// schemas returns the input schemas of memory_read and memory_write, the two tools that clawft has too. It removes what
// only oxbow adds to them: the argument file, and the property additionalProperties, which refuses unknown arguments.
// It also sets the list of required arguments of memory_read to the empty list.
func schemas(t *testing.T, h *Home) any {
	t.Helper()
	tools := h.Tools()
	out := m{"read": asJSON(t, tools[0].Input), "write": asJSON(t, tools[1].Input)}
	for _, k := range []string{"read", "write"} {
		s := out[k].(map[string]any)
		delete(s, "additionalProperties")
		delete(s["properties"].(map[string]any), "file")
	}
	out["read"].(map[string]any)["required"] = []any{}
	return out
}

func withoutWords(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	v := asJSON(t, raw).(map[string]any)
	delete(v, "rd")
	delete(v, "wr")
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
