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
	"io"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/clientline"
	"github.com/oxbow-memory/oxbow/session"
	"github.com/oxbow-memory/oxbow/vfs"
)

type gemini struct{ *file }

func newGemini(f *file) reader {
	f.dir = geminiRoot(f.path)
	return gemini{f}
}

// geminiRoot returns the directory that a session is of, which stands in a file of
// the project; "" where there is none.
func geminiRoot(path string) string {
	in, err := vfs.OpenRegular(filepath.Join(filepath.Dir(filepath.Dir(path)), ".project_root"))
	if err != nil {
		return ""
	}
	defer in.Close()
	b, _ := io.ReadAll(io.LimitReader(in, 1<<12))
	return strings.TrimSpace(string(b))
}

func (g gemini) line(b []byte, at int64) bool {
	var l clientline.Gemini
	if !clientline.Decode(b, &l) {
		return false
	}
	if l.Session != "" && l.ID == "" {
		g.session = l.Session
		return true
	}
	switch l.Type {
	case "user":
		g.prompt(l.ID, clientline.Text(l.Content), l.Time, at)
	case "gemini":
		g.model = l.Model
		if len(l.Calls) == 0 { // else it was said in the line before
			g.say(g.event(session.Text, l.ID, l.Time), clientline.Text(l.Content))
		}
		for _, c := range l.Calls {
			g.answered(c)
		}
	}
	return true
}

func (g gemini) answered(c clientline.GeminiCall) {
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
