//go:build unix

// This file implements the auditor. The auditor reads the log while the log grows, compares the log with the
// acknowledged changes, and compacts the part of the history that it has read.

package procs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// keptChanges is the number of the newest read changes that a compaction does not remove from the history.
const keptChanges = 100

// auditor reads the log with its own memory, which stays open.
type auditor struct {
	run         *run
	memory      *oxbow.Memory
	readCount   uint64      // number of changes that were read
	changeTimes []time.Time // times of the last keptChanges changes that were read
	changes     int         // number of read changes that lanes made
}

func newAuditor(r *run) (*auditor, error) {
	m, err := oxbow.Open(filepath.Join(r.opts.Dir, storeFile), &oxbow.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &auditor{run: r, memory: m}, nil
}

// readNewChanges reads the new changes in the log. For changes that were answered before readNewChanges was called,
// the result of the comparison is final.
func (a *auditor) readNewChanges(ctx context.Context) error {
	open := a.run.ledger.openChanges()
	var news []oxbow.Change
	for c, err := range a.memory.Log(ctx) {
		if err != nil {
			return fmt.Errorf("reading the log: %w", err)
		}
		if c.Seq <= a.readCount {
			break
		}
		news = append(news, c)
	}
	slices.Reverse(news)
	for _, c := range news {
		if c.Seq != a.readCount+1 {
			return fmt.Errorf("lost: the log goes from change %d to change %d", a.readCount, c.Seq)
		}
		a.readCount = c.Seq
		a.changeTimes = append(a.changeTimes, c.Time)
		for _, v := range c.Versions {
			a.changes++
			var err error
			if v.Verb == oxbow.VerbRemove {
				err = a.run.ledger.recordRemovalFound(v.Entry.Name, c.Seq)
			} else {
				err = a.run.ledger.recordFound(firstWord(v.Entry.Content), v.Entry.Name, c.Seq)
			}
			if err != nil {
				return err
			}
		}
	}
	a.changeTimes = a.changeTimes[max(0, len(a.changeTimes)-keptChanges):]
	return a.settleChanges(open)
}

// settleChanges compares the changes that were answered before the log was read with the log.
func (a *auditor) settleChanges(open map[string]change) error {
	now := a.run.ledger.openChanges()
	var tags []string
	for tag, was := range open {
		c := now[tag]
		switch {
		case was.outcome == outcomeAsked:
			continue
		case was.outcome == outcomeAcknowledged && c.seq == 0:
			return fmt.Errorf(
				"lost: %s of %q (%s) was acknowledged at version %d and is not in the log, which ends at change %d",
				tag,
				c.name,
				c.verb,
				c.version,
				a.readCount,
			)
		case was.outcome == outcomeAcknowledged && c.version != 0 && c.version != c.seq:
			return fmt.Errorf(
				"mixed: %s of %q was acknowledged as change %d and is change %d",
				tag,
				c.name,
				c.version,
				c.seq,
			)
		case was.outcome == outcomeRefused && c.seq != 0:
			return fmt.Errorf("ghost: %s of %q was refused and is in the log as change %d", tag, c.name, c.seq)
		}
		tags = append(tags, tag)
	}
	a.run.ledger.dropVerified(tags)
	return nil
}

// auditUntilEnd audits and compacts until the campaign is over. The compactor is also a process of the campaign and is
// sometimes killed during a compaction.
func (a *auditor) auditUntilEnd(ctx context.Context, rnd *rand.Rand, compactor *proc) {
	var kills sync.WaitGroup
	defer kills.Wait()
	tick := time.NewTicker(a.run.opts.CompactEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.run.stop:
			return
		case <-tick.C:
		}
		if err := a.readNewChanges(ctx); err != nil {
			a.run.reportErrors(ctx, err)
			return
		}
		if len(a.changeTimes) < keptChanges {
			continue
		}
		if rnd.IntN(3) == 0 { // A compaction takes a few milliseconds.
			after := time.Duration(rnd.Int64N(int64(8 * time.Millisecond)))
			kills.Go(func() {
				if a.run.waitOrEnd(ctx, after) && compactor.kill() {
					a.run.kills.Add(1)
				}
			})
		}
		// All changes before the oldest of these times were read, so they may be removed from the history.
		ans, retries, err := compactor.callUntilAnswered(ctx, call{Verb: verbCompact, Before: a.changeTimes[0]})
		a.run.retries.Add(int64(retries))
		switch {
		case err != nil:
			return
		case ans.Refusal != "":
			a.run.reportViolation("refused: %s would not compact: %s", compactor.name, ans.Refusal)
		case ans.Version != 0:
			a.run.compactions.Add(1)
		}
	}
}

// auditFinalState compares the final state of the store with the ledger.
func (a *auditor) auditFinalState(ctx context.Context) error {
	if err := a.readNewChanges(ctx); err != nil {
		return err
	}
	if open := a.run.ledger.openChanges(); len(open) > 0 {
		return fmt.Errorf("hung: %d changes were never answered, such as %v", len(open), anyChange(open))
	}
	m, err := oxbow.Open(filepath.Join(a.run.opts.Dir, storeFile), nil)
	if err != nil {
		return fmt.Errorf("opening the store in the end: %w", err)
	}
	// The next compaction removes the remaining files of killed compactions.
	var errs []error
	if _, err := m.Compact(ctx, oxbow.Compaction{Before: time.Now()}); err != nil {
		errs = append(errs, fmt.Errorf("refused: compacting in the end: %w", err))
	}
	live := a.run.ledger.liveNames()
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			errs = append(errs, err)
			break
		}
		f, ok := live[e.Name]
		delete(live, e.Name)
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("ghost: %q is there in the end, at version %d", e.Name, e.Version))
		case !f.isShared && (f.version != e.Version || f.tag != firstWord(e.Content)):
			errs = append(
				errs,
				fmt.Errorf(
					"mixed: %q is at version %d by %s in the end, not at %d by %s",
					e.Name,
					e.Version,
					firstWord(e.Content),
					f.version,
					f.tag,
				),
			)
		}
	}
	for name, f := range live {
		errs = append(errs, fmt.Errorf("lost: %q, version %d, is not there in the end", name, f.version))
	}
	for _, m := range []*oxbow.Memory{m, a.memory} {
		rep, err := m.Check(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("check: %w", err))
		}
		for _, p := range rep.Problems {
			errs = append(errs, fmt.Errorf("check: %s", p.What))
		}
	}
	return errors.Join(append(errs, m.Close())...)
}

func anyChange(m map[string]change) change {
	for _, c := range m {
		return c
	}
	return change{}
}
