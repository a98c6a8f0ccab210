// This file implements the verb ApproveEntries, with which a person approves entries that are held back from models.

package labels

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/label"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
	"github.com/oxbow-memory/oxbow/query"
)

// ApproveEntriesIn is the argument of ApproveEntries. It specifies the entries by name or by group. A filter can select
// a part of the group.
type ApproveEntriesIn struct {
	EntryNames []string `json:"names,omitempty"   flag:"-" usage:"names of entries that are held back"`
	Group      string   `json:"group,omitempty"            usage:"approve all entries of an import, pull or load, by the ID that oxbow approve lists"   value:"ID"`
	Filter     string   `json:"filter,omitempty"           usage:"approve only the entries of the group that this FILTER selects, such as project:NAME"`
	DryRun     bool     `json:"dry_run,omitempty"          usage:"show what would be changed and change nothing"`

	// ShownVersions contains, by the entries' names, the versions whose texts the person has seen. If it is not nil,
	// and an entry now has another version, nothing is approved and the error matches [oxbow.ErrConflict].
	ShownVersions map[string]uint64 `json:"-" flag:"-"`
}

// ApproveEntries approves entries that are held back, so that they are also shown to models that have not asked for
// them. In a single change, it removes the labels because of which the entries are held back, and adds
// [oxbow.LabelApproved]. If the caller is not a person, the error matches [oxbow.ErrInvalid].
func ApproveEntries(ctx context.Context, w *verb.Workspace, in ApproveEntriesIn) (RelabelOut, error) {
	ctx, m, err := w.OpenMemory(ctx, verb.Write.UnlessDryRun(in.DryRun))
	if err != nil {
		return RelabelOut{}, err
	}
	if err := verb.RequirePerson(ctx, "approves what is held back", "oxbow approve"); err != nil {
		return RelabelOut{}, err
	}
	names := in.EntryNames
	if in.Filter != "" && in.Group == "" {
		return RelabelOut{}, verb.Advise(
			verb.Invalidf("a filter selects entries of a group, and no group is named"),
			"oxbow approve lists the groups",
		)
	}
	if in.Group != "" {
		f, err := query.ParseFilter(in.Filter, w.CurrentTime())
		if err != nil {
			return RelabelOut{}, err
		}
		ofGroup, err := findGroupEntryNames(ctx, m, in.Group, f)
		if err != nil {
			return RelabelOut{}, err
		}
		names = append(slices.Clone(names), ofGroup...)
	}
	for _, name := range in.EntryNames {
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
	plan := label.PlanLabelUpdates(label.Selection{Names: names}, "approve", func(ls []oxbow.Label) []oxbow.Label {
		return append(withoutQuarantineLabels(ls), provenance.ApprovedByPersonLabel)
	})
	if in.ShownVersions != nil {
		plan = requireVersions(plan, in.ShownVersions)
	}
	return applyLabelPlan(ctx, w, plan, in.DryRun)
}

// requireVersions returns a planner that plans the same changes of labels as the given planner, but fails with an
// [oxbow.ConflictError] if an entry does not have the version that the map contains for its name. Another writer cannot
// change the entry between planning and the change, because the planned operations require the planned version.
func requireVersions(plan label.Planner, versions map[string]uint64) label.Planner {
	return func(ctx context.Context, s oxbow.Store) (label.LabelChangePlan, error) {
		p, err := plan(ctx, s)
		for _, c := range p.EntryChanges {
			if want := versions[c.Name]; want != c.PlannedVersion {
				return label.LabelChangePlan{}, &oxbow.ConflictError{Name: c.Name, Want: want, Have: c.PlannedVersion}
			}
		}
		return p, err
	}
}

// findGroupEntryNames returns the names of the group's entries that the filter f selects. A group consists of entries
// from one import that are held back from models until a person approves them. If the group is missing, or if the
// filter selects no entry, the error matches [oxbow.ErrNotFound].
func findGroupEntryNames(
	ctx context.Context,
	m *oxbow.Memory,
	group string,
	f oxbow.Filter,
) (names []string, err error) {
	err = collectQuarantinedEntries(
		ctx,
		m,
		func(s *quarantinedCollector, read func(ids []uint64) ([]*oxbow.Entry, error)) error {
			names = nil
			g := s.groupsByID[group]
			if g == nil {
				return verb.Advise(
					fmt.Errorf("%w: no group %q is held back", oxbow.ErrNotFound, group),
					"oxbow approve lists what is",
				)
			}
			members, err := g.readFirstEntries(read, g.Count)
			for i := range members {
				if f.Match(&members[i]) {
					names = append(names, members[i].Name)
				}
			}
			return err
		},
	)
	if err == nil && names == nil {
		err = verb.Advise(
			fmt.Errorf("%w: the filter selects no entry of group %q", oxbow.ErrNotFound, group),
			"oxbow approve --json lists the projects and tags of each group",
		)
	}
	return names, err
}
