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

// minUncompactedChanges is the number of changes that a compaction keeps at least. The auditor compares the store's log
// with the answers of the writing processes. The kept changes are the newest changes that the auditor has read, so that
// it has read all dropped changes.
const minUncompactedChanges = 100

// logAuditor compares the store's log with the answers that the writing processes have given. It reads the log through
// a memory of its own, which stays open.
type logAuditor struct {
	campaignRun       *processCampaign
	memory            *oxbow.Memory
	readChangeCount   uint64      // number of changes that were read
	recentChangeTimes []time.Time // times of the last minUncompactedChanges changes that were read
	foundChangeCount  int         // number of changes read from the log that the writing goroutines have made
}

func newAuditor(r *processCampaign) (*logAuditor, error) {
	m, err := oxbow.Open(filepath.Join(r.opts.Dir, storeFile), &oxbow.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &logAuditor{campaignRun: r, memory: m}, nil
}

// readNewChanges reads the new changes in the log and compares them with the changes that processes requested. The
// ledger contains these requests and their answers. If a change was answered before this call, the comparison is final:
// an acknowledged change must be in the log by now, and a refused change must not be there.
func (a *logAuditor) readNewChanges(ctx context.Context) error {
	open := a.campaignRun.ledger.changesNotInLog()
	var news []oxbow.Change
	for c, err := range a.memory.Log(ctx) {
		if err != nil {
			return fmt.Errorf("reading the log: %w", err)
		}
		if c.Seq <= a.readChangeCount {
			break
		}
		news = append(news, c)
	}
	slices.Reverse(news)
	for _, c := range news {
		if c.Seq != a.readChangeCount+1 {
			return fmt.Errorf("lost: the log goes from change %d to change %d", a.readChangeCount, c.Seq)
		}
		a.readChangeCount = c.Seq
		a.recentChangeTimes = append(a.recentChangeTimes, c.Time)
		for _, v := range c.Versions {
			a.foundChangeCount++
			var err error
			if v.Verb == oxbow.VerbRemove {
				err = a.campaignRun.ledger.recordFoundRemoval(v.Entry.Name, c.Seq)
			} else {
				err = a.campaignRun.ledger.recordFoundChange(firstWord(v.Entry.Content), v.Entry.Name, c.Seq)
			}
			if err != nil {
				return err
			}
		}
	}
	a.recentChangeTimes = a.recentChangeTimes[max(0, len(a.recentChangeTimes)-minUncompactedChanges):]
	return a.checkAnsweredChanges(open)
}

// checkAnsweredChanges checks the changes in notFoundChanges, which were not found in the log before its last part was
// read. A change that was acknowledged must be in the log now, with the acknowledged number. A change that was refused
// must not be there. Changes that were not answered are not checked.
func (a *logAuditor) checkAnsweredChanges(notFoundChanges map[string]requestedChange) error {
	now := a.campaignRun.ledger.changesNotInLog()
	var tags []string
	for tag, was := range notFoundChanges {
		c := now[tag]
		switch {
		case was.outcome == requestUnanswered:
			continue
		case was.outcome == requestAcknowledged && c.numberInLog == 0:
			return fmt.Errorf(
				"lost: %s of %q (%s) was acknowledged at version %d and is not in the log, which ends at change %d",
				tag,
				c.name,
				c.callVerb,
				c.version,
				a.readChangeCount,
			)
		case was.outcome == requestAcknowledged && c.version != 0 && c.version != c.numberInLog:
			return fmt.Errorf(
				"mixed: %s of %q was acknowledged as change %d and is change %d",
				tag,
				c.name,
				c.version,
				c.numberInLog,
			)
		case was.outcome == requestRefused && c.numberInLog != 0:
			return fmt.Errorf("ghost: %s of %q was refused and is in the log as change %d", tag, c.name, c.numberInLog)
		}
		tags = append(tags, tag)
	}
	a.campaignRun.ledger.removeVerifiedChanges(tags)
	return nil
}

// auditUntilEnd alternates two actions until the test ends: it compares the log with the answers of the writing
// processes, and it lets a process compact the log. This process is sometimes killed during a compaction.
func (a *logAuditor) auditUntilEnd(ctx context.Context, rnd *rand.Rand, compactor *processRole) {
	var kills sync.WaitGroup
	defer kills.Wait()
	tick := time.NewTicker(a.campaignRun.opts.CompactEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.campaignRun.stop:
			return
		case <-tick.C:
		}
		if err := a.readNewChanges(ctx); err != nil {
			a.campaignRun.reportErrors(ctx, err)
			return
		}
		if len(a.recentChangeTimes) < minUncompactedChanges {
			continue
		}
		// Kill the process during one in three compactions. A compaction takes a few milliseconds.
		if rnd.IntN(3) == 0 {
			after := time.Duration(rnd.Int64N(int64(8 * time.Millisecond)))
			kills.Go(func() {
				if a.campaignRun.waitUnlessStopped(ctx, after) && compactor.kill() {
					a.campaignRun.kills.Add(1)
				}
			})
		}
		// The compaction may drop all changes before this time, because the auditor has already read them.
		ans, retries, err := compactor.callUntilAnswered(
			ctx,
			callRequest{Verb: verbCompact, DropBefore: a.recentChangeTimes[0]},
		)
		a.campaignRun.retries.Add(int64(retries))
		switch {
		case err != nil:
			return
		case ans.Refusal != "":
			a.campaignRun.reportViolation("refused: %s would not compact: %s", compactor.name, ans.Refusal)
		case ans.Version != 0:
			a.campaignRun.compactions.Add(1)
		}
	}
}

// auditFinalState compares the final state of the store with the changes that the writing processes have requested.
func (a *logAuditor) auditFinalState(ctx context.Context) error {
	if err := a.readNewChanges(ctx); err != nil {
		return err
	}
	if open := a.campaignRun.ledger.changesNotInLog(); len(open) > 0 {
		return fmt.Errorf("hung: %d changes were never answered, such as %v", len(open), pickAnyChange(open))
	}
	m, err := oxbow.Open(filepath.Join(a.campaignRun.opts.Dir, storeFile), nil)
	if err != nil {
		return fmt.Errorf("opening the store in the end: %w", err)
	}
	// This compaction removes the files that killed compactions have left. It must not fail.
	var errs []error
	if _, err := m.Compact(ctx, oxbow.Compaction{Before: time.Now()}); err != nil {
		errs = append(errs, fmt.Errorf("refused: compacting in the end: %w", err))
	}
	live := a.campaignRun.ledger.expectedEntryStates()
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
		case !f.isSharedByWriters && (f.version != e.Version || f.lastOpID != firstWord(e.Content)):
			errs = append(
				errs,
				fmt.Errorf(
					"mixed: %q is at version %d by %s in the end, not at %d by %s",
					e.Name,
					e.Version,
					firstWord(e.Content),
					f.version,
					f.lastOpID,
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

func pickAnyChange(m map[string]requestedChange) requestedChange {
	for _, c := range m {
		return c
	}
	return requestedChange{}
}
