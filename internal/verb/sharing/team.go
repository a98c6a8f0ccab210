// This file implements the verbs that create team files, trust team files, and show their state.

package sharing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/share/team"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// findTeamFiles returns the tree of team files (entries that a team shares in its repository) for the repository that
// contains the working directory w.Dir. If this repository has no team files, the error is a noTeamFilesError.
func findTeamFiles(w *verb.Workspace) (*team.Tree, error) {
	t, err := team.FindTree(w.Dir)
	if err == nil && t == nil {
		err = verb.Advise(noTeamFilesError{"this working tree"}, "oxbow team init creates them")
	}
	return t, err
}

// noTeamFilesError means that a directory lacks team files. It matches [oxbow.ErrNotFound].
type noTeamFilesError struct{ place string }

func (e noTeamFilesError) Error() string      { return e.place + " has no team files (" + team.Dir + ")" }
func (noTeamFilesError) Is(target error) bool { return target == oxbow.ErrNotFound }

// TeamInitIn is the argument of TeamInit.
type TeamInitIn struct {
	DryRun bool `json:"dry_run,omitempty" usage:"say what would be made and change nothing"`

	OxbowCommand string `json:"-"` // shell command that runs oxbow. Git runs this command to merge entries.
}

// TeamInitOut is the result of TeamInit.
type TeamInitOut struct {
	DryRun         bool     `json:"dry_run,omitempty"`
	Dir            string   `json:"dir"`
	WrittenFiles   []string `json:"written"` // paths of the files, relative to the working tree's root
	GitMergeDriver string   `json:"driver"`  // command with which git merges entries in this clone
	// URL or path that identifies the repository in the record of trusted repositories
	TrustedRepository string `json:"trusted"`
}

// TeamInit creates the team files of a working tree if they are missing, sets up the merge driver in this clone, and
// trusts the team files. A second call changes nothing.
func TeamInit(ctx context.Context, w *verb.Workspace, in TeamInitIn) (out TeamInitOut, err error) {
	if err := verb.RequirePerson(w.WithSource(ctx), "sets up team files", "oxbow team init"); err != nil {
		return out, err
	}
	t, err := team.FindOrNewTree(w.Dir)
	if errors.Is(err, git.ErrNoRepository) {
		err = verb.Advise(fmt.Errorf("team files travel with a git repository: %w", err), "git init makes one here")
	}
	if err != nil {
		return out, err
	}
	out = TeamInitOut{
		DryRun:            in.DryRun,
		Dir:               t.Path(),
		GitMergeDriver:    team.GitMergeCommand(in.OxbowCommand),
		TrustedRepository: t.TrustIdentity(),
		WrittenFiles:      []string{},
	}
	written, err := t.Init(ctx, in.OxbowCommand, in.DryRun)
	out.WrittenFiles = append(out.WrittenFiles, written...)
	if err != nil || in.DryRun {
		return out, err
	}
	if !t.IsTrusted(w.Host.TrustList) {
		err = t.MarkTrusted(ctx, w.Host.TrustList, w.CurrentTime())
	}
	return out, err
}

// TeamTrustIn is the argument of TrustTeamFiles.
type TeamTrustIn struct {
	ListTeams  bool `json:"list,omitempty"    usage:"show the repositories whose team files are trusted"`
	ForgetTeam bool `json:"forget,omitempty"  usage:"withdraw the trust"`
	DryRun     bool `json:"dry_run,omitempty" usage:"show what would be recorded and change nothing"`
}

// TeamTrustOut is the result of TrustTeamFiles.
type TeamTrustOut struct {
	DryRun bool `json:"dry_run,omitempty"`
	// the name by which the list of trusted repositories identifies this repository
	TrustedRepository string `json:"team,omitempty"`
	EntryCount        int    `json:"entries,omitempty"`
	// names of at most maxShownTeamNames entries in the team files
	Names   []string     `json:"names,omitempty"`
	Outcome string       `json:"did,omitempty"` // "trusted", "forgotten", or "" if nothing was done
	Teams   []trust.Team `json:"teams,omitempty"`
}

// maxShownTeamNames is the number of entry names that a person is shown before trusting team files.
const maxShownTeamNames = 5

// DescribeEntryNames returns the names of the first entries, and how many more there are.
func (o TeamTrustOut) DescribeEntryNames() string {
	s := strings.Join(o.Names, "; ")
	if more := o.EntryCount - len(o.Names); more > 0 && len(o.Names) > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s
}

// TrustTeamFiles records that the user trusts the team files of this repository, so that recall may show them. The
// record applies to every clone of the repository. If in.ForgetTeam is set, TrustTeamFiles removes the record instead.
// If in.DryRun is set, it changes nothing, but returns the result that the change would have. Both actions require that
// the caller is a person, and otherwise fail. If in.ListTeams is set, TrustTeamFiles only lists the records of all
// repositories, for any caller.
func TrustTeamFiles(ctx context.Context, w *verb.Workspace, in TeamTrustIn) (out TeamTrustOut, err error) {
	if in.ListTeams {
		return TeamTrustOut{Teams: w.Host.TrustList.Teams()}, nil
	}
	if err := verb.RequirePerson(w.WithSource(ctx), "trusts team files", "oxbow team trust"); err != nil {
		return out, err
	}
	t, err := findTeamFiles(w)
	if err != nil {
		return out, err
	}
	out = TeamTrustOut{DryRun: in.DryRun, TrustedRepository: t.TrustIdentity()}
	switch known := t.IsTrusted(w.Host.TrustList); {
	case (in.ForgetTeam && !known) || (!in.ForgetTeam && known):
		return out, nil
	case in.ForgetTeam:
		out.Outcome = "forgotten"
		if !in.DryRun {
			_, err = w.Host.TrustList.RemoveTeam(ctx, t.TrustIdentity())
		}
		return out, err
	}
	files, _, err := team.LintFiles(t.Path())
	out.EntryCount, out.Outcome = len(files), "trusted"
	for _, f := range files[:min(len(files), maxShownTeamNames)] {
		out.Names = append(out.Names, text.TruncateWithEllipsis(f.Entry.Name, 60))
	}
	if err == nil && !in.DryRun {
		err = t.MarkTrusted(ctx, w.Host.TrustList, w.CurrentTime())
	}
	return out, err
}

// TeamStatusIn is the argument of TeamStatus. It is empty.
type TeamStatusIn struct{}

// TeamStatusOut is the result of TeamStatus.
type TeamStatusOut struct {
	Dir            string        `json:"dir"`
	Team           string        `json:"team"`
	IsTrusted      bool          `json:"trusted"`
	Branch         string        `json:"branch,omitempty"` // name of the reviewed branch
	HasMergeDriver bool          `json:"driver"`           // git uses the merge driver in this clone
	Files          []TeamFile    `json:"files"`
	Problems       []TeamProblem `json:"problems"`
}

// TeamFile describes a team file and its entry.
type TeamFile struct {
	EntryName string `json:"name"`
	File      string `json:"file"` // path relative to the root of the working tree
	// "reviewed" if the file's text is on the reviewed branch, otherwise "local"
	ReviewState string `json:"standing"`
	Commit      string `json:"commit,omitempty"` // last commit on the reviewed branch that has changed the file
	// the home's entry with this name: "same", "other" if it differs, or "" without such an entry
	HomeEntryState string `json:"home,omitempty"`
}

// TeamProblem is a problem with the team files.
type TeamProblem struct {
	File        string `json:"file,omitempty"`
	Description string `json:"what"`
	Mend        string `json:"mend,omitempty"`
}

// maxCommitLookups is the maximum number of files for which git is asked for the last commit, because git must be
// started for each file.
const maxCommitLookups = 20

// TeamStatus lists the team files. For each file, it says whether the entry was reviewed, and whether the home
// contains the same entry. It also lists problems.
func TeamStatus(ctx context.Context, w *verb.Workspace, _ TeamStatusIn) (out TeamStatusOut, err error) {
	t, err := findTeamFiles(w)
	if err != nil {
		return out, err
	}
	out = TeamStatusOut{Dir: t.Path(), Team: t.TrustIdentity(), IsTrusted: t.IsTrusted(w.Host.TrustList),
		HasMergeDriver: t.HasMergeDriver(), Files: []TeamFile{}, Problems: []TeamProblem{}}
	files, wrong, err := team.LintFiles(t.Path())
	if err != nil {
		return out, err
	}
	s, err := t.Open(ctx, mdtree.Options{Clock: w.Now})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	reviewed, up, rerr := s.ReviewedNames(ctx)
	out.Branch = up.Branch
	for _, f := range files {
		file := TeamFile{EntryName: f.Entry.Name, File: t.RelPath(f.Name), ReviewState: "local"}
		path, pathErr := s.EntryFilePath(ctx, f.Entry.Name)
		isEntryFile := pathErr == nil && filepath.Base(path) == f.Name
		if isEntryFile && reviewed[f.Entry.Name] {
			file.ReviewState = "reviewed"
			if len(out.Files) < maxCommitLookups {
				// Ignore the error: if the commit that added the file cannot be found, file.Commit stays empty.
				file.Commit, _ = s.LastReviewedCommit(ctx, f.Entry.Name)
			}
		}
		file.HomeEntryState, err = compareWithHomeEntry(ctx, w, f.Entry)
		if err != nil {
			return out, err
		}
		out.Files = append(out.Files, file)
	}
	out.addProblems(t, wrong, up, rerr)
	return out, nil
}

// addProblems adds problems with the team files to the receiver. The list findings contains the findings of the linter.
// The argument upstream is the branch with the reviewed version of the team files, and searchErr is the error of the
// search for this version. addProblems also adds a problem if the user does not trust the team files, or if the merge
// driver is not set up.
func (out *TeamStatusOut) addProblems(t *team.Tree, findings []team.Finding, upstream team.Upstream, searchErr error) {
	add := func(file, what, mend string) { out.Problems = append(out.Problems, TeamProblem{file, what, mend}) }
	switch {
	case searchErr != nil:
		add("", "what is reviewed cannot be read: "+searchErr.Error(), "")
	case upstream.Branch == "":
		add(
			"",
			"this clone has no branch of origin that could be reviewed: all entries count as local",
			"git fetch origin, then git remote set-head origin --auto",
		)
	case upstream.Commit == "":
		add("", "this clone does not have the branch that team.yaml names, "+upstream.Branch+
			": all entries count as local", "git fetch origin")
	}
	if !out.IsTrusted {
		add("", "the team files are not trusted, so that nothing recalls them", "oxbow team trust")
	}
	if !out.HasMergeDriver {
		add("", "the merge driver is not set up in this clone: git merges entries by line", "oxbow team init")
	}
	for _, f := range findings {
		p := TeamProblem{Description: f.Problem, Mend: f.Mend}
		if f.File != "" {
			p.File = t.RelPath(f.File)
		}
		out.Problems = append(out.Problems, p)
	}
}

// compareWithHomeEntry looks up the home's entry with the name of e. It returns "same" for equal entries, "other" for
// different entries, and "" if the home lacks such an entry.
func compareWithHomeEntry(ctx context.Context, w *verb.Workspace, e oxbow.Entry) (string, error) {
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return "", err
	}
	own, err := m.GetNamed(ctx, e.Name)
	switch {
	case errors.Is(err, oxbow.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	case isSameEntry(own, e):
		return "same", nil
	}
	return "other", nil
}

// isSameEntry reports whether two entries have the same name, kind, content, aliases and labels.
func isSameEntry(a, b oxbow.Entry) bool {
	return a.Name == b.Name && a.Kind == b.Kind && a.Content == b.Content && slices.Equal(a.Aliases, b.Aliases) &&
		slices.Equal(a.Labels, b.Labels)
}
