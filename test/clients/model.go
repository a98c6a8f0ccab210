// This file implements a server that plays a model. It follows a script, and speaks the APIs of all clients.

// Package clients tests oxbow with real agent clients, such as Claude Code. It sets up the clients by "oxbow setup" and
// runs each client with a scripted model on this machine. Then it checks the session that oxbow has recorded.
package clients

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// testPromptMarker is a part of each prompt in the tests. If a request contains testPromptMarker, the model knows that
// the request belongs to the main conversation. Other requests, for example for a title, get a short answer.
const testPromptMarker = "[acceptance of oxbow]"

// scriptStep is one tool call that the model makes. After the last step, the model ends the turn.
type scriptStep struct {
	toolName       string // name of a tool of oxbow's server ("" if shellCommand or clientToolCall is set)
	input          map[string]any
	shellCommand   string    // command that the client's own tool must run
	clientToolCall *toolCall // call of one of the client's own tools that does not run a shell command
}

// scriptedModel is a server that plays a model. It makes the calls of the steps in order.
type scriptedModel struct {
	steps []scriptStep
	// makeToolCall returns a call of oxbow's tool. The call contains the name that the tool has in the client.
	makeToolCall  func(tool string, input map[string]any) toolCall
	makeShellCall func(command string) toolCall

	mu sync.Mutex // mu guards the fields below.
	// text that occurs only in requests of the client's main conversation, so that the test can recognize them
	mainConversationMarker   string
	mainConversationRequests []string // request bodies of the client's main conversation, the oldest first
	// bodies of all requests that do not contain mainConversationMarker, such as requests by a sub-agent
	requestsWithoutMarker []string
	subagentTask          string   // text by which the simulated model recognizes requests of a sub-agent
	endAgentCall          toolCall // call with which the model ends a sub-agent
}

// toolCall is a call of a tool. The name is the one by which the client has offered the tool to the model.
type toolCall struct {
	Namespace, Name string
	Input           map[string]any
}

// modelAPI describes one API for models: how tool results in a request are counted, and how an answer is written.
type modelAPI struct {
	path         string // text in the path of each request
	resultMarker string // text that occurs in a request's body once for each tool result
	writeAnswer  func(w io.Writer, n int, text string, c *toolCall)
}

var modelAPIs = []modelAPI{
	{"/messages", `"type":"tool_result"`, writeMessagesAnswer},
	{"/responses", `"type":"function_call_output"`, writeResponsesAnswer},
	{"/chat/completions", `"role":"tool"`, writeCompletionsAnswer},
	{"enerateContent", `"functionResponse":`, writeGeminiAnswer},
}

func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/count_tokens") || strings.HasSuffix(r.URL.Path, ":countTokens") {
		_, _ = io.WriteString(w, `{"input_tokens":100,"totalTokens":100}`)
		return
	}
	for _, a := range modelAPIs {
		if !strings.Contains(r.URL.Path, a.path) {
			continue
		}
		var compact any
		_ = json.Unmarshal(b, &compact)
		b, _ = json.Marshal(compact)
		text, c := m.nextStep(string(b), a.resultMarker)
		var out strings.Builder
		n := strings.Count(string(b), a.resultMarker)
		a.writeAnswer(&out, n, text, c)
		serveAnswer(w, r, string(b), out.String())
		return
	}
	http.NotFound(w, r)
}

// serveAnswer sends the events of a model's answer as a stream. If a request in Gemini's format does not want a
// stream, serveAnswer sends the only event as a JSON object.
func serveAnswer(w http.ResponseWriter, r *http.Request, body, eventStream string) {
	if strings.HasSuffix(r.URL.Path, ":generateContent") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.TrimPrefix(strings.TrimSpace(eventStream), "data: "))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, eventStream)
}

// nextStep records the body of a request and returns the answer of the model: a text, and a tool call or nil. In the
// main conversation, the answer is the next step of the test's script. nextStep finds this step by counting the tool
// results in the body. It counts how often the text in the argument resultMarker occurs. In other conversations, the
// answer is a short text. If the conversation is the task of a sub-agent, the answer may also contain the call that
// ends the sub-agent.
func (m *scriptedModel) nextStep(requestBody, resultMarker string) (string, *toolCall) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !strings.Contains(requestBody, m.mainConversationMarker) {
		m.requestsWithoutMarker = append(m.requestsWithoutMarker, requestBody)
		isTask := m.subagentTask != "" && strings.Contains(requestBody, m.subagentTask)
		if isTask && m.endAgentCall.Name != "" {
			return "The task is done.", &m.endAgentCall
		}
		return "ok", nil
	}
	m.mainConversationRequests = append(m.mainConversationRequests, requestBody)
	n := strings.Count(requestBody, resultMarker)
	if n >= len(m.steps) {
		return "all done", nil
	}
	if own := m.steps[n].clientToolCall; own != nil {
		return fmt.Sprintf("step %d", n+1), own
	}
	if m.steps[n].shellCommand != "" {
		c := m.makeShellCall(m.steps[n].shellCommand)
		return fmt.Sprintf("step %d", n+1), &c
	}
	c := m.makeToolCall(m.steps[n].toolName, m.steps[n].input)
	return fmt.Sprintf("step %d", n+1), &c
}

// startConversation starts a new main conversation. It forgets the recorded requests of the earlier conversation. From
// now on, requests whose body contains conversationMarker belong to the main conversation.
func (m *scriptedModel) startConversation(conversationMarker string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mainConversationMarker, m.mainConversationRequests = conversationMarker, nil
}

// lastRequest returns the last request's body in the main conversation, or "" if none was received.
func (m *scriptedModel) lastRequest() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.mainConversationRequests) == 0 {
		return ""
	}
	return m.mainConversationRequests[len(m.mainConversationRequests)-1]
}

type jsonObject = map[string]any

// writeEvent writes one event of a stream. An API without names of events passes "".
func writeEvent(w io.Writer, name string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // cannot happen, because all values that this file passes can be encoded as JSON
	}
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprintf(w, "data: %s\n\n", b)
}

func encodeInput(input map[string]any) string {
	b, _ := json.Marshal(input)
	return string(b)
}

func writeMessagesAnswer(w io.Writer, messageNumber int, text string, c *toolCall) {
	send := func(kind string, more jsonObject) {
		more["type"] = kind
		writeEvent(w, kind, more)
	}
	send(
		"message_start",
		jsonObject{
			"message": jsonObject{"id": fmt.Sprintf("msg_%d", messageNumber), "type": "message", "role": "assistant",
				"model":   "scripted",
				"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
				"usage": jsonObject{"input_tokens": 10, "output_tokens": 1}},
		},
	)
	send("content_block_start", jsonObject{"index": 0, "content_block": jsonObject{"type": "text", "text": ""}})
	send("content_block_delta", jsonObject{"index": 0, "delta": jsonObject{"type": "text_delta", "text": text}})
	send("content_block_stop", jsonObject{"index": 0})
	stop := "end_turn"
	if c != nil {
		stop = "tool_use"
		send(
			"content_block_start",
			jsonObject{
				"index": 1,
				"content_block": jsonObject{
					"type":  "tool_use",
					"id":    fmt.Sprintf("toolu_%d", messageNumber),
					"name":  c.Name,
					"input": jsonObject{},
				},
			},
		)
		send(
			"content_block_delta",
			jsonObject{
				"index": 1,
				"delta": jsonObject{"type": "input_json_delta", "partial_json": encodeInput(c.Input)},
			},
		)
		send("content_block_stop", jsonObject{"index": 1})
	}
	send(
		"message_delta",
		jsonObject{
			"delta": jsonObject{"stop_reason": stop, "stop_sequence": nil},
			"usage": jsonObject{"output_tokens": 5},
		},
	)
	send("message_stop", jsonObject{})
}

func writeResponsesAnswer(w io.Writer, messageNumber int, text string, c *toolCall) {
	id := fmt.Sprintf("resp_%d", messageNumber)
	send := func(kind string, more jsonObject) {
		more["type"] = kind
		writeEvent(w, kind, more)
	}
	send("response.created", jsonObject{"response": jsonObject{"id": id}})
	send(
		"response.output_item.done",
		jsonObject{
			"output_index": 0,
			"item": jsonObject{
				"type":    "message",
				"id":      fmt.Sprintf("m_%d", messageNumber),
				"role":    "assistant",
				"status":  "completed",
				"content": []any{jsonObject{"type": "output_text", "text": text, "annotations": []any{}}},
			},
		},
	)
	if c != nil {
		item := jsonObject{
			"type":      "function_call",
			"id":        fmt.Sprintf("fc_%d", messageNumber),
			"call_id":   fmt.Sprintf("call_%d", messageNumber),
			"name":      c.Name,
			"arguments": encodeInput(c.Input),
			"status":    "completed",
		}
		if c.Namespace != "" {
			item["namespace"] = c.Namespace
		}
		send("response.output_item.done", jsonObject{"output_index": 1, "item": item})
	}
	send(
		"response.completed",
		jsonObject{
			"response": jsonObject{
				"id":     id,
				"status": "completed",
				"usage": jsonObject{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
					"input_tokens_details":  jsonObject{"cached_tokens": 0},
					"output_tokens_details": jsonObject{"reasoning_tokens": 0}},
			},
		},
	)
}

func writeCompletionsAnswer(w io.Writer, messageNumber int, text string, c *toolCall) {
	chunk := func(delta jsonObject, finish any, usage any) {
		writeEvent(
			w,
			"",
			jsonObject{"id": fmt.Sprintf("chatcmpl-%d", messageNumber), "object": "chat.completion.chunk", "created": 1,
				"model":   "scripted",
				"choices": []any{jsonObject{"index": 0, "delta": delta, "finish_reason": finish}}, "usage": usage},
		)
	}
	chunk(jsonObject{"role": "assistant", "content": text}, nil, nil)
	finish := "stop"
	if c != nil {
		finish = "tool_calls"
		chunk(
			jsonObject{
				"tool_calls": []any{
					jsonObject{
						"index":    0,
						"id":       fmt.Sprintf("call_%d", messageNumber),
						"type":     "function",
						"function": jsonObject{"name": c.Name, "arguments": encodeInput(c.Input)},
					},
				},
			},
			nil,
			nil,
		)
	}
	chunk(jsonObject{}, finish, jsonObject{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func writeGeminiAnswer(w io.Writer, _ int, text string, c *toolCall) {
	parts := []any{jsonObject{"text": text}}
	if c != nil {
		parts = append(parts, jsonObject{"functionCall": jsonObject{"name": c.Name, "args": c.Input}})
	}
	writeEvent(
		w,
		"",
		jsonObject{
			"candidates": []any{
				jsonObject{"index": 0, "content": jsonObject{"role": "model", "parts": parts}, "finishReason": "STOP"},
			},
			"usageMetadata": jsonObject{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
		},
	)
}
