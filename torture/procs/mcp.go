//go:build unix

// The transports of the real program: MCP over standard streams and over HTTP, by
// the client that agents use.

package procs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow/tool"
)

// mcpDoor is a process that speaks the Model Context Protocol.
type mcpDoor struct {
	session *mcp.ClientSession
	closeIn func()
}

// openStdio shakes hands over the standard streams of a process.
func openStdio(ctx context.Context, in io.WriteCloser, out io.ReadCloser) (door, error) {
	s, err := client().Connect(ctx, &mcp.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		return nil, err
	}
	return &mcpDoor{s, func() { _ = in.Close() }}, nil
}

// openHTTP shakes hands with the server at that address.
func openHTTP(ctx context.Context, url, token string) (door, error) {
	// A process of its own connections: a dead server's must not be used
	// for its successor.
	pool := &http.Transport{MaxIdleConnsPerHost: 8}
	s, err := client().Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:             url,
		HTTPClient:           &http.Client{Transport: bearer{pool, token}},
		MaxRetries:           -1,
		DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		pool.CloseIdleConnections()
		return nil, err
	}
	return &mcpDoor{s, pool.CloseIdleConnections}, nil
}

func client() *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "torture", Version: "1"}, nil)
}

// bearer adds a token to requests.
type bearer struct {
	next  http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

func (d *mcpDoor) hangUp() { d.closeIn() }

// call implements door. What the protocol reports as an error, and not the tool
// as a result, is taken for a dead process: whoever asked looks whether it is.
func (d *mcpDoor) call(ctx context.Context, c call) (answer, error) {
	args := map[string]any{}
	set := func(key, value string) {
		if value != "" {
			args[key] = value
		}
	}
	set("name", c.Name)
	set("content", c.Content)
	set("op_id", c.OpID)
	set("query", c.Query)
	if c.If != 0 {
		args["if_version"] = c.If
	}
	res, err := d.session.CallTool(ctx, &mcp.CallToolParams{Name: c.Verb, Arguments: args})
	if err != nil {
		if ctx.Err() != nil {
			return answer{}, ctx.Err()
		}
		return answer{}, fmt.Errorf("%w: %w", errGone, err)
	}
	if res.IsError {
		return answer{Refused: refusal(text(res))}, nil
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return answer{}, err
	}
	a, err := readAnswer(c.Verb, b)
	if err != nil {
		return answer{Refused: fmt.Sprintf("%s answered %s: %v", c.Verb, b, err)}, nil
	}
	return a, nil
}

func text(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// refusal returns the word for an error that a tool reports in a sentence.
func refusal(s string) string {
	switch {
	case strings.Contains(s, "changed since it was read"):
		return refusedConflict
	case strings.Contains(s, "store is busy"):
		return refusedBusy
	case strings.HasPrefix(s, "entry not found"), strings.Contains(s, "entry not found: "):
		return refusedMissing
	}
	return s
}

func readAnswer(verb string, b []byte) (answer, error) {
	switch verb {
	case remember:
		var out tool.RememberOut
		err := json.Unmarshal(b, &out)
		return answer{Version: out.Version}, err
	case forget:
		var out tool.ForgetOut
		err := json.Unmarshal(b, &out)
		return answer{Version: out.Seq}, err
	case get:
		var out tool.GetOut
		err := json.Unmarshal(b, &out)
		a := answer{Version: out.Version}
		if out.Content != nil {
			a.Content = *out.Content
		}
		return a, err
	case recall:
		var out tool.RecallOut
		err := json.Unmarshal(b, &out)
		a := answer{Names: map[string]uint64{}}
		for _, h := range out.Hits {
			a.Names[h.Name] = h.Version
		}
		return a, err
	}
	return answer{}, fmt.Errorf("the verb %s is not known here", verb)
}
