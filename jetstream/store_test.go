// This file runs the tests that every store must pass, with a brain (memory) on a single server. TestStore opens the
// brain once. TestTwoProcesses opens the brain twice, and alternates between the two Stores.

package jetstream

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/jetstream/server"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

const secret = "for-tests"

// alone starts a single server for the duration of the test.
func alone(t testing.TB) *server.Server {
	t.Helper()
	s, err := server.Start(server.Options{Name: "alone", Dir: t.TempDir(), Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	return s
}

// dial connects to servers for the duration of the test.
func dial(t testing.TB, urls string) (nc, system *nats.Conn) {
	t.Helper()
	nc, system, err := server.Connect(urls, secret)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); system.Close() })
	return nc, system
}

// connect makes a new connection to the servers, as another process would do, and returns its cluster. The cluster is
// closed at the end of the test.
func connect(t testing.TB, urls string, o Options) *Cluster {
	t.Helper()
	nc, system := dial(t, urls)
	o.System = system
	c, err := Connect(context.Background(), nc, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// open opens a brain, which is checked at the end of the test.
func open(t testing.TB, c *Cluster, brain string) *Store {
	t.Helper()
	s, err := c.Open(context.Background(), "acme", brain)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		rep, err := s.Check(context.Background())
		if s.closed.Load() {
			return
		}
		if err != nil || len(rep.Problems) > 0 {
			t.Errorf("Check() = %v, %v, want no problems", rep.Problems, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return s
}

var devOptions = Options{Dev: true, Partitions: 2}

func TestStore(t *testing.T) {
	t.Parallel()
	url := alone(t).URL()
	for name, dir := range map[string]bool{"memory": false, "directory": true} {
		for _, announced := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s announced=%t", name, announced), func(t *testing.T) {
				o := devOptions
				o.Announced = announced
				if dir {
					o.Dir = t.TempDir()
				}
				c := connect(t, url, o)
				number := 0
				brain := ""
				reopen := func(t *testing.T) oxbow.Store { return open(t, c, brain) }
				storetest.Run(t, func(t *testing.T) oxbow.Store {
					number++
					brain = fmt.Sprintf("%s-%t-%d", name, announced, number)
					return reopen(t)
				}, storetest.Can{Labels: true, Aliases: true, Reopen: reopen})
			})
		}
	}
}

// The type either is a store that consists of two Stores for the same brain (memory). Each Store has its own
// connection, like a Store in a separate process. Calls of Get, Apply and Commit alternate between the two Stores.
type either struct {
	*Store
	other *Store
	n     atomic.Int64
}

func (e *either) turn() *Store {
	if e.n.Add(1)%2 == 0 {
		return e.Store
	}
	return e.other
}

func (e *either) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	return e.turn().Get(ctx, name)
}

func (e *either) Apply(ctx context.Context, ops ...oxbow.Op) error {
	return e.turn().Apply(ctx, ops...)
}

func (e *either) Commit(ctx context.Context, ops ...oxbow.Op) (oxbow.Change, error) {
	return e.turn().Commit(ctx, ops...)
}

func (e *either) Watch(fn func(oxbow.Event)) func() { panic("of one of them") }

func (e *either) Close() error {
	_ = e.other.Close()
	return e.Store.Close()
}

// noWatch is a store without the method Watch.
type noWatch struct{ committer }

type committer interface {
	oxbow.Historian
	oxbow.Committer
}

// TestTwoProcesses runs the tests that each store must pass. Their calls alternate between two processes that use the
// same store.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	url := alone(t).URL()
	one, two := connect(t, url, devOptions), connect(t, url, devOptions)
	brain, number := "", 0
	reopen := func(t *testing.T) oxbow.Store {
		return noWatch{&either{Store: open(t, one, brain), other: open(t, two, brain)}}
	}
	storetest.Run(t, func(t *testing.T) oxbow.Store {
		number++
		brain = fmt.Sprint("both-", number)
		return reopen(t)
	}, storetest.Can{Labels: true, Aliases: true, Reopen: reopen})
}
