// The record of what the user trusts: a file of JSON lines.

package trust

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Home is a home that is trusted.
type Home struct {
	Path        string    `json:"home"`
	Fingerprint string    `json:"fingerprint"`
	Settings    string    `json:"settings,omitempty"` // digest of the file that starts sub-agents
	Since       time.Time `json:"since"`
}

// List is the record. Dir is the directory that it is in, "" where none is
// known: nothing is trusted then.
type List struct{ Dir string }

const (
	listFile = "trusted"
	lockFile = "trusted.lock"
	lockWait = 5 * time.Second
)

// Homes returns the homes that are trusted. A line that cannot be read counts for
// nothing.
func (l List) Homes() []Home { return parse(l.read(listFile)) }

// read returns a file of the record, nil for none.
func (l List) read(file string) []byte {
	if l.Dir == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(l.Dir, file))
	if err != nil {
		return nil
	}
	return b
}

func parse(b []byte) (homes []Home) {
	for line := range bytes.Lines(b) {
		var h Home
		if json.Unmarshal(line, &h) == nil && h.Path != "" {
			homes = append(homes, h)
		}
	}
	return homes
}

// Add records a home as it is now, with its settings if there are some.
func (l List) Add(ctx context.Context, home, store, settings string, now time.Time) (Home, error) {
	print, err := Fingerprint(home, store)
	if err != nil {
		return Home{}, err
	}
	h := Home{Path: realPath(home), Fingerprint: print, Since: now.UTC()}
	if h.Settings, err = digest(settings); err != nil {
		return Home{}, err
	}
	return h, l.change(ctx, func(homes []Home) []Home {
		return append(without(homes, h.Path), h)
	})
}

// Remove takes a home off the record, and reports whether it was on it.
func (l List) Remove(ctx context.Context, home string) (was bool, err error) {
	path := realPath(home)
	if l.Dir == "" || !slices.ContainsFunc(l.Homes(), func(h Home) bool { return h.Path == path }) {
		return false, nil
	}
	return true, l.change(ctx, func(homes []Home) []Home { return without(homes, path) })
}

func without(homes []Home, path string) []Home {
	return slices.DeleteFunc(homes, func(h Home) bool { return h.Path == path })
}

// TrustsSettings reports whether a home was trusted with settings as they are now.
func (l List) TrustsSettings(home, settings string) bool {
	digest, err := digest(settings)
	return err == nil && digest != "" && slices.ContainsFunc(l.Homes(), func(h Home) bool { return h.Path == realPath(home) && h.Settings == digest })
}

// digest returns the digest of a file, "" when there is none.
func digest(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), err
}

// change replaces the record of homes.
func (l List) change(ctx context.Context, fn func([]Home) []Home) error {
	return l.replace(ctx, listFile, func(old []byte) ([]byte, error) { return lines(fn(parse(old))) })
}

// replace replaces a file of the record; concurrent changes take turns.
func (l List) replace(ctx context.Context, file string, fn func(old []byte) ([]byte, error)) (err error) {
	if l.Dir == "" {
		return errors.New("recording what is trusted: neither a configuration directory nor the user's own directory is known")
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("recording what is trusted: %w", err)
		}
	}()
	ok, err := vfs.WithLock(ctx, l.Dir, lockFile, lockWait, func(dir *vfs.OS) error {
		b, err := os.ReadFile(filepath.Join(l.Dir, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if b, err = fn(b); err != nil {
			return err
		}
		return vfs.WriteFile(dir, file, b, 0o600)
	})
	if err == nil && !ok {
		err = errors.New("another process changes it")
	}
	return err
}

// lines returns values as JSON, one a line.
func lines[T any](values []T) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	var errs []error
	for _, v := range values {
		errs = append(errs, enc.Encode(v))
	}
	return out.Bytes(), errors.Join(errs...)
}

// realPath returns a path without symbolic links, as far as they can be followed.
func realPath(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return filepath.Clean(path)
}
