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

// FlattenProperty returns the properties for a key and its value. Nested lists are joined to a single list. A mapping
// becomes one property for each of its values, named after both keys. For a mapping named metadata, the inner keys
// alone are the names, because Claude Code writes keys there that other programs write at the top level.
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
