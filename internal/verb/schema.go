// Schemas: the shapes of what a verb takes and gives.

package verb

import (
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf infers the schema of a struct, given those of types whose fields do
// not say it. Null is never allowed; absent fields are omitted.
func schemaOf(t reflect.Type, own map[reflect.Type]*jsonschema.Schema) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: own})
	if err != nil {
		panic(err)
	}
	dropNull(s)
	return s
}

func dropNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if i := slices.Index(s.Types, "null"); i >= 0 {
		s.Types = slices.Delete(s.Types, i, i+1)
		if len(s.Types) == 1 {
			s.Type, s.Types = s.Types[0], nil
		}
	}
	for _, p := range s.Properties {
		dropNull(p)
	}
	dropNull(s.Items)
	dropNull(s.AdditionalProperties)
}

// inputSchema returns the schema of arguments: whole, with the sentences that
// people read, or as models get it, which is short.
func inputSchema(in reflect.Type, params []Param, whole bool) *jsonschema.Schema {
	schema := schemaOf(in, nil)
	for _, p := range params {
		s := schema.Properties[p.Name]
		s.Minimum = nil
		if p.Unlisted && !whole {
			delete(schema.Properties, p.Name)
			continue
		}
		if whole {
			s.Description = p.Usage
		}
		if p.Repeatable {
			s = s.Items
		}
		for _, v := range p.Enum {
			s.Enum = append(s.Enum, v)
		}
	}
	return schema
}

// outputSchema returns the schema of an answer. Other members may come.
func outputSchema(out reflect.Type) *jsonschema.Schema {
	s := schemaOf(out, map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[Note](): {Type: "string"}})
	open(s)
	return s
}

// open allows members that a schema does not name.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Properties) > 0 || (s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil) {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		open(p)
	}
	open(s.Items)
	open(s.AdditionalProperties)
}
