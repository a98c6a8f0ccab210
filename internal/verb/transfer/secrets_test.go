// This file tests that secrets in imported items are replaced.

package transfer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestItemsWithSecrets(t *testing.T) {
	const key = "ghp_" + "a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi"
	item := exchange.Item{
		Entry: oxbow.Entry{Name: "deployed with " + key, Content: "the key is " + key},
	}
	n := 0
	for it, err := range screenItems(
		t.Context(), &verb.SecretPolicy{}, &screen.ConversationTexts{},
		func(yield func(exchange.Item, error) bool) { yield(item, nil) },
	) {
		n++
		if err != nil || strings.Contains(it.Entry.Content+it.Entry.Name, key) || len(it.Warnings) != 1 {
			t.Errorf("an item that is read is %+v, %v", it, err)
		}
	}
	if n != 1 {
		t.Errorf("%d items were read, want 1", n)
	}
}

// TestStoredItemsWithSecrets imports items that contain a secret in one of their texts, one for each text that an
// import stores. The store must not contain the secret.
func TestStoredItemsWithSecrets(t *testing.T) {
	const key = "ghp_" + "a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi"
	for part, set := range map[string]func(it *exchange.Item){
		"name":      func(it *exchange.Item) { it.Entry.Name = "deployed with " + key },
		"content":   func(it *exchange.Item) { it.Entry.Content = "the key is " + key },
		"alias":     func(it *exchange.Item) { it.Entry.Aliases = []string{"with " + key} },
		"label":     func(it *exchange.Item) { it.Entry.Labels = []oxbow.Label{{Key: "owner", Value: key}} },
		"origin":    func(it *exchange.Item) { it.Origin = "notes/" + key + ".md" },
		"ID":        func(it *exchange.Item) { it.ID = key },
		"file name": func(it *exchange.Item) { it.FileName = key },
	} {
		it := exchange.Item{Entry: oxbow.Entry{Name: "harbor", Content: "the quay"}, Position: "a.md:1", Origin: "a.md"}
		set(&it)
		secrets := &verb.SecretPolicy{Cleaner: screen.NewSecretCleaner(t.TempDir())}
		screener := provenance.Screener{SecretPolicy: *secrets}
		m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem(), Screen: screener.ScreenOps})
		if err != nil {
			t.Fatal(err)
		}
		items := screenItems(t.Context(), secrets, &screen.ConversationTexts{},
			func(yield func(exchange.Item, error) bool) { yield(it, nil) })
		r, err := exchange.Import(secrets.MarkTextsAsScreened(t.Context()), m, items, nil)
		if err != nil || r.AddedCount != 1 {
			t.Fatalf("%s: Import = %+v, %v", part, r, err)
		}
		for e, err := range m.Entries(t.Context(), oxbow.Filter{}) {
			if text := fmt.Sprintf("%+v", e); err != nil || strings.Contains(text, key) {
				t.Errorf("with the key in the %s, the store has %s, %v", part, text, err)
			}
		}
		storetest.Close(t, m)
	}
}
