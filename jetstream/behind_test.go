// This file tests servers whose copy of a stream does not catch up, or is replaced by an older copy. Issues 8319 and
// 7791 of nats-server describe such failures. Readers must never get an outdated answer.

package jetstream

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// stick prevents a stopped server from replicating a stream: it puts a file in the place of the directory for the
// stream's log.
func (h *harmed) stick(t *testing.T, stream string) {
	t.Helper()
	_, group, _ := strings.Cut(h.groups(t)[stream], " ")
	dir := filepath.Join(h.options[h.victim].Dir, "jetstream", "SYS", "_js_", group)
	if _, err := os.Stat(dir); err != nil || group == "" {
		t.Fatalf("the victim has no log of %s: %v", stream, err)
	}
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// begin starts the server that the test has damaged.
func (h *harmed) begin(t *testing.T) {
	t.Helper()
	s, err := server.Start(h.options[h.victim])
	if err != nil {
		t.Fatal(err)
	}
	h.servers[h.victim] = s
}

// newest connects a new process to each running server. The process must find the entry that was written last, or
// return an error. newest returns the number of processes that found the entry.
func (h *harmed) newest(t *testing.T, name string) (right int) {
	t.Helper()
	for i, o := range h.options {
		nc, system, err := server.Connect(o.Listen, secret)
		if err != nil {
			continue // the server is stopped
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		c, err := Connect(ctx, nc, &Options{System: system, ReadWait: 2 * time.Second})
		if err == nil {
			var s *Store
			s, err = c.Open(ctx, "acme", "b")
			if err == nil {
				_, err = s.Get(ctx, name)
				_ = s.Close()
			}
			_ = c.Close()
		}
		cancel()
		nc.Close()
		system.Close()
		if err == nil {
			right++
		} else {
			t.Logf("at %s: %v", o.Name, err)
			if errors.Is(err, oxbow.ErrNotFound) {
				t.Errorf("an older answer at %s, the victim is %d: %v", h.options[i].Name, h.victim, err)
			}
		}
	}
	return right
}

// lose stops the leader of the stream, and returns a function that starts it again.
func (h *harmed) lose(t *testing.T) (again func()) {
	t.Helper()
	leader, _, err := h.c.findLeader(t.Context(), "BRAIN_00")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(h.options[:], func(o server.Options) bool { return o.Name == leader })
	h.servers[i].Shutdown()
	return func() {
		s, err := server.Start(h.options[i])
		if err != nil {
			t.Fatal(err)
		}
		h.servers[i] = s
	}
}

// current waits until all servers have all messages of the stream.
func (h *harmed) current(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		s, _ := h.c.streamStatus(ctx, "BRAIN_00")
		if s.Leader != "" && !slices.ContainsFunc(s.Replicas, func(r ReplicaStatus) bool {
			return !r.Current || r.Lag > 0
		}) {
			return
		}
		if !sleepUnlessCanceled(ctx, 50*time.Millisecond) {
			t.Fatalf("the stream is %+v", s)
		}
	}
}

// TestNeverCatchesUp uses a server that has stopped replicating the stream, so that its data are outdated. The cluster
// must report this server. An audit must fence the server, which means that the server must not lead the stream any
// more. Readers must use the other servers. If one of the other servers is also lost, readers must get an error instead
// of an outdated answer.
func TestNeverCatchesUp(t *testing.T) {
	t.Parallel()
	h := newHarmed(t)
	most := h.c.options.ReadWait
	h.c.requestSender.maxReadRetryTime, h.c.options.ReadWait = 2*time.Second, 2*time.Second
	victim := h.options[h.victim].Name
	h.servers[h.victim].Shutdown()
	h.stick(t, "BRAIN_00")
	h.begin(t)
	if err := h.brain.Apply(t.Context(), oxbow.Add{Name: "new"}); err != nil {
		t.Fatal(err)
	}
	finds(t, h.c, victim, "takes no part in keeping the stream")
	finds(t, h.c, victim, "is behind")
	if n := h.newest(t, "new"); n != 3 {
		t.Errorf("%d of 3 processes read", n)
	}
	rep, err := h.c.Audit(t.Context())
	if f := rep.Findings; err != nil || len(f) != 1 || f[0].Server != victim || !f[0].Fenced ||
		rep.Messages != 2*(damageEntries+1) {
		t.Errorf("Audit() = %+v, %v, want %s fenced", rep, err, victim)
	}
	finds(t, connectTrio(t, h.urls, Options{}), victim, "an audit found its data to differ")
	again := h.lose(t)
	if n := h.newest(t, "new"); n > 0 {
		t.Errorf("%d processes read from one server", n)
	}
	if *repeats == 1 {
		_ = h.brain.Close()
		return
	}

	// After its directory was emptied, the server catches up, and an audit removes the fence.
	again()
	h.servers[h.victim].Shutdown()
	if err := os.RemoveAll(filepath.Join(h.options[h.victim].Dir, "jetstream")); err != nil {
		t.Fatal(err)
	}
	h.begin(t)
	h.c.requestSender.maxReadRetryTime, h.c.options.ReadWait = most, most
	h.current(t)
	finds(t, h.c, victim, "an audit found its data to differ")
	if rep, err := h.c.Audit(t.Context()); err != nil || len(rep.Findings) > 0 || rep.Messages != 3*(damageEntries+1) {
		t.Errorf("Audit() = %+v, %v after the server was emptied", rep, err)
	}
	healthy(t, h.c)
}

// TestOlderCopy replaces the directory of a server by an older copy. The server must catch up or not become leader.
// Readers must get the newest changes, even if the leader is lost.
func TestOlderCopy(t *testing.T) {
	t.Parallel()
	h := newHarmed(t)
	dir := h.options[h.victim].Dir
	h.servers[h.victim].Shutdown()
	older := copyDir(t, dir)
	h.begin(t)
	healthy(t, h.c)
	for _, name := range []string{"x", "y", "new"} {
		if err := h.brain.Apply(t.Context(), oxbow.Add{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	healthy(t, h.c)
	h.servers[h.victim].Shutdown()
	if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(older))); err != nil {
		t.Fatal(err)
	}
	again := h.lose(t)
	h.begin(t)
	for began := time.Now(); h.newest(t, "new") == 0; { // wait until another server leads
		if time.Since(began) > 30*time.Second {
			t.Fatal("no process reads")
		}
	}
	if err := h.brain.Apply(t.Context(), oxbow.Add{Name: "newer"}); err != nil {
		t.Errorf("Apply() = %v", err)
	}
	again()
	healthy(t, h.c)
	if n := h.newest(t, "newer"); n != 3 {
		t.Errorf("%d of 3 processes read", n)
	}
	if rep, err := h.c.Audit(t.Context()); err != nil || len(rep.Findings) > 0 || rep.Messages != 3*(damageEntries+4) {
		t.Errorf("Audit() = %+v, %v", rep, err)
	}
}
