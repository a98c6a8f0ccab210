// This file makes a verb from a typed function, for doors that decode requests.

package verb

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/oxbow-memory/oxbow/internal/screening/screen"
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

	// Call runs the verb. The result is the struct that the function returns, or a [ScreenedAnswer].
	// The error is readable for people and models (see [ErrorRemedy]). Call is safe for concurrent use.
	Call func(ctx context.Context, w *Workspace, args Arguments) (any, error)
}

// ScreenedAnswer is the answer to a call whose arguments contained secrets. As JSON it is only the
// Answer.
type ScreenedAnswer struct {
	Answer      any
	SecretsNote string // description of the replaced secrets
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
	v.setParamsAndOutput(reflect.TypeFor[In](), reflect.TypeFor[Out]())
	v.Call = func(ctx context.Context, w *Workspace, args Arguments) (any, error) {
		ctx = withSearched(ctx)
		var found []screen.Secret
		var in In
		clean := v.argumentCleaner(ctx, w, &found)
		if err := readArgs(v.Name, v.Params, args, clean, reflect.ValueOf(&in).Elem()); err != nil {
			return nil, err
		}
		answer, err := run(ctx, w, in)
		if err != nil {
			return nil, w.addErrorRemedy(err)
		}
		return w.finishAnswer(answer, found), nil
	}
	return v
}

// setParamsAndOutput sets the parameters and the schema of the result. in and out are the types of the argument
// and of the result.
func (v *Verb) setParamsAndOutput(in, out reflect.Type) {
	v.Params = structParams(in)
	v.Output = sync.OnceValue(func() *jsonschema.Schema { return outputSchema(out) })
}

// argumentCleaner returns a function that replaces the secrets in a text of the arguments, and adds them to found.
// A verb that changes nothing does not store its arguments, so they stay as they are.
func (v *Verb) argumentCleaner(ctx context.Context, w *Workspace, found *[]screen.Secret) func(string) string {
	if v.ReadOnly {
		return func(text string) string { return text }
	}
	return func(text string) string { return w.Secrets.RedactText(ctx, text, found) }
}

// finishAnswer returns the answer of a verb with commands that work as typed, and with a note about the
// secrets that were replaced in its arguments.
func (w *Workspace) finishAnswer(answer any, found []screen.Secret) any {
	answer = RewriteAnswerCommands(answer, w.Typed)
	if note := ReplacedSecretsText(found); note != "" {
		return ScreenedAnswer{answer, note}
	}
	return answer
}
