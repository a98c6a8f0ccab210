// This file implements the directory, a key-value bucket with the names and states of the cluster,
// the streams and the brains.

package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"time"

	"github.com/nats-io/nats.go"
	api "github.com/nats-io/nats.go/jetstream"
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// clusterDirectoryBucket is the name of the key-value bucket that lists all brains (memories) in the cluster. The list
// is called the directory of the cluster.
const clusterDirectoryBucket = "DIR"

// clusterDirectory is an open directory of the cluster, which is a list of all its brains (memories). The directory has
// these keys:
//
//	cluster             {"id", "partitions", "replicas"}
//	stream.BRAIN_03     {"created"}: a stream with this creation time must exist
//	brain.TENANT.BRAIN  {"partition", "epoch", "created"}
//	fence.BRAIN_03.NAME the reason why the server NAME must not lead the stream
//
// The directory is always read from the leader, because any other server may lack recent values.
type clusterDirectory struct {
	// The servers' key-value bucket, in which the directory is stored. It is used only for writing.
	bucket         api.KeyValue
	nc             *nats.Conn
	requestSender  serverRequestSender
	clusterID      string
	partitionCount int
}

// clusterInfo is the value under the key "cluster" in the cluster's directory.
type clusterInfo struct {
	ID         string `json:"id"`
	Partitions int    `json:"partitions"`
	Replicas   int    `json:"replicas"`
}

// streamInfo is the value that the cluster's directory contains for each stream.
type streamInfo struct {
	Created time.Time `json:"created"`
}

// brainDirectoryEntry is the value that the cluster's directory contains for each brain, a memory in the cluster.
type brainDirectoryEntry struct {
	Name       string    `json:"-"` // name in the form TENANT.BRAIN, which is a part of the directory's key
	Partition  int       `json:"partition"`
	BrainEpoch uint64    `json:"epoch"`
	Created    time.Time `json:"created"`
}

func (b brainDirectoryEntry) streamName() string { return streamName(b.Partition) }
func (b brainDirectoryEntry) subjectName() string {
	return fmt.Sprintf("b.%02d.%s", b.Partition, b.Name)
}

// streamPrefix is the prefix of stream names.
const streamPrefix = "BRAIN_"

func streamName(partition int) string { return fmt.Sprintf("%s%02d", streamPrefix, partition) }

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// openDirectory opens the directory, which describes the cluster. If the servers have no directory, openDirectory
// creates the directory and the streams. However, if expectedClusterID is not "", the cluster must exist already, and a
// missing directory is an error.
func openDirectory(
	ctx context.Context,
	nc *nats.Conn,
	o *Options,
	expectedClusterID string,
) (*clusterDirectory, error) {
	js, err := api.New(nc)
	if err != nil {
		return nil, err
	}
	kv, err := openBucket(ctx, nc, js, o, expectedClusterID)
	for try := 0; try < 40 && errors.Is(err, api.ErrStreamNotFound) && sleepUnlessCanceled(ctx, 50*time.Millisecond); try++ {
		// Another process has created the directory's bucket, but not all servers have the bucket yet.
		kv, err = openBucket(ctx, nc, js, o, expectedClusterID)
	}
	if err != nil {
		return nil, fmt.Errorf("open the directory: %w", err)
	}
	d := &clusterDirectory{bucket: kv, nc: nc, requestSender: serverRequestSender{nc, o.maxAttemptTime, o.ReadWait}}
	info, err := getOrCreate(ctx, d, "cluster", func() (clusterInfo, error) {
		return clusterInfo{
			ID:         nats.NewInbox()[len(nats.InboxPrefix):],
			Partitions: o.Partitions,
			Replicas:   o.Replicas,
		}, nil
	})
	if err != nil {
		return nil, err
	}
	d.clusterID, d.partitionCount = info.ID, info.Partitions
	for p := range d.partitionCount {
		if err := d.openStream(ctx, js, p, o); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// openBucket opens the key-value bucket with the cluster's directory. If the bucket does not exist and
// expectedClusterID is "", openBucket creates the bucket, because the servers are new. It returns an error if the
// bucket does not exist but expectedClusterID is set, because the servers lost their data or belong to another cluster.
// It also returns an error if the bucket has fewer replicas than o.Replicas.
func openBucket(
	ctx context.Context,
	nc *nats.Conn,
	js api.JetStream,
	o *Options,
	expectedClusterID string,
) (api.KeyValue, error) {
	kv, err := js.KeyValue(ctx, clusterDirectoryBucket)
	if errors.Is(err, api.ErrBucketNotFound) && expectedClusterID != "" {
		return nil, o.otherClusterError(
			expectedClusterID,
			"the servers have no directory: they lost their data, or are others",
		)
	}
	if errors.Is(err, api.ErrBucketNotFound) {
		kv, err = createBucket(ctx, nc, js, o)
	}
	if err != nil {
		return nil, err
	}
	st, err := kv.Status(ctx)
	if err != nil {
		return nil, err
	}
	if b, ok := st.(*api.KeyValueBucketStatus); ok && b.StreamInfo().Config.Replicas < o.Replicas {
		return nil, settingError(
			"the directory is held by %d servers, not %d: nats stream edit KV_%s --replicas %d",
			b.StreamInfo().Config.Replicas,
			o.Replicas,
			clusterDirectoryBucket,
			o.Replicas,
		)
	}
	return kv, nil
}

// createBucket creates the bucket for the directory of a new cluster. It returns an error if the servers have streams
// of brains (memories), because then the cluster is not new, and its directory was lost.
func createBucket(ctx context.Context, nc *nats.Conn, js api.JetStream, o *Options) (api.KeyValue, error) {
	switch _, err := js.Stream(ctx, streamName(0)); {
	case err == nil:
		return nil, fmt.Errorf(
			"%w: bucket %s is missing although there are streams of brains; it is never made again: restore it from "+
				"a backup",
			oxbow.ErrCorrupt,
			clusterDirectoryBucket,
		)
	case !errors.Is(err, api.ErrStreamNotFound):
		return nil, err
	}
	if err := checkNoStreamsExist(ctx, nc, o); err != nil {
		if kv, again := js.KeyValue(ctx, clusterDirectoryBucket); again == nil {
			return kv, nil // Another process has created the directory's bucket in the meantime, so use that bucket.
		}
		return nil, err
	}
	return js.CreateKeyValue(
		ctx,
		api.KeyValueConfig{Bucket: clusterDirectoryBucket, Replicas: o.Replicas, Storage: api.FileStorage, History: 1},
	)
}

// openStream checks that a stream is the stream that the directory names, and that it has the configuration that the
// options require. If the directory does not name the stream yet, openStream creates the stream if necessary, and adds
// it to the directory. If the stream is missing, was made again, or contains messages although the directory does not
// name it, the error matches [oxbow.ErrCorrupt].
func (d *clusterDirectory) openStream(ctx context.Context, js api.JetStream, partition int, o *Options) error {
	name := streamName(partition)
	want := streamConfig(partition, o.Replicas)
	stream, err := js.Stream(ctx, name)
	if err != nil && !errors.Is(err, api.ErrStreamNotFound) {
		return fmt.Errorf("open stream %s: %w", name, err)
	}
	known, err := getOrCreate(ctx, d, "stream."+name, func() (streamInfo, error) {
		if stream == nil {
			stream, err = js.CreateStream(ctx, want)
			if err != nil {
				return streamInfo{}, err
			}
		}
		if n := stream.CachedInfo().State.Msgs; n > 0 {
			return streamInfo{}, fmt.Errorf(
				"%w: stream %s has %d messages and the directory does not name it; restore the directory from a backup",
				oxbow.ErrCorrupt,
				name,
				n,
			)
		}
		return streamInfo{stream.CachedInfo().Created}, nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("open stream %s: %w", name, err)
	case stream == nil:
		stream, err = js.Stream(ctx, name)
		if err != nil { // another process may have created the stream
			return missingStreamError(name)
		}
	}
	if c := stream.CachedInfo().Created; !c.Equal(known.Created) {
		return fmt.Errorf(
			"%w: stream %s was made %s, and the directory names one of %s: its data was lost, and it was made again; "+
				"restore it from a backup or from the cache directory of a node",
			oxbow.ErrCorrupt, name, c.Format(time.RFC3339), known.Created.Format(time.RFC3339),
		)
	}
	return checkStreamConfig(stream.CachedInfo().Config, want)
}

// getValue returns the value of a key, or nil if the key lacks a value.
func (d *clusterDirectory) getValue(ctx context.Context, key string) ([]byte, error) {
	m, _, err := d.requestSender.lastMessage(ctx, directoryStream, directorySubject+key)
	if err != nil {
		return nil, fmt.Errorf("read %s of the directory: %w", key, err)
	}
	return m.Data, nil // If the key was deleted, its last message has no data, so the result is empty.
}

// getOrCreate returns the value of a key. If the key lacks a value, getOrCreate calls makeValue, stores the result as
// the key's value, and returns it.
func getOrCreate[T any](
	ctx context.Context,
	d *clusterDirectory,
	key string,
	makeValue func() (T, error),
) (v T, err error) {
	// Try again if another process creates the key in the directory at the same time and then deletes it.
	for try := range 40 {
		if try > 0 && !sleepUnlessCanceled(ctx, 50*time.Millisecond) {
			break
		}
		b, err := d.getValue(ctx, key)
		if err != nil {
			return v, err
		}
		if len(b) > 0 {
			return v, json.Unmarshal(b, &v)
		}
		v, err = makeValue()
		if err != nil {
			return v, err
		}
		b, err = json.Marshal(v)
		if err != nil {
			return v, err
		}
		_, err = d.bucket.Create(ctx, key, b)
		if err == nil {
			return v, nil
		}
		if !errors.Is(err, api.ErrKeyExists) {
			return v, fmt.Errorf("write %s to the directory: %w", key, err)
		}
	}
	return v, fmt.Errorf("%w: %s of the directory changes over and over", oxbow.ErrBusy, key)
}

// getBrain returns the value that the cluster's directory contains for a brain (a memory). If the directory does not
// contain the brain, getBrain adds it with the epoch 1. It returns an error if tenant or brain is not a valid name.
func (d *clusterDirectory) getBrain(ctx context.Context, tenant, brain string) (brainDirectoryEntry, error) {
	for field, s := range map[string]string{"tenant": tenant, "brain": brain} {
		if !namePattern.MatchString(s) {
			return brainDirectoryEntry{}, &oxbow.InvalidError{
				Field:  field,
				Value:  s,
				Reason: "is not 1 to 64 letters, digits, - and _",
			}
		}
	}
	return d.addBrain(ctx, tenant, brain, 1, time.Now().UTC())
}

// addBrain returns the value that the cluster's directory contains for a brain, whose name must be valid. If the
// directory does not contain the brain, addBrain adds it with the given epoch and creation time.
func (d *clusterDirectory) addBrain(
	ctx context.Context,
	tenant, brain string,
	epoch uint64,
	created time.Time,
) (brainDirectoryEntry, error) {
	name := tenant + "." + brain
	info, err := getOrCreate(ctx, d, "brain."+name, func() (brainDirectoryEntry, error) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(name))
		return brainDirectoryEntry{
			Partition:  int(h.Sum32() % uint32(d.partitionCount)),
			BrainEpoch: epoch,
			Created:    created,
		}, nil
	})
	info.Name = name
	return info, err
}

// openDir opens a directory of the operating system, and creates it if necessary.
func openDir(dir string) (*vfs.OS, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return vfs.Dir(dir)
}
