// This file restores brains, which are memories on the servers, into a cluster that does not contain them. It reads the
// files in a backup, or in the cache directories of the processes that used the brains.

package jetstream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// RestoreOptions select the brains to restore. The zero RestoreOptions restore all brains into a
// cluster without brains.
type RestoreOptions struct {
	Tenant   string // Restore only the brains of this tenant. The cluster may already contain brains of other tenants.
	Brain    string // restore only this brain of the tenant
	DryRun   bool   // check everything and write nothing
	Progress func(RestoreReport)
}

// RestoreReport is the result of a restore.
type RestoreReport struct {
	Brains   int       `json:"brains"`   // number of brains (memories) in the backup that the restore options select
	Restored int       `json:"restored"` // number of brains that were restored or, with DryRun, can be restored
	Present  int       `json:"present"`  // number of brains that the cluster already has with the state in the backup
	Bytes    int64     `json:"bytes"`    // size of the restored files
	Findings []Finding `json:"findings"` // damaged files
}

// restorableFile is a file from which a brain (a memory in the cluster) can be restored.
type restorableFile struct {
	savedBrain
	sourceDir *restoreSourceDir
	// The file is from the cache of a process. It may contain more changes than the position file in the same directory
	// records.
	isFromProcessCache bool
}

// restoreSourceDir is a directory with files to restore.
type restoreSourceDir struct {
	dir  string
	fsys *vfs.OS
	lock vfs.Lock // lock that excludes other processes, if the directory is the cache of a process (otherwise nil)
}

func (s *restoreSourceDir) close() {
	if s.lock != nil {
		_ = s.lock.Close()
	}
	_ = s.fsys.Close()
}

// restoreRun is a restore in progress.
type restoreRun struct {
	cluster *Cluster
	options RestoreOptions

	mu     sync.Mutex // guards the report
	report RestoreReport
}

// Restore restores brains (memories) with the same entries, IDs, versions, change numbers, history and hash chain. The
// options o select brains. Each directory is either a [Cluster.Backup] target or the cache of a node that is not
// running. If several directories contain a brain, Restore uses the newest undamaged file. It checks each file first.
//
// Restore writes nothing if the cluster already has one of the selected brains, and this brain's state differs from the
// file. If o.Tenant is empty, the cluster must not have brains that were not selected, or Restore writes nothing. After
// an interruption, the same call continues the restore. No other process should write in the meantime.
func (c *Cluster) Restore(ctx context.Context, dirs []string, o RestoreOptions) (RestoreReport, error) {
	r := &restoreRun{cluster: c, options: o}
	if r.options.Progress == nil {
		r.options.Progress = func(RestoreReport) {}
	}
	if o.Brain != "" && o.Tenant == "" {
		return r.report, &oxbow.InvalidError{Field: "tenant", Reason: "is missing: name the tenant of the brain " +
			o.Brain}
	}
	chosen := map[string][]restorableFile{}
	for _, dir := range dirs {
		s, files, err := openRestoreSource(dir)
		if err != nil {
			return r.report, err
		}
		defer s.close()
		for _, f := range files {
			if o.selectsFile(f) {
				chosen[f.fullName()] = append(chosen[f.fullName()], f)
			}
		}
	}
	if len(chosen) == 0 {
		return r.report, fmt.Errorf("%w: %s has no such brain", oxbow.ErrNotFound, strings.Join(dirs, ", "))
	}
	r.report.Brains = len(chosen)
	todo, err := r.findFilesToRestore(ctx, chosen)
	if err == nil {
		err = forEachConcurrently(ctx, todo, r.restoreBrain)
	}
	return r.report, err
}

// selectsFile reports whether the options select a saved brain by its tenant and name.
func (o RestoreOptions) selectsFile(f restorableFile) bool {
	isTenant := o.Tenant == "" || f.Tenant == o.Tenant
	isBrain := o.Brain == "" || f.Brain == o.Brain
	return isTenant && isBrain
}

// openRestoreSource opens the directory dir, which is a backup or the cache of a process, and lists its files. If dir
// is neither, the error matches [oxbow.ErrNotFound]. The caller must close the result.
func openRestoreSource(dir string) (*restoreSourceDir, []restorableFile, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil, fmt.Errorf("%w: %s is no directory", oxbow.ErrNotFound, dir)
	}
	d, err := vfs.Dir(dir)
	if err != nil {
		return nil, nil, err
	}
	s := &restoreSourceDir{dir: dir, fsys: d}
	files, err := s.listFiles()
	if err != nil {
		s.close()
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	return s, files, nil
}

func (s *restoreSourceDir) listFiles() ([]restorableFile, error) {
	data, err := readFile(s.fsys, manifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s.listCacheFiles()
	}
	if err != nil {
		return nil, err
	}
	m, err := decodeManifest(data)
	if err != nil {
		return nil, fmt.Errorf("%w; if there is no other backup, each file in it opens by itself as a memory", err)
	}
	var all []restorableFile
	for _, b := range m.Brains {
		all = append(all, restorableFile{savedBrain: b, sourceDir: s})
	}
	return all, nil
}

// listCacheFiles lists the files in the cache of a process, and locks the cache. If the process is still running, the
// error matches [oxbow.ErrBusy].
func (s *restoreSourceDir) listCacheFiles() ([]restorableFile, error) {
	if _, err := s.fsys.Stat("cluster"); err != nil {
		return nil, fmt.Errorf(
			"%w: it holds no backup and no cache of a node: there is neither %s nor cluster",
			oxbow.ErrNotFound,
			manifestFile,
		)
	}
	lock, err := lockDirectory(s.fsys, "a process uses this cache; end it first")
	if err != nil {
		return nil, err
	}
	s.lock = lock
	names, err := s.fsys.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var all []restorableFile
	for _, e := range names {
		tenant, brain, hasBoth := strings.Cut(e.Name(), ".")
		f := brainFiles{s.fsys, e.Name()}
		isBrain := hasBoth && namePattern.MatchString(tenant) && namePattern.MatchString(brain)
		if !isBrain {
			continue
		}
		if _, err := s.fsys.Stat(f.logFilePath()); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		b := savedBrain{Tenant: tenant, Brain: brain, BrainEpoch: 1, FileName: f.logFilePath(), LastEnvelopeNumber: 1}
		if p, ok := f.readPosition(); ok {
			b.LastEnvelopeNumber = max(p.EnvelopeNumber, 1)
			b.EnvelopeChainHash = p.ChainHash
			b.EnvelopeTime = p.EnvelopeTime
			b.LastChange = p.LastChange
		}
		all = append(all, restorableFile{b, s, true})
	}
	return all, nil
}

// findFilesToRestore returns the files from which brains (memories in the cluster) must be restored, grouped by brain.
// In each group, the newest file comes first. A brain must be restored if the cluster does not have it, or has it
// without content.
//
// A brain that has content in the cluster is treated as follows:
//   - If a file has the same last envelope (message with changes), the brain is not restored. It is counted in
//     r.report.Present.
//   - If no file has this envelope, the error matches [oxbow.ErrExists], and nothing is restored.
//   - If filesByBrain has no file for the brain, the error is the same. But if r.options.Tenant is set, such brains are
//     ignored.
func (r *restoreRun) findFilesToRestore(
	ctx context.Context,
	filesByBrain map[string][]restorableFile,
) ([][]restorableFile, error) {
	brains, err := r.cluster.directory.listBrains(ctx)
	if err != nil {
		return nil, err
	}
	for _, info := range brains {
		n, hash, _, err := r.cluster.readLastEnvelopePosition(ctx, info)
		if err != nil {
			return nil, fmt.Errorf("read the head of brain %s: %w", info.Name, err)
		}
		files, is := filesByBrain[info.Name]
		alike := slices.ContainsFunc(
			files,
			func(f restorableFile) bool { return f.LastEnvelopeNumber == n && f.EnvelopeChainHash == hash },
		)
		switch {
		case n == 0:
		case is && alike:
			delete(filesByBrain, info.Name)
			r.report.Present++
		case is:
			return nil, fmt.Errorf(
				"%w: brain %s is there, with %d envelopes; nothing was restored. Restore into a new cluster, or "+
					"choose brains that are missing",
				oxbow.ErrExists,
				info.Name,
				n,
			)
		case r.options.Tenant == "":
			return nil, fmt.Errorf(
				"%w: the cluster is not new, it has brain %s; nothing was restored. Name the tenant, and the brain, "+
					"to restore one that is missing",
				oxbow.ErrExists,
				info.Name,
			)
		}
	}
	var todo [][]restorableFile
	for _, files := range filesByBrain {
		slices.SortStableFunc(files, func(a, b restorableFile) int {
			return cmp.Or(
				cmp.Compare(b.LastEnvelopeNumber, a.LastEnvelopeNumber),
				cmp.Compare(b.LastChange, a.LastChange),
			)
		})
		todo = append(todo, files)
	}
	slices.SortFunc(todo, func(a, b []restorableFile) int { return cmp.Compare(a[0].fullName(), b[0].fullName()) })
	return todo, nil
}

// restoreBrain restores a brain (a memory) from the first undamaged file in newestFirst, or from a later file if that
// contains more changes. Damaged files become findings in the report. If all files are damaged, nothing is restored.
func (r *restoreRun) restoreBrain(ctx context.Context, newestFirst []restorableFile) error {
	var best *brainReplica
	var from restorableFile
	var found []Finding
	for _, f := range newestFirst {
		rep, err := r.loadFile(ctx, &f)
		switch {
		case err == nil && (best == nil || rep.lastChangeNumber > best.lastChangeNumber):
			best, rep, from = rep, best, f
		case err != nil && !errors.Is(err, oxbow.ErrCorrupt) && !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("restore %s from %s: %w", f.fullName(), f.sourceDir.dir, err)
		case err != nil:
			found = append(
				found,
				Finding{Brain: f.fullName(), What: fmt.Sprintf("%s in %s: %v", f.FileName, f.sourceDir.dir,
					err)},
			)
		}
		if rep != nil {
			rep.closeStore()
		}
	}
	if best == nil {
		return r.addToRestoreReport(0, 0, found)
	}
	defer best.closeStore()
	if !r.options.DryRun {
		var err error
		best.directoryEntry, err = r.cluster.directory.addBrain(
			ctx,
			from.Tenant,
			from.Brain,
			from.BrainEpoch,
			from.Created,
		)
		if err == nil && from.LastEnvelopeNumber > 0 {
			err = best.publishWholeFile(ctx)
		}
		if err != nil {
			return fmt.Errorf("restore %s from %s: %w", from.fullName(), from.sourceDir.dir, err)
		}
	}
	return r.addToRestoreReport(from.FileSize, 1, found)
}

func (r *restoreRun) addToRestoreReport(bytes int64, restoredBrainCount int, found []Finding) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Restored += restoredBrainCount
	r.report.Bytes += bytes
	r.report.Findings = append(r.report.Findings, found...)
	r.options.Progress(r.report)
	return nil
}

// loadFile returns a replica with the content of the file f. The replica is empty if the file contains no envelope and
// does not come from the cache of a process. If the file is damaged, or does not end at the expected position, loadFile
// returns an error. Even with an error, the result may be a replica, which the caller must close.
func (r *restoreRun) loadFile(ctx context.Context, f *restorableFile) (*brainReplica, error) {
	rep := r.cluster.newScratchReplica(brainDirectoryEntry{Name: f.fullName(), BrainEpoch: f.BrainEpoch})
	if f.LastEnvelopeNumber == 0 && !f.isFromProcessCache {
		return rep, nil
	}
	image, err := readFile(f.sourceDir.fsys, f.FileName)
	if err != nil {
		return nil, err
	}
	if !f.isFromProcessCache && !f.matchesFileContent(image) {
		return nil, fmt.Errorf("%w: the file is not the one that the manifest names", oxbow.ErrCorrupt)
	}
	f.FileSize = int64(len(image))
	if err := errors.Join(rep.files.createDir(), replaceFileAtomically(rep.files.fsys, rep.files.logFilePath(), image)); err != nil {
		return nil, err
	}
	if err := rep.openStore(); err != nil {
		return nil, fmt.Errorf("%w: %w", oxbow.ErrCorrupt, err)
	}
	c, err := rep.store.Check(ctx)
	switch {
	case err != nil:
	case len(c.Problems) > 0:
		err = fmt.Errorf("%w: %d problems, the first: %s", oxbow.ErrCorrupt, len(c.Problems), c.Problems[0].What)
	case !f.isFromProcessCache && (rep.lastChangeNumber != f.LastChange || rep.fileChainHash != f.FileChainHash):
		err = fmt.Errorf(
			"%w: the file ends with change %d, and the manifest names %d, or with another chain",
			oxbow.ErrCorrupt,
			rep.lastChangeNumber,
			f.LastChange,
		)
	case rep.lastChangeNumber < f.LastChange:
		err = fmt.Errorf(
			"%w: the file ends with change %d, and its place names %d",
			oxbow.ErrCorrupt,
			rep.lastChangeNumber,
			f.LastChange,
		)
	}
	p := rep.initialPosition()
	p.EnvelopeNumber = f.LastEnvelopeNumber
	p.ChainHash = f.EnvelopeChainHash
	p.EnvelopeTime = f.EnvelopeTime
	p.LastChange = rep.lastChangeNumber
	rep.setPosition(p)
	return rep, err
}

// matchesFileContent reports whether the file content in fileContent has the size and the hash that the backup's
// manifest lists for the file.
func (f *restorableFile) matchesFileContent(fileContent []byte) bool {
	return int64(len(fileContent)) == f.FileSize && chainHash(sha256.Sum256(fileContent)) == f.FileHash
}

// publishWholeFile stores the replica's file in the stream as a snapshot, so that the file becomes the content of the
// brain. If another process has written to the brain, the error matches [oxbow.ErrConflict].
func (r *brainReplica) publishWholeFile(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 6*r.cluster.options.WriteWait)
	defer cancel()
	for {
		err := r.publishSnapshot(ctx)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errNewerMessageStored):
			n, hash, _, headErr := r.cluster.readLastEnvelopePosition(ctx, r.directoryEntry)
			isOwnHead := n == r.position.EnvelopeNumber && hash == r.position.ChainHash
			if headErr == nil && isOwnHead {
				// The brain already has the restored content: an earlier attempt has stored the snapshot, but the
				// servers' answer was lost.
				return nil
			}
			return fmt.Errorf("%w: another process writes to it", oxbow.ErrConflict)
		case !errors.Is(err, errNoServer) && !errors.Is(err, errWriteInProgress) &&
			!errors.Is(err, errNoReply), !sleepUnlessCanceled(ctx, noServerRetryPause):
			return err
		}
	}
}
