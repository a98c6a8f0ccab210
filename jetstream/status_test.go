// This file tests the status of three servers, and the problems that it reports.

package jetstream

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	api "github.com/nats-io/nats.go/jetstream"
	"github.com/oxbow-memory/oxbow"
)

// findings returns the findings as text, with a line for each.
func findings(fs []Finding) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&b, "%+v\n", f)
	}
	return b.String()
}

// healthy waits until the status of a cluster contains no findings.
func healthy(t *testing.T, c *Cluster) Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	for last := ""; ; {
		s, err := c.Status(ctx)
		if err == nil && len(s.Findings) == 0 {
			return s
		}
		if ctx.Err() == nil || last == "" {
			last = fmt.Sprint(findings(s.Findings), err)
		}
		if !sleepUnlessCanceled(ctx, 100*time.Millisecond) {
			t.Fatalf("Status() = %s, want a healthy cluster", last)
		}
	}
}

// finds waits until the cluster's status contains a finding about the given server whose text contains what. It returns
// this status. If no such finding appears within 30 seconds, finds ends the test.
func finds(t *testing.T, c *Cluster, server, what string) Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for last := ""; ; {
		s, err := c.Status(ctx)
		for _, f := range s.Findings {
			if f.Server == server && strings.Contains(f.What, what) {
				return s
			}
		}
		if ctx.Err() == nil || last == "" {
			last = fmt.Sprint(findings(s.Findings), err)
		}
		if !sleepUnlessCanceled(ctx, 100*time.Millisecond) {
			t.Fatalf("Status() = %s, want that %s %s", last, server, what)
		}
	}
}

// TestStatus checks that the status of a healthy cluster has no findings, and that it reports each kind of problem.
func TestStatus(t *testing.T) {
	t.Parallel()
	tr := threeServers(t)
	c := connectTrio(t, tr.urls, Options{Partitions: 2})
	for i := range 3 {
		if err := open(t, c, fmt.Sprint("b", i)).Apply(t.Context(), oxbow.Add{Name: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	s := healthy(t, c)
	if len(s.Servers) != 3 || len(s.Streams) != 3 || s.Brains != 3 || s.Cluster != c.directory.clusterID {
		t.Errorf("Status() = %+v", s)
	}
	leaders, brains := 0, 0
	for i, v := range s.Servers {
		if v.Name != fmt.Sprint("n", i) || !v.Up || !v.SyncAlways || v.Version == "" {
			t.Errorf("Status() has the server %+v", v)
		}
		if v.Leads {
			leaders++
		}
	}
	for _, v := range s.Streams {
		brains += v.Brains
		if v.Leader == "" || len(v.Replicas) != 2 || !v.Replicas[0].Current ||
			(v.Name != directoryStream && (v.Brains == 0 || int(v.Messages) != v.Brains)) || v.Bytes == 0 {
			t.Errorf("Status() has the stream %+v", v)
		}
	}
	if leaders != 1 || brains != 3 {
		t.Errorf("%d servers lead, and streams have %d brains", leaders, brains)
	}

	// Add a fence, a note that server n1 must not lead stream BRAIN_01, as another process would after an audit.
	if _, err := c.directory.bucket.PutString(t.Context(), "fence.BRAIN_01.n1", "test"); err != nil {
		t.Fatal(err)
	}
	finds(t, c, "n1", "found its data to differ")
	if err := c.directory.bucket.Delete(t.Context(), "fence.BRAIN_01.n1"); err != nil {
		t.Fatal(err)
	}
	healthy(t, c)

	// Add a fence for the server that leads. The server still leads, because no process has read the fence yet.
	leader, _, err := c.findLeader(t.Context(), "BRAIN_01")
	if err != nil {
		t.Fatal(err)
	}
	leads := leaderFence{"BRAIN_01", leader}
	if _, err := c.directory.bucket.PutString(t.Context(), leads.directoryKey(), "test"); err != nil {
		t.Fatal(err)
	}
	finds(t, c, leader, "leads it although an audit found its data to differ")
	if err := c.directory.bucket.Delete(t.Context(), leads.directoryKey()); err != nil {
		t.Fatal(err)
	}
	healthy(t, c)

	// One server is lost. New processes can still connect.
	tr.servers[2].Shutdown()
	s = finds(t, c, "n2", "does not answer")
	if s.Servers[2].Up || len(s.Servers) != 3 {
		t.Errorf("Status() has the servers %+v", s.Servers)
	}
	finds(t, c, "n2", "is offline")
	late := connectTrio(t, tr.urls, Options{})
	if e, err := open(t, late, "b1").Get(t.Context(), "a"); err != nil || e.Name != "a" {
		t.Errorf("Get() by a process that began without a server = %v", err)
	}
	rep, err := late.Audit(t.Context())
	if err != nil || len(rep.Findings) != 2 || rep.Findings[0].Server != "n2" || rep.Findings[1].Server != "n2" {
		t.Errorf("Audit() = %+v, %v, want that n2 was not read", rep, err)
	}
}

// TestStatusOfOne checks the status of a single server. It also checks that the status reports a missing stream after a
// stream has been deleted.
func TestStatusOfOne(t *testing.T) {
	t.Parallel()
	c := connect(t, alone(t).URL(), devOptions)
	s, err := c.Status(t.Context())
	if err != nil || len(s.Findings) > 0 || s.Streams[0].Leader == "" {
		t.Errorf("Status() = %+v, %v", s, err)
	}
	js, err := api.New(c.natsConn)
	if err == nil {
		err = js.DeleteStream(t.Context(), "BRAIN_01")
	}
	if err != nil {
		t.Fatal(err)
	}
	finds(t, c, "", "stream BRAIN_01 is missing")
}

// TestHostileNames checks that a name in the directory is refused if this package could not have written it.
func TestHostileNames(t *testing.T) {
	c := connect(t, alone(t).URL(), devOptions)
	for _, name := range []string{"a./etc/x", "a.b.c", "a", "a.-=", "../b"} {
		key := "brain." + name
		if _, err := c.directory.bucket.PutString(t.Context(), key, `{"partition":1,"epoch":1}`); err != nil {
			continue // NATS does not accept the name as a key
		}
		if _, err := c.directory.listBrains(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("list() with %s = %v, want an error that names it", key, err)
		}
		if err := c.directory.bucket.Purge(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.directory.bucket.PutString(t.Context(), "brain.a.b", `{"partition":7,"epoch":1}`); err != nil {
		t.Fatal(err)
	}
	if _, err := c.directory.listBrains(t.Context()); err == nil {
		t.Error("list() with a brain of a partition that there is not = nil")
	}
}
