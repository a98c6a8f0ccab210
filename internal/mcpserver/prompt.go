// This file implements the prompts /context, /handoff and /profile, which a person chooses in the client.

package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/scope"
)

// promptDefinition is a prompt: the description for clients, and the function that returns the text.
type promptDefinition struct {
	mcp.Prompt
	makeText func(d *serverTransport, ctx context.Context, req *mcp.GetPromptRequest,
		args map[string]string) (string, error)
}

// Names of prompt arguments. File complete.go completes their values.
const (
	argMessage   = "message"
	argProject   = "project"
	argTags      = "tags"
	argMaxTokens = "max_tokens"
	argName      = "name"
	argQuery     = "query"
)

// fallbackNamePrefix is the prefix of a second name for the prompt /context. Clients such as Qwen Code need it,
// because /context is already a built-in command there.
const fallbackNamePrefix = "memory-"

var contextPrompt = promptDefinition{
	Prompt: mcp.Prompt{Name: "context", Title: "What memory holds for this",
		Description: "Puts what the memory holds before the model: documents, then entries, as many as the budget " +
			"holds.",
		Arguments: []*mcp.PromptArgument{
			{Name: argMessage, Description: "What it is for: what fits ranks higher."},
			{Name: argProject, Description: "Only entries of this project."},
			{Name: argTags, Description: "Only entries with all of these tags, parted by commas."},
			{Name: argMaxTokens, Description: "Most tokens to spend, as many as the profile allows by default."},
		}},
	makeText: (*serverTransport).contextText,
}

var profilePrompt = promptDefinition{
	Prompt: mcp.Prompt{Name: "profile", Title: "Load a memory profile",
		Description: "Loads a memory profile for a stretch of work, as the tool load_memory_profile does.",
		Arguments: []*mcp.PromptArgument{
			{Name: argName, Description: "Name of the profile.", Required: true},
			{Name: argQuery, Description: "What it is for: what fits ranks higher."},
			{
				Name:        argMaxTokens,
				Description: fmt.Sprintf("Most tokens to spend, %d by default.", verb.DefaultProfileTokens),
			},
		}},
	makeText: (*serverTransport).profileText,
}

var handoffPrompt = promptDefinition{
	Prompt: mcp.Prompt{Name: "handoff", Title: "Take the waiting handoff",
		Description: "Takes the task that an earlier session left, with its memory profile; when none waits, says " +
			"how to leave one.",
		Arguments: []*mcp.PromptArgument{
			{Name: argName, Description: "Name of the handoff; the newest that waits by default."},
			{Name: argProject, Description: "Only a handoff of this project."},
		}},
	makeText: (*serverTransport).handoffText,
}

// listPrompts returns the prompts that the server offers to the clients of v, which all have the same rights. The
// prompts depend on whether these clients see a memory, whether profiles exist, and whether the home has another
// layout. The context prompt is also listed under a second name with the prefix fallbackNamePrefix.
func (v *clientService) listPrompts() []promptDefinition {
	var ps []promptDefinition
	switch {
	case v.homeIfUnrestricted() != nil:
		ps = append(ps, homeContextPrompt)
	case v.Workspace.Profiles != nil && v.hasMemory():
		ps = append(ps, contextPrompt)
	}
	for _, p := range ps {
		p.Name = fallbackNamePrefix + p.Name
		ps = append(ps, p)
	}
	if !v.hasMemory() {
		return ps
	}
	if !slices.Contains(v.serverOptions.OmittedVerbs, "handoff_task") {
		ps = append(ps, handoffPrompt)
	}
	if v.Workspace.Profiles != nil {
		ps = append(ps, profilePrompt)
	}
	return ps
}

func (d *serverTransport) addPrompts(m *mcp.Server) {
	for _, a := range d.listPrompts() {
		m.AddPrompt(&a.Prompt, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			ctx = d.contextWithSource(ctx, req.Session, req.ClientInfo())
			args, err := a.nonEmptyArguments(req.Params.Arguments)
			if err != nil {
				return nil, d.invalidParams(err)
			}
			text, err := a.makeText(d, ctx, req, args)
			if errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrNotFound) {
				return nil, d.invalidParams(err)
			}
			if err != nil {
				return nil, errors.New(d.explainError(err))
			}
			return &mcp.GetPromptResult{Description: a.Description,
				Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
		})
	}
}

func (v *clientService) invalidParams(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: v.explainError(err)}
}

// placeholderPattern matches a text such as $1 or $ARGUMENTS. Some clients send it as the value of an argument that
// the user left out.
var placeholderPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$([0-9]+|ARGUMENTS)$`) })

// nonEmptyArguments returns the arguments that the user gave: it leaves out empty values and placeholders. It returns
// an error if an argument is unknown or a required one is missing.
func (a *promptDefinition) nonEmptyArguments(rawArguments map[string]string) (map[string]string, error) {
	args := map[string]string{}
	var names []string
	for _, p := range a.Arguments {
		names = append(names, p.Name)
		if s := strings.TrimSpace(rawArguments[p.Name]); s != "" && !placeholderPattern().MatchString(s) {
			args[p.Name] = s
		} else if p.Required {
			return nil, &oxbow.InvalidError{Field: "argument", Value: p.Name, Reason: "is missing"}
		}
	}
	for name := range rawArguments {
		if !slices.Contains(names, name) {
			return nil, &oxbow.InvalidError{Field: "argument", Value: name, Reason: "is not known; /" + a.Name +
				" takes " + strings.Join(names, ", ")}
		}
	}
	return args, nil
}

// parseMaxTokens returns the value of the argument max_tokens, or nil if it was not given.
func parseMaxTokens(args map[string]string) (*int, error) {
	s, ok := args[argMaxTokens]
	if !ok {
		return nil, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return nil, &oxbow.InvalidError{Field: argMaxTokens, Value: s, Reason: "is no number of tokens, such as 4000"}
	}
	return &n, nil
}

// contextText returns the text that the command "oxbow context" prints, restricted to entries that the client may see.
// The map args contains the arguments of the prompt request: a project, tags, a message and a maximum token count. Each
// is optional. If a project or tags are given, the text contains only entries with these labels.
func (d *serverTransport) contextText(
	ctx context.Context,
	_ *mcp.GetPromptRequest,
	args map[string]string,
) (string, error) {
	budget, err := parseMaxTokens(args)
	if err != nil {
		return "", err
	}
	m, err := d.Workspace.Open(ctx, verb.Read)
	if err != nil {
		return "", err
	}
	var f oxbow.Filter
	if p := args[argProject]; p != "" {
		f.Terms = append(f.Terms, oxbow.Term{Key: oxbow.LabelProject, Values: []string{p}})
	}
	for _, t := range splitTags(args[argTags]) {
		f.Terms = append(f.Terms, oxbow.Term{Key: oxbow.LabelTag, Values: []string{t}})
	}
	if !f.IsZero() {
		narrow := scope.Within(m, scope.Scope{Title: "the arguments", Any: []oxbow.Filter{f}, ReadOnly: true})
		defer narrow.Close()
		m = narrow
	}
	r := profile.Everything()
	if d.BoundProfile != nil {
		r = *d.BoundProfile
	}
	r.Documents = slices.DeleteFunc(slices.Clone(r.Documents), func(doc profile.Document) bool {
		return !d.MayShowDocument(doc)
	})
	req := profile.Request{Query: args[argMessage]}
	if budget != nil {
		req.Budget = min(*budget, r.MaxTokens)
	}
	sel, err := d.serverOptions.Profiles.Select(ctx, m, &r, req)
	if err != nil {
		return "", err
	}
	text := sel.Text()
	if sel.Inside == 0 {
		text += "(no entry fits)\n"
	}
	return text, nil
}

// splitTags splits a comma-separated list of tags, which may be empty.
func splitTags(s string) []string {
	return slices.DeleteFunc(oxbow.SplitTags(s), func(tag string) bool { return tag == "" })
}

// profileText loads a memory profile and returns its text. If the client has a session, the profile stays loaded in
// that session.
func (d *serverTransport) profileText(
	ctx context.Context,
	req *mcp.GetPromptRequest,
	args map[string]string,
) (string, error) {
	budget, err := parseMaxTokens(args)
	if err != nil {
		return "", err
	}
	out, err := verb.LoadProfile(ctx, d.sessionWorkspace(req.Session, req.ProtocolVersion()),
		verb.LoadMemoryProfileIn{Name: args[argName], Query: args[argQuery], MaxTokens: budget})
	if err != nil {
		return "", err
	}
	return prompt.ReporterText(out), nil
}

// howToHandOffText is the text for the model if no handoff is open.
const howToHandOffText = `No handoff waits. If this is to leave the task to a later session, %s: say in summary what was done, what was found and what failed, in plan the next steps in order, and name the memory profile, the skills and the files that the next session needs.
`

// handoffText marks a handoff as taken by the session, loads the handoff's profile and returns the handoff's text. A
// client that may only read gets the text, but the handoff stays open. A handoff that was already taken is shown again
// if it is requested by name.
func (d *serverTransport) handoffText(
	ctx context.Context,
	req *mcp.GetPromptRequest,
	args map[string]string,
) (string, error) {
	out, err := verb.TakeHandoffForSession(
		ctx,
		d.sessionWorkspace(req.Session, req.ProtocolVersion()),
		verb.TakeForSessionIn{Name: args[argName], Project: args[argProject], ShowOnly: d.Rights.ReadOnly},
	)
	if errors.Is(err, handoff.ErrNoHandoff) {
		if d.Rights.ReadOnly {
			return "No handoff waits.\n", nil
		}
		leave := "call handoff_task"
		if !d.serverOptions.ToolSets.HasVerb("handoff_task") {
			leave = "run oxbow handoff new SUMMARY in a shell (oxbow mcp --tools core,session lists the tool handoff_task)"
		}
		return fmt.Sprintf(howToHandOffText, d.Workspace.RewriteCommands(leave)), nil
	}
	return out.Text(), err
}

// homeContextPrompt is the prompt /context for a home with the layout of another memory system.
var homeContextPrompt = promptDefinition{
	Prompt: mcp.Prompt{Name: "context", Title: contextPrompt.Title,
		Description: "Puts before the model what the system of this home would, and what fits the message.",
		Arguments: []*mcp.PromptArgument{
			{Name: argMessage, Description: "What it is for: what fits it is recalled, where the system does that."},
			{Name: argMaxTokens, Description: "Most tokens to spend, as many as the system does by default."},
		}},
	makeText: (*serverTransport).homeContextText,
}

// homeContextText returns the text of the command "oxbow context" for a home with another memory system's layout.
func (d *serverTransport) homeContextText(
	ctx context.Context,
	_ *mcp.GetPromptRequest,
	args map[string]string,
) (string, error) {
	budget, err := parseMaxTokens(args)
	if err != nil {
		return "", err
	}
	r := layout.Request{Message: args[argMessage]}
	if budget != nil {
		r.Budget = *budget
	}
	c, err := d.homeIfUnrestricted().Context(ctx, r)
	return layout.Caution(c, d.Workspace.RepeatsForeignText) + c.Text(), err
}
