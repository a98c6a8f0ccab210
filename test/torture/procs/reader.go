//go:build unix

// This file implements the goroutines that read the store during the test. A read must be at least as new as all
// changes that were acknowledged before the read, and as the earlier reads of the same goroutine.

package procs

import (
	"context"
	"math/rand/v2"
)

// readingGoroutine reads entries through a tested process, and checks that the answers are possible.
type readingGoroutine struct {
	run                *processCampaign
	proc               *processRole
	rand               *rand.Rand
	highestVersionRead map[string]uint64 // for each name, the highest version that this goroutine has read
}

// readUntilEnd reads until the campaign is over.
func (r *readingGoroutine) readUntilEnd(ctx context.Context) {
	for ctx.Err() == nil && !r.run.isOver() {
		if len(r.highestVersionRead) > 20_000 {
			clear(r.highestVersionRead)
		}
		ok := true
		switch x := r.rand.IntN(10); {
		case x < 2 && r.proc.kind == procKindLibrary:
			ok = r.checkListedEntries(ctx)
		case x < 4 && r.proc.kind == procKindLibrary:
			ok = r.searchEntry(ctx, verbOpenAndRecall)
		case x < 6:
			ok = r.readEntry(ctx)
		default:
			ok = r.searchEntry(ctx, verbRecall)
		}
		if ok {
			r.run.reads.Add(1)
		}
	}
}

// readEntry reads an entry that was recently changed, and checks the answer. It returns false if no entry was changed
// recently, if the call failed, or if the process refused the read although the entry was not missing. It reports such
// a refusal as a violation.
func (r *readingGoroutine) readEntry(ctx context.Context) bool {
	name, before, ok := r.run.ledger.recentName(r.rand.Int())
	if !ok {
		return false
	}
	a, _, err := r.proc.callUntilAnswered(ctx, callRequest{Verb: verbGet, Name: name})
	if err != nil {
		return false
	}
	if a.Refusal != "" && a.Refusal != refusalEntryMissing {
		r.run.reportViolation("read: %s would not get %q: %s", r.proc.name, name, a.Refusal)
		return false
	}
	r.checkReadResult("get", name, before, r.run.ledger.knownEntryState(name), a.Refusal == "", a.Version)
	after := r.run.ledger.knownEntryState(name)
	isStill := before.requestedChangeCount == after.requestedChangeCount &&
		// All requested changes of the entry were answered, so the entry was not changed while it was read.
		before.requestedChangeCount == before.answeredChangeCount
	isJudged := a.Refusal == "" && !before.isSharedByWriters
	if isJudged && isStill {
		if tag := firstWord(a.Content); tag != before.lastOpID && !before.isRemoved {
			r.run.reportViolation(
				"mixed: %s read %q as %s wrote it, at version %d; acknowledged is %s",
				r.proc.name,
				name,
				tag,
				a.Version,
				before.lastOpID,
			)
		}
	}
	return true
}

// searchEntry recalls a recently written entry with the given verb. The query is the entry's name, which occurs in no
// other entry. If the answer does not contain the entry in a state that it had during the call, searchEntry reports a
// violation. It returns false if there is no entry, or if the call was unanswered or refused.
func (r *readingGoroutine) searchEntry(ctx context.Context, verb string) bool {
	name, before, ok := r.run.ledger.recentName(r.rand.Int())
	if !ok {
		return false
	}
	a, _, err := r.proc.callUntilAnswered(ctx, callRequest{Verb: verb, Query: name})
	if err != nil {
		return false
	}
	if a.Refusal != "" {
		r.run.reportViolation("read: %s would not recall %q: %s", r.proc.name, name, a.Refusal)
		return false
	}
	v, found := a.VersionsByName[name]
	r.checkReadResult(verb, name, before, r.run.ledger.knownEntryState(name), found, v)
	return true
}

// checkListedEntries lists the names and versions of all entries in a single call, and checks them. It returns false if
// the call failed.
func (r *readingGoroutine) checkListedEntries(ctx context.Context) bool {
	before := r.run.ledger.allStates()
	a, _, err := r.proc.callUntilAnswered(ctx, callRequest{Verb: verbListNames})
	if err != nil {
		return false
	}
	if a.Refusal != "" {
		r.run.reportViolation("read: %s would not list: %s", r.proc.name, a.Refusal)
		return false
	}
	after := r.run.ledger.allStates()
	var last uint64
	for _, v := range a.VersionsByName {
		last = max(last, v)
	}
	for name, b := range before {
		f, ok := after[name]
		if !ok {
			f = knownEntryState{
				isRemoved:            true,
				isRemovalRequested:   true,
				requestedChangeCount: b.requestedChangeCount + 1,
			}
		}
		v, found := a.VersionsByName[name]
		r.checkReadResult("list", name, b, f, found, v)
	}
	for name, f := range after {
		// The variable last is the number of the newest change in the list. The list must show every earlier change,
		// even a change that was acknowledged only after the list was requested. Report a violation if the list does
		// not show an entry's last change, although the number of this change is smaller than last. Check only entries
		// whose last change is known.
		isSettled := !f.isRemoved && !f.isSharedByWriters && f.requestedChangeCount == f.answeredChangeCount
		if !isSettled || f.version > last {
			continue
		}
		if v := a.VersionsByName[name]; v != f.version {
			r.run.reportViolation(
				"hole: %s shows change %d, and of %q version %d, not %d",
				r.proc.name,
				last,
				name,
				v,
				f.version,
			)
		}
	}
	return true
}

// checkReadResult checks the result of reading the entry with the given name, and reports a violation if the result is
// impossible. The arguments before and after contain what the test knew about the entry at the beginning and at the end
// of the read.
func (r *readingGoroutine) checkReadResult(
	readKind, name string,
	before, after knownEntryState,
	found bool,
	version uint64,
) {
	if before.version == 0 && !before.isRemoved {
		return // no change of the entry was acknowledged yet, so any answer is possible
	}
	quiet := before.requestedChangeCount == before.answeredChangeCount &&
		after.requestedChangeCount == before.requestedChangeCount
	switch {
	case !found && !after.isRemovalRequested && !after.isRemoved:
		r.run.reportViolation(
			"stale: %s, by %s, does not show %q, whose version %d was acknowledged before",
			r.proc.name,
			readKind,
			name,
			before.version,
		)
	case found && before.isRemoved:
		r.run.reportViolation(
			"stale: %s, by %s, shows version %d of %q, which was forgotten before",
			r.proc.name,
			readKind,
			version,
			name,
		)
	case found && version < before.version:
		r.run.reportViolation(
			"stale: %s, by %s, shows version %d of %q; version %d was acknowledged before",
			r.proc.name,
			readKind,
			version,
			name,
			before.version,
		)
	case found && version < r.highestVersionRead[name]:
		r.run.reportViolation(
			"back: %s, by %s, shows version %d of %q, after version %d",
			r.proc.name,
			readKind,
			version,
			name,
			r.highestVersionRead[name],
		)
	case found && quiet && !before.isSharedByWriters && version != before.version:
		r.run.reportViolation(
			"mixed: %s, by %s, shows version %d of %q, of which nothing but version %d was asked for",
			r.proc.name,
			readKind,
			version,
			name,
			before.version,
		)
	}
	if found {
		r.highestVersionRead[name] = max(r.highestVersionRead[name], version)
	}
}
