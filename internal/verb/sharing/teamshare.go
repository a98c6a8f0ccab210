// This file implements the commands "team share" and "team unshare". They move entries between the home and the team
// files.

package sharing

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/share/team"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/review"
)

// TeamShareIn is the argument of TeamShare and UnshareEntries.
type TeamShareIn struct {
	Names  []string `json:"names"             flag:"-" usage:"names of entries"`
	DryRun bool     `json:"dry_run,omitempty"          usage:"show what would move and change nothing"`
}

// TeamShareOut is the result of TeamShare and UnshareEntries.
type TeamShareOut struct {
	DryRun       bool            `json:"dry_run,omitempty"`
	TopDir       string          `json:"top"` // root of the working tree, in which new files must be added to git
	MovedEntries []TeamEntryMove `json:"moved"`
	// The home was changed. The command "undo" can undo this change.
	IsHomeChanged bool `json:"home_changed,omitempty"`

	// aliases that entries did not get in the home, because other entries have them
	AliasesOfOtherEntries []oxbow.TakenAlias `json:"taken_aliases,omitempty"`
}

// TeamEntryMove is an entry that was moved from the home to the team files, or back.
type TeamEntryMove struct {
	EntryName string `json:"name"`
	File      string `json:"file"` // path of the team file with the entry, relative to the root of the working tree
	// the action on the team file: "written", "changed", "same" or "removed". If an earlier call already moved the
	// entry, it is "shared" (only the team files contain the entry) or "home" (only the home contains it).
	FileAction string `json:"did"`
	// lines that differ in the file, each with - for an old line or + for a new line
	ChangedLines []string `json:"changes,omitempty"`
}

// TeamShare writes the named entries to team files, which a team shares in its repository. It then removes the entries
// from the home in a single change, which "oxbow undo" can undo. It checks all entries before it writes the first. If a
// team file has edits that are not committed, TeamShare does not replace this file. If a call was interrupted, the same
// call completes the work, because an entry that only the team files contain counts as shared. Only a person may call
// TeamShare.
func TeamShare(ctx context.Context, w *verb.Workspace, in TeamShareIn) (out TeamShareOut, err error) {
	if err := verb.RequirePerson(w.WithSource(ctx), "shares what is remembered", "oxbow team share NAME"); err != nil {
		return out, err
	}
	t, s, err := openTeamFiles(ctx, w, &out, in.DryRun)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	ctx, m, err := w.OpenMemory(ctx, verb.Write.UnlessDryRun(in.DryRun))
	if err != nil {
		return out, err
	}
	entries, err := entriesToShare(ctx, w, t, s, m, in.Names, &out)
	if err != nil {
		return out, err
	}
	var removals []oxbow.Op
	for _, e := range entries {
		moved, err := shareEntry(ctx, w, t, s, e, in.DryRun)
		if err != nil {
			return out, err
		}
		out.MovedEntries = append(out.MovedEntries, moved)
		removals = append(removals, oxbow.Remove{Name: e.Name, If: e.Version})
	}
	if in.DryRun || len(removals) == 0 {
		return out, nil
	}
	err = m.Apply(oxbow.WithNote(ctx, "shared with the team"), removals...)
	out.IsHomeChanged = err == nil
	if errors.Is(err, oxbow.ErrNotFound) && len(removals) == 1 {
		err = verb.Advise(
			fmt.Errorf("%w: the home has no entry %q; the team files have it", oxbow.ErrNotFound, entries[0].Name),
			"oxbow team status shows where it is",
		)
	}
	return out, verb.WrapError("taking what is shared out of the home", err)
}

// openTeamFiles finds and opens the team files of the repository that contains the working directory. It sets *out to a
// result with dryRun, the root of the working tree and no entries. The caller must close the store.
func openTeamFiles(
	ctx context.Context,
	w *verb.Workspace,
	out *TeamShareOut,
	dryRun bool,
) (*team.Tree, *team.Store, error) {
	t, err := findTeamFiles(w)
	if err != nil {
		return nil, nil, err
	}
	*out = TeamShareOut{DryRun: dryRun, TopDir: t.Root(), MovedEntries: []TeamEntryMove{}}
	s, err := t.Open(ctx, mdtree.Options{Clock: w.Now})
	return t, s, err
}

// entriesToShare returns the entries in the memory m whose names are in the list names, without repetitions. It returns
// an error if one of these entries must not be shared. If a name belongs to no entry in m but to an entry in the team
// files, entriesToShare adds this entry to out.MovedEntries, because the entry is already shared.
func entriesToShare(
	ctx context.Context,
	w *verb.Workspace,
	t *team.Tree,
	s *team.Store,
	m *oxbow.Memory,
	names []string,
	out *TeamShareOut,
) (entries []oxbow.Entry, err error) {
	wrote := w.Host.TrustList.WrittenTeamFiles()
	for _, name := range names {
		e, err := m.Get(ctx, name)
		if p, terr := s.Locate(ctx, name); terr == nil && errors.Is(err, oxbow.ErrNotFound) {
			out.MovedEntries = append(
				out.MovedEntries,
				TeamEntryMove{EntryName: p.Entry.Name, File: t.RelPath(p.Path), FileAction: "shared"},
			)
			continue
		}
		if err != nil {
			return nil, w.AdviseUnknownName(ctx, m, name, err)
		}
		if slices.ContainsFunc(entries, func(o oxbow.Entry) bool { return o.Name == e.Name }) {
			continue
		}
		if err := checkMayShare(&e); err != nil {
			return nil, err
		}
		if err := checkTeamFileReplacement(ctx, t, s, e, wrote); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// checkTeamFileReplacement returns an error if the entry's team file contains an edit that would be lost.
func checkTeamFileReplacement(
	ctx context.Context,
	t *team.Tree,
	s *team.Store,
	e oxbow.Entry,
	writtenFiles map[string]bool,
) error {
	p, err := s.Locate(ctx, e.Name)
	if err != nil || p.Entry.Name != e.Name {
		return nil // Locate did not find a team file for an entry with exactly this name.
	}
	if mdtree.FormatEntry(p.Entry) == mdtree.FormatEntry(e) {
		return nil // The team file already contains the entry in this form.
	}
	err = t.CheckFileReplacement(ctx, p.Path, writtenFiles)
	return adviseUncommittedEdit(t, e.Name, err)
}

// adviseUncommittedEdit adds advice to err if it is a [team.UncommittedEditError].
func adviseUncommittedEdit(t *team.Tree, name string, err error) error {
	var edited *team.UncommittedEditError
	if !errors.As(err, &edited) {
		return err
	}
	top, file := text.ShellQuote(t.Root()), text.ShellQuote(edited.File)
	return verb.Advise(fmt.Errorf("%q stays as it is: %w", name, err),
		fmt.Sprintf(
			"to keep the edit in git's history: git -C %s add %s, then commit; to throw it away: git -C %s restore "+
				"%s; then call again",
			top,
			file,
			top,
			file,
		))
}

// shareEntry writes the team file of an entry. The outcome in the result is "written" for a new file, "changed", or
// "same". If dryRun is set, it only compares the entry with the file.
func shareEntry(
	ctx context.Context,
	w *verb.Workspace,
	t *team.Tree,
	s *team.Store,
	e oxbow.Entry,
	dryRun bool,
) (entryMove TeamEntryMove, err error) {
	entryMove = TeamEntryMove{EntryName: e.Name, FileAction: "written"}
	if p, err := s.Locate(ctx, e.Name); err == nil && p.Entry.Name == e.Name {
		entryMove.File, entryMove.FileAction = t.RelPath(p.Path), "changed"
		entryMove.ChangedLines = describeLineChanges(team.FormatEntry(p.Entry), team.FormatEntry(e))
		if entryMove.ChangedLines == nil {
			entryMove.FileAction = "same"
		}
	}
	if dryRun {
		return entryMove, nil
	}
	file, _, err := t.WriteEntry(
		ctx,
		s,
		e,
		team.WriteOptions{Random: w.Host.Rand, UserEntryHashes: w.Host.TrustList.WrittenTeamFiles()},
	)
	err = adviseUncommittedEdit(t, e.Name, err)
	entryMove.File = t.RelPath(file)
	if err == nil {
		_ = w.Host.TrustList.AddSharedFile(
			ctx,
			team.EntryHash(e),
		// Record that the user wrote this file. Without this record, the file would count as foreign until the team
		// has reviewed it.
		)
	}
	return entryMove, err
}

// checkMayShare returns an error if the entry must not be in team files.
func checkMayShare(e *oxbow.Entry) error {
	if err := checkMayShareEntry(e); err != nil {
		return err
	}
	if err := team.Check(*e); err != nil {
		return verb.Advise(
			fmt.Errorf("%w: %q is not shared: it %w", oxbow.ErrInvalid, e.Name, err),
			"change it with oxbow edit "+text.QuoteShellOperand(
				e.Name,
			)+"; oxbow get "+text.QuoteShellOperand(
				e.Name,
			)+" shows the text",
		)
	}
	return nil
}

// checkMayShareEntry returns an error if an entry must not leave the home: the entry contains secrets or personal data,
// or agents do not get the entry before a person approves it.
func checkMayShareEntry(e *oxbow.Entry) error {
	if !e.MayShow(oxbow.WithoutLabels) {
		return verb.Advise(
			fmt.Errorf("%w: %q is held back from agents (%s), and is not shared", oxbow.ErrInvalid, e.Name, e.Trust()),
			"read it, then oxbow approve "+text.QuoteShellOperand(e.Name),
		)
	}
	if found := verb.FindEntrySecrets(*e); len(found) > 0 {
		return verb.Advise(
			fmt.Errorf(
				"%w: the %s of %q looks like a secret (%s), and is not shared",
				oxbow.ErrInvalid,
				found[0].TextKind,
				e.Name,
				found[0].Rule,
			),
			"take it out with oxbow edit "+text.QuoteShellOperand(e.Name)+", or keep the entry in your home",
		)
	}
	if kinds := findPersonalDataKinds(e); len(kinds) > 0 {
		return verb.Advise(
			fmt.Errorf(
				"%w: %q holds personal data (%s), and is not shared",
				oxbow.ErrInvalid,
				e.Name,
				strings.Join(kinds, ", "),
			),
			"take it out with oxbow edit "+text.QuoteShellOperand(
				e.Name,
			)+"; oxbow get "+text.QuoteShellOperand(
				e.Name,
			)+
				" shows the text",
		)
	}
	return nil
}

// findPersonalDataKinds returns which kinds of personal data an entry's texts contain.
func findPersonalDataKinds(e *oxbow.Entry) (kinds []string) {
	texts := slices.Concat([]string{e.Name, e.Content}, e.Aliases, verb.LabelTexts(e.Labels))
	for _, k := range screen.ExamineTexts(nil, texts).PersonalDataKinds {
		kinds = append(kinds, string(k))
	}
	return kinds
}

// describeLineChanges returns the lines that differ between two texts, in order. An old line begins with - and a
// new line with +. It returns nil if the texts are equal.
func describeLineChanges(old, new string) (out []string) {
	a, b := strings.Split(old, "\n"), strings.Split(new, "\n")
	j := 0
	for i, to := range mapTextLines(a, b) {
		if to < 0 {
			out = append(out, "-"+a[i])
			continue
		}
		for ; j < to; j++ {
			out = append(out, "+"+b[j])
		}
		j = to + 1
	}
	for ; j < len(b); j++ {
		out = append(out, "+"+b[j])
	}
	return out
}

func mapTextLines(a, b []string) []int {
	in := diff.LineNumberer{}
	var m diff.LineMapper
	x := in.LineIDs(a)
	return m.MapEqualLines(x, in.LineIDs(b))
}

// UnshareEntries moves entries from team files to the home in a single change, and then removes their files. After an
// interruption, a second call completes the work: an entry that is in the home and no longer in the team files counts
// as moved.
func UnshareEntries(ctx context.Context, w *verb.Workspace, in TeamShareIn) (out TeamShareOut, err error) {
	if err := verb.RequirePerson(w.WithSource(ctx), "takes back what is shared",
		"oxbow team unshare NAME"); err != nil {
		return out, err
	}
	t, s, err := openTeamFiles(ctx, w, &out, in.DryRun)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if !t.IsTrusted(w.Host.TrustList) {
		return out, verb.Advise(
			fmt.Errorf(
				"%w: the team files are not trusted, and nothing of them goes into your home",
				oxbow.ErrReadOnly,
			),
			"look at them, then oxbow team trust",
		)
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Create.UnlessDryRun(in.DryRun))
	if err != nil {
		return out, err
	}
	back, err := planUnshare(ctx, w, t, s, in.Names)
	if err != nil {
		return out, err
	}
	out.MovedEntries = append(out.MovedEntries, back.earlierMoves...)
	places, adds := back.filesToRemove, back.opsAddingToHome
	if len(adds) > 0 && !in.DryRun {
		adds, out.AliasesOfOtherEntries, err = oxbow.WithoutTakenAliases(ctx, m, adds)
		if err != nil {
			return out, err
		}
		if err := m.Apply(oxbow.WithNote(ctx, "taken back from the team"), adds...); err != nil {
			return out, verb.WrapError("putting the entries into the home", err)
		}
		out.IsHomeChanged = true
	}
	for _, p := range places {
		if !in.DryRun {
			if err := t.RemoveEntry(ctx, s, p); err != nil {
				return out, err
			}
		}
		out.MovedEntries = append(
			out.MovedEntries,
			TeamEntryMove{EntryName: p.Entry.Name, File: t.RelPath(p.Path), FileAction: "removed"},
		)
	}
	return out, nil
}

// unsharePlan says what [UnshareEntries] will do.
type unsharePlan struct {
	filesToRemove   []mdtree.FileItem // team files that will be removed
	opsAddingToHome []oxbow.Op        // ops that add those entries to the home that the home does not contain
	earlierMoves    []TeamEntryMove   // entries that an earlier call already moved from the team files to the home
}

// planUnshare plans [UnshareEntries] without changing anything. It returns an error if neither the team files nor the
// home contain an entry, if the home contains a different entry with the same name, or if a team file has an edit that
// would be lost.
func planUnshare(
	ctx context.Context,
	w *verb.Workspace,
	t *team.Tree,
	s *team.Store,
	names []string,
) (plan unsharePlan, err error) {
	for _, name := range names {
		p, err := s.Locate(ctx, name)
		if errors.Is(err, oxbow.ErrNotFound) && isEntryInHome(ctx, w, name) {
			plan.earlierMoves = append(plan.earlierMoves, TeamEntryMove{EntryName: name, FileAction: "home"})
			continue
		}
		if err != nil {
			return plan, verb.Advise(
				fmt.Errorf("%w: the team files have no entry %q", oxbow.ErrNotFound, name),
				"oxbow team status lists them",
			)
		}
		if slices.ContainsFunc(plan.filesToRemove, func(o mdtree.FileItem) bool { return o.Path == p.Path }) {
			continue
		}
		has, err := compareWithHomeEntry(ctx, w, p.Entry)
		if err == nil && has == "other" {
			err = verb.Advise(
				fmt.Errorf("%w: the home has another entry %q", oxbow.ErrExists, name),
				"oxbow team share --dry-run "+text.QuoteShellOperand(name)+
					" shows how they differ; forget the one that is done with",
			)
		}
		if err == nil {
			err = adviseUncommittedEdit(t, name, t.CheckFileRemoval(ctx, p))
		}
		if err != nil {
			return plan, err
		}
		if e := p.Entry; has == "" {
			plan.opsAddingToHome = append(
				plan.opsAddingToHome,
				oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels,
					Created: e.Created},
			)
		}
		plan.filesToRemove = append(plan.filesToRemove, p)
	}
	return plan, nil
}

// isEntryInHome reports whether the home contains an entry with this name.
func isEntryInHome(ctx context.Context, w *verb.Workspace, name string) bool {
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return false
	}
	_, err = m.GetNamed(ctx, name)
	return err == nil
}

// ShareProposalsOut is the result of ShareProposals: the notes, and how they were shared.
type ShareProposalsOut struct {
	review.AcceptProposalsOut
	ShareResult *TeamShareOut `json:"shared,omitempty"`
}

// ShareProposals accepts proposals as notes, and then moves the notes to team files, like [TeamShare]. The caller must
// be a person. A note that must not be shared stays in the user's own memory. If sharing fails with an error, the new
// notes stay there too.
func ShareProposals(
	ctx context.Context,
	w *verb.Workspace,
	in review.AcceptProposalsIn,
) (out ShareProposalsOut, err error) {
	if err := verb.RequirePerson(w.WithSource(ctx), "shares what is remembered", "oxbow inbox accept ID"); err != nil {
		return out, err
	}
	if _, err := findTeamFiles(w); err != nil {
		return out, err
	}
	out.AcceptProposalsOut, err = review.AcceptProposals(ctx, w, in)
	if err != nil {
		return out, err
	}
	var names []string
	for _, n := range out.NewNotes {
		names = append(names, n.Name)
	}
	shared, err := TeamShare(ctx, w, TeamShareIn{Names: names})
	out.ShareResult = &shared
	return out, verb.WrapError("the notes are in your home; sharing them", err)
}

// Report returns a report that lists each entry with the action on its team file, such as shared, changed or taken
// back. The list includes entries that an earlier call already moved. Report adds a warning for each element of
// o.AliasesOfOtherEntries. If a file was changed, it also adds notes that tell the user how to commit the change, and
// how to undo the change of the home.
func (o TeamShareOut) Report() (r report.Report) {
	word := map[string]report.OxbowText{
		"written": report.EffectVerb(o.DryRun, "shared", "would share"),
		"changed": report.EffectVerb(o.DryRun, "changed", "would change"),
		"same":    report.EffectVerb(o.DryRun, "moved", "would move"),
		"removed": report.EffectVerb(o.DryRun, "took back", "would take back"),
		"shared":  "shared already:", "home": "in your home already:"}
	firstFile := ""
	for _, m := range o.MovedEntries {
		r.AddLinef("%s %s  %s", word[m.FileAction], report.EntryName(m.EntryName), m.File)
		for _, l := range m.ChangedLines {
			r.Add(report.Line{Sentence: report.Sentencef("%s", report.QuotedText(l)), Indent: 2})
		}
		isUnchanged := m.FileAction == "shared" || m.FileAction == "home"
		if firstFile == "" && !isUnchanged {
			firstFile = m.File
		}
	}
	for _, t := range o.AliasesOfOtherEntries {
		r.Warnf("%s", t.String())
	}
	if firstFile != "" && !o.DryRun {
		r.AddNotef(
			"to commit the change: git -C %s add -A %s, then git commit",
			report.OxbowText(text.ShellQuote(o.TopDir)),
			report.OxbowText(text.ShellQuote(path.Dir(firstFile))),
		)
		if o.IsHomeChanged {
			r.AddNotef("to take the change of your home back: oxbow undo")
		}
	}
	return r
}

// Report lists notes for the person, followed by the team files that were written for shared entries.
func (o ShareProposalsOut) Report() (r report.Report) {
	for _, n := range o.NewNotes {
		r.Append(n.Report())
	}
	if o.ShareResult != nil {
		r.Append(o.ShareResult.Report())
	}
	return r
}
