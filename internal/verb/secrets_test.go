// This file tests how secrets in changes are found.

package verb

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
)

// TestScreenOfWhatIsImported tests ScreenOp with texts that contain a secret. ScreenOp must remove the secret. If the
// context comes from MarkTextsAsScreened of the same policy, ScreenOp must not search the texts, because an import has
// searched them before. If the context comes from another policy, ScreenOp must search the texts.
func TestScreenOfWhatIsImported(t *testing.T) {
	const key = "ghp_" + "a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi"
	s, other := SecretPolicy{
		Cleaner: screen.NewSecretCleaner(t.TempDir()),
	}, SecretPolicy{
		Cleaner: screen.NewSecretCleaner(t.TempDir()),
	}
	op := oxbow.Add{Name: "the key " + key, Content: "it is " +
		key, Aliases: []string{key}, Labels: []oxbow.Label{{Key: "file", Value: key}}}
	holds := func(by *SecretPolicy, ctx context.Context) (where []string) {
		clean, err := by.ScreenOp(ctx, nil, op)
		if err != nil {
			t.Fatal(err)
		}
		a := clean.(oxbow.Add)
		for part, text := range map[string]string{
			"name":    a.Name,
			"content": a.Content,
			"alias":   a.Aliases[0],
			"label":   a.Labels[0].Value,
		} {
			if strings.Contains(text, key) {
				where = append(where, part)
			}
		}
		slices.Sort(where)
		return where
	}
	if got := holds(&s, t.Context()); got != nil {
		t.Errorf("a change holds the key in %q", got)
	}
	if got := holds(&s, s.MarkTextsAsScreened(t.Context())); len(got) != 4 {
		t.Errorf("an entry whose texts were screened holds the key in %q, want all parts, which are not searched", got)
	}
	if got := holds(&other, s.MarkTextsAsScreened(t.Context())); got != nil {
		t.Errorf("a change of what another screened holds the key in %q", got)
	}
}

// TestCutSecret checks that a name that ends in the middle of a secret is cut before the secret, and that other names
// are not cut.
func TestCutSecret(t *testing.T) {
	const key = "ghp_" + "a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi"
	for _, c := range []struct{ name, want string }{
		{"deployed with " + key[:20] + "…", "deployed with [redacted: github-pat]"},
		{"deployed with " + key[:minSecretPrefixBytes], "deployed with [redacted: github-pat]"},
		{key[:minSecretPrefixBytes], "[redacted: github-pat]"},
		{"deployed with " + key[:minSecretPrefixBytes-1], "deployed with " + key[:minSecretPrefixBytes-1]},
		{"deployed with", "deployed with"},
		{"", ""},
		{"another name", "another name"},
	} {
		if got := redactTruncatedSecret(c.name, "deployed with "+key+" today"); got != c.want {
			t.Errorf("redactSecretStart(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}
