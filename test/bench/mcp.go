// This file implements a small client of the Model Context Protocol over standard input and output. The client can
// start a server, call its tools, and see the acknowledgements.

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// protocolVersion is the version that the client requests. All current servers support it.
const protocolVersion = "2025-06-18"

// program is a command with arguments and the complete environment for the process.
type program struct {
	path string
	args []string
	env  []string
}

// withEnv returns the program with additional environment variables.
func (p program) withEnv(env ...string) program {
	p.env = append(append([]string(nil), p.env...), env...)
	return p
}

// mcpReply is the answer to one request. If the request was refused or the tool reported an error, err is set.
type mcpReply struct {
	result json.RawMessage
	err    error
}

// mcpClient is a running server with the requests in progress. Its methods are safe for
// concurrent use.
type mcpClient struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer // Read it only after ended is closed, because the process writes to it without a lock.
	ended  chan struct{}

	stdinMu sync.Mutex // held while a message is written to stdin
	stdin   io.WriteCloser

	mu             sync.Mutex // mu guards the fields below.
	nextID         int
	pendingReplies map[int]chan mcpReply
	endErr         error // reason why the MCP server will send no more answers
}

// errServerEnded is the error of each request that had no answer when the server ended.
var errServerEnded = errors.New("server ended without an answer")

// startServer starts the program. The server is stopped when the context ends, or by close.
func startServer(ctx context.Context, p program) (*mcpClient, error) {
	c := &mcpClient{
		cmd:            exec.CommandContext(ctx, p.path, p.args...),
		pendingReplies: map[int]chan mcpReply{},
		ended:          make(chan struct{}),
	}
	c.cmd.Env = p.env
	c.cmd.Stderr = &c.stderr
	c.cmd.WaitDelay = time.Second
	var err error
	c.stdin, err = c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting server: %w", err)
	}
	go c.readAnswers(out)
	return c, nil
}

// readAnswers reads the server's output and passes each answer to the caller that waits for it. When the output ends,
// all callers that still wait get the error errServerEnded.
func (c *mcpClient) readAnswers(out io.Reader) {
	defer close(c.ended)
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		var m struct {
			ID     *int            `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		// A partial line at the end was cut off by a kill, so it is not an answer.
		isMessage := err == nil && json.Unmarshal(line, &m) == nil
		isAnswer := m.ID != nil && m.Method == ""
		if isMessage && isAnswer {
			a := mcpReply{result: m.Result}
			if m.Error != nil {
				a.err = errors.New(m.Error.Message)
			}
			c.mu.Lock()
			ch := c.pendingReplies[*m.ID]
			delete(c.pendingReplies, *m.ID)
			c.mu.Unlock()
			if ch != nil {
				ch <- a
			}
		}
		if err != nil {
			c.mu.Lock()
			c.endErr = errServerEnded
			for id, ch := range c.pendingReplies {
				ch <- mcpReply{err: errServerEnded}
				delete(c.pendingReplies, id)
			}
			c.mu.Unlock()
			return
		}
	}
}

// sendRequest writes a request, and returns the channel of its answer.
func (c *mcpClient) sendRequest(method string, params any) <-chan mcpReply {
	ch := make(chan mcpReply, 1)
	c.mu.Lock()
	if c.endErr != nil {
		c.mu.Unlock()
		ch <- mcpReply{err: c.endErr}
		return ch
	}
	c.nextID++
	id := c.nextID
	c.pendingReplies[id] = ch
	c.mu.Unlock()
	if err := c.writeMessage(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		c.mu.Lock()
		if c.pendingReplies[id] != nil {
			delete(c.pendingReplies, id)
			ch <- mcpReply{err: err}
		}
		c.mu.Unlock()
	}
	return ch
}

func (c *mcpClient) writeMessage(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.stdinMu.Lock()
	defer c.stdinMu.Unlock()
	_, err = c.stdin.Write(append(b, '\n'))
	return err
}

// initialize performs the handshake.
func (c *mcpClient) initialize() error {
	a := <-c.sendRequest("initialize", map[string]any{
		"protocolVersion": protocolVersion,
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "oxbow-bench", "version": "1"},
	})
	if a.err != nil {
		return fmt.Errorf("initializing: %w", a.err)
	}
	return c.writeMessage(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// callTool calls a tool.
func (c *mcpClient) callTool(name string, args any) <-chan mcpReply {
	return c.sendRequest("tools/call", map[string]any{"name": name, "arguments": args})
}

// toolError returns an error if the request failed, or if the tool reported an error. Otherwise it returns nil.
func (r mcpReply) toolError() error {
	if r.err != nil {
		return r.err
	}
	var result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(r.result, &result); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if !result.IsError {
		return nil
	}
	if len(result.Content) > 0 {
		return errors.New(result.Content[0].Text)
	}
	return errors.New("tool reports an error and no text")
}

// kill kills the server like kill -9.
func (c *mcpClient) kill() { _ = c.cmd.Process.Kill() }

// close closes the server's input and waits until it ends. It returns an error if the server
// failed or was killed.
func (c *mcpClient) close() error {
	c.stdinMu.Lock()
	_ = c.stdin.Close()
	c.stdinMu.Unlock()
	<-c.ended
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("server: %w: %s", err, bytes.TrimSpace(c.stderr.Bytes()))
	}
	return nil
}
