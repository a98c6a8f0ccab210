// This file makes a [Verb], which can be called with JSON arguments, from a Go function whose argument is a struct.
// Interfaces that decode requests use Verbs.

package verb

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/oxbow-memory/oxbow/internal/screening/screen"
)

// Verb is a function of a [Workspace] that can be called with JSON arguments. It has a name, and schemas for the
// arguments and the result.
type Verb struct {
	Name  string // name such as "remember", which contains only lower-case letters and underscores
	Title string // title for people, such as "Save to memory"

	ReadOnly    bool // a call changes nothing
	Destructive bool // a call removes something
	Idempotent  bool // repeating a call does not change anything further

	Input  *jsonschema.Schema        // schema of the arguments, which refuses unknown properties
	Output func() *jsonschema.Schema // returns the schema of the result, which the first call creates
	Params []Param                   // the parameters, in the order of the struct's fields

	// Call runs the verb. The result is the struct that the function returns, or a [CleanedAnswer]. The error is
	// readable for people and models (see [ErrorRemedy]). Call is safe for concurrent use.
	Call func(ctx context.Context, w *Workspace, args Arguments) (any, error)
}

// CleanedAnswer is the answer to a call whose arguments contained secrets. Its JSON is only Answer's JSON.
type CleanedAnswer struct {
	Answer      any
	SecretsNote string // sentence that says which secrets in the call's arguments were replaced
}

// MarshalJSON implements [json.Marshaler].
func (s CleanedAnswer) MarshalJSON() ([]byte, error) { return json.Marshal(s.Answer) }

// MakeVerb makes a verb from a function. Fields of v that are not set are derived from the structs In and Out. Each
// field of In is a parameter (see [StructParams]).
func MakeVerb[In, Out any](v Verb, run func(context.Context, *Workspace, In) (Out, error)) Verb {
	v = newVerb(v, run)
	v.Input = fullSchema(reflect.TypeFor[In](), v.Params)
	return v
}

// newVerb makes a verb from the function run, like MakeVerb, but without the schema of the arguments. The parameters of
// the verb are the fields of In. A call of the verb decodes the arguments, removes secrets from them, and calls run.
func newVerb[In, Out any](v Verb, run func(context.Context, *Workspace, In) (Out, error)) Verb {
	v.setParamsAndOutput(reflect.TypeFor[In](), reflect.TypeFor[Out]())
	v.Call = func(ctx context.Context, w *Workspace, args Arguments) (any, error) {
		ctx = withSearchedTexts(ctx)
		var found []screen.Secret
		var in In
		clean := v.argumentCleaner(ctx, w, &found)
		if err := readArgs(v.Name, v.Params, args, clean, reflect.ValueOf(&in).Elem()); err != nil {
			return nil, err
		}
		answer, err := run(ctx, w, in)
		if err != nil {
			return nil, w.addRemedyText(err)
		}
		return w.finishAnswer(answer, found), nil
	}
	return v
}

// setParamsAndOutput sets the parameters and the result's schema. in and out are the types of arguments and result.
func (v *Verb) setParamsAndOutput(in, out reflect.Type) {
	v.Params = structParams(in)
	v.Output = sync.OnceValue(func() *jsonschema.Schema { return outputSchema(out) })
}

// argumentCleaner returns a function that replaces the secrets in a text of the arguments, and appends them to
// foundSecrets. If the verb changes nothing, the function returns texts unchanged, because they are not stored.
func (v *Verb) argumentCleaner(ctx context.Context, w *Workspace, foundSecrets *[]screen.Secret) func(string) string {
	if v.ReadOnly {
		return func(text string) string { return text }
	}
	return func(text string) string { return w.Secrets.RedactText(ctx, text, foundSecrets) }
}

// finishAnswer completes the answer to a call. It rewrites the oxbow commands in the answer with w.Typed, so that the
// commands use this memory if the user types them. If oxbow has replaced secrets in the arguments of the call
// (foundSecrets), finishAnswer adds a note about these secrets.
func (w *Workspace) finishAnswer(answer any, foundSecrets []screen.Secret) any {
	answer = RewriteAnswerCommands(answer, w.Typed)
	if note := DescribeReplacedSecrets(foundSecrets); note != "" {
		return CleanedAnswer{answer, note}
	}
	return answer
}
