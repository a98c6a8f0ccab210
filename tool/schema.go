// This file turns the structs of in.go and out.go into a verb: schemas,
// parameters and the call.

package tool

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/oxbow-memory/oxbow"
)

//go:embed *.md
var descriptions embed.FS

// traits are the hints that clients get about a verb.
type traits struct{ readOnly, destructive, idempotent bool }

// define makes a verb of this package, whose description is beside it.
func define[In any, Out Answer](name, title string, t traits, run func(context.Context, *Workspace, In) (Out, error)) Tool {
	desc, err := descriptions.ReadFile(name + ".md")
	if err != nil {
		panic(err)
	}
	return Define(Tool{Name: name, Title: title, Description: string(desc),
		ReadOnly: t.readOnly, Destructive: t.destructive, Idempotent: t.idempotent}, run)
}

// Define makes a verb of a function. What t leaves open is filled in from the
// structs: each field of In is a parameter, with its name in the tag json (and
// omitempty where it may be left out), what it is in jsonschema, and, where they
// are wanted, flag, also (other names, with commas), enum (the values, with
// commas, or the word kind) and cli:"positional". What is wrong with the structs
// is a programmer's mistake and panics.
func Define[In any, Out Answer](t Tool, run func(context.Context, *Workspace, In) (Out, error)) Tool {
	t.Description = strings.TrimSpace(t.Description)
	t.Input, t.Params, t.Output = schemaOf[In](), paramsOf(reflect.TypeFor[In]()), schemaOf[Out]()
	name, params := t.Name, t.Params
	for _, p := range params {
		s := t.Input.Properties[p.Name]
		if p.Repeatable {
			s = s.Items
		}
		for _, v := range p.Enum {
			s.Enum = append(s.Enum, v)
		}
	}
	t.Call = func(ctx context.Context, d *Workspace, args json.RawMessage) (Answer, error) {
		var v In
		if err := readArgs(name, params, args, &v); err != nil {
			return nil, err
		}
		out, err := run(ctx, d, v)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
	return t
}

// Reply is the answer of a verb that says one text.
type Reply struct {
	Message string `json:"message" jsonschema:"what the verb says"`
}

// Text returns the message.
func (r Reply) Text() string { return r.Message }

// schemaOf infers the schema of a struct. Null is nowhere allowed: what is
// absent is left out.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
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

// parts are what remember can clear.
var parts = []string{"project", "tags", "related_files", "confidence", "aliases"}

func paramsOf(t reflect.Type) []Param {
	var ps []Param
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := Param{Name: name, Flag: f.Tag.Get("flag"), Usage: f.Tag.Get("jsonschema"),
			Positional: f.Tag.Get("cli") == "positional", Required: !strings.Contains(opts, "omitempty")}
		if p.Flag == "" {
			p.Flag = strings.ReplaceAll(name, "_", "-")
		}
		if a := f.Tag.Get("also"); a != "" {
			p.Also = strings.Split(a, ",")
		}
		switch enum := f.Tag.Get("enum"); enum {
		case "":
		case "kind":
			for _, k := range oxbow.Kinds() {
				p.Enum = append(p.Enum, k.String())
			}
		case "part":
			p.Enum = slices.Clone(parts)
		default:
			p.Enum = strings.Split(enum, ",")
		}
		ft := f.Type
		switch ft.Kind() {
		case reflect.Slice:
			p.Repeatable, ft = true, ft.Elem()
		case reflect.Pointer:
			ft = ft.Elem()
		}
		switch ft.Kind() {
		case reflect.String:
			p.Type = "string"
		case reflect.Bool:
			p.Type = "boolean"
		case reflect.Int, reflect.Uint64:
			p.Type = "integer"
		case reflect.Float64:
			p.Type = "number"
		default:
			panic(fmt.Sprintf("tool: parameter %s of %v has a type that no door can show", name, t))
		}
		ps = append(ps, p)
	}
	return ps
}
