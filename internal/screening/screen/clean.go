// This file finds secrets, which must not be stored, and replaces them.

package screen

import "github.com/oxbow-memory/oxbow/internal/screening/secret"

// A Secret is a password, key or token that was found in a text. The text contains it from byte Start to byte End.
// Rule is the name of the rule that found it.
type Secret = secret.Finding

// FindSecrets returns the secrets in a text, in order and without overlaps. The marks with which a [SecretCleaner]
// replaces secrets are not secrets.
func FindSecrets(text string) []Secret { return secret.Find(text) }

// FindSecretsAcrossTexts returns secrets that begin in one of the texts and end in another. For each text, the result
// contains the parts of these secrets in the text.
func FindSecretsAcrossTexts(texts ...string) [][]Secret { return secret.FindAcrossTexts(texts...) }

// A SecretCleaner replaces the secrets in a text by marks. Secrets are passwords, keys and tokens. Every text passes a
// SecretCleaner before oxbow writes the text to a disk, whether it becomes an entry, a past turn, a report of a hook,
// an annotation or a note about a change. Any further kind of text that must not be stored should be handled here.
//
// A SecretCleaner is safe for concurrent use. If two secrets are equal, their marks are equal as well, unless the
// SecretCleaner is nil.
type SecretCleaner struct {
	redactor *secret.Redactor
}

// NewSecretCleaner returns a cleaner that replaces secrets by marks. dir contains the key from which the marks are
// computed. The key is created when the first secret is found.
func NewSecretCleaner(dir string) *SecretCleaner { return &SecretCleaner{secret.NewRedactor(dir)} }

// Clean replaces the secrets in a text by marks. It returns the new text, and each secret with the position in the
// original text. A text without secrets is returned unchanged.
func (c *SecretCleaner) Clean(text string) (string, []Secret) { return c.loadRedactor().Redact(text) }

// CleanText is like Clean, but returns only the text.
func (c *SecretCleaner) CleanText(text string) string {
	text, _ = c.loadRedactor().Redact(text)
	return text
}

// ReplaceSecrets replaces the given secrets in a text by marks.
func (c *SecretCleaner) ReplaceSecrets(text string, found []Secret) string {
	return c.loadRedactor().ReplaceFindings(text, found)
}

// loadRedactor returns the redactor of the cleaner c. If c is nil, it returns nil. A nil redactor also replaces each
// secret by a mark, but its marks have no tag, because it has no key to compute tags from.
func (c *SecretCleaner) loadRedactor() *secret.Redactor {
	if c == nil {
		return nil
	}
	return c.redactor
}
