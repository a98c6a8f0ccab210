// This file implements the verbs Held and Approve: the entries that are held back from models, and
// their approval by a person.

package labels

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/label"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
)

// HeldIn is the argument of Held.
type HeldIn struct{}

// HeldOut lists the entries that are held back, that is, shown to a model only on
// request.
type HeldOut struct {
	Entries []HeldEntry `json:"entries"` // newest first, without the entries of groups
	Groups  []HeldGroup `json:"groups"`  // newest first
}

// HeldEntry is an entry that is held back, with the reasons.
type HeldEntry struct {
	Name    string   `json:"name"`
	Version uint64   `json:"version"`
	Trust   string   `json:"trust"`
	Read    []string `json:"read,omitempty"`    // sources of the foreign words in the entry
	Unknown []string `json:"unknown,omitempty"` // reasons why nobody vouches for the entry
	Shaped  []string `json:"shaped,omitempty"`  // rules for texts that look like instructions
	Created string   `json:"created"`
	Session string   `json:"session,omitempty"` // the client's session that wrote the text, as CLIENT/SESSION
	From    string   `json:"from,omitempty"`    // file, directory or server that an import read
	Aliases []string `json:"aliases,omitempty"`
	Labels  []string `json:"labels,omitempty"` // without the labels that hold the entry back
	Content string   `json:"content"`
}

// HeldGroup is the set of entries that a single import, pull or load added and that are held back
// only for that reason. It is approved as a whole.
type HeldGroup struct {
	ID      string   `json:"id"`                // for [ApproveIn.Group]
	From    string   `json:"from,omitempty"`    // file, directory or server
	Session string   `json:"session,omitempty"` // run of the program that imported them, for revert
	Time    string   `json:"time"`
	Count   int      `json:"count"`
	Names   []string `json:"names"` // names of at most groupNames entries
}

// groupNames is the number of names in a [HeldGroup].
const groupNames = 5

var (
	heldFilter     = oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: oxbow.Unasked.HeldLabels()}}}
	importedFilter = oxbow.Filter{
		Terms: []oxbow.Term{
			{Key: "by", Values: []string{string(oxbow.Imported)}},
			{Key: "has", Values: oxbow.Unasked.HeldLabels(), Not: true},
		},
	}
)

// HeldEntries yields the entries that are held back. It also finds imports by earlier versions of
// oxbow, which did not label entries.
func HeldEntries(ctx context.Context, m *oxbow.Memory) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		for _, f := range []oxbow.Filter{heldFilter, importedFilter} {
			for e, err := range m.Entries(ctx, f) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// ApprovalGroup returns the identifier of the group that an entry is approved with, or "" if the entry is
// held back for another reason.
func ApprovalGroup(ctx context.Context, m *oxbow.Memory, e *oxbow.Entry) string {
	if !isInGroup(e) {
		return ""
	}
	return groupID(textSource(ctx, m, e))
}

// isInGroup reports whether an entry is held back only because it was imported.
func isInGroup(e *oxbow.Entry) bool { return e.WhyHeld(oxbow.UnaskedByLabels) == oxbow.HeldAsImported }

// groupID returns the identifier of the group of texts with this source.
func groupID(s oxbow.Source) string {
	sum := sha256.Sum256([]byte(s.Session + "\x00" + s.Ref))
	if s.Session != "" {
		sum = sha256.Sum256([]byte(s.Session))
	}
	return hex.EncodeToString(sum[:4])
}

// textSource returns the source of the change that wrote the text of an entry. Later changes of
// labels and names do not count, and neither does undoing that the entry was forgotten. If the history
// does not contain that change, textSource returns the oldest source of this text that the history has.
func textSource(ctx context.Context, m *oxbow.Memory, e *oxbow.Entry) oxbow.Source {
	source := e.Source
	if source.Actor == oxbow.Imported {
		return source // without reading the history, because a memory can have 100,000 such entries
	}
	for v, err := range m.Versions(ctx, e.Name) {
		isOtherEntry := v.Entry.ID != e.ID
		if err != nil || isOtherEntry {
			break
		}
		if v.Verb == oxbow.VerbRemove {
			continue
		}
		if v.Entry.Content != e.Content {
			break
		}
		source = v.Source
	}
	return source
}

// Held lists the entries that are shown to a model only on request until a person approves
// them.
func Held(ctx context.Context, w *verb.Workspace, _ HeldIn) (HeldOut, error) {
	out := HeldOut{Entries: []HeldEntry{}, Groups: []HeldGroup{}}
	ctx, m, err := w.Memory(ctx, verb.Own)
	if err != nil {
		return out, err
	}
	groups := map[string]*HeldGroup{}
	for e, err := range HeldEntries(ctx, m) {
		if err != nil {
			return out, err
		}
		source := textSource(ctx, m, &e)
		if isInGroup(&e) {
			id := groupID(source)
			g := groups[id]
			if g == nil {
				g = &HeldGroup{ID: id, From: importOrigin(source), Session: source.Session}
				groups[id] = g
			}
			g.add(e.Name, source)
			continue
		}
		verb.Withhold(ctx, &e)
		held := HeldEntry{
			Name: e.Name, Version: e.Version, Trust: string(e.Trust()), Read: e.Values(oxbow.LabelTaint),
			Unknown: e.Values(oxbow.LabelUnvouched),
			Shaped:  append(e.Values(oxbow.LabelSuspect), e.Values(oxbow.LabelQuarantine)...),
			Created: verb.Timestamp(e.Created), Aliases: e.Aliases, Labels: verb.LabelTexts(withoutHeld(e.Labels)),
			Content: e.Content, Session: session.SourceSession(source),
		}
		if source.Actor == oxbow.Imported {
			held.From = importOrigin(source)
		}
		out.Entries = append(out.Entries, held)
	}
	for _, g := range groups {
		out.Groups = append(out.Groups, *g)
	}
	slices.SortStableFunc(out.Entries, func(a, b HeldEntry) int { return strings.Compare(b.Created, a.Created) })
	slices.SortFunc(out.Groups, func(a, b HeldGroup) int {
		return cmp.Or(strings.Compare(b.Time, a.Time), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// NamesText returns the first names of the group, and how many more it has.
func (g *HeldGroup) NamesText() string {
	s := strings.Join(g.Names, "; ")
	if more := g.Count - len(g.Names); more > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s
}

// add counts an entry in the group. From becomes the common part of the origins.
func (g *HeldGroup) add(name string, source oxbow.Source) {
	g.Count++
	if len(g.Names) < groupNames {
		g.Names = append(g.Names, name)
	}
	origin := importOrigin(source)
	for g.From != origin && !strings.HasPrefix(origin, g.From+"/") && g.From != "" {
		up := path.Dir(g.From)
		if up == g.From || up == "." {
			up = ""
		}
		g.From = up
	}
	g.Time = max(g.Time, verb.Timestamp(source.Time))
}

// importOrigin returns the file, directory or server of an imported text.
func importOrigin(s oxbow.Source) string {
	_, origin := s.SplitRef()
	return origin
}

// withoutHeld returns the labels without those that hold an entry back.
func withoutHeld(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(ls), func(l oxbow.Label) bool {
		return slices.Contains(oxbow.Unasked.HeldLabels(), l.Key)
	})
}

// ApproveIn is the argument of Approve: names, or a group.
type ApproveIn struct {
	Names  []string `json:"names,omitempty"   flag:"-" usage:"names of entries that are held back"`
	Group  string   `json:"group,omitempty"            usage:"approve all entries of an import, pull or load, by the ID that oxbow approve lists" value:"ID"`
	DryRun bool     `json:"dry_run,omitempty"          usage:"show what would be changed and change nothing"`
}

// Approve lets entries be shown to models that have not asked for them. In a single change it
// removes the labels that hold the entries back and adds [oxbow.LabelApproved]. If the caller is
// not a person, the error matches [oxbow.ErrInvalid].
func Approve(ctx context.Context, w *verb.Workspace, in ApproveIn) (RelabelOut, error) {
	ctx, m, err := w.Memory(ctx, verb.Write.Unless(in.DryRun))
	if err != nil {
		return RelabelOut{}, err
	}
	if err := verb.PersonOnly(ctx, "approves what is held back", "oxbow approve"); err != nil {
		return RelabelOut{}, err
	}
	names := in.Names
	if in.Group != "" {
		ofGroup, err := namesOfGroup(ctx, m, in.Group)
		if err != nil {
			return RelabelOut{}, err
		}
		names = append(slices.Clone(names), ofGroup...)
	}
	for _, name := range in.Names {
		e, err := m.Get(ctx, name)
		if err != nil {
			return RelabelOut{}, verb.Advise(err, "oxbow approve lists what is held back")
		}
		if e.MayShow(oxbow.AtStart) {
			return RelabelOut{}, verb.Advise(
				fmt.Errorf("%w: %q is not held back", oxbow.ErrInvalid, e.Name),
				"oxbow approve lists what is",
			)
		}
	}
	if len(names) == 0 {
		return RelabelOut{}, verb.Advise(verb.Invalidf("no entry is named"), "oxbow approve lists what is held back")
	}
	return relabel(
		ctx,
		w,
		label.SetLabels(label.Selection{Names: names}, "approve", func(ls []oxbow.Label) []oxbow.Label {
			return append(withoutHeld(ls), provenance.ApprovedByPerson)
		}),
		in.DryRun,
	)
}

// namesOfGroup returns the names of a group's entries. If the group is empty, the error matches
// [oxbow.ErrNotFound].
func namesOfGroup(ctx context.Context, m *oxbow.Memory, group string) (names []string, err error) {
	for e, err := range HeldEntries(ctx, m) {
		if err != nil {
			return nil, err
		}
		if ApprovalGroup(ctx, m, &e) == group {
			names = append(names, e.Name)
		}
	}
	if names == nil {
		return nil, verb.Advise(
			fmt.Errorf("%w: no group %q is held back", oxbow.ErrNotFound, group),
			"oxbow approve lists what is",
		)
	}
	return names, nil
}

// Report lists the entries and the imports that are held back, with the reasons.
func (o HeldOut) Report() (r report.Report) {
	for _, e := range o.Entries {
		held := report.Record{Key: report.Name(e.Name), Cells: []report.Cell{{Value: e.Trust},
			{Name: "words of", Value: strings.Join(e.Read, "; ")},
			{Name: "not vouched for:", Value: strings.Join(e.Unknown, ", ")},
			{Name: "shaped like instructions:", Value: strings.Join(e.Shaped, ", ")}}}
		for _, s := range slices.Concat(e.Aliases, e.Labels) {
			held.Lines = append(held.Lines, report.Cell{Value: s})
		}
		held.Lines = append(held.Lines, report.Cell{Value: report.Quote(e.Content)})
		r.Add(held)
	}
	for _, g := range o.Groups {
		count := text.Count(g.Count, "entry", "entries")
		from := report.Sentencef("%s imported", report.Words(count))
		if g.From != "" {
			from = report.Sentencef("%s imported from %s", report.Words(count), g.From)
		}
		r.Add(report.Record{Key: g.ID, Cells: []report.Cell{{Value: from}, {Value: report.Moment(g.Time)}},
			Lines: []report.Cell{{Value: report.Quote(g.NamesText())}}})
	}
	if len(o.Groups) > 0 {
		r.Notef("to approve all that an import brought: oxbow approve --group %s", o.Groups[0].ID)
	}
	switch {
	case len(o.Entries) > 0:
		r.Notef("oxbow approve NAME lets one be shown; oxbow forget NAME removes it")
	case len(o.Groups) == 0:
		r.Notef("nothing is held back")
	}
	return r
}
