// This file computes tags, by which equal secrets of a home have equal marks.

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

// keyFile is the file with the key for a home's tags. Like other files whose names begin
// with that of the store, it is in .gitignore.
const keyFile = "memory.oxbow.key"

const keySize = 32 // bytes

// Redactor replaces secrets by marks, with the key of a home. It is safe for concurrent
// use. A nil Redactor makes marks without tags.
type Redactor struct {
	dir string

	mu  sync.Mutex // guards key
	key []byte     // nil until it is needed
}

// NewRedactor returns a redactor for the home in this directory. It reads or creates the
// key when it finds its first secret. If it cannot, marks have no tags.
func NewRedactor(dir string) *Redactor { return &Redactor{dir: dir} }

// Redact returns the text with marks in place of the secrets, and the secrets that were
// replaced. A text without secrets is returned unchanged.
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

// readKey returns the key in a directory, and creates it if it does not exist. It returns
// nil if that fails. If two processes create it at once, the later key remains.
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

// Mark returns the text with marks in place of the findings.
func (r *Redactor) Mark(text string, found []Finding) string {
	for _, f := range slices.Backward(found) {
		mark := markBegin + f.Rule
		if t := r.tag(text[f.Start:f.End]); t != "" {
			mark += " #" + t
		}
		text = text[:f.Start] + mark + markEnd + text[f.End:]
	}
	return text
}
