// This file registers the tools that a client may use, and executes their calls.

package mcpserver

import (
	"context"
	"crypto/rand"
	"fmt"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
)

// Maximum sizes, in bytes, of a tool's answer that clients pass to the model completely. For Claude Code, the tool's
// metadata sets this limit. For other clients, it is below the lowest measured limit, which was 17 kB.
const (
	maxAnswerBytes       = 16_000
	maxClaudeAnswerBytes = 200_000
	claudeCodeClientName = "claude-code" // name by which Claude Code identifies itself
)

// spawnToolName is the name of the tool that runs a sub-agent, which may take minutes. The sub-agent is stopped when
// the server ends.
const spawnToolName = "spawn_sub_agent"

// toolMetas contains hints for Claude Code (_meta) by tool name: the maximum number of characters in an answer that
// Claude Code passes on completely, and which tools it always loads.
var toolMetas = map[string]mcp.Meta{
	"remember":            {"anthropic/alwaysLoad": true},
	"recall":              {"anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": maxClaudeAnswerBytes},
	"get":                 {"anthropic/maxResultSizeChars": maxClaudeAnswerBytes},
	"load_memory_profile": {"anthropic/maxResultSizeChars": maxClaudeAnswerBytes},
	spawnToolName:         {"anthropic/maxResultSizeChars": maxClaudeAnswerBytes},
}

// openUnrestrictedServer returns a protocol server for a client that has all rights of the server. The argument
// clientName is the name of the interface, as for openServer.
func (s *Server) openUnrestrictedServer(clientName string) (*mcp.Server, error) {
	v, err := s.newClientService(auth.Token{}, "")
	if err != nil {
		return nil, err
	}
	return v.openServer(clientName)
}

// openServer returns a protocol server for the clients of v that use the same interface. The argument name is the name
// of the interface: stdioDoorName or "http". It is recorded with the clients' changes.
func (v *clientService) openServer(name string) (*mcp.Server, error) {
	run, err := v.randomHex(8)
	if err != nil {
		return nil, fmt.Errorf("making a session id: %w", err)
	}
	d := &serverTransport{
		clientService: v,
		agentDoor: rights.AgentInterface{
			InterfaceName:          name,
			RunID:                  run,
			TokenName:              v.Token,
			MergesWithShownEntries: v.serverOptions.Home != nil,
		},
		loadedBySession: map[weak.Pointer[mcp.ServerSession]]*verb.LoadedProfiles{},
	}
	m := mcp.NewServer(
		&mcp.Implementation{Name: v.serverOptions.Name, Title: "oxbow memory", Version: v.serverOptions.Version},
		&mcp.ServerOptions{
			Instructions: v.instructions,
			Logger:       v.serverOptions.Logger,
			// The tools never change, and clients are not notified of changed entries. If this field were nil, the SDK
			// would also offer logging, which is deprecated.
			Capabilities: &mcp.ServerCapabilities{
				Tools:     &mcp.ToolCapabilities{},
				Resources: &mcp.ResourceCapabilities{},
				Prompts:   &mcp.PromptCapabilities{},
			},
			CompletionHandler: d.completeRequest,
			GetSessionID: func() string {
				if id, err := v.randomHex(16); err == nil {
					return id
				}
				return rand.Text()
			},
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
				c.CacheScope, c.TTLMs = "private", 0
			},
		},
	)
	for _, t := range v.tools {
		no := false
		destructive := t.Destructive
		// Allow additional properties. Otherwise, a client that checks arguments against the schema would reject some
		// arguments that the verb accepts. If an argument is unknown to the verb, the client would reject it, too, and
		// the model would not see the verb's error message, which explains the mistake.
		input := *t.Input
		input.AdditionalProperties = nil
		m.AddTool(&mcp.Tool{
			Meta: toolMetas[t.Name], Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: &input,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly,
				DestructiveHint: &destructive, IdempotentHint: t.Idempotent, OpenWorldHint: &no},
		}, d.toolHandler(t))
	}
	if d.hasMemory() {
		d.addResources(m)
	}
	d.addHomeResources(m)
	d.addPrompts(m)
	return m, nil
}

// toolHandler returns the handler of a tool. The handler answers only with text, and not also with JSON. If a client
// receives both, it shows the JSON to the model, but the JSON lacks the fences that mark text by others as data. An
// error is returned as a result that is marked as an error, so that the model can read it. Arguments are not checked
// against the schema, because package verb accepts more than the schema allows.
func (d *serverTransport) toolHandler(t verb.Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx = d.contextWithCallSource(ctx, req)
		w := d.sessionWorkspace(req.Session, req.ProtocolVersion())
		w.Page = maxAnswerBytes
		if req.ClientInfo() != nil && req.ClientInfo().Name == claudeCodeClientName {
			w.Page = maxClaudeAnswerBytes
		}
		if t.Name == spawnToolName {
			var cancel context.CancelFunc
			ctx, cancel = contextUntilServerStop(ctx)
			defer cancel()
		}
		args, err := verb.ParseArguments(req.Params.Arguments)
		var out any
		if err == nil {
			out, err = t.Call(ctx, w, args)
		}
		if err != nil {
			return &mcp.CallToolResult{
				IsError: true,
				Content: []mcp.Content{&mcp.TextContent{Text: d.explainError(err)}},
			}, nil
		}
		answer := w.MakeAnswer(out)
		text := answer.Text()
		if answer.IsRememberedText() {
			text = w.TextWarning(text) + prompt.FenceText("markdown", text)
		}
		if t.ReadOnly && d.serverOptions.CautionText != nil {
			if said := d.serverOptions.CautionText(); said != "" {
				text = "note: " + said + "\n\n" + text
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}
