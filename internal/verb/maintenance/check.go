// This file implements the verb check, which compares the files of a memory with the entries that the memory returns.

package maintenance

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/inbox"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
)

// CheckDataIn is the argument of CheckData.
type CheckDataIn struct {
	EarlierHash       string `json:"since,omitempty" value:"HEAD" usage:"Prove that changes were only added since this HEAD, which an earlier check, backup or stats printed."`
	ShouldSignLogHash bool   `json:"sign,omitempty"               usage:"Sign the head of the memory with the home's key, if the memory is sound."`
}

// CheckData checks the memory, the working tree's annotations, and the archive of sessions.
func CheckData(ctx context.Context, w *verb.Workspace, in CheckDataIn) (CheckDataOut, error) {
	if err := checkHashFormat("--since", in.EarlierHash); err != nil {
		return CheckDataOut{}, err
	}
	out, err := checkAgainstSignedHashes(ctx, w, in.EarlierHash, in.ShouldSignLogHash)
	if err != nil {
		return out, err
	}
	if out.OK {
		err = out.addAliasNotes(ctx, w)
	}
	if out.Problems == nil {
		out.Problems = []verb.Problem{}
	}
	if err == nil {
		out.Annotations, err = checkAnnotations(ctx, w)
	}
	if err == nil {
		out.Sessions, err = checkSessions(ctx, w, checkStoreFile)
	}
	if err := cmp.Or(err, out.nothingToCheckError(in)); err != nil {
		return out, err
	}
	out.OK = out.OK && (out.Annotations == nil || len(out.Annotations.Problems) == 0) &&
		(out.Sessions == nil || len(out.Sessions.Problems) == 0)
	return out, nil
}

// nothingToCheckError returns an error if the store's file is missing and nothing else was checked. Usually a check of
// annotations or sessions suffices. If in.EarlierHash or in.ShouldSignLogHash is set, such a check does not suffice,
// because these arguments are about the store's log. If a problem was found, the result is nil.
func (o *CheckDataOut) nothingToCheckError(in CheckDataIn) error {
	if !o.IsStoreFileMissing || !o.OK {
		return nil
	}
	isAboutLog := in.EarlierHash != "" || in.ShouldSignLogHash
	hasOthers := o.Annotations != nil || o.Sessions != nil
	if isAboutLog || !hasOthers {
		return verb.NoMemoryError(filepath.Dir(o.Store))
	}
	return nil
}

// addAliasNotes adds a note about each word that is the name or alias of two entries.
func (o *CheckDataOut) addAliasNotes(ctx context.Context, w *verb.Workspace) error {
	if o.IsStoreFileMissing {
		return nil
	}
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return err
	}
	found, err := checkAllNames(ctx, m)
	if err != nil {
		return err
	}
	for _, clash := range found.namesOfSeveralEntries {
		if len(o.Notes) < maxListedFindings {
			o.Notes = append(o.Notes, clash+"; "+sharedAliasAdvice)
		}
	}
	return nil
}

// checkAnnotations checks the files with the annotations of the working tree (sidecars). It returns nil if there are
// none.
func checkAnnotations(ctx context.Context, w *verb.Workspace) (*AnnotationsCheck, error) {
	if w.Annotations == nil {
		return nil, nil
	}
	ctx, s, err := annotations.OpenStore(ctx, w)
	if err != nil {
		return nil, err
	}
	r, err := s.CheckSidecars(ctx)
	if err != nil {
		return nil, err
	}
	if r.Files == 0 && len(r.Problems) == 0 {
		return nil, nil
	}
	out := &AnnotationsCheck{
		FileCount:               r.Files,
		AnnotationCount:         r.Annotations,
		LineCount:               r.Lines,
		FilesWithIncompleteLine: r.FilesWithIncompleteLine,
		FilesOfNewerFormat:      r.NewerFormatLines,
		Problems:                []LineProblem{},
	}
	for _, p := range r.Problems {
		out.Problems = append(out.Problems, LineProblem(p))
	}
	return out, nil
}

// sessionArchivePath returns the path of the session archive, or "" if it does not exist.
func sessionArchivePath(w *verb.Workspace) (string, error) {
	if w.Place == nil {
		return "", nil
	}
	p, err := w.FindPlace()
	if err != nil {
		return "", err
	}
	if !p.HasOwnLayout() || p.Home == p.StorePath {
		return "", nil
	}
	file := filepath.Join(p.Dir(), session.StoreFile)
	if _, err := os.Stat(file); err != nil {
		return "", nil
	}
	return file, nil
}

// ArchiveRepairAdvice tells the user how to repair a damaged archive of sessions.
func ArchiveRepairAdvice(file string) string {
	return "oxbow --home " + text.ShellQuote(file) +
		" recover --replace saves what can be read; or move the file away, and oxbow session import reads what the " +
		"clients still have"
}

// checkStoreFunc checks the store in a file. The functions in the parameter also are called with the open store.
type checkStoreFunc func(
	ctx context.Context,
	w *verb.Workspace,
	file string,
	also ...func(*oxbow.Memory) error,
) (oxbow.CheckReport, error)

// checkSessions checks the archive of sessions with the function checkStore, for which the caller passes
// [checkStoreFile] or [openStoreFile]. If the archive is damaged or is not a store, the result lists this as a problem,
// and the error is nil. checkSessions returns nil if the archive does not exist.
func checkSessions(ctx context.Context, w *verb.Workspace, checkStore checkStoreFunc) (*SessionsCheck, error) {
	file, err := sessionArchivePath(w)
	if err != nil || file == "" {
		return nil, err
	}
	out := &SessionsCheck{StorePath: file, Problems: []verb.Problem{}}
	r, err := checkStore(ctx, w, file, func(m *oxbow.Memory) (err error) {
		out.WaitingProposals, err = inbox.CountOpenProposals(ctx, m)
		return err
	})
	var damage *oxbow.CorruptError
	switch {
	case errors.As(err, &damage):
		out.Problems = append(
			out.Problems,
			verb.Problem{Offset: damage.Offset, Description: damage.Reason, Mend: ArchiveRepairAdvice(file)},
		)
		return out, nil
	case errors.Is(err, oxbow.ErrNotStore):
		out.Problems = append(
			out.Problems,
			verb.Problem{Description: oxbow.ErrNotStore.Error(), Mend: ArchiveRepairAdvice(file)},
		)
		return out, nil
	}
	out.Entries, out.Bytes = r.Entries, r.Bytes
	for _, p := range verb.ProblemsOfCheck(r) {
		// Replace this advice, because it would recover the memory and not the archive.
		if strings.Contains(p.Mend, "oxbow recover") {
			p.Mend = ArchiveRepairAdvice(file)
		}
		out.Problems = append(out.Problems, p)
	}
	return out, err
}
