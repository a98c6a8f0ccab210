// This file implements the spool. For each session, the spool contains a file to which hooks append events.

package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// SpoolDir is the name of the directory in oxbow's home in which hooks store events until they are archived.
const SpoolDir = "spool"

const (
	spoolSuffix          = ".jsonl"
	movedSpoolFileSuffix = ".taken" // suffix of a session's file while its events are moved into the archive
	// Maximum number of attempts to append events to a session's file. An attempt fails if another process renames the
	// file in the meantime, to move its events into the archive.
	maxAppendTries = 100
)

// Spool is a directory that contains a file for each session of each client.
type Spool struct {
	Dir    string              // the directory, which need not exist
	Redact func(string) string // removes secrets from names and paths (may be nil)
}

// AppendEvents stores events in a file until the session archive reads and removes them. After AppendEvents returns,
// the events survive the end of the process. An event without a time gets the current time. All events are written to
// the file of the first event's session.
//
// Many processes may append to the file while another process drains it. To drain a file, a process renames, reads and
// removes it. AppendEvents therefore checks after the write that the file's name still refers to the written file. If
// so, the events are still in the spool and will be read the next time the file is drained. If not, AppendEvents writes
// the events again, to a new file with the same name. Duplicate events do no harm.
func (s Spool) AppendEvents(events ...Event) error {
	if len(events) == 0 {
		return nil
	}
	b := []byte{'\n'} // The newline ends an incomplete line that another process may have left.
	for _, e := range events {
		if e.Time.IsZero() {
			e.Time = time.Now()
		}
		if s.Redact != nil {
			e = e.applyToNames(s.Redact)
		}
		if !IsValidID(e.Session) {
			return fmt.Errorf("%.80q is no identifier of a session", e.Session)
		}
		line, err := json.Marshal(e.normalize())
		if err != nil {
			return fmt.Errorf("encoding an event: %w", err)
		}
		b = append(append(b, line...), '\n')
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	// On Windows, a file that was opened through a Root can be renamed while it is open.
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	first := events[0]
	if s.Redact != nil {
		first = first.applyToNames(s.Redact)
	}
	name := spoolFileName(first.Client, first.Session)
	for range maxAppendTries {
		if done, err := appendToFile(root, name, b); done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s was taken away %d times meanwhile", name, maxAppendTries)
}

// FilePath returns the path of the file in which hooks store a session's events. The file need not exist.
func (s Spool) FilePath(client, session string) string {
	return filepath.Join(s.Dir, spoolFileName(client, session))
}

// appendToFile appends b to the named file. It reports whether the name still refers to the same file afterwards.
func appendToFile(root *os.Root, name string, b []byte) (bool, error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		return false, err
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, now), err
}

// spoolFileName returns the name of the file in which hooks store a session's events. The name is valid on every
// system, because all characters except letters, digits, "-" and "_" are replaced. A hash is added to a name that was
// changed, is long, or contains capital letters.
func spoolFileName(client, session string) string {
	whole := client + "-" + session
	name := strings.Map(func(r rune) rune {
		isLetter := (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
		isDigit := r >= '0' && r <= '9'
		if isLetter || isDigit {
			return r
		}
		if r == '-' || r == '_' {
			return r
		}
		return '_'
	}, whole)
	hasCapitals := strings.ToLower(name) != name
	needsHash := hasCapitals || name != whole || len(name) > 100
	if needsHash {
		sum := sha256.Sum256([]byte(whole))
		name = name[:min(len(name), 100)] + "-" + hex.EncodeToString(sum[:6])
	}
	return name + spoolSuffix
}
