// This file presents annotations as a read-only store of entries, so that recall can search and rank them.

package annotate

import (
	"context"
	"iter"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// foundAnnotationStore is a read-only [oxbow.Store] of annotations. An entry's ID is the index of its annotation plus
// 1.
type foundAnnotationStore struct {
	foundAnnotations []FoundAnnotation
	textToSearch     func(*Record) string
}

// reasoningSearchText returns the text of an annotation that is searched if a person searches for a reason: the reason
// and the rejected alternatives.
func reasoningSearchText(r *Record) string {
	return strings.Join(append([]string{r.Why}, r.RejectedAlternatives...), "\n")
}

// annotatedBlockText returns the annotated lines as one text. It is searched if a person searches for annotations by
// the words of the lines.
func annotatedBlockText(r *Record) string { return strings.Join(r.Block, "\n") }

func (s *foundAnnotationStore) entryAt(i int) oxbow.Entry {
	r := &s.foundAnnotations[i].Record
	e := oxbow.Entry{ID: uint64(i) + 1, Name: r.ID, Content: s.textToSearch(r), Created: r.Time, Updated: r.Time,
		Source: oxbow.Source{Time: r.Time, Actor: r.Author, Session: r.Session, Profile: r.Profile}}
	for _, l := range []oxbow.Label{
		{Key: oxbow.LabelFile, Value: s.foundAnnotations[i].CurrentFile},
		{Key: "agent", Value: r.Agent},
		{Key: "model", Value: r.Model},
		{Key: "profile", Value: r.Profile},
	} {
		if l.Value != "" {
			e.Labels = append(e.Labels, l)
		}
	}
	if r.Archived {
		e.Labels = append(e.Labels, oxbow.Label{Key: "archived", Value: "true"})
	}
	e.Labels = oxbow.SortLabels(e.Labels)
	return e
}

// Entries yields the annotations that match the filter as entries.
func (s *foundAnnotationStore) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		for i := range s.foundAnnotations {
			if err := ctx.Err(); err != nil {
				yield(oxbow.Entry{}, err)
				return
			}
			if e := s.entryAt(i); f.Match(&e) && !yield(e, nil) {
				return
			}
		}
	}
}

// Get returns an entry that represents an annotation. The parameter name is the annotation's ID. If no annotation has
// this ID, the error is [oxbow.ErrNotFound].
func (s *foundAnnotationStore) Get(_ context.Context, name string) (oxbow.Entry, error) {
	for i := range s.foundAnnotations {
		if s.foundAnnotations[i].ID == name {
			return s.entryAt(i), nil
		}
	}
	return oxbow.Entry{}, oxbow.ErrNotFound
}

// Apply always fails. Annotations are written by [Store.Add].
func (s *foundAnnotationStore) Apply(context.Context, ...oxbow.Op) error { return oxbow.ErrReadOnly }

// Close does nothing.
func (s *foundAnnotationStore) Close() error { return nil }
