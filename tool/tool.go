// What a verb is to models.

// Package tool has every verb of a memory once, as a function of a [Workspace]
// and a struct of arguments, such as [Recall]. The doors (the command line, MCP)
// decode a call, make it, and encode what it gives; none opens a memory itself.
// What models may call is a [Tool]: a verb with its name, its description and
// the shape of what it takes.
package tool

import (
	"context"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// Tool is a verb that models may call.
type Tool struct {
	Name        string // such as "remember"; lower-case letters and underscores only
	Title       string // for people, such as "Save to memory"
	Description string // for models: when to call it, and each parameter by name; at most 700 bytes

	ReadOnly    bool // changes nothing
	Destructive bool // takes something away
	Idempotent  bool // the same call again changes nothing more

	Input  *jsonschema.Schema // of the arguments; unknown ones are not allowed
	Params []Param            // of the arguments, in their order

	// Call runs the verb. The arguments are one JSON object, or nothing. An
	// error is for people and models alike; see [Remedy]. It is safe for
	// concurrent use.
	Call func(ctx context.Context, w *Workspace, args json.RawMessage) (Answer, error)
}

// Answer is what a verb gives. As JSON it is an object for programs. Text is what
// a model reads: it says all that a model needs, with remembered text quoted or
// in fences that it cannot close.
type Answer interface{ Text() string }

// Quoter is an [Answer] whose text may be remembered text and nothing else. A
// server puts that in a fence.
type Quoter interface{ Quoted() bool }
