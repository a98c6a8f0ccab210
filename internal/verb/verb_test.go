// This file tests verbs in the way in which interfaces that decode requests call them.

package verb

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestVerbSchema checks that a verb's schema contains all parameters, and that its tool's schema contains those that
// models need.
func TestVerbSchema(t *testing.T) {
	verb := MakeVerb(Verb{Name: "remember"}, Remember)
	tool, _ := FindTool("remember")
	if verb.Input.Properties["op_id"] == nil || tool.Input.Properties["op_id"] != nil {
		t.Errorf(
			"op_id: the verb lists %v, the tool %v; want it in the verb alone",
			verb.Input.Properties["op_id"],
			tool.Input.Properties["op_id"],
		)
	}
	if got := verb.Input.Properties["content"].Description; !strings.HasPrefix(got, "The text, in Markdown") {
		t.Errorf("content is described as %q, want the sentence of the command line", got)
	}
	out := verb.Output()
	if out.Properties["outcome"] == nil || out.Properties["labels"] == nil ||
		out.Properties["notes"].Items.Type != "string" || out.AdditionalProperties != nil {
		t.Errorf("the schema of the answer is %v", out)
	}
}

// TestScreened checks that replaced secrets are reported next to the answer and not in it.
func TestScreened(t *testing.T) {
	b := newBench(t)
	verb := MakeVerb(Verb{Name: "remember"}, Remember)
	out, err := verb.Call(t.Context(), b.Workspace, Arguments{
		{"name", json.RawMessage(`"k"`)},
		{"content", json.RawMessage(`"the key is ` + "ghp_" + `a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi"`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := out.(CleanedAnswer)
	if !ok || s.SecretsNote == "" {
		t.Fatalf("Call gave %T %v, want that a secret was replaced", out, out)
	}
	got, err := json.Marshal(out)
	want, _ := json.Marshal(s.Answer)
	if err != nil || string(got) != string(want) {
		t.Errorf("as JSON it is %s, %v, want %s", got, err, want)
	}
}
