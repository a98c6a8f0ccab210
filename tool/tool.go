// The table of verbs, and what a verb is.

// Package tool has every verb of a memory once, as a function of a [Workspace]
// and a struct of arguments, such as [Recall]. The doors (the command line, MCP)
// decode a call, make it, and encode what it gives; none opens a memory itself.
// What models may call is a [Tool]: a verb with its name, its description and
// the shape of what it takes and gives.
package tool

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Tool is a verb that models may call.
type Tool struct {
	Name        string // such as "remember"; lower-case letters and underscores only
	Title       string // for people, such as "Remember"
	Description string // for models: when to call it, and each parameter by name; at most 1024 bytes

	ReadOnly    bool // changes nothing
	Destructive bool // what it changes is no longer what answers by default
	Idempotent  bool // the same call again changes nothing more

	Input  *jsonschema.Schema // of the arguments; unknown ones are not allowed
	Output *jsonschema.Schema // of the answer as JSON; nil where a model should get the text alone
	Params []Param            // of the arguments, in their order

	// Call runs the verb. The arguments are one JSON object, or nothing. An
	// error is for people and models alike; see [Remedy]. It is safe for
	// concurrent use.
	Call func(ctx context.Context, w *Workspace, args json.RawMessage) (Answer, error)
}

// Answer is what a verb gives. As JSON it is an object that fits the verb's
// output schema and says everything; Text says the same to people, and to
// clients that read no JSON.
type Answer interface{ Text() string }

// table is made when it is first needed: a command line calls the functions.
var table = sync.OnceValue(func() []Tool {
	look := traits{readOnly: true, idempotent: true}
	change := traits{destructive: true, idempotent: true}
	return []Tool{
		define("remember", "Remember", change, Remember),
		define("recall", "Recall", look, Recall),
		define("get", "Get one entry", look, Get),
		define("list", "List entries", look, List),
		define("forget", "Forget", change, Forget),
		define("history", "History", look, History),
		define("undo", "Undo", traits{destructive: true}, Undo),
		define("restore", "Restore a version", change, Restore),
		define("save_memory", "Save a memory", traits{}, saveMemory),
		define("handoff_task", "Hand off a task", traits{idempotent: true}, HandOff),
	}
})

// Table returns the verbs that every server offers, always in the same order.
func Table() []Tool { return slices.Clone(table()) }

// Find returns the verb of that name in the [Table].
func Find(name string) (Tool, bool) {
	for _, t := range table() {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}
