// This file tests three servers in this process: settings that are refused, and changes that survive the loss of a
// server.

package jetstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	api "github.com/nats-io/nats.go/jetstream"
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/jetstream/server"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

// ports is the number of ports that freeAddresses has tried.
var ports atomic.Int64

// freeAddresses returns n addresses of this machine on which no program listens and that no other call has returned.
// The ports are from 20000 to 31999. Linux uses ports from 32768 for outgoing connections, so that a stopped server
// finds its port free when it starts again.
func freeAddresses(t testing.TB, n int) []string {
	t.Helper()
	var addrs []string
	for range 1000 {
		if len(addrs) == n {
			return addrs
		}
		addr := fmt.Sprint("127.0.0.1:", 20000+(int64(os.Getpid())*100+ports.Add(1))%12000)
		if l, err := net.Listen("tcp", addr); err == nil {
			addrs = append(addrs, addr)
			defer l.Close()
		}
	}
	t.Fatal("this machine has no free port")
	return nil
}

// trio is the three servers of a cluster.
type trio struct {
	options [3]server.Options
	servers [3]*server.Server
	urls    string
}

// threeServers starts three servers for the duration of the test.
func threeServers(t testing.TB) *trio {
	t.Helper()
	addrs := freeAddresses(t, 6)
	tr := &trio{urls: strings.Join(addrs[:3], ",")}
	errs := make(chan error, 3)
	for i := range tr.servers {
		tr.options[i] = server.Options{Name: fmt.Sprint("n", i), Dir: t.TempDir(), Secret: secret, Listen: addrs[i],
			Cluster: addrs[3+i], Peers: addrs[3:]}
		go func() {
			var err error
			tr.servers[i], err = server.Start(tr.options[i])
			errs <- err
		}()
	}
	for range tr.servers {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, s := range tr.servers {
			s.Shutdown()
		}
	})
	return tr
}

// connectTrio connects to a cluster of three servers. It repeats failed attempts for up to 60 seconds, because Connect
// fails while the servers have no leader.
func connectTrio(t testing.TB, urls string, o Options) *Cluster {
	t.Helper()
	nc, system := dial(t, urls)
	o.System = system
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for {
		try, cancel := context.WithTimeout(ctx, 4*time.Second)
		c, err := Connect(try, nc, &o)
		cancel()
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
			return c
		}
		if !sleepUnlessCanceled(ctx, 200*time.Millisecond) {
			t.Fatal(err)
		}
	}
}

// TestThreeServers runs the tests that every store must pass on three servers, and checks that nothing is lost when a
// server is shut down.
func TestThreeServers(t *testing.T) {
	t.Parallel()
	tr := threeServers(t)
	o := Options{Partitions: 2}
	one, two := connectTrio(t, tr.urls, o), connectTrio(t, tr.urls, o)
	number := 0
	storetest.Run(t, func(t *testing.T) oxbow.Store {
		number++
		return open(t, one, fmt.Sprint("b-", number))
	}, storetest.Can{Labels: true, Aliases: true})
	a, b := open(t, one, "last"), open(t, two, "last")
	for i := range 20 {
		if err := a.Apply(t.Context(), oxbow.Add{Name: fmt.Sprint("before ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	leader, _, err := one.findLeader(t.Context(), a.brainReplica.directoryEntry.streamName())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range tr.servers {
		if tr.options[i].Name == leader {
			s.Shutdown()
		}
	}
	for i := range 20 {
		if err := b.Apply(t.Context(), oxbow.Add{Name: fmt.Sprint("after ", i)}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Get(t.Context(), fmt.Sprint("after ", i)); err != nil {
			t.Errorf("Get() = %v", err)
		}
	}
	if a, b := count(t, a), count(t, b); a != 40 || b != 40 {
		t.Errorf("%d and %d changes, want 40", a, b)
	}
}

// TestBeginAtOnce creates a new cluster with several processes at the same time, while the servers are starting. All
// processes must use the same cluster.
func TestBeginAtOnce(t *testing.T) {
	t.Parallel()
	tr := threeServers(t)
	said := make(chan string)
	for range 6 {
		nc, system := dial(t, tr.urls)
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			c, err := Await(ctx, nc, &Options{Partitions: 2, System: system}, func(string) {})
			if err != nil {
				said <- err.Error()
				return
			}
			said <- c.directory.clusterID
			_ = c.Close()
		}()
	}
	first := <-said
	for range 5 {
		if id := <-said; id != first || strings.Contains(id, " ") {
			t.Errorf("one says %s, and another %s", first, id)
		}
	}
}

// TestSettingsAreRefused tests that Connect fails with ErrSettings for unsafe settings, and that the error explains how
// to fix them. Connect must accept the safe settings.
func TestSettingsAreRefused(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, sync, payload string) (nc, system *nats.Conn) {
		var opts natsserver.Options
		if err := opts.ProcessConfigString(fmt.Sprintf(`listen: "127.0.0.1:-1"
max_payload: %s
jetstream { store_dir: %q, %s }
accounts { A { jetstream: enabled, users: [ { user: oxbow, password: %s } ] }, S { users: [ { user: system,
	password: %s } ] } }
system_account: S`, payload, t.TempDir(), sync, secret, secret)); err != nil {
			t.Fatal(err)
		}
		s, err := natsserver.NewServer(&opts)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(s.Shutdown)
		if !s.ReadyForConnections(10 * time.Second) {
			t.Fatal("the server is not ready")
		}
		return dial(t, s.ClientURL())
	}
	const always = "sync_interval: always"
	for _, tc := range []struct {
		name, sync, payload string
		dev, noSystem       bool
		want                string
	}{
		{"Fine", always, "8MB", true, false, ""},
		{"NoSync", `sync_interval: "2m"`, "8MB", true, false, "set sync_interval: always"},
		{"SmallPayload", always, "1MB", true, false, "set it to 8MB"},
		{"OneServer", always, "8MB", false, false, "1 of 3 servers answer, and 2 must"},
		{"NoSystem", always, "8MB", false, true, "Options.System"},
		{"NoSystemDev", always, "8MB", true, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			nc, system := start(t, tc.sync, tc.payload)
			if tc.noSystem {
				system = nil
			}
			c, err := Connect(t.Context(), nc, &Options{System: system, Dev: tc.dev, Partitions: 1})
			if tc.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
			} else if !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Connect() = %v, want ErrSettings with %q", err, tc.want)
			}
		})
	}
	t.Run("NotTheSystemAccount", func(t *testing.T) {
		nc, _ := start(t, always, "8MB")
		if _, err := Connect(t.Context(), nc, &Options{System: nc, Dev: true}); !errors.Is(err, ErrSettings) {
			t.Errorf("Connect() = %v, want ErrSettings", err)
		}
	})
	for version, ok := range map[string]bool{"2.15.0": true, "2.15.2": true, "3.0.0": true, "2.14.9": false,
		"2.9.10": false, "": false, "x.y": false} {
		if err := checkVersion("a server", version); (err == nil) != ok {
			t.Errorf("checkVersion(%q) = %v", version, err)
		}
	}
}

// TestStreamsAreCompared tests that Connect fails if a stream was changed, deleted or created again. Connect must also
// fail if the bucket with the cluster's directory was deleted.
func TestStreamsAreCompared(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		harm func(ctx context.Context, js api.JetStream) error
		is   error
		want string
	}{
		{"Changed", func(ctx context.Context, js api.JetStream) error {
			c := streamConfig(1, 1)
			c.MaxMsgs = 1000
			_, err := js.UpdateStream(ctx, c)
			return err
		}, ErrSettings, "MaxMsgs 1000, not -1"},
		{"NotAnnounced", func(ctx context.Context, js api.JetStream) error {
			c := streamConfig(1, 1)
			c.RePublish = nil
			_, err := js.UpdateStream(ctx, c)
			return err
		}, ErrSettings, "RePublish"},
		{"Missing", func(ctx context.Context, js api.JetStream) error {
			return js.DeleteStream(ctx, "BRAIN_01")
		}, oxbow.ErrCorrupt, "stream BRAIN_01 is missing"},
		{"MadeAgain", func(ctx context.Context, js api.JetStream) error {
			if err := js.DeleteStream(ctx, "BRAIN_01"); err != nil {
				return err
			}
			_, err := js.CreateStream(ctx, streamConfig(1, 1))
			return err
		}, oxbow.ErrCorrupt, "its data was lost"},
		{"NoDirectory", func(ctx context.Context, js api.JetStream) error {
			return js.DeleteKeyValue(ctx, clusterDirectoryBucket)
		}, oxbow.ErrCorrupt, "bucket DIR is missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			url := alone(t).URL()
			c := connect(t, url, devOptions)
			if err := open(t, c, "b").Close(); err != nil {
				t.Error(err)
			}
			nc, system := dial(t, url)
			js, err := api.New(nc)
			if err != nil {
				t.Fatal(err)
			}
			if err := tc.harm(t.Context(), js); err != nil {
				t.Fatal(err)
			}
			o := devOptions
			o.System = system
			_, err = Connect(t.Context(), nc, &o)
			if !errors.Is(err, tc.is) || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("Connect() = %v, want %v with %q", err, tc.is, tc.want)
			}
			if names := js.StreamNames(t.Context()); tc.name == "Missing" {
				for n := range names.Name() {
					if n == "BRAIN_01" {
						t.Error("the missing stream was made again")
					}
				}
			}
		})
	}
}
