// Tags: equal secrets of a home have equal marks.

package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"sync"

	"github.com/oxbow-memory/oxbow/vfs"
)

// keyFile is the file of a home that holds the key of its tags. Git ignores it as it
// does what else begins with the name of the store.
const keyFile = "memory.oxbow.key"

const keySize = 32 // bytes

// Redactor puts marks in the place of secrets, with the key of a home. It is safe
// for concurrent use. A nil Redactor makes marks without tags.
type Redactor struct {
	dir string

	mu  sync.Mutex // guards key
	key []byte     // nil until it is needed
}

// NewRedactor returns the redactor of the home in that directory, whose key it reads
// or makes when it finds its first secret. Where it can do neither, marks have no
// tags.
func NewRedactor(dir string) *Redactor { return &Redactor{dir: dir} }

// Redact returns the text with a mark in the place of each secret, and what it
// replaced. It changes no text without secrets.
func (r *Redactor) Redact(text string) (string, []Finding) {
	return redact(text, r.tag)
}

func (r *Redactor) tag(secret string) string {
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

// readKey returns the key in a directory, which it makes where there is none; nil
// for none. Of two processes that make it at once, the last one's stays.
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
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, vfs.ErrTooLarge) {
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
