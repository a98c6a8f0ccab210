//go:build unix

// This file implements the readers: a read must be at least as new as all changes
// acknowledged before, and as the reader's earlier reads.

package procs

import (
	"context"
	"math/rand/v2"
)

// reader is a goroutine that reads.
type reader struct {
	run  *run
	p    *proc
	rand *rand.Rand
	seen map[string]uint64 // highest version seen by name
}

// readAll reads until the campaign is over.
func (r *reader) readAll(ctx context.Context) {
	for ctx.Err() == nil && !r.run.over() {
		if len(r.seen) > 20_000 {
			clear(r.seen)
		}
		ok := true
		switch x := r.rand.IntN(10); {
		case x < 2 && r.p.kind == library:
			ok = r.readNames(ctx)
		case x < 4 && r.p.kind == library:
			ok = r.recall(ctx, glance)
		case x < 6:
			ok = r.get(ctx)
		default:
			ok = r.recall(ctx, recall)
		}
		if ok {
			r.run.reads.Add(1)
		}
	}
}

// get requests one entry.
func (r *reader) get(ctx context.Context) bool {
	name, before, ok := r.run.ledger.lately(r.rand.Int())
	if !ok {
		return false
	}
	a, _, err := r.p.ask(ctx, call{Verb: get, Name: name})
	if err != nil {
		return false
	}
	if a.Refused != "" && a.Refused != refusedMissing {
		r.run.violate("read: %s would not get %q: %s", r.p.name, name, a.Refused)
		return false
	}
	r.judge("get", name, before, r.run.ledger.look(name), a.Refused == "", a.Version)
	after := r.run.ledger.look(name)
	isStill := before.asked == after.asked && before.asked == before.settled // nobody wrote while get read
	isJudged := a.Refused == "" && !before.shared
	if isJudged && isStill {
		if tag := firstWord(a.Content); tag != before.tag && !before.gone {
			r.run.violate(
				"mixed: %s read %q as %s wrote it, at version %d; acknowledged is %s",
				r.p.name,
				name,
				tag,
				a.Version,
				before.tag,
			)
		}
	}
	return true
}

// recall searches for an entry by its name, which occurs in no other entry's text.
func (r *reader) recall(ctx context.Context, verb string) bool {
	name, before, ok := r.run.ledger.lately(r.rand.Int())
	if !ok {
		return false
	}
	a, _, err := r.p.ask(ctx, call{Verb: verb, Query: name})
	if err != nil {
		return false
	}
	if a.Refused != "" {
		r.run.violate("read: %s would not recall %q: %s", r.p.name, name, a.Refused)
		return false
	}
	v, found := a.Names[name]
	r.judge(verb, name, before, r.run.ledger.look(name), found, v)
	return true
}

// readNames reads all entries at once.
func (r *reader) readNames(ctx context.Context) bool {
	before := r.run.ledger.all()
	a, _, err := r.p.ask(ctx, call{Verb: names})
	if err != nil {
		return false
	}
	if a.Refused != "" {
		r.run.violate("read: %s would not list: %s", r.p.name, a.Refused)
		return false
	}
	after := r.run.ledger.all()
	var last uint64
	for _, v := range a.Names {
		last = max(last, v)
	}
	for name, b := range before {
		f, ok := after[name]
		if !ok {
			f = fact{gone: true, leaving: true, asked: b.asked + 1}
		}
		v, found := a.Names[name]
		r.judge("list", name, b, f, found, v)
	}
	for name, f := range after {
		// If the read shows some change, every older change must be visible, even if the older
		// change was acknowledged only after the read began.
		isSettled := !f.gone && !f.shared && f.asked == f.settled
		if !isSettled || f.version > last {
			continue
		}
		if v := a.Names[name]; v != f.version {
			r.run.violate("hole: %s shows change %d, and of %q version %d, not %d", r.p.name, last, name, v, f.version)
		}
	}
	return true
}

// judge checks the result of a read of a name. before and after are the known states when
// the read began and ended.
func (r *reader) judge(how, name string, before, after fact, found bool, version uint64) {
	if before.version == 0 && !before.gone {
		return // no change of the name was acknowledged yet
	}
	quiet := before.asked == before.settled && after.asked == before.asked
	switch {
	case !found && !after.leaving && !after.gone:
		r.run.violate(
			"stale: %s, by %s, does not show %q, whose version %d was acknowledged before",
			r.p.name,
			how,
			name,
			before.version,
		)
	case found && before.gone:
		r.run.violate(
			"stale: %s, by %s, shows version %d of %q, which was forgotten before",
			r.p.name,
			how,
			version,
			name,
		)
	case found && version < before.version:
		r.run.violate(
			"stale: %s, by %s, shows version %d of %q; version %d was acknowledged before",
			r.p.name,
			how,
			version,
			name,
			before.version,
		)
	case found && version < r.seen[name]:
		r.run.violate(
			"back: %s, by %s, shows version %d of %q, after version %d",
			r.p.name,
			how,
			version,
			name,
			r.seen[name],
		)
	case found && quiet && !before.shared && version != before.version:
		r.run.violate(
			"mixed: %s, by %s, shows version %d of %q, of which nothing but version %d was asked for",
			r.p.name,
			how,
			version,
			name,
			before.version,
		)
	}
	if found {
		r.seen[name] = max(r.seen[name], version)
	}
}
