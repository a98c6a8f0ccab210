// This file turns nested values of unknown keys into pairs of a key and a text.

package frontmatter

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Property is a key with its values. A nested mapping becomes several properties, such as owner.name.
type Property struct {
	Name   string       // name as spelled in the file; the names of nested keys are joined by dots
	Values []*yaml.Node // values, which may be null
	IsList bool         // the values are in a list
}

// FlattenProperty returns the properties that a key with this value represents. Nested lists are joined to a single
// list, and a mapping becomes a property for each of its values. The keys in a mapping called metadata keep their
// names, because Claude Code writes keys there that other programs write at the top.
func FlattenProperty(name string, value *yaml.Node) []Property {
	p := Property{Name: name}
	switch value.Kind {
	case yaml.MappingNode:
		var all []Property
		for i := 0; i+1 < len(value.Content); i += 2 {
			member := value.Content[i].Value
			if NormalizeKey(name) != "metadata" {
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
					p.Values = append(p.Values, q.Values...)
					continue
				}
				q.IsList = true
				nested = append(nested, q)
			}
		}
		return append([]Property{p}, nested...)
	}
	p.Values = []*yaml.Node{value}
	return []Property{p}
}

// NormalizeKey returns the spelling of a key that all its variants share: in lower case, with _ for - and spaces.
func NormalizeKey(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return '_'
		}
		return unicode.ToLower(r)
	}, name)
}

// LabelKey returns the label key for a key of front matter that no field of an entry has: Owner.name becomes
// owner_name.
func LabelKey(name string) string { return strings.ReplaceAll(NormalizeKey(name), ".", "_") }
