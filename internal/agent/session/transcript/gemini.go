// This file reads transcripts of Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-*.jsonl.
//
// The first line identifies the session. A line with an id is a message:
// {"id","timestamp","type":"user"|"gemini","content","model","toolCalls":[{"id",
// "name","args","status","result"}]}. The same id occurs again while the message grows. A line
// {"$set":…} changes the chat. A resumed session repeats its past messages in this form. They were
// reported before. A turn's ID is the ID of the person's message.
//
// Versions up to 0.38 store a session as a single JSON document, session-*.json, whose member
// "messages" contains the same messages.

package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/vfs"
)

type gemini struct {
	*file
	isDocument bool
}

func newGemini(f *file) reader {
	f.dir = geminiRoot(f.path)
	return gemini{f, isGeminiDocument(f.path)}
}

// geminiRoot returns a session's project directory, which is stored in a file of the project's
// directory in ~/.gemini/tmp. It returns "" if the file does not exist.
func geminiRoot(path string) string {
	in, err := vfs.OpenRegular(filepath.Join(filepath.Dir(filepath.Dir(path)), ".project_root"))
	if err != nil {
		return ""
	}
	defer in.Close()
	b, _ := io.ReadAll(io.LimitReader(in, 1<<12))
	return strings.TrimSpace(string(b))
}

func (g gemini) line(b []byte, offset int64) bool {
	var l clientfile.Gemini
	if !clientfile.Decode(b, &l) {
		return false
	}
	if l.Session != "" && l.ID == "" {
		g.session = l.Session
		return true
	}
	switch l.Type {
	case "user":
		g.prompt(l.ID, clientfile.Text(l.Content), l.Time, offset)
	case "gemini":
		g.model = l.Model
		// In lines, a message with calls repeats the text of the line before.
		if len(l.Calls) == 0 || g.isDocument {
			g.say(g.event(session.Text, l.ID, l.Time), clientfile.Text(l.Content))
		}
		for _, c := range l.Calls {
			g.answered(c)
		}
	}
	return true
}

func (g gemini) answered(c clientfile.GeminiCall) {
	if c.Status != "success" && c.Status != "error" {
		return
	}
	o := Outcome{Failed: c.Status == "error"}
	for _, r := range c.Result {
		o.Output += r.Response.Response.Output + r.Response.Response.Error
	}
	o.Silent = outputFirst(o.Output)
	g.call(g.event(session.Called, c.ID, c.Time), c.Name, c.Args, o)
	if agent, text := SubagentSaid(c.Name, c.Args, o.Output); agent != "" {
		e := g.event(session.Text, c.ID, c.Time)
		e.Agent = agent
		g.say(e, text)
	}
}

// isGeminiDocument reports whether a file is a session of Gemini CLI up to version 0.38.
func isGeminiDocument(path string) bool {
	return strings.HasPrefix(filepath.Base(path), "session-") && strings.HasSuffix(path, ".json")
}

// geminiDocument reads a session that is a single JSON document.
func (f *file) geminiDocument(in io.ReadSeeker) error {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(in, maxExport))
	if err != nil {
		return err
	}
	var doc struct {
		Session  string            `json:"sessionId"`
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(b, &doc); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return fmt.Errorf("it is no session: %w", err)
	}
	if doc.Session == "" {
		return errors.New("it is no session: it has no sessionId")
	}
	f.most = 0 // all of it is read at once
	g := newGemini(f)
	f.session = doc.Session
	for _, message := range doc.Messages {
		if !g.line(message, 0) {
			f.bad++
		}
	}
	f.next, f.end = 0, int64(len(b))
	return nil
}
