// This file reads entries for the tools of layouts.

package dialect

import (
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow"
)

// GetOfKind returns the entry with this name if the entry has this kind. Otherwise the error
// matches [oxbow.ErrNotFound].
func (b *Base) GetOfKind(ctx context.Context, name string, kind oxbow.Kind) (oxbow.Entry, error) {
	e, err := b.HomeMemory.GetNamed(ctx, name)
	if err == nil && e.Kind != kind {
		err = &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	if err != nil {
		return oxbow.Entry{}, fmt.Errorf("resuming from %q: %w", name, err)
	}
	return e, nil
}
