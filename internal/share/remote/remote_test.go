// This file runs the tests for all stores on a store behind a loopback connection, and tests the optional interfaces.

package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

const secret = "s3cret"

// fromServer is the source (who made a change, and through which interface) that the test server stores with each
// change.
var fromServer = oxbow.Source{Door: "http", Actor: oxbow.Agent, Session: "s1"}

// served serves a store to clients with the right token. The store can be replaced.
type served struct {
	mu    sync.Mutex // guards store
	store oxbow.Store
	url   string
}

func (s *served) open(r *http.Request) (oxbow.Store, context.Context, error) {
	if r.Header.Get("Authorization") != "Bearer "+secret {
		return nil, nil, errors.New("the token is missing or wrong")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store, oxbow.WithSource(r.Context(), fromServer), nil
}

func (s *served) set(store oxbow.Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store = store
}

// serve serves a store until the test ends. The function wrap may wrap the handler. It may be nil.
func serve(t testing.TB, store oxbow.Store, wrap func(http.Handler) http.Handler) *served {
	t.Helper()
	s := &served{store: store}
	h := Handler(s.open, nil)
	if wrap != nil {
		h = wrap(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// dial returns a client, which is closed at the end of the test.
func dial(t testing.TB, s *served) *Store {
	t.Helper()
	c, err := Open(s.url, secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// opened returns a memory in a file, and a client of the memory.
func opened(t testing.TB) (*oxbow.Memory, *Store) {
	t.Helper()
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	return m, dial(t, serve(t, m, nil))
}

func TestStore(t *testing.T) {
	var s *served
	var name string
	open := func(t *testing.T) oxbow.Store {
		name = filepath.Join(t.TempDir(), "m.oxbow")
		s = serve(t, storetest.Open(t, name, nil), nil)
		return dial(t, s)
	}
	reopen := func(t *testing.T) oxbow.Store {
		s.set(storetest.Open(t, name, nil))
		return dial(t, s)
	}
	storetest.Run(t, open, storetest.Can{Labels: true, Aliases: true, Reopen: reopen})
}

// TestMemory tests a memory whose index is in the client and whose store is on the server.
func TestMemory(t *testing.T) {
	open := func(t *testing.T) oxbow.Store {
		_, c := opened(t)
		return oxbow.New(c, nil)
	}
	storetest.Run(t, open, storetest.Can{Labels: true, Aliases: true})
}

// TestScoped tests a client of a server that serves a scope of a memory. A scope offers a part of the entries. It does
// not support change numbers and checks, so the test uses the interfaces Committer and Watcher only.
func TestScoped(t *testing.T) {
	open := func(t *testing.T) oxbow.Store {
		m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
		c := dial(t, serve(t, scope.New(m.Store(), scope.Scope{Any: []oxbow.Filter{{}}}, nil), nil))
		return struct {
			oxbow.Committer
			oxbow.Watcher
		}{c, c}
	}
	storetest.Run(t, open, storetest.Can{Labels: true, Aliases: true})
}

func TestRecall(t *testing.T) {
	m, c := opened(t)
	far := oxbow.New(c, nil)
	recall := func(text string) (names []string) {
		t.Helper()
		hits, err := far.Recall(t.Context(), oxbow.Query{Text: text})
		if err != nil {
			t.Fatalf("Recall(%q) = %v", text, err)
		}
		for _, h := range hits {
			names = append(names, h.Entry.Name)
		}
		return names
	}
	remember := func(m *oxbow.Memory, name, content string) {
		t.Helper()
		if _, err := m.Remember(t.Context(), oxbow.Entry{Name: name, Content: content}); err != nil {
			t.Fatal(err)
		}
	}
	remember(m, "deploy", "We ship on Tuesdays.")
	remember(far, "port", "The server listens on 8333.")
	if got := recall("when do we ship"); !slices.Equal(got, []string{"deploy"}) {
		t.Errorf("recalled %q, want what another wrote before", got)
	}
	if got := recall("which port"); !slices.Equal(got, []string{"port"}) {
		t.Errorf("recalled %q, want what was written here", got)
	}
	remember(m, "lunch", "Lunch is at noon.")
	if err := m.Forget(t.Context(), "deploy"); err != nil {
		t.Fatal(err)
	}
	if got := recall("lunch at noon"); !slices.Equal(got, []string{"lunch"}) {
		t.Errorf("recalled %q, want what another wrote since", got)
	}
	if got := recall("ship on Tuesdays"); len(got) != 0 {
		t.Errorf("recalled %q, which another forgot", got)
	}
}

// all returns the values that a sequence yields as one text, or the sequence's error.
func all[T any](t *testing.T, seq func(func(T, error) bool)) string {
	t.Helper()
	var b strings.Builder
	for v, err := range seq {
		if err != nil {
			return "error: " + err.Error()
		}
		if d, ok := any(v).(oxbow.Delta); ok && d.Entry != nil {
			fmt.Fprintf(&b, "%d: %+v\n", d.ID, *d.Entry)
			continue
		}
		fmt.Fprintf(&b, "%+v\n", v)
	}
	return b.String()
}

// TestHistory compares the history that the client returns with the server's history.
func TestHistory(t *testing.T) {
	m, c := opened(t)
	ctx := oxbow.WithNote(t.Context(), "for \u2028 the \x01 record")
	apply := func(ops ...oxbow.Op) {
		t.Helper()
		if err := c.Apply(ctx, ops...); err != nil {
			t.Fatal(err)
		}
	}
	label := []oxbow.Label{{Key: "tag", Value: "<b>&"}}
	apply(
		oxbow.Add{Name: "a", Content: "one", Labels: label, Aliases: []string{"x"}, Kind: oxbow.World,
			Created: time.Date(-40, 1, 2, 3, 4, 5, 6, time.FixedZone("odd", 3601)).AddDate(100, 0, 0)},
		oxbow.Add{Name: "b", Content: "bee"},
	)
	apply(oxbow.Update{Name: "a", Content: "two \x7f\u2029 </script>"})
	apply(oxbow.Remove{Name: "b"})
	near, err := m.History()
	if err != nil {
		t.Fatal(err)
	}
	seq, err := c.Revert(ctx, 3)
	if err != nil || seq != 4 {
		t.Fatalf("Revert() = %d, %v, want 4", seq, err)
	}
	seq, err = c.Restore(ctx, "a", 1)
	if err != nil || seq != 5 {
		t.Fatalf("Restore() = %d, %v, want 5", seq, err)
	}
	_, err = c.RestoreIf(ctx, "a", 2, 1)
	if !errors.As(err, new(*oxbow.ConflictError)) {
		t.Errorf("RestoreIf() = %v, want a conflict", err)
	}
	seq, err = c.RestoreIf(ctx, "a", 2, 5)
	if err != nil || seq != 6 {
		t.Errorf("RestoreIf() = %d, %v, want 6", seq, err)
	}
	if got, want := all(t, c.Log(ctx)), all(t, near.Log(ctx)); got != want || strings.Count(want, "\n") < 6 {
		t.Errorf("the log is\n%swant\n%s", got, want)
	}
	for _, name := range []string{"a", "b", "ghost", "\xff", ""} {
		if got, want := all(t, c.Versions(ctx, name)), all(t, near.Versions(ctx, name)); got != want || want == "" {
			t.Errorf("the versions of %q are\n%s\nwant\n%s", name, got, want)
		}
	}
	for seq := range uint64(9) {
		here, err := c.AsOf(ctx, seq)
		there, want := near.AsOf(ctx, seq)
		if fmt.Sprint(err) != fmt.Sprint(want) ||
			errors.Is(err, oxbow.ErrNotFound) != errors.Is(want, oxbow.ErrNotFound) {
			t.Errorf("AsOf(%d) = %v, want %v", seq, err, want)
		}
		if err != nil || want != nil {
			continue
		}
		if got, want := all(t, here.Entries(ctx, oxbow.Filter{})), all(
			t,
			there.Entries(ctx, oxbow.Filter{}),
		); got != want {
			t.Errorf("the entries after %d are\n%s\nwant\n%s", seq, got, want)
		}
		e, err := here.Get(ctx, "a")
		f, want := there.Get(ctx, "a")
		if !reflect.DeepEqual(e, f) || fmt.Sprint(err) != fmt.Sprint(want) {
			t.Errorf("after %d, Get(a) = %+v, %v, want %+v, %v", seq, e, err, f, want)
		}
		if err := here.Apply(ctx, oxbow.Remove{Name: "a"}); !errors.Is(err, oxbow.ErrReadOnly) {
			t.Errorf("a view of the past was changed: %v", err)
		}
		if err := errors.Join(here.Close(), there.Close()); err != nil {
			t.Error(err)
		}
	}
	when, err := c.SeqAt(ctx, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || when != 6 {
		t.Errorf("SeqAt() = %d, %v, want 6", when, err)
	}
	n, err := c.Stats(ctx)
	want, _ := m.Store().(oxbow.Counter).Stats(ctx)
	if n != want || err != nil || n.Last != 6 {
		t.Errorf("Stats() = %+v, %v, want %+v", n, err, want)
	}
	if r, err := c.Check(ctx); err != nil || r.Last != 6 || len(r.Problems) > 0 {
		t.Errorf("Check() = %+v, %v", r, err)
	}
	if err := c.DryRun(ctx, oxbow.Add{Name: "a"}); !errors.Is(err, oxbow.ErrExists) {
		t.Errorf("DryRun() = %v, want ErrExists", err)
	}
}

// TestStamp checks that a client cannot set the source of a change. The server records only the client's claim about
// itself and the note. The rest of the source is set by the server.
func TestStamp(t *testing.T) {
	m, c := opened(t)
	claim := oxbow.Claim{Client: "editor 1.2", Agent: "model"}
	ctx := oxbow.WithSource(
		t.Context(),
		oxbow.Source{Actor: oxbow.Person, Door: "cli", Session: "mine", Profile: "p", Ref: "r", Claimed: claim},
	)
	if err := c.Apply(oxbow.WithNote(ctx, "why"), oxbow.Add{Name: "a", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	e, err := m.Get(ctx, "a")
	want := fromServer
	want.Claimed, want.Time = claim, e.Updated
	if err != nil || e.Source != want {
		t.Errorf("the source is %+v, want %+v", e.Source, want)
	}
	for ch := range m.Log(ctx) {
		if ch.Note != "why" {
			t.Errorf("the note is %q, want why", ch.Note)
		}
	}
	c.claimedIdentity = oxbow.Claim{Client: "program"}
	if _, err := c.Revert(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for ch := range m.Log(ctx) {
		if ch.Source.Claimed != c.claimedIdentity || ch.Source.Actor != fromServer.Actor {
			t.Errorf("the source of the undo is %+v", ch.Source)
		}
		break
	}
}

// bare is a store without optional interfaces.
type bare struct{ oxbow.Store }

func TestUnsupported(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	c := dial(t, serve(t, bare{m}, nil))
	var events []oxbow.Event
	c.Watch(func(e oxbow.Event) { events = append(events, e) })
	ctx := t.Context()
	if err := c.Apply(ctx, oxbow.Add{Name: "a", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	if len(events) != 2 || !events[0].Reset || !events[1].Reset {
		t.Errorf("of a store that sends no events, the events are %+v, want two resets", events)
	}
	_, err1 := c.Position(ctx)
	_, err2 := c.Stats(ctx)
	_, err3 := c.Check(ctx)
	_, err4 := c.Revert(ctx, 1)
	_, err5 := c.RestoreIf(ctx, "a", 1, 1)
	_, err6 := c.AsOf(ctx, 1)
	_, err7 := c.SeqAt(ctx, time.Time{})
	for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, c.DryRun(ctx)} {
		if !errors.Is(err, oxbow.ErrUnsupported) {
			t.Errorf("call %d of what the store lacks = %v, want ErrUnsupported", i+1, err)
		}
	}
	for i, text := range []string{all(t, c.Log(ctx)), all(t, c.Versions(ctx, "a")), all(t, c.Since(ctx, "x"))} {
		if !strings.Contains(text, oxbow.ErrUnsupported.Error()) {
			t.Errorf("stream %d of what the store lacks = %q", i+1, text)
		}
	}
	far := oxbow.New(c, nil)
	if hits, err := far.Recall(ctx, oxbow.Query{Text: "x"}); err != nil || len(hits) != 1 {
		t.Errorf("Recall() = %+v, %v, want one hit", hits, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:8333", "ftp://x", "http://", "http://u:p@x", "http://x?y",
		"http://x#y", "http://[", "http:///x"} {
		if _, err := Open(address, "t", nil); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("Open(%q) = %v, want ErrInvalid", address, err)
		}
	}
	for _, token := range []string{"", "a b", "a\n", "é"} {
		if _, err := Open("http://x", token, nil); !errors.Is(err, oxbow.ErrInvalid) ||
			strings.Contains(err.Error(), "a b") {
			t.Errorf("Open() with the token %q = %v, want ErrInvalid", token, err)
		}
	}
}
