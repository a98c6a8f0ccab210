// This file adds annotations. It completes the fields of new records and appends the records to
// sidecars (the files with annotations).

package annotate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Add stores annotations and returns them as stored, in the same order. It fills in missing fields; see [Record]. It
// validates all records before the first write, and writes all annotations of a file with a single durable append.
//
// If a record's ID is already stored, Add does not write the record again. If the stored record is archived, Add
// restores it. Errors match [oxbow.ErrInvalid], [oxbow.ErrBusy] or the errors of package io/fs.
//
// Add marks the records as written on this machine. Use [Store.AddFromOtherAuthors] for texts that somebody else wrote.
func (b *Store) Add(ctx context.Context, records ...Record) ([]Record, error) {
	return b.addSignedRecords(ctx, records, b.signRecords)
}

// AddFromOtherAuthors is like Add for annotations that somebody else wrote, for example in an imported file.
// AddFromOtherAuthors does not mark the annotations as written on this machine, so the annotations are unreviewed
// until the reviewed branch contains them.
func (b *Store) AddFromOtherAuthors(ctx context.Context, records ...Record) ([]Record, error) {
	return b.addSignedRecords(ctx, records, func(_ context.Context, records []Record) {
		for i := range records {
			records[i].MachineSignature = ""
		}
	})
}

func (b *Store) addSignedRecords(
	ctx context.Context,
	records []Record,
	signRecords func(context.Context, []Record),
) ([]Record, error) {
	if err := b.CheckSparseCheckout(); err != nil {
		// Do not add annotations if git has checked out only some of the annotation files. A commit with the new
		// annotations would delete the annotation files that are not checked out.
		return nil, fmt.Errorf("annotating: %w", err)
	}
	out := make([]Record, len(records))
	files := map[string][]int{}
	var order []string
	seen := map[string]*recordedFileLines{}
	for i, r := range records {
		if err := b.completeRecord(ctx, &r, seen); err != nil {
			return nil, err
		}
		if files[r.File] == nil {
			order = append(order, r.File)
		}
		files[r.File] = append(files[r.File], i)
		out[i] = r
	}
	signRecords(ctx, out)
	for _, file := range order {
		rs := make([]*Record, 0, len(files[file]))
		for _, i := range files[file] {
			rs = append(rs, &out[i])
		}
		if err := b.appendNewRecords(ctx, sidecarPath(file), rs, nil); err != nil {
			return nil, fmt.Errorf("annotating %s: %w", file, err)
		}
	}
	return out, nil
}

// recordedFileLines is a file that was read and split into lines, to fill in the lines of new annotations.
type recordedFileLines struct {
	lines    []string
	blobName string
	err      error
}

// completeRecord checks the record r and fills in the fields that the caller left empty, as [Record] describes. It
// shortens the context lines to the maximum lengths. If r has no lines, it reads the file and stores the file's lines
// in linesByFile, so that the file is read only once for several records. It returns an error if r is invalid or the
// file cannot be read.
func (b *Store) completeRecord(ctx context.Context, r *Record, linesByFile map[string]*recordedFileLines) error {
	if err := r.validate(); err != nil {
		return err
	}
	if strings.HasPrefix(r.File, b.sidecarDir+"/") {
		return &oxbow.InvalidError{Field: "file", Value: r.File, Reason: "is of the annotations themselves"}
	}
	if r.Block == nil {
		f := linesByFile[r.File]
		if f == nil {
			f = b.readLines(r.File)
			linesByFile[r.File] = f
		}
		if f.err != nil {
			return fmt.Errorf("annotating: %w", f.err)
		}
		if r.Span.Len() == 0 || r.Span.Last > len(f.lines) {
			return &oxbow.InvalidError{
				Field:  "lines",
				Value:  r.Span.String(),
				Reason: fmt.Sprintf("are not in %s, which has %d", r.File, len(f.lines)),
			}
		}
		r.setLines(f.lines)
		if r.FileBlobName == "" {
			r.FileBlobName = f.blobName
		}
		if r.Commit == "" && b.history != nil {
			head, err := b.history.HeadCommit(ctx)
			if err != nil {
				return fmt.Errorf("annotating: %w", err)
			}
			r.Commit = head
		}
	} else if r.BlockHash == "" {
		block := make([]string, len(r.Block))
		for i, l := range r.Block {
			block[i] = normalizeLine(strings.TrimRight(l, "\r\n"))
		}
		r.SetBlock(block)
	}
	r.LinesBefore = normalizeContextLines(r.LinesBefore[max(0, len(r.LinesBefore)-ContextLines):])
	r.LinesAfter = normalizeContextLines(r.LinesAfter[:min(len(r.LinesAfter), ContextLines)])
	if len(r.EnclosingLines) > 0 {
		r.EnclosingLines = normalizeContextLines(
			r.EnclosingLines[:min(len(r.EnclosingLines), maxReturnedEnclosingLines)],
		)
	}
	if s, ok := oxbow.SourceFrom(ctx); ok {
		if r.Author == "" {
			r.Author = s.Actor
		}
		if r.Session == "" {
			r.Session = s.Session
		}
		if r.Profile == "" {
			r.Profile = s.Profile
		}
		if r.Agent == "" {
			r.Agent = s.Claimed.Agent
		}
	}
	if r.Time.IsZero() {
		r.Time = b.opts.Clock()
	}
	r.Time = r.Time.UTC().Truncate(time.Millisecond)
	if r.ID == "" {
		r.ID = r.defaultID()
	}
	return r.validate()
}

func (b *Store) readLines(file string) *recordedFileLines {
	data, err := b.readContent(file)
	if isBinary(data) {
		err = binaryFileError(file)
	}
	if err != nil {
		return &recordedFileLines{err: err}
	}
	return &recordedFileLines{lines: SplitLines(data), blobName: blobName(data, b.usesSHA256())}
}

// HasRecords reports, for each record, whether the store already contains it. The records need a File and
// an ID.
func (b *Store) HasRecords(ctx context.Context, records []Record) ([]bool, error) {
	known := map[string]map[string]bool{}
	out := make([]bool, len(records))
	for i, r := range records {
		ids := known[r.File]
		if ids == nil {
			have, err := b.ReadRecords(ctx, r.File)
			if err != nil {
				return nil, err
			}
			ids = map[string]bool{}
			for _, h := range have {
				ids[h.ID] = true
			}
			known[r.File] = ids
		}
		out[i] = ids[r.ID]
		ids[r.ID] = true // If records contains a record twice, the second copy counts as already stored.
	}
	return out, nil
}

// appendNewRecords appends the records and events to the sidecar with this name, which is a file with annotations. It
// holds the lock for writers until it returns.
//
// If the sidecar already contains an annotation with a record's ID, appendNewRecords does not append the record.
// Instead it sets the record's Time to the time of the annotation in the sidecar and its Archived to false. If the
// annotation in the sidecar is archived, appendNewRecords also appends an event that restores the annotation.
func (b *Store) appendNewRecords(
	ctx context.Context,
	name string,
	records []*Record,
	events []archiveEvent,
) (err error) {
	if err := b.makeAnnotationDir(path.Dir(path.Join(b.sidecarDir, name))); err != nil {
		return err
	}
	unlock, err := b.lockWriters(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	// read the locked file again, because another process may have appended to it before the lock was taken
	have, err := b.readSidecar(name)
	if err != nil {
		return err
	}
	known := map[string]*Record{}
	for _, r := range have.records {
		known[r.ID] = r
	}
	var out []byte
	for _, r := range records {
		if old, ok := known[r.ID]; ok {
			if old.Archived {
				events = append(events, archiveEvent{recordID: r.ID, isRestoration: true, time: b.opts.Clock()})
			}
			r.Archived, r.Time = false, old.Time
			continue
		}
		known[r.ID] = r
		out, err = appendRecord(out, r)
		if err != nil {
			return err
		}
	}
	for _, e := range events {
		// Only the latest event of an annotation counts. Make this event the latest even if the
		// clock was set back or the previous event comes from a different machine.
		if was, ok := have.lastArchiveEventByID[e.recordID]; ok && !e.time.After(was.time) {
			e.time = was.time.Add(time.Millisecond)
		}
		out, err = e.appendEvent(out)
		if err != nil {
			return err
		}
	}
	if len(out) == 0 {
		return nil
	}
	return b.appendToFile(path.Join(b.sidecarDir, name), out)
}

// appendToFile appends bytes to a file and syncs the file. If writing fails, it restores the file's old length.
func (b *Store) appendToFile(filePath string, out []byte) (err error) {
	f, err := b.worktree.OpenFile(filePath, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	end := fi.Size()
	if end > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], end-1); err != nil {
			return err
		}
		// Start a new line. The last line lacks a line feed because a write was interrupted or an editor removed the
		// line feed.
		if last[0] != '\n' {
			out = append([]byte{'\n'}, out...)
		}
	}
	if end+int64(len(out)) > maxSidecarBytes {
		return &oxbow.InvalidError{
			Field:  "sidecar",
			Value:  filePath,
			Reason: fmt.Sprintf("would be longer than %d MiB", maxSidecarBytes>>20),
		}
	}
	_, err = f.WriteAt(out, end)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(end))
	}
	if end == 0 {
		return b.worktree.SyncDir(path.Dir(filePath))
	}
	return nil
}

// gitattributesText makes git merge the sidecars of two branches automatically.
const gitattributesText = "# made by oxbow: git joins the annotations of two branches\n*" + sidecarSuffix + " " +
	unionMergeAttributes + "\n"

// makeAnnotationDir creates a directory in the annotations directory, durably. If the annotations directory itself
// does not exist, makeAnnotationDir also writes the files .gitignore and .gitattributes in it.
func (b *Store) makeAnnotationDir(dir string) error {
	if _, err := b.worktree.Stat(dir); err == nil {
		return nil
	}
	fresh := false
	if _, err := b.worktree.Stat(b.sidecarDir); errors.Is(err, fs.ErrNotExist) {
		fresh = true
	}
	if err := b.worktree.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if fresh {
		ignore := gitignoreText
		if b.shouldStartPrivate {
			ignore += privateGitignoreLines
		}
		for name, text := range map[string]string{".gitignore": ignore, ".gitattributes": gitattributesText} {
			if err := vfs.WriteFile(b.worktree, path.Join(b.sidecarDir, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	for d := dir; d != "."; d = path.Dir(d) {
		if err := b.worktree.SyncDir(path.Dir(d)); err != nil {
			return err
		}
	}
	return nil
}

// lockWriters acquires the lock that only one writer can hold, and returns the function that releases the lock.
func (b *Store) lockWriters(ctx context.Context) (func() error, error) {
	name := path.Join(b.sidecarDir, ".lock")
	l, err := b.worktree.OpenLock(name)
	if err != nil {
		return nil, err
	}
	ok, waited, err := vfs.AcquireLock(ctx, l, b.opts.LockWait)
	switch {
	case err != nil:
		return nil, errors.Join(err, l.Close())
	case !ok:
		return nil, errors.Join(&oxbow.BusyError{Path: name, Waited: waited}, l.Close())
	}
	return l.Close, nil
}

// HeadCommit returns the commit that is checked out, in hex, or "" without git.
func (b *Store) HeadCommit(ctx context.Context) (string, error) {
	if b.history == nil {
		return "", nil
	}
	return b.history.HeadCommit(ctx)
}
