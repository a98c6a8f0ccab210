// This file tests pulls and pushes between several homes, which are local memories, and one server. The tests check
// which entries each pull or push changes.

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/remote"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// world is a server whose connection can be interrupted, and the homes that are synchronized with it.
type world struct {
	t      testing.TB
	server *oxbow.Memory
	url    string
	shown  func(oxbow.Store) oxbow.Store
	asked  atomic.Int64 // number of requests

	// protects the fields below, and is held while the function cut is called
	mu sync.Mutex
	// reports which requests are interrupted, and when; nil means none
	cut     func(r *http.Request) (before, after bool)
	between func() // called once, before the server makes the next change
}

// takeBetween returns the function w.between, which must be called before the server applies the request r, and sets
// w.between to nil. Therefore the function is called only once. takeBetween returns nil if w.between is nil, or if r is
// not a request that applies changes.
func (w *world) takeBetween(r *http.Request) func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Method == http.MethodGet || !strings.Contains(r.URL.Path, "apply") {
		return nil
	}
	fn := w.between
	w.between = nil
	return fn
}

// cutBy sets the function fn, which decides for each request whether it is interrupted before the server handles it, or
// after that, before its answer. If fn is nil, no request is interrupted.
func (w *world) cutBy(fn func(r *http.Request) (before, after bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = fn
}

// cuts reports whether the request r is interrupted before the server handles it, or afterwards. Both results are false
// if the request is not interrupted.
func (w *world) cuts(r *http.Request) (before, after bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut == nil {
		return false, false
	}
	return w.cut(r)
}

// home is a memory that is synchronized with the server of the world w. The file system files contains the file with
// the state of the synchronization.
type home struct {
	*oxbow.Memory
	w     *world
	files vfs.FS
	o     Options
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, shown: func(s oxbow.Store) oxbow.Store {
		return s
	}, server: storetest.Open(t, "server.oxbow", &oxbow.Options{FS: vfs.NewMem()})}
	h := remote.Handler(func(r *http.Request) (oxbow.Store, context.Context, error) {
		return w.shown(w.server), oxbow.WithSource(r.Context(), oxbow.Source{Door: "http", Actor: oxbow.Agent}), nil
	}, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked.Add(1)
		if fn := w.takeBetween(r); fn != nil {
			fn()
		}
		switch before, after := w.cuts(r); {
		case before:
			panic(http.ErrAbortHandler)
		case after:
			h.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(rw, r)
	}))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	return w
}

func (w *world) home(name string) *home {
	return &home{Memory: storetest.Open(w.t, name, &oxbow.Options{FS: vfs.NewMem()}), w: w, files: vfs.NewMem()}
}

// run calls the function fn, such as Pull or Push, with the state in the file "state". Afterwards it writes the new
// state to the file. It does not write the state if the parameter lost is true, in a dry run, or if fn failed without
// changes.
func (h *home) run(
	fn func(context.Context, oxbow.Store, oxbow.Store, *State, *Options) (Report, error),
	lost bool,
) (Report, error) {
	h.w.t.Helper()
	c, err := remote.Open(h.w.url, "token", nil)
	if err != nil {
		h.w.t.Fatal(err)
	}
	defer c.Close()
	st, err := ReadState(h.files, "state")
	if err != nil {
		return Report{}, err
	}
	o := h.o
	o.WritePlanFile = func() error { return st.WritePlan(h.files, "state") }
	rep, rerr := fn(h.w.t.Context(), h.Memory, c, st, &o)
	if !lost && !h.o.DryRun && (rerr == nil || len(rep.Changes) > 0) {
		rerr = errors.Join(rerr, st.Write(h.files, "state"))
	}
	return rep, rerr
}

func (h *home) pull() Report { return h.must(Pull) }
func (h *home) push() Report { return h.must(Push) }

func (h *home) must(fn func(context.Context, oxbow.Store, oxbow.Store, *State, *Options) (Report, error)) Report {
	h.w.t.Helper()
	rep, err := h.run(fn, false)
	if err != nil {
		h.w.t.Fatal(err)
	}
	return rep
}

func (h *home) apply(ops ...oxbow.Op) {
	h.w.t.Helper()
	if err := h.Apply(h.w.t.Context(), ops...); err != nil {
		h.w.t.Fatal(err)
	}
}

// shown returns the synchronized parts of a store's entries, by name.
func shown(t testing.TB, s oxbow.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		aliases := slices.Sorted(slices.Values(e.Aliases))
		out[e.Name] = fmt.Sprintf("%s|%s|%v|%v", e.Kind, e.Content, aliases, e.Labels)
	}
	return out
}

func same(t testing.TB, what string, stores ...oxbow.Store) {
	t.Helper()
	want := fmt.Sprint(shown(t, stores[0]))
	for i, s := range stores[1:] {
		if got := fmt.Sprint(shown(t, s)); got != want {
			t.Errorf("%s: store %d has\n%s\nand store 0\n%s", what, i+1, got, want)
		}
	}
}

func names(rep Report) string {
	var out []string
	for _, c := range rep.Changes {
		out = append(out, fmt.Sprintf("%s %s", c.Verb, c.Name))
	}
	for _, p := range rep.UnsentEntries {
		out = append(out, "waiting "+p.Name)
	}
	for _, p := range rep.EntriesNotAllowedToSend {
		out = append(out, "kept "+p.Name)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func note(name, content string, labels ...string) oxbow.Add {
	a := oxbow.Add{Name: name, Content: strings.ReplaceAll(content, "/", "\n")}
	for _, l := range labels {
		a.Labels = append(a.Labels, oxbow.Label{Key: "tag", Value: l})
	}
	return a
}

func update(name, content string) oxbow.Update {
	return oxbow.Update{Name: name, Content: strings.ReplaceAll(content, "/", "\n")}
}

// TestMove checks that entries of one home reach the server and another home, and that edits by both homes are merged.
func TestMove(t *testing.T) {
	w := newWorld(t)
	a, b := w.home("a"), w.home("b")
	a.apply(note("tea", "1/2/3/4/5"))
	a.apply(note("cups", "blue"), note("old", "x"))
	if got := names(a.push()); got != "add cups, add old, add tea" {
		t.Errorf("the first push: %s", got)
	}
	if got := names(b.pull()); got != "add cups, add old, add tea" {
		t.Errorf("the first pull: %s", got)
	}
	e, err := b.Get(t.Context(), "tea")
	if err != nil {
		t.Fatal(err)
	}
	a.apply(update("tea", "1a/2/3/4/5"), oxbow.Relabel{Name: "cups", Labels: []oxbow.Label{{Key: "tag", Value: "a"}}})
	b.apply(oxbow.Remove{Name: "tea"}, oxbow.Add{Name: "green tea", Content: "1\n2\n3\n4\n5b", Created: e.Created},
		oxbow.Relabel{Name: "cups", Labels: []oxbow.Label{{Key: "tag", Value: "b"}}}, oxbow.Remove{Name: "old"})
	if got := names(a.push()); got != "update cups, update tea" {
		t.Errorf("a pushes: %s", got)
	}
	if got := names(b.push()); got != "remove old, waiting cups, waiting green tea" {
		t.Errorf("b pushes: %s", got)
	}
	if got := names(b.pull()); got != "update cups, update green tea" {
		t.Errorf("b pulls: %s", got)
	}
	if got := names(b.push()); got != "update cups, update green tea" {
		t.Errorf("b pushes again: %s", got)
	}
	if got := names(a.pull()); got != "remove old, update cups, update green tea" {
		t.Errorf("a pulls: %s", got)
	}
	same(t, "at the end", w.server, a, b)
	if got := shown(t, a)["green tea"]; got != "note|1a\n2\n3\n4\n5b|[]|[]" {
		t.Errorf("it is %q", got)
	}
	w.asked.Store(0)
	if rep := a.pull(); names(rep) != "" || w.asked.Load() > 2 {
		t.Errorf("a pull with nothing to do: %s, %d requests", names(rep), w.asked.Load())
	}
	w.asked.Store(0)
	if rep := a.pull(); names(rep) != "" || w.asked.Load() != 1 {
		t.Errorf("another pull with nothing to do: %s, %d requests", names(rep), w.asked.Load())
	}
}

// TestRemovals checks that an edit wins over a removal, whichever side made it.
func TestRemovals(t *testing.T) {
	w := newWorld(t)
	a, b := w.home("a"), w.home("b")
	a.apply(note("p", "1"), note("q", "1"), note("r", "1"))
	a.push()
	b.pull()
	a.apply(update("p", "2"), oxbow.Remove{Name: "q"}, oxbow.Remove{Name: "r"})
	b.apply(oxbow.Remove{Name: "p"}, update("q", "2"), oxbow.Remove{Name: "r"})
	a.push()
	b.push()
	b.pull()
	b.push()
	a.pull()
	same(t, "at the end", w.server, a, b)
	if got := fmt.Sprint(shown(t, a)); got != "map[p:note|2|[]|[] q:note|2|[]|[]]" {
		t.Errorf("it is %s", got)
	}
}

// TestUndo checks that a pull that was undone does not count as a change of the home, and is repeated by the next
// pull.
func TestUndo(t *testing.T) {
	w := newWorld(t)
	a, b := w.home("a"), w.home("b")
	a.apply(note("p", "1/2/3/4/5"), note("q", "1"), note("r", "1"))
	a.push()
	b.pull()
	b.apply(update("p", "1/2/3/4/5b"))
	a.apply(update("p", "1a/2/3/4/5"), oxbow.Remove{Name: "q"}, update("r", "2"), note("s", "1"))
	a.push()
	before := fmt.Sprint(shown(t, b))
	b.pull()
	after := fmt.Sprint(shown(t, b))
	_, last, err := lastOf(t, b.Memory)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Revert(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(shown(t, b)); got != before {
		t.Fatalf("undone it is %s, want %s", got, before)
	}
	at := fmt.Sprint(shown(t, w.server))
	if rep := b.push(); fmt.Sprint(shown(t, w.server)) != at || len(rep.Changes) > 0 {
		t.Errorf("a push took the others' changes back: %s", names(rep))
	}
	b.pull()
	if got := fmt.Sprint(shown(t, b)); got != after {
		t.Errorf("pulled again it is %s, want %s", got, after)
	}
	b.push()
	a.pull()
	same(t, "at the end", w.server, a, b)
}

func lastOf(t *testing.T, m *oxbow.Memory) (c oxbow.Change, seq uint64, err error) {
	for c, err := range m.Log(t.Context()) {
		return c, c.Seq, err
	}
	return c, 0, errors.New("no change")
}

// TestOtherStore checks that a pull removes nothing if the server's store is replaced by another store. It also checks
// that a push removes nothing if the home is replaced by an empty home.
func TestOtherStore(t *testing.T) {
	w := newWorld(t)
	a := w.home("a")
	a.apply(note("p", "1"), note("q", "1"))
	a.push()
	w.server = storetest.Open(t, "other.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err := w.server.Apply(t.Context(), note("other", "x"), note("p", "1")); err != nil {
		t.Fatal(err)
	}
	if rep := a.pull(); names(rep) != "add other" || rep.NotRemovedCount != 1 {
		t.Errorf("a pull of another store: %s, %d return", names(rep), rep.NotRemovedCount)
	}
	a.push()
	same(t, "another server", w.server, a)
	files := a.files
	a = w.home("new")
	a.files = files
	if rep := a.push(); names(rep) != "" {
		t.Errorf("a push of an empty home: %s", names(rep))
	}
	a.pull()
	same(t, "another home", w.server, a)
}

// oneRun is a store whose positions in the log are valid only until the store is closed. A store that shows only a part
// of a memory's entries has such positions too.
type oneRun struct {
	oxbow.Store
	oxbow.Watcher
}

func (b oneRun) Capabilities() oxbow.Capabilities {
	c := oxbow.CapabilitiesOf(b.Store)
	c.Sequencer = nil
	return c
}

// TestOtherRun checks a server that was restarted: entries that were removed meanwhile are removed in the home, but
// entries that a restored backup lacks are not.
func TestOtherRun(t *testing.T) {
	w := newWorld(t)
	start := func() {
		b := oneRun{w.server, w.server.Store().(oxbow.Watcher)}
		w.shown = func(oxbow.Store) oxbow.Store { return &b }
	}
	start()
	a := w.home("a")
	a.apply(note("p", "1"), note("q", "1"), note("r", "1"))
	a.push()
	a.pull()
	if err := w.server.Apply(t.Context(), oxbow.Remove{Name: "q"}); err != nil {
		t.Fatal(err)
	}
	start()
	if rep := a.pull(); names(rep) != "remove q" || rep.NotRemovedCount != 0 {
		t.Errorf("a pull of another run: %s, %d return", names(rep), rep.NotRemovedCount)
	}
	a.apply(note("s", "1"))
	a.push()
	a.pull()
	same(t, "another run", w.server, a)

	w.server = storetest.Open(t, "backup.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err := w.server.Apply(t.Context(), note("p", "1"), note("q", "1"), note("r", "1")); err != nil {
		t.Fatal(err)
	}
	start()
	if rep := a.pull(); names(rep) != "add q" || rep.NotRemovedCount != 1 {
		t.Errorf("a pull of a backup: %s, %d return", names(rep), rep.NotRemovedCount)
	}
	a.push()
	same(t, "a backup", w.server, a)
}

// TestBlocked tests which entries push does not send. An entry that CheckMaySendEntry refuses is reported as kept. A
// handoff is not sent and not reported. The label that says that an entry was verified is not sent with the entry. A
// dry run must change nothing.
func TestBlocked(t *testing.T) {
	w := newWorld(t)
	a := w.home("a")
	a.apply(note("p", "1"), note("secret", "1"), oxbow.Add{Name: "task", Kind: oxbow.Handoff, Content: "1"},
		oxbow.Add{Name: "t", Content: "1", Labels: []oxbow.Label{{Key: oxbow.LabelVerified, Value: "go test"}}})
	a.o.CheckMaySendEntry = func(e *oxbow.Entry) error {
		if e.Name == "secret" {
			return errors.New("a secret")
		}
		return nil
	}
	a.o.DryRun = true
	if got := names(a.push()); got != "add p, add t, kept secret" || len(shown(t, w.server)) > 0 {
		t.Errorf("a dry run: %s, %v", got, shown(t, w.server))
	}
	a.o.DryRun = false
	if got := names(a.push()); got != "add p, add t, kept secret" {
		t.Errorf("a push: %s", got)
	}
	if got := fmt.Sprint(shown(t, w.server)); got != "map[p:note|1|[]|[] t:note|1|[]|[]]" {
		t.Errorf("the server has %s", got)
	}
	if got := names(a.push()); got != "kept secret" {
		t.Errorf("another push: %s", got)
	}
	if got := names(a.pull()); got != "" {
		t.Errorf("a pull: %s", got)
	}
}

// If both sides gave an alias to different entries, the older entry keeps the alias in every home. The pull reports
// the entry that lost it. All sides become equal, even if some entries were pushed before all homes had pulled.
func TestTakenAlias(t *testing.T) {
	for _, isMineOlder := range []bool{false, true} {
		w := newWorld(t)
		a, b := w.home("a"), w.home("b")
		c := w.home("c")
		theirs, mine := note("theirs", "from a"), note("mine", "of b")
		theirs.Aliases, mine.Aliases = []string{"key", "free"}, []string{"key"}
		now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
		theirs.Created, mine.Created = now, now.Add(time.Hour)
		keeper, loser := "theirs", "mine"
		if isMineOlder {
			keeper, loser = loser, keeper
			mine.Created = now.Add(-time.Hour)
		}
		a.apply(theirs)
		a.push()
		b.apply(mine)
		c.apply(note("third", "of c"))
		if got := names(b.push()); got != "waiting mine" {
			t.Errorf("push of an alias that another entry of the server has: %s", got)
		}
		rep := b.pull()
		want := []oxbow.TakenAlias{{Name: loser, Alias: "key", Owner: keeper}}
		if !slices.Equal(rep.TakenAliases, want) {
			t.Errorf("pull reports %v, want %v", rep.TakenAliases, want)
		}
		for range 2 {
			for _, h := range []*home{c, b, a} {
				h.pull()
				h.push()
			}
		}
		for range 2 {
			for _, h := range []*home{a, b, c} {
				if got := names(h.pull()) + names(h.push()); got != "" {
					t.Errorf("pull and push still change %s", got)
				}
			}
		}
		same(t, "at the end", w.server, a, b, c)
		uniqueAliases(t, w.server)
		got, err := a.Memory.Get(t.Context(), keeper)
		if err != nil || !slices.Contains(got.Aliases, "key") {
			t.Errorf("%s has the aliases %v, %v, want key", keeper, got.Aliases, err)
		}
	}
}

// Two homes pushed entries with the same alias at the same time. Each home resolves this in the same way, so that
// exactly one entry keeps the alias.
func TestAliasTwiceOnServer(t *testing.T) {
	w := newWorld(t)
	a, b := w.home("a"), w.home("b")
	first, second := note("first", "from a"), note("second", "of b")
	first.Aliases, second.Aliases = []string{"key"}, []string{"key"}
	a.apply(first)
	b.apply(second)
	a.push()
	// what b would push if it had not read the server before
	if err := w.server.Apply(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	a.pull()
	b.pull()
	for range 2 {
		a.push()
		b.push()
		a.pull()
		b.pull()
	}
	same(t, "at the end", w.server, a, b)
	if owners := uniqueAliases(t, w.server); owners["key"] != "first" {
		t.Errorf("the alias identifies %q, want the older entry", owners["key"])
	}
}

// uniqueAliases fails the test if two entries have the same alias. It returns the entry that each alias belongs to.
func uniqueAliases(t testing.TB, s oxbow.Store) map[string]string {
	t.Helper()
	owners := map[string]string{}
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range e.Aliases {
			if other, ok := owners[a]; ok {
				t.Errorf("%q is an alias of %q and %q", a, other, e.Name)
			}
			owners[a] = e.Name
		}
	}
	return owners
}
