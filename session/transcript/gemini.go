// Transcripts of Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-*.jsonl.
//
// The first line says of what session the file is. A line with id is a message:
// {"id","timestamp","type":"user"|"gemini","content","model","toolCalls":[{"id",
// "name","args","status","result"}]}; the same id comes again as the message
// grows. A line {"$set":…} changes the chat: a session that is resumed gets its
// past messages so, which were reported before. A turn has the identifier of the
// person's message.

package transcript

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/session"
)

type gemini struct{ *file }

func newGemini(f *file) reader {
	f.dir = geminiRoot(f.path)
	return gemini{f}
}

// geminiRoot returns the directory that a session is of, which stands in a file of
// the project; "" where there is none.
func geminiRoot(path string) string {
	in, err := os.Open(filepath.Join(filepath.Dir(filepath.Dir(path)), ".project_root"))
	if err != nil {
		return ""
	}
	defer in.Close()
	b, _ := io.ReadAll(io.LimitReader(in, 1<<12))
	return strings.TrimSpace(string(b))
}

type geminiCall struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Status string          `json:"status"`
	Time   time.Time       `json:"timestamp"`
	Result []struct {
		Response struct {
			Response struct {
				Output string `json:"output"`
				Error  string `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
	} `json:"result"`
}

func (g gemini) line(b []byte, at int64) bool {
	var id, kind, model, of string
	var when time.Time
	var content, calls json.RawMessage
	if !pick(b, field{"sessionId", &of}, field{"id", &id}, field{"type", &kind}, field{"model", &model}, field{"timestamp", &when}, field{"content", &content}, field{"toolCalls", &calls}) {
		return false
	}
	if of != "" && id == "" {
		g.session = of
		return true
	}
	switch kind {
	case "user":
		g.prompt(id, text(content), when, at)
	case "gemini":
		g.model = model
		if len(calls) == 0 { // else it was said in the line before
			g.say(g.event(session.Text, id, when), text(content))
		}
		var all []geminiCall
		_ = json.Unmarshal(calls, &all)
		for _, c := range all {
			g.answered(c)
		}
	}
	return true
}

func (g gemini) answered(c geminiCall) {
	if c.Status != "success" && c.Status != "error" {
		return
	}
	o := Outcome{Failed: c.Status == "error"}
	for _, r := range c.Result {
		o.Output += r.Response.Response.Output + r.Response.Response.Error
	}
	o.Silent = outputFirst(o.Output)
	g.call(g.event(session.Called, c.ID, c.Time), c.Name, c.Args, o)
}
