// This file implements the verbs that work on the labels of many entries. They list, change, check and suggest labels.

package labels

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/label"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/query"
)

// LabelCount is a label with the number of entries that have it.
type LabelCount struct {
	Label      string `json:"label"`
	Key        string `json:"key"`
	Value      string `json:"value"`
	EntryCount int    `json:"entries"`
}

func toLabelCounts(cs []label.Count) []LabelCount {
	out := make([]LabelCount, len(cs))
	for i, c := range cs {
		out[i] = LabelCount{c.Label.String(), c.Label.Key, c.Label.Value, c.Entries}
	}
	return out
}

// LabelError is returned for a text that is not a valid label.
type LabelError struct{ Err error }

func (e *LabelError) Error() string { return e.Err.Error() }

// Unwrap returns the underlying error, which matches [oxbow.ErrInvalid].
func (e *LabelError) Unwrap() error { return e.Err }

// parseLabels parses labels. As in a filter, tag:a,b stands for two tags, and tag:"a,b" stands for a single tag.
func parseLabels(texts ...string) ([]oxbow.Label, error) {
	var ls []oxbow.Label
	for _, s := range texts {
		l, err := oxbow.ParseLabel(s)
		if err != nil {
			return nil, &LabelError{err}
		}
		if l.Key != oxbow.LabelTag || strings.HasSuffix(s, `"`) {
			ls = append(ls, l)
			continue
		}
		for _, tag := range oxbow.SplitTags(l.Value) {
			l.Value = tag
			if err := l.Check(); err != nil {
				return nil, &LabelError{err}
			}
			ls = append(ls, l)
		}
	}
	return ls, nil
}

// parseNewLabel parses a label that will be added. It returns an error for a tag with a comma, because a filter would
// interpret such a tag as two tags.
func parseNewLabel(s string) (oxbow.Label, error) {
	l, err := oxbow.ParseLabel(s)
	if err != nil {
		return l, &LabelError{err}
	}
	if l.Key == oxbow.LabelTag && strings.Contains(l.Value, ",") {
		return l, verb.Invalidf("the tag %q has a comma, which a filter reads as two tags; name one tag", l.Value)
	}
	return l, nil
}

// ListLabelsIn is the argument of ListLabels.
type ListLabelsIn struct {
	Filter string `json:"filter,omitempty" flag:"-" jsonschema:"Only labels of the entries that it selects."`
	Key    string `json:"key,omitempty"             jsonschema:"Only labels of this key."                    value:"KEY" usage:"only labels of this KEY, such as project or tag"`
}

// LabelsOut is the result of ListLabels. The labels are sorted by key. Labels with the same key are sorted by their
// numbers of entries.
type LabelsOut struct {
	Labels []LabelCount `json:"labels"`
}

// ListLabels lists the labels of the memory.
func ListLabels(ctx context.Context, w *verb.Workspace, in ListLabelsIn) (LabelsOut, error) {
	f, err := query.ParseFilter(in.Filter, w.CurrentTime())
	if err != nil {
		return LabelsOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Read)
	if err != nil {
		return LabelsOut{}, err
	}
	// List labels with file hashes only if the caller asks for their key, because programs set them for their own use.
	var omitted []string
	if in.Key == "" {
		omitted = []string{oxbow.LabelFileBlob}
	}
	cs, err := countLabels(ctx, m, f, in.Key, omitted)
	if err != nil {
		return LabelsOut{}, fmt.Errorf("counting labels: %w", err)
	}
	return LabelsOut{toLabelCounts(cs)}, nil
}

// countLabels counts the labels of the entries that match the filter f. If key is not empty, it counts only labels with
// this key. It leaves out labels whose key is in omittedKeys.
func countLabels(
	ctx context.Context,
	m *oxbow.Memory,
	f oxbow.Filter,
	key string,
	omittedKeys []string,
) ([]label.Count, error) {
	if f.IsZero() {
		return label.CountValuesInMemory(ctx, m, key, omittedKeys...)
	}
	cs, err := label.CountValues(ctx, m.Store(), f, key)
	return slices.DeleteFunc(cs, func(c label.Count) bool { return slices.Contains(omittedKeys, c.Label.Key) }), err
}

// EditLabelsIn contains the arguments for AddLabels and RemoveLabels, which change the labels of the selected entries.
type EditLabelsIn struct {
	Labels     []string `json:"labels"            flag:"-"    jsonschema:"The labels, as key:value."`
	Filters    []string `json:"where,omitempty"               jsonschema:"Filter terms that select the entries."               value:"FILTER" usage:"the entries that this FILTER selects"`
	EntryNames []string `json:"names,omitempty"   flag:"name" jsonschema:"Names of the entries; with a filter, both must fit."                usage:"the entry of this NAME; you can name several"`
	AllEntries bool     `json:"all,omitempty"                 jsonschema:"All entries."                                                       usage:"change all entries"`
	DryRun     bool     `json:"dry_run,omitempty"             jsonschema:"Show what would be changed and change nothing."                     usage:"show what would be changed and change nothing"`
}

// RelabelOut is the result of a label change.
type RelabelOut struct {
	DryRun bool `json:"dry_run,omitempty"`
	// number of the change (0 if nothing changed or if the store does not number changes)
	Seq     uint64            `json:"seq,omitempty"`
	Entries []RelabelledEntry `json:"entries"`
}

// RelabelledEntry is an entry whose labels changed.
type RelabelledEntry struct {
	Name    string   `json:"name"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// AddLabels adds labels to the selected entries.
func AddLabels(ctx context.Context, w *verb.Workspace, in EditLabelsIn) (RelabelOut, error) {
	for _, s := range in.Labels {
		if strings.HasSuffix(s, `"`) {
			if _, err := parseNewLabel(s); err != nil {
				return RelabelOut{}, err
			}
		}
	}
	return editLabels(ctx, w, in, label.PlanAddLabels)
}

// RemoveLabels removes labels from the selected entries.
func RemoveLabels(ctx context.Context, w *verb.Workspace, in EditLabelsIn) (RelabelOut, error) {
	return editLabels(ctx, w, in, label.PlanRemoveLabels)
}

func editLabels(
	ctx context.Context,
	w *verb.Workspace,
	in EditLabelsIn,
	newPlanner func(label.Selection, ...oxbow.Label) label.Planner,
) (RelabelOut, error) {
	ls, err := parseLabels(in.Labels...)
	if err != nil {
		return RelabelOut{}, err
	}
	f, err := query.ParseFilter(strings.Join(in.Filters, " "), w.CurrentTime())
	if err != nil {
		return RelabelOut{}, err
	}
	return applyLabelPlan(ctx, w, newPlanner(label.Selection{Filter: f, Names: in.EntryNames}, ls...), in.DryRun)
}

// RenameLabelIn is the argument of RenameLabel.
type RenameLabelIn struct {
	Old    string `json:"old"               flag:"-" jsonschema:"The label that goes."`
	New    string `json:"new"               flag:"-" jsonschema:"The label that takes its place, and is not in use yet."`
	DryRun bool   `json:"dry_run,omitempty"          jsonschema:"Show what would be changed and change nothing."         usage:"show what would be changed and change nothing"`
}

// RenameLabel replaces a label by a new label on all entries.
func RenameLabel(ctx context.Context, w *verb.Workspace, in RenameLabelIn) (RelabelOut, error) {
	old, err := parseLabels(in.Old)
	if err != nil {
		return RelabelOut{}, err
	}
	if len(old) > 1 {
		return RelabelOut{}, verb.Invalidf(
			"%s names %d tags; rename one at a time, or write tag:%q for one tag with a comma",
			in.Old, len(old), strings.TrimPrefix(in.Old, "tag:"),
		)
	}
	now, err := parseNewLabel(in.New)
	if err != nil {
		return RelabelOut{}, err
	}
	return applyLabelPlan(ctx, w, label.PlanLabelRename(old[0], now), in.DryRun)
}

// MergeLabelsIn is the argument of MergeLabels.
type MergeLabelsIn struct {
	Labels      []string `json:"labels"            flag:"-" jsonschema:"The labels to join."`
	TargetLabel string   `json:"into"              flag:"-" jsonschema:"The label that they become."`
	DryRun      bool     `json:"dry_run,omitempty"          jsonschema:"Show what would be changed and change nothing." usage:"show what would be changed and change nothing"`
}

// MergeLabels replaces several labels by the label in.TargetLabel on all entries.
func MergeLabels(ctx context.Context, w *verb.Workspace, in MergeLabelsIn) (RelabelOut, error) {
	old, err := parseLabels(in.Labels...)
	if err != nil {
		return RelabelOut{}, err
	}
	into, err := parseNewLabel(in.TargetLabel)
	if err != nil {
		return RelabelOut{}, err
	}
	return applyLabelPlan(ctx, w, label.PlanMergeLabels(old, into), in.DryRun)
}

// applyLabelPlan calls plan, which returns changes of entries' labels, and applies these changes. If isDryRun is true,
// it only checks whether the changes could be applied. The result lists the entries whose labels change.
func applyLabelPlan(ctx context.Context, w *verb.Workspace, plan label.Planner, isDryRun bool) (RelabelOut, error) {
	out := RelabelOut{DryRun: isDryRun, Entries: []RelabelledEntry{}}
	ctx, m, err := w.OpenMemory(ctx, verb.Write.UnlessDryRun(isDryRun))
	if err != nil {
		return out, err
	}
	var p label.LabelChangePlan
	if src, _ := oxbow.SourceFrom(ctx); src.Actor != oxbow.Person {
		plan = refuseOxbowOwnLabels(plan)
	}
	if isDryRun {
		p, err = plan(ctx, m)
		if err == nil {
			err = oxbow.DryRunInParts(ctx, m, p.OpGroups(), oxbow.PartOptions{MaxBytes: w.MaxChangeBytes})
		}
	} else {
		p, out.Seq, err = label.ApplyPlan(ctx, m, plan, w.MaxChangeBytes)
		// Update the search index now, because a later hook would not have enough time for so many changes.
		verb.IndexAfterLargeWrite(ctx, m, len(p.EntryChanges))
	}
	var unused *label.UnusedLabelsError
	if errors.As(err, &unused) {
		err = verb.AdviseWithNote(err, verb.Notef("%s shows the labels that entries have", verb.VerbRef("labels")))
	}
	if err != nil {
		isPartlyDone := !isDryRun && len(p.EntryChanges) > 0
		if isPartlyDone {
			count := text.FormatCount(len(p.EntryChanges), "entry", "entries")
			err = verb.Advise(err, "the labels of "+count+" were changed before; the same call changes the others, "+
				"and oxbow undo takes back what was changed")
		}
		return out, err
	}
	for _, c := range p.EntryChanges {
		r, err := describeRelabelling(ctx, w, m, c, isDryRun)
		if err != nil {
			return out, err
		}
		if len(r.Added)+len(r.Removed) > 0 {
			out.Entries = append(out.Entries, r)
		}
	}
	return out, nil
}

// isSetByProgram reports whether oxbow itself sets the label l. A person may also change such a label, but agents and
// other programs may not.
func isSetByProgram(l oxbow.Label) bool {
	return slices.Contains(oxbow.Unasked.HeldLabels(), l.Key) || l.Key == oxbow.LabelVerified ||
		l.Key == oxbow.LabelApproved ||
		l.Key == oxbow.LabelTextBy ||
		l.IsPersonal()
}

// refuseOxbowOwnLabels returns a planner that calls plan and returns an error if the plan changes labels that only
// oxbow itself may set. Without the error, oxbow would silently restore these labels, and the caller would not notice
// that the labels did not change.
func refuseOxbowOwnLabels(plan label.Planner) label.Planner {
	return func(ctx context.Context, s oxbow.Store) (label.LabelChangePlan, error) {
		p, err := plan(ctx, s)
		for _, c := range p.EntryChanges {
			for _, l := range slices.Concat(c.AddedLabels(), c.RemovedLabels()) {
				if isSetByProgram(l) {
					return label.LabelChangePlan{}, verb.Advise(
						verb.InvalidValue(
							"label",
							l.String(),
							"is set by oxbow itself, and only a person may change it",
						),
						"ask the person to read the entry and to run: oxbow approve "+text.QuoteShellOperand(c.Name),
					)
				}
			}
		}
		return p, err
	}
}

// describeRelabelling returns the added and removed labels of an entry after the planned change c was made. It reads
// the labels that are stored now, because they may differ from the requested labels: secrets in labels are replaced,
// and labels that only programs may set stay unchanged. In a dry run, it uses the requested labels and replaces the
// secrets in them. The label with the author of the text is omitted.
func describeRelabelling(
	ctx context.Context,
	w *verb.Workspace,
	m *oxbow.Memory,
	c label.Change,
	isDryRun bool,
) (RelabelledEntry, error) {
	if !isDryRun {
		switch now, err := m.Get(ctx, c.Name); {
		case err == nil:
			c.LabelsAfter = now.Labels
		case !errors.Is(err, oxbow.ErrNotFound): // another process may have removed the entry in the meantime
			return RelabelledEntry{}, err
		}
	}
	withoutAuthor := func(ls []oxbow.Label) []oxbow.Label {
		return slices.DeleteFunc(ls, func(l oxbow.Label) bool { return l.Key == oxbow.LabelTextBy })
	}
	r := RelabelledEntry{
		c.Name,
		verb.LabelTexts(withoutAuthor(c.AddedLabels())),
		verb.LabelTexts(withoutAuthor(c.RemovedLabels())),
	}
	for i := range r.Added {
		r.Added[i] = w.Secrets.RedactText(ctx, r.Added[i], new([]screen.Secret))
	}
	return r, nil
}

// LintLabelsIn is the argument of LintLabels. It is empty.
type LintLabelsIn struct{}

// LintLabelsOut is the result of LintLabels.
type LintLabelsOut struct {
	Findings []LabelFinding `json:"doubts"`
}

// LabelFinding is a group of labels that may be meant as the same label.
type LabelFinding struct {
	Labels    []LabelCount `json:"labels"`
	Reason    string       `json:"why"`
	MergeInto string       `json:"merge_into"`
}

// LintLabels finds groups of labels that may be meant as the same label.
func LintLabels(ctx context.Context, w *verb.Workspace, _ LintLabelsIn) (LintLabelsOut, error) {
	out := LintLabelsOut{Findings: []LabelFinding{}}
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return out, err
	}
	cs, err := label.CountValuesInMemory(ctx, m, "")
	if err != nil {
		return out, fmt.Errorf("counting labels: %w", err)
	}
	for _, f := range label.FindSimilarLabels(cs) {
		out.Findings = append(out.Findings, LabelFinding{toLabelCounts(f.Labels), f.Why, f.MergeTarget.String()})
	}
	return out, nil
}

// SuggestLabelsIn is the argument of SuggestLabels and AcceptLabels.
type SuggestLabelsIn struct {
	Filter        string   `json:"filter,omitempty"         flag:"-" jsonschema:"Only entries that it selects."`
	Keys          []string `json:"keys,omitempty"           flag:"-" jsonschema:"Keys of the labels; project and tag by default."`
	MinConfidence float64  `json:"min_confidence,omitempty" flag:"-" jsonschema:"Leave out what is less sure, from 0 to 1."`
	DryRun        bool     `json:"dry_run,omitempty"        flag:"-" jsonschema:"When accepting, change nothing."`
}

// SuggestLabelsOut is the result of SuggestLabels, sorted like the entries. For each entry, the suggestion with the
// highest confidence is first.
type SuggestLabelsOut struct {
	Suggestions []SuggestedLabel `json:"suggestions"`
}

// Report lists each suggestion with the reason for it. The parameter command is the command that applies the
// suggestions.
func (o SuggestLabelsOut) Report(command string) (r report.Report) {
	for _, s := range o.Suggestions {
		r.AddLinef("%.2f  %s  %s", s.Confidence, report.QuotedText(s.Label), report.EntryName(s.Name))
		for _, reason := range s.Reasons {
			r.Add(report.Line{Sentence: report.Sentencef("%s", report.QuotedText(reason)), Indent: 6, IsDetail: true})
		}
	}
	if len(o.Suggestions) == 0 {
		r.AddNotef(
			"nothing to propose: every entry has labels of these keys, or too few labelled entries are like those " +
				"that have none",
		)
		return r
	}
	r.AddNotef("nothing was changed; to accept: %s --apply", report.OxbowText(command))
	return r
}

// SuggestedLabel is a label that is suggested for an entry that lacks a label with the same key.
type SuggestedLabel struct {
	Name       string   `json:"name"`
	Version    uint64   `json:"version"`
	Label      string   `json:"label"`
	Confidence float64  `json:"confidence"`
	Reasons    []string `json:"reasons"`
}

// SuggestLabels suggests labels for entries.
func SuggestLabels(ctx context.Context, w *verb.Workspace, in SuggestLabelsIn) (SuggestLabelsOut, error) {
	out := SuggestLabelsOut{Suggestions: []SuggestedLabel{}}
	ss, err := suggestLabels(ctx, w, in, verb.Read)
	for _, s := range ss {
		out.Suggestions = append(
			out.Suggestions,
			SuggestedLabel{s.Name, s.Version, s.Label.String(), s.Confidence, s.Reasons},
		)
	}
	return out, err
}

// AcceptLabels adds labels to entries. These are the labels that SuggestLabels suggests for the entries with at least
// the confidence in.MinConfidence. In a dry run, AcceptLabels changes nothing and returns what it would change.
func AcceptLabels(ctx context.Context, w *verb.Workspace, in SuggestLabelsIn) (RelabelOut, error) {
	ss, err := suggestLabels(ctx, w, in, verb.Write.UnlessDryRun(in.DryRun))
	if err != nil {
		return RelabelOut{}, err
	}
	return applyLabelPlan(ctx, w, label.PlanSuggestionAcceptance(ss, in.MinConfidence), in.DryRun)
}

func suggestLabels(
	ctx context.Context,
	w *verb.Workspace,
	in SuggestLabelsIn,
	access verb.MemoryAccess,
) ([]label.Suggestion, error) {
	f, err := query.ParseFilter(in.Filter, w.CurrentTime())
	if err != nil {
		return nil, err
	}
	ctx, m, err := w.OpenMemory(ctx, access)
	if err != nil {
		return nil, err
	}
	ss, err := label.Suggest(
		ctx,
		m,
		label.SuggestOptions{Filter: f, LabelKeys: in.Keys, MinConfidence: in.MinConfidence},
	)
	if err != nil {
		return nil, fmt.Errorf("suggesting labels: %w", err)
	}
	return ss, nil
}

// Report lists the labels with their numbers of entries.
func (o LabelsOut) Report() (r report.Report) {
	var t report.Table
	for _, l := range o.Labels {
		t.Rows = append(t.Rows, []any{l.Label, report.OxbowText(text.FormatCount(l.EntryCount, "entry", "entries"))})
	}
	r.Add(t)
	if len(o.Labels) == 0 {
		r.AddNotef("no entry carries such a label; oxbow label add LABEL gives one, oxbow label suggest proposes some")
	}
	return r
}

// Report lists the changed entries with their old and new labels.
func (o RelabelOut) Report() (r report.Report) {
	r.AddLinef("%s %s", report.EffectVerb(o.DryRun, "relabelled", "would relabel"),
		report.OxbowText(text.FormatCount(len(o.Entries), "entry", "entries")))
	isUndoable := o.Seq != 0
	items := report.List{}
	if o.DryRun || isUndoable {
		items.ListAllAdvice = verb.AdviceForListingChanges(o.DryRun)
	}
	for _, e := range o.Entries {
		line, values := "%s", []any{report.EntryName(e.Name)}
		for _, l := range e.Removed {
			line, values = line+"  -%s", append(values, l)
		}
		for _, l := range e.Added {
			line, values = line+"  +%s", append(values, l)
		}
		items.Items = append(items.Items,
			report.Line{Sentence: report.Sentencef(line, values...), Indent: 2, IsDetail: true})
	}
	r.Add(items)
	switch {
	case len(o.Entries) == 0:
		r.AddNotef("no entry matches, or all that match have these labels already")
	case o.DryRun:
		r.AddNotef("dry run: nothing was changed")
	case isUndoable:
		r.AddNotef("to take this back: oxbow undo --seq %d", o.Seq)
	default:
		r.AddNotef("this layout keeps no history: oxbow undo cannot take this back")
	}
	return r
}

// Report lists the groups of labels. For each group, it shows the command that merges the labels.
func (o LintLabelsOut) Report() (r report.Report) {
	for _, d := range o.Findings {
		var counts []string
		merge := []string{"oxbow", "label", "merge"}
		for _, l := range d.Labels {
			counts = append(counts, fmt.Sprintf("%s (%d)", l.Label, l.EntryCount))
			if l.Label != d.MergeInto {
				merge = append(merge, text.ShellQuote(l.Label))
			}
		}
		r.Add(report.Record{Key: strings.Join(counts, ", "), TextCellsBelow: []report.Cell{{Value: d.Reason},
			{
				Name:  "merge them",
				Value: report.OxbowText(strings.Join(append(merge, text.ShellQuote(d.MergeInto)), " ")),
			}}})
	}
	if len(o.Findings) == 0 {
		r.AddNotef("no two labels look like one")
	}
	return r
}
