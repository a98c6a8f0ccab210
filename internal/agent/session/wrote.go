// This file finds the calls with which a client wrote a file.

package session

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// reportNear is the maximum delay between a change and the report of the call that made it.
const reportNear = time.Minute

// Wrote reports whether a call by the client made a file's latest change, which happened at the
// time changed. The call must have been reported between doubleNear before and reportNear after it.
// The taints are the calls that returned text by others earlier in a turn in which the client wrote
// the file after since. Reading own files does not count.
func (a *Archive) Wrote(
	ctx context.Context,
	client, file string,
	since, changed time.Time,
	own []string,
) (taints []string, wrote bool, err error) {
	f := TurnFilter.And(oxbow.Filter{
		Terms: []oxbow.Term{{Key: "client", Values: []string{client}}},
		After: since.Add(-runningFor),
	})
	hits, err := a.Memory.Recall(ctx, oxbow.Query{Limit: oxbow.MaxLimit, Filter: f})
	for _, h := range hits {
		t, err := Parse(h.Entry.Content)
		if err != nil {
			continue
		}
		for i := range t.Events {
			e := &t.Events[i]
			after := e.Time.Sub(changed)
			near := after >= -doubleNear && after <= reportNear
			isTooOld := !near && !e.Time.After(since)
			if isTooOld || !e.Wrote(file) {
				continue
			}
			wrote = wrote || near
			for _, s := range untracedCalls(t.Events[:i], t.Dir(), own...) {
				if !slices.Contains(taints, s) && len(taints) < maxTaints {
					taints = append(taints, s)
				}
			}
		}
	}
	return taints, wrote, err
}

// Wrote reports whether the event is a call that wrote a file.
func (e *Event) Wrote(file string) bool {
	file = path.Clean(unixPath(file))
	return e.Kind == Called && e.Call != nil && slices.ContainsFunc(e.Call.Wrote, func(p string) bool {
		p = unixPath(p)
		if !isAbs(p) {
			p = path.Join(unixPath(e.Dir), p)
		}
		rest, ok := cutFold(path.Clean(p), file, len(file) > 1 && file[1] == ':')
		return ok && rest == ""
	})
}
