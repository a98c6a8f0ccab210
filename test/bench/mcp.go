// A small client of the Model Context Protocol over standard
// streams: enough to start a server, call its tools, and see what it
// acknowledged.

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

// protocolVersion is the revision that the client asks for. Every server of
// today knows it.
const protocolVersion = "2025-06-18"

// program is a command with its arguments and whole environment.
type program struct {
	path string
	args []string
	env  []string
}

// with returns the program with more environment.
func (p program) with(env ...string) program {
	p.env = append(append([]string(nil), p.env...), env...)
	return p
}

// reply is the answer to one request. A tool that reports an error has Err set
// as well as a refused request.
type reply struct {
	result json.RawMessage
	err    error
}

// client is a running server and the requests under way. Its methods are safe
// for concurrent use.
type client struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer // read after the process has ended
	ended  chan struct{}

	sending sync.Mutex // guards in
	in      io.WriteCloser

	mu      sync.Mutex // guards the following
	next    int
	waiting map[int]chan reply
	gone    error // why no more answers come
}

// errGone answers the requests that a server left open when it ended.
var errGone = errors.New("server ended without an answer")

// startServer starts the program. It ends with the context, or with close.
func startServer(ctx context.Context, p program) (*client, error) {
	c := &client{cmd: exec.CommandContext(ctx, p.path, p.args...), waiting: map[int]chan reply{}, ended: make(chan struct{})}
	c.cmd.Env = p.env
	c.cmd.Stderr = &c.stderr
	c.cmd.WaitDelay = time.Second
	var err error
	c.in, err = c.cmd.StdinPipe()
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
	go c.read(out)
	return c, nil
}

// read hands out answers until the server's output ends.
func (c *client) read(out io.Reader) {
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
		// Half a line at the end was cut off by a kill, and answers nothing.
		if err == nil && json.Unmarshal(line, &m) == nil && m.ID != nil && m.Method == "" {
			a := reply{result: m.Result}
			if m.Error != nil {
				a.err = errors.New(m.Error.Message)
			}
			c.mu.Lock()
			ch := c.waiting[*m.ID]
			delete(c.waiting, *m.ID)
			c.mu.Unlock()
			if ch != nil {
				ch <- a
			}
		}
		if err != nil {
			c.mu.Lock()
			c.gone = errGone
			for id, ch := range c.waiting {
				ch <- reply{err: errGone}
				delete(c.waiting, id)
			}
			c.mu.Unlock()
			return
		}
	}
}

// send writes a request and returns where its one answer will come.
func (c *client) send(method string, params any) <-chan reply {
	ch := make(chan reply, 1)
	c.mu.Lock()
	if c.gone != nil {
		c.mu.Unlock()
		ch <- reply{err: c.gone}
		return ch
	}
	c.next++
	id := c.next
	c.waiting[id] = ch
	c.mu.Unlock()
	if err := c.write(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		c.mu.Lock()
		if c.waiting[id] != nil {
			delete(c.waiting, id)
			ch <- reply{err: err}
		}
		c.mu.Unlock()
	}
	return ch
}

func (c *client) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	_, err = c.in.Write(append(b, '\n'))
	return err
}

// initialize shakes hands.
func (c *client) initialize() error {
	a := <-c.send("initialize", map[string]any{
		"protocolVersion": protocolVersion,
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "oxbow-bench", "version": "1"},
	})
	if a.err != nil {
		return fmt.Errorf("initializing: %w", a.err)
	}
	return c.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// callTool calls a tool.
func (c *client) callTool(name string, args any) <-chan reply {
	return c.send("tools/call", map[string]any{"name": name, "arguments": args})
}

// toolError returns why a call was not carried out, nil when it was.
func (r reply) toolError() error {
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

// kill ends the server at once, as kill -9 does.
func (c *client) kill() { _ = c.cmd.Process.Kill() }

// close ends the server by ending its input, waits for it, and says why it
// failed, if it did. A server that was killed is an error too.
func (c *client) close() error {
	c.sending.Lock()
	_ = c.in.Close()
	c.sending.Unlock()
	<-c.ended
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("server: %w: %s", err, bytes.TrimSpace(c.stderr.Bytes()))
	}
	return nil
}
