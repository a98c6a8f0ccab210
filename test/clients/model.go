// This file implements a model server that follows a script, with the APIs that clients use.

// Package clients runs real agents' clients after "oxbow setup" against a scripted model on
// this machine, and checks the session that oxbow recorded.
package clients

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// marker is contained in the prompt. Requests without it, for example for titles, get a
// one-word answer.
const marker = "[acceptance of oxbow]"

// step is one tool call. After the last step, the model returns the last result as its
// answer.
type step struct {
	tool  string // oxbow's tool ("" for the client's own tool for running a command)
	input map[string]any
	shell string // the command to run
	own   *call  // a call of a different tool of the client
}

// model is a scripted model that makes the calls of its steps in order.
type model struct {
	steps []step
	// returns the call by the name that the client uses for the tool
	name  func(tool string, input map[string]any) call
	shell func(command string) call

	mu       sync.Mutex // guards the following fields
	marker   string     // text that identifies requests of the main conversation
	requests []string   // bodies of the requests with the marker
	// bodies of the requests that do not belong to the conversation, such as a sub-agent's requests
	beside []string
	task   string // text that identifies requests of a sub-agent
	ends   call   // call with which a sub-agent ends
}

// call is a tool call with the tool name that the client gave to the model.
type call struct {
	Namespace, Name string
	Input           map[string]any
}

// api describes one of the APIs: how to count tool results in a request, and how to write an
// answer.
type api struct {
	path  string // text that the path of a request contains
	count string // text that occurs once in the body for each tool result
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

// answer sends a stream of events. For a Gemini request without streaming, it sends a single
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

// next returns the next text and the next call for the conversation of a request.
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

// reset drops the recorded requests and sets a new marker.
func (m *model) reset(marker string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marker, m.requests = marker, nil
}

// last returns the body of the last request, or "".
func (m *model) last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		return ""
	}
	return m.requests[len(m.requests)-1]
}

type object = map[string]any

// event writes one event of a stream.
func event(w io.Writer, name string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // cannot happen with the values in this file
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
