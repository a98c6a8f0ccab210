// This file computes the tags in marks. Equal secrets in a home have equal tags.

package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow/vfs"
)

// keyFile is the file with the key for a home's tags. .gitignore matches the file, because the
// file's name begins with the name of the store.
const keyFile = "memory.oxbow.key"

const keySize = 32 // bytes

// A Redactor replaces secrets by marks with tags that depend on a home's key. It is safe for
// concurrent use. A nil Redactor uses marks without tags.
type Redactor struct {
	dir string

	mu  sync.Mutex // guards key
	key []byte     // nil until the first secret is found
}

// NewRedactor returns a redactor for the home in a directory. When the redactor finds the first
// secret, it reads or creates the home's key. If reading or creating the key fails, marks have no
// tags.
func NewRedactor(dir string) *Redactor { return &Redactor{dir: dir} }

// Redact replaces the secrets in a text by marks. It returns the new text, and the secrets with
// their positions in the original text. A text without secrets is returned unchanged.
func (r *Redactor) Redact(text string) (string, []Finding) {
	return replaceSecrets(text, r.secretTag)
}

func (r *Redactor) secretTag(secret string) string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	if r.key == nil {
		r.key = readKey(r.dir)
	}
	key := r.key
	r.mu.Unlock()
	if key == nil {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(secret))
	return hex.EncodeToString(mac.Sum(nil))[:tagSize]
}

// readKey returns the key of the home in a directory. If the home has no key, readKey creates a
// key. It returns nil if reading or creating fails. If two processes create a key at the same time,
// both use the key that was written last.
func readKey(dir string) []byte {
	home, err := vfs.Dir(dir)
	if err != nil {
		return nil
	}
	defer home.Close()
	key, err := vfs.ReadFile(home, keyFile, keySize)
	if err == nil && len(key) == keySize {
		return key
	}
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, vfs.ErrTooLarge):
		// the key is missing or has a wrong size, so it is replaced
	default:
		return nil
	}
	key = make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return nil
	}
	if err := vfs.WriteFile(home, keyFile, key, 0o600); err != nil {
		return nil
	}
	key, err = vfs.ReadFile(home, keyFile, keySize)
	if err != nil || len(key) != keySize {
		return nil
	}
	return key
}

// ReplaceFindings returns the text with the findings replaced by marks.
func (r *Redactor) ReplaceFindings(text string, found []Finding) string {
	for _, f := range slices.Backward(found) {
		mark := markBegin + f.Rule
		if t := r.secretTag(text[f.Start:f.End]); t != "" {
			mark += " #" + t
		}
		text = text[:f.Start] + mark + markEnd + text[f.End:]
	}
	return text
}
