// This file makes a verb from a typed function, for doors that decode requests.

package verb

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Verb is a function of a [Workspace], with its name, the schemas for argument and result, and a
// way to call it with JSON.
type Verb struct {
	Name  string // such as "remember" (only lower-case letters and underscores)
	Title string // title for people, such as "Save to memory"

	ReadOnly    bool // the verb changes nothing
	Destructive bool // the verb removes something
	Idempotent  bool // repeating a call has no further effect

	Input  *jsonschema.Schema        // schema of the argument (unknown properties are refused)
	Output func() *jsonschema.Schema // returns the schema of the result, created by the first call
	Params []Param                   // parameters, in the order of the fields

	// Call runs the verb. The arguments are a JSON object, or empty. The result is the struct that
	// the function returns, or a [Screened]. The error is readable for people and models (see
	// [Remedy]). Call is safe for concurrent use.
	Call func(ctx context.Context, w *Workspace, args json.RawMessage) (any, error)
}

// Screened is the answer to a call whose arguments contained secrets. As JSON it is only the
// Answer.
type Screened struct {
	Answer any
	Note   string // description of the replaced secrets
}

// MarshalJSON implements [json.Marshaler].
func (s Screened) MarshalJSON() ([]byte, error) { return json.Marshal(s.Answer) }

// MakeVerb makes a verb from a function. Missing parts of v are derived from the structs. Each
// field of In is a parameter (see [ParamsOf]).
func MakeVerb[In, Out any](v Verb, run func(context.Context, *Workspace, In) (Out, error)) Verb {
	v = verbOf(v, run)
	v.Input = fullSchema(reflect.TypeFor[In](), v.Params)
	return v
}

// verbOf is like MakeVerb, but does not make the schema of the arguments.
func verbOf[In, Out any](v Verb, run func(context.Context, *Workspace, In) (Out, error)) Verb {
	v.Params = paramsOf(reflect.TypeFor[In]())
	v.Output = sync.OnceValue(func() *jsonschema.Schema { return outputSchema(reflect.TypeFor[Out]()) })
	v.Call = func(ctx context.Context, w *Workspace, args json.RawMessage) (any, error) {
		var in In
		secrets := ""
		if !v.ReadOnly {
			args, secrets = w.Secrets.arguments(args)
		}
		if err := readArgs(v.Name, v.Params, args, reflect.ValueOf(&in).Elem()); err != nil {
			return nil, err
		}
		out, err := run(ctx, w, in)
		if err != nil {
			return nil, err
		}
		if secrets != "" {
			return Screened{out, secrets}, nil
		}
		return out, nil
	}
	return v
}
