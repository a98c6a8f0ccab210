// This file tests the replacement of a server that is lost for good, while another server fails too.

package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// offline waits until the other servers report that a server is down.
func offline(t *testing.T, c *Cluster, name string) {
	t.Helper()
	finds(t, c, name, "does not answer")
	finds(t, c, name, "is offline")
}

// TestReplace tests the replacement of a server (n2) that is lost for good by a fourth server (n3). While the
// replacement runs, another server (n1) is stopped, so the replacement fails. After n1 has returned, Replace must
// finish. No acknowledged change may be lost, and the resulting three servers must tolerate the loss of one of them.
func TestReplace(t *testing.T) {
	t.Parallel()
	tr := threeServers(t)
	c := connectTrio(t, tr.urls, Options{Partitions: 2})
	all := fillBrains(t, c, false)
	want := accounts(t, all)
	healthy(t, c)
	began := time.Now()
	mark := func(what string) { t.Logf("%5.1f s: %s", time.Since(began).Seconds(), what) }
	replace := func(old string, o ReplaceOptions, want error, text string) ReplaceReport {
		t.Helper()
		rep, err := c.Replace(t.Context(), old, o)
		if !errors.Is(err, want) || (err != nil && !strings.Contains(err.Error(), text)) {
			t.Fatalf("Replace(%s) = %+v, %v, want %v with %q", old, rep, err, want, text)
		}
		return rep
	}
	replace("n2", ReplaceOptions{}, oxbow.ErrBusy, "n2 runs")
	replace("n9", ReplaceOptions{}, oxbow.ErrNotFound, "there are n0, n1, n2")
	tr.servers[2].Shutdown()
	offline(t, c, "n2")
	replace("n2", ReplaceOptions{}, oxbow.ErrBusy, "Start one of another name")
	replace("n1", ReplaceOptions{}, oxbow.ErrBusy, "n2 is down, too")

	addrs := freeAddresses(t, 1)
	fourth, err := server.Start(server.Options{Name: "n3", Dir: t.TempDir(), Secret: secret, Cluster: addrs[0],
		Peers: append(addrs, tr.options[0].Peers...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fourth.Shutdown)
	for ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second); ; {
		rep, err := c.Replace(ctx, "n2", ReplaceOptions{DryRun: true})
		if err == nil && rep.Step == StepAuditBefore && rep.Before.Brains == 4 {
			cancel()
			break
		}
		if !sleepUnlessCanceled(ctx, 100*time.Millisecond) {
			t.Fatalf("Replace() as a dry run = %+v, %v", rep, err)
		}
	}
	mark("a fourth has joined")
	if s, err := c.Status(t.Context()); err != nil || len(s.Servers) != 4 {
		t.Errorf("Status() after a dry run has the servers %+v, %v", s.Servers, err)
	}

	// Another server fails as soon as the first one was removed.
	failed := false
	rep := replace("n2", ReplaceOptions{Wait: 2 * time.Second, Progress: func(r ReplaceReport) {
		mark(string(r.Step))
		if r.Step == StepRemove && !failed {
			failed = true
			go tr.servers[1].Shutdown()
		}
	}}, oxbow.ErrBusy, "call it again")
	if rep.Step != StepWait && rep.Step != StepRemove {
		t.Errorf("the replacement ended at %s", rep.Step)
	}
	mark("the replacement gave up")
	late := connectTrioOr(t, fourth.URL())
	if late != nil { // a reader must get the right answer or an error
		if s, err := late.Open(t.Context(), "acme", "con"); err == nil {
			if e, err := s.Get(t.Context(), "e1"); errors.Is(err, oxbow.ErrNotFound) ||
				(err == nil && e.Content != "con") {
				t.Errorf("Get() = %+v, %v during the replacement", e, err)
			}
			_ = s.Close()
		}
	}
	mark("what it answers was compared")
	again, err := server.Start(tr.options[1])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(again.Shutdown)
	for ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second); ; {
		rep, err = c.Replace(ctx, "n2", ReplaceOptions{})
		mark(fmt.Sprintf("again: %s %v", rep.Step, err))
		if err == nil {
			cancel()
			if rep.Step != StepDone || rep.Whole != 3 || rep.After.Brains != 4 ||
				len(rep.After.Findings) > 0 {
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
	s := healthy(t, c)
	if len(s.Servers) != 3 || s.Servers[2].Name != "n3" {
		t.Errorf("the servers are %+v", s.Servers)
	}
	for name, s := range all {
		if got := account(t, s); got != want[name] {
			t.Errorf("brain %s is\n%.2000s\nwant\n%.2000s", name, got, want[name])
		}
	}

	tr.servers[0].Shutdown()
	for name, s := range all {
		if err := s.Apply(t.Context(), oxbow.Add{Name: "after"}); err != nil {
			t.Errorf("Apply() to %s without n0 = %v", name, err)
		}
		if rep, err := s.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
			t.Errorf("Check() = %v, %v, want no problems", rep.Problems, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// connectTrioOr connects to the servers at the addresses urls. It returns nil if Connect fails or does not succeed
// within two seconds.
func connectTrioOr(t *testing.T, urls string) *Cluster {
	nc, system := dial(t, urls)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	c, err := Connect(ctx, nc, &Options{System: system, ReadWait: time.Second})
	if err != nil {
		return nil
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
