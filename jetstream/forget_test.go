// This file tests servers that lose their list of streams. The tests replace the snapshot of the metadata on one or two
// of the servers by an empty snapshot. Real damage has had the same effect (issues 7556 and 6888 of nats-server).

package jetstream

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/highwayhash"
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// forgetAll replaces the metadata snapshot of a stopped server by a snapshot that has a valid checksum and contains no
// streams.
func forgetAll(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "jetstream", "SYS", "_js_", "_meta_", "snapshots", "snap.*"))
	if err != nil || len(names) != 1 {
		return errors.Join(err, errors.New("the server has no snapshot"))
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		return err
	}
	b = b[:20+binary.LittleEndian.Uint32(b[16:])] // position in the log, and the list of servers
	key := sha256.Sum256([]byte("_meta_"))
	h, err := highwayhash.NewDigest64(key[:])
	if err != nil {
		return err
	}
	_, _ = h.Write(b)
	return os.WriteFile(names[0], h.Sum(b), 0o600)
}

// forget stops the servers with the numbers victims, deletes what they have stored about all streams, and starts them
// again. First it waits until another server is the leader, because a new leader sends its snapshot to servers that
// start.
func (h *harmed) forget(t *testing.T, victims ...int) {
	t.Helper()
	for i, o := range h.options {
		if !slices.Contains(victims, i) {
			h.leads(t, o.Name)
			break
		}
	}
	for _, v := range victims {
		h.servers[v].Shutdown()
	}
	for _, v := range victims {
		err := forgetAll(h.options[v].Dir)
		if err == nil {
			h.servers[v], err = server.Start(h.options[v])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// leads makes a server the leader of the cluster.
func (h *harmed) leads(t *testing.T, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		for _, s := range h.settings(ctx, t) {
			if m := s.Data.JetStream.Meta; s.Server.Name == name && m != nil && m.Leader == name {
				return
			}
		}
		_, err := h.c.options.System.Request(
			"$JS.API.META.LEADER.STEPDOWN",
			fmt.Appendf(nil, `{"placement":{"preferred":%q}}`, name),
			time.Second,
		)
		if !sleepUnlessCanceled(ctx, 100*time.Millisecond) {
			t.Fatalf("%s does not lead: %v", name, err)
		}
	}
}

func (h *harmed) settings(ctx context.Context, t *testing.T) []serverSettingsAnswer {
	t.Helper()
	all, err := serverSettings(ctx, h.c.options.System)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// denies makes the server victim, which has forgotten the streams, the leader of the servers. It repeats this until the
// status reports that the leader has forgotten the streams.
func (h *harmed) denies(t *testing.T, victim int) {
	t.Helper()
	h.names(t, victim, "leads the servers and has forgotten", func() { h.leads(t, h.options[victim].Name) })
}

// names waits until the status reports a finding about the server victim whose text begins with the parameter what. The
// server has forgotten the streams. In each attempt, names first calls the function before. If the status reports no
// problem of the server ten times in a row, another server has sent its snapshot to the server, so that the server
// knows all streams again. names then makes the server forget the streams again.
func (h *harmed) names(t *testing.T, victim int, what string, before func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	name := h.options[victim].Name
	for healthy := 0; ; {
		before()
		s, err := h.c.Status(ctx)
		found := false
		for _, f := range s.Findings {
			found = found || f.Server == name
			if f.Server == name && strings.HasPrefix(f.What, what) {
				return
			}
		}
		healthy++
		if found || len(s.Servers) < len(h.options) {
			healthy = 0
		}
		if healthy == 10 {
			t.Logf("%s has all again, and forgets again", name)
			h.forget(t, victim)
			healthy = 0
		}
		if !sleepUnlessCanceled(ctx, 100*time.Millisecond) {
			t.Fatalf("Status() = %s, %v, want that %s %s", findings(s.Findings), err, name, what)
		}
	}
}

// rightOrError opens the given number of new connections to each server, one after another. Through each connection, it
// reads the entry e3, as a new process would. The read must return the entry with its text, or an error other than
// ErrNotFound. rightOrError returns the number of connections that read the entry.
func (h *harmed) rightOrError(t *testing.T, times int) (right int) {
	t.Helper()
	for _, o := range h.options {
		nc, system := dial(t, o.Listen)
		for range times {
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			c, err := Connect(ctx, nc, &Options{System: system, Partitions: 1, ReadWait: time.Second})
			if err == nil {
				s, err := c.Open(ctx, "acme", "b")
				if err == nil {
					e, err := s.Get(ctx, "e3")
					if errors.Is(err, oxbow.ErrNotFound) ||
						(err == nil && !strings.HasPrefix(e.Content, "text 3text 3")) {
						t.Errorf("Get() at %s = %+v, %v", o.Name, e, err)
					}
					if err == nil {
						right++
					}
					_ = s.Close()
				}
				_ = c.Close()
			}
			cancel()
		}
	}
	return right
}

// same checks that the streams on the servers are the original ones, and were not created again.
func (h *harmed) same(t *testing.T, want map[string]string) {
	t.Helper()
	if got := h.groups(t); !maps.Equal(got, want) {
		t.Errorf("the servers have %v, want %v", got, want)
	}
}

// groups returns the streams of the cluster. The value for a stream's name is the stream's creation time, a space and
// its Raft group. The test fails if two servers report different values.
func (h *harmed) groups(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := askServers(
		t.Context(),
		h.c.options.System,
		"JSZ",
		[]byte(`{"account":"OXBOW","streams":true}`),
		func(data []byte) error {
			for _, m := range regexp.MustCompile(
				`"name":"([A-Z_0-9]+)","created":"([^"]*)","cluster":{"name":"oxbow","raft_group":"([^"]*)"`,
			).FindAllSubmatch(
				data,
				-1,
			) {
				name, is := string(m[1]), string(m[2])+" "+string(m[3])
				if all[name] != "" && all[name] != is {
					t.Errorf("stream %s is %s on one server and %s on another", name, all[name], is)
				}
				all[name] = is
			}
			return nil
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestServerForgets lets one of three servers forget all streams. Everything that is read must be right, and no stream
// may be created again, even if this server leads the others and answers that there are no streams. The status and an
// audit must name the server. After its directory was emptied, it catches up.
func TestServerForgets(t *testing.T) {
	t.Parallel()
	h := newHarmed(t)
	h.c.requestSender.maxReadRetryTime, h.c.options.ReadWait = 2*time.Second, 2*time.Second
	groups, victim := h.groups(t), h.options[h.victim].Name
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := serverSettings(canceled, h.c.options.System); !errors.Is(err, context.Canceled) {
		t.Errorf("the settings after the context was canceled: %v", err)
	}
	h.forget(t, h.victim)
	h.names(t, h.victim, "takes no part", func() {})
	if n := h.rightOrError(t, 1); n == 0 {
		t.Error("no new process can read")
	}
	if err := h.brain.Apply(t.Context(), oxbow.Add{Name: "one"}); err != nil {
		t.Errorf("Apply() = %v", err)
	}
	h.denies(t, h.victim)
	n := h.rightOrError(t, 2)
	t.Logf("%d of 6 processes read while %s led", n, victim)
	h.denies(t, h.victim)
	rep, err := h.c.Audit(t.Context())
	if err != nil || !strings.Contains(findings(rep.Findings), "Server:"+victim) {
		t.Errorf("Audit() = %s, %v, want %s", findings(rep.Findings), err, victim)
	}
	for _, f := range rep.Findings {
		if f.Server != victim {
			t.Errorf("the audit blames %+v", f)
		}
	}
	if err := h.brain.Apply(t.Context(), oxbow.Add{Name: "two"}); err != nil {
		t.Errorf("Apply() = %v", err)
	}
	h.same(t, groups)

	h.servers[h.victim].Shutdown()
	if err := os.RemoveAll(filepath.Join(h.options[h.victim].Dir, "jetstream")); err != nil {
		t.Fatal(err)
	}
	h.servers[h.victim], err = server.Start(h.options[h.victim])
	if err != nil {
		t.Fatal(err)
	}
	healthy(t, h.c)
	h.same(t, groups)
	if rep, err := h.c.Audit(t.Context()); err != nil || len(rep.Findings) > 0 || rep.Messages != 3*(damageEntries+2) {
		t.Errorf("Audit() = %+v, %v after the server was emptied", rep, err)
	}
}

// TestMostForget lets two of three servers forget all streams. The two servers are a majority, so that their answer
// decides for the whole cluster. Even then, no process may conclude that no streams exist.
func TestMostForget(t *testing.T) {
	t.Parallel()
	h := newHarmed(t)
	h.c.requestSender.maxReadRetryTime, h.c.options.ReadWait = time.Second, time.Second
	groups := h.groups(t)
	other := (h.victim + 1) % 3
	h.forget(t, h.victim, other)
	for _, v := range []int{h.victim, other} {
		h.leads(t, h.options[v].Name)
		if v == other {
			h.rightOrError(t, 1)
		}
		if err := checkNoStreamsExist(t.Context(), h.c.natsConn, &h.c.options); !errors.Is(err, oxbow.ErrCorrupt) {
			t.Errorf("checkEmpty() = %v, want ErrCorrupt", err)
		}
		h.same(t, groups)
	}
	finds(t, h.c, h.options[h.victim].Name, "most do not")
	if _, err := h.brain.Get(t.Context(), "e3"); !errors.Is(err, oxbow.ErrCorrupt) && !errors.Is(err, oxbow.ErrBusy) {
		t.Errorf("Get() = %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := h.brain.Apply(ctx, oxbow.Add{Name: "new"}); err == nil {
		t.Error("Apply() = nil")
	}
	rep, err := h.c.Audit(t.Context())
	if err == nil && len(rep.Findings) == 0 {
		t.Errorf("Audit() = %+v, nil", rep)
	}
	h.same(t, groups)
	_ = h.brain.Close()
}
