// This file applies a tenant's limits to undo and restore, because restored text needs as much room as new text.

package tenant

import (
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// WrapHistory returns a history that refuses changes that the limit does not allow (see [oxbow.Options.History]). If l
// is nil, it returns h.
func (l *Limit) WrapHistory(h oxbow.Historian) oxbow.Historian {
	if l == nil {
		return h
	}
	return &limitedHistory{h, l}
}

// limitedHistory is a history that refuses changes that the limit does not allow.
type limitedHistory struct {
	oxbow.Historian
	limit *Limit
}

// ReadsFrom returns the history from which s reads (see [oxbow.Options.History]).
func (s *limitedHistory) ReadsFrom() oxbow.Historian { return s.Historian }

// checkOpsAllowed returns an [oxbow.QuotaError] if the tenant's limit does not allow the ops. If the caller could not
// determine the ops, opsErr is the reason, and checkOpsAllowed returns it. It allows an empty list of ops, because the
// store reports this mistake better.
func (s *limitedHistory) checkOpsAllowed(ctx context.Context, ops []oxbow.Op, opsErr error) error {
	if opsErr != nil || len(ops) == 0 {
		return opsErr
	}
	return s.limit.Allow(ctx, s.Historian, ops)
}

// Apply implements [oxbow.Store]. It returns an error if the tenant's limit does not allow the ops. The limit must also
// be checked here, because some packages plan an undo by themselves and then call Apply.
func (s *limitedHistory) Apply(ctx context.Context, ops ...oxbow.Op) error {
	if err := s.checkOpsAllowed(ctx, ops, nil); err != nil {
		return err
	}
	return s.Historian.Apply(ctx, ops...)
}

// Commit implements [oxbow.Committer].
func (s *limitedHistory) Commit(ctx context.Context, ops ...oxbow.Op) (oxbow.Change, error) {
	if err := s.checkOpsAllowed(ctx, ops, nil); err != nil {
		return oxbow.Change{}, err
	}
	return oxbow.Commit(ctx, s.Historian, ops...)
}

// Revert implements [oxbow.Historian].
func (s *limitedHistory) Revert(ctx context.Context, seqs ...uint64) (uint64, error) {
	ops, err := s.opsToUndo(ctx, seqs)
	if err := s.checkOpsAllowed(ctx, ops, err); err != nil {
		return 0, err
	}
	return s.Historian.Revert(ctx, seqs...)
}

// Restore implements [oxbow.Historian].
func (s *limitedHistory) Restore(ctx context.Context, name string, seq uint64) (uint64, error) {
	if err := s.checkRestoreAllowed(ctx, name, seq); err != nil {
		return 0, err
	}
	return s.Historian.Restore(ctx, name, seq)
}

// RestoreIf implements [oxbow.Historian].
func (s *limitedHistory) RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error) {
	if err := s.checkRestoreAllowed(ctx, name, seq); err != nil {
		return 0, err
	}
	return s.Historian.RestoreIf(ctx, name, seq, version)
}

func (s *limitedHistory) checkRestoreAllowed(ctx context.Context, name string, seq uint64) error {
	ops, err := s.appendRestoreOp(ctx, nil, name, seq)
	return s.checkOpsAllowed(ctx, ops, err)
}

// opsToUndo returns ops that undo the changes with the numbers in the list seqs. The ops restore each changed entry to
// the version that the entry had before its first change in the list.
func (s *limitedHistory) opsToUndo(ctx context.Context, seqs []uint64) (ops []oxbow.Op, err error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	first, versions := slices.Min(seqs), map[string]uint64{}
	for c, err := range s.Log(ctx) {
		if err != nil {
			return nil, err
		}
		if c.Seq < first {
			break
		}
		if slices.Contains(seqs, c.Seq) {
			for _, v := range c.Versions {
				versions[v.Entry.Name] = v.Prev
			}
		}
	}
	for name, seq := range versions {
		ops, err = s.appendRestoreOp(ctx, ops, name, seq)
		if err != nil {
			return nil, err
		}
	}
	return ops, nil
}

// appendRestoreOp appends to ops the op that restores the named entry to its version in change seq. If seq is 0, or if
// this change removed the entry, the op removes the entry. It appends nothing if the entry has no versions, or if it
// would have to be removed and does not exist. The ops are only used to compute their size, so they contain no labels
// and aliases.
func (s *limitedHistory) appendRestoreOp(
	ctx context.Context,
	ops []oxbow.Op,
	name string,
	seq uint64,
) ([]oxbow.Op, error) {
	_, err := s.Get(ctx, name)
	if err != nil && !errors.Is(err, oxbow.ErrNotFound) {
		return nil, err
	}
	exists := err == nil
	if seq != 0 {
		for v, err := range s.Versions(ctx, name) {
			switch {
			case errors.Is(err, oxbow.ErrNotFound):
				return ops, nil
			case err != nil:
				return nil, err
			case v.Seq == seq && v.Verb != oxbow.VerbRemove && exists:
				return append(ops, oxbow.Update{Name: name, Content: v.Entry.Content}), nil
			case v.Seq == seq && v.Verb != oxbow.VerbRemove:
				return append(ops, oxbow.Add{Name: name, Content: v.Entry.Content}), nil
			}
		}
	}
	if exists {
		ops = append(ops, oxbow.Remove{Name: name})
	}
	return ops, nil
}
