// This file holds the table of verbs and what a verb is.

// Package tool has every verb of a memory once: its name, its description for
// models, the shape of what it takes and gives, and the call. The doors (the
// command line, MCP, HTTP, hooks) decode a call, hand it to a [Tool], and
// encode the [Answer]; none of them reaches around the table.
package tool

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/agent/subagent"
	"github.com/oxbow-memory/oxbow/annotate"
)

// Tool is one verb.
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
	// error is for people and models alike; see [Hint]. It is safe for
	// concurrent use.
	Call func(ctx context.Context, d *Workspace, args json.RawMessage) (Answer, error)
}

// Param is one argument of a verb, as a door that is not JSON shows it.
type Param struct {
	Name       string   // in the JSON object, such as "max_tokens"
	Flag       string   // on a command line, without dashes, such as "max-tokens"
	Usage      string   // one sentence
	Type       string   // "string", "integer", "number" or "boolean"; of one item when Repeatable
	Repeatable bool     // a list in the JSON object
	Positional bool     // stands without its flag on a command line
	Required   bool     // the call fails without it
	Enum       []string // the only values, if there are only some
	Also       []string // other names that are understood in the JSON object
}

// Answer is what a verb gives. As JSON it is an object that fits the verb's
// output schema and says everything; Text says the same to people, and to
// clients that read no JSON.
type Answer interface{ Text() string }

// Workspace is what a verb works on. It is shared by all calls of one door and is
// not changed by them.
type Workspace struct {
	// Open returns the memory. It is called by every verb, so that a door may
	// answer before the store is read; it returns the same memory each time.
	// The caller of the verbs closes it. [Lazy] makes such a function.
	Open func(ctx context.Context) (*oxbow.Memory, error)

	// Now is the clock by which dates such as 2026-04-18 are read, in the
	// time zone of what it returns. Nil means time.Now.
	Now func() time.Time

	// Book returns the annotations of the working tree, as Open does the
	// memory. The verbs of [Code] need it, and entries that cite files are
	// checked against its tree; nil where there is none. It is called only
	// when there is something to look at.
	Annotations func(ctx context.Context) (*annotate.Store, error)

	// SubAgents starts sub-agents. Only the verb of [SubAgents] uses it; nil
	// where that is not served.
	SubAgents *subagent.Service

	// Project returns the project of that tree, or "". Nil means that it is
	// not known.
	Project func() string

	// Profiles are the memory profiles that may be loaded, and Loads those that
	// the caller's session has loaded; nil where it has no session, and handles
	// are given. Only the verbs of [WithProfiles] look at them.
	Profiles *Profiles
	Loads    *Loads

	// Source is stamped on every change whose context carries none.
	Source oxbow.Source
}

func (d *Workspace) now() time.Time {
	if d.Now == nil {
		return time.Now()
	}
	return d.Now()
}

// open returns the memory, and the context that stamps the desk's source.
func (d *Workspace) open(ctx context.Context) (context.Context, *oxbow.Memory, error) {
	m, err := d.Open(ctx)
	if err != nil {
		return ctx, nil, err
	}
	if _, ok := oxbow.SourceFrom(ctx); !ok {
		ctx = oxbow.WithSource(ctx, d.Source)
	}
	return ctx, m, nil
}

var table = []Tool{
	define("remember", "Remember", traits{destructive: true, idempotent: true}, remember),
	define("recall", "Recall", traits{readOnly: true, idempotent: true}, recall),
	define("get", "Get one entry", traits{readOnly: true, idempotent: true}, get),
	define("list", "List entries", traits{readOnly: true, idempotent: true}, list),
	define("forget", "Forget", traits{destructive: true, idempotent: true}, forget),
	define("history", "History", traits{readOnly: true, idempotent: true}, history),
	define("undo", "Undo", traits{destructive: true}, undo),
	define("restore", "Restore a version", traits{destructive: true, idempotent: true}, restore),
	define("save_memory", "Save a memory", traits{}, saveMemory),
	define("handoff_task", "Hand off a task", traits{idempotent: true}, handoffTask),
}

// Table returns all verbs, always in the same order.
func Table() []Tool { return slices.Clone(table) }

// Find returns the verb of that name.
func Find(name string) (Tool, bool) {
	for _, t := range table {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}
