// This file implements sessions. When a session is compacted, its summary is stored as an archive, from which the
// session can be resumed.

package crabtalk

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/layout"
)

// session is a conversation with an agent, for which the home provides context and stores summaries.
type session struct {
	layout.Summaries
	home        *home
	request     layout.Request
	archiveSlug string // part in the names of the archives that belong to this session
}

var _ layout.Session = (*session)(nil)

// maxSlugBytes is the maximum length of the slug in an archive's name, in bytes.
const maxSlugBytes = 48

// Session implements [layout.Home]. The archives of the session are named after its first message or, without a
// message, after the agent.
func (h *home) Session(ctx context.Context, r layout.Request) (layout.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &session{home: h, request: r}
	s.Summaries = layout.Summaries{
		Keep:    s.storeArchive,
		GoOn:    s.buildContinuedContext,
		Missing: s.warnMissingArchive,
		Get: func(ctx context.Context, name string) (oxbow.Entry, error) {
			return h.GetOfKind(ctx, name, oxbow.Archive)
		},
	}
	s.setArchiveSlug(r.Message)
	return s, nil
}

// setArchiveSlug derives the slug for the name of the session's archive from a message. It does nothing if the session
// has a slug already or if the message is blank.
func (s *session) setArchiveSlug(message string) {
	if s.archiveSlug == "" && strings.TrimSpace(message) != "" {
		s.archiveSlug = makeSlug(text.DeriveName(strings.ToValidUTF8(message, "")))
	}
}

// Start implements [layout.Session].
func (s *session) Start(ctx context.Context) (prompt.Context, error) {
	if err := s.Check(ctx); err != nil {
		return prompt.Context{}, err
	}
	return s.home.Context(ctx, s.request)
}

// BeforeTurn implements [layout.Session]. It adds no text before a message. If the session has no slug (short name)
// yet, it makes the slug from the message.
func (s *session) BeforeTurn(ctx context.Context, message string) (prompt.Context, error) {
	if err := s.Check(ctx); err != nil {
		return prompt.Context{}, err
	}
	s.setArchiveSlug(message)
	return prompt.Context{Budget: s.request.Budget}, nil
}

// storeArchive stores a summary as an archive with a new name, and returns the name.
func (s *session) storeArchive(ctx context.Context, summary string) (string, error) {
	if strings.TrimSpace(summary) == "" {
		return "", &oxbow.InvalidError{Field: "summary", Reason: "is empty"}
	}
	prefix := s.archiveSlug
	if prefix == "" {
		prefix = makeSlug(s.home.Agent)
	}
	if prefix == "" {
		prefix = "session"
	}
	prefix += "-"
	next := uint64(1)
	for e, err := range s.home.HomeMemory.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return "", err
		}
		if n, ok := numberAfterPrefix(e.Name, prefix); ok && n >= next {
			next = n + 1
		}
	}
	for ; ; next++ {
		name := prefix + strconv.FormatUint(next, 10)
		err := s.home.HomeMemory.Apply(ctx, oxbow.Add{Name: name, Kind: oxbow.Archive, Content: summary})
		if !errors.Is(err, oxbow.ErrExists) {
			return name, err
		}
	}
}

// numberAfterPrefix returns the number that follows the prefix in a name. It returns false if the number has another
// form than usual, such as leading zeros, or does not fit into 63 bits.
func numberAfterPrefix(name, prefix string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	return n, err == nil && strconv.FormatUint(n, 10) == digits
}

// makeSlug returns the first words of a text in lower case, joined by dashes. It keeps only ASCII letters and digits,
// so the result may be "". The result has at most maxSlugBytes bytes. makeSlug stops before the first word that would
// make the result too long. If the first word alone is too long, this word is cut.
func makeSlug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	slug := ""
	for _, w := range words {
		if slug != "" && len(slug)+1+len(w) > maxSlugBytes {
			break
		}
		if slug != "" {
			slug += "-"
		}
		slug += w
	}
	return slug[:min(len(slug), maxSlugBytes)]
}

// buildContinuedContext returns the context for continuing a conversation: a single message of the user.
func (s *session) buildContinuedContext(_ context.Context, archiveName, archiveText string) (prompt.Context, error) {
	var c prompt.Context
	c.Add(prompt.Part{Name: "archive", Source: archiveName, Role: prompt.RoleUser, Text: archiveText, IsPinned: true})
	c.FitToBudget(s.request.Budget)
	return c, nil
}

// warnMissingArchive warns that an archive with this name does not exist. It returns the text that takes the archive's
// place, so that the conversation can continue.
func (s *session) warnMissingArchive(name string) string {
	s.home.Warn(fmt.Sprintf("there is no archive %q to resume from", name))
	return "[archived context unavailable: " + name + "]"
}
