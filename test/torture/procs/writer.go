//go:build unix

// This file implements the writers. Each tested process that writes is used by several goroutines, called lanes. A
// lane requests one change after another. It changes entries that only this lane writes, and entries that all lanes
// write.

package procs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// sharedEntryCount is the number of entries that all writing goroutines change. Before a goroutine changes such an
// entry, it reads the entry. The change then requires that the entry still has the version that was read.
const sharedEntryCount = 4

func sharedEntryName(i int) string { return fmt.Sprintf("shared%d", i) }

// maxEntriesPerGoroutine is the maximum number of entries that a writing goroutine has for itself. If it has that many,
// it adds no further entries, and only changes and removes entries.
const maxEntriesPerGoroutine = 40

// writingGoroutine is a goroutine that makes changes.
type writingGoroutine struct {
	run                  *processCampaign
	goroutineNumber      int
	proc                 *processRole
	rand                 *rand.Rand
	requestedChangeCount int      // number of changes that were requested
	ownEntryNames        []string // names of the existing entries that only this goroutine writes
	lastNameNumber       int      // number in the last new name that this goroutine has used
}

// writeUntilCampaignEnds makes random changes in the store until the test is over.
func (l *writingGoroutine) writeUntilCampaignEnds(ctx context.Context) {
	for ctx.Err() == nil && !l.run.isOver() {
		x := l.rand.IntN(100)
		switch {
		case x < 10:
			l.changeSharedEntry(ctx)
		case len(l.ownEntryNames) < 3 || (x < 50 && len(l.ownEntryNames) < maxEntriesPerGoroutine):
			l.lastNameNumber++
			l.changeOwnEntry(ctx, verbRemember, fmt.Sprintf("l%dx%d", l.goroutineNumber, l.lastNameNumber), 0)
		case x < 75:
			name := l.ownEntryNames[l.rand.IntN(len(l.ownEntryNames))]
			var at uint64
			if l.rand.IntN(2) == 0 {
				at = l.run.ledger.knownEntryState(name).version
			}
			l.changeOwnEntry(ctx, verbRemember, name, at)
		default:
			l.changeOwnEntry(ctx, verbForget, l.ownEntryNames[l.rand.IntN(len(l.ownEntryNames))], 0)
		}
	}
}

// newContent returns a random text for an entry. The text begins with the tag, which identifies the change, and
// contains the entry's name.
func (l *writingGoroutine) newContent(changeTag, name string) string {
	n := 1 + l.rand.IntN(40)
	if l.rand.IntN(200) == 0 {
		n = 8000 // make the text longer than a page, and longer than a step in which the log file grows
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", changeTag, name)
	for range n {
		fmt.Fprintf(&b, " word%d", l.rand.IntN(500))
	}
	return b.String()
}

// newCall returns the request for the goroutine's next change.
func (l *writingGoroutine) newCall(verb, name string, ifVersion uint64) callRequest {
	l.requestedChangeCount++
	c := callRequest{
		Verb:      verb,
		Name:      name,
		OpID:      fmt.Sprintf("op%dx%d", l.goroutineNumber, l.requestedChangeCount),
		IfVersion: ifVersion,
	}
	if verb == verbRemember {
		c.Content = l.newContent(c.OpID, name)
	}
	return c
}

// changeOwnEntry changes an entry that only this goroutine writes. Such a change must not be refused, because nobody
// else can have changed the entry.
func (l *writingGoroutine) changeOwnEntry(ctx context.Context, verb, name string, ifVersion uint64) {
	c := l.newCall(verb, name, ifVersion)
	l.run.ledger.recordRequest(c.OpID, name, verb, false)
	start := time.Now()
	a, retries, err := l.proc.callUntilAnswered(ctx, c)
	l.run.retries.Add(int64(retries))
	if err != nil {
		return
	}
	if a.Refusal != "" {
		l.run.reportViolation(
			"refused: %s would not %s %q for version %d (%d retries): %s",
			l.proc.name,
			verb,
			name,
			ifVersion,
			retries,
			a.Refusal,
		)
		return
	}
	if retries == 0 {
		l.run.changeDurations.sampleDuration(time.Since(start))
	}
	if verb == verbRemember && a.Version == 0 {
		l.run.reportViolation("answer: %s acknowledged %q without a version", l.proc.name, name)
		return
	}
	l.run.ledger.recordAnswer(c.OpID, requestAcknowledged, a.Version)
	had := -1
	for i, n := range l.ownEntryNames {
		if n == name {
			had = i
		}
	}
	switch {
	case verb == verbForget:
		l.ownEntryNames = append(l.ownEntryNames[:had], l.ownEntryNames[had+1:]...)
	case had < 0:
		l.ownEntryNames = append(l.ownEntryNames, name)
	}
	if l.rand.IntN(12) == 0 {
		l.repeatAnsweredCall(ctx, c, a)
	}
}

// repeatAnsweredCall repeats a call, like a client that lost the answer. The answer must be the same as before.
func (l *writingGoroutine) repeatAnsweredCall(ctx context.Context, c callRequest, firstAnswer callAnswer) {
	a, retries, err := l.proc.callUntilAnswered(ctx, c)
	l.run.retries.Add(int64(retries))
	l.run.repeatedChanges.Add(1)
	switch {
	case err != nil:
	case a.Refusal != "":
		l.run.reportViolation(
			"repeat: %s refused a second %s of %q with the same op id: %s",
			l.proc.name,
			c.Verb,
			c.Name,
			a.Refusal,
		)
	case c.Verb == verbRemember && a.Version != firstAnswer.Version:
		l.run.reportViolation(
			"twice: %s answered a second %s of %q with version %d, the first with %d",
			l.proc.name,
			c.Verb,
			c.Name,
			a.Version,
			firstAnswer.Version,
		)
	}
}

// changeSharedEntry changes an entry that all writing goroutines change. It first reads the entry. The change then
// requires that the entry still has the version that was read.
func (l *writingGoroutine) changeSharedEntry(ctx context.Context) {
	name := sharedEntryName(l.rand.IntN(sharedEntryCount))
	a, _, err := l.proc.callUntilAnswered(ctx, callRequest{Verb: verbGet, Name: name})
	if err != nil {
		return
	}
	if a.Refusal != "" {
		l.run.reportViolation("stale: %s has no %q: %s", l.proc.name, name, a.Refusal)
		return
	}
	c := l.newCall(verbRemember, name, a.Version)
	l.run.ledger.recordRequest(c.OpID, name, verbRemember, true)
	a, retries, err := l.proc.callUntilAnswered(ctx, c)
	l.run.retries.Add(int64(retries))
	switch {
	case err != nil:
	case a.Refusal == refusalVersionConflict:
		l.run.conflicts.Add(1)
		l.run.ledger.recordAnswer(c.OpID, requestRefused, 0)
	case a.Refusal != "":
		l.run.reportViolation("refused: %s would not change %q: %s", l.proc.name, name, a.Refusal)
	default:
		l.run.ledger.recordAnswer(c.OpID, requestAcknowledged, a.Version)
	}
}
