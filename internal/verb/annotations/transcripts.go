// This file implements the verb that adds annotations from the transcripts of agents.

package annotations

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/fileedits"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// AnnotateTranscriptsIn is the argument of AnnotateTranscripts.
type AnnotateTranscriptsIn struct {
	Transcripts   []string `json:"from"                 flag:"from-transcript" value:"FILE" jsonschema:"read a FILE, - for standard input, or the transcripts in a directory; you can name several"`
	FormerTreeDir string   `json:"moved_from,omitempty"                        value:"DIR"  jsonschema:"the DIR in which this tree was when the transcript was written"`
	DryRun        bool     `json:"dry_run,omitempty"                                        jsonschema:"show what would be added, and add nothing"`

	Stdin io.Reader `json:"-"` // input if a name is "-"
}

// AnnotateTranscriptsOut is the result of AnnotateTranscripts.
type AnnotateTranscriptsOut struct {
	DryRun      bool `json:"dry_run,omitempty"`
	Transcripts int  `json:"transcripts"`
	// number of annotations that were added, or would be added by a dry run
	AddedAnnotations int `json:"added"`
	// number of edits in the transcripts that had an annotation in the store before this call
	KnownAnnotations int               `json:"known"`
	Annotations      []EditAnnotation  `json:"annotations"`
	Skipped          SkippedItemCounts `json:"skipped"`
	// edited files outside of the tree, at most maxListedFilesOutsideTree
	FilesOutsideTree []string `json:"outside,omitempty"`
}

// EditAnnotation is a new annotation, made from an edit in a transcript.
type EditAnnotation struct {
	ID            string `json:"id"`
	File          string `json:"file"`
	StartLine     int    `json:"start_line,omitempty"`
	EndLine       int    `json:"end_line,omitempty"`
	Reason        string `json:"why"`
	Headline      string `json:"-"`
	Agent         string `json:"agent"`
	Model         string `json:"model,omitempty"`
	Session       string `json:"session,omitempty"`
	EditReference string `json:"ref"`
}

// SkippedItemCounts counts the items for which no annotation is made, by reason.
type SkippedItemCounts struct {
	RefusedEdits        int `json:"failed"`    // edits that the client refused
	EditsWithoutResult  int `json:"pending"`   // edits whose result is not in the transcript yet
	EditsOutsideTree    int `json:"outside"`   // edits of files outside the tree
	EditsOfDeletedFiles int `json:"removed"`   // edits of source files that were deleted after the edit
	EditsWithoutLines   int `json:"unlocated"` // edits whose lines cannot be found
	UnreadableLines     int `json:"bad_lines"` // lines of transcripts that cannot be read
	NonTranscriptFiles  int `json:"others"`    // files in the given directories that are not transcripts
}

// maxListedFilesOutsideTree is the maximum number of listed files outside the tree.
const maxListedFilesOutsideTree = 20

// AnnotateTranscripts adds annotations for the edits in transcripts. Files in a directory that are not transcripts are
// skipped and counted. If the working tree had a different path when the edits were made, in.FormerTreeDir must be the
// former absolute path of the working tree. If in.DryRun is set, nothing is stored.
func AnnotateTranscripts(
	ctx context.Context,
	w *verb.Workspace,
	in AnnotateTranscriptsIn,
) (AnnotateTranscriptsOut, error) {
	out := AnnotateTranscriptsOut{DryRun: in.DryRun, Annotations: []EditAnnotation{}}
	ctx, s, err := OpenStore(ctx, w)
	if err != nil {
		return out, err
	}
	isAbsolute := strings.HasPrefix(in.FormerTreeDir, "/") || filepath.IsAbs(in.FormerTreeDir)
	if in.FormerTreeDir != "" && !isAbsolute {
		return out, verb.Advise(
			verb.InvalidValue("--moved-from", in.FormerTreeDir, "is not absolute"),
			"give the whole path",
		)
	}
	for _, name := range in.Transcripts {
		names, dir, err := listTranscripts(name)
		if err != nil {
			return out, err
		}
		for _, n := range names {
			err := out.addTranscript(ctx, w, s, n, in)
			switch {
			case errors.Is(err, fileedits.ErrUnknownTranscript) && dir:
				out.Skipped.NonTranscriptFiles++
			case err != nil:
				return out, fmt.Errorf("%s: %w", n, err)
			}
		}
	}
	return out, nil
}

// listTranscripts returns the files to which a name refers, and whether the name is a directory. For a directory,
// these are the transcripts in it, at any depth.
func listTranscripts(fileOrDir string) ([]string, bool, error) {
	if fileOrDir == "-" {
		return []string{fileOrDir}, false, nil
	}
	fi, err := os.Stat(fileOrDir)
	if err != nil {
		return nil, false, fmt.Errorf("reading a transcript: %w", err)
	}
	if !fi.IsDir() {
		return []string{fileOrDir}, false, nil
	}
	var names []string
	err = filepath.WalkDir(fileOrDir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && clientfile.IsTranscript(p) {
			names = append(names, p)
		}
		return nil
	})
	if err != nil {
		return nil, true, fmt.Errorf("looking for transcripts: %w", err)
	}
	if len(names) == 0 {
		return nil, true, verb.Advise(
			verb.Invalidf("there is no transcript in %s", fileOrDir),
			"transcripts are files that end in .jsonl or .jsonl.zst, and session-*.json",
		)
	}
	return names, true, nil
}

// addTranscript adds annotations for the edits in one transcript, and adds the counts to out. name is the path of the
// transcript, or "-" for in.Stdin. With in.DryRun, nothing is stored.
func (out *AnnotateTranscriptsOut) addTranscript(
	ctx context.Context,
	w *verb.Workspace,
	s *annotate.Store,
	name string,
	in AnnotateTranscriptsIn,
) error {
	r, file := in.Stdin, ""
	if name != "-" {
		f, err := clientfile.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		r, file = f, name
	}
	t, err := fileedits.ReadTranscript(r, file)
	if err != nil {
		return err
	}
	j, err := fileedits.MakeRecords(s, t, &fileedits.Options{OldTreePath: in.FormerTreeDir})
	if err != nil {
		return err
	}
	fresh, err := addImportedRecords(ctx, w, s, j.Records, in.DryRun)
	if err != nil {
		return err
	}
	out.Transcripts++
	out.AddedAnnotations += len(fresh)
	out.KnownAnnotations += len(j.Records) - len(fresh)
	for _, r := range fresh {
		out.Annotations = append(
			out.Annotations,
			EditAnnotation{ID: r.ID, File: r.File, StartLine: r.Span.First, EndLine: r.Span.Last,
				Reason: r.Why, Headline: r.Headline(), Agent: r.Agent, Model: r.Model, Session: r.Session,
				EditReference: r.SourceRef},
		)
	}
	sk := &out.Skipped
	sk.RefusedEdits += t.FailedCalls
	sk.EditsWithoutResult += t.PendingCalls
	sk.EditsOutsideTree += j.EditCountOutsideTree
	sk.EditsOfDeletedFiles += t.DeletedFiles
	sk.EditsWithoutLines += t.CallsWithUnknownChanges + j.UnlocatedEditCount
	sk.UnreadableLines += t.UnreadableLines
	for _, o := range j.FilesOutsideTree {
		if len(out.FilesOutsideTree) < maxListedFilesOutsideTree && !slices.Contains(out.FilesOutsideTree, o) {
			out.FilesOutsideTree = append(out.FilesOutsideTree, o)
		}
	}
	return nil
}

// unstoredEditRecords returns those of the records that the store does not contain yet. It also replaces the secrets in
// all records of the list.
func unstoredEditRecords(
	ctx context.Context,
	w *verb.Workspace,
	s *annotate.Store,
	records []annotate.Record,
) ([]annotate.Record, error) {
	// The annotations count as imported: their author is the agent that wrote the transcript, even if a person imports
	// it.
	by, _ := oxbow.SourceFrom(ctx)
	by.Actor = oxbow.Imported
	if _, err := screenAnnotationRecords(oxbow.WithSource(ctx, by), &w.Secrets, records); err != nil {
		return nil, err
	}
	has, err := s.HasRecords(ctx, records)
	if err != nil {
		return nil, err
	}
	var fresh []annotate.Record
	for i, r := range records {
		if !has[i] {
			fresh = append(fresh, r)
		}
	}
	return fresh, nil
}

// addImportedRecords stores the records that are not stored yet, and returns them. Nobody vouches for the content of an
// imported file, so these records count as annotations by somebody else. In a dry run, addImportedRecords stores
// nothing. It then returns the records that it would store, and the error of the check for a sparse checkout.
func addImportedRecords(
	ctx context.Context,
	w *verb.Workspace,
	s *annotate.Store,
	records []annotate.Record,
	isDryRun bool,
) ([]annotate.Record, error) {
	fresh, err := unstoredEditRecords(ctx, w, s, records)
	if err != nil {
		return nil, err
	}
	if isDryRun {
		return fresh, verb.WrapError("annotating", s.CheckSparseCheckout())
	}
	_, err = s.AddFromOtherAuthors(ctx, fresh...)
	return fresh, err
}
