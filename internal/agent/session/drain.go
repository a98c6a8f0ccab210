// Draining the spool into the archive, and reading transcripts on.

package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// A Reader reads what a client's transcript has after a cursor, which is "" at the
// start: some megabytes at most, and only lines that are whole. Next is the cursor
// after that; when it is the one that was given, there is nothing more.
type Reader func(ctx context.Context, client, path, cursor string) (events []Event, next string, err error)

const (
	spoolLock = "lock"
	lockPause = 5 * time.Millisecond
)

// Drain adds the events of the spool to the archive, and what the transcripts that
// they name have beyond what was read. Then it removes what it has read: a process
// that is killed in between loses nothing, and the next adds nothing twice. Read
// may be nil.
//
// What is not done when ctx ends stays for the next time: then the error is that of
// ctx, and what is in the archive by then is there to stay. While another process
// drains, Drain waits for it.
func (a *Archive) Drain(ctx context.Context, s Spool, read Reader) (r Report, err error) {
	dir, err := vfs.Dir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	defer dir.Close()
	names, err := spoolFiles(dir)
	if err != nil || len(names) == 0 {
		return r, err
	}
	lock, err := dir.OpenLock(spoolLock)
	if err != nil {
		return r, err
	}
	defer lock.Close()
	if err := waitLock(ctx, lock); err != nil {
		return r, err
	}
	names, err = spoolFiles(dir)
	if err != nil { // those that another process has left
		return r, err
	}
	var failed error
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		one, err := a.drainFile(ctx, dir, name, read)
		r.add(one)
		failed = cmp.Or(failed, err) // it keeps none of the others
	}
	return r, failed
}

func waitLock(ctx context.Context, lock vfs.Lock) error {
	for {
		if ok, err := lock.TryLock(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// spoolFiles returns the names of the sessions' files, without the suffix of those
// that were taken, the one written to first.
func spoolFiles(dir vfs.FS) ([]string, error) {
	files, err := dir.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), takenSuffix)
		if strings.HasSuffix(name, spoolSuffix) && f.Type().IsRegular() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// drainFile drains the file of a session: first what was taken before and is still
// there, then what it takes.
func (a *Archive) drainFile(ctx context.Context, dir *vfs.OS, name string, read Reader) (Report, error) {
	taken := name + takenSuffix
	r, err := a.drainTaken(ctx, dir, taken, read)
	if err != nil {
		return r, err
	}
	err = dir.Rename(name, taken)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	one, err := a.drainTaken(ctx, dir, taken, read)
	r.add(one)
	return r, err
}

// drainTaken adds what a file has that no process appends to any more, and removes
// it.
func (a *Archive) drainTaken(ctx context.Context, dir *vfs.OS, taken string, read Reader) (r Report, err error) {
	b, err := vfs.ReadFile(dir, taken, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	r, err = a.drainBytes(ctx, b, read)
	if err != nil {
		return r, err
	}
	return r, dir.Remove(taken)
}

// drainBytes adds the events of a file, then what their transcripts have.
func (a *Archive) drainBytes(ctx context.Context, b []byte, read Reader) (Report, error) {
	events, bad := readEvents(b)
	r, err := a.Add(ctx, events)
	r.Bad += bad
	if err != nil || read == nil {
		return r, err
	}
	var seen []string
	for _, e := range events {
		if e.Transcript == "" || slices.Contains(seen, e.Transcript) {
			continue
		}
		seen = append(seen, e.Transcript)
		one, err := a.Import(ctx, e.Client, e.Transcript, read)
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		r.add(one)
		if err != nil {
			r.Bad++ // the events of hooks are there; a transcript that cannot be read must not keep them
		}
	}
	return r, nil
}

// cursor is the content of an entry that says up to where a transcript was read.
type cursor struct {
	Client string `json:"client"`
	Path   string `json:"path"`
	Cursor string `json:"cursor"`
}

// Import adds what a transcript has beyond what was read of it.
func (a *Archive) Import(ctx context.Context, client, path string, read Reader) (r Report, err error) {
	sum := sha256.Sum256([]byte(client + "\x00" + path))
	name := "cursor/" + hex.EncodeToString(sum[:12])
	for {
		at := cursor{Client: client, Path: path}
		e, err := a.get(ctx, name)
		if err != nil {
			return r, err
		}
		if e.Version != 0 {
			if err := json.Unmarshal([]byte(e.Content), &at); err != nil {
				return r, fmt.Errorf("reading %s: %w", name, err)
			}
		}
		from := at.Cursor
		events, next, err := read(ctx, client, path, from)
		if err != nil || (next == from && len(events) == 0) {
			return r, err
		}
		at.Cursor = next
		b, err := json.Marshal(at)
		if err != nil {
			return r, err
		}
		one, err := a.add(ctx, events, func() (oxbow.Op, error) {
			now, err := a.get(ctx, name)
			switch {
			case err != nil || next == from || now.Content == string(b):
				return nil, err
			case now.Version == 0:
				return oxbow.Add{Name: name, Content: string(b), Labels: appendLabel(nil, "cursor", client)}, nil
			}
			return oxbow.Update{Name: name, Content: string(b), Labels: now.Labels, If: now.Version}, nil
		})
		r.add(one)
		if err != nil || next == from {
			return r, err
		}
	}
}
