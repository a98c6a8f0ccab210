// This file replaces secrets in imported items.

package transfer

import (
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// screenedItems yields imported items with their secrets replaced. It adds their conversations to frames.
func screenedItems(
	ctx context.Context,
	s *verb.Secrets,
	frames *screen.Frames,
	items iter.Seq2[exchange.Item, error],
) iter.Seq2[exchange.Item, error] {
	ctx = oxbow.WithSource(ctx, oxbow.Source{Actor: oxbow.Imported})
	return func(yield func(exchange.Item, error) bool) {
		for it, err := range items {
			var found []screen.Secret
			if err == nil {
				it.Entry, err = s.Entry(ctx, it.Entry, oxbow.Entry{}, &found)
			}
			if note := verb.ReplacedSecrets(found); note != "" {
				it.Warnings = append(it.Warnings, it.Ref+": "+note)
			}
			if err == nil && it.Spoken != "" {
				frames.Add(it.Entry.Content, it.Spoken)
				it.Spoken = ""
			}
			if !yield(it, err) {
				return
			}
		}
	}
}
