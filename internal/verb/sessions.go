// This file implements the verbs for the sessions archive: list, show, search, resume and forget.
// It also lets recall search the archive.

package verb

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/query"
)

// readMemory moves the term in:MEMORY, which names the memory to search, from the query to in.In. It returns an error
// if in.In already has a different value.
func (in *RecallIn) readMemory() error {
	said, rest := query.CutIn(in.Query)
	switch {
	case said == "":
		return nil
	case in.In != "" && in.In != said:
		return InvalidValue("in", in.In, "is not what the query says, which is in:"+said)
	}
	in.In = said
	in.Query = rest
	return nil
}

// Recall finds entries by words, best first, in the memories that the caller selects.
func Recall(ctx context.Context, w *Workspace, in RecallIn) (RecallOut, error) {
	if err := in.readMemory(); err != nil {
		return RecallOut{}, err
	}
	if in.In == "" || in.In == query.InNotes {
		return recallWhere(ctx, w, in, oxbow.Filter{})
	}
	over, err := w.OverSessions(ctx)
	if err != nil {
		return RecallOut{}, err
	}
	if in.In == query.InSessions {
		return recallWhere(ctx, over, in, session.TurnFilter)
	}
	if in.MaxTokens == nil && !w.Unbounded {
		half := defaultMaxTokens / 2
		in.MaxTokens = &half
	} else if in.MaxTokens != nil {
		half := (*in.MaxTokens + 1) / 2
		in.MaxTokens = &half
	}
	notes, err := recallWhere(ctx, w, in, oxbow.Filter{})
	if err != nil {
		return notes, err
	}
	turns, err := recallWhere(ctx, over, in, session.TurnFilter)
	if err != nil || len(turns.Hits) == 0 {
		return notes, err
	}
	if len(notes.Hits) == 0 {
		return turns, nil
	}
	notes.Hits, notes.More = append(notes.Hits, turns.Hits...), notes.More || turns.More
	notes.Notes = append(
		append(notes.Notes, turns.Notes...),
		Notef("%s last", text.Count(len(turns.Hits), "hit from past sessions comes", "hits from past sessions come")),
	)
	return notes, nil
}

// NoSession reports that the archive is empty.
var NoSession = Notef(
	"no session is kept yet; %s to read those that clients have kept, or %s to connect clients",
	PersonRef("oxbow session import"),
	PersonRef("oxbow setup"),
)
