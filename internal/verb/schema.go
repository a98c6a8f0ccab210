// This file makes the JSON schemas for the arguments and results of verbs.

package verb

import (
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// inferSchema returns the schema of the struct type t. The map knownSchemas contains the schemas of types whose schemas
// cannot be inferred. The schema never allows null, so a value that is absent must be omitted.
func inferSchema(t reflect.Type, knownSchemas map[reflect.Type]*jsonschema.Schema) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: knownSchemas})
	if err != nil {
		panic(err)
	}
	disallowNull(s)
	return s
}

func disallowNull(s *jsonschema.Schema) {
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
		disallowNull(p)
	}
	disallowNull(s.Items)
	disallowNull(s.AdditionalProperties)
}

// paramSchemaForModel returns the JSON schema that tells a model which arguments it may pass. This is the schema that
// paramSchema returns, without the parameters for which Unlisted is set.
func paramSchemaForModel(in reflect.Type, params []Param) *jsonschema.Schema {
	schema := paramSchema(in, params)
	for _, p := range params {
		if p.Unlisted {
			delete(schema.Properties, p.Name)
		}
	}
	return schema
}

// fullSchema returns the schema of the arguments with all parameters and their descriptions, for people.
func fullSchema(in reflect.Type, params []Param) *jsonschema.Schema {
	schema := paramSchema(in, params)
	for _, p := range params {
		schema.Properties[p.Name].Description = p.Usage
	}
	return schema
}

// paramSchema returns the JSON schema for arguments of the struct type in. The schema contains the allowed values of
// each parameter in params. It contains neither the descriptions nor the minimum values of the parameters.
func paramSchema(in reflect.Type, params []Param) *jsonschema.Schema {
	schema := inferSchema(in, nil)
	for _, p := range params {
		s := schema.Properties[p.Name]
		s.Minimum = nil
		if p.Repeatable {
			s = s.Items
		}
		for _, v := range p.Enum {
			s.Enum = append(s.Enum, v)
		}
	}
	return schema
}

// outputSchema returns the schema of a result. The schema allows properties that it does not list.
func outputSchema(out reflect.Type) *jsonschema.Schema {
	s := inferSchema(out, map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[Note](): {Type: "string"}})
	allowExtraProperties(s)
	return s
}

// allowExtraProperties makes a schema allow properties that it does not list.
func allowExtraProperties(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	forbidsMore := s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil
	if forbidsMore || len(s.Properties) > 0 {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		allowExtraProperties(p)
	}
	allowExtraProperties(s.Items)
	allowExtraProperties(s.AdditionalProperties)
}
