// This file implements the verb ListQuarantinedEntries, which lists the entries that are held back from models.

package labels

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// ListQuarantinedEntriesIn is empty, because ListQuarantinedEntries has no parameters.
type ListQuarantinedEntriesIn struct{}

// ListQuarantinedEntriesOut lists the entries that are held back. These entries are shown to a model only if the model
// asks for them.
type ListQuarantinedEntriesOut struct {
	// entries that are held back from models and about which a person decides one by one, newest first
	Entries []QuarantinedEntry       `json:"entries"`
	Groups  []QuarantinedImportGroup `json:"groups"` // groups, newest first
}

// QuarantinedEntry is an entry that is held back, with the reasons why it is held back.
type QuarantinedEntry struct {
	Name       string `json:"name"`
	Version    uint64 `json:"version"`
	TrustLevel string `json:"trust"`
	// web pages or other sources from which text in the entry was copied
	ForeignTextSources []string `json:"read,omitempty"`
	UnvouchedReasons   []string `json:"unknown,omitempty"` // reasons why nobody vouches for the entry
	// rules that the text matches because it looks like instructions
	MatchedInstructionRules []string `json:"shaped,omitempty"`
	Created                 string   `json:"created"`
	// session of the client that wrote the text, in the form CLIENT/SESSION
	Session      string   `json:"session,omitempty"`
	ImportSource string   `json:"from,omitempty"` // file, directory or server from which the entry was imported
	Aliases      []string `json:"aliases,omitempty"`
	// labels of the entry, without the labels that hold it back
	Labels  []string `json:"labels,omitempty"`
	Content string   `json:"content"`
}

// QuarantinedImportGroup is the set of entries that a single import, pull or load added and that are held back only
// because they were imported. The whole group, or its entries with a label, can be approved at once.
type QuarantinedImportGroup struct {
	ID           string `json:"id"`             // ID by which [ApproveEntriesIn.Group] selects this group
	ImportSource string `json:"from,omitempty"` // file, directory or server from which the entries were imported
	// session of the import that added the entries (the command "revert" can undo the import)
	Session string   `json:"session,omitempty"`
	Time    string   `json:"time"`
	Count   int      `json:"count"`
	Names   []string `json:"names"` // names of at most maxNamesPerImportGroup entries
	// at most maxLabelsPerImportGroup projects and tags of the group's entries, the most frequent first
	Labels []LabelCount `json:"labels,omitempty"`
}

const (
	maxNamesPerImportGroup  = 5  // maximum number of names in a [QuarantinedImportGroup]
	maxLabelsPerImportGroup = 24 // maximum number of labels in a [QuarantinedImportGroup]
)

// countedLabelKeys contains the keys of the labels that are counted for a [QuarantinedImportGroup].
var countedLabelKeys = []string{oxbow.LabelProject, oxbow.LabelTag}

var (
	quarantineFilter = oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: oxbow.Unasked.HeldLabels()}}}
	importedFilter   = oxbow.Filter{
		Terms: []oxbow.Term{
			{Key: "by", Values: []string{string(oxbow.Imported)}},
			{Key: "has", Values: oxbow.Unasked.HeldLabels(), Not: true},
		},
	}
)

// isQuarantinedBecauseImported reports whether an entry is held back from models only because the entry was imported.
func isQuarantinedBecauseImported(e *oxbow.Entry) bool {
	return e.WhyHeld(oxbow.UnaskedByLabels) == oxbow.HeldAsImported
}

// groupIDOfSource returns the ID of the group for the texts with this source.
func groupIDOfSource(s oxbow.Source) string {
	sum := sha256.Sum256([]byte(s.Session + "\x00" + s.Ref))
	if s.Session != "" {
		sum = sha256.Sum256([]byte(s.Session))
	}
	return hex.EncodeToString(sum[:4])
}

// sourceOfText returns the source (author and time) of the change that wrote the present text of the entry e. Later
// changes that kept the text are ignored, for example changes of labels or names. If the history does not reach back to
// the change that wrote the text, the result is the source of the oldest version with this text. For an imported entry,
// the result is e.Source.
func sourceOfText(ctx context.Context, m *oxbow.Memory, e *oxbow.Entry) oxbow.Source {
	source := e.Source
	if source.Actor == oxbow.Imported {
		return source
	}
	for v, err := range m.Versions(ctx, e.Name) {
		isOtherEntry := v.Entry.ID != e.ID
		if err != nil || isOtherEntry {
			break
		}
		if v.Verb == oxbow.VerbRemove {
			continue // The entry was removed, and the removal was undone later.
		}
		if v.Entry.Content != e.Content {
			break
		}
		source = v.Source
	}
	return source
}

// quarantinedCollector collects the entries that are held back.
type quarantinedCollector struct {
	ctx    context.Context
	memory *oxbow.Memory

	// entries that a person approves or rejects one by one, not as part of an import
	individualEntries []entryWithSource
	// By group ID, the entries that one import added and that are held back from models. The group ID is computed from
	// the source of the entries.
	groupsByID map[string]*importGroupCollector

	// Entries that may belong to an import, by version. All entries with the same version were written by the same
	// change, so they have the same source.
	summariesByVersion map[uint64]*versionEntries
}

// entryWithSource is an entry with the source of its text.
type entryWithSource struct {
	entry  oxbow.Entry
	source oxbow.Source
}

// importGroupCollector collects the entries that one import added and that are held back from models, until the
// QuarantinedImportGroup is complete.
type importGroupCollector struct {
	QuarantinedImportGroup
	// IDs of the group's entries that need not be read, because the index that summarizes each entry (heads) already
	// contains the necessary data
	summarizedEntryIDs []uint64
	// the entries of the group that are not in summarizedEntryIDs, without their contents
	entriesWithoutSummary []oxbow.Entry
	entriesPerLabel       map[oxbow.Label]int
}

// versionEntries lists the entries that one change wrote. The index of entries (heads) describes them without
// their texts.
type versionEntries struct {
	entryIDs    []uint64
	labelCounts map[oxbow.Label]int
}

// collectQuarantinedEntries finds all entries that are held back from models until a person approves them, and calls fn
// with the result s. The second argument of fn is a function that reads entries by their IDs. It must not be used after
// fn has returned. fn may be called more than once, with a new result each time, because the search starts again if an
// entry cannot be read.
//
// A memory can contain 100,000 imported entries. Therefore only the summaries of all entries are examined, and few
// entries are read completely: one entry from each change that imported entries, and all entries that are not part of
// an import.
func collectQuarantinedEntries(
	ctx context.Context,
	m *oxbow.Memory,
	fn func(s *quarantinedCollector, read func(ids []uint64) ([]*oxbow.Entry, error)) error,
) error {
	needs := heads.Needs{Keys: append(slices.Clone(countedLabelKeys), oxbow.Unasked.HeldLabels()...)}
	return heads.View(ctx, m.Store(), needs, func(all heads.List) error {
		s := &quarantinedCollector{
			ctx:                ctx,
			memory:             m,
			groupsByID:         map[string]*importGroupCollector{},
			summariesByVersion: map[uint64]*versionEntries{},
		}
		ids, err := s.classifyEntrySummaries(all)
		if err != nil {
			return err
		}
		err = s.readAndAddEntries(all, ids)
		if err == nil {
			err = s.groupEntrySummaries(all)
		}
		if err == nil {
			err = s.addImportsWithoutHeldLabel()
		}
		if err != nil {
			return err
		}
		return fn(s, all.Read)
	})
}

// classifyEntrySummaries examines all entries that are held back from models until a person approves them. The list
// allHeads contains the heads of all entries: their metadata without the content. There are three cases:
//
//   - If the head contains the whole entry, the entry is added to s at once.
//   - If the entry is held back only because it was imported, the entry is counted in s.summariesByVersion. Entries
//     with the same version were written by the same change, and are later shown as one group.
//   - Otherwise the entry must be read. classifyEntrySummaries returns the IDs of these entries.
func (s *quarantinedCollector) classifyEntrySummaries(allHeads heads.List) (unreadEntryIDs []uint64, err error) {
	for h, err := range allHeads.All {
		if err != nil {
			return nil, err
		}
		switch e := h.Entry; {
		case !quarantineFilter.Match(e):
		case h.Whole:
			whole := *e
			s.addQuarantinedEntry(&whole)
		case !isQuarantinedBecauseImported(e):
			unreadEntryIDs = append(unreadEntryIDs, e.ID)
		default:
			v := s.summariesByVersion[e.Version]
			if v == nil {
				v = &versionEntries{labelCounts: map[oxbow.Label]int{}}
				s.summariesByVersion[e.Version] = v
			}
			v.entryIDs = append(v.entryIDs, e.ID)
			countGroupLabels(v.labelCounts, e)
		}
	}
	return unreadEntryIDs, nil
}

// readAndAddEntries reads and adds the entries with these IDs.
func (s *quarantinedCollector) readAndAddEntries(allHeads heads.List, ids []uint64) error {
	found, err := allHeads.Read(ids)
	for _, e := range found {
		if e != nil {
			s.addQuarantinedEntry(e)
		}
	}
	return err
}

// countGroupLabels counts the labels of an entry whose keys are in countedLabelKeys.
func countGroupLabels(counts map[oxbow.Label]int, e *oxbow.Entry) {
	for _, l := range e.Labels {
		if slices.Contains(countedLabelKeys, l.Key) {
			counts[l]++
		}
	}
}

// groupEntrySummaries assigns the entries in s.summariesByVersion to the imports that added them. Entries with the same
// version were last written by the same change. Therefore groupEntrySummaries reads only one entry for each version, to
// find out whether the change was an import. If so, it adds all entries with this version to the group of the import.
// If not, it reads all of them, and adds each entry by its own source.
func (s *quarantinedCollector) groupEntrySummaries(all heads.List) error {
	versions := slices.Sorted(maps.Keys(s.summariesByVersion))
	// ID of one entry for each version; one entry is enough to find out whether an import wrote the version, because
	// the same change wrote all the version's entries
	var first []uint64
	for _, version := range versions {
		first = append(first, s.summariesByVersion[version].entryIDs[0])
	}
	samples, err := all.Read(first)
	if err != nil {
		return err
	}
	byVersion := map[uint64]*oxbow.Entry{}
	for _, e := range samples {
		if e != nil {
			byVersion[e.Version] = e
		}
	}
	for _, version := range versions {
		v, e := s.summariesByVersion[version], byVersion[version]
		if e != nil && e.Source.Actor == oxbow.Imported {
			s.addToImportGroup(e.Source, len(v.entryIDs)).addEntrySummaries(v)
			continue
		}
		// The last change of these entries was not an import. A person changed their labels or restored them, so they
		// may come from different imports. Read each entry to find its source.
		if err := s.readAndAddEntries(all, v.entryIDs); err != nil {
			return err
		}
	}
	return nil
}

// addImportsWithoutHeldLabel adds the imported entries that are held back from models but have none of the labels for
// held entries. These labels are missing because an earlier version of oxbow imported the entries. The filter
// importedFilter matches only such entries.
func (s *quarantinedCollector) addImportsWithoutHeldLabel() error {
	hits, err := s.memory.Recall(s.ctx, oxbow.Query{Filter: importedFilter, Limit: oxbow.MaxLimit})
	if err != nil {
		return err
	}
	if len(hits) < oxbow.MaxLimit {
		for i := range hits {
			s.addQuarantinedEntry(&hits[i].Entry)
		}
		return nil
	}
	for e, err := range s.memory.Entries(s.ctx, importedFilter) {
		if err != nil {
			return err
		}
		s.addQuarantinedEntry(&e)
	}
	return nil
}

// addQuarantinedEntry adds the entry e, which is held back from models until a person approves it. If e was held back
// as part of an import, it is added to the group of this import, without its content. Otherwise it is added to
// individualEntries, the list of entries that a person approves one by one.
func (s *quarantinedCollector) addQuarantinedEntry(e *oxbow.Entry) {
	source := sourceOfText(s.ctx, s.memory, e)
	if !isQuarantinedBecauseImported(e) {
		s.individualEntries = append(s.individualEntries, entryWithSource{*e, source})
		return
	}
	g := s.addToImportGroup(source, 1)
	member := *e
	member.Content = ""
	g.entriesWithoutSummary = append(g.entriesWithoutSummary, member)
	countGroupLabels(g.entriesPerLabel, e)
}

// addToImportGroup adds entryCount to the number of entries in the group for the texts with this source, and returns
// the group. It creates the group if necessary, and updates the origin and the time of the group.
func (s *quarantinedCollector) addToImportGroup(source oxbow.Source, entryCount int) *importGroupCollector {
	id := groupIDOfSource(source)
	g := s.groupsByID[id]
	if g == nil {
		g = &importGroupCollector{
			QuarantinedImportGroup: QuarantinedImportGroup{
				ID:           id,
				ImportSource: importedTextOrigin(source),
				Session:      source.Session,
			},
			entriesPerLabel: map[oxbow.Label]int{},
		}
		s.groupsByID[id] = g
	}
	g.updateImportOrigin(source)
	g.Count += entryCount
	return g
}

func (g *importGroupCollector) addEntrySummaries(v *versionEntries) {
	g.summarizedEntryIDs = append(g.summarizedEntryIDs, v.entryIDs...)
	for l, n := range v.labelCounts {
		g.entriesPerLabel[l] += n
	}
}

// updateImportOrigin updates the group for an entry with this source. ImportSource becomes the longest directory path
// that contains the origins of all entries in the group. Time becomes the latest time.
func (g *importGroupCollector) updateImportOrigin(source oxbow.Source) {
	origin := importedTextOrigin(source)
	for g.ImportSource != origin && !strings.HasPrefix(origin, g.ImportSource+"/") && g.ImportSource != "" {
		up := path.Dir(g.ImportSource)
		if up == g.ImportSource || up == "." {
			up = ""
		}
		g.ImportSource = up
	}
	g.Time = max(g.Time, verb.FormatTimestamp(source.Time))
}

// readFirstEntries returns the first n entries that an import added, in the order of their IDs. These entries come from
// two lists: the entries with the IDs in g.summarizedEntryIDs, which the function readEntries reads, and the entries in
// g.entriesWithoutSummary, which were read before and are stored without their contents. An entry that readEntries
// returns as nil is left out.
func (g *importGroupCollector) readFirstEntries(
	readEntries func(ids []uint64) ([]*oxbow.Entry, error),
	n int,
) (firstEntries []oxbow.Entry, err error) {
	ids := slices.Sorted(slices.Values(g.summarizedEntryIDs))
	found, err := readEntries(ids[:min(len(ids), n)])
	for _, e := range found {
		if e != nil {
			firstEntries = append(firstEntries, *e)
		}
	}
	firstEntries = append(firstEntries, g.entriesWithoutSummary...)
	slices.SortFunc(firstEntries, func(a, b oxbow.Entry) int { return cmp.Compare(a.ID, b.ID) })
	return firstEntries[:min(len(firstEntries), n)], err
}

// describeGroup returns the group with the names of its first entries and the most frequent labels.
func (g *importGroupCollector) describeGroup(
	read func(ids []uint64) ([]*oxbow.Entry, error),
) (QuarantinedImportGroup, error) {
	out := g.QuarantinedImportGroup
	first, err := g.readFirstEntries(read, maxNamesPerImportGroup)
	for _, e := range first {
		out.Names = append(out.Names, e.Name)
	}
	labels := slices.SortedFunc(maps.Keys(g.entriesPerLabel), func(a, b oxbow.Label) int {
		return cmp.Or(
			cmp.Compare(g.entriesPerLabel[b], g.entriesPerLabel[a]),
			cmp.Compare(a.Key, b.Key),
			cmp.Compare(a.Value, b.Value),
		)
	})
	for _, l := range labels[:min(len(labels), maxLabelsPerImportGroup)] {
		out.Labels = append(out.Labels, LabelCount{l.String(), l.Key, l.Value, g.entriesPerLabel[l]})
	}
	return out, err
}

// ListQuarantinedEntries lists the entries that a person has not approved yet, and that are therefore shown to a model
// only if the model asks for them.
func ListQuarantinedEntries(
	ctx context.Context,
	w *verb.Workspace,
	_ ListQuarantinedEntriesIn,
) (out ListQuarantinedEntriesOut, err error) {
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return ListQuarantinedEntriesOut{Entries: []QuarantinedEntry{}, Groups: []QuarantinedImportGroup{}}, err
	}
	err = collectQuarantinedEntries(
		ctx,
		m,
		func(s *quarantinedCollector, read func(ids []uint64) ([]*oxbow.Entry, error)) error {
			out = ListQuarantinedEntriesOut{Entries: []QuarantinedEntry{}, Groups: []QuarantinedImportGroup{}}
			for i := range s.individualEntries {
				out.Entries = append(out.Entries, describeQuarantinedEntry(ctx, &s.individualEntries[i]))
			}
			for _, g := range s.groupsByID {
				group, err := g.describeGroup(read)
				if err != nil {
					return err
				}
				out.Groups = append(out.Groups, group)
			}
			return nil
		},
	)
	slices.SortFunc(out.Entries, func(a, b QuarantinedEntry) int {
		return cmp.Or(strings.Compare(b.Created, a.Created), cmp.Compare(b.Version, a.Version),
			strings.Compare(a.Name, b.Name))
	})
	slices.SortFunc(out.Groups, func(a, b QuarantinedImportGroup) int {
		return cmp.Or(strings.Compare(b.Time, a.Time), strings.Compare(a.ID, b.ID))
	})
	return out, err
}

// describeQuarantinedEntry describes an entry that is held back from models until a person approves or rejects it. It
// includes only facts that the caller of the context may see.
func describeQuarantinedEntry(ctx context.Context, t *entryWithSource) QuarantinedEntry {
	e := t.entry
	verb.WithholdQuarantinedText(ctx, &e)
	held := QuarantinedEntry{
		Name: e.Name, Version: e.Version, TrustLevel: string(e.Trust()), ForeignTextSources: e.Values(oxbow.LabelTaint),
		UnvouchedReasons:        e.Values(oxbow.LabelUnvouched),
		MatchedInstructionRules: append(e.Values(oxbow.LabelSuspect), e.Values(oxbow.LabelQuarantine)...),
		Created: verb.FormatTimestamp(
			e.Created,
		), Aliases: e.Aliases, Labels: verb.LabelTexts(withoutQuarantineLabels(e.Labels)),
		Content: e.Content, Session: session.SessionOfSource(t.source),
	}
	if t.source.Actor == oxbow.Imported {
		held.ImportSource = importedTextOrigin(t.source)
	}
	return held
}

// CountQuarantinedEntries returns the number n of entries that an import changed and that are held back from models.
// The function isChanged must report whether the import changed the entry with the given name.
//
// If some of these entries are held back only because they were imported, a person can approve them as a group. The
// result groupID is the ID of the group to which the first of them belongs, or "" if there is none.
func CountQuarantinedEntries(
	ctx context.Context,
	m *oxbow.Memory,
	isChanged func(name string) bool,
) (n int, groupID string, err error) {
	needs := heads.Needs{Keys: append([]string{oxbow.HeadName}, oxbow.Unasked.HeldLabels()...)}
	err = heads.View(ctx, m.Store(), needs, func(all heads.List) error {
		n, groupID = 0, ""
		var first oxbow.Head // head of the first changed entry that is held back only because it was imported
		for h, err := range all.All {
			if err != nil {
				return err
			}
			if !quarantineFilter.Match(h.Entry) || !isChanged(h.Entry.Name) {
				continue
			}
			n++
			if first.Entry == nil && isQuarantinedBecauseImported(h.Entry) {
				first = h
			}
		}
		if first.Entry == nil {
			return nil
		}
		source := first.Entry.Source
		if !first.Whole {
			read, err := all.Read([]uint64{first.Entry.ID})
			if err != nil || read[0] == nil {
				return err
			}
			source = read[0].Source
		}
		groupID = groupIDOfSource(source)
		return nil
	})
	return n, groupID, err
}

// FormatNames returns the first entries' names, and the number of further entries in the group.
func (g *QuarantinedImportGroup) FormatNames() string {
	s := strings.Join(g.Names, "; ")
	if more := g.Count - len(g.Names); more > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s
}

// importedTextOrigin returns the file, directory or server from which a text was imported.
func importedTextOrigin(s oxbow.Source) string {
	_, origin := s.SplitRef()
	return origin
}

// withoutQuarantineLabels returns the labels without the labels that prevent an entry from being shown to a model that
// did not ask for it.
func withoutQuarantineLabels(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(ls), func(l oxbow.Label) bool {
		return slices.Contains(oxbow.Unasked.HeldLabels(), l.Key)
	})
}

// Report lists the entries and the imports that are held back, with the reasons.
func (o ListQuarantinedEntriesOut) Report() (r report.Report) {
	for _, e := range o.Entries {
		held := report.Record{Key: report.EntryName(e.Name), Cells: []report.Cell{{Value: e.TrustLevel},
			{Name: "words of", Value: strings.Join(e.ForeignTextSources, "; ")},
			{Name: "not vouched for:", Value: strings.Join(e.UnvouchedReasons, ", ")},
			{Name: "shaped like instructions:", Value: strings.Join(e.MatchedInstructionRules, ", ")}}}
		for _, s := range slices.Concat(e.Aliases, e.Labels) {
			held.TextCellsBelow = append(held.TextCellsBelow, report.Cell{Value: s})
		}
		held.TextCellsBelow = append(held.TextCellsBelow, report.Cell{Value: report.Quote(e.Content)})
		r.Add(held)
	}
	for _, g := range o.Groups {
		count := text.FormatCount(g.Count, "entry", "entries")
		from := report.Sentencef("%s imported", report.OxbowText(count))
		if g.ImportSource != "" {
			from = report.Sentencef("%s imported from %s", report.OxbowText(count), g.ImportSource)
		}
		r.Add(report.Record{Key: g.ID, Cells: []report.Cell{{Value: from}, {Value: report.ParseTimeOrText(g.Time)}},
			TextCellsBelow: []report.Cell{{Value: report.Quote(g.FormatNames())}}})
	}
	if len(o.Groups) > 0 {
		r.AddNotef("to approve all that an import brought: oxbow approve --group %s", o.Groups[0].ID)
	}
	switch {
	case len(o.Entries) > 0:
		r.AddNotef("oxbow approve NAME lets one be shown; oxbow forget NAME removes it")
	case len(o.Groups) == 0:
		r.AddNotef("nothing is held back")
	}
	return r
}
