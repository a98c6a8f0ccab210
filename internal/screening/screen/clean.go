// This file finds and replaces what must not be stored, which is secrets.

package screen

import "github.com/oxbow-memory/oxbow/internal/screening/secret"

// A Secret is a password, key or token at text[Start:End]. Its Rule is the name of the rule that found it.
type Secret = secret.Finding

// Secrets returns the secrets in a text, in order and without overlaps. Marks of a [Cleaner] are not secrets.
func Secrets(text string) []Secret { return secret.Find(text) }

// DividedSecrets returns the secrets that begin in one of the texts and end in another. The result contains, for each
// text, the pieces in it.
func DividedSecrets(texts ...string) [][]Secret { return secret.FindDivided(texts...) }

// A Cleaner replaces what must not be stored by marks: the passwords, keys and tokens in a text. Every text passes a
// Cleaner before oxbow writes it to a disk, whether it becomes an entry, a past turn, a report of a hook, an annotation
// or a note about a change. Therefore another kind of text that must not be stored is added here.
//
// A Cleaner is safe for concurrent use. A nil Cleaner uses marks that do not tell which secrets were equal.
type Cleaner struct {
	redactor *secret.Redactor
}

// NewCleaner returns a cleaner. The directory contains the key for the marks, which is created for the first secret.
func NewCleaner(dir string) *Cleaner { return &Cleaner{secret.NewRedactor(dir)} }

// Clean returns the text with marks in place of the secrets, and the secrets, with their positions in the original
// text. A text without secrets is returned unchanged.
func (c *Cleaner) Clean(text string) (string, []Secret) { return c.redactorWithKey().Redact(text) }

// CleanText is like Clean, and returns only the text.
func (c *Cleaner) CleanText(text string) string {
	text, _ = c.redactorWithKey().Redact(text)
	return text
}

// ReplaceSecrets returns the text with marks in place of these secrets.
func (c *Cleaner) ReplaceSecrets(text string, found []Secret) string {
	return c.redactorWithKey().ReplaceFindings(text, found)
}

// redactorWithKey returns the redactor, which has no key if c is nil.
func (c *Cleaner) redactorWithKey() *secret.Redactor {
	if c == nil {
		return nil
	}
	return c.redactor
}
