// This file implements the verb recover, which saves the readable part of a damaged store.

package maintenance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/keytable"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/tree/backup"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
	"github.com/oxbow-memory/oxbow/internal/verb/signing"
	"github.com/oxbow-memory/oxbow/vfs"
)

// RecoverIn is the argument of Recover.
type RecoverIn struct {
	File string `json:"file,omitempty"     flag:"-" jsonschema:"a backup to read instead of the memory"`
	BackupKeyFiles
	SessionArchiveOnly bool `json:"sessions,omitempty"          jsonschema:"restore the archive of sessions, which the backup contains"`

	Out     string `json:"out,omitempty"     value:"FILE" jsonschema:"write the saved entries to this FILE (default HOME/memory.oxbow.recovered)"`
	Replace bool   `json:"replace,omitempty"              jsonschema:"replace the damaged file by the new file, and keep the damaged file next to it"`
}

// RecoverOut is the result of Recover.
type RecoverOut struct {
	Store string `json:"store"`
	// path of the backup that was read ("" if the memory itself was read)
	SourceBackupPath       string      `json:"from,omitempty"`
	IsStoreSound           bool        `json:"sound,omitempty"` // The store is not damaged.
	OutputFile             string      `json:"out,omitempty"`   // file with the saved entries
	EntryCount             int         `json:"entries"`
	ReadChangeCount        int         `json:"changes"` // number of changes that were read
	FirstSeq               uint64      `json:"first_change"`
	LastSeq                uint64      `json:"last_change"` // number of the last change that was read
	LostChangeRanges       [][2]uint64 `json:"lost"`        // first and last number in each range of missing changes
	BadBytes               int64       `json:"bad_bytes"`
	HeaderDamaged          bool        `json:"header_damaged"`
	IsCompactedPartDamaged bool        `json:"base_damaged"` // Entries are missing from the compacted part of the log.
	// path at which the damaged file is kept after it was replaced
	DamagedFile string `json:"damaged,omitempty"`

	durableSeq uint64 // number of the last change that was durable (0 if it is not known)
}

// Recover saves the readable part of a damaged memory in a new file. If in.Replace is set, the new file replaces the
// damaged file. If in.File is set, Recover reads the backup in.File instead of the memory. If the memory is complete
// and not damaged, Recover saves nothing and sets IsStoreSound in the result. If the last changes of the memory are
// missing although its file is not damaged, Recover saves nothing, and its error matches [oxbow.ErrRolledBack].
func Recover(ctx context.Context, w *verb.Workspace, in RecoverIn) (RecoverOut, error) {
	if in.File != "" {
		return recoverBackup(ctx, w, in)
	}
	store, err := w.ExistingStorePath("recover")
	if err != nil {
		return RecoverOut{}, err
	}
	found, err := examineStore(ctx, w)
	if err != nil {
		return RecoverOut{}, err
	}
	switch {
	case found.lacksDurableChanges:
		return RecoverOut{}, fmt.Errorf(
			"%w: %s ends at change %d, and change %d had been written; nothing in it is damaged",
			oxbow.ErrRolledBack, store, found.LastSeq, found.lastDurableSeq,
		)
	case found.OK:
		return RecoverOut{
			Store:            store,
			IsStoreSound:     true,
			EntryCount:       found.Entries,
			FirstSeq:         found.FirstSeq,
			LastSeq:          found.LastSeq,
			LostChangeRanges: [][2]uint64{},
		}, nil
	}
	var out RecoverOut
	if in.Replace {
		out, err = recoverInPlace(
			ctx,
			w,
			store,
			func() (RecoverOut, error) { return saveReadablePart(ctx, w, store, "") },
		)
	} else {
		out, err = saveReadablePart(ctx, w, store, in.Out)
	}
	if err != nil {
		return out, err
	}
	out.addLostChangeRange(max(found.lastDurableSeq, found.lastDamagedSeq))
	return out, nil
}

// addLostChangeRange adds a range to o.LostChangeRanges if changes after the last recovered change were lost. The range
// begins after o.LastSeq. It ends with durableSeq or o.durableSeq, whichever is greater. Both are change numbers that
// other records in the file, or the lock file, mention. Such a mention shows that the changes existed, but their
// contents are unknown.
func (o *RecoverOut) addLostChangeRange(durableSeq uint64) {
	durableSeq = max(durableSeq, o.durableSeq)
	if durableSeq > o.LastSeq {
		o.LostChangeRanges = append(o.LostChangeRanges, [2]uint64{o.LastSeq + 1, durableSeq})
	}
}

// recoverBackup saves the content of a backup in a new file. If in.Replace is set, the new file replaces the memory.
func recoverBackup(ctx context.Context, w *verb.Workspace, in RecoverIn) (out RecoverOut, err error) {
	store, err := in.targetStorePath(w)
	if err != nil {
		return out, err
	}
	saved := func() (RecoverOut, error) { return writeBackupContent(ctx, w, store, in) }
	if !in.Replace {
		out, err = saved()
	} else {
		err = ownership.CheckHomeTrusted(w)
		if err == nil {
			var m *oxbow.Memory
			over := *w
			// The store may be the archive of sessions. Open it directly with oxbow.Open, because the function w.Open
			// would import new turns into the damaged archive.
			over.Open = func(context.Context, verb.MemoryAccess) (_ *oxbow.Memory, err error) {
				m, err = oxbow.Open(store, &oxbow.Options{Clock: w.CurrentTime, Rand: w.Host.Rand, Source: w.Source})
				return m, err
			}
			out, err = recoverInPlace(ctx, &over, store, saved)
			if m != nil {
				err = errors.Join(err, m.Close())
			}
		}
	}
	if err == nil {
		out.addLostChangeRange(0)
	}
	return out, err
}

// writeBackupContent writes the content of the backup in.File to the file in.Out. If in.Out is "", it writes to a file
// with an unused name next to the store. It does not change the store. Damaged parts of the backup are left out, and
// the result counts what was left out.
func writeBackupContent(ctx context.Context, w *verb.Workspace, store string, in RecoverIn) (o RecoverOut, err error) {
	out := in.Out
	if out == "" {
		out, err = unusedPath(store + recoveredSuffix)
		if err != nil {
			return o, err
		}
	} else if _, err := os.Lstat(out); err == nil {
		return o, verb.Advise(fmt.Errorf("recovering: %w: %s", fs.ErrExist, out), "name another file with --out")
	}
	temp, err := restoreToTempFile(ctx, in.File, in.backupKeys(), out)
	if err != nil {
		return o, err
	}
	r, err := checkStoreFile(ctx, w, temp)
	switch {
	case errors.Is(err, oxbow.ErrNotStore):
		err = verb.Advise(fmt.Errorf("opening the backup %s: %w", in.File, err), "name a file that oxbow backup wrote")
	case err != nil || len(r.Problems) > 0:
		o, err = saveReadablePart(ctx, w, temp, out)
	default:
		o = RecoverOut{
			OutputFile:       out,
			EntryCount:       r.Entries,
			ReadChangeCount:  int(r.Last + 1 - r.First),
			FirstSeq:         r.First,
			LastSeq:          r.Last,
			LostChangeRanges: [][2]uint64{},
		}
		err = verb.WrapError("recovering", backup.RenameRestoredFile(filepath.Base(temp), out))
		if err == nil {
			o.IsStoreSound, temp = true, ""
			o.durableSeq, err = readDurableSeqFromLockFile(store, out)
		}
	}
	o.Store, o.SourceBackupPath = store, in.File
	if temp != "" {
		err = errors.Join(err, os.Remove(temp))
	}
	return o, err
}

// targetStorePath returns the path of the store to which a backup is restored: the memory, or the session archive.
func (in RecoverIn) targetStorePath(w *verb.Workspace) (string, error) {
	if !in.SessionArchiveOnly {
		store, err := w.ExistingStorePath("recover")
		if err != nil && store == "" {
			return "", verb.Advise(err, "oxbow init --from "+text.ShellQuote(in.File)+" makes one of the backup")
		}
		return store, err
	}
	store, err := w.OwnStorePath("recover")
	return filepath.Join(filepath.Dir(store), session.StoreFile), err
}

// recoverInPlace replaces the damaged file store by a recovered file. It calls the function save to create the
// recovered file. The damaged file is kept under the name rep.DamagedFile. Files that were derived from the damaged
// store are removed. recoverInPlace holds the lock of the store until the file is replaced.
func recoverInPlace(
	ctx context.Context,
	w *verb.Workspace,
	store string,
	save func() (RecoverOut, error),
) (rep RecoverOut, err error) {
	if err := w.Host.CheckMayWrite(store); err != nil {
		return RecoverOut{}, err
	}
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return RecoverOut{}, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	// Hold the lock, because a program that opened the store before the damage could still write to it.
	release, err := lockStore(ctx, w, dir, store)
	if err != nil {
		return RecoverOut{}, err
	}
	rep, err = save()
	if err == nil {
		err = removeDerivedFiles(store)
	}
	if err == nil {
		rep.DamagedFile, err = replaceStore(w, dir, store, rep.OutputFile)
		rep.OutputFile = store
	}
	if err := errors.Join(err, release()); err != nil {
		return RecoverOut{}, err
	}
	// The damaged store may have lost changes at its end, although they were durable. Accept their loss. Otherwise
	// oxbow would take the new store for an older copy.
	ctx, m, err := w.OpenMemory(ctx, verb.Write)
	if err != nil {
		return rep, err
	}
	return rep, verb.WrapError("accepting what was recovered", acceptLostChanges(ctx, w, m, store))
}

// removeDerivedFiles removes the files that were computed from the damaged log: the snapshot, the index, and the keys
// of texts from outside. The recovered log has the same identity and would otherwise use these files.
func removeDerivedFiles(store string) error {
	for _, suffix := range []string{logstore.SnapshotSuffix, index.FileSuffix, keytable.ForeignTextTableSuffix} {
		if fi, err := os.Lstat(store + suffix); err == nil && fi.IsDir() {
			continue // Ignore a directory, because oxbow did not create it.
		}
		if err := os.Remove(store + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing what was made from the damaged store: %w", err)
		}
	}
	return nil
}

// highestRecordedSeq returns the highest change number that the records of the store contain. A record contains its
// own number, and the number of the last change that was durable when the record was written.
func highestRecordedSeq(store string) (seq uint64, err error) {
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	_, err = wal.SalvageRecords(
		dir,
		filepath.Base(store),
		wal.Options{ReadOnly: true},
		func(_ *wal.LogDamage, r *wal.Record) error {
			seq = max(seq, r.Seq, r.DurableSeq)
			return nil
		},
	)
	return seq, verb.WrapError("reading "+store+" for numbers", err)
}

// lockStore acquires the lock for writing to a store that may be too damaged to be opened.
func lockStore(ctx context.Context, w *verb.Workspace, dir vfs.FS, store string) (release func() error, err error) {
	release, err = wal.HoldLock(
		ctx,
		dir,
		filepath.Base(store),
		wal.Options{Clock: w.CurrentTime, LockWait: vfs.DefaultLockWait},
	)
	var busy *wal.BusyError
	switch {
	case errors.As(err, &busy):
		h := busy.Holder
		return nil, &oxbow.BusyError{Path: store, Waited: busy.Waited, PID: h.PID, Program: h.Program,
			Since: h.Since, Stopped: h.IsSuspended}
	case errors.Is(err, wal.ErrReadOnly):
		return nil, fmt.Errorf("%w: %s: %w", oxbow.ErrReadOnly, store, err)
	case err != nil:
		return nil, fmt.Errorf("locking %s: %w", store, err)
	}
	return release, nil
}

// saveReadablePart saves the readable part of the store in a new file and checks this file. The new file is at
// outputPath. If outputPath is empty, the new file gets an unused name that begins with the path of the store. The
// result describes what was read and which changes were lost. Its field durableSeq is the highest change number that
// the damaged store is known to have had. saveReadablePart returns an error if nothing can be read, or if the new file
// cannot be created or has problems.
func saveReadablePart(ctx context.Context, w *verb.Workspace, store, outputPath string) (RecoverOut, error) {
	var err error
	if outputPath == "" {
		outputPath, err = unusedPath(store + recoveredSuffix)
		if err != nil {
			return RecoverOut{}, err
		}
	}
	r, err := oxbow.Recover(
		w.WithSource(ctx),
		store,
		outputPath,
		&oxbow.Options{Clock: w.CurrentTime, Rand: w.Host.Rand, Source: w.Source},
	)
	switch {
	case errors.Is(err, fs.ErrExist):
		return RecoverOut{}, verb.Advise(
			fmt.Errorf("recovering: %w: %s", fs.ErrExist, outputPath),
			"name another file with --out",
		)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, oxbow.ErrFull):
		return RecoverOut{}, verb.Advise(
			fmt.Errorf("recovering: %w", err),
			"name a place for the new file: oxbow recover --out FILE",
		)
	case errors.Is(err, oxbow.ErrNotStore):
		return RecoverOut{}, verb.Advise(fmt.Errorf("recovering: nothing in it can be read: %w", err),
			"put a backup in its place: oxbow recover BACKUP --replace; or move the file away, and the next remember "+
				"begins a new memory")
	case err != nil:
		return RecoverOut{}, fmt.Errorf("recovering: %w", err)
	}
	rep, err := checkStoreFile(ctx, w, outputPath)
	if err == nil && len(rep.Problems) > 0 {
		err = errors.New(rep.Problems[0].What)
	}
	if err != nil {
		return RecoverOut{}, fmt.Errorf("reading what was saved again, in %s: %w", outputPath, err)
	}
	o := RecoverOut{
		Store:                  store,
		OutputFile:             outputPath,
		EntryCount:             r.Entries,
		ReadChangeCount:        r.Changes,
		FirstSeq:               r.First,
		LastSeq:                r.Last,
		LostChangeRanges:       r.Lost,
		BadBytes:               r.BadBytes,
		HeaderDamaged:          r.Header,
		IsCompactedPartDamaged: r.Base,
	}
	if o.LostChangeRanges == nil {
		o.LostChangeRanges = [][2]uint64{}
	}
	// readDurableSeqFromLockFile must know the store's identity. It reads the identity from the new file at outputPath,
	// because the header of the damaged file may be unreadable. Both files have the same identity.
	noted, err := readDurableSeqFromLockFile(store, outputPath)
	if err != nil {
		return RecoverOut{}, err
	}
	named, err := highestRecordedSeq(store)
	o.durableSeq = max(noted, named)
	return o, err
}

// replaceStore gives the recovered file the name of the store. The result is the name under which the damaged file is
// kept. The caller must hold the lock of the store.
//
// If the file system supports hard links, the store's name always belongs to one of the two files, even after a crash.
// Otherwise there is a moment without a store, which doctor can detect.
func replaceStore(w *verb.Workspace, dir vfs.FS, storePath, recoveredPath string) (damagedPath string, err error) {
	// There is no store, so rename the recovered file without keeping another file.
	if _, err := os.Lstat(storePath); errors.Is(err, fs.ErrNotExist) {
		return "", verb.WrapError(
			"naming what was restored",
			backup.RenameRestoredFile(filepath.Base(recoveredPath), storePath),
		)
	}
	damagedPath, err = unusedPath(storePath + damagedSuffix + w.CurrentTime().Format("20060102-150405"))
	if err != nil {
		return "", fmt.Errorf("replacing the store: %w", err)
	}
	name := filepath.Base(storePath)
	new := filepath.Base(recoveredPath)
	kept := filepath.Base(damagedPath)
	linked := os.Link(storePath, damagedPath) == nil
	if !linked {
		if err := dir.Rename(name, kept); err != nil {
			return "", fmt.Errorf("replacing the store: %w", err)
		}
	}
	if err := dir.Rename(new, name); err != nil {
		if linked {
			err = errors.Join(err, dir.Remove(kept))
		} else {
			err = errors.Join(err, dir.Rename(kept, name))
		}
		return "", fmt.Errorf("replacing the store: %w", err)
	}
	if err := dir.SyncDir("."); err != nil {
		return "", fmt.Errorf("making the new file durable under its name: %w", err)
	}
	return damagedPath, nil
}

// AcceptRollbackIn is the argument of AcceptRollback. It is empty.
type AcceptRollbackIn struct{}

// AcceptRollbackOut is the result of AcceptRollback.
type AcceptRollbackOut struct {
	// false if the store contained all durable changes, so that nothing had to be accepted
	Accepted bool `json:"accepted"`
	// number of changes that the store had lost and that were given up by accepting the present state
	LostChanges      uint64 `json:"given_up"`
	LastChangeNumber uint64 `json:"last_change"`
	StoreFilePath    string `json:"store"`
}

// AcceptRollback accepts that a store went back to an earlier state. New changes then follow the last change that the
// store contains.
func AcceptRollback(ctx context.Context, w *verb.Workspace, _ AcceptRollbackIn) (AcceptRollbackOut, error) {
	store, err := w.ExistingStorePath("recover")
	if err != nil {
		return AcceptRollbackOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Write)
	if err != nil {
		return AcceptRollbackOut{}, err
	}
	// Read the last durable change's number first, and the number of the store's last change afterwards. Otherwise a
	// change that another process makes meanwhile would count as missing.
	durable, err := readDurableSeqFromLockFile(store, store)
	if err != nil {
		return AcceptRollbackOut{}, err
	}
	s, err := m.Stats(ctx)
	if err != nil {
		return AcceptRollbackOut{}, err
	}
	if durable > s.Last {
		err = m.Accept(ctx)
	}
	back, berr := signing.SignAcceptedRollback(store, w.CurrentTime(), s)
	err = errors.Join(err, berr)
	return AcceptRollbackOut{StoreFilePath: store, Accepted: back ||
		durable > s.Last, LastChangeNumber: s.Last, LostChanges: max(durable,
		s.Last) - s.Last}, verb.WrapError("accepting", err)
}

// acceptLostChanges lets new changes follow the last change in the store. If the lock file or signed hashes
// prove that later changes existed, the loss of these changes is accepted.
func acceptLostChanges(ctx context.Context, w *verb.Workspace, m *oxbow.Memory, store string) error {
	if err := m.Accept(ctx); err != nil {
		return err
	}
	s, err := m.Stats(ctx)
	if err == nil {
		_, err = signing.SignAcceptedRollback(store, w.CurrentTime(), s)
	}
	return err
}
