// This file makes JSON schemas for the arguments and results of verbs.

package verb

import (
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf infers the schema of a struct. The map own has the schemas of types that cannot be
// inferred. Null is never allowed, so absent fields must be omitted.
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

// inputSchema returns the schema of arguments. If whole is set, it has all parameters with
// descriptions for people. Otherwise it is the short schema for models.
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

// outputSchema returns the schema of a result. It allows additional properties.
func outputSchema(out reflect.Type) *jsonschema.Schema {
	s := schemaOf(out, map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[Note](): {Type: "string"}})
	open(s)
	return s
}

// open allows properties that a schema does not list.
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
