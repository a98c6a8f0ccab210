// This file implements the doors (interfaces to the memory) that use the Model Context Protocol, over standard streams
// and over HTTP.

package designs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow/internal/cli"
)

// mcpDoor is a client that has started "oxbow mcp".
type mcpDoor struct {
	closed
	w       *world
	isHTTP  bool
	session *mcp.ClientSession
	handle  string // handle of the memory profile that was loaded last
	stop    func()
}

func (d *mcpDoor) open() (*mcp.ClientSession, error) {
	if d.session != nil {
		return d.session, nil
	}
	start := d.startStdio
	if d.isHTTP {
		start = d.startHTTP
	}
	transport, err := start()
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil)
	d.session, err = client.Connect(d.w.detached(), transport, nil)
	if err != nil {
		d.stop()
	}
	return d.session, err
}

func (d *mcpDoor) args(more ...string) []string {
	args := append([]string{"--home", d.w.home}, d.w.flags...)
	return append(append(args, "mcp"), more...)
}

func (d *mcpDoor) startStdio() (mcp.Transport, error) {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(d.w.detached(), d.w.env(d.args(), fromClient, toClient, io.Discard))
		toClient.Close()
	}()
	d.stop = func() {
		toServer.Close()
		<-ended
	}
	return &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil
}

// tokenSecret is the token of the client for a server over HTTP.
const tokenSecret = "a-secret-of-the-test-door"

func (d *mcpDoor) startHTTP() (mcp.Transport, error) {
	tokens := filepath.Join(d.w.user, "tokens")
	if err := os.WriteFile(tokens, []byte("all "+tokenSecret+" rw\n"), 0o600); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(d.w.detached())
	var errs bytes.Buffer
	env := d.w.env(d.args("--http", "127.0.0.1:0", "--tokens", tokens), http.NoBody, io.Discard, &errs)
	address := make(chan string, 1)
	env.OnListening = func(a string) { address <- a }
	ended := make(chan int, 1)
	go func() { ended <- cli.Run(ctx, env) }()
	client := &http.Client{Transport: withToken{&http.Transport{}}}
	d.stop = func() {
		cancel()
		client.CloseIdleConnections()
		<-ended
	}
	select {
	case a := <-address:
		return &mcp.StreamableClientTransport{Endpoint: "http://" + a + "/mcp", HTTPClient: client}, nil
	case status := <-ended:
		ended <- status
		cancel()
		return nil, fmt.Errorf("oxbow mcp --http ended with status %d: %s", status, errs.String())
	}
}

// withToken adds the token to each request.
type withToken struct{ *http.Transport }

func (t withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+tokenSecret)
	return t.Transport.RoundTrip(r)
}

// mcpTools contains, for each layout, the tools with which a model writes, searches and deletes.
var mcpTools = map[string]struct{ remember, recall, forget string }{
	"entryfiles":   {"remember", "recall", "forget"},
	"crabtalk":     {"remember", "recall", "forget"},
	"duragent":     {"update_world", "search_memory", ""},
	"clawft":       {"memory_write", "memory_read", ""},
	"coderhapsody": {"save_memory", "recall_memory", ""},
}

func (d *mcpDoor) remember(name, description, content string) (string, error) {
	args := map[string]any{"content": content}
	switch d.w.layout {
	case "entryfiles":
		args["name"], args["description"] = name, description
	case "crabtalk":
		args["name"] = name
		if description != "" {
			args["aliases"] = []string{description}
		}
	case "duragent":
		args["topic"] = name
	}
	return d.call(mcpTools[d.w.layout].remember, args)
}

func (d *mcpDoor) recall(query string) (string, error) {
	return d.call(mcpTools[d.w.layout].recall, map[string]any{"query": query})
}

func (d *mcpDoor) forget(name string) (string, error) {
	if mcpTools[d.w.layout].forget == "" {
		return "", errNoWay
	}
	return d.call(mcpTools[d.w.layout].forget, map[string]any{"name": name})
}

func (d *mcpDoor) context() (string, error) {
	if err := d.close(); err != nil {
		return "", err
	}
	s, err := d.open()
	if err != nil {
		return "", err
	}
	return s.InitializeResult().Instructions, nil
}

func (d *mcpDoor) prompt(message string) (string, error) {
	s, err := d.open()
	if err != nil {
		return "", err
	}
	p, err := s.GetPrompt(d.w.detached(), &mcp.GetPromptParams{Name: "context",
		Arguments: map[string]string{"message": message}})
	if err != nil {
		return "", err
	}
	return p.Messages[0].Content.(*mcp.TextContent).Text, nil
}

// handlePattern finds the handle in the answer of the tool load_memory_profile. The handle is a text that identifies
// the loaded memory profile in later calls.
var handlePattern = regexp.MustCompile(`, handle (\S+):`)

// call calls a tool. If the tool loads a memory profile, call stores its handle.
func (d *mcpDoor) call(name string, args map[string]any) (string, error) {
	s, err := d.open()
	if err != nil {
		return "", err
	}
	result, err := s.CallTool(d.w.detached(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if result.IsError {
		return "", errors.New(text)
	}
	if found := handlePattern.FindStringSubmatch(text); found != nil {
		d.handle = found[1]
	}
	return text, nil
}

// tool calls a tool with a JSON object as arguments. It replaces $HANDLE in the object by the handle of the memory
// profile that was loaded last.
func (d *mcpDoor) tool(name, args string) (string, error) {
	args = strings.ReplaceAll(args, "$HANDLE", d.handle)
	var values map[string]any
	if err := json.Unmarshal([]byte(args), &values); err != nil {
		return "", fmt.Errorf("%s: %w", args, err)
	}
	return d.call(name, values)
}

func (d *mcpDoor) tools() (names []string, err error) {
	s, err := d.open()
	if err != nil {
		return nil, err
	}
	list, err := s.ListTools(d.w.detached(), nil)
	if err != nil {
		return nil, err
	}
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names, nil
}

// schema returns the definition of the tool with the given name as JSON. It contains the tool's description and
// parameters.
func (d *mcpDoor) schema(name string) (string, error) {
	s, err := d.open()
	if err != nil {
		return "", err
	}
	list, err := s.ListTools(d.w.detached(), nil)
	if err != nil {
		return "", err
	}
	for _, t := range list.Tools {
		if t.Name == name {
			text, err := json.Marshal(t)
			return string(text), err
		}
	}
	return "", fmt.Errorf("there is no tool %q", name)
}

// resources returns the URIs of all resources, with one line for each.
func (d *mcpDoor) resources() (text string, err error) {
	s, err := d.open()
	if err != nil {
		return "", err
	}
	list, err := s.ListResources(d.w.detached(), nil)
	if err != nil {
		return "", err
	}
	for _, r := range list.Resources {
		text += r.URI + "\n"
	}
	return text, nil
}

func (d *mcpDoor) close() error {
	if d.session == nil {
		return nil
	}
	_ = d.session.Close() // ignore the error, because the server may have closed the connection already
	d.stop()
	d.session = nil
	return nil
}
