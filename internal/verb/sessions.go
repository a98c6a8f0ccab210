// This file implements the verbs for the sessions archive: list, show, search, resume and forget.
// It also lets recall search the archive.

package verb

import (
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Memories that recall can search.
const (
	InNotes    = "notes"
	InSessions = "sessions"
	inBoth     = "both"
)

// cutIn removes a term such as in:sessions from the query.
func (in *RecallIn) cutIn() error {
	words := strings.Fields(in.Query)
	i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "in:") && w != "in:" })
	if i < 0 {
		return nil
	}
	said := strings.TrimPrefix(words[i], "in:")
	switch {
	case !slices.Contains([]string{InNotes, InSessions, inBoth}, said):
		return nil // the word is not a term
	case in.In != "" && in.In != said:
		return InvalidValue("in", in.In, "is not what the query says, which is in:"+said)
	}
	in.In = said
	in.Query = strings.TrimSpace(strings.Replace(" "+in.Query+" ", " "+words[i]+" ", " ", 1))
	return nil
}

// Recall finds entries by words, best first, in the memories that the caller selects.
func Recall(ctx context.Context, w *Workspace, in RecallIn) (RecallOut, error) {
	if err := in.cutIn(); err != nil {
		return RecallOut{}, err
	}
	if in.In == "" || in.In == InNotes {
		return recallWhere(ctx, w, in, oxbow.Filter{})
	}
	over, err := w.OverSessions(ctx)
	if err != nil {
		return RecallOut{}, err
	}
	if in.In == InSessions {
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
