// A verb made of a typed function: its schema, parameters and call.

package tool

import (
	"context"
	"embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed *.md
var descriptions embed.FS

// traits are the hints that clients get about a verb.
type traits struct{ readOnly, destructive, idempotent bool }

// define makes a verb of this package, whose description is next to it.
func define[In any, Out Answer](name, title string, t traits, run func(context.Context, *Workspace, In) (Out, error)) Tool {
	desc, err := descriptions.ReadFile(name + ".md")
	if err != nil {
		panic(err)
	}
	return Define(Tool{Name: name, Title: title, Description: string(desc),
		ReadOnly: t.readOnly, Destructive: t.destructive, Idempotent: t.idempotent}, run)
}

// Define makes a verb of a function. What t leaves open is filled in from the
// structs: each field of In is a parameter; see [ParamsOf].
func Define[In any, Out Answer](t Tool, run func(context.Context, *Workspace, In) (Out, error)) Tool {
	t.Description = strings.TrimSpace(t.Description)
	t.Input, t.Params = schemaOf(reflect.TypeFor[In](), nil), paramsOf(reflect.TypeFor[In]())
	name, params := t.Name, t.Params
	for _, p := range params {
		s := t.Input.Properties[p.Name]
		if s.Minimum = nil; p.Unlisted {
			delete(t.Input.Properties, p.Name)
			continue
		}
		if p.Repeatable {
			s = s.Items
		}
		for _, v := range p.Enum {
			s.Enum = append(s.Enum, v)
		}
	}
	t.Call = func(ctx context.Context, w *Workspace, args json.RawMessage) (Answer, error) {
		var in In
		secrets := ""
		if !t.ReadOnly {
			args, secrets = w.Secrets.arguments(args)
		}
		if err := readArgs(name, params, args, reflect.ValueOf(&in).Elem()); err != nil {
			return nil, err
		}
		out, err := run(ctx, w, in)
		if err != nil {
			return nil, err
		}
		if secrets != "" {
			return screened{out, secrets}, nil
		}
		return out, nil
	}
	return t
}

// Reply is the answer of a verb that says one text.
type Reply struct {
	Message string `json:"message"`
	// Remembered says that the message is remembered text.
	Remembered bool `json:"-"`
}

// Quoted implements [Quoter].
func (r Reply) Quoted() bool { return r.Remembered }

// Text returns the message.
func (r Reply) Text() string { return r.Message }

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
