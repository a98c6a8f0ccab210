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

// screenItems yields the imported items. In each item, secrets are replaced by marks, and a warning about the secrets
// is added. If an item is a conversation, screenItems also adds the text of the conversation and the words that its
// speakers said to conversationTexts.
func screenItems(
	ctx context.Context,
	s *verb.SecretPolicy,
	conversationTexts *screen.ConversationTexts,
	items iter.Seq2[exchange.Item, error],
) iter.Seq2[exchange.Item, error] {
	ctx = oxbow.WithSource(ctx, oxbow.Source{Actor: oxbow.Imported})
	return func(yield func(exchange.Item, error) bool) {
		for it, err := range items {
			var found []screen.Secret
			if err == nil {
				it, err = screenItem(ctx, s, it, &found)
			}
			if note := verb.DescribeReplacedSecrets(found); note != "" {
				it.Warnings = append(it.Warnings, it.Position+": "+note)
			}
			if err == nil && it.ConversationText != "" {
				conversationTexts.AddConversation(it.Entry.Content, it.ConversationText)
				it.ConversationText = ""
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// screenItem replaces the secrets in all texts of an item that an import stores. These are the texts of the entry, and
// the origin, the ID and the file name, which become labels and an alias.
func screenItem(
	ctx context.Context,
	s *verb.SecretPolicy,
	it exchange.Item,
	found *[]screen.Secret,
) (exchange.Item, error) {
	e := it.Entry
	aliases, labels := len(e.Aliases), len(e.Labels)
	if it.FileName != "" {
		e.Aliases = append(e.Aliases[:aliases:aliases], it.FileName)
	}
	e.Labels = append(e.Labels[:labels:labels], oxbow.Label{Value: it.Origin}, oxbow.Label{Value: it.ID})
	e, err := s.ScreenEntry(ctx, e, oxbow.Entry{}, found)
	if err != nil {
		return it, err
	}
	it.Origin, it.ID = e.Labels[labels].Value, e.Labels[labels+1].Value
	e.Labels = e.Labels[:labels:labels]
	if it.FileName != "" {
		it.FileName = e.Aliases[aliases]
		e.Aliases = e.Aliases[:aliases:aliases]
	}
	it.Entry = e
	return it, nil
}
