// This file implements "oxbow blame", which shows the commit and the annotations for each line of a file.

package annotations

import (
	"context"
	"time"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// BlameIn is the argument of Blame.
type BlameIn struct {
	File string `json:"file" flag:"-" jsonschema:"path of the file, slash-separated, below the root of the working tree"`
}

// BlameOut lists the lines of a file.
type BlameOut struct {
	File        string       `json:"file"`
	Lines       []BlameLine  `json:"lines"`
	Annotations []Annotation `json:"annotations"` // annotations to which the lines refer by ID, each once
	Notes       []verb.Note  `json:"notes,omitempty"`
}

// BlameLine is a line of a file.
type BlameLine struct {
	Line   int    `json:"line"`
	Commit string `json:"commit,omitempty"`
	// line number in the version of the file at the commit that the field Commit names
	LineInCommit    int      `json:"from,omitempty"`
	Author          string   `json:"author,omitempty"`
	Time            string   `json:"time,omitempty"`
	Summary         string   `json:"summary,omitempty"`
	PorcelainHeader []string `json:"-"` // author, committer and summary in the format of git blame --porcelain
	Text            string   `json:"text"`
	AnnotationIDs   []string `json:"why,omitempty"` // IDs of the line's annotations
}

// Blame returns the lines of a file in the working tree, each with the commit and the annotation IDs.
func Blame(ctx context.Context, w *verb.Workspace, in BlameIn) (BlameOut, error) {
	out := BlameOut{File: in.File, Lines: []BlameLine{}, Annotations: []Annotation{}}
	ctx, s, err := OpenStore(ctx, w)
	if err != nil {
		return out, err
	}
	lines, err := s.Blame(ctx, in.File)
	if note, ok := gitFailureNote(err); ok {
		out.Notes = append(out.Notes, verb.PlainNote(note))
	} else if err != nil {
		return out, err
	}
	seen := map[string]bool{}
	for _, l := range lines {
		b := BlameLine{
			Line:            l.Number,
			Commit:          l.Commit,
			LineInCommit:    l.CommitLine,
			Author:          l.Author,
			Summary:         l.Summary,
			PorcelainHeader: l.PorcelainHeader,
			Text:            l.Text,
		}
		if l.Commit != "" {
			b.Time = l.Time.UTC().Format(time.RFC3339)
		}
		for _, f := range l.Annotations {
			b.AnnotationIDs = append(b.AnnotationIDs, f.ID)
			if !seen[f.ID] {
				seen[f.ID] = true
				out.Annotations = append(out.Annotations, makeAnnotation(f))
			}
		}
		out.Lines = append(out.Lines, b)
	}
	return out, nil
}
