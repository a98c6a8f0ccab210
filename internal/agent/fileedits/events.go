// This file finds the edits in the events of a transcript.

package fileedits

import (
	"cmp"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// eventReader reads a transcript with a [clientfile.EventReader].
type eventReader struct {
	*chat
	in clientfile.EventReader
}

// newEventReader returns a function that opens a reader for a client's transcripts.
func newEventReader(c clientfile.EventClient) func(t *Transcript) reader {
	return func(t *Transcript) reader { return &eventReader{newChat(t), c.NewReader()} }
}

func (r *eventReader) line(b []byte) error {
	if !r.in.ReadLine(b, 0, r.take) {
		return errLine
	}
	return nil
}

func (r *eventReader) take(e *clientfile.Event) {
	r.session, r.dir = e.Session, e.Dir
	r.model = e.Model
	sub := cmp.Or(e.AgentName, e.AgentID)
	switch e.Kind {
	case clientfile.EventPrompt:
		r.recordRequest(sub, e.Text)
	case clientfile.EventText:
		r.says(sub, e.Text)
	case clientfile.EventThought:
		r.thinks(sub, e.Text)
	case clientfile.EventCall:
		if e.ID != "" {
			r.call(e.ID, sub, e.Tool, e.Args, e.Time)
		}
	case clientfile.EventResult:
		r.answer(e.ID, e.Failed, e.Shown)
	}
}
