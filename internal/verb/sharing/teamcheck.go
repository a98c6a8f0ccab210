// This file implements the command "team check", which finds team files that must not be merged into the reviewed
// branch. It also implements the program that git calls to merge two versions of a team file.

package sharing

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/fileref"
	"github.com/oxbow-memory/oxbow/internal/share/team"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// TeamCheckIn is the argument of CheckTeamFiles.
type TeamCheckIn struct {
	Dir string `json:"dir,omitempty" flag:"-" usage:"a directory of the repository, if not the working directory, or that of the files itself"`
}

// TeamCheckOut is the result of CheckTeamFiles.
type TeamCheckOut struct {
	Dir        string        `json:"dir"`
	EntryCount int           `json:"entries"`
	Problems   []TeamProblem `json:"problems"`
}

// Failed reports whether there is at least one problem.
func (o TeamCheckOut) Failed() bool { return len(o.Problems) > 0 }

// CheckTeamFiles reads all team files in a directory, and reports what must not be merged: unreadable files, secrets,
// personal data, duplicate names, conflicts, and references to files that have changed. CheckTeamFiles can run in
// continuous integration, because it needs neither a home nor trust nor a history.
func CheckTeamFiles(ctx context.Context, w *verb.Workspace, in TeamCheckIn) (TeamCheckOut, error) {
	dir := team.FindFilesDir(cmp.Or(in.Dir, w.Dir))
	if dir == "" && in.Dir != "" {
		if _, err := os.Lstat(filepath.Join(in.Dir, "team.yaml")); err == nil {
			dir = in.Dir
		}
	}
	if dir == "" {
		return TeamCheckOut{}, verb.Advise(
			noTeamFilesError{cmp.Or(in.Dir, w.Dir) + ", with the directories above it,"},
			"oxbow team init creates them; a link to team files is not followed",
		)
	}
	files, wrong, err := team.LintFiles(dir)
	if err != nil {
		return TeamCheckOut{}, err
	}
	out := TeamCheckOut{Dir: dir, EntryCount: len(files), Problems: []TeamProblem{}}
	for _, f := range wrong {
		out.Problems = append(out.Problems, TeamProblem{f.File, f.Problem, f.Mend})
	}
	for _, f := range files {
		for _, s := range verb.FindEntrySecrets(f.Entry) {
			out.Problems = append(
				out.Problems,
				TeamProblem{
					f.Name,
					fmt.Sprintf("its %s looks like a secret (%s)", s.TextKind, s.Rule),
					"take it out, and make it invalid where it is used: git keeps it",
				},
			)
		}
		if kinds := findPersonalDataKinds(&f.Entry); len(kinds) > 0 {
			out.Problems = append(out.Problems, TeamProblem{f.Name, "it holds personal data (" +
				strings.Join(kinds, ", ") + ")", "take it out: git keeps it"})
		}
	}
	out.Problems = append(out.Problems, findStaleCitations(ctx, w, files)...)
	slices.SortStableFunc(out.Problems, func(a, b TeamProblem) int { return strings.Compare(a.File, b.File) })
	return out, nil
}

// findStaleCitations returns a problem for each file to which an entry refers and that has changed since the entry was
// created. If there is no working tree, it returns nil.
func findStaleCitations(ctx context.Context, w *verb.Workspace, files []team.File) (out []TeamProblem) {
	for some := range slices.Chunk(files, 50) {
		var es []oxbow.Entry
		for i, f := range some {
			e := f.Entry
			e.ID, e.Updated = uint64(i+1), e.Created
			es = append(es, e)
		}
		refs, _ := w.CheckFileRefs(ctx, es)
		for i, f := range some {
			for _, r := range refs[uint64(i+1)] {
				if r.State == string(fileref.RefStale) {
					out = append(
						out,
						TeamProblem{
							f.Name,
							fmt.Sprintf("it cites %s, which is stale: %s", r.File, r.StateText),
							"change what it says, or the citation",
						},
					)
				}
			}
		}
	}
	return out
}

// MergeEntryIn is the argument of MergeEntry. It contains the paths of three files.
type MergeEntryIn struct {
	BaseVersionFile  string `json:"base"   flag:"-"`
	OurVersionFile   string `json:"ours"   flag:"-"`
	TheirVersionFile string `json:"theirs" flag:"-"`
}

// MergeEntryOut is the result of MergeEntry.
type MergeEntryOut struct {
	// both versions changed the same part of the team file, and the merged file contains both texts
	HasConflict bool `json:"conflict"`
}

// MergeEntry merges two versions of a team file, in.OurVersionFile and in.TheirVersionFile, which were both made from
// in.BaseVersionFile. It writes the result to the file in.OurVersionFile, because git expects this of a merge driver.
func MergeEntry(_ context.Context, _ *verb.Workspace, in MergeEntryIn) (out MergeEntryOut, err error) {
	out.HasConflict, err = team.MergeFiles(in.BaseVersionFile, in.OurVersionFile, in.TheirVersionFile)
	return out, err
}
