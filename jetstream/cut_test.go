// This file tests the replacement of a server while another server is disconnected. Issue 7545 of nats-server describes
// a failure in this situation.

package jetstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// TestReplaceCut tests Replace, which replaces a server of a cluster by another server. The test disconnects the server
// that leads the cluster as soon as Replace begins to remove the old server. Replace must fail with ErrBusy. When the
// network works again, another call of Replace must complete the replacement, unless it is already complete. No brain
// may lose an entry.
func TestReplaceCut(t *testing.T) {
	t.Parallel()
	ns := startNodes(t, true)
	c := connectTrio(t, ns.urls, Options{Partitions: 2})
	all := fillBrains(t, c, false)
	want := accounts(t, all)
	s := healthy(t, c)
	lead := slices.IndexFunc(s.Servers, func(s ServerStatus) bool { return s.Leads })
	old := ns.all[(lead+1)%3]
	old.kill()
	finds(t, c, old.options.Name, "does not answer")
	fourth := &node{t: t, options: old.options, inside: old.inside} // the new server, which has a different name
	fourth.options.Name, fourth.options.Dir = "n3", t.TempDir()
	fourth.start()
	t.Cleanup(fourth.kill)
	fourth.await()
	replace := func(o ReplaceOptions) (ReplaceReport, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		for {
			rep, err := c.Replace(ctx, old.options.Name, o)
			if err == nil || !errors.Is(err, oxbow.ErrBusy) || (rep.Step != "" && rep.Step != StepAuditBefore) ||
				!sleepUnlessCanceled(ctx, 100*time.Millisecond) {
				return rep, err
			}
		}
	}
	cut := false
	rep, err := replace(ReplaceOptions{Wait: 2 * time.Second, Progress: func(r ReplaceReport) {
		if r.Step == StepRemove && !cut {
			cut = true
			ns.cut(lead, true)
		}
	}})
	t.Logf("cut off %s: %s, %v", ns.all[lead].options.Name, rep.Step, err)
	if !cut || err == nil || !errors.Is(err, oxbow.ErrBusy) || !strings.Contains(err.Error(), "call it again") {
		t.Errorf("Replace() = %+v, %v, want ErrBusy and what to do", rep, err)
	}
	ns.cut(lead, false)
	for ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second); ; {
		rep, err = c.Replace(ctx, old.options.Name, ReplaceOptions{Wait: 20 * time.Second})
		if err == nil {
			cancel()
			if rep.Step != StepDone || len(rep.After.Findings) > 0 {
				t.Errorf("Replace() again = %+v", rep)
			}
			break
		}
		if isReplaced(err) {
			cancel()
			break
		}
		if !errors.Is(err, oxbow.ErrBusy) || !sleepUnlessCanceled(ctx, 100*time.Millisecond) {
			t.Fatalf("Replace() again = %+v, %v", rep, err)
		}
	}
	s = healthy(t, c)
	if len(s.Servers) != 3 || s.Servers[2].Name != "n3" {
		t.Errorf("the servers are %+v", s.Servers)
	}
	for name, s := range all {
		if got := account(t, s); got != want[name] {
			t.Errorf("brain %s is\n%.2000s\nwant\n%.2000s", name, got, want[name])
		}
		if err := s.Apply(t.Context(), oxbow.Add{Name: "after"}); err != nil {
			t.Errorf("Apply() to %s = %v", name, err)
		}
	}
	if rep, err := c.Audit(t.Context()); err != nil || len(rep.Findings) > 0 || rep.Brains != len(all) {
		t.Errorf("Audit() = %+v, %v", rep, err)
	}
}

// isReplaced reports whether err is Replace's error for a server that is already removed, while all streams are whole.
// A repeated call of Replace returns this error if the servers removed the old server themselves as soon as they were
// connected again. The test then counts the replacement as done.
func isReplaced(err error) bool {
	return errors.Is(err, oxbow.ErrNotFound) &&
		strings.Contains(err.Error(), "not any more, and all streams are whole")
}
