// This file defines tools, which are verbs that models may call.

// Package verb implements every verb, which is an operation on a memory, once: as a function of a [Workspace] and a
// struct of arguments, such as [Recall]. The interfaces (command line, MCP, HTTP) decode a call, run the verb, and
// encode its result. They never open a memory themselves. A [Tool] is a verb that models may call, with its name,
// description and schemas.
package verb

import (
	"context"
	"embed"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/report"
)

// Tool is a verb that models may call. Its schema leaves out rare parameters and has short descriptions.
type Tool struct {
	Verb
	Description string // tells models when to call the verb, and names each parameter (at most 700 bytes)
}

// CallForModel calls the verb for a model. argumentsJSON contains the arguments as a JSON object, or is empty.
func (t Tool) CallForModel(ctx context.Context, w *Workspace, argumentsJSON json.RawMessage) (Answer, error) {
	args, err := ParseArguments(argumentsJSON)
	if err != nil {
		return Answer{}, err
	}
	out, err := t.Call(ctx, w, args)
	if err != nil {
		return Answer{}, err
	}
	return w.MakeAnswer(out), nil
}

// MakeAnswer returns the answer for a model. out is the result of a verb.
func (w *Workspace) MakeAnswer(out any) Answer {
	if s, ok := out.(CleanedAnswer); ok {
		return Answer{s.Answer.(report.Reporter), s.SecretsNote, w.RewriteCommands}
	}
	return Answer{out.(report.Reporter), "", w.RewriteCommands}
}

// Answer is the result of a verb in the form for a model.
type Answer struct {
	Result report.Reporter
	// If secrets in the call's arguments were replaced, a sentence that says so, otherwise "".
	secretsNote     string
	rewriteCommands func(text string) string // rewrites commands in the answer; see [Workspace.RewriteCommands]
}

// Text returns the answer as a text for a model. It contains everything that the model needs. Remembered text is
// quoted, or enclosed by a fence (a line before and after the text) that the text itself does not contain.
func (a Answer) Text() string {
	r := a.Result.Report()
	if a.secretsNote != "" {
		r.AddNotef("%s", report.OxbowText(a.secretsNote))
	}
	return prompt.ReportText(r, a.rewriteCommands)
}

// MarshalJSON implements [json.Marshaler]. It encodes the result as the JSON object for programs.
func (a Answer) MarshalJSON() ([]byte, error) { return json.Marshal(a.Result) }

// IsRememberedText reports whether the answer consists only of text that was stored in the memory. A server puts marks
// around such an answer. The marks separate the stored text from the server's own words.
func (a Answer) IsRememberedText() bool {
	q, ok := a.Result.(rememberedTextAnswer)
	return ok && q.IsRememberedText()
}

// rememberedTextAnswer is a result that may consist only of remembered text.
type rememberedTextAnswer interface{ IsRememberedText() bool }

//go:embed *.md
var toolDescriptions embed.FS

// verbTraits tell clients about the possible effects of a verb's call.
type verbTraits struct{ readOnly, destructive, idempotent bool }

// defineTool makes a tool from a function of this package. The tool's description is in the file NAME.md.
func defineTool[In any, Out report.Reporter](
	name, title string,
	t verbTraits,
	run func(context.Context, *Workspace, In) (Out, error),
) Tool {
	desc, err := toolDescriptions.ReadFile(name + ".md")
	if err != nil {
		panic(err)
	}
	return DefineTool(
		Tool{
			Verb: Verb{Name: name, Title: title, ReadOnly: t.readOnly, Destructive: t.destructive,
				Idempotent: t.idempotent},
			Description: string(desc),
		}, run,
	)
}

// DefineTool returns a copy of t that is a tool made from the function run. The parameters are the fields of In, and
// the schema of the result is derived from Out. The schema of the arguments is for models: it leaves out the parameters
// for which [Param.Unlisted] is set.
func DefineTool[In any, Out report.Reporter](t Tool, run func(context.Context, *Workspace, In) (Out, error)) Tool {
	t.Description = strings.TrimSpace(t.Description)
	t.Verb = newVerb(t.Verb, run)
	t.Input = paramSchemaForModel(reflect.TypeFor[In](), t.Params)
	return t
}

// PlainReply is the answer of a verb that returns a single text.
type PlainReply struct {
	Message string `json:"message"`
	// The message was read from the memory, so others may have written it.
	IsRemembered bool `json:"-"`
}

// IsRememberedText reports whether the message is remembered text (see [Answer.IsRememberedText]).
func (r PlainReply) IsRememberedText() bool { return r.IsRemembered }

// Report implements [report.Reporter].
func (r PlainReply) Report() (answer report.Report) {
	answer.Add(report.TextForModel(r.Message))
	return answer
}
