// This file defines tools, which are verbs that models may call.

// Package verb implements every verb (operation on a memory) once, as a function of a [Workspace]
// and a struct of arguments, such as [Recall]. The doors (command line, MCP, HTTP) decode a call,
// run the verb, and encode its result. They never open a memory themselves. A [Tool] is a verb
// that models may call, with its name, description and schemas.
package verb

import (
	"context"
	"embed"
	"encoding/json"
	"reflect"
	"strings"
)

// Tool is a verb that models may call. Its schema omits rare parameters, and its descriptions are
// short.
type Tool struct {
	Verb
	Description string // tells models when to call it, with each parameter by name (at most 700 bytes)
}

// Answer calls the verb for a model.
func (t Tool) Answer(ctx context.Context, w *Workspace, args json.RawMessage) (Answer, error) {
	out, err := t.Call(ctx, w, args)
	if err != nil {
		return nil, err
	}
	if s, ok := out.(Screened); ok {
		return screened{s.Answer.(Answer), s.Note}, nil
	}
	return out.(Answer), nil
}

// Answer is the result of a verb. As JSON it is an object for programs. Text returns a text for
// models. It contains everything that a model needs, with remembered text quoted or in fences that
// the text cannot close.
type Answer interface{ Text() string }

// Quoter is an [Answer] whose text may consist only of remembered text. A server puts such a text
// in a fence.
type Quoter interface{ Quoted() bool }

//go:embed *.md
var descriptions embed.FS

// traits are hints about a verb for clients.
type traits struct{ readOnly, destructive, idempotent bool }

// define makes a tool from a function of this package. The description is in the file NAME.md.
func define[In any, Out Answer](
	name, title string,
	t traits,
	run func(context.Context, *Workspace, In) (Out, error),
) Tool {
	desc, err := descriptions.ReadFile(name + ".md")
	if err != nil {
		panic(err)
	}
	return Define(
		Tool{
			Verb: Verb{Name: name, Title: title, ReadOnly: t.readOnly, Destructive: t.destructive,
				Idempotent: t.idempotent},
			Description: string(desc),
		}, run,
	)
}

// Define makes a tool from a function (see [MakeVerb]).
func Define[In any, Out Answer](t Tool, run func(context.Context, *Workspace, In) (Out, error)) Tool {
	t.Description = strings.TrimSpace(t.Description)
	t.Verb = verbOf(t.Verb, run)
	t.Input = modelSchema(reflect.TypeFor[In](), t.Params)
	return t
}

// Reply is the answer of a verb that returns a single text.
type Reply struct {
	Message string `json:"message"`
	// Remembered reports that the message is remembered text.
	Remembered bool `json:"-"`
}

// Quoted implements [Quoter].
func (r Reply) Quoted() bool { return r.Remembered }

// Text returns the message.
func (r Reply) Text() string { return r.Message }

// screened is the answer to a call whose arguments contained secrets.
type screened struct {
	Answer
	note string
}

// Text implements [Answer].
func (a screened) Text() string {
	return strings.TrimRight(a.Answer.Text(), "\n") + "\n\nnote: " + a.note
}

// Quoted implements [Quoter].
func (a screened) Quoted() bool {
	q, ok := a.Answer.(Quoter)
	return ok && q.Quoted()
}
