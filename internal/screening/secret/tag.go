// This file computes the tag in the mark that replaces a secret. In one home, equal secrets have equal tags.

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

// keyFile is the name of the file with the key for the tags in the marks that replace secrets. A tag is computed from
// the key and the secret, so that equal secrets get equal tags. The key file is in the home, which is the directory
// with the store file. The name begins with the store file's name, so that the home's .gitignore also ignores the key
// file.
const keyFile = "memory.oxbow.key"

const keySize = 32 // length, in bytes, of the key from which the tags of secrets are computed

// A Redactor replaces each secret in a text by a mark. The mark contains a tag, which is computed from the secret and
// from a key in the home (the directory of the memory). Therefore equal secrets get equal tags. A Redactor is safe for
// concurrent use. A nil Redactor writes marks without tags.
type Redactor struct {
	dir string

	mu  sync.Mutex // guards key
	key []byte     // key from which tags are computed (nil until the first secret is found)
}

// NewRedactor returns a redactor, which replaces secrets by marks, for the home in a directory. When the redactor
// finds the first secret, it reads the home's key, or creates a missing key. If reading or creating the key fails, the
// marks do not contain a tag for the secret.
func NewRedactor(dir string) *Redactor { return &Redactor{dir: dir} }

// Redact replaces the secrets in a text by marks. The results are the new text, and the secrets with their positions
// in the original text. A text without secrets stays the same.
func (r *Redactor) Redact(text string) (string, []Finding) {
	return replaceSecrets(text, r.computeSecretTag)
}

func (r *Redactor) computeSecretTag(secret string) string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	if r.key == nil {
		r.key = readOrCreateTagKey(r.dir)
	}
	key := r.key
	r.mu.Unlock()
	if key == nil {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(secret))
	return hex.EncodeToString(mac.Sum(nil))[:secretTagDigits]
}

// readOrCreateTagKey returns the key of the home in a directory. If the home lacks a key, readOrCreateTagKey creates a
// key. If reading or creating the key fails, readOrCreateTagKey returns nil. If two processes create a key at the same
// time, both processes use the key that was written last.
func readOrCreateTagKey(dir string) []byte {
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
		// The key does not exist or has a wrong size, so a new key is created.
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

// ReplaceFindings replaces the findings in a text by marks. The findings must be in order of position and must not
// overlap.
func (r *Redactor) ReplaceFindings(text string, found []Finding) string {
	for _, f := range slices.Backward(found) {
		mark := redactionMarkStart + f.Rule
		if t := r.computeSecretTag(text[f.Start:f.End]); t != "" {
			mark += " #" + t
		}
		text = text[:f.Start] + mark + redactionMarkEnd + text[f.End:]
	}
	return text
}
