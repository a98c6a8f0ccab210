// The codec of changes: what one call changes, in an envelope.

package jetstream

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// change is what one call changes: ops, or changes to revert, or a version to
// restore. Ops were validated when the envelope was made. A revert or a restore is
// decided by each replica, alike, and has an envelope of its own.
type change struct {
	OpID   string       `json:"op_id,omitempty"`
	Note   string       `json:"note,omitempty"`
	Source oxbow.Source `json:"source"`

	Ops     []wireOp     `json:"ops,omitempty"`
	Revert  []uint64     `json:"revert,omitempty"`
	Restore *wireRestore `json:"restore,omitempty"`
}

// wireRestore is a version to restore.
type wireRestore struct {
	Name    string  `json:"name"`
	Seq     uint64  `json:"seq"`
	Version *uint64 `json:"version,omitempty"` // that the entry must be at, 0 for there being none
}

// wireOp has one of its fields.
type wireOp struct {
	Add     *wireAdd     `json:"add,omitempty"`
	Update  *wireUpdate  `json:"update,omitempty"`
	Alias   *wireAlias   `json:"alias,omitempty"`
	Relabel *wireRelabel `json:"relabel,omitempty"`
	Remove  *wireRemove  `json:"remove,omitempty"`
}

// The ops, with the fields of package oxbow. A time is seconds since 1970 and
// nanoseconds, which has no bounds as the text of JSON has.
type (
	wireAdd struct {
		Name          string        `json:"name"`
		Kind          oxbow.Kind    `json:"kind,omitempty"`
		Content       string        `json:"content"`
		Aliases       []string      `json:"aliases,omitempty"`
		Labels        []oxbow.Label `json:"labels,omitempty"`
		Created       *[2]int64     `json:"created,omitempty"`
		UniqueAliases bool          `json:"unique_aliases,omitempty"`
	}
	wireUpdate struct {
		Name          string        `json:"name"`
		Content       string        `json:"content"`
		Aliases       []string      `json:"aliases,omitempty"`
		Labels        []oxbow.Label `json:"labels,omitempty"`
		If            uint64        `json:"if,omitempty"`
		UniqueAliases bool          `json:"unique_aliases,omitempty"`
	}
	wireAlias struct {
		Name    string   `json:"name"`
		Aliases []string `json:"aliases,omitempty"`
		If      uint64   `json:"if,omitempty"`
	}
	wireRelabel struct {
		Name   string        `json:"name"`
		Labels []oxbow.Label `json:"labels,omitempty"`
		If     uint64        `json:"if,omitempty"`
	}
	wireRemove struct {
		Name string `json:"name"`
		If   uint64 `json:"if,omitempty"`
	}
)

// toWire returns the op for an envelope.
func toWire(op oxbow.Op) (w wireOp, err error) {
	switch op := op.(type) {
	case oxbow.Add:
		a := &wireAdd{Name: op.Name, Kind: op.Kind, Content: op.Content, Aliases: op.Aliases, Labels: op.Labels, UniqueAliases: op.UniqueAliases}
		if !op.Created.IsZero() {
			a.Created = &[2]int64{op.Created.Unix(), int64(op.Created.Nanosecond())}
		}
		w.Add = a
	case oxbow.Update:
		w.Update = (*wireUpdate)(&op)
	case oxbow.Alias:
		w.Alias = (*wireAlias)(&op)
	case oxbow.Relabel:
		w.Relabel = (*wireRelabel)(&op)
	case oxbow.Remove:
		w.Remove = (*wireRemove)(&op)
	default:
		err = fmt.Errorf("%w: a change of type %T", oxbow.ErrUnsupported, op)
	}
	return w, err
}

// op returns the op of an envelope.
func (w wireOp) op() (oxbow.Op, error) {
	switch {
	case w.Add != nil:
		a := w.Add
		op := oxbow.Add{Name: a.Name, Kind: a.Kind, Content: a.Content, Aliases: a.Aliases, Labels: a.Labels, UniqueAliases: a.UniqueAliases}
		if a.Created != nil {
			op.Created = time.Unix(a.Created[0], a.Created[1]).UTC()
		}
		return op, nil
	case w.Update != nil:
		return oxbow.Update(*w.Update), nil
	case w.Alias != nil:
		return oxbow.Alias(*w.Alias), nil
	case w.Relabel != nil:
		return oxbow.Relabel(*w.Relabel), nil
	case w.Remove != nil:
		return oxbow.Remove(*w.Remove), nil
	}
	return nil, fmt.Errorf("%w: an envelope has an op of no known kind; a newer oxbow wrote it: update this one", oxbow.ErrVersion)
}

// ops returns the ops of a change.
func (c *change) ops() ([]oxbow.Op, error) {
	ops := make([]oxbow.Op, len(c.Ops))
	for i, w := range c.Ops {
		op, err := w.op()
		if err != nil {
			return nil, err
		}
		ops[i] = op
	}
	return ops, nil
}

// stamp sets what the change carries besides what it does, as the store of a file
// would.
func (c *change) stamp(ctx context.Context, base oxbow.Source) error {
	c.OpID = oxbow.OpIDFrom(ctx)
	if len(c.OpID) > 64 || strings.ToValidUTF8(c.OpID, "") != c.OpID {
		return &oxbow.InvalidError{Field: "op id", Value: text.Clip(strings.ToValidUTF8(c.OpID, "?"), 40), Reason: "is longer than 64 bytes, or not UTF-8"}
	}
	c.Note = strings.ToValidUTF8(oxbow.NoteFrom(ctx), "\ufffd")
	s, ok := oxbow.SourceFrom(ctx)
	if !ok {
		s = base
	}
	s.Door, s.Time = cmp.Or(s.Door, base.Door), time.Time{}
	for _, p := range []*string{&s.Door, &s.Session, &s.Profile, &s.Ref, &s.Claimed.Client, &s.Claimed.Agent} {
		*p = text.Clip(strings.ToValidUTF8(*p, "\ufffd"), 200)
	}
	c.Source = s
	return nil
}

// context returns the context that a replica makes the change with.
func (c *change) context() context.Context {
	ctx := oxbow.WithSource(context.Background(), c.Source)
	if c.OpID != "" {
		ctx = oxbow.WithOpID(ctx, c.OpID)
	}
	if c.Note != "" {
		ctx = oxbow.WithNote(ctx, c.Note)
	}
	return ctx
}
