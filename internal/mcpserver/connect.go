// What a client connects to: the tools of its view, and what one call does.

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
	"github.com/oxbow-memory/oxbow/internal/verb/view"
)

// The most bytes of an answer that clients show a model whole: Claude Code as a
// tool's meta says, of the others the least (measured: 17 kB and more).
const (
	pageBytes   = 16_000
	claudeBytes = 200_000
	claudeCode  = "claude-code" // its name
)

// subAgent is the name of the tool that runs another agent, for minutes or longer. Its
// program is told to end with the server.
const subAgent = "spawn_sub_agent"

// metas are what Claude Code reads of a tool: which answers it passes on whole,
// up to so many characters, and which tools it does not load late.
var metas = map[string]mcp.Meta{
	"remember":            {"anthropic/alwaysLoad": true},
	"recall":              {"anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": claudeBytes},
	"get":                 {"anthropic/maxResultSizeChars": claudeBytes},
	"load_memory_profile": {"anthropic/maxResultSizeChars": claudeBytes},
	subAgent:              {"anthropic/maxResultSizeChars": claudeBytes},
}

// open returns a protocol server for a client that is bound by nothing but the
// server.
func (s *Server) open(name string) (*mcp.Server, error) {
	v, err := s.service(auth.Token{}, "")
	if err != nil {
		return nil, err
	}
	return v.open(name)
}

// open returns a protocol server for one door.
func (v *service) open(name string) (*mcp.Server, error) {
	run, err := v.random(8)
	if err != nil {
		return nil, fmt.Errorf("making a session id: %w", err)
	}
	d := &transport{service: v, door: view.Door{Name: name, Run: run, Token: v.Token, Merge: v.opts.Home != nil}, loaded: map[weak.Pointer[mcp.ServerSession]]*verb.LoadedProfiles{}}
	m := mcp.NewServer(&mcp.Implementation{Name: v.opts.Name, Title: "oxbow memory", Version: v.opts.Version},
		&mcp.ServerOptions{
			Instructions: v.instructions,
			Logger:       v.opts.Logger,
			// The tools never change, and no client is notified when entries do. Not
			// nil, so that logging, which is deprecated, is not offered.
			Capabilities: &mcp.ServerCapabilities{
				Tools:     &mcp.ToolCapabilities{},
				Resources: &mcp.ResourceCapabilities{},
				Prompts:   &mcp.PromptCapabilities{},
			},
			CompletionHandler: d.complete,
			GetSessionID: func() string {
				if id, err := v.random(16); err == nil {
					return id
				}
				return rand.Text()
			},
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
				c.CacheScope, c.TTLMs = "private", 0
			},
		})
	for _, t := range v.tools {
		no := false
		destructive := t.Destructive
		// Clients that check arguments by it would keep the model from what the
		// verb understands, and from its words on what it does not.
		input := *t.Input
		input.AdditionalProperties = nil
		m.AddTool(&mcp.Tool{
			Meta: metas[t.Name], Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: &input,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly,
				DestructiveHint: &destructive, IdempotentHint: t.Idempotent, OpenWorldHint: &no},
		}, d.handler(t))
	}
	if d.hasMemory() {
		d.addResources(m)
	}
	d.addHome(m)
	d.addPrompts(m)
	return m, nil
}

// handler returns what one tool does. Its answer is text alone: clients that get
// JSON as well show the model the JSON, without the fences, in place of the text.
// Its errors are results marked as such, so that the model reads them. The
// arguments come raw, because package verb understands more than the schema says.
func (d *transport) handler(t verb.Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx = d.stampCall(ctx, req)
		w := d.workspaceOf(req.Session, req.ProtocolVersion())
		w.Page = pageBytes
		if req.ClientInfo() != nil && req.ClientInfo().Name == claudeCode {
			w.Page = claudeBytes
		}
		if t.Name == subAgent {
			var cancel context.CancelFunc
			ctx, cancel = endingWithServer(ctx)
			defer cancel()
		}
		answer, err := t.Answer(ctx, w, req.Params.Arguments)
		if err != nil {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: d.explain(err)}}}, nil
		}
		text := answer.Text()
		if q, ok := answer.(verb.Quoter); ok && q.Quoted() {
			text = prompt.Fence("markdown", text)
		}
		if t.ReadOnly && d.opts.Caution != nil {
			if said := d.opts.Caution(); said != "" {
				text = "note: " + said + "\n\n" + text
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}
