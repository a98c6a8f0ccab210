// Makes the schemas of answers shorter than they are: they are sent
// with every list of tools, and clients look at their outline alone.

package mcpserver

import "github.com/google/jsonschema-go/jsonschema"

// slim returns the outline of a schema of answers: its members, and the members
// of the objects in its lists, with their types. What fits the schema fits its
// outline.
func slim(s *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: s.Type, Properties: outline(s, 2), Required: s.Required, PropertyOrder: s.PropertyOrder}
}

// outline returns the members of an object to a depth of lists.
func outline(s *jsonschema.Schema, depth int) map[string]*jsonschema.Schema {
	if depth == 0 || len(s.Properties) == 0 {
		return nil
	}
	members := map[string]*jsonschema.Schema{}
	for name, p := range s.Properties {
		m := &jsonschema.Schema{Type: p.Type, Types: p.Types}
		if p.Items != nil {
			m.Items = &jsonschema.Schema{Type: p.Items.Type, Types: p.Items.Types, Properties: outline(p.Items, depth-1)}
		}
		members[name] = m
	}
	return members
}
