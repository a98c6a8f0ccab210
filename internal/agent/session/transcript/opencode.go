// This file reads sessions of opencode that were written by its command export. A file is a JSON
// object, {"info":{"id","directory","parentID"},"messages":[{"info":{"id","role",
// "parentID","modelID","agent","time"},"parts":[…]}]}. The database in which opencode itself stores
// sessions is not read.

package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// maxExport is the maximum size of a session in a single document, in bytes.
const maxExport = 256 << 20

type openCodeExport struct {
	Info struct {
		ID     string `json:"id"`
		Dir    string `json:"directory"`
		Parent string `json:"parentID"`
		Agent  string `json:"agent"`
	} `json:"info"`
	Messages []struct {
		Info struct {
			ID    string `json:"id"`
			Role  string `json:"role"`
			Model string `json:"modelID"`
			Time  struct {
				Created int64 `json:"created"`
			} `json:"time"`
		} `json:"info"`
		Parts []exportedPart `json:"parts"`
	} `json:"messages"`
}

type exportedPart struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"`
	Ignored   bool   `json:"ignored"`
	Tool      string `json:"tool"`
	CallID    string `json:"callID"`
	State     struct {
		Status   string          `json:"status"`
		Input    json.RawMessage `json:"input"`
		Output   string          `json:"output"`
		Error    string          `json:"error"`
		Metadata struct {
			Exit *int `json:"exit"`
		} `json:"metadata"`
		Time struct {
			End int64 `json:"end"`
		} `json:"time"`
	} `json:"state"`
}

func (f *file) export(in io.ReadSeeker) error {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(in, maxExport))
	if err != nil {
		return err
	}
	var x openCodeExport
	if err := json.Unmarshal(b, &x); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return fmt.Errorf("it is no session: %w", err)
	}
	f.session, f.dir = x.Info.ID, x.Info.Dir
	if x.Info.Parent != "" {
		f.session = x.Info.Parent
		f.agent = x.Info.Agent
		if f.agent == "" {
			f.agent = "subagent"
		}
	}
	for _, m := range x.Messages {
		when := milli(m.Info.Time.Created)
		if m.Info.Role == "user" {
			said := ""
			for _, p := range m.Parts {
				if p.Type == "text" && !p.Synthetic && !p.Ignored {
					if said != "" {
						said += "\n"
					}
					said += p.Text
				}
			}
			f.prompt(m.Info.ID, RemoveQuotes("opencode", said), when, 0)
			continue
		}
		f.model = m.Info.Model
		for _, p := range m.Parts {
			f.exportedPart(&p, when)
		}
	}
	f.next, f.end = 0, int64(len(b))
	return nil
}

func (f *file) exportedPart(p *exportedPart, when time.Time) {
	switch {
	case p.Type == "text" && !p.Synthetic:
		f.say(f.event(session.Text, p.ID, when), p.Text)
	case p.Type == "tool" && (p.State.Status == "completed" || p.State.Status == "error"):
		if p.State.Time.End > 0 {
			when = milli(p.State.Time.End)
		}
		f.call(f.event(session.Called, p.CallID, when), p.Tool, p.State.Input,
			Outcome{
				Failed: p.State.Status == "error",
				Exit:   p.State.Metadata.Exit,
				Output: p.State.Output + p.State.Error,
			})
	}
}

func milli(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
