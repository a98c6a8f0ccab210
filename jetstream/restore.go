// Restoring: brains from the files of a backup, or of the caches of nodes, into a
// cluster that lacks them.

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

// RestoreOptions choose what is restored. Their zero value is all, into a cluster that
// has no brains.
type RestoreOptions struct {
	Tenant   string // only its brains; other brains may be there already
	Brain    string // only this one of the tenant
	DryRun   bool   // checks everything and writes nothing
	Progress func(RestoreReport)
}

// RestoreReport is what a restore did, or would do.
type RestoreReport struct {
	Brains   int       `json:"brains"`   // that were chosen
	Restored int       `json:"restored"` // with a dry run: that can be
	Present  int       `json:"present"`  // that the cluster has already, alike
	Bytes    int64     `json:"bytes"`    // of files restored
	Findings []Finding `json:"findings"` // files that are not whole
}

// saved is a file to restore a brain from.
type saved struct {
	savedBrain
	from   *source
	cached bool // a cache: the file may be newer than its place
}

// source is a directory of files.
type source struct {
	dir  string
	fsys *vfs.OS
	lock vfs.Lock // of a cache
}

func (s *source) close() {
	if s.lock != nil {
		_ = s.lock.Close()
	}
	_ = s.fsys.Close()
}

// restore is one that is under way.
type restore struct {
	cluster *Cluster
	opts    RestoreOptions

	mu     sync.Mutex // guards report
	report RestoreReport
}

// Restore brings brains back: entries, IDs, versions, numbers and history as they were,
// and the chain of history too. Each directory is one that [Cluster.Backup] wrote to, or
// the cache of a node that is not running; of several, the newest whole file of a brain
// counts. Each file is checked before it is restored. Nothing is written where a brain
// is there already, but for the same one: a restore that was interrupted is gone on
// with by the same call. No other process should write meanwhile.
func (c *Cluster) Restore(ctx context.Context, dirs []string, o RestoreOptions) (RestoreReport, error) {
	r := &restore{cluster: c, opts: o}
	if r.opts.Progress == nil {
		r.opts.Progress = func(RestoreReport) {}
	}
	if o.Brain != "" && o.Tenant == "" {
		return r.report, &oxbow.InvalidError{Field: "tenant", Reason: "is missing: name the tenant of the brain " + o.Brain}
	}
	chosen := map[string][]saved{}
	for _, dir := range dirs {
		s, files, err := openSource(dir)
		if err != nil {
			return r.report, err
		}
		defer s.close()
		for _, f := range files {
			if (o.Tenant == "" || f.Tenant == o.Tenant) && (o.Brain == "" || f.Brain == o.Brain) {
				chosen[f.name()] = append(chosen[f.name()], f)
			}
		}
	}
	if len(chosen) == 0 {
		return r.report, fmt.Errorf("%w: %s has no such brain", oxbow.ErrNotFound, strings.Join(dirs, ", "))
	}
	r.report.Brains = len(chosen)
	todo, err := r.absent(ctx, chosen)
	if err == nil {
		err = eachOf(ctx, todo, r.one)
	}
	return r.report, err
}

// openSource opens a directory of either kind, and lists its files.
func openSource(dir string) (*source, []saved, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil, fmt.Errorf("%w: %s is no directory", oxbow.ErrNotFound, dir)
	}
	d, err := vfs.Dir(dir)
	if err != nil {
		return nil, nil, err
	}
	s := &source{dir: dir, fsys: d}
	files, err := s.list()
	if err != nil {
		s.close()
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	return s, files, nil
}

func (s *source) list() ([]saved, error) {
	data, err := readFile(s.fsys, manifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s.listCache()
	}
	if err != nil {
		return nil, err
	}
	m, err := decodeManifest(data)
	if err != nil {
		return nil, fmt.Errorf("%w; if there is no other backup, each file in it opens by itself as a memory", err)
	}
	var all []saved
	for _, b := range m.Brains {
		all = append(all, saved{savedBrain: b, from: s})
	}
	return all, nil
}

// listCache lists the files of a cache, whose process must have ended.
func (s *source) listCache() ([]saved, error) {
	if _, err := s.fsys.Stat("cluster"); err != nil {
		return nil, fmt.Errorf("%w: it holds no backup and no cache of a node: there is neither %s nor cluster", oxbow.ErrNotFound, manifestFile)
	}
	lock, err := takeLock(s.fsys, "a process uses this cache; end it first")
	if err != nil {
		return nil, err
	}
	s.lock = lock
	names, err := s.fsys.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var all []saved
	for _, e := range names {
		tenant, brain, two := strings.Cut(e.Name(), ".")
		f := files{s.fsys, e.Name()}
		if !two || !nameForm.MatchString(tenant) || !nameForm.MatchString(brain) {
			continue
		}
		if _, err := s.fsys.Stat(f.log()); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		b := savedBrain{Tenant: tenant, Brain: brain, Epoch: 1, File: f.log(), N: 1}
		if p, ok := f.readPlace(); ok {
			b.N = max(p.N, 1)
			b.Hash = p.Hash
			b.Time = p.Time
			b.Last = p.Last
		}
		all = append(all, saved{b, s, true})
	}
	return all, nil
}

// absent returns the files of the brains that the cluster lacks, the newest first, and
// an error where it has others.
func (r *restore) absent(ctx context.Context, chosen map[string][]saved) ([][]saved, error) {
	brains, err := r.cluster.dir.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, info := range brains {
		n, hash, _, err := r.cluster.standing(ctx, info)
		if err != nil {
			return nil, fmt.Errorf("read the head of brain %s: %w", info.Name, err)
		}
		files, is := chosen[info.Name]
		alike := slices.ContainsFunc(files, func(f saved) bool { return f.N == n && f.Hash == hash })
		switch {
		case n == 0:
		case is && alike:
			delete(chosen, info.Name)
			r.report.Present++
		case is:
			return nil, fmt.Errorf("%w: brain %s is there, with %d envelopes; nothing was restored. Restore into a new cluster, or choose brains that are missing", oxbow.ErrExists, info.Name, n)
		case r.opts.Tenant == "":
			return nil, fmt.Errorf("%w: the cluster is not new, it has brain %s; nothing was restored. Name the tenant, and the brain, to restore one that is missing", oxbow.ErrExists, info.Name)
		}
	}
	var todo [][]saved
	for _, files := range chosen {
		slices.SortStableFunc(files, func(a, b saved) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(b.Last, a.Last)) })
		todo = append(todo, files)
	}
	slices.SortFunc(todo, func(a, b []saved) int { return cmp.Compare(a[0].name(), b[0].name()) })
	return todo, nil
}

// one restores a brain from the newest of its files that are whole.
func (r *restore) one(ctx context.Context, files []saved) error {
	var best *replica
	var from saved
	var found []Finding
	for _, f := range files {
		rep, err := r.load(ctx, &f)
		switch {
		case err == nil && (best == nil || rep.last > best.last):
			best, rep, from = rep, best, f
		case err != nil && !errors.Is(err, oxbow.ErrCorrupt) && !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("restore %s from %s: %w", f.name(), f.from.dir, err)
		case err != nil:
			found = append(found, Finding{Brain: f.name(), What: fmt.Sprintf("%s in %s: %v", f.File, f.from.dir, err)})
		}
		if rep != nil {
			rep.closeStore()
		}
	}
	if best == nil {
		return r.done(0, 0, found)
	}
	defer best.closeStore()
	if !r.opts.DryRun {
		var err error
		best.brain, err = r.cluster.dir.enterBrain(ctx, from.Tenant, from.Brain, from.Epoch, from.Created)
		if err == nil && from.N > 0 {
			err = best.publishAll(ctx)
		}
		if err != nil {
			return fmt.Errorf("restore %s from %s: %w", from.name(), from.from.dir, err)
		}
	}
	return r.done(from.Size, 1, found)
}

func (r *restore) done(bytes int64, restored int, found []Finding) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Restored += restored
	r.report.Bytes += bytes
	r.report.Findings = append(r.report.Findings, found...)
	r.opts.Progress(r.report)
	return nil
}

// load returns a replica with the file, which is whole and stands where it should.
func (r *restore) load(ctx context.Context, f *saved) (*replica, error) {
	rep := r.cluster.scratch(brainInfo{Name: f.name(), Epoch: f.Epoch})
	if f.N == 0 && !f.cached {
		return rep, nil
	}
	image, err := readFile(f.from.fsys, f.File)
	if err != nil {
		return nil, err
	}
	if !f.cached && (int64(len(image)) != f.Size || chainHash(sha256.Sum256(image)) != f.Sum) {
		return nil, fmt.Errorf("%w: the file is not the one that the manifest names", oxbow.ErrCorrupt)
	}
	f.Size = int64(len(image))
	if err := errors.Join(rep.files.begin(), writeFile(rep.files.fsys, rep.files.log(), image)); err != nil {
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
	case !f.cached && (rep.last != f.Last || rep.head != f.Head):
		err = fmt.Errorf("%w: the file ends with change %d, and the manifest names %d, or with another chain", oxbow.ErrCorrupt, rep.last, f.Last)
	case rep.last < f.Last:
		err = fmt.Errorf("%w: the file ends with change %d, and its place names %d", oxbow.ErrCorrupt, rep.last, f.Last)
	}
	p := rep.start()
	p.N = f.N
	p.Hash = f.Hash
	p.Time = f.Time
	p.Last = rep.last
	rep.setPlace(p)
	return rep, err
}

// publishAll publishes the replica's file as all that there is of its brain.
func (r *replica) publishAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 6*r.cluster.opts.WriteWait)
	defer cancel()
	for {
		err := r.compact(ctx)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errMoved):
			if n, hash, _, serr := r.cluster.standing(ctx, r.brain); serr == nil && n == r.at.N && hash == r.at.Hash {
				return nil // the answer to an earlier try was lost
			}
			return fmt.Errorf("%w: another process writes to it", oxbow.ErrConflict)
		case !errors.Is(err, errAway) && !errors.Is(err, errInTurn) && !errors.Is(err, errNoReply), !wait(ctx, awayPause):
			return err
		}
	}
}
