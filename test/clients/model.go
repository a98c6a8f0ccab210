// A model server that does what a script says, in the APIs that clients speak.

// Package clients runs real agents' clients after oxbow setup, against a
// scripted model on this machine, and looks at what they kept.
package clients

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// marker stands in a prompt: requests without it, for titles and the like, are
// answered with a word.
const marker = "[acceptance of oxbow]"

// step is one call of a tool. When all are made, the model ends with the last
// result.
type step struct {
	tool  string // of oxbow; "" for the client's own tool that runs a command
	input map[string]any
	shell string // the command
	own   *call  // a call of another tool of the client
}

// model answers as a model would that makes the calls of its steps in turn.
type model struct {
	steps []step
	name  func(tool string, input map[string]any) call // as the client knows its tools
	shell func(command string) call

	mu       sync.Mutex // guards the following
	marker   string     // what the requests have that count
	requests []string   // bodies of those
	beside   []string   // bodies of the others, such as those of sub-agents
	task     string     // what requests of a sub-agent have
	ends     call       // the call by which a sub-agent ends
}

// call is a call of a tool by the name that the client gave the model.
type call struct {
	Namespace, Name string
	Input           map[string]any
}

// api is one of the APIs: how many results of tools a request has, and how an
// answer is written.
type api struct {
	path  string // what the path of the request holds
	count string // what stands once in the body for each result of a tool
	write func(w io.Writer, n int, text string, c *call)
}

var apis = []api{
	{"/messages", `"type":"tool_result"`, anthropic},
	{"/responses", `"type":"function_call_output"`, responses},
	{"/chat/completions", `"role":"tool"`, completions},
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

// answer sends a stream of events, or of Gemini the one object where no stream is
// wanted.
func answer(w http.ResponseWriter, r *http.Request, body, events string) {
	if strings.HasSuffix(r.URL.Path, ":generateContent") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.TrimPrefix(strings.TrimSpace(events), "data: "))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, events)
}

// next returns the text and the call that come next in the conversation of a
// request.
func (m *model) next(body, result string) (string, *call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !strings.Contains(body, m.marker) {
		m.beside = append(m.beside, body)
		if m.task != "" && strings.Contains(body, m.task) && m.ends.Name != "" {
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

// reset drops the requests, and counts others from now on.
func (m *model) reset(marker string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marker, m.requests = marker, nil
}

// last returns the last request.
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
		panic(err) // values of this file have a form in JSON
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
	send("message_start", object{"message": object{"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": "scripted",
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 10, "output_tokens": 1}}})
	send("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
	send("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": text}})
	send("content_block_stop", object{"index": 0})
	stop := "end_turn"
	if c != nil {
		stop = "tool_use"
		send("content_block_start", object{"index": 1, "content_block": object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", n), "name": c.Name, "input": object{}}})
		send("content_block_delta", object{"index": 1, "delta": object{"type": "input_json_delta", "partial_json": raw(c.Input)}})
		send("content_block_stop", object{"index": 1})
	}
	send("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5}})
	send("message_stop", object{})
}

func responses(w io.Writer, n int, text string, c *call) {
	id := fmt.Sprintf("resp_%d", n)
	send := func(kind string, more object) {
		more["type"] = kind
		event(w, kind, more)
	}
	send("response.created", object{"response": object{"id": id}})
	send("response.output_item.done", object{"output_index": 0, "item": object{"type": "message", "id": fmt.Sprintf("m_%d", n), "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": text, "annotations": []any{}}}}})
	if c != nil {
		item := object{"type": "function_call", "id": fmt.Sprintf("fc_%d", n), "call_id": fmt.Sprintf("call_%d", n), "name": c.Name, "arguments": raw(c.Input), "status": "completed"}
		if c.Namespace != "" {
			item["namespace"] = c.Namespace
		}
		send("response.output_item.done", object{"output_index": 1, "item": item})
	}
	send("response.completed", object{"response": object{"id": id, "status": "completed", "usage": object{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
		"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}}}})
}

func completions(w io.Writer, n int, text string, c *call) {
	chunk := func(delta object, finish any, usage any) {
		event(w, "", object{"id": fmt.Sprintf("chatcmpl-%d", n), "object": "chat.completion.chunk", "created": 1, "model": "scripted",
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}, "usage": usage})
	}
	chunk(object{"role": "assistant", "content": text}, nil, nil)
	finish := "stop"
	if c != nil {
		finish = "tool_calls"
		chunk(object{"tool_calls": []any{object{"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function", "function": object{"name": c.Name, "arguments": raw(c.Input)}}}}, nil, nil)
	}
	chunk(object{}, finish, object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func gemini(w io.Writer, _ int, text string, c *call) {
	parts := []any{object{"text": text}}
	if c != nil {
		parts = append(parts, object{"functionCall": object{"name": c.Name, "args": c.Input}})
	}
	event(w, "", object{"candidates": []any{object{"index": 0, "content": object{"role": "model", "parts": parts}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}})
}
