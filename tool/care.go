// Verbs that look after the file of a memory: backup, compact, redact, stats.

package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/session/inbox"
)

// BackupIn is what backup takes.
type BackupIn struct {
	File  string `json:"file" flag:"-" jsonschema:"path of the new file"`
	Force bool   `json:"force,omitempty" jsonschema:"replace a file of that name"`

	Sessions bool `json:"sessions,omitempty" jsonschema:"copy the archive of sessions, not the memory"`
}

// BackupOut describes a copy.
type BackupOut struct {
	File     string    `json:"file"`
	Entries  int       `json:"entries"`
	Last     uint64    `json:"last_change"`
	Bytes    int64     `json:"bytes"`
	Head     string    `json:"head"`
	Problems []Problem `json:"problems,omitempty"`

	Left string `json:"archive_left,omitempty"` // the archive of sessions, which is not in the copy

	Store string `json:"-"` // what was copied
}

// Failed reports whether the copy has a problem.
func (o BackupOut) Failed() bool { return len(o.Problems) > 0 }

// Backup copies the memory to a file, while others use it, and checks the copy.
func Backup(ctx context.Context, w *Workspace, in BackupIn) (BackupOut, error) {
	left, err := w.archiveFile()
	if err != nil {
		return BackupOut{}, err
	}
	if in.Sessions {
		if left == "" {
			return BackupOut{}, Advise(fmt.Errorf("backing up: %w: no sessions are kept here", fs.ErrNotExist), "leave --sessions out to copy the memory")
		}
		if w, err = w.overSessions(ctx); err != nil {
			return BackupOut{}, err
		}
		return backup(ctx, w, left, in)
	}
	store, err := w.existingStore("backup")
	if err != nil {
		return BackupOut{}, err
	}
	out, err := backup(ctx, w, store, in)
	out.Left = left
	return out, err
}

// backup copies the store of the workspace's memory.
func backup(ctx context.Context, w *Workspace, store string, in BackupIn) (BackupOut, error) {
	src, err := os.Stat(store)
	if err != nil {
		return BackupOut{}, fmt.Errorf("backing up: %w", err)
	}
	if err := mayReplace(w, in.File, src, in.Force); err != nil {
		return BackupOut{}, err
	}
	ctx, m, err := w.Memory(ctx, Read)
	if err != nil {
		return BackupOut{}, err
	}
	if _, err = m.Backup(ctx, in.File, in.Force); errors.Is(err, fs.ErrExist) { // made since we looked
		return BackupOut{}, fileExists(in.File)
	} else if err != nil {
		return BackupOut{}, fmt.Errorf("backing up: %w", err)
	}
	r, err := checkFile(ctx, w, in.File)
	if err != nil {
		return BackupOut{}, fmt.Errorf("reading the copy again: %w", err)
	}
	return BackupOut{File: in.File, Store: store, Entries: r.Entries, Last: r.Last, Bytes: r.Bytes, Head: r.Head, Problems: problemsOf(r)}, nil
}

// mayReplace refuses a place for a copy that holds something else than an
// earlier copy.
func mayReplace(w *Workspace, file string, store fs.FileInfo, force bool) error {
	fi, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("backing up: %w", err)
	case os.SameFile(fi, store):
		return Advise(invalidf("%s is the memory itself", file), "name another file")
	case fi.IsDir():
		name := filepath.Join(file, "memory-"+w.now().Format("20060102")+".oxbow")
		return Advise(invalidf("%s is a directory", file), "name a file in it: oxbow backup "+text.ShellQuote(name))
	case !fi.Mode().IsRegular():
		return Advise(invalidf("%s is not a regular file", file), "name another file")
	case !force:
		return fileExists(file)
	}
	// Others may be writing to a memory, and would go on in a file without a
	// name.
	if _, err := os.Stat(wal.LockName(file)); err == nil {
		return Advise(fmt.Errorf("backing up: %s is a memory in use, not a copy of one", file),
			"name another file; "+text.ShellQuote(wal.LockName(file))+" is what shows that it is in use")
	}
	return nil
}

func fileExists(file string) error {
	return Advise(fmt.Errorf("backing up: %w: %s", fs.ErrExist, file), "name another file, or replace it with --force")
}

// CompactIn is what compact takes.
type CompactIn struct {
	Keep   string `json:"keep" value:"SPAN" default:"90d" jsonschema:"keep the history of this SPAN: 90d, 12w, 1y, 36h"`
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"show what would be dropped and change nothing"`
}

// mostIndexed is a store whose index is made in a second or two.
const mostIndexed = 32 << 20

// CompactOut is what a compaction dropped.
type CompactOut struct {
	DryRun      bool   `json:"dry_run,omitempty"`
	Before      string `json:"before"` // what is older was dropped, RFC 3339
	Changes     int    `json:"changes"`
	Versions    int    `json:"versions"`
	BytesBefore int64  `json:"bytes_before"`
	BytesAfter  int64  `json:"bytes_after"`
	Seq         uint64 `json:"seq,omitempty"`
}

// Compact drops old history for good.
func Compact(ctx context.Context, w *Workspace, in CompactIn) (CompactOut, error) {
	span, ok := parseSpan(in.Keep)
	if !ok {
		return CompactOut{}, Advise(invalidf("%q is not a length of time", in.Keep), "write 90d, 12w, 6mo, 1y or 36h")
	}
	ctx, m, err := w.Memory(ctx, Write)
	if err != nil {
		return CompactOut{}, err
	}
	before := w.now().Add(-span)
	c, ok := m.Store().(oxbow.Compactor)
	if !ok {
		return CompactOut{}, fmt.Errorf("compacting: %w", oxbow.ErrUnsupported)
	}
	r, err := c.Compact(ctx, before, in.DryRun)
	if err != nil {
		return CompactOut{}, fmt.Errorf("compacting: %w", err)
	}
	if r.Seq > 0 && r.BytesAfter < mostIndexed {
		// It may have dropped the index file. What takes long or goes wrong is left
		// to the next recall.
		_ = m.MakeIndex(ctx)
	}
	return CompactOut{in.DryRun, stamp(before), r.Changes, r.Versions, r.BytesBefore, r.BytesAfter, r.Seq}, nil
}

// RedactIn is what redact takes.
type RedactIn struct {
	Name   string `json:"name" flag:"-" jsonschema:"exact name of the entry"`
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"say what would be erased and change nothing"`
}

// RedactOut is what was erased and what was not reached.
type RedactOut struct {
	DryRun   bool     `json:"dry_run,omitempty"`
	Name     string   `json:"name"`
	Versions int      `json:"versions"`
	Seq      uint64   `json:"seq,omitempty"` // the change that records it
	Left     []string `json:"left"`          // what may still hold it
}

// Redact erases an entry and all it ever said, for good.
func Redact(ctx context.Context, w *Workspace, in RedactIn) (RedactOut, error) {
	store, err := w.ownStore("redact")
	if err != nil {
		return RedactOut{}, err
	}
	ctx, m, err := w.Memory(ctx, Write)
	if err != nil {
		return RedactOut{}, err
	}
	r, err := m.Redact(ctx, in.Name, in.DryRun)
	if errors.Is(err, oxbow.ErrNotFound) {
		return RedactOut{}, Advise(fmt.Errorf("redacting: %w", err), "redact takes the exact name, and of an entry that is in the log; oxbow log shows the names")
	}
	if err != nil {
		return RedactOut{}, fmt.Errorf("redacting: %w", err)
	}
	if !in.DryRun { // vectors of what was erased tell of it
		if err := os.Remove(store + VectorSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return RedactOut{}, wrapped("removing the vectors", err)
		}
	}
	out := RedactOut{DryRun: in.DryRun, Name: in.Name, Versions: r.Versions, Seq: r.Seq, Left: r.Left}
	// What lies next to the store is known by name.
	left, err := staleFiles(store)
	for _, l := range left {
		out.Left = append(out.Left, l.path)
	}
	return out, err
}

// StatsIn is what stats takes: nothing.
type StatsIn struct{}

// StatsOut are the numbers of a memory.
type StatsOut struct {
	Store    string         `json:"store"`
	Entries  int            `json:"entries"`
	Bytes    int64          `json:"bytes"` // of the file
	Used     int64          `json:"used"`  // of the file, without free space
	Content  int64          `json:"content_bytes"`
	First    uint64         `json:"first_change"`
	Last     uint64         `json:"last_change"`
	Oldest   string         `json:"oldest,omitempty"` // creation of the oldest entry, RFC 3339
	Newest   string         `json:"newest,omitempty"`
	Kinds    map[string]int `json:"kinds"`
	Projects map[string]int `json:"projects"`
	Tags     map[string]int `json:"tags"`

	Waiting int `json:"inbox,omitempty"` // proposals of past sessions

	Own bool `json:"-"` // the store is in one file, with its changes
}

// Stats counts what the memory holds.
func Stats(ctx context.Context, w *Workspace, _ StatsIn) (StatsOut, error) {
	ctx, m, err := w.Memory(ctx, Read)
	if err != nil {
		return StatsOut{}, err
	}
	p, err := w.place()
	if err != nil {
		return StatsOut{}, err
	}
	out := StatsOut{Store: p.Store, Own: p.Own(), Kinds: map[string]int{}, Projects: map[string]int{}, Tags: map[string]int{}}
	if s, err := statsOf(ctx, m); err == nil {
		out.Bytes, out.Used, out.First, out.Last = s.Bytes, s.Used, s.First, s.Last
	} else if !errors.Is(err, oxbow.ErrUnsupported) {
		return StatsOut{}, err
	}
	sum, err := oxbow.Summarize(ctx, m.Store())
	if err != nil {
		return StatsOut{}, fmt.Errorf("counting: %w", err)
	}
	out.Entries, out.Content = sum.Entries, sum.Content
	counts := map[string]map[string]int{"kind": out.Kinds, oxbow.LabelProject: out.Projects, oxbow.LabelTag: out.Tags}
	for l, n := range sum.Counts {
		counts[l.Key][l.Value] = n
	}
	if out.Entries > 0 {
		out.Oldest, out.Newest = stamp(sum.Oldest), stamp(sum.Newest)
	}
	if file, err := w.archiveFile(); err == nil && file != "" && w.Sessions != nil {
		if a, err := w.Sessions(ctx); err == nil { // else doctor says what is wrong with it
			out.Waiting, _ = inbox.Waiting(ctx, a.Memory)
		}
	}
	return out, nil
}
