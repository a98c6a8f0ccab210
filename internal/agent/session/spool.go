// Spool: the file of a session to which hooks append what has happened.

package session

import (
	"bytes"
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

// SpoolDir is the name of the spool in a home.
const SpoolDir = "spool"

const (
	spoolSuffix = ".jsonl"
	takenSuffix = ".taken" // of a file that is being read into the archive
	spoolRounds = 100      // times that an append may find its file taken
)

// Spool is a directory with a file for each client and session.
type Spool struct {
	Dir    string              // need not be there
	Redact func(string) string // takes secrets out of names and paths; nil for none
}

// Append keeps events until the archive takes them. When it returns, no end of
// this process loses them. Events without a time get that of now. They are of one
// session, or go to the file of the first.
//
// Many processes append at once, and one takes the file meanwhile: it renames the
// file, reads it, and removes it. So an append is done when the name still leads
// to the file that was written to: then the file was taken after the write, if at
// all. Else the line is written again, to the new file; to have an event twice
// does no harm.
func (s Spool) Append(events ...Event) error {
	if len(events) == 0 {
		return nil
	}
	b := []byte{'\n'} // ends a line that another process could not finish
	for _, e := range events {
		if e.Time.IsZero() {
			e.Time = time.Now()
		}
		if s.Redact != nil {
			e = e.screened(s.Redact)
		}
		if !ValidID(e.Session) {
			return fmt.Errorf("%.80q is no identifier of a session", e.Session)
		}
		line, err := json.Marshal(e.clean())
		if err != nil {
			return fmt.Errorf("encoding an event: %w", err)
		}
		b = append(append(b, line...), '\n')
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.Dir) // on Windows, its files can be renamed while they are open
	if err != nil {
		return err
	}
	defer root.Close()
	first := events[0]
	if s.Redact != nil {
		first = first.screened(s.Redact)
	}
	name := spoolName(first.Client, first.Session)
	for range spoolRounds {
		if done, err := appendTo(root, name, b); done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s was taken away %d times meanwhile", name, spoolRounds)
}

// File returns the path of the file of a session, which need not be there.
func (s Spool) File(client, session string) string {
	return filepath.Join(s.Dir, spoolName(client, session))
}

// appendTo writes to the end of a file, and reports whether that is still the
// file of its name.
func appendTo(root *os.Root, name string, b []byte) (bool, error) {
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

// spoolName returns the name of a session's file, which every system can have:
// letters and digits, and a hash where others were replaced.
func spoolName(client, session string) string {
	whole := client + "-" + session
	name := strings.Map(func(r rune) rune {
		if (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, whole)
	if name != whole || len(name) > 100 || strings.ToLower(name) != name {
		sum := sha256.Sum256([]byte(whole))
		name = name[:min(len(name), 100)] + "-" + hex.EncodeToString(sum[:6])
	}
	return name + spoolSuffix
}

// readEvents returns the events of a spool's bytes, and how many lines are none.
// An unfinished line is none, and was acknowledged to no client.
func readEvents(b []byte) (events []Event, bad int) {
	for line := range bytes.Lines(b) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil || e.Client == "" || !ValidID(e.Session) || e.Kind == "" {
			bad++
			continue
		}
		events = append(events, e)
	}
	return events, bad
}
