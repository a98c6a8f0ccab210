// This file writes backups. A backup consists of a manifest and one file for each brain (a memory in the cluster). The
// file has the format of a local memory.

package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// maxConcurrentCopies is the number of brains (memories in the cluster) that are copied at the same time.
const maxConcurrentCopies = 8

// BackupReport is the result of a backup.
type BackupReport struct {
	Brains  int   `json:"brains"` // number of brains (memories) in the cluster
	Read    int   `json:"read"`   // number of brains that were read because they have changed since the last backup
	Kept    int   `json:"kept"`   // number of brains with an unchanged file from the last backup
	Bytes   int64 `json:"bytes"`  // size of the written files
	Deleted int   `json:"deleted"`
	// Brains that could not be read completely. Their files from the last backup were kept.
	Findings []Finding `json:"findings"`
}

// backupRun is a backup that is being made.
type backupRun struct {
	cluster        *Cluster
	fsys           vfs.FS
	oldBrainByName map[string]savedBrain
	progress       func(BackupReport)

	mu          sync.Mutex // guards the fields below
	report      BackupReport
	savedBrains []savedBrain
}

// Backup writes each brain to a file in a directory. Each file can be opened as a local memory. Brains that have not
// changed since the last backup in this directory are not read again. Each file has passed the checks in [Store.Check]
// and contains at least the changes of the last backup. The last backup stays valid until all files are written and
// synced. progress may be nil. It is called after each brain.
func (c *Cluster) Backup(ctx context.Context, dir string, progress func(BackupReport)) (BackupReport, error) {
	d, err := openDir(dir)
	if err != nil {
		return BackupReport{}, err
	}
	defer d.Close()
	lock, err := lockDirectory(d, "a backup to "+dir+" is under way; wait for its end")
	if err != nil {
		return BackupReport{}, err
	}
	defer lock.Close()
	if progress == nil {
		progress = func(BackupReport) {}
	}
	b := &backupRun{cluster: c, fsys: d, oldBrainByName: map[string]savedBrain{}, progress: progress}
	if err := b.readOldManifest(dir); err != nil {
		return b.report, err
	}
	if err := b.copyBrains(ctx); err != nil {
		return b.report, fmt.Errorf("back up to %s: %w; the last backup there stays as it was", dir, err)
	}
	return b.report, b.replaceManifest()
}

// readOldManifest fills b.oldBrainByName from the manifest of the last backup in the directory. If there is no
// manifest, it does nothing. A backup of another cluster is an error that matches [oxbow.ErrRolledBack]. dir is used
// only in errors.
func (b *backupRun) readOldManifest(dir string) error {
	data, err := readFile(b.fsys, manifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	m, err := decodeManifest(data)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w; back up to another directory", dir, err)
	case m.ClusterID != b.cluster.directory.clusterID:
		return fmt.Errorf(
			"%w: the backup in %s is of cluster %.40s, and the servers are of cluster %s: they lost their data, or "+
				"are others; back up to another directory, and keep that one to restore from",
			oxbow.ErrRolledBack,
			dir,
			m.ClusterID,
			b.cluster.directory.clusterID,
		)
	}
	for _, s := range m.Brains {
		b.oldBrainByName[s.fullName()] = s
	}
	return nil
}

// copyBrains copies all brains (memories) of the cluster to the backup. It stops at the first error. A damaged brain is
// not an error, but a finding in the report. If the last backup contains a brain that the cluster no longer lists, the
// brain's file is kept, and the report gets a finding about this brain.
func (b *backupRun) copyBrains(ctx context.Context) error {
	brains, err := b.cluster.directory.listBrains(ctx)
	if err != nil {
		return err
	}
	b.report.Brains = len(brains)
	err = forEachConcurrently(ctx, brains, b.copyBrain)
	if err != nil {
		return err
	}
	for _, info := range brains {
		delete(b.oldBrainByName, info.Name)
	}
	for name, s := range b.oldBrainByName {
		b.savedBrains = append(b.savedBrains, s)
		b.report.Findings = append(
			b.report.Findings,
			Finding{
				Brain: name,
				What:  "the directory does not name it any more; its file stays: restore it with Restore",
			},
		)
	}
	return nil
}

// forEachConcurrently calls fn for each item, until a call fails. It runs maxConcurrentCopies calls at the same time.
func forEachConcurrently[T any](ctx context.Context, items []T, fn func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan T)
	var wg sync.WaitGroup
	for range maxConcurrentCopies {
		wg.Go(func() {
			for item := range next {
				if err := fn(ctx, item); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	for _, item := range items {
		select {
		case next <- item:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// copyBrain copies a brain (a memory) to the backup. If the brain has not changed since the last backup, copyBrain
// keeps the brain's file in the backup. If the brain is damaged or has lost changes, copyBrain adds a finding to the
// report and returns nil. In this case, the backup keeps the brain's file from the last backup, if such a file exists.
func (b *backupRun) copyBrain(ctx context.Context, brain brainDirectoryEntry) error {
	oldBrain, hasOld := b.oldBrainByName[brain.Name]
	isKept := false
	s, err := oldBrain, error(nil)
	if hasOld && b.hasFile(oldBrain) {
		s, isKept, err = b.cluster.checkBrainUnchanged(ctx, brain, oldBrain)
	}
	if err == nil && !isKept {
		s, err = b.readBrain(ctx, brain, oldBrain)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case errors.Is(err, oxbow.ErrCorrupt) || errors.Is(err, oxbow.ErrRolledBack):
		b.report.Findings = append(
			b.report.Findings,
			Finding{Stream: brain.streamName(), Brain: brain.Name, What: err.Error()},
		)
		if hasOld {
			b.savedBrains = append(b.savedBrains, oldBrain)
		}
		err = nil
	case err != nil:
		return err
	case isKept:
		b.report.Kept++
		b.savedBrains = append(b.savedBrains, s)
	default:
		b.report.Read++
		b.report.Bytes += s.FileSize
		b.savedBrains = append(b.savedBrains, s)
	}
	b.progress(b.report)
	return err
}

func (b *backupRun) hasFile(s savedBrain) bool {
	if s.LastEnvelopeNumber == 0 {
		return true
	}
	info, err := b.fsys.Stat(s.FileName)
	return err == nil && info.Size() == s.FileSize
}

// checkBrainUnchanged reports whether a brain (a memory in the cluster) has not changed since the last backup.
// savedState is the brain's state in that backup. If the brain has not changed, the first result is savedState with a
// new LastMessageSeq, because compaction may have moved the brain's last message. If the brain cannot be read, the
// result is false, and the error is nil.
func (c *Cluster) checkBrainUnchanged(
	ctx context.Context,
	brain brainDirectoryEntry,
	savedState savedBrain,
) (savedBrain, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.ReadWait)
	defer cancel()
	if err := c.replaceFencedLeader(ctx, brain.streamName()); err != nil {
		return savedState, false, err
	}
	var n, seq uint64
	var hash chainHash
	err := c.ensureCopyIsCurrent(ctx, brain, func() uint64 { return seq }, func() (err error) {
		n, hash, seq, err = c.readLastEnvelopePosition(ctx, brain)
		return err
	})
	isSameEnd := n == savedState.LastEnvelopeNumber && (n == 0 || hash == savedState.EnvelopeChainHash)
	isSame := isSameEnd && brain.BrainEpoch == savedState.BrainEpoch
	if err != nil || !isSame {
		// Return false without the error, so that the caller reads the brain and detects damage.
		return savedState, false, nil
	}
	savedState.LastMessageSeq = seq
	return savedState, true, nil
}

// readLastEnvelopePosition reads the last message of a brain (a memory) in its stream. envelopeNumber is the number of
// the last envelope, which is a message with changes. The result hash covers all envelopes up to this envelope, and seq
// is the message's sequence number in the stream. If the last message is a snapshot, hash covers only the envelopes
// before the snapshot. If the brain has no messages, all results are zero. If the message cannot be read or decoded,
// readLastEnvelopePosition returns an error.
func (c *Cluster) readLastEnvelopePosition(
	ctx context.Context,
	info brainDirectoryEntry,
) (envelopeNumber uint64, hash chainHash, seq uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.ReadWait)
	defer cancel()
	m, ok, err := c.requestSender.lastMessage(ctx, info.streamName(), info.subjectName())
	if err != nil || !ok {
		return 0, hash, 0, err
	}
	e, hash, err := decodeEnvelope(m.Data)
	if err != nil {
		return 0, hash, 0, err
	}
	if e.Snapshot != nil {
		hash = e.PrevChainHash
	}
	return e.EnvelopeNumber, hash, m.Seq, nil
}

// newScratchReplica returns a new, empty replica of a brain, whose files are kept in memory. Only the caller uses the
// replica, because it is not shared with open stores.
func (c *Cluster) newScratchReplica(brain brainDirectoryEntry) *brainReplica {
	r := &brainReplica{cluster: c, directoryEntry: brain, files: brainFiles{vfs.NewMem(), brain.Name}}
	r.setPosition(r.initialPosition())
	return r
}

// readBrain reads a brain (a memory) from its stream, checks the brain, and writes the brain's file into the backup. It
// returns the brain's new state. savedState is the brain's state in the last backup. If the brain is damaged or lacks
// changes of the last backup, readBrain returns savedState and an error, and writes no file. A brain without messages
// has no file.
func (b *backupRun) readBrain(
	ctx context.Context,
	info brainDirectoryEntry,
	savedState savedBrain,
) (savedBrain, error) {
	r := b.cluster.newScratchReplica(info)
	defer r.closeStore()
	ctx, cancel := context.WithTimeout(ctx, 6*b.cluster.options.ReadWait)
	defer cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.openStore()
	if err == nil {
		err = r.readMissingMessages(ctx)
	}
	if err != nil {
		return savedState, err
	}
	if rep, err := r.store.Check(ctx); err != nil || len(rep.Problems) > 0 {
		return savedState, errors.Join(r.damageError("its file has %d problems", len(rep.Problems)), err)
	}
	if err := r.checkHasBackupChanges(ctx, savedState); err != nil {
		return savedState, err
	}
	tenant, brain, _ := strings.Cut(info.Name, ".")
	s := savedBrain{
		Tenant:             tenant,
		Brain:              brain,
		BrainEpoch:         info.BrainEpoch,
		Created:            info.Created,
		LastMessageSeq:     r.position.LastReadSeq,
		LastEnvelopeNumber: r.position.EnvelopeNumber,
		EnvelopeChainHash:  r.position.ChainHash,
		EnvelopeTime:       r.position.EnvelopeTime,
		LastChange:         r.lastChangeNumber,
		FileChainHash:      r.fileChainHash,
	}
	if s.LastEnvelopeNumber == 0 {
		return s, nil
	}
	image, err := r.files.readLog()
	if err != nil {
		return s, err
	}
	s.setFileProperties(image)
	if err := b.fsys.MkdirAll(s.dirName(), 0o700); err != nil {
		return s, err
	}
	return s, replaceFileAtomically(b.fsys, s.FileName, image)
}

// checkHasBackupChanges returns an error if the replica lacks a change of the last backup or has a
// different change instead. The caller must hold mu.
func (r *brainReplica) checkHasBackupChanges(ctx context.Context, savedState savedBrain) error {
	isOther := r.position.EnvelopeNumber == savedState.LastEnvelopeNumber && savedState.LastEnvelopeNumber > 0 &&
		r.position.ChainHash != savedState.EnvelopeChainHash
	if isOther || r.position.EnvelopeNumber < savedState.LastEnvelopeNumber {
		return fmt.Errorf(
			"%w: brain %s ends with envelope %d, and the last backup has %d of it, or others",
			oxbow.ErrRolledBack,
			r.directoryEntry.Name,
			r.position.EnvelopeNumber,
			savedState.LastEnvelopeNumber,
		)
	}
	if savedState.LastChange == 0 {
		return nil
	}
	for c, err := range r.store.Log(ctx) {
		if err != nil {
			return err
		}
		if c.Seq == savedState.LastChange && c.Hash == savedState.FileChainHash {
			return nil
		}
	}
	return fmt.Errorf(
		"%w: brain %s does not continue the history that the last backup has, up to change %d",
		oxbow.ErrRolledBack,
		r.directoryEntry.Name,
		savedState.LastChange,
	)
}

// replaceManifest writes the new manifest, which lists b.savedBrains. It then deletes the files that the new manifest
// does not list.
func (b *backupRun) replaceManifest() error {
	if err := b.fsys.SyncDir("."); err != nil {
		return err
	}
	slices.SortFunc(b.savedBrains, func(x, y savedBrain) int { return cmp.Compare(x.fullName(), y.fullName()) })
	m := &backupManifest{
		Format:     manifestFormat,
		ClusterID:  b.cluster.directory.clusterID,
		BackupTime: b.cluster.options.Clock().UTC().Round(time.Second),
		Brains:     b.savedBrains,
	}
	data, err := m.encodeManifest()
	if err == nil {
		err = replaceFileAtomically(b.fsys, manifestFile, data)
	}
	if err != nil {
		return err
	}
	return b.deleteUnlistedFiles()
}

// deleteUnlistedFiles deletes the backup files of brains (memories) that are not in b.savedBrains, and so not in the
// backup's manifest.
func (b *backupRun) deleteUnlistedFiles() error {
	named := map[string]bool{}
	for _, s := range b.savedBrains {
		named[s.FileName] = true
	}
	dirs, err := b.fsys.ReadDir(".")
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if !d.IsDir() || !strings.HasPrefix(d.Name(), "tenant-") {
			continue
		}
		files, err := b.fsys.ReadDir(d.Name())
		if err != nil {
			return err
		}
		for _, f := range files {
			name := path.Join(d.Name(), f.Name())
			ours := strings.HasPrefix(f.Name(), "brain-") &&
				(strings.HasSuffix(f.Name(), ".oxbow") || strings.HasSuffix(f.Name(), ".oxbow.new"))
			if !ours || named[name] {
				continue
			}
			if err := b.fsys.Remove(name); err != nil {
				return err
			}
			b.report.Deleted++
		}
	}
	return nil
}
