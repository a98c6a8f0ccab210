// This file manages the connection to the servers, the open brains, and the invalidations.

package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Options configure a [Cluster]. Nil and zero fields mean the default.
type Options struct {
	// System is a connection to the servers' system account, which is needed to read the servers'
	// settings. Without it, [Connect] fails unless Dev is set.
	System *nats.Conn

	// Dev allows a single server, and servers whose settings cannot be read. UNSAFE: if the single
	// server loses its data, the memories are lost.
	Dev bool

	// Replicas is the number of servers that store each brain. The default is 3, or 1 with Dev.
	Replicas int

	// Partitions is the number of streams in a new cluster. The default is 16. For an
	// existing cluster it is ignored.
	Partitions int

	// Dir is the directory of the cache. It must not be shared with other processes. If Dir is
	// empty, open brains are stored in memory.
	Dir string

	// Announced makes reads rely on invalidations. A read then sees the changes up to the last
	// invalidation that has arrived, is at most MaxAge old, and sends no request. By default, each
	// read asks the leader for the head.
	Announced bool
	MaxAge    time.Duration // default 1 s

	// ReadWait and WriteWait are the maximum times for which reads and writes wait for the servers.
	// The defaults are 10 s and 20 s. The election of a leader takes 4 to 9 s.
	ReadWait, WriteWait time.Duration

	// CacheBytes is the maximum memory for the cached entries of each brain, as in [oxbow.Options].
	CacheBytes int64

	Node   string           // name of this process in envelopes
	Source oxbow.Source     // source of changes whose context has no source
	Clock  func() time.Time // default time.Now
	Rand   io.Reader        // default crypto/rand

	try       time.Duration // maximum duration of an attempt to send a request
	leastTail uint64
}

func (o *Options) orDefault() Options {
	var r Options
	if o != nil {
		r = *o
	}
	r.Replicas = cmp.Or(r.Replicas, 3)
	if r.Dev {
		r.Replicas = 1
	}
	r.Partitions = cmp.Or(r.Partitions, 16)
	r.MaxAge = cmp.Or(r.MaxAge, time.Second)
	r.ReadWait, r.WriteWait = cmp.Or(r.ReadWait, 10*time.Second), cmp.Or(r.WriteWait, 20*time.Second)
	r.Node = cmp.Or(r.Node, "node")
	r.Source.Door = cmp.Or(r.Source.Door, "library")
	r.try, r.leastTail = cmp.Or(r.try, 2*time.Second), cmp.Or(r.leastTail, leastTail)
	if r.Clock == nil {
		r.Clock = time.Now
	}
	return r
}

// A Cluster is a connection to the servers that store brains. It is safe for concurrent use.
type Cluster struct {
	nc        *nats.Conn
	link      link
	opts      Options
	dir       *directory
	replicas  int
	leastTail uint64

	ctx  context.Context // ends when the cluster is closed
	stop context.CancelFunc

	fsys     vfs.FS
	lock     vfs.Lock
	attached atomic.Bool // invalidations arrive at present

	randMu sync.Mutex // serializes reads of Options.Rand

	mu     sync.Mutex          // guards open, fences, leases and closed
	open   map[string]*replica // by subject
	fences map[fence]bool
	leases map[string]lease // by stream
	closed bool
}

// Connect returns a cluster on the servers of a connection, which should be configured to reconnect
// forever. It fails if the servers' settings could lose acknowledged changes, or if streams are
// missing or differ from the directory. The error explains how to fix this.
func Connect(ctx context.Context, nc *nats.Conn, o *Options) (*Cluster, error) {
	c := &Cluster{nc: nc, opts: o.orDefault(), open: map[string]*replica{}, fences: map[fence]bool{},
		leases: map[string]lease{}}
	c.link = link{nc, c.opts.try, c.opts.ReadWait}
	c.replicas, c.leastTail = c.opts.Replicas, c.opts.leastTail
	if err := checkServers(ctx, nc, &c.opts); err != nil {
		return nil, err
	}
	if err := c.openCache(); err != nil {
		return nil, err
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	if err := c.begin(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// begin opens the directory of the cluster. If there is a cache, the directory must exist and
// belong to the same cluster as the cache.
func (c *Cluster) begin(ctx context.Context) error {
	id, err := readFile(c.fsys, "cluster")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.dir, err = openDirectory(ctx, c.nc, &c.opts, string(id))
	if err != nil {
		return err
	}
	switch {
	case id == nil:
		err = writeFile(c.fsys, "cluster", []byte(c.dir.id))
	case string(id) != c.dir.id:
		err = c.opts.otherCluster(string(id), "the servers are of cluster "+c.dir.id+
			": they lost their data, or are others")
	}
	if err == nil {
		err = c.readFences(ctx)
	}
	if err == nil {
		err = c.subscribe()
	}
	return err
}

// otherCluster returns the error for a cache of a different cluster.
func (o *Options) otherCluster(id, why string) error {
	return fmt.Errorf(
		"%w: the cache directory %s is of cluster %.40s, and %s; give this one a directory of its own, and keep that "+
			"one to restore from",
		oxbow.ErrRolledBack,
		o.Dir,
		id,
		why,
	)
}

// openCache opens the directory of the cache.
func (c *Cluster) openCache() error {
	if c.opts.Dir == "" {
		c.fsys = vfs.NewMem()
		return nil
	}
	d, err := openDir(c.opts.Dir)
	if err != nil {
		return err
	}
	lock, err := takeLock(d, "another process has the cache directory "+c.opts.Dir+
		"; give this one a directory of its own")
	if err != nil {
		return errors.Join(err, d.Close())
	}
	c.fsys, c.lock = d, lock
	return nil
}

// subscribe subscribes to the invalidations.
func (c *Cluster) subscribe() error {
	sub, err := c.nc.Subscribe("inv.b.>", c.invalidate)
	if err != nil {
		return err
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	if err := c.nc.FlushTimeout(c.opts.ReadWait); err != nil {
		return err
	}
	c.attached.Store(true)
	status := c.nc.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.DISCONNECTED, nats.CLOSED)
	go func() {
		defer func() { _ = sub.Unsubscribe() }()
		for {
			select {
			case s := <-status:
				// Invalidations may have been missed while the connection was down, so compare the
				// heads.
				c.attached.Store(false)
				c.doubt()
				c.attached.Store(s == nats.CONNECTED)
			case <-c.ctx.Done():
				c.nc.RemoveStatusListener(status)
				return
			}
		}
	}()
	return nil
}

// doubt makes the next read of each brain compare the heads.
func (c *Cluster) doubt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.open {
		r.confirmed.Store(0)
	}
}

// invalidate records that a brain has a newer message.
func (c *Cluster) invalidate(m *nats.Msg) {
	seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return
	}
	c.mu.Lock()
	r := c.open[strings.TrimPrefix(m.Subject, "inv.")]
	c.mu.Unlock()
	if r == nil {
		return
	}
	for old := r.announced.Load(); old < seq && !r.announced.CompareAndSwap(old, seq); old = r.announced.Load() {
	}
	if c.opts.Announced && r.watchers.Len() > 0 && seq > r.seq.Load() {
		go func() { _ = r.check(c.ctx) }() // ignore the error: the next reader gets it again
	}
}

// Open opens a brain of a tenant. A brain that does not exist is added to the directory, and is
// empty. A name has 1 to 64 letters, digits, "-" and "_".
func (c *Cluster) Open(ctx context.Context, tenant, brain string) (*Store, error) {
	info, err := c.dir.brain(ctx, tenant, brain)
	if err != nil {
		return nil, err
	}
	r, isNew, err := c.handle(ctx, info)
	if err != nil {
		return nil, err
	}
	if isNew {
		err = r.open(ctx)
		r.mu.Unlock()
	}
	s := &Store{replica: r}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// handle returns a brain's replica and counts a further handle for it. If isNew is true, handle has
// locked the replica's mu, and the caller must open the replica. If the replica is being closed,
// handle waits until its files are released.
func (c *Cluster) handle(ctx context.Context, info brainInfo) (r *replica, isNew bool, err error) {
	for {
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return nil, false, oxbow.ErrClosed
		}
		r = c.open[info.subject()]
		if r == nil || r.gone == nil {
			break
		}
		gone := r.gone
		c.mu.Unlock()
		select {
		case <-gone:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	defer c.mu.Unlock()
	isNew = r == nil
	if isNew {
		r = &replica{cluster: c, brain: info, files: files{c.fsys, info.Name}}
		r.mu.Lock()
		c.open[info.subject()] = r
	}
	r.handles++
	return r, isNew, nil
}

// release removes a handle, and closes the replica after its last handle.
func (c *Cluster) release(r *replica) error {
	c.mu.Lock()
	r.handles--
	if r.handles > 0 {
		c.mu.Unlock()
		return nil
	}
	r.gone = make(chan struct{})
	c.mu.Unlock()
	err := r.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, r.brain.subject())
	close(r.gone)
	return err
}

// Close closes the open brains, but not the connection.
func (c *Cluster) Close() error {
	c.mu.Lock()
	c.closed = true
	var errs error
	for _, r := range c.open {
		errs = errors.Join(errs, r.close())
	}
	c.mu.Unlock()
	c.stop()
	if c.lock != nil {
		errs = errors.Join(errs, c.lock.Close())
	}
	if d, ok := c.fsys.(io.Closer); ok {
		errs = errors.Join(errs, d.Close())
	}
	return errs
}
