// This file moves events from the spool into the archive of sessions. The spool is a directory to which hooks write
// events. This file also reads transcripts from the point where the last reading ended.

package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	spoolLockFile  = "lock"
	lockRetryPause = 5 * time.Millisecond
)

// DrainSpool adds the spooled events to the archive, and then the unread part of the transcripts that the events name.
// Afterwards it removes the spool files that were read. If the process is killed in between, nothing is lost, and the
// next call adds nothing twice. If read is nil, transcripts are not read.
//
// If ctx ends, DrainSpool returns the error of ctx. The events that it has archived stay in the archive, and all other
// events stay in the spool. If a spool file cannot be drained, DrainSpool continues with the next file, and finally
// returns the first error. A transcript that cannot be read only increases InvalidInputCount in the report. While
// another process drains the spool, DrainSpool waits.
func (a *Archive) DrainSpool(ctx context.Context, s Spool, read TranscriptReader) (r ArchiveReport, err error) {
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
	lock, err := dir.OpenLock(spoolLockFile)
	if err != nil {
		return r, err
	}
	defer lock.Close()
	if err := waitForLock(ctx, lock); err != nil {
		return r, err
	}
	// List the files again, because another process may have drained some while this process waited for the lock.
	names, err = spoolFiles(dir)
	if err != nil {
		return r, err
	}
	var failed error
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		one, err := a.moveSpoolFileToArchive(ctx, dir, name, read)
		r.addCounts(one)
		failed = cmp.Or(failed, err) // Continue with the next file after an error.
	}
	return r, failed
}

// waitForLock waits until the lock is free, and takes it. It returns an error if ctx ends before.
func waitForLock(ctx context.Context, lock vfs.Lock) error {
	for {
		if ok, err := lock.TryLock(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockRetryPause):
		}
	}
}

// spoolFiles returns the sorted names of the files with events that hooks reported. A file that is being moved into
// the archive is listed by its original name, without movedSpoolFileSuffix.
func spoolFiles(dir vfs.FS) ([]string, error) {
	files, err := dir.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), movedSpoolFileSuffix)
		isSpoolFile := strings.HasSuffix(name, spoolSuffix) && f.Type().IsRegular()
		if isSpoolFile && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// moveSpoolFileToArchive moves the events of one session from its spool file, which is the file with this name, into
// the archive. It renames the spool file before it reads the file, so that hooks can write new events to a new spool
// file meanwhile.
//
// If an earlier call was interrupted, the file that this call renamed still exists. moveSpoolFileToArchive moves the
// events of that file first.
func (a *Archive) moveSpoolFileToArchive(
	ctx context.Context,
	dir *vfs.OS,
	name string,
	read TranscriptReader,
) (ArchiveReport, error) {
	taken := name + movedSpoolFileSuffix
	r, err := a.moveRenamedFileToArchive(ctx, dir, taken, read)
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
	one, err := a.moveRenamedFileToArchive(ctx, dir, taken, read)
	r.addCounts(one)
	return r, err
}

// moveRenamedFileToArchive adds the events in a renamed spool file to the archive. The events name transcripts, and
// moveRenamedFileToArchive then adds the parts of these transcripts that were not read before. Finally it removes the
// spool file. No process appends to a renamed file. If the file does not exist, moveRenamedFileToArchive does nothing.
func (a *Archive) moveRenamedFileToArchive(
	ctx context.Context,
	dir *vfs.OS,
	fileName string,
	read TranscriptReader,
) (r ArchiveReport, err error) {
	b, err := vfs.ReadFile(dir, fileName, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	events, bad := parseEvents(b)
	r, err = a.addEventsAndFinalOp(ctx, events, nil)
	r.InvalidInputCount += bad
	if err == nil && read != nil {
		var imported ArchiveReport
		imported, err = a.importTranscripts(ctx, events, read)
		r.addCounts(imported)
	}
	if err != nil {
		return r, err
	}
	return r, dir.Remove(fileName)
}

// importTranscripts reads the transcripts whose paths are in the events, and adds the parts that were not read before
// to the archive. The report counts the added data. A transcript that cannot be read is counted in InvalidInputCount.
// importTranscripts returns an error only if ctx is done.
func (a *Archive) importTranscripts(
	ctx context.Context,
	events []Event,
	read TranscriptReader,
) (r ArchiveReport, err error) {
	var seen []string
	for _, e := range events {
		if e.TranscriptPath == "" || slices.Contains(seen, e.TranscriptPath) {
			continue
		}
		seen = append(seen, e.TranscriptPath)
		one, err := a.ImportTranscript(ctx, e.Client, e.TranscriptPath, read)
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		r.addCounts(one)
		if err != nil {
			// The events of the spool file are already in the archive. Continue if a transcript cannot be read, so
			// that the spool file can be removed.
			r.InvalidInputCount++
		}
	}
	return r, nil
}

// parseEvents returns the events in a spool file, into which hooks write events as lines of JSON, and the number of
// invalid lines. An invalid line may be incomplete because the hook was killed while it wrote the line. The client then
// received no acknowledgement for the line's events.
func parseEvents(b []byte) (events []Event, invalidLines int) {
	for line := range bytes.Lines(b) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil || !e.isValid() {
			invalidLines++
			continue
		}
		events = append(events, e)
	}
	return events, invalidLines
}
