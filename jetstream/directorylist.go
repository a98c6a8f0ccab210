// This file lists the brains (memories) in the cluster's directory. It also lists the fences. A fence is a record in
// the directory which says that a server must not lead a stream.

package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// These are the name of the stream that contains the cluster's directory, and the prefix for the stream's subjects.
const (
	directoryStream  = "KV_" + clusterDirectoryBucket
	directorySubject = "$KV." + clusterDirectoryBucket + "."
)

// eachBrain calls fn for each brain in the directory. It stops if fn returns an error, and returns this error.
func (d *clusterDirectory) eachBrain(ctx context.Context, fn func(brainDirectoryEntry) error) error {
	all, err := d.listBrains(ctx)
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

// listBrains returns the brains in the directory. If the directory contains an invalid brain, the error matches
// [oxbow.ErrCorrupt].
func (d *clusterDirectory) listBrains(ctx context.Context) ([]brainDirectoryEntry, error) {
	messages, err := d.lastMessages(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the directory: %w", err)
	}
	all := make([]brainDirectoryEntry, 0, len(messages))
	for _, m := range messages {
		key := strings.TrimPrefix(m.Subject, directorySubject)
		name, is := strings.CutPrefix(key, "brain.")
		if !is || len(m.Data) == 0 { // The key does not belong to a brain, or the brain was deleted.
			continue
		}
		b := brainDirectoryEntry{Name: name}
		if err := json.Unmarshal(m.Data, &b); err != nil {
			return nil, fmt.Errorf("%w: %s of the directory: %v", oxbow.ErrCorrupt, key, err)
		}
		tenant, brain, _ := strings.Cut(name, ".")
		isNamed := namePattern.MatchString(tenant) && namePattern.MatchString(brain)
		isPartition := b.Partition >= 0 && b.Partition < d.partitionCount
		if !isNamed || !isPartition {
			return nil, fmt.Errorf(
				"%w: %.200q of the directory is no brain of this cluster; delete the key: nats kv del %s",
				oxbow.ErrCorrupt,
				key,
				clusterDirectoryBucket,
			)
		}
		all = append(all, b)
	}
	return all, nil
}

// lastMessages returns the last message of each key in the directory. It first asks any server, which may lack recent
// messages. If this server returns fewer messages than the stream contains, it asks the leader for all messages.
func (d *clusterDirectory) lastMessages(ctx context.Context) (all []streamMessage, err error) {
	var info streamAnswer
	if err := d.requestSender.requestAPI(ctx, "$JS.API.STREAM.INFO."+directoryStream, nil, &info); err != nil {
		return nil, err
	}
	next := uint64(1)
	take := func(m streamMessage) error {
		all, next = append(all, m), m.Seq+1
		return nil
	}
	for before := uint64(0); before < next; {
		before = next
		if err := eachMessageInBatch(ctx, d.nc, directoryStream, directorySubject+">", next, messagesPerBatch, take); err != nil {
			return nil, err
		}
	}
	if uint64(len(all)) >= info.State.Messages && info.Error == nil {
		return all, nil
	}
	all = nil
	return all, d.eachMessage(ctx, ">", func(m streamMessage) { all = append(all, m) })
}

// eachMessage calls fn for each message in the directory's stream whose key matches keyPattern, in the order of the
// sequence numbers. It requests the messages from the stream's leader, in sequence. The stream contains only the last
// message of each key.
func (d *clusterDirectory) eachMessage(ctx context.Context, keyPattern string, fn func(streamMessage)) error {
	for next := uint64(1); ; {
		m, ok, err := d.requestSender.nextMessage(ctx, directoryStream, directorySubject+keyPattern, next)
		if err != nil || !ok {
			return err
		}
		fn(m)
		next = m.Seq + 1
	}
}

// readLeaderFences sets c.leaderFences to the fences in the cluster's directory. A fence says that a certain server
// must not lead a certain stream.
func (c *Cluster) readLeaderFences(ctx context.Context) error {
	fences := map[leaderFence]bool{}
	err := c.directory.eachMessage(ctx, "fence.>", func(m streamMessage) {
		if parts := strings.SplitN(strings.TrimPrefix(m.Subject, directorySubject), ".", 3); len(parts) == 3 &&
			len(m.Data) > 0 {
			fences[leaderFence{parts[1], parts[2]}] = true
		}
	})
	if err != nil {
		return fmt.Errorf("list the fences of the directory: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaderFences = fences
	return nil
}
