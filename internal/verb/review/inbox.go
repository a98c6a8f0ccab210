// This file implements the verbs of the inbox, which contains proposals for notes, made from what persons said in
// sessions.

package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/inbox"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// InboxIn is the argument of the verb inbox.
type InboxIn struct {
	Project                  string `json:"project,omitempty" usage:"only proposals of this PROJECT; auto is the project of the working directory"`
	IncludesDecidedProposals bool   `json:"all,omitempty"     usage:"also list accepted and dropped proposals"`

	// ShouldNoteRepeatedRequests makes a note from each request that a person made in two sessions. It has an effect
	// only if the caller is a person.
	ShouldNoteRepeatedRequests bool `json:"-"`
}

// InboxOut lists proposals, the most recent first.
type InboxOut struct {
	Proposals []inbox.StoredProposal `json:"proposals"`
	NewNotes  []verb.RememberOut     `json:"noted,omitempty"` // notes that were made from repeated requests
	// SuccessfulCommands are commands of the project that succeeded in at least three sessions.
	SuccessfulCommands []string `json:"how_run,omitempty"`
}

// openUpdatedArchive opens the archive of sessions and adds new proposals to it. If the archive is read-only, it
// contains only the proposals that were found before.
func openUpdatedArchive(ctx context.Context, w *verb.Workspace) (context.Context, *session.Archive, error) {
	ctx, a, err := w.OpenArchive(ctx)
	if err != nil {
		return ctx, nil, err
	}
	if !a.Memory.Options().ReadOnly {
		_, err = inbox.UpdateProposals(ctx, a)
	}
	if errors.Is(err, oxbow.ErrReadOnly) || errors.Is(err, oxbow.ErrFull) {
		err = nil
	}
	return ctx, a, err
}

// ListProposals lists the proposals for notes that wait for a decision. If in.IncludesDecidedProposals is set, it lists
// all proposals. If in.Project is set, the result also contains the commands that succeeded repeatedly in the project.
//
// If in.ShouldNoteRepeatedRequests is set and the caller is a person, ListProposals stores some waiting proposals as
// notes before it lists the proposals. It stores each proposal that a person requested in at least two sessions.
func ListProposals(ctx context.Context, w *verb.Workspace, in InboxIn) (out InboxOut, err error) {
	out.Proposals = []inbox.StoredProposal{}
	ctx, a, err := openUpdatedArchive(ctx, w)
	if err != nil {
		return out, err
	}
	if in.ShouldNoteRepeatedRequests && verb.IsCallByPerson(w.WithSource(ctx)) {
		open, err := inbox.ListProposals(ctx, a.Memory, inbox.ProposalStateOpen, in.Project)
		if err != nil {
			return out, err
		}
		for _, it := range open {
			if it.Reason != inbox.ReasonRememberRequest || it.SessionCount() < 2 {
				continue
			}
			noted, err := acceptProposal(ctx, w, a, it, "", "")
			if err != nil {
				return out, err
			}
			out.NewNotes = append(out.NewNotes, noted)
		}
	}
	out.Proposals, err = inbox.ListProposals(ctx, a.Memory, "", in.Project)
	if err == nil {
		err = markUndoneProposals(ctx, w, out.Proposals)
	}
	if !in.IncludesDecidedProposals {
		out.Proposals = slices.DeleteFunc(out.Proposals, func(it inbox.StoredProposal) bool {
			return it.State == inbox.ProposalStateAccepted || it.State == inbox.ProposalStateDropped
		})
	}
	if err != nil || in.Project == "" {
		return out, err
	}
	out.SuccessfulCommands, err = inbox.FindRepeatedCommands(ctx, a.Memory, in.Project)
	return out, err
}

// ListFixesIn is the argument of ListFixes, which lists how failed commands were made to pass.
type ListFixesIn struct {
	Error   string `json:"error,omitempty"   flag:"-" usage:"only fixes of this error: a line that a command printed, or a part of one"`
	Project string `json:"project,omitempty"          usage:"only fixes of this PROJECT; auto is the project of the working directory"`
	Limit   int    `json:"limit,omitempty"            usage:"at most N results"                                                         default:"20"`
}

// FixesOut lists fixes, the newest first.
type FixesOut struct {
	Fixes      []inbox.Fix `json:"fixes"`
	TotalFixes int         `json:"of"` // number of all fixed errors that match the arguments, without the limit
	Notes      []verb.Note `json:"notes,omitempty"`
}

// ListFixes lists how errors were fixed in past sessions. If no fix is known, a note explains how fixes are found.
func ListFixes(ctx context.Context, w *verb.Workspace, in ListFixesIn) (FixesOut, error) {
	out := FixesOut{Fixes: []inbox.Fix{}}
	ctx, a, err := openUpdatedArchive(ctx, w)
	if err != nil {
		return out, err
	}
	found, err := inbox.FindFixes(ctx, a.Memory, in.Project, in.Error)
	if err != nil {
		return out, err
	}
	out.TotalFixes = len(found)
	out.Fixes = append(out.Fixes, found[:min(len(found), max(in.Limit, 1))]...)
	if out.TotalFixes > 0 {
		return out, nil
	}
	all, err := inbox.FindFixes(ctx, a.Memory, "", "")
	switch {
	case err != nil:
		return out, err
	case len(all) > 0:
		out.Notes = append(
			out.Notes,
			verb.PlainNote(
				fmt.Sprintf("no fix matches; %d are kept, and the list without arguments shows them", len(all)),
			),
		)
	default:
		out.Notes = append(
			out.Notes,
			verb.PlainNote(
				"no fix is kept: one comes when, in a session that hooks report, a command fails, files change, and "+
					"the same command passes. Codex' hooks report no exit status, so its fixes come when its "+
					"transcript is read, at the end of a turn",
			),
		)
	}
	return out, nil
}

// ProposalIn identifies a proposal.
type ProposalIn struct {
	ID string `json:"id" flag:"-" usage:"id of the proposal, or how it begins"`
}

// ProposalOut is a proposal, with the turns from which it was made.
type ProposalOut struct {
	inbox.StoredProposal
	// whole text that the person wrote in the first turn from which the proposal was made
	Prompt string `json:"prompt,omitempty"`
}

// ShowProposal returns a proposal and the prompt from which it was made.
func ShowProposal(ctx context.Context, w *verb.Workspace, in ProposalIn) (out ProposalOut, err error) {
	ctx, a, err := openUpdatedArchive(ctx, w)
	if err != nil {
		return out, err
	}
	out.StoredProposal, err = findProposal(ctx, w, a, in.ID)
	if err != nil {
		return out, err
	}
	for _, name := range out.SourceTurns {
		e, err := a.Memory.Get(ctx, name)
		if err != nil {
			continue // The turn's session was forgotten, so try the next turn.
		}
		if t, err := session.ParseTurn(e.Content); err == nil {
			out.Prompt = t.Prompt()
			break
		}
	}
	return out, nil
}

func findProposal(
	ctx context.Context,
	w *verb.Workspace,
	a *session.Archive,
	id string,
) (inbox.StoredProposal, error) {
	it, err := inbox.FindProposal(ctx, a.Memory, id)
	if err != nil {
		return it, verb.Advise(err, "oxbow inbox --all lists the ids")
	}
	one := []inbox.StoredProposal{it}
	err = markUndoneProposals(ctx, w, one)
	return one[0], err
}

// AcceptProposalsIn identifies the proposals that become notes.
type AcceptProposalsIn struct {
	IDs      []string `json:"ids"            flag:"-" usage:"ids of proposals, or how they begin"`
	NoteName string   `json:"name,omitempty"          usage:"name of the note; by default its first line"`

	// Content replaces the text of the proposal, unless it is "". It is allowed only for a single proposal.
	Content string `json:"-"`
}

// AcceptProposalsOut contains the new notes, in the order of the IDs in AcceptProposalsIn.
type AcceptProposalsOut struct {
	NewNotes []verb.RememberOut `json:"notes"`
}

// AcceptProposals makes notes from proposals, like the verb remember. It writes the note before marking the proposal.
// A proposal whose note was undone can be accepted again. If a proposal already has a note, the error matches
// [oxbow.ErrExists]. If the caller is not a person, the error matches [oxbow.ErrInvalid].
func AcceptProposals(ctx context.Context, w *verb.Workspace, in AcceptProposalsIn) (AcceptProposalsOut, error) {
	out := AcceptProposalsOut{NewNotes: []verb.RememberOut{}}
	changesNote := in.NoteName != "" || in.Content != ""
	if changesNote && len(in.IDs) != 1 {
		return out, verb.InvalidValue("name", in.NoteName, "is for one proposal alone")
	}
	if err := verb.RequirePerson(w.WithSource(ctx), "accepts a proposal", "oxbow inbox accept ID"); err != nil {
		return out, err
	}
	ctx, a, items, err := findProposals(ctx, w, in.IDs)
	if err != nil {
		return out, err
	}
	for _, it := range items {
		note, err := findAcceptedNoteName(ctx, w, it)
		if err == nil && note != "" {
			err = verb.Advise(
				fmt.Errorf("%s was accepted, as %q: %w", it.ID, note, oxbow.ErrExists),
				"oxbow inbox lists the proposals that wait; nothing was changed",
			)
		}
		if err != nil {
			return out, err
		}
	}
	for _, it := range items {
		note, err := acceptProposal(ctx, w, a, it, in.NoteName, in.Content)
		if err != nil {
			return out, err
		}
		out.NewNotes = append(out.NewNotes, note)
	}
	return out, nil
}

// findProposals returns the proposals with these IDs. It fails if a proposal does not exist.
func findProposals(
	ctx context.Context, w *verb.Workspace,
	ids []string,
) (_ context.Context, a *session.Archive, items []inbox.StoredProposal, err error) {
	ctx, a, err = openUpdatedArchive(ctx, w)
	if err != nil {
		return ctx, nil, nil, err
	}
	for _, id := range ids {
		it, err := findProposal(ctx, w, a, id)
		if err != nil {
			return ctx, nil, nil, err
		}
		if !slices.ContainsFunc(items, func(o inbox.StoredProposal) bool { return o.ID == it.ID }) {
			items = append(items, it)
		}
	}
	return ctx, a, items, nil
}

func acceptProposal(
	ctx context.Context, w *verb.Workspace,
	a *session.Archive,
	it inbox.StoredProposal,
	name, content string,
) (verb.RememberOut, error) {
	if content == "" {
		content = it.NoteText()
	}
	in := verb.RememberIn{Name: name, Content: content, Project: it.Project, RelatedFiles: it.Files,
		FromTurns: it.SourceTurns[:min(len(it.SourceTurns), 4)]}
	if it.Reason == inbox.ReasonAgentCorrection {
		in.Tags = []string{inbox.ReasonAgentCorrection}
	}
	out, err := verb.Remember(ctx, w, in)
	if err != nil {
		return out, fmt.Errorf("accepting %s: %w", it.ID, err)
	}
	return out, inbox.SetProposalState(ctx, a.Memory, it.ID, inbox.ProposalStateAccepted, out.Name)
}

// findAcceptedNoteName returns the name of the entry that was made from a proposal, or "" if this entry does not exist
// now.
func findAcceptedNoteName(ctx context.Context, w *verb.Workspace, it inbox.StoredProposal) (string, error) {
	if it.State != inbox.ProposalStateAccepted || it.NoteName == "" {
		return "", nil
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Read)
	if err != nil {
		return "", err
	}
	e, err := m.Get(ctx, it.NoteName)
	if errors.Is(err, oxbow.ErrNotFound) {
		return "", nil
	}
	return e.Name, err
}

// markUndoneProposals sets the state of each accepted proposal whose note was undone to [inbox.ProposalStateUndone]. If
// the note was forgotten or moved to a team, the proposal stays accepted.
func markUndoneProposals(ctx context.Context, w *verb.Workspace, items []inbox.StoredProposal) error {
	accepted := func(it inbox.StoredProposal) bool {
		return it.State == inbox.ProposalStateAccepted && it.NoteName != ""
	}
	if !slices.ContainsFunc(items, accepted) {
		return nil
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Read)
	if err != nil {
		return err
	}
	// for each change that removed the note of an accepted proposal: indexes of the proposals in items
	removed := map[uint64][]int{}
	for i, it := range items {
		if accepted(it) {
			if seq := findRemovalSeq(ctx, m, it.NoteName); seq > 0 {
				removed[seq] = append(removed[seq], i)
			}
		}
	}
	if len(removed) == 0 {
		return nil
	}
	for c, err := range m.Log(ctx) {
		if err != nil {
			return err
		}
		for _, i := range removed[c.Seq] {
			if len(c.Reverts) > 0 {
				items[i].State = inbox.ProposalStateUndone
			}
		}
		delete(removed, c.Seq)
		if len(removed) == 0 {
			break
		}
	}
	return nil
}

// findRemovalSeq returns the number of the change that removed the entry with this name. It returns 0 if the entry
// exists or the change is not known.
func findRemovalSeq(ctx context.Context, m *oxbow.Memory, name string) uint64 {
	if _, err := m.Get(ctx, name); err == nil {
		return 0
	}
	for v, err := range m.Versions(ctx, name) {
		if err == nil && v.Verb == oxbow.VerbRemove {
			return v.Seq
		}
		break
	}
	return 0
}

// DropProposalsIn identifies the proposals to drop.
type DropProposalsIn struct {
	IDs []string `json:"ids" flag:"-" usage:"ids of proposals, or how they begin"`
}

// DropProposals marks proposals as dropped, so that they are not made again. If the caller is not a person, the error
// matches [oxbow.ErrInvalid].
func DropProposals(ctx context.Context, w *verb.Workspace, in DropProposalsIn) (InboxOut, error) {
	out := InboxOut{Proposals: []inbox.StoredProposal{}}
	if err := verb.RequirePerson(w.WithSource(ctx), "rejects a proposal", "oxbow inbox drop ID"); err != nil {
		return out, err
	}
	ctx, a, items, err := findProposals(ctx, w, in.IDs)
	if err != nil {
		return out, err
	}
	for _, it := range items {
		note, err := findAcceptedNoteName(ctx, w, it)
		if err == nil && note != "" {
			err = verb.Advise(
				verb.Invalidf("%s was accepted, as %q", it.ID, note),
				"oxbow forget "+text.QuoteShellOperand(note)+" takes that entry away; nothing was dropped",
			)
		}
		if err != nil {
			return out, err
		}
	}
	for _, it := range items {
		if err := inbox.SetProposalState(ctx, a.Memory, it.ID, inbox.ProposalStateDropped, ""); err != nil {
			return out, err
		}
		it.State = inbox.ProposalStateDropped
		out.Proposals = append(out.Proposals, it)
	}
	return out, nil
}

// ReopenProposals opens dropped proposals again, so that they wait in the inbox for a decision. If the caller is not a
// person, the error matches [oxbow.ErrInvalid].
func ReopenProposals(ctx context.Context, w *verb.Workspace, in DropProposalsIn) (InboxOut, error) {
	out := InboxOut{Proposals: []inbox.StoredProposal{}}
	if err := verb.RequirePerson(w.WithSource(ctx), "brings a proposal back", "oxbow inbox"); err != nil {
		return out, err
	}
	ctx, a, items, err := findProposals(ctx, w, in.IDs)
	if err != nil {
		return out, err
	}
	for _, it := range items {
		if it.State != inbox.ProposalStateDropped {
			continue
		}
		if err := inbox.SetProposalState(ctx, a.Memory, it.ID, inbox.ProposalStateOpen, ""); err != nil {
			return out, err
		}
		it.State = inbox.ProposalStateOpen
		out.Proposals = append(out.Proposals, it)
	}
	return out, nil
}

// Report lists the new notes, the proposals, and the commands of the project.
func (o InboxOut) Report() (r report.Report) {
	for _, n := range o.NewNotes {
		r.Append(n.Report())
	}
	for _, it := range o.Proposals {
		r.Add(proposalRecord(it))
	}
	if len(o.SuccessfulCommands) > 0 {
		r.AddLinef("how it is run:")
		for _, command := range o.SuccessfulCommands {
			r.Add(report.Line{Sentence: report.Sentencef("%s", command), Indent: 2})
		}
	}
	if len(o.Proposals) == 0 {
		r.AddNotef("no proposal waits; oxbow makes one when you tell an agent to remember something, if oxbow setup " +
			"connected the agent")
	}
	return r
}

// proposalRecord returns a proposal in the form in which reports print it.
func proposalRecord(it inbox.StoredProposal) report.Record {
	r := report.Record{Key: it.ID, Cells: []report.Cell{{Value: it.FirstWrittenTime}, {Value: it.Project}},
		TextCellsBelow: []report.Cell{{Value: it.Sentence}}}
	if it.State != inbox.ProposalStateOpen {
		r.Cells = append(r.Cells, report.Cell{Value: it.State})
	}
	if n := it.SessionCount(); n > 1 {
		r.Cells = append(r.Cells, report.Cell{Value: report.Sentencef("in %d sessions", n)})
	}
	if it.Reason == inbox.ReasonAgentCorrection {
		r.Cells = append(r.Cells, report.Cell{Name: "on", Value: strings.Join(it.Files, ", ")})
	}
	return r
}

// Report shows the proposal and the turns that contain it. It also shows o.Prompt, the whole message of the person, if
// the message contains more than the sentence that is proposed.
func (o ProposalOut) Report() (r report.Report) {
	r.Add(proposalRecord(o.StoredProposal))
	for _, f := range o.SourceTurns {
		r.Add(report.Line{Sentence: report.Sentencef("said in %s", f), Indent: 2})
	}
	if o.Prompt != "" && o.Prompt != o.Sentence {
		r.Add(report.Line{Sentence: report.Sentencef("%s", report.Quote(o.Prompt)), Indent: 2})
	}
	return r
}
