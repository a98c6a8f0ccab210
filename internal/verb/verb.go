// This file makes a verb from a typed function, for doors that decode requests.

package verb

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Verb is a function of a [Workspace], together with a name, the schemas for argument and result,
// and a way to call the function with JSON.
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
	// the function returns, or a [ScreenedAnswer]. The error is readable for people and models (see
	// [Remedy]). Call is safe for concurrent use.
	Call func(ctx context.Context, w *Workspace, args json.RawMessage) (any, error)
}

// ScreenedAnswer is the answer to a call whose arguments contained secrets. As JSON it is only the
// Answer.
type ScreenedAnswer struct {
	Answer any
	Note   string // description of the replaced secrets
}

// MarshalJSON implements [json.Marshaler].
func (s ScreenedAnswer) MarshalJSON() ([]byte, error) { return json.Marshal(s.Answer) }

// MakeVerb makes a verb from a function. Missing parts of v are derived from the structs. Each
// field of In is a parameter (see [StructParams]).
func MakeVerb[In, Out any](v Verb, run func(context.Context, *Workspace, In) (Out, error)) Verb {
	v = makeVerb(v, run)
	v.Input = fullSchema(reflect.TypeFor[In](), v.Params)
	return v
}

// makeVerb is like MakeVerb, but does not make the schema of the arguments.
func makeVerb[In, Out any](v Verb, run func(context.Context, *Workspace, In) (Out, error)) Verb {
	v.setCall(
		reflect.TypeFor[In](),
		reflect.TypeFor[Out](),
		func(ctx context.Context, w *Workspace, in any) (any, error) { return run(ctx, w, *in.(*In)) },
	)
	return v
}

// setCall sets the call, the parameters and the schema of the answer. run receives a pointer to
// arguments of type in.
func (v *Verb) setCall(in, out reflect.Type, run func(ctx context.Context, w *Workspace, in any) (any, error)) {
	name, readOnly := v.Name, v.ReadOnly
	params := structParams(in)
	v.Params = params
	v.Output = sync.OnceValue(func() *jsonschema.Schema { return outputSchema(out) })
	v.Call = func(ctx context.Context, w *Workspace, args json.RawMessage) (any, error) {
		ctx = withSearched(ctx)
		secrets := ""
		if !readOnly {
			args, secrets = w.Secrets.screenArguments(ctx, args)
		}
		arguments := reflect.New(in)
		if err := readArgs(name, params, args, arguments.Elem()); err != nil {
			return nil, err
		}
		answer, err := run(ctx, w, arguments.Interface())
		if err != nil {
			return nil, w.typeError(err)
		}
		answer = TypeCommands(answer, w.Typed)
		if secrets != "" {
			return ScreenedAnswer{answer, secrets}, nil
		}
		return answer, nil
	}
}
