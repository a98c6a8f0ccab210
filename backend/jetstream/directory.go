// The directory: a bucket that names the cluster, its streams and its brains.

package jetstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	api "github.com/nats-io/nats.go/jetstream"
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// bucket is the name of the directory.
const bucket = "DIR"

// directory is an open directory. Its keys:
//
//	cluster             {"id", "partitions", "replicas"}
//	stream.BRAIN_03     {"created"}: a stream of that time must be there
//	brain.TENANT.BRAIN  {"partition", "epoch", "created"}
//	fence.BRAIN_03.NAME why the server of that name must not lead the stream
type directory struct {
	kv         api.KeyValue
	id         string
	partitions int
}

// clusterInfo is what the directory holds of the cluster.
type clusterInfo struct {
	ID         string `json:"id"`
	Partitions int    `json:"partitions"`
	Replicas   int    `json:"replicas"`
}

// streamInfo is what the directory holds of a stream.
type streamInfo struct {
	Created time.Time `json:"created"`
}

// brainInfo is what the directory holds of a brain.
type brainInfo struct {
	Name      string    `json:"-"` // tenant.brain
	Partition int       `json:"partition"`
	Epoch     uint64    `json:"epoch"`
	Created   time.Time `json:"created"`
}

func (b brainInfo) stream() string  { return streamName(b.Partition) }
func (b brainInfo) subject() string { return fmt.Sprintf("b.%02d.%s", b.Partition, b.Name) }

func streamName(partition int) string { return fmt.Sprintf("BRAIN_%02d", partition) }

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// openDirectory opens the directory, and makes it and the streams where there is
// nothing yet.
func openDirectory(ctx context.Context, nc *nats.Conn, o *Options) (*directory, error) {
	js, err := api.New(nc)
	if err != nil {
		return nil, err
	}
	kv, err := js.KeyValue(ctx, bucket)
	if errors.Is(err, api.ErrBucketNotFound) {
		kv, err = createBucket(ctx, js, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open the directory: %w", err)
	}
	st, err := kv.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the directory: %w", err)
	}
	if b, ok := st.(*api.KeyValueBucketStatus); ok && b.StreamInfo().Config.Replicas < o.Replicas {
		return nil, setting("the directory is held by %d servers, not %d: nats stream edit KV_%s --replicas %d", b.StreamInfo().Config.Replicas, o.Replicas, bucket, o.Replicas)
	}
	info, err := enter(ctx, kv, "cluster", func() (clusterInfo, error) {
		return clusterInfo{ID: nats.NewInbox()[len(nats.InboxPrefix):], Partitions: o.Partitions, Replicas: o.Replicas}, nil
	})
	if err != nil {
		return nil, err
	}
	d := &directory{kv, info.ID, info.Partitions}
	for p := range d.partitions {
		if err := d.openStream(ctx, js, p, o); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// createBucket makes the directory of a new cluster.
func createBucket(ctx context.Context, js api.JetStream, o *Options) (api.KeyValue, error) {
	switch _, err := js.Stream(ctx, streamName(0)); {
	case err == nil:
		return nil, fmt.Errorf("%w: bucket %s is missing although there are streams of brains; it is never made again: restore it from a backup", oxbow.ErrCorrupt, bucket)
	case !errors.Is(err, api.ErrStreamNotFound):
		return nil, err
	}
	return js.CreateKeyValue(ctx, api.KeyValueConfig{Bucket: bucket, Replicas: o.Replicas, Storage: api.FileStorage, History: 1})
}

// openStream compares a stream with the directory. One that the directory does not
// name yet is made.
func (d *directory) openStream(ctx context.Context, js api.JetStream, partition int, o *Options) error {
	name := streamName(partition)
	want := streamConfig(partition, o.Replicas)
	stream, err := js.Stream(ctx, name)
	if err != nil && !errors.Is(err, api.ErrStreamNotFound) {
		return fmt.Errorf("open stream %s: %w", name, err)
	}
	known, err := enter(ctx, d.kv, "stream."+name, func() (streamInfo, error) {
		if stream == nil {
			if stream, err = js.CreateStream(ctx, want); err != nil {
				return streamInfo{}, err
			}
		}
		if n := stream.CachedInfo().State.Msgs; n > 0 {
			return streamInfo{}, fmt.Errorf("%w: stream %s has %d messages and the directory does not name it; restore the directory from a backup", oxbow.ErrCorrupt, name, n)
		}
		return streamInfo{stream.CachedInfo().Created}, nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("open stream %s: %w", name, err)
	case stream == nil:
		if stream, err = js.Stream(ctx, name); err != nil { // another process may have made it
			return missing(name)
		}
	}
	if c := stream.CachedInfo().Created; !c.Equal(known.Created) {
		return fmt.Errorf("%w: stream %s was made %s, and the directory names one of %s: its data was lost, and it was made again; restore it from a backup or from the cache directory of a node",
			oxbow.ErrCorrupt, name, c.Format(time.RFC3339), known.Created.Format(time.RFC3339))
	}
	return checkStream(stream.CachedInfo().Config, want)
}

// enter returns the value of a key, and makes it where there is none.
func enter[T any](ctx context.Context, kv api.KeyValue, key string, value func() (T, error)) (v T, err error) {
	for try := range 40 { // a replica that is asked may lack what another process has just made
		if try > 0 && !wait(ctx, 50*time.Millisecond) {
			break
		}
		e, err := kv.Get(ctx, key)
		if err == nil {
			return v, json.Unmarshal(e.Value(), &v)
		}
		if !errors.Is(err, api.ErrKeyNotFound) {
			return v, away("read "+key+" of the directory", err)
		}
		if v, err = value(); err != nil {
			return v, err
		}
		b, err := json.Marshal(v)
		if err != nil {
			return v, err
		}
		_, err = kv.Create(ctx, key, b)
		if err == nil {
			return v, nil
		}
		if !errors.Is(err, api.ErrKeyExists) {
			return v, fmt.Errorf("write %s to the directory: %w", key, err)
		}
	}
	return v, fmt.Errorf("%w: %s of the directory changes over and over", oxbow.ErrBusy, key)
}

// brain returns what the directory holds of a brain, which it enters where there is
// none.
func (d *directory) brain(ctx context.Context, tenant, brain string) (brainInfo, error) {
	for field, s := range map[string]string{"tenant": tenant, "brain": brain} {
		if !nameForm.MatchString(s) {
			return brainInfo{}, &oxbow.InvalidError{Field: field, Value: s, Reason: "is not 1 to 64 letters, digits, - and _"}
		}
	}
	return d.enterBrain(ctx, tenant, brain, 1, time.Now().UTC())
}

// enterBrain returns what the directory holds of a brain of a valid name, which it
// enters with an epoch where there is none.
func (d *directory) enterBrain(ctx context.Context, tenant, brain string, epoch uint64, created time.Time) (brainInfo, error) {
	name := tenant + "." + brain
	info, err := enter(ctx, d.kv, "brain."+name, func() (brainInfo, error) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(name))
		return brainInfo{Partition: int(h.Sum32() % uint32(d.partitions)), Epoch: epoch, Created: created}, nil
	})
	info.Name = name
	return info, err
}

// brains calls fn with each brain of the directory.
func (d *directory) brains(ctx context.Context, fn func(brainInfo) error) error {
	all, err := d.list(ctx)
	if err != nil {
		return err
	}
	for _, b := range all {
		if err := fn(b); err != nil {
			return err
		}
	}
	return nil
}

// listSilence is how long a list may stand still: what the servers hold of it, one of
// them may have lost.
const listSilence = 10 * time.Second

// list returns the brains. A list that ended early, or stands still, is made again: the
// stream has at least the keys that it had before.
func (d *directory) list(ctx context.Context) (all []brainInfo, err error) {
	for range 3 {
		err = fmt.Errorf("%w: lists of the directory lack keys; see whether two of three servers run and reach each other", oxbow.ErrBusy)
		st, serr := d.kv.Status(ctx)
		if serr != nil {
			err = away("list the directory", serr)
		} else {
			least, keys := 0, 0
			if b, ok := st.(*api.KeyValueBucketStatus); ok {
				least = int(b.StreamInfo().State.NumSubjects)
			}
			var lerr error
			if all, keys, lerr = d.listOnce(ctx); lerr == nil && keys >= least {
				return all, nil
			}
			err = cmp.Or(lerr, err)
		}
		if !errors.Is(err, oxbow.ErrBusy) || !wait(ctx, 10*awayPause) {
			break
		}
	}
	return nil, err
}

// away is the error of a request to the directory; where no server can answer for now it
// matches [oxbow.ErrBusy].
func away(what string, err error) error {
	a, is := errors.AsType[*api.APIError](err)
	w, watched := errors.AsType[*nats.APIError](err)
	if is && a.Code == 503 || watched && w.Code == 503 || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, api.ErrNoStreamResponse) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) {
		return fmt.Errorf("%s: %w: the servers do not answer (%w); see whether two of three run and reach each other", what, oxbow.ErrBusy, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// listOnce returns the brains, and how many keys there are of any kind.
func (d *directory) listOnce(ctx context.Context) (all []brainInfo, keys int, err error) {
	w, err := d.kv.WatchAll(ctx)
	if err != nil {
		return nil, 0, away("list the directory", err)
	}
	defer func() { _ = w.Stop() }()
	silence := time.NewTimer(listSilence)
	defer silence.Stop()
	for {
		var e api.KeyValueEntry
		select {
		case e = <-w.Updates():
			silence.Reset(listSilence)
		case <-silence.C:
			return nil, 0, away("list the directory", context.DeadlineExceeded)
		case <-ctx.Done():
			return nil, 0, away("list the directory", ctx.Err())
		}
		if e == nil {
			return all, keys, nil // all that there was
		}
		keys++
		name, is := strings.CutPrefix(e.Key(), "brain.")
		if !is || e.Operation() != api.KeyValuePut {
			continue
		}
		b := brainInfo{Name: name}
		if err := json.Unmarshal(e.Value(), &b); err != nil {
			return nil, 0, fmt.Errorf("%w: %s of the directory: %v", oxbow.ErrCorrupt, e.Key(), err)
		}
		tenant, brain, _ := strings.Cut(name, ".")
		if !nameForm.MatchString(tenant) || !nameForm.MatchString(brain) || b.Partition < 0 || b.Partition >= d.partitions {
			return nil, 0, fmt.Errorf("%w: %.200q of the directory is no brain of this cluster; delete the key: nats kv del %s", oxbow.ErrCorrupt, e.Key(), bucket)
		}
		all = append(all, b)
	}
}

// openDir opens a directory of the operating system, and makes it where it is missing.
func openDir(dir string) (*vfs.OS, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return vfs.Dir(dir)
}
