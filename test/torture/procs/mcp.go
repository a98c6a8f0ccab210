//go:build unix

// This file connects to the real program with MCP over standard streams and over HTTP. It uses the same client library
// as agents.

package procs

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpConnection is the connection to a process that supports the Model Context Protocol.
type mcpConnection struct {
	session    *mcp.ClientSession
	closeStdin func()
}

// openStdio connects to a process over its standard streams.
func openStdio(ctx context.Context, in io.WriteCloser, out io.ReadCloser) (processConnection, error) {
	s, err := newClient().Connect(ctx, &mcp.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		return nil, err
	}
	return &mcpConnection{s, func() { _ = in.Close() }}, nil
}

// openHTTP connects to the MCP server at an address. token is sent with each request.
func openHTTP(ctx context.Context, url, token string) (processConnection, error) {
	// Use a new pool of connections, because the connections to a server that has died must not be used for the next
	// server.
	pool := &http.Transport{MaxIdleConnsPerHost: 8}
	s, err := newClient().Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:             url,
		HTTPClient:           &http.Client{Transport: tokenTransport{pool, token}},
		MaxRetries:           -1,
		DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		pool.CloseIdleConnections()
		return nil, err
	}
	return &mcpConnection{s, pool.CloseIdleConnections}, nil
}

func newClient() *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "torture", Version: "1"}, nil)
}

// tokenTransport is an HTTP transport that adds a token to requests.
type tokenTransport struct {
	next  http.RoundTripper
	token string
}

func (b tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

func (d *mcpConnection) closeInput() { d.closeStdin() }

// call implements [processConnection] for an MCP server. If the call fails with a protocol error, the error matches
// errProcessGone, although the process may still run. The caller must check whether the process has ended. An error
// that the tool itself reports is returned as an answer with a Refusal.
func (d *mcpConnection) call(ctx context.Context, c callRequest) (callAnswer, error) {
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
	if c.IfVersion != 0 {
		args["if_version"] = c.IfVersion
	}
	res, err := d.session.CallTool(ctx, &mcp.CallToolParams{Name: c.Verb, Arguments: args})
	if err != nil {
		if ctx.Err() != nil {
			return callAnswer{}, ctx.Err()
		}
		return callAnswer{}, fmt.Errorf("%w: %w", errProcessGone, err)
	}
	if res.IsError {
		return callAnswer{Refusal: refusalReason(resultText(res))}, nil
	}
	return parseAnswerText(c.Verb, resultText(res))
}

func resultText(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// refusalReason returns the reason for which oxbow refused a call. It determines the reason from the error text of the
// MCP tool.
func refusalReason(errorText string) string {
	switch {
	case strings.Contains(errorText, "changed since it was read"):
		return refusalVersionConflict
	case strings.Contains(errorText, "store is busy"):
		return refusalStoreBusy
	case strings.HasPrefix(errorText, "entry not found"), strings.Contains(errorText, "entry not found: "):
		return refusalEntryMissing
	}
	return errorText
}

// entryHeadPattern matches an entry in the text that the tool of an MCP server returned. It matches the line with the
// entry's name and version, and the content in the fenced block below. The contents that this test writes contain no
// fence and do not end with a line feed.
var entryHeadPattern = regexp.MustCompile(
	"(?m)^(?:[0-9]+\\. )?(\"(?:[^\"\\\\]|\\\\.)*\") \\([a-z]+, .*version ([0-9]+).*\\)\\n(?:[a-z]+: " +
		".*\\n)*```[a-z]+\\n((?s:.*?))\\n?```\\n",
)

// rememberAnswerPattern matches the beginning of the text that the MCP tool "remember" returns. The group in the
// pattern matches the version of the entry.
var rememberAnswerPattern = regexp.MustCompile(
	`^(?:remembered|updated|already remembered) "(?:[^"\\]|\\.)*" \([a-z]+, .*?version ([0-9]+)`,
)

// forgottenPattern matches the text that the MCP tool "forget" returns, up to the number in the note at its end. The
// group in the pattern matches this number, which is the number of the change.
var forgottenPattern = regexp.MustCompile(
	`(?s)^forgot ".*\nnote: (?:undo with seq \[|op_id "[^"]*" was used before: change )([0-9]+)`,
)

// parseAnswerText extracts the versions, names and contents of entries from the text that a tool of the MCP server
// returned.
func parseAnswerText(verb, s string) (callAnswer, error) {
	if verb == verbRemember || verb == verbForget {
		form := rememberAnswerPattern
		if verb == verbForget {
			form = forgottenPattern
		}
		m := form.FindStringSubmatch(s)
		if m == nil {
			return callAnswer{Refusal: fmt.Sprintf("%s answered %q", verb, s)}, nil
		}
		version, err := strconv.ParseUint(m[1], 10, 64)
		return callAnswer{Version: version}, err
	}
	a := callAnswer{VersionsByName: map[string]uint64{}}
	for _, m := range entryHeadPattern.FindAllStringSubmatch(s, -1) {
		name, err := strconv.Unquote(m[1])
		if err != nil {
			return callAnswer{}, err
		}
		a.Version, err = strconv.ParseUint(m[2], 10, 64)
		if err != nil {
			return callAnswer{}, err
		}
		a.VersionsByName[name], a.Content = a.Version, m[3]
	}
	if verb == verbRecall {
		a.Version, a.Content = 0, ""
		return a, nil
	}
	if len(a.VersionsByName) != 1 {
		return callAnswer{Refusal: fmt.Sprintf("%s answered %q", verb, s)}, nil
	}
	a.VersionsByName = nil
	return a, nil
}
