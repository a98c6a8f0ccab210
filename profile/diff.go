// This file compares two selections. These are the selections by two profiles, or by one profile at two times.

package profile

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
)

// A Side is one of the two profiles whose selected texts are compared, with the memory state from which they are
// selected.
type Side struct {
	Profile *Resolved
	AsOf    uint64 // number of the change after which the memory is read (0 for the current memory)
}

// Chosen is an entry or a document that a profile includes.
type Chosen struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"` // estimated number of tokens in the whole text in the form in which it is shown
	// the selection contains at least a part of the text (false if the whole text exceeds the budget)
	In bool `json:"in"`
}

// Changed is an entry that both compared selections include, but in different versions.
type Changed struct {
	Name string `json:"name"`
	A    int    `json:"a_tokens"`
	B    int    `json:"b_tokens"`
}

// Diff is the difference between the texts that two profiles A and B select from a memory. The entries are ordered by
// ID. DocumentsA is in the order in which profile A lists its documents, and DocumentsB is in the order of profile B.
type Diff struct {
	OnlyA      []Chosen  `json:"only_a"`
	OnlyB      []Chosen  `json:"only_b"`
	Changed    []Changed `json:"changed"`
	Same       int       `json:"same"` // number of entries that A and B both select in the same version
	DocumentsA []Chosen  `json:"documents_only_a"`
	DocumentsB []Chosen  `json:"documents_only_b"`
	TokensA    int       `json:"a_tokens"` // estimated number of tokens in the text of selection A
	TokensB    int       `json:"b_tokens"`
}

// Diff compares two selections: by two profiles, or by one profile at two times. It matches entries by their IDs. If
// an entry was forgotten and remembered again, it counts as two entries.
func (s *Set) Diff(ctx context.Context, m *oxbow.Memory, a, b Side) (Diff, error) {
	d := Diff{OnlyA: []Chosen{}, OnlyB: []Chosen{}, Changed: []Changed{}, DocumentsA: []Chosen{},
		DocumentsB: []Chosen{}}
	x, err := s.readProfileContents(ctx, m, a)
	if err != nil {
		return d, err
	}
	y, err := s.readProfileContents(ctx, m, b)
	if err != nil {
		return d, err
	}
	d.TokensA, d.TokensB = x.totalTokens, y.totalTokens
	for i := range x.entries {
		e := &x.entries[i]
		j, both := y.indexByID[e.ID]
		switch {
		case !both:
			d.OnlyA = append(d.OnlyA, x.describeChosenEntry(e))
		case y.entries[j].Version != e.Version:
			d.Changed = append(
				d.Changed,
				Changed{
					e.Name,
					prompt.EstimateTokens(formatEntryPart(e, "").Text),
					prompt.EstimateTokens(formatEntryPart(&y.entries[j], "").Text),
				},
			)
		default:
			d.Same++
		}
	}
	for i := range y.entries {
		if _, both := x.indexByID[y.entries[i].ID]; !both {
			d.OnlyB = append(d.OnlyB, y.describeChosenEntry(&y.entries[i]))
		}
	}
	d.DocumentsA, d.DocumentsB = x.documentsNotIn(y), y.documentsNotIn(x)
	return d, nil
}

// profileContents contains the entries and documents that one of the two compared profiles includes.
type profileContents struct {
	entries           []oxbow.Entry
	indexByID         map[uint64]int
	namesInText       map[string]bool // names of the entries whose text is shown to the model, at least in part
	includedDocuments []Chosen        // documents whose text the profile selects
	totalTokens       int
}

func (s *Set) readProfileContents(ctx context.Context, m *oxbow.Memory, comparedSide Side) (profileContents, error) {
	x := profileContents{indexByID: map[uint64]int{}, namesInText: map[string]bool{}}
	sel, err := s.Select(ctx, m, comparedSide.Profile, Request{AsOf: comparedSide.AsOf})
	if err != nil {
		return x, err
	}
	x.totalTokens = sel.Context.Tokens
	for _, p := range sel.Context.Parts {
		switch p.Name {
		case PartEntry:
			x.namesInText[p.Source] = true
		case documentPartName:
			x.includedDocuments = append(x.includedDocuments, Chosen{p.Source, p.Tokens, true})
		}
	}
	if comparedSide.AsOf != 0 {
		then, err := m.AsOf(ctx, comparedSide.AsOf)
		if err != nil {
			return x, err
		}
		defer then.Close()
		m = oxbow.New(then, nil)
	}
	x.entries, err = selectableEntries(ctx, m, comparedSide.Profile)
	if err != nil {
		return x, err
	}
	for i, e := range x.entries {
		x.indexByID[e.ID] = i
	}
	return x, nil
}

func (x *profileContents) describeChosenEntry(e *oxbow.Entry) Chosen {
	return Chosen{e.Name, prompt.EstimateTokens(formatEntryPart(e, "").Text), x.namesInText[e.Name]}
}

func (x *profileContents) documentsNotIn(y profileContents) []Chosen {
	but := []Chosen{}
	for _, d := range x.includedDocuments {
		other := false
		for _, o := range y.includedDocuments {
			other = other || o.Name == d.Name
		}
		if !other {
			but = append(but, d)
		}
	}
	return but
}
