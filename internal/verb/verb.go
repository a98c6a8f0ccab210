// A verb made of a typed function, as a door calls it that decodes requests.

package verb

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Verb is one function of a [Workspace]: its name, the shape of what it takes and
// gives, and its call by JSON.
type Verb struct {
	Name  string // such as "remember"; lower-case letters and underscores only
	Title string // for people, such as "Save to memory"

	ReadOnly    bool // changes nothing
	Destructive bool // takes something away
	Idempotent  bool // the same call again changes nothing more

	Input  *jsonschema.Schema        // of the arguments; unknown ones are not allowed
	Output func() *jsonschema.Schema // of the answer; made by the first call
	Params []Param                   // of the arguments, in their order

	// Call runs the verb. The arguments are one JSON object, or nothing; the answer is
	// the struct that the function gives, or [Screened]. An error is for people and
	// models alike; see [Remedy]. It is safe for concurrent use.
	Call func(ctx context.Context, w *Workspace, args json.RawMessage) (any, error)
}

// Screened is an answer to a call whose arguments had secrets. As JSON it is the
// answer alone.
type Screened struct {
	Answer any
	Note   string // what was replaced
}

// MarshalJSON implements [json.Marshaler].
func (s Screened) MarshalJSON() ([]byte, error) { return json.Marshal(s.Answer) }

// MakeVerb makes a verb of a function. What v leaves open is filled in from the
// structs: each field of In is a parameter; see [ParamsOf].
func MakeVerb[In, Out any](v Verb, run func(context.Context, *Workspace, In) (Out, error)) Verb {
	v = verbOf(v, run)
	v.Input = inputSchema(reflect.TypeFor[In](), v.Params, true)
	return v
}

// verbOf is MakeVerb without the schema of the arguments.
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
