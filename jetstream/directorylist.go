// Lists of the directory: its brains and its fences.

package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// The stream that holds the directory, and what its subjects begin with.
const (
	directoryStream  = "KV_" + bucket
	directorySubject = "$KV." + bucket + "."
)

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

// list returns the brains.
func (d *directory) list(ctx context.Context) ([]brainInfo, error) {
	messages, err := d.messages(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the directory: %w", err)
	}
	all := make([]brainInfo, 0, len(messages))
	for _, m := range messages {
		key := strings.TrimPrefix(m.Subject, directorySubject)
		name, is := strings.CutPrefix(key, "brain.")
		if !is || len(m.Data) == 0 { // of no brain, or deleted
			continue
		}
		b := brainInfo{Name: name}
		if err := json.Unmarshal(m.Data, &b); err != nil {
			return nil, fmt.Errorf("%w: %s of the directory: %v", oxbow.ErrCorrupt, key, err)
		}
		tenant, brain, _ := strings.Cut(name, ".")
		if !nameForm.MatchString(tenant) || !nameForm.MatchString(brain) || b.Partition < 0 || b.Partition >= d.partitions {
			return nil, fmt.Errorf("%w: %.200q of the directory is no brain of this cluster; delete the key: nats kv del %s", oxbow.ErrCorrupt, key, bucket)
		}
		all = append(all, b)
	}
	return all, nil
}

// messages returns the last message of each key: from any server, and again from the
// leader where that one has fewer.
func (d *directory) messages(ctx context.Context) (all []message, err error) {
	var info streamAnswer
	if err := d.link.ask(ctx, "$JS.API.STREAM.INFO."+directoryStream, nil, &info); err != nil {
		return nil, err
	}
	next := uint64(1)
	take := func(m message) error {
		all, next = append(all, m), m.Seq+1
		return nil
	}
	for before := uint64(0); before < next; {
		before = next
		if err := batch(ctx, d.nc, directoryStream, directorySubject+">", next, batchSize, take); err != nil {
			return nil, err
		}
	}
	if uint64(len(all)) >= info.State.Messages && info.Error == nil {
		return all, nil
	}
	all = nil
	return all, d.each(ctx, ">", func(m message) { all = append(all, m) })
}

// each calls fn with the last message of each key that matches, from the leader.
func (d *directory) each(ctx context.Context, keys string, fn func(message)) error {
	for next := uint64(1); ; {
		m, ok, err := d.link.next(ctx, directoryStream, directorySubject+keys, next)
		if err != nil || !ok {
			return err
		}
		fn(m)
		next = m.Seq + 1
	}
}

// readFences reads the fences of the directory.
func (c *Cluster) readFences(ctx context.Context) error {
	fences := map[fence]bool{}
	err := c.dir.each(ctx, "fence.>", func(m message) {
		if parts := strings.SplitN(strings.TrimPrefix(m.Subject, directorySubject), ".", 3); len(parts) == 3 && len(m.Data) > 0 {
			fences[fence{parts[1], parts[2]}] = true
		}
	})
	if err != nil {
		return fmt.Errorf("list the fences of the directory: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fences = fences
	return nil
}
