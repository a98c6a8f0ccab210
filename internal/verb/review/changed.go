// This file implements the verbs (operations of oxbow) for entries whose text a person wrote and an agent changed. One
// verb lists the changes by agents. The other verbs keep such a change or restore the person's text.

package review

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/agentedit"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
)

// These are the values of [ChangedEntry.AgentEditKind]. They say what agents did to an entry with a text by a person.
const (
	EditKindTextChanged = "changed"
	EditKindForgotten   = "forgotten"
	EditKindRenamed     = "renamed"
	EditKindRelabelled  = "relabelled"
)

// ListAgentChangesIn is the argument of ListAgentChanges.
type ListAgentChangesIn struct {
	Name   string `json:"name,omitempty"   usage:"only the entry of this NAME"              value:"NAME"`
	Limit  *int   `json:"limit,omitempty"  usage:"maximum number of entries, 20 by default"`
	Offset *int   `json:"offset,omitempty" usage:"skip the first N entries"`
}

// ListAgentChangesOut lists entries whose text a person wrote and an agent changed.
type ListAgentChangesOut struct {
	Total   int            `json:"total"`
	Entries []ChangedEntry `json:"entries"` // the entries, the most recently changed first
	HasMore bool           `json:"more,omitempty"`
	Notes   []verb.Note    `json:"notes,omitempty"`
}

// ChangedEntry is an entry whose text a person wrote and an agent changed.
type ChangedEntry struct {
	Name          string `json:"name"`
	AgentEditKind string `json:"what"`           // one of changed, forgotten, renamed and relabelled
	NewName       string `json:"now,omitempty"`  // present name of a renamed entry
	RestoreSeq    uint64 `json:"back_to"`        // number of the change to whose state the entry can be restored
	PersonText    string `json:"before"`         // text as the person wrote it
	CurrentText   string `json:"after"`          // present text ("" if the entry was forgotten)
	EntryKind     string `json:"kind,omitempty"` // kind of the entry

	// LabelsAdded and LabelsRemoved contain only labels that put an entry into every prompt (see protectionLabels).
	LabelsAdded    []string `json:"labels_added,omitempty"`
	LabelsRemoved  []string `json:"labels_removed,omitempty"`
	AliasesRemoved []string `json:"aliases_removed,omitempty"`

	WrittenTime   string      `json:"written"`           // time when the person wrote the text (RFC 3339)
	AgentEditTime string      `json:"time"`              // time of the last change by an agent (RFC 3339)
	Seq           uint64      `json:"seq"`               // number of the last change by an agent
	Source        verb.Source `json:"source"`            // author of the last change by an agent
	Session       string      `json:"session,omitempty"` // session in which this change was made, as CLIENT/SESSION
	// number of the changes by agents since the person wrote the text
	AgentChangeCount int `json:"changes"`
}

// ListAgentChanges lists the entries of a person that an agent has changed. In such an entry, a person wrote the text,
// and an agent then changed the text, forgot the entry, or removed a protecting label (a label that puts the entry into
// every prompt). An entry is listed until the person keeps the agent's change or restores the text.
func ListAgentChanges(ctx context.Context, w *verb.Workspace, in ListAgentChangesIn) (ListAgentChangesOut, error) {
	out := ListAgentChangesOut{Entries: []ChangedEntry{}}
	limit, notes, err := verb.ResolveLimit(in.Limit, verb.DefaultListLimit)
	if err != nil {
		return out, err
	}
	offset, _, err := w.PageBounds(in.Offset, nil)
	if err != nil {
		return out, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return out, err
	}
	out.Notes = notes
	edits, err := agentEdits(ctx, m, in.Name)
	if err != nil {
		return out, err
	}
	out.Total = len(edits)
	edits = edits[min(offset, len(edits)):]
	out.HasMore = len(edits) > limit
	if out.HasMore {
		edits = edits[:limit]
	}
	past := verb.NewPastTextFilter(m)
	for i := range edits {
		out.Entries = append(out.Entries, describeChangedEntry(ctx, past, &edits[i]))
	}
	return out, nil
}

// maxListedEdits is the maximum number of edited entries that agentEdits examines. The remaining entries are listed
// after the person has kept or restored some of these entries.
const maxListedEdits = 2000

// agentEdits returns the agents' edits of persons' texts that no person has reviewed yet, the most recent first. There
// is one edit for each entry. If name is not "", agentEdits returns only the edit of the entry with this name. It
// returns at most maxListedEdits edits.
func agentEdits(ctx context.Context, m *oxbow.Memory, name string) ([]agentedit.AgentEdit, error) {
	names := []string{name}
	var err error
	if name == "" {
		names, err = agentedit.FindEditedNames(ctx, m)
	} else {
		err = oxbow.CheckName(name)
	}
	if err != nil {
		return nil, err
	}
	var edits []agentedit.AgentEdit
	for _, name := range names[:min(len(names), maxListedEdits)] {
		e, isOpen, err := agentedit.DescribeEdit(ctx, m, name)
		if err != nil {
			return nil, err
		}
		if isOpen {
			edits = append(edits, e)
		}
	}
	slices.SortStableFunc(
		edits,
		func(a, b agentedit.AgentEdit) int {
			return int(int64(b.LastAgentVersion.Seq) - int64(a.LastAgentVersion.Seq))
		},
	)
	return edits, nil
}

// describeChangedEntry describes an edit by agents of an entry that a person wrote. The result contains the text that
// the person wrote, the present text, and the aliases that the edit removed. It also contains the protected labels that
// the edit added or removed. A protected label puts an entry into every prompt. A text that the caller may not see is
// withheld.
func describeChangedEntry(
	ctx context.Context,
	pastTextFilter verb.PastTextFilter,
	e *agentedit.AgentEdit,
) ChangedEntry {
	own := e.PersonVersion.Entry
	pastTextFilter.WithholdText(ctx, &own)
	c := ChangedEntry{
		Name:          e.Name,
		AgentEditKind: EditKindForgotten,
		NewName:       e.NewName,
		RestoreSeq:    e.RestoreSeq,
		PersonText:    own.Content,
		EntryKind:     own.Kind.String(),
		WrittenTime: verb.FormatTimestamp(
			e.PersonVersion.Source.Time,
		),
		AgentEditTime:    verb.FormatTimestamp(e.LastAgentVersion.Source.Time),
		Seq:              e.LastAgentVersion.Seq,
		Source:           verb.MakeSource(e.LastAgentVersion.Source),
		Session:          session.SessionOfSource(e.LastAgentVersion.Source),
		AgentChangeCount: e.AgentChangeCount,
	}
	switch {
	case e.CurrentEntry != nil:
		now := e.CurrentEntry.Clone()
		pastTextFilter.WithholdText(ctx, &now)
		c.CurrentText, c.AgentEditKind = now.Content, EditKindTextChanged
		if e.CurrentEntry.Content == e.PersonVersion.Entry.Content {
			c.AgentEditKind = EditKindRelabelled
		}
		c.LabelsRemoved = verb.LabelTexts(removeKnownElements(protectionLabels(now.Labels), e.Labels))
		c.LabelsAdded = verb.LabelTexts(removeKnownElements(e.Labels, protectionLabels(now.Labels)))
		c.AliasesRemoved = removeKnownElements(now.Aliases, own.Aliases)
	case e.NewName != "":
		c.AgentEditKind = EditKindRenamed
	}
	return c
}

// protectionLabels returns the labels in ls that put an entry into every prompt (see [agentedit.EveryPromptLabelKeys]).
func protectionLabels(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(ls), func(l oxbow.Label) bool {
		return !slices.Contains(agentedit.EveryPromptLabelKeys, l.Key)
	})
}

// removeKnownElements returns the elements of the list all that are not in the list knownElements.
func removeKnownElements[T comparable](knownElements, all []T) []T {
	return slices.DeleteFunc(slices.Clone(all), func(t T) bool { return slices.Contains(knownElements, t) })
}

// DecideAgentChangesIn is the argument of KeepAgentChanges and RestorePersonTexts.
type DecideAgentChangesIn struct {
	Names             []string `json:"names,omitempty"   flag:"-" usage:"names of entries that agents changed"`
	AllChangedEntries bool     `json:"all,omitempty"              usage:"all entries that agents changed"`
	DryRun            bool     `json:"dry_run,omitempty"          usage:"show what would be done and change nothing"`
}

// DecideAgentChangesOut is the result of KeepAgentChanges and RestorePersonTexts.
type DecideAgentChangesOut struct {
	DryRun     bool           `json:"dry_run,omitempty"`
	ChangeSeqs []uint64       `json:"seqs,omitempty"` // numbers of the changes that this call made, oldest first
	Entries    []ChangedEntry `json:"entries"`        // entries as they were before the changes in ChangeSeqs
	Notes      []verb.Note    `json:"notes,omitempty"`
}

// KeptChangesReport says which changes by agents the person has kept.
func (o DecideAgentChangesOut) KeptChangesReport() report.Report {
	return o.makeReport(report.EffectVerb(o.DryRun, "kept", "would keep"))
}

// RestoredReport says which entries have the person's text again.
func (o DecideAgentChangesOut) RestoredReport() report.Report {
	return o.makeReport(report.EffectVerb(o.DryRun, "restored", "would restore"))
}

func (o DecideAgentChangesOut) makeReport(effectVerb report.OxbowText) (r report.Report) {
	for _, e := range o.Entries {
		r.AddLinef("%s %s", effectVerb, report.EntryName(e.Name))
	}
	if len(o.Entries) == 0 {
		r.AddNotef("agents changed none of your notes")
	}
	report.AddNotes(&r, o.Notes)
	return r
}

// KeepAgentChanges records that the person keeps the changes by agents to the given entries. [ListAgentChanges] then
// does not return an entry until an agent changes it again. If the caller is not a person, the error matches
// [oxbow.ErrInvalid].
func KeepAgentChanges(ctx context.Context, w *verb.Workspace, in DecideAgentChangesIn) (DecideAgentChangesOut, error) {
	return decideAgentChanges(ctx, w, in, "keeps what agents made of a person's text", acceptAgentEdits)
}

// RestorePersonTexts restores the texts of entries that a person wrote and agents changed. If the caller is not a
// person, the error matches [oxbow.ErrInvalid].
func RestorePersonTexts(
	ctx context.Context,
	w *verb.Workspace,
	in DecideAgentChangesIn,
) (DecideAgentChangesOut, error) {
	return decideAgentChanges(ctx, w, in, "restores a text that agents changed in this way", restoreEdits)
}

func decideAgentChanges(
	ctx context.Context,
	w *verb.Workspace,
	in DecideAgentChangesIn,
	action string,
	decide func(context.Context, *oxbow.Memory, []agentedit.AgentEdit) ([]uint64, error),
) (DecideAgentChangesOut, error) {
	out := DecideAgentChangesOut{DryRun: in.DryRun, Entries: []ChangedEntry{}}
	ctx, m, err := w.OpenMemory(ctx, verb.Write.UnlessDryRun(in.DryRun))
	if err != nil {
		return out, err
	}
	if err := verb.RequirePerson(ctx, action, "oxbow changed"); err != nil {
		return out, err
	}
	if len(in.Names) == 0 && !in.AllChangedEntries {
		return out, verb.Advise(verb.Invalidf("no entry is named"), "oxbow changed lists what agents changed")
	}
	edits, err := findNamedEdits(ctx, m, in)
	if err != nil {
		return out, err
	}
	past := verb.NewPastTextFilter(m)
	for i := range edits {
		out.Entries = append(out.Entries, describeChangedEntry(ctx, past, &edits[i]))
	}
	if !in.DryRun {
		out.ChangeSeqs, err = decide(ctx, m, edits)
		if err != nil {
			return out, err
		}
	}
	switch {
	case in.DryRun:
		out.Notes = []verb.Note{
			verb.Notef("dry run: nothing was changed; call again without %s to do it", verb.ParamRef("dry_run")),
		}
	case len(out.ChangeSeqs) > 0:
		undo := &verb.CallHint{Verb: "undo", Args: []verb.HintArgument{{Name: "seq", Value: out.ChangeSeqs}}}
		out.Notes = []verb.Note{verb.Notef("to take this back: %s", undo)}
	}
	return out, nil
}

// findNamedEdits returns the agents' edits of the entries in in.Names, each entry once. If in.AllChangedEntries is set,
// it returns all edits by agents. It returns an error if agents have not changed a named entry.
func findNamedEdits(
	ctx context.Context,
	m *oxbow.Memory,
	in DecideAgentChangesIn,
) (edits []agentedit.AgentEdit, err error) {
	if in.AllChangedEntries {
		return agentEdits(ctx, m, "")
	}
	for i, name := range in.Names {
		if slices.Contains(in.Names[:i], name) {
			continue
		}
		if err := oxbow.CheckName(name); err != nil {
			return nil, err
		}
		e, isOpen, err := agentedit.DescribeEdit(ctx, m, name)
		if err != nil {
			return nil, err
		}
		if !isOpen {
			return nil, verb.Advise(
				fmt.Errorf("%w: agents did not change %q since a person wrote or kept it", oxbow.ErrNotFound, name),
				"oxbow changed lists what agents changed",
			)
		}
		edits = append(edits, e)
	}
	return edits, nil
}

// acceptAgentEdits writes the present text of each entry again, so that the person becomes the author of the present
// version. If an agent has forgotten an entry, acceptAgentEdits adds the person's last version again and then removes
// the entry, so that the person becomes the author of the removal. All ops are one change. acceptAgentEdits returns the
// number of this change, or nil without edits.
func acceptAgentEdits(ctx context.Context, m *oxbow.Memory, edits []agentedit.AgentEdit) ([]uint64, error) {
	var ops []oxbow.Op
	for _, e := range edits {
		if e.CurrentEntry != nil {
			ops = append(
				ops,
				oxbow.Update{Name: e.Name, Content: e.CurrentEntry.Content, Aliases: e.CurrentEntry.Aliases,
					Labels: provenance.WithApproval(e.CurrentEntry.Labels), If: e.CurrentEntry.Version},
			)
			continue
		}
		own := e.PersonVersion.Entry
		ops = append(
			ops,
			oxbow.Add{Name: e.Name, Kind: own.Kind, Content: own.Content, Labels: own.Labels, Created: own.Created},
			oxbow.Remove{Name: e.Name},
		)
	}
	if len(ops) == 0 {
		return nil, nil
	}
	if err := m.Apply(oxbow.WithNote(ctx, "kept what agents made of it"), ops...); err != nil {
		return nil, err
	}
	seq, err := newestChangeSeq(ctx, m, edits[0].Name)
	return []uint64{seq}, err
}

// restoreEdits restores the person's text of each entry, in a separate change.
func restoreEdits(ctx context.Context, m *oxbow.Memory, edits []agentedit.AgentEdit) (seqs []uint64, err error) {
	ctx = oxbow.WithNote(ctx, "brought back from what agents made of it")
	for i := range edits {
		seq, err := restorePersonText(ctx, m, &edits[i])
		if err != nil {
			return seqs, verb.WrapError(fmt.Sprintf("restoring %q", edits[i].Name), err)
		}
		seqs = append(seqs, seq)
	}
	return seqs, nil
}

// restorePersonText restores an entry as the person wrote it last, and returns the number of the new change. It also
// restores an entry that no longer exists. If the person changed labels after the agents' last edit (e.Relabelled), the
// entry keeps its present labels, and only the text and the aliases are restored.
func restorePersonText(ctx context.Context, m *oxbow.Memory, e *agentedit.AgentEdit) (uint64, error) {
	switch {
	case e.CurrentEntry == nil:
		return m.RestoreIf(ctx, e.Name, e.RestoreSeq, 0)
	case !e.Relabelled:
		return m.RestoreIf(ctx, e.Name, e.RestoreSeq, e.CurrentEntry.Version)
	}
	own := e.PersonVersion.Entry
	if err := m.Apply(
		ctx,
		oxbow.Update{Name: e.Name, Content: own.Content, Aliases: own.Aliases,
			Labels: provenance.WithApproval(e.CurrentEntry.Labels), If: e.CurrentEntry.Version},
	); err != nil {
		return 0, err
	}
	return newestChangeSeq(ctx, m, e.Name)
}

// newestChangeSeq returns the number of the last change to an entry.
func newestChangeSeq(ctx context.Context, m *oxbow.Memory, name string) (uint64, error) {
	for v, err := range m.Versions(ctx, name) {
		return v.Seq, err
	}
	return 0, nil
}
