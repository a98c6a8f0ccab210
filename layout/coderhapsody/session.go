// This file implements sessions. A session starts with a handoff, if one is waiting. At a compaction and at the end, a
// session stores a summary, from which it can be resumed.

package coderhapsody

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/profile"
)

// These names denote parts of the text that a model gets when a session starts. They are added to the usual parts.
const (
	contextPartHandoff = "handoff"
	contextPartSummary = "summary"
)

// Session implements [layout.Home].
func (h *home) Session(ctx context.Context, r layout.Request) (layout.Session, error) {
	s := &session{home: h, request: r}
	s.Summaries = layout.Summaries{
		Keep:    s.storeSummary,
		GoOn:    s.contextAfterSummary,
		Missing: s.warnMissingSummary,
		Get: func(ctx context.Context, name string) (oxbow.Entry, error) {
			return s.home.GetOfKind(ctx, name, oxbow.History)
		},
	}
	return s, ctx.Err()
}

// session is a conversation.
type session struct {
	layout.Summaries
	home                *home // home, restricted to a profile if the handoff (task from another session) names one
	request             layout.Request
	entryNamesInContext map[string]bool // names of the entries in the model's context
}

// Start returns the context with which a new conversation begins: the context of the home, and the newest waiting
// handoff (a message from an earlier session), if there is one. The handoff is marked as taken, so that no other
// conversation gets it. If the handoff names a memory profile and the home has none yet, the conversation uses this
// profile. If the profile cannot be loaded, Start only adds a warning.
func (s *session) Start(ctx context.Context) (prompt.Context, error) {
	if err := s.Check(ctx); err != nil {
		return prompt.Context{}, err
	}
	t, taken, err := s.takeHandoff(ctx)
	if err != nil {
		return prompt.Context{}, fmt.Errorf("looking for a handoff: %w", err)
	}
	hasProfile := taken && t.Profile != ""
	if hasProfile && s.home.boundProfile == nil {
		bound, err := s.home.WithProfile(t.Profile)
		if err != nil {
			s.home.Warn(fmt.Sprintf(
				"the handoff %q wants the memory profile %q, which is not loaded: %v",
				t.Name,
				t.Profile,
				err,
			))
		} else {
			s.home = bound.(*home)
		}
	}
	c, err := s.systemContext(ctx)
	if err != nil || !taken {
		return c, err
	}
	o := handoff.LoadedHandoff{Handoff: t, Files: s.home.checkFiles(t.Files), Skills: s.loadSkills(t.Skills)}
	c.Add(prompt.Part{Name: contextPartHandoff, Source: t.Name, Role: prompt.RoleUser, IsPinned: true,
		Reason: "it waited for this session", Text: o.Text()})
	s.home.cutToTokenBudget(&c, s.request.Budget)
	return c, nil
}

// checkFiles returns the files that a handoff names. Each result says whether the file is missing in the working
// directory.
func (h *home) checkFiles(names []string) []handoff.File {
	if h.Work == nil {
		return handoff.CheckFiles(names, h.WorkDir, nil)
	}
	return handoff.CheckFiles(names, h.WorkDir, func(name string) (fs.FileInfo, error) {
		return h.Work.Stat(path.Join(h.WorkDir, name))
	})
}

// loadSkills returns the texts of the skills that a handoff names. A skill that cannot be loaded is returned with the
// reason. The result is nil if the session cannot load skills.
func (s *session) loadSkills(names []string) (skills []handoff.LoadedSkill) {
	if s.request.LoadSkill == nil {
		return nil
	}
	for _, name := range names {
		text, err := s.request.LoadSkill(name)
		l := handoff.LoadedSkill{Name: name, Text: text}
		if err != nil {
			l = handoff.LoadedSkill{Name: name, LoadProblem: handoff.FirstErrorLine(err)}
		}
		skills = append(skills, l)
	}
	return skills
}

// takeHandoff returns the newest waiting handoff and true, and marks the handoff as taken. It returns false if no
// handoff is waiting. It also returns false if the memory is read-only, and then the handoff continues to wait.
func (s *session) takeHandoff(ctx context.Context) (handoff.Handoff, bool, error) {
	t, err := handoff.TakeHandoff(
		ctx,
		s.home.HomeMemory,
		handoff.HandoffCriteria{Projects: handoff.OneProjectOrAll(s.request.Project)},
	)
	switch {
	case errors.Is(err, handoff.ErrNoHandoff):
		return t, false, nil
	case errors.Is(err, oxbow.ErrReadOnly):
		s.home.Warn("a handoff waits, and is not taken: this memory may only be read")
		return t, false, nil
	}
	return t, err == nil, err
}

// systemContext returns the context of the home, and records which entries it contains.
func (s *session) systemContext(ctx context.Context) (prompt.Context, error) {
	c, err := s.home.systemPromptContext(ctx, s.request)
	s.entryNamesInContext = entryNames(c)
	return c, err
}

// BeforeTurn returns the entries that match the message and that the model's context does not contain yet.
func (s *session) BeforeTurn(ctx context.Context, message string) (prompt.Context, error) {
	if err := s.Check(ctx); err != nil {
		return prompt.Context{}, err
	}
	c, err := s.home.recallEntries(ctx, message, s.entryNamesInContext)
	if s.request.Budget > 0 {
		c.PackIntoBudget(s.request.Budget)
	}
	return c, err
}

// storeSummary stores a summary as an entry in today's log, and returns the entry's name.
func (s *session) storeSummary(ctx context.Context, summary string) (string, error) {
	e, _, err := s.home.addEntryToLog(ctx, s.home.HomeMemory, oxbow.History, summary, nil)
	return e.Name, err
}

// warnMissingSummary warns that the summary with this name does not exist, and returns the text that replaces
// the summary. The conversation continues.
func (s *session) warnMissingSummary(name string) string {
	s.home.Warn(fmt.Sprintf("there is no summary %q to resume from", name))
	return "(the summary of the earlier conversation is not there)"
}

// contextAfterSummary returns the context with which a conversation continues after it was summarized: the system
// context and the summary, shortened to the token budget. name is the name of the log entry that contains the summary.
// Parts of the system context that show this entry are removed, so that the context contains the summary only once.
func (s *session) contextAfterSummary(ctx context.Context, name, summary string) (prompt.Context, error) {
	c, err := s.systemContext(ctx)
	if err != nil {
		return c, err
	}
	parts := c.Parts[:0:0]
	for _, p := range c.Parts {
		isEntry := p.Name == contextPartLog || p.Name == profile.PartEntry
		if !isEntry || p.Source != name {
			parts = append(parts, p)
		}
	}
	c.Parts = parts
	s.entryNamesInContext[name] = true
	c.Add(
		prompt.Part{Name: contextPartSummary, Source: name, Role: prompt.RoleUser, IsPinned: true,
			Reason: "the conversation goes on from it",
			Text:   "The conversation so far, in short:\n\n" + prompt.FenceText("markdown", summary)},
	)
	s.home.cutToTokenBudget(&c, s.request.Budget)
	return c, nil
}
