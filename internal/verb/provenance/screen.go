// This file examines changes before they are stored, to remove secrets and to label texts by their origin.

package provenance

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// Screener examines all changes from all interfaces before they are stored.
type Screener struct {
	SecretPolicy   verb.SecretPolicy
	ProvenanceData verb.ProvenanceData

	// OmitLabels is set if the layout of the home cannot store labels. The changes then get no labels.
	OmitLabels bool

	// KeepOrigins keeps the origins and the labels that the entries already have. Only labels for personal data are
	// added. KeepOrigins is set when a home is converted.
	KeepOrigins bool
}

// ScreenOps returns the changes in the form in which they may be stored. It is an [oxbow.Options.Screen].
//
// First, ScreenOps handles secrets, so that later steps cannot store them. It replaces the secrets, or it refuses the
// changes with an error. Then it adds labels, unless s.OmitLabels is set. There are three kinds of labels: labels for
// the origins of the texts ([addOriginLabels]), labels for texts that look like instructions and were not written by a
// person, and labels for personal data. If s.KeepOrigins is set, ScreenOps adds only labels for personal data.
func (s *Screener) ScreenOps(ctx context.Context, store oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
	ops = slices.Clone(ops)
	for i, op := range ops {
		var err error
		ops[i], err = s.SecretPolicy.ScreenOp(ctx, store, op)
		if err != nil {
			return nil, err
		}
	}
	if s.OmitLabels {
		return ops, nil
	}
	if s.KeepOrigins {
		return labelPersonalData(ctx, store, ops, nil), nil
	}
	ops, labelled, err := addOriginLabels(ctx, store, ops, s.ProvenanceData)
	if err != nil {
		return nil, err
	}
	return labelPersonalData(ctx, store, ops, labelled), nil
}
