// This file finds secrets in the texts of annotations.

package annotations

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// screenAnnotationRecords replaces the secrets in the texts of annotations, or refuses the texts, as
// [verb.SecretPolicy] says. It returns the found secrets.
func screenAnnotationRecords(
	ctx context.Context,
	s *verb.SecretPolicy,
	rs []annotate.Record,
) (found []screen.Secret, err error) {
	for i := range rs {
		rs[i].Why, err = s.ScreenText(ctx, "reason", rs[i].Why, &found)
		if err != nil {
			return nil, err
		}
		for _, who := range []*string{&rs[i].Model, &rs[i].Agent, &rs[i].Profile, &rs[i].SourceRef} {
			*who, err = s.ScreenText(ctx, "author", *who, &found)
			if err != nil {
				return nil, err
			}
		}
		rs[i].RejectedAlternatives = slices.Clone(rs[i].RejectedAlternatives)
		for j, t := range rs[i].RejectedAlternatives {
			rs[i].RejectedAlternatives[j], err = s.ScreenText(ctx, "rejected way", t, &found)
			if err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}
