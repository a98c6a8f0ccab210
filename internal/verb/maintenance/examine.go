// This file checks a store: whether the records are sound, and whether it still contains all durable changes.

package maintenance

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/signing"
	"github.com/oxbow-memory/oxbow/vfs"
)

// If the store's directory contains files that the store does not read, because of their names, a check lists at most
// maxUnreadFiles of these files.
const maxUnreadFiles = 5

// CheckDataOut is the result of the verb "check".
type CheckDataOut struct {
	OK                 bool                `json:"ok"`
	Store              string              `json:"store"`
	IsStoreFileMissing bool                `json:"missing,omitempty"` // The file of the store does not exist.
	Records            int                 `json:"records"`
	Entries            int                 `json:"entries"`
	Bytes              int64               `json:"bytes"`
	FirstSeq           uint64              `json:"first_change"`
	LastSeq            uint64              `json:"last_change"`
	LastLogHash        string              `json:"head,omitempty"`
	Problems           []verb.Problem      `json:"problems"`
	IncompleteLogTails []IncompleteLogTail `json:"set_aside,omitempty"`
	// remarks about facts that are not damage, such as an alias of two entries
	Notes []string `json:"notes,omitempty"`

	// Annotations is the result for the annotations of the working tree (nil if the tree lacks annotations).
	Annotations *AnnotationsCheck `json:"annotations,omitempty"`
	// Sessions is the result for the archive of sessions (nil if it does not exist).
	Sessions    *SessionsCheck           `json:"sessions,omitempty"`
	SignedHeads *signing.SignedHashCheck `json:"signed_heads,omitempty"`
	// result for the hash in CheckDataIn.EarlierHash (nil without it)
	EarlierHashMatch *EarlierLogHash `json:"since,omitempty"`

	lastDurableSeq      uint64 // number of the last change that was durable (0 if it is not known)
	lastDamagedSeq      uint64 // highest number of a damaged change
	lacksDurableChanges bool   // The store is sound, but durable changes are missing.
}

// Failed reports whether the check found a problem.
func (o CheckDataOut) Failed() bool { return !o.OK }

// IncompleteLogTail is the rest of an interrupted write, which was cut off the log and kept in a file.
type IncompleteLogTail struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

// AnnotationsCheck is the result of checking the files with a working tree's annotations (sidecars).
type AnnotationsCheck struct {
	FileCount               int           `json:"files"`
	AnnotationCount         int           `json:"annotations"`
	LineCount               int           `json:"lines"`
	FilesWithIncompleteLine int           `json:"torn,omitempty"`
	FilesOfNewerFormat      int           `json:"newer,omitempty"`
	Problems                []LineProblem `json:"problems"`
}

// LineProblem describes a damaged line in a file of annotations.
type LineProblem struct {
	File        string `json:"file"`
	Line        int    `json:"line,omitempty"`
	Offset      int64  `json:"offset"`
	Description string `json:"what"`
}

// Position returns the place of the problem as FILE:LINE:, the form that compilers use.
func (p LineProblem) Position() string {
	if p.Line == 0 {
		return p.File + ":"
	}
	return fmt.Sprintf("%s:%d:", p.File, p.Line)
}

// SessionsCheck is the result of checking the session archive.
type SessionsCheck struct {
	StorePath        string         `json:"store"`
	Entries          int            `json:"entries"`
	Bytes            int64          `json:"bytes"`
	Problems         []verb.Problem `json:"problems"`
	WaitingProposals int            `json:"waiting,omitempty"` // number of waiting proposals in the inbox
}

// EarlierLogHash is a hash of the log that the user noted earlier, and the change after which the log had this hash.
type EarlierLogHash struct {
	LogHash string `json:"head"`
	Found   bool   `json:"found"`
	// Number of the change after which the log had this hash. If the log had this hash before the first change that it
	// contains, Seq is the number before that change's number.
	Seq  uint64 `json:"seq"`
	Time string `json:"time,omitempty"` // time of the change (RFC 3339)
}

// examineStore checks the store. It reports damage in the result and not as an error.
func examineStore(ctx context.Context, w *verb.Workspace) (CheckDataOut, error) {
	p, err := w.FindPlace()
	if err != nil {
		return CheckDataOut{}, err
	}
	out := CheckDataOut{Store: p.StorePath, Problems: []verb.Problem{}}
	out.checkFileExists(p)
	if out.IsStoreFileMissing {
		return out, nil
	}
	// Continue if the file is too damaged to be opened, because the check has to report the damage.
	var damage *oxbow.CorruptError
	if err := out.readStore(ctx, w, p); errors.As(err, &damage) {
		out.addDamage(damage)
	} else if err != nil {
		return out, err
	}
	out.OK = len(out.Problems) == 0
	if !p.HasOwnLayout() {
		return out, nil
	}
	stale, err := listStaleFiles(p.StorePath)
	for _, f := range stale {
		if f.kind == leftoverIncompleteLogTail {
			out.IncompleteLogTails = append(out.IncompleteLogTails, IncompleteLogTail{f.path, f.size})
		}
	}
	return out, err
}

// checkFileExists sets o.IsStoreFileMissing and o.OK if the file of the store does not exist. But if the lock file
// shows that changes had been written to the store, it sets o.OK to false, adds a problem, and stores the number of the
// last change in o.lastDurableSeq. It does nothing if the file exists, or if the home does not have oxbow's own layout.
func (o *CheckDataOut) checkFileExists(p verb.Place) {
	if missing, _ := verb.IsStoreMissing(p.StorePath); !p.HasOwnLayout() || !missing {
		return
	}
	o.IsStoreFileMissing, o.OK = true, true
	dir, err := vfs.Dir(filepath.Dir(p.StorePath))
	if err != nil {
		return
	}
	defer dir.Close()
	if was, ok := wal.ReadLockFileContent(dir, filepath.Base(p.StorePath)); ok && was.DurableSeq > 0 {
		o.OK, o.lastDurableSeq = false, was.DurableSeq
		o.Problems = append(
			o.Problems,
			verb.Problem{
				Offset:      -1,
				Description: fmt.Sprintf("the file is gone, and change %d had been written to it", was.DurableSeq),
				Mend:        "put it or a backup back; the next remember begins a memory without what was in it",
			},
		)
	}
}

// readStore opens the store, reads it completely, and adds the counts and problems to o. The lock file contains the
// number of the last durable change. If the store lacks this change, readStore adds a problem. It skips this comparison
// if the log is damaged.
func (o *CheckDataOut) readStore(ctx context.Context, w *verb.Workspace, p verb.Place) error {
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return err
	}
	if _, serr := os.Stat(p.StorePath); p.HasOwnLayout() && serr == nil {
		// Read the number of the last durable change before the store is checked, because other processes may add
		// changes. Otherwise the new changes would seem to be missing.
		o.lastDurableSeq, err = readDurableSeqFromLockFile(p.StorePath, p.StorePath)
		if err != nil {
			return err
		}
	}
	r, err := m.Check(ctx)
	if err != nil {
		return fmt.Errorf("checking: %w", err)
	}
	o.Records = r.Records
	o.Entries = r.Entries
	o.Bytes = r.Bytes
	o.FirstSeq = r.First
	o.LastSeq = r.Last
	o.LastLogHash = r.Head
	o.Problems = append(o.Problems, verb.ProblemsOfCheck(r)...)
	for _, file := range r.Unread {
		if len(o.Notes) < maxUnreadFiles {
			o.Notes = append(o.Notes, fmt.Sprintf(
				"%q is not read: its name has no date; oxbow import %s takes its text into the memory", file, file))
		}
	}
	if r.Damaged {
		return nil // The log is damaged. Only a recovery can find out whether changes after the damage are missing.
	}
	if o.lastDurableSeq > o.LastSeq {
		o.lacksDurableChanges = !slices.ContainsFunc(r.Problems, func(p oxbow.Problem) bool { return p.Offset >= 0 })
		o.Problems = append(
			o.Problems,
			verb.Problem{
				Offset:      -1,
				Description: fmt.Sprintf(rollbackMessageFormat, o.LastSeq, o.lastDurableSeq),
				Mend:        w.NoteText(verb.ErrorRemedy(oxbow.ErrRolledBack)),
			},
		)
	}
	return nil
}

// addDamage adds a problem to o that describes the damage c, because of which the store cannot be opened. It also
// records the number of the last lost change, and the size of the store's file.
func (o *CheckDataOut) addDamage(c *oxbow.CorruptError) {
	what := c.Reason
	switch n := len(c.Lost); {
	case n == 1:
		what = fmt.Sprintf("%s (change %d)", c.Reason, c.Lost[0])
	case n > 1:
		what = fmt.Sprintf("%s (changes %d to %d)", c.Reason, c.Lost[0], c.Lost[n-1])
	}
	for _, seq := range c.Lost {
		o.lastDamagedSeq = max(o.lastDamagedSeq, seq)
	}
	o.Problems = append(o.Problems, verb.Problem{Offset: c.Offset, Description: what,
		Mend: "nothing was changed; oxbow recover saves what can be read into a new file, or put a backup in the " +
			"place of this one"})
	if fi, err := os.Stat(o.Store); err == nil {
		o.Bytes = fi.Size()
	}
}

// RollbackWatcher finds out whether an open store lacks durable changes, because its file was replaced by an older one.
// It is safe for concurrent use.
type RollbackWatcher struct {
	memory *oxbow.Memory
	file   string // path of the store
	now    func() time.Time

	mu sync.Mutex
	// lock file's state when it was read (nil if it was not read yet, or if the store lacked changes then), and the
	// number of the last durable change that it recorded
	lockFileInfo       fs.FileInfo
	lockFileDurableSeq uint64
}

// NewRollbackWatcher returns a watcher for an open memory and its file.
func NewRollbackWatcher(m *oxbow.Memory, file string, now func() time.Time) *RollbackWatcher {
	return &RollbackWatcher{memory: m, file: file, now: now}
}

// Note returns a note with advice if changes that were recorded as durable are missing from the store. This happens,
// for example, if the store file was replaced by an older copy. Otherwise Note returns an empty note.
func (w *RollbackWatcher) Note(ctx context.Context) verb.Note {
	lock, lockErr := os.Stat(filepath.Join(filepath.Dir(w.file), wal.LockName(filepath.Base(w.file))))
	// Read the recorded number of the last durable change first, and then the store's last change. In the opposite
	// order, changes that another process adds in between would seem to be missing.
	had, known := uint64(0), false
	if lockErr == nil {
		had, known = w.cachedDurableSeq(lock)
	}
	s, err := w.memory.Stats(ctx)
	if known && err == nil && had <= s.Last {
		return verb.Note{}
	}
	had, err = readDurableSeqFromLockFile(w.file, w.file)
	if err != nil || had == 0 {
		return verb.Note{}
	}
	s, err = w.memory.Stats(ctx)
	switch {
	case err != nil:
	case had > s.Last:
		return verb.JoinNotes([]verb.Note{verb.Notef("the memory may lack what was remembered: "+
			rollbackMessageFormat, s.Last, had), verb.ErrorRemedy(oxbow.ErrRolledBack)})
	case lockErr == nil:
		w.cacheDurableSeq(lock, had)
	}
	return verb.Note{}
}

// minCacheableLockFileAge is the age that a lock file needs so that its content is remembered. If a younger file was
// changed again immediately, its modification time might stay the same.
const minCacheableLockFileAge = 2 * time.Second

// cachedDurableSeq returns the number of the last durable change that the lock file contained when it was last read.
// The argument lockFileInfo describes the present lock file. The second result is false if the lock file was never
// read, or has changed since it was read.
func (w *RollbackWatcher) cachedDurableSeq(lockFileInfo fs.FileInfo) (uint64, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.lockFileInfo
	isSame := old != nil && old.ModTime().Equal(lockFileInfo.ModTime()) && old.Size() == lockFileInfo.Size() &&
		os.SameFile(old, lockFileInfo)
	return w.lockFileDurableSeq, isSame
}

func (w *RollbackWatcher) cacheDurableSeq(lockFileInfo fs.FileInfo, durableSeq uint64) {
	// Windows updates the modification time only when the process that writes the file closes it.
	if runtime.GOOS == "windows" || w.now().Sub(lockFileInfo.ModTime()) < minCacheableLockFileAge {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lockFileInfo, w.lockFileDurableSeq = lockFileInfo, durableSeq
}

// checkStoreFile reads and checks the whole store in a file, without changing anything. Then it calls the functions in
// checks with the open store.
func checkStoreFile(
	ctx context.Context,
	w *verb.Workspace,
	file string,
	checks ...func(*oxbow.Memory) error,
) (r oxbow.CheckReport, err error) {
	check := func(m *oxbow.Memory) (err error) {
		r, err = m.Check(ctx)
		return err
	}
	_, err = openStoreFile(ctx, w, file, append([]func(*oxbow.Memory) error{check}, checks...)...)
	return r, err
}

// openStoreFile opens the store in the file called file for reading only, and passes the open memory to each function
// in checks. The report contains only the path, the number of entries and the size, because openStoreFile does not
// examine the whole file. It returns the first error.
func openStoreFile(
	ctx context.Context,
	w *verb.Workspace,
	file string,
	checks ...func(*oxbow.Memory) error,
) (r oxbow.CheckReport, err error) {
	m, err := oxbow.Open(file, &oxbow.Options{Clock: w.CurrentTime, Rand: w.Host.Rand, ReadOnly: true})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	stats, err := m.Stats(ctx)
	for _, look := range checks {
		err = cmp.Or(err, look(m))
	}
	return oxbow.CheckReport{Path: file, Entries: stats.Entries, Bytes: stats.Bytes}, err
}

// readHeader reads the header of the store in the file with the path store. If the file does not exist, the result is
// the zero header. If the file cannot be opened as a store, readHeader returns an error.
func readHeader(store string) (h wal.Header, err error) {
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	log, err := wal.Open(dir, filepath.Base(store), wal.Options{ReadOnly: true})
	if err != nil {
		return h, fmt.Errorf("reading the header of %s: %w", store, err)
	}
	return log.Header(), log.Close()
}

// readDurableSeqFromLockFile returns the number of the last durable change according to the lock file of the store at
// the path storePath. It returns 0 if the lock file does not contain a number. It also returns 0 if the ID in the lock
// file differs from the ID of the store in the file identityFile.
func readDurableSeqFromLockFile(storePath, identityFile string) (seq uint64, err error) {
	dir, err := vfs.Dir(filepath.Dir(storePath))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	n, ok := wal.ReadLockFileContent(dir, filepath.Base(storePath))
	if !ok || n.DurableSeq == 0 {
		return 0, nil
	}
	h, err := readHeader(identityFile)
	if err != nil || n.LogID != hex.EncodeToString(h.ID[:]) {
		return 0, err
	}
	return n.DurableSeq, nil
}

// rollbackMessageFormat is the format of the message about missing durable changes.
const rollbackMessageFormat = "it went back: it ends at change %d, and change %d had been written"
