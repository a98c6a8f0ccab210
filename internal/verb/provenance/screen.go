// This file examines changes before they are stored.

package provenance

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// Screener examines all changes before they are stored, independent of the interface through which
// a change arrives.
type Screener struct {
	SecretPolicy   verb.SecretPolicy
	ProvenanceData verb.ProvenanceData

	// NoLabels omits the labels, because the layout of the home cannot store them.
	NoLabels bool

	// KeepOrigins keeps the origins and labels that the entries bring, as when a home is converted. It
	// labels only personal data.
	KeepOrigins bool
}

// ScreenOps returns the changes as they may be stored. It is an [oxbow.Options.Screen].
//
// Secrets are replaced or refused first, so that nothing after this step stores them. Then the
// changes are labelled with their origin ([stampOrigins]) and with the findings about each text that
// will be stored: personal data and, unless a person wrote the text, the shape of instructions.
func (s *Screener) ScreenOps(ctx context.Context, store oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
	ops = slices.Clone(ops)
	for i, op := range ops {
		var err error
		ops[i], err = s.SecretPolicy.ScreenOp(ctx, store, op)
		if err != nil {
			return nil, err
		}
	}
	if s.NoLabels {
		return ops, nil
	}
	if s.KeepOrigins {
		return labelPersonalData(ctx, store, ops, nil), nil
	}
	ops, labelled, err := stampOrigins(ctx, store, ops, s.ProvenanceData)
	if err != nil {
		return nil, err
	}
	return labelPersonalData(ctx, store, ops, labelled), nil
}
