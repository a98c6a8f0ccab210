// This file encodes the change that a call makes. The encoded change is a part of an envelope, which is a message that
// is sent to the servers and contains changes.

package jetstream

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/share/remote/opjson"
)

// requestedChange is a change of a brain (a memory on the servers), as it is sent to the stream in a message
// (envelope). It contains ops, or the numbers of changes to revert, or a version to restore. Ops are validated before
// the envelope is sent. A revert or a restore is sent in an envelope of its own. Each process that keeps a copy of the
// brain computes the result, which is the same everywhere.
type requestedChange struct {
	OpID   string       `json:"op_id,omitempty"`
	Note   string       `json:"note,omitempty"`
	Source oxbow.Source `json:"source"`

	Ops             []opjson.Op      `json:"ops,omitempty"`
	RevertedSeqs    []uint64         `json:"revert,omitempty"`
	RestoredVersion *restoredVersion `json:"restore,omitempty"`
}

// restoredVersion specifies a version to restore.
type restoredVersion struct {
	Name string `json:"name"`
	Seq  uint64 `json:"seq"`
	// required version of the entry (0 if the entry must not exist, nil for any version)
	Version *uint64 `json:"version,omitempty"`
}

// decodeOps returns the ops of the change. If this program does not know one of the ops, because a newer program wrote
// the change, the error matches [oxbow.ErrVersion].
func (c *requestedChange) decodeOps() ([]oxbow.Op, error) {
	ops := make([]oxbow.Op, len(c.Ops))
	for i, w := range c.Ops {
		op, err := w.Decode()
		if err != nil {
			return nil, fmt.Errorf("%w: %w; a newer oxbow wrote this envelope: update this one", oxbow.ErrVersion, err)
		}
		ops[i] = op
	}
	return ops, nil
}

// setOriginOfChange sets the op ID, the note and the source of the change from ctx. It checks and shortens them like a
// store in a local file, so that a change has the same origin in both stores. If ctx has no source, defaultSource is
// used. An invalid op ID is an [oxbow.InvalidError].
func (c *requestedChange) setOriginOfChange(ctx context.Context, defaultSource oxbow.Source) error {
	c.OpID = oxbow.OpIDFrom(ctx)
	if len(c.OpID) > 64 || strings.ToValidUTF8(c.OpID, "") != c.OpID {
		return &oxbow.InvalidError{
			Field:  "op id",
			Value:  text.TruncateWithEllipsis(strings.ToValidUTF8(c.OpID, "?"), 40),
			Reason: "is longer than 64 bytes, or not UTF-8",
		}
	}
	c.Note = strings.ToValidUTF8(oxbow.NoteFrom(ctx), "\ufffd")
	s, ok := oxbow.SourceFrom(ctx)
	if !ok {
		s = defaultSource
	}
	s.Door, s.Time = cmp.Or(s.Door, defaultSource.Door), time.Time{}
	for _, p := range []*string{&s.Door, &s.Session, &s.Profile, &s.Ref, &s.Claimed.Client, &s.Claimed.Agent} {
		*p = text.TruncateWithEllipsis(strings.ToValidUTF8(*p, "\ufffd"), 200)
	}
	c.Source = s
	return nil
}

// contextForStore returns the context for a change. With this context, each process repeats the change on its own copy
// of the brain (the memory). The context contains the change's source, op ID and note.
func (c *requestedChange) contextForStore() context.Context {
	ctx := oxbow.WithSource(context.Background(), c.Source)
	if c.OpID != "" {
		ctx = oxbow.WithOpID(ctx, c.OpID)
	}
	if c.Note != "" {
		ctx = oxbow.WithNote(ctx, c.Note)
	}
	return ctx
}
