// This file flattens nested values of unknown keys, so that each becomes a key with text values.

package frontmatter

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Property is a key with its values. A nested mapping becomes several properties with names such as owner.name.
type Property struct {
	Name       string       // name as spelled in the file; dots join the names of nested keys
	ValueNodes []*yaml.Node // values of the key (a value may be null)
	IsList     bool         // the file contains a list as the key's value
}

// FlattenProperty returns the properties for a key and its value. A simple value becomes one property. The other values
// are treated as follows:
//
//   - A list becomes one property with several values. The values of lists inside the list are added to the same
//     property. If the list contains mappings, the properties of these mappings follow, each marked as a list.
//   - A mapping becomes one property for each of its keys. The name of such a property consists of the outer key, a
//     period and the inner key. If the outer key is metadata, the name is only the inner key, because Claude Code
//     writes keys below metadata that other programs write at the top level.
func FlattenProperty(name string, value *yaml.Node) []Property {
	p := Property{Name: name}
	switch value.Kind {
	case yaml.MappingNode:
		var all []Property
		for i := 0; i+1 < len(value.Content); i += 2 {
			member := value.Content[i].Value
			if FoldKeySpelling(name) != "metadata" {
				member = name + "." + member
			}
			all = append(all, FlattenProperty(member, value.Content[i+1])...)
		}
		return all
	case yaml.SequenceNode:
		p.IsList = true
		var nested []Property
		for _, item := range value.Content {
			for _, q := range FlattenProperty(name, item) {
				if q.Name == name {
					p.ValueNodes = append(p.ValueNodes, q.ValueNodes...)
					continue
				}
				q.IsList = true
				nested = append(nested, q)
			}
		}
		return append([]Property{p}, nested...)
	}
	p.ValueNodes = []*yaml.Node{value}
	return []Property{p}
}

// FoldKeySpelling returns a common spelling for all variants of a key: in lower case, with _ for hyphens and spaces.
func FoldKeySpelling(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return '_'
		}
		return unicode.ToLower(r)
	}, name)
}

// MakeLabelKey returns the label key under which the value of an unknown front matter key is stored. For example,
// Owner.name becomes owner_name.
func MakeLabelKey(name string) string { return strings.ReplaceAll(FoldKeySpelling(name), ".", "_") }
