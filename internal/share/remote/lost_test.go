// This file tests requests and answers that are lost, and calls that are cancelled.

package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// cutter simulates a proxy that interrupts connections. It only affects requests for the given route. The fields
// before, after and gate apply to the first requests, in this order.
type cutter struct {
	route  string
	before int // number of requests that do not arrive
	after  int // number of requests that are carried out but not answered
	gate   int // number of requests that are carried out, but answered with status 502 (bad gateway)

	asked *atomic.Int32 // number of requests on the route
}

func (c *cutter) wrap(h http.Handler) http.Handler {
	c.asked = new(atomic.Int32)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, c.route) {
			h.ServeHTTP(w, r)
			return
		}
		n := int(c.asked.Add(1))
		if n <= c.before {
			panic(http.ErrAbortHandler)
		}
		if n > c.before+c.after+c.gate {
			h.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		if n <= c.before+c.after {
			panic(http.ErrAbortHandler)
		}
		http.Error(w, "bad gateway", http.StatusBadGateway)
	})
}

func changes(t *testing.T, m *oxbow.Memory) (n int) {
	t.Helper()
	for _, err := range m.Log(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestLostAnswer tests Apply if the connection loses requests or answers. Apply sends the request at most twice, and
// the change must not be made twice. If the second attempt fails as well, Apply returns ErrUnknownOutcome.
func TestLostAnswer(t *testing.T) {
	for _, tc := range []struct {
		name  string
		proxy cutter
		want  error
		made  int
		asked int
	}{
		{"once after the commit", cutter{after: 1}, nil, 1, 2},
		{"once before it arrives", cutter{before: 1}, nil, 1, 2},
		{"by a proxy's own answer", cutter{gate: 1}, nil, 1, 2},
		{"twice after the commit", cutter{after: 2}, oxbow.ErrUnknownOutcome, 1, 2},
		{"before, then after", cutter{before: 1, after: 1}, oxbow.ErrUnknownOutcome, 1, 2},
		{"never arrives", cutter{before: 9}, oxbow.ErrUnknownOutcome, 0, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.proxy.route = "/apply"
			m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
			c := dial(t, serve(t, m, tc.proxy.wrap))
			err := c.Apply(t.Context(), oxbow.Add{Name: "a", Content: "x"})
			if !errors.Is(err, tc.want) || changes(t, m) != tc.made || int(tc.proxy.asked.Load()) != tc.asked {
				t.Errorf(
					"Apply() = %v after %d requests, with %d changes; want %v, %d, %d",
					err,
					tc.proxy.asked.Load(),
					changes(t, m),
					tc.want,
					tc.asked,
					tc.made,
				)
			}
		})
	}
}

// TestLostAnswerOfACondition tests that a client repeats an Apply call if the answer to the first request is lost. The
// server must recognize the operation ID, and not check the condition of the change again, because the condition would
// fail after the first request. The server must do the same if it serves only a part of the memory.
func TestLostAnswerOfACondition(t *testing.T) {
	for _, part := range []bool{false, true} {
		m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
		if err := m.Apply(
			t.Context(),
			oxbow.Add{Name: "a", Content: "x"},
			oxbow.Add{Name: "b", Content: "x"},
		); err != nil {
			t.Fatal(err)
		}
		of := m
		if part {
			of = scope.Within(m, scope.Scope{Any: []oxbow.Filter{{}}})
		}
		proxy := cutter{route: "/apply", after: 1}
		c := dial(t, serve(t, of, proxy.wrap))
		ctx := oxbow.WithOpID(t.Context(), "op-1")
		if err := c.Apply(
			ctx,
			oxbow.Update{Name: "a", Content: "y", If: 1},
			oxbow.Remove{Name: "b"},
			oxbow.Add{Name: "c"},
		); err != nil {
			t.Errorf("Apply() = %v, want none", err)
		}
		if err := c.Apply(ctx, oxbow.Remove{Name: "a"}); err != nil {
			t.Errorf("Apply() of the same op id = %v, want none", err)
		}
		if e, err := m.Get(ctx, "a"); err != nil || e.Content != "y" {
			t.Errorf("the entry is %+v, %v", e, err)
		}
		if err := c.Apply(
			oxbow.WithOpID(ctx, strings.Repeat("x", 65)),
			oxbow.Remove{Name: "a"},
		); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("Apply() with an op id of 65 bytes = %v, want ErrInvalid", err)
		}
		if err := c.Apply(oxbow.WithOpID(ctx, "\xff"), oxbow.Remove{Name: "a"}); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("Apply() with an op id that is not UTF-8 = %v, want ErrInvalid", err)
		}
	}
}

// TestNotRepeated checks that nothing is sent twice if the server does not keep op IDs. An undo is never sent twice.
func TestNotRepeated(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	proxy := cutter{route: "/apply", after: 1}
	c := dial(t, serve(t, bare{m}, proxy.wrap))
	if err := c.Apply(t.Context(), oxbow.Add{Name: "a", Content: "x"}); !errors.Is(err, oxbow.ErrUnknownOutcome) ||
		proxy.asked.Load() != 1 {
		t.Errorf("Apply() = %v after %d requests, want ErrUnknownOutcome after 1", err, proxy.asked.Load())
	}
	undo := cutter{route: "/revert", after: 1}
	c = dial(t, serve(t, m, undo.wrap))
	if _, err := c.Revert(t.Context(), 1); !errors.Is(err, oxbow.ErrUnknownOutcome) || undo.asked.Load() != 1 {
		t.Errorf("Revert() = %v after %d requests, want ErrUnknownOutcome after 1", err, undo.asked.Load())
	}
	if n := changes(t, m); n != 2 {
		t.Errorf("there are %d changes, want 2", n)
	}
}

func TestNothingWasSent(t *testing.T) {
	srv := httptest.NewServer(nil)
	srv.Close()
	c := dial(t, &served{url: srv.URL})
	if err := c.Apply(t.Context(), oxbow.Add{Name: "a"}); err == nil || errors.Is(err, oxbow.ErrUnknownOutcome) {
		t.Errorf("Apply() without a server = %v, want an error that says that nothing was made", err)
	}
}

// TestCanceledMeanwhile cancels the context of calls while the server handles them.
func TestCanceledMeanwhile(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	var cancel context.CancelFunc
	gone := make(chan struct{})
	c := dial(t, serve(t, m, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Body != nil {
				// read the body, because otherwise the server does not notice that the client has disconnected
				_, _ = new(bytes.Buffer).ReadFrom(r.Body)
			}
			cancel()
			<-r.Context().Done()
			gone <- struct{}{}
		})
	}))
	for name, ask := range map[string]func(context.Context) error{
		"Apply":   func(ctx context.Context) error { return c.Apply(ctx, oxbow.Add{Name: "a"}) },
		"Get":     func(ctx context.Context) error { _, err := c.Get(ctx, "a"); return err },
		"Entries": func(ctx context.Context) error { return first(c.Entries(ctx, oxbow.Filter{})) },
	} {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		cancel = stop
		err := ask(ctx)
		<-gone
		if !errors.Is(err, context.Canceled) || errors.Is(err, oxbow.ErrUnknownOutcome) != (name == "Apply") {
			t.Errorf("%s() = %v, want Canceled, and of a change an unknown outcome", name, err)
		}
	}
}

// first returns the first error that a sequence yields, or nil.
func first(seq func(func(oxbow.Entry, error) bool)) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestCanceledStream cancels the context while a list is being received.
func TestCanceledStream(t *testing.T) {
	m, c := opened(t)
	var ops []oxbow.Op
	for i := range 2000 {
		ops = append(ops, oxbow.Add{Name: fmt.Sprint("e", i), Content: strings.Repeat("long ", 1000)})
	}
	if err := m.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, last := 0, error(nil)
	for _, err := range c.Entries(ctx, oxbow.Filter{}) {
		n, last = n+1, err
		if n == 10 {
			cancel()
		}
	}
	if n == len(ops) || !errors.Is(last, context.Canceled) {
		t.Errorf("after a cancel, the list has %d entries and ends with %v", n, last)
	}
}

// timed is a response writer that records the write deadlines that are set. The field set counts the calls of
// SetWriteDeadline, and the field cleared counts the calls that remove the deadline.
type timed struct {
	*httptest.ResponseRecorder
	set, cleared int
	wrong        time.Duration // time until the last invalid deadline: too early, too late, or set after a removal
}

func (w *timed) SetWriteDeadline(t time.Time) error {
	w.set++
	if t.IsZero() {
		w.cleared++
	} else if d := time.Until(t); w.cleared > 0 || d < writeTimeout/2 || d > writeTimeout {
		w.wrong = d
	}
	return nil
}

// TestSlowReader checks that a stream sets a new write deadline for each 32 kB that it writes. After close, no deadline
// remains, so that the next request on the connection has no deadline either.
func TestSlowReader(t *testing.T) {
	w := &timed{ResponseRecorder: httptest.NewRecorder()}
	out := newStreamWriter(w, nil)
	for i := range 100 {
		if err := out.writeLine(streamLine{Entry: &wireEntry{ID: uint64(i), Content: strings.Repeat("x",
			1000)}}); err != nil {
			t.Fatal(err)
		}
	}
	out.close(nil, "")
	if w.set < 4 || w.cleared != 1 || w.wrong != 0 {
		t.Errorf(
			"for 100 kB, %d deadlines were set, one in %s, and %d cleared; want one for each 32 kB, and the last "+
				"cleared",
			w.set,
			w.wrong,
			w.cleared,
		)
	}
}

// TestNoRandomness checks that a change is not sent if no op ID can be created for it.
func TestNoRandomness(t *testing.T) {
	m, _ := opened(t)
	c, err := Open(serve(t, m, nil).url, secret, &Options{Rand: strings.NewReader("sixteen bytes ok")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i, want := range []bool{true, false} {
		if err := c.Apply(t.Context(), oxbow.Add{Name: fmt.Sprint(i)}); (err == nil) != want || changes(t, m) != 1 {
			t.Errorf("Apply() %d = %v, with %d changes", i, err, changes(t, m))
		}
	}
}

// roundTrip is a function that acts as an HTTP transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestLostThenRefused checks that the outcome stays unknown if the first answer was lost and the repetition did not
// reach the server.
func TestLostThenRefused(t *testing.T) {
	m, c := opened(t)
	asked, base := 0, c.link.client.Transport
	c.link.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "/apply") {
			return base.RoundTrip(r)
		}
		asked++
		if asked > 1 {
			return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
		}
		res, err := base.RoundTrip(r)
		if err == nil {
			_ = res.Body.Close()
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	})
	if err := c.Apply(t.Context(), oxbow.Add{Name: "a"}); !errors.Is(err, oxbow.ErrUnknownOutcome) || asked != 2 ||
		changes(t, m) != 1 {
		t.Errorf("Apply() = %v after %d requests, want ErrUnknownOutcome after 2", err, asked)
	}
}

// TestEventsOfAnApply checks that watchers get each event exactly once, whatever happens between a change and its
// answer.
func TestEventsOfAnApply(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	between := func() {}
	s := serve(t, m, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, r)
			if strings.HasSuffix(r.URL.Path, "/apply") {
				between()
			}
			w.WriteHeader(answer.Code)
			_, _ = w.Write(answer.Body.Bytes())
		})
	})
	c := dial(t, s)
	var names []string
	resets := 0
	c.Watch(func(e oxbow.Event) {
		for _, d := range e.Changes {
			names = append(names, d.Entry.Name)
		}
		if e.Reset {
			resets++
		}
	})
	apply := func(ctx context.Context, name string) {
		t.Helper()
		if err := c.Apply(ctx, oxbow.Add{Name: name}); err != nil {
			t.Errorf("Apply() = %v", err)
		}
	}
	between = func() {
		if err := c.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
	}
	apply(t.Context(), "a")
	between = func() {}
	if !slices.Equal(names, []string{"a"}) || resets > 0 {
		t.Errorf("after a Refresh between, the watcher heard of %q and %d resets", names, resets)
	}
	// The context is cancelled, and the connection is interrupted, after the head of the answer has arrived.
	ctx, cancel := context.WithCancel(t.Context())
	base := c.link.client.Transport
	c.link.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		res, err := base.RoundTrip(r)
		if strings.HasSuffix(r.URL.Path, "/apply") {
			cancel()
			_ = res.Body.Close()
		}
		return res, err
	})
	apply(ctx, "b")
	c.link.client.Transport = base
	if !slices.Equal(names, []string{"a", "b"}) || resets > 0 {
		t.Errorf("after a cancelled Apply, the watcher heard of %q and %d resets", names, resets)
	}
	// The server now has another store, which has no positions.
	s.set(bare{m})
	apply(t.Context(), "c")
	if resets != 1 {
		t.Errorf("of a store without positions, the watcher heard of %d resets, want 1", resets)
	}
}

// TestToken checks that a wrong token is refused, and that the token is not sent to another host.
func TestToken(t *testing.T) {
	m, _ := opened(t)
	s := serve(t, m, nil)
	c, err := Open(s.url, "wrong", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("Get() with a wrong token = %v", err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a redirect was followed")
	}))
	defer other.Close()
	from := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer from.Close()
	c = dial(t, &served{url: from.URL})
	if err := c.Apply(t.Context(), oxbow.Add{Name: "a"}); err == nil {
		t.Error("Apply() that was redirected succeeded")
	}
	if _, err := c.Get(t.Context(), "a"); err == nil || errors.As(err, new(*url.Error)) {
		t.Errorf("Get() that was redirected = %v", err)
	}
}
