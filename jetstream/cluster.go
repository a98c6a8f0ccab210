// This file manages the connection to the servers and the brains (memories in the cluster) that are open. It also
// manages the invalidations, which are messages by which other processes announce that they have changed a brain.

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

	// Replicas is the number of servers that store each brain (a memory in the cluster). The default is 3, or 1 with
	// Dev.
	Replicas int

	// Partitions is the number of streams in a new cluster. The default is 16. For an
	// existing cluster it is ignored.
	Partitions int

	// Dir is the directory of the cache. It must not be shared with other processes. If Dir is
	// empty, open brains are stored in memory.
	Dir string

	// Announced makes reads send no requests to the servers. A read then relies on the messages
	// (invalidations) by which other processes announce their changes. It sees the changes up to the last invalidation
	// that has arrived, and is at most MaxAge old. By default, each read asks the stream's leader for the last message
	// (the head).
	Announced bool
	MaxAge    time.Duration // if Announced is set: maximum age of the data that a read returns (default 1 s)

	// ReadWait and WriteWait are the maximum times for which reads and writes wait for the servers.
	// The defaults are 10 s and 20 s. The election of a leader takes 4 to 9 s.
	ReadWait, WriteWait time.Duration

	// CacheBytes is the maximum memory for the cached entries of each brain, as in [oxbow.Options].
	CacheBytes int64

	Node   string           // name of this process, which is sent with its changes
	Source oxbow.Source     // source of changes whose context lacks a source
	Clock  func() time.Time // default time.Now
	Rand   io.Reader        // default crypto/rand

	maxAttemptTime            time.Duration // maximum duration of an attempt to send a request
	minEnvelopesAfterSnapshot uint64
}

func (o *Options) withDefaults() Options {
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
	r.maxAttemptTime, r.minEnvelopesAfterSnapshot = cmp.Or(
		r.maxAttemptTime,
		2*time.Second,
	), cmp.Or(
		r.minEnvelopesAfterSnapshot,
		minEnvelopesAfterSnapshot,
	)
	if r.Clock == nil {
		r.Clock = time.Now
	}
	return r
}

// Cluster is a connection to the servers that store brains. A brain is a memory on these servers. A Cluster is safe for
// concurrent use.
type Cluster struct {
	natsConn              *nats.Conn
	requestSender         serverRequestSender
	options               Options
	directory             *clusterDirectory
	replicas              int
	minEnvelopesToCompact uint64

	ctx    context.Context // ends when the cluster is closed
	cancel context.CancelFunc

	cacheFS               vfs.FS
	cacheLock             vfs.Lock
	receivesInvalidations atomic.Bool // set if this process receives the change announcements of other processes

	randMu sync.Mutex // serializes reads of Options.Rand

	mu               sync.Mutex               // guards the fields below
	replicaBySubject map[string]*brainReplica // replicas by subject
	leaderFences     map[leaderFence]bool
	leaseByStream    map[string]leaderLease // for each stream, the known facts about its current leader
	isClosed         bool
}

// Connect returns a cluster that uses the NATS servers of the connection nc. The connection should be configured to
// reconnect forever. Connect returns an error if the settings of a server are unsafe, which means that acknowledged
// changes could be lost. It also returns an error if streams are missing or differ from the cluster's directory, which
// lists the streams and memories. The error explains how to fix the problem.
func Connect(ctx context.Context, nc *nats.Conn, o *Options) (*Cluster, error) {
	c := &Cluster{
		natsConn:         nc,
		options:          o.withDefaults(),
		replicaBySubject: map[string]*brainReplica{},
		leaderFences:     map[leaderFence]bool{},
		leaseByStream:    map[string]leaderLease{},
	}
	c.requestSender = serverRequestSender{nc, c.options.maxAttemptTime, c.options.ReadWait}
	c.replicas, c.minEnvelopesToCompact = c.options.Replicas, c.options.minEnvelopesAfterSnapshot
	if err := checkServers(ctx, nc, &c.options); err != nil {
		return nil, err
	}
	if err := c.openCache(); err != nil {
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if err := c.openClusterDirectory(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// openClusterDirectory opens the cluster's directory, which lists the brains (memories) of the cluster and is stored on
// the servers. The local cache records the ID of its cluster. If the directory has another ID, openClusterDirectory
// returns an error, because the servers have lost their data or belong to another cluster.
//
// openClusterDirectory also reads the leader fences, which exclude servers with wrong data from leading a stream, and
// subscribes to the changes of brains.
func (c *Cluster) openClusterDirectory(ctx context.Context) error {
	id, err := readFile(c.cacheFS, "cluster")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.directory, err = openDirectory(ctx, c.natsConn, &c.options, string(id))
	if err != nil {
		return err
	}
	switch {
	case id == nil:
		err = replaceFileAtomically(c.cacheFS, "cluster", []byte(c.directory.clusterID))
	case string(id) != c.directory.clusterID:
		err = c.options.otherClusterError(string(id), "the servers are of cluster "+c.directory.clusterID+
			": they lost their data, or are others")
	}
	if err == nil {
		err = c.readLeaderFences(ctx)
	}
	if err == nil {
		err = c.subscribeToChangedBrains()
	}
	return err
}

// otherClusterError returns an error that says that the cache belongs to a different cluster.
func (o *Options) otherClusterError(clusterID, reason string) error {
	return fmt.Errorf(
		"%w: the cache directory %s is of cluster %.40s, and %s; give this one a directory of its own, and keep that "+
			"one to restore from",
		oxbow.ErrRolledBack,
		o.Dir,
		clusterID,
		reason,
	)
}

// openCache sets c.cacheFS, the file system in which this process caches its copies of the brains (the shared memories
// in the cluster). If c.options.Dir is "", the file system is in main memory. Otherwise openCache opens and locks the
// directory c.options.Dir. It fails if another process has locked this directory.
func (c *Cluster) openCache() error {
	if c.options.Dir == "" {
		c.cacheFS = vfs.NewMem()
		return nil
	}
	d, err := openDir(c.options.Dir)
	if err != nil {
		return err
	}
	lock, err := lockDirectory(d, "another process has the cache directory "+c.options.Dir+
		"; give this one a directory of its own")
	if err != nil {
		return errors.Join(err, d.Close())
	}
	c.cacheFS, c.cacheLock = d, lock
	return nil
}

// subscribeToChangedBrains subscribes to the messages by which other processes announce that they have changed a brain
// (a memory). It also starts a goroutine that watches the connection until c is closed. When the connection's state
// changes, announcements may have been missed. Therefore the next read of each brain must then ask the servers for the
// brain's last message.
func (c *Cluster) subscribeToChangedBrains() error {
	sub, err := c.natsConn.Subscribe("inv.b.>", c.markBrainOutdated)
	if err != nil {
		return err
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	if err := c.natsConn.FlushTimeout(c.options.ReadWait); err != nil {
		return err
	}
	c.receivesInvalidations.Store(true)
	status := c.natsConn.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.DISCONNECTED, nats.CLOSED)
	go func() {
		defer func() { _ = sub.Unsubscribe() }()
		for {
			select {
			case s := <-status:
				// Announcements of changes may have been missed while the connection was down. Therefore each brain
				// must be compared with the stream before the next read.
				c.receivesInvalidations.Store(false)
				c.requireFreshReads()
				c.receivesInvalidations.Store(s == nats.CONNECTED)
			case <-c.ctx.Done():
				c.natsConn.RemoveStatusListener(status)
				return
			}
		}
	}()
	return nil
}

// requireFreshReads makes the next read of each brain ask the servers for the brain's last message, even if this
// process asked the servers a short time ago. A brain is a memory that is stored in the stream.
func (c *Cluster) requireFreshReads() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.replicaBySubject {
		r.streamHeadComparedAt.Store(0)
	}
}

// markBrainOutdated handles the announcement m, which reports that a stream has stored a new message of a brain (a
// memory). It records the sequence number of the new message, so that a later read of the brain fetches the message. If
// the option Announced is set and the brain has watchers (functions that wait for changes), markBrainOutdated also
// starts to read the new message in the background.
func (c *Cluster) markBrainOutdated(m *nats.Msg) {
	seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return
	}
	c.mu.Lock()
	r := c.replicaBySubject[strings.TrimPrefix(m.Subject, "inv.")]
	c.mu.Unlock()
	if r == nil {
		return
	}
	for previous := r.announcedMessageSeq.Load(); previous < seq && !r.announcedMessageSeq.CompareAndSwap(previous,
		seq); previous = r.announcedMessageSeq.Load() {
	}
	isRead := c.options.Announced && r.watchers.Len() > 0
	if isRead && seq > r.lastReadSeq.Load() {
		// Ignore the error, because the next read of the brain tries to read the new message again.
		go func() { _ = r.compareWithStreamHead(c.ctx) }()
	}
}

// Open opens a brain of a tenant. If the brain does not exist, Open creates an empty brain and adds it to the cluster's
// list of brains. Each of the names in the arguments tenant and brain must consist of 1 to 64 letters, digits, "-" and
// "_".
func (c *Cluster) Open(ctx context.Context, tenant, brain string) (*Store, error) {
	info, err := c.directory.getBrain(ctx, tenant, brain)
	if err != nil {
		return nil, err
	}
	r, isNew, err := c.acquireReplica(ctx, info)
	if err != nil {
		return nil, err
	}
	if isNew {
		err = r.openFiles(ctx)
		r.mu.Unlock()
	}
	s := &Store{brainReplica: r}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// acquireReplica returns the replica of a brain, and increases the number of stores that use the replica. If the
// replica is being closed, acquireReplica waits until its files are closed, and then creates a new replica.
//
// If isNew is true, the replica is new and its mu is locked. The caller must open the files of the replica and then
// unlock mu. The error is oxbow.ErrClosed if the cluster is closed.
func (c *Cluster) acquireReplica(
	ctx context.Context,
	brain brainDirectoryEntry,
) (r *brainReplica, isNew bool, err error) {
	for {
		c.mu.Lock()
		if c.isClosed {
			c.mu.Unlock()
			return nil, false, oxbow.ErrClosed
		}
		r = c.replicaBySubject[brain.subjectName()]
		if r == nil || r.filesClosed == nil {
			break
		}
		gone := r.filesClosed
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
		r = &brainReplica{cluster: c, directoryEntry: brain, files: brainFiles{c.cacheFS, brain.Name}}
		r.mu.Lock()
		c.replicaBySubject[brain.subjectName()] = r
	}
	r.openStoreCount++
	return r, isNew, nil
}

// releaseReplica records that an open [Store] no longer uses the replica r. After the last such Store, it closes the
// replica's files and forgets the replica.
func (c *Cluster) releaseReplica(r *brainReplica) error {
	c.mu.Lock()
	r.openStoreCount--
	if r.openStoreCount > 0 {
		c.mu.Unlock()
		return nil
	}
	r.filesClosed = make(chan struct{})
	c.mu.Unlock()
	err := r.closeFiles()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.replicaBySubject, r.directoryEntry.subjectName())
	close(r.filesClosed)
	return err
}

// Close closes the files of all open brains (memories that are stored in streams), and releases the lock of the cache
// directory. It also stops the work in the background. It does not close the connection to the servers.
func (c *Cluster) Close() error {
	c.mu.Lock()
	c.isClosed = true
	var errs error
	for _, r := range c.replicaBySubject {
		errs = errors.Join(errs, r.closeFiles())
	}
	c.mu.Unlock()
	c.cancel()
	if c.cacheLock != nil {
		errs = errors.Join(errs, c.cacheLock.Close())
	}
	if d, ok := c.cacheFS.(io.Closer); ok {
		errs = errors.Join(errs, d.Close())
	}
	return errs
}
