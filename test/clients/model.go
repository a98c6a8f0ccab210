// This file implements a server that plays a model. It follows a script, and speaks the APIs of all clients.

// Package clients tests oxbow with real clients of agents. It sets them up by "oxbow setup" and runs them with a
// scripted model on this machine. Then it checks the session that oxbow has recorded.
package clients

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// marker is a part of each prompt of the tests. The model recognizes by it the requests of the main conversation.
// Other requests, for example for a title, get a short answer.
const marker = "[acceptance of oxbow]"

// step is one tool call that the model makes. After the last step, the model ends the turn.
type step struct {
	tool  string // name of oxbow's tool ("" if shell or own is set)
	input map[string]any
	shell string // command that the client's own tool must run
	own   *call  // call of another tool of the client
}

// model is a server that plays a model. It makes the calls of its steps one after the other.
type model struct {
	steps []step
	// name returns a call of oxbow's tool. The call contains the name that the tool has in the client.
	name  func(tool string, input map[string]any) call
	shell func(command string) call

	mu       sync.Mutex // mu guards the fields below.
	marker   string     // text by which requests of the main conversation are recognized
	requests []string   // bodies of the requests of the main conversation, the oldest first
	// bodies of all other requests, such as those of a sub-agent
	beside []string
	task   string // text by which requests of a sub-agent are recognized
	ends   call   // call with which the model ends a sub-agent
}

// call is a call of a tool. The name is the one by which the client has offered the tool to the model.
type call struct {
	Namespace, Name string
	Input           map[string]any
}

// api describes one API for models: how tool results in a request are counted, and how an answer is written.
type api struct {
	path  string // text in the path of each request
	count string // text that occurs in the body once for each tool result
	write func(w io.Writer, n int, text string, c *call)
}

var apis = []api{
	{"/messages", `"type":"tool_result"`, anthropic},
	{"/responses", `"type":"function_call_output"`, writeResponses},
	{"/chat/completions", `"role":"tool"`, writeCompletions},
	{"enerateContent", `"functionResponse":`, gemini},
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/count_tokens") || strings.HasSuffix(r.URL.Path, ":countTokens") {
		_, _ = io.WriteString(w, `{"input_tokens":100,"totalTokens":100}`)
		return
	}
	for _, a := range apis {
		if !strings.Contains(r.URL.Path, a.path) {
			continue
		}
		var compact any
		_ = json.Unmarshal(b, &compact)
		b, _ = json.Marshal(compact)
		text, c := m.next(string(b), a.count)
		var out strings.Builder
		n := strings.Count(string(b), a.count)
		a.write(&out, n, text, c)
		answer(w, r, string(b), out.String())
		return
	}
	http.NotFound(w, r)
}

// answer sends the events as a stream. If a request for Gemini wants no stream, answer sends the only event as a JSON
// object.
func answer(w http.ResponseWriter, r *http.Request, body, events string) {
	if strings.HasSuffix(r.URL.Path, ":generateContent") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.TrimPrefix(strings.TrimSpace(events), "data: "))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, events)
}

// next records the body of a request, and returns the answer: a text, and a tool call or nil. In the main
// conversation, the number of tool results in the body determines the step.
func (m *model) next(body, result string) (string, *call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !strings.Contains(body, m.marker) {
		m.beside = append(m.beside, body)
		isTask := m.task != "" && strings.Contains(body, m.task)
		if isTask && m.ends.Name != "" {
			return "The task is done.", &m.ends
		}
		return "ok", nil
	}
	m.requests = append(m.requests, body)
	n := strings.Count(body, result)
	if n >= len(m.steps) {
		return "all done", nil
	}
	if own := m.steps[n].own; own != nil {
		return fmt.Sprintf("step %d", n+1), own
	}
	if m.steps[n].shell != "" {
		c := m.shell(m.steps[n].shell)
		return fmt.Sprintf("step %d", n+1), &c
	}
	c := m.name(m.steps[n].tool, m.steps[n].input)
	return fmt.Sprintf("step %d", n+1), &c
}

// reset forgets the recorded requests. From now on, requests with this marker belong to the main conversation.
func (m *model) reset(marker string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marker, m.requests = marker, nil
}

// last returns the body of the last request of the main conversation, or "" if there is none.
func (m *model) last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		return ""
	}
	return m.requests[len(m.requests)-1]
}

type object = map[string]any

// event writes one event of a stream. An API without names of events passes "".
func event(w io.Writer, name string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // All values in this file can be encoded.
	}
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprintf(w, "data: %s\n\n", b)
}

func raw(input map[string]any) string {
	b, _ := json.Marshal(input)
	return string(b)
}

func anthropic(w io.Writer, n int, text string, c *call) {
	send := func(kind string, more object) {
		more["type"] = kind
		event(w, kind, more)
	}
	send(
		"message_start",
		object{
			"message": object{"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant",
				"model":   "scripted",
				"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
				"usage": object{"input_tokens": 10, "output_tokens": 1}},
		},
	)
	send("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
	send("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": text}})
	send("content_block_stop", object{"index": 0})
	stop := "end_turn"
	if c != nil {
		stop = "tool_use"
		send(
			"content_block_start",
			object{
				"index": 1,
				"content_block": object{
					"type":  "tool_use",
					"id":    fmt.Sprintf("toolu_%d", n),
					"name":  c.Name,
					"input": object{},
				},
			},
		)
		send(
			"content_block_delta",
			object{"index": 1, "delta": object{"type": "input_json_delta", "partial_json": raw(c.Input)}},
		)
		send("content_block_stop", object{"index": 1})
	}
	send(
		"message_delta",
		object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5}},
	)
	send("message_stop", object{})
}

func writeResponses(w io.Writer, n int, text string, c *call) {
	id := fmt.Sprintf("resp_%d", n)
	send := func(kind string, more object) {
		more["type"] = kind
		event(w, kind, more)
	}
	send("response.created", object{"response": object{"id": id}})
	send(
		"response.output_item.done",
		object{
			"output_index": 0,
			"item": object{"type": "message", "id": fmt.Sprintf("m_%d", n), "role": "assistant", "status": "completed",
				"content": []any{object{"type": "output_text", "text": text, "annotations": []any{}}}},
		},
	)
	if c != nil {
		item := object{"type": "function_call", "id": fmt.Sprintf("fc_%d", n), "call_id": fmt.Sprintf("call_%d", n),
			"name": c.Name, "arguments": raw(c.Input), "status": "completed"}
		if c.Namespace != "" {
			item["namespace"] = c.Namespace
		}
		send("response.output_item.done", object{"output_index": 1, "item": item})
	}
	send(
		"response.completed",
		object{
			"response": object{
				"id":     id,
				"status": "completed",
				"usage": object{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
					"input_tokens_details":  object{"cached_tokens": 0},
					"output_tokens_details": object{"reasoning_tokens": 0}},
			},
		},
	)
}

func writeCompletions(w io.Writer, n int, text string, c *call) {
	chunk := func(delta object, finish any, usage any) {
		event(
			w,
			"",
			object{"id": fmt.Sprintf("chatcmpl-%d", n), "object": "chat.completion.chunk", "created": 1,
				"model":   "scripted",
				"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}, "usage": usage},
		)
	}
	chunk(object{"role": "assistant", "content": text}, nil, nil)
	finish := "stop"
	if c != nil {
		finish = "tool_calls"
		chunk(
			object{
				"tool_calls": []any{
					object{
						"index":    0,
						"id":       fmt.Sprintf("call_%d", n),
						"type":     "function",
						"function": object{"name": c.Name, "arguments": raw(c.Input)},
					},
				},
			},
			nil,
			nil,
		)
	}
	chunk(object{}, finish, object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func gemini(w io.Writer, _ int, text string, c *call) {
	parts := []any{object{"text": text}}
	if c != nil {
		parts = append(parts, object{"functionCall": object{"name": c.Name, "args": c.Input}})
	}
	event(
		w,
		"",
		object{
			"candidates": []any{
				object{"index": 0, "content": object{"role": "model", "parts": parts}, "finishReason": "STOP"},
			},
			"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
		},
	)
}
