// This file tests how nested values are flattened.

package frontmatter

import (
	"fmt"
	"strings"
	"testing"
)

func TestFlatten(t *testing.T) {
	for text, want := range map[string]string{
		"a: x":                           "a=x",
		"a:":                             "a=",
		"a: []":                          "a=[]",
		"a: {}":                          "",
		"a: [x, [y, z]]":                 "a=[x y z]",
		"Owner: {name: x, of: {b: 1}}":   "Owner.name=x Owner.of.b=1",
		"metadata: {type: x, tags: [y]}": "type=x tags=[y]",
		"a: [x, {b: 1, c: 2}]":           "a=[x] a.b=[1] a.c=[2]",
	} {
		r := MappingReader{}
		top := r.ReadMapping(text)
		if top == nil {
			t.Fatalf("%q cannot be read: %v", text, r.Diagnostics)
		}
		var got []string
		for _, p := range FlattenProperty(top.Content[0].Value, top.Content[1]) {
			var values []string
			for _, n := range p.ValueNodes {
				values = append(values, n.Value)
			}
			s := strings.Join(values, " ")
			if p.IsList {
				s = "[" + s + "]"
			}
			got = append(got, fmt.Sprintf("%s=%s", p.Name, s))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("FlattenProperty(%q) = %q, want %q", text, got, want)
		}
	}
	if got := MakeLabelKey("Review-by.Day one"); got != "review_by_day_one" {
		t.Errorf("LabelKey() = %q", got)
	}
}
