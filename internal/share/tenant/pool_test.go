// This file tests when homes are opened and closed, and which home serves a request.

package tenant

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
)

// street is a test environment with a pool, which opens and closes the homes (memories) of tenants. A home in a street
// answers each request with the name of its tenant. The map now contains the number of open homes of each tenant. If
// the error fail is not nil, opening a home fails with that error.
type street struct {
	pool *Pool

	mu   sync.Mutex // mu guards the fields below.
	now  map[string]int
	log  []string // opened homes ("+" and the tenant's name) and closed homes, in order
	fail error
	slow time.Duration // time that closing a home takes
}

type house struct {
	*street
	name string
}

func (h *house) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if until := r.URL.Query().Get("hold"); until != "" {
		d, err := time.ParseDuration(until)
		if err != nil {
			panic(err)
		}
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now[h.name] != 1 {
		fmt.Fprintf(w, "closed under a request: ")
	}
	fmt.Fprint(w, h.name)
}

func (h *house) Close() error {
	<-time.After(h.slow) // This waits on the fake clock of the test.
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now[h.name]--
	h.log = append(h.log, "-"+h.name)
	return nil
}

func newStreet(o Options) *street {
	s := &street{now: map[string]int{}}
	s.pool = New(func(_ context.Context, name string) (TenantHome, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.fail != nil {
			return nil, s.fail
		}
		s.now[name]++
		if s.now[name] > 1 {
			return nil, errors.New("opened twice")
		}
		s.log = append(s.log, "+"+name)
		return &house{s, name}, nil
	}, &o)
	return s
}

func secretOf(name string) string { return "a-secret-of-" + name + "-0123" }

// ask sends a request of a tenant, and returns the status and the body of the answer.
func (s *street) ask(t *testing.T, ctx context.Context, name, query string) (int, string) {
	t.Helper()
	server := &Server{
		Pool:            s.pool,
		NoTenantHandler: http.NotFoundHandler(),
		Metrics:         NewMetrics("test", time.Now()),
		VisitorTenant: func(http.ResponseWriter, *http.Request) string {
			return ""
		},
	}
	for _, n := range []string{"a", "b", "c", ""} {
		token := auth.NewToken("t"+n, secretOf(n), auth.Permissions{})
		token.Tenant = n
		server.Guard.Tokens = append(server.Guard.Tokens, token)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "http://localhost/?"+query, nil)
	r.Header.Set("Authorization", "Bearer "+secretOf(name))
	server.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func (s *street) want(t *testing.T, log ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.log, log) {
		t.Errorf("homes were %v, want %v", s.log, log)
	}
}

func TestPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(Options{MaxOpenHomes: 2, IdleTimeout: time.Minute})
		s.slow = time.Second
		get := func(name string) {
			t.Helper()
			if status, got := s.ask(t, t.Context(), name, ""); status != 200 || got != name {
				t.Errorf("%s got %d %q", name, status, got)
			}
		}
		get("a")
		time.Sleep(time.Second)
		get("b")
		time.Sleep(time.Second)
		get("a")
		s.want(t, "+a", "+b")
		get("c") // Home b was unused for the longest time.
		s.want(t, "+a", "+b", "-b", "+c")
		time.Sleep(58 * time.Second)
		get("a")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		s.want(t, "+a", "+b", "-b", "+c", "-c")
		if err := s.pool.Close(); err != nil {
			t.Error(err)
		}
		s.want(t, "+a", "+b", "-b", "+c", "-c", "-a")
		if status, got := s.ask(t, t.Context(), "a", ""); status != 503 || !strings.Contains(got, "ending") {
			t.Errorf("after the end: %d %q", status, got)
		}
		if status, _ := s.ask(t, t.Context(), "", ""); status != 404 {
			t.Errorf("a token of no tenant got %d from outside", status)
		}
	})
}

// TestInUse tests that a home is not closed while it serves a request, however long the request takes.
func TestInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(Options{MaxOpenHomes: 2, IdleTimeout: time.Minute})
		var held sync.WaitGroup
		for _, name := range []string{"a", "b"} {
			held.Go(func() {
				if status, got := s.ask(t, t.Context(), name, "hold=1h"); status != 200 || got != name {
					t.Errorf("%s got %d %q", name, status, got)
				}
			})
		}
		synctest.Wait()
		if status, got := s.ask(t, t.Context(), "c", ""); status != 503 || !strings.Contains(got, "in use") {
			t.Errorf("a third got %d %q", status, got)
		}
		if status, got := s.ask(t, t.Context(), "a", "hold=30m"); status != 200 || got != "a" {
			t.Errorf("a again got %d %q", status, got)
		}
		held.Wait()
		s.mu.Lock()
		opened := slices.Clone(s.log)
		s.mu.Unlock()
		slices.Sort(opened)
		if !slices.Equal(opened, []string{"+a", "+b"}) {
			t.Errorf("homes were %v", opened)
		}
		if err := s.pool.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestManyTenants sends many requests of three tenants to a pool that may keep at most two homes open at once. A home,
// which contains a tenant's memory, must not be opened twice. A home must not be closed while it serves a request.
func TestManyTenants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(Options{MaxOpenHomes: 2, IdleTimeout: 20 * time.Millisecond})
		s.slow = 7 * time.Millisecond
		var wg sync.WaitGroup
		var busy, served int
		var mu sync.Mutex // mu guards busy and served.
		for i := range 60 {
			wg.Go(func() {
				name := string("abc"[i%3])
				for j := range 40 {
					status, got := s.ask(t, t.Context(), name, fmt.Sprintf("hold=%dms", (i*7+j*13)%19+1))
					mu.Lock()
					switch {
					case status == 503:
						busy++
					case status == 200 && got == name:
						served++
					default:
						t.Errorf("%s got %d %q", name, status, got)
					}
					mu.Unlock()
					time.Sleep(time.Duration((i*3+j*5)%40) * time.Millisecond)
				}
			})
		}
		wg.Wait()
		if busy+served != 2400 || served < 1000 {
			t.Errorf("%d were served, %d were sent away", served, busy)
		}
		if err := s.pool.Close(); err != nil {
			t.Error(err)
		}
		for name, n := range s.now {
			if n != 0 {
				t.Errorf("%s is open %d times", name, n)
			}
		}
	})
}

// TestFailure tests that the next request tries again to open a home that could not be opened. If a client
// disconnects, the home must still be opened for others.
func TestFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(Options{})
		s.fail = errors.New("the disk is on fire")
		if status, got := s.ask(t, t.Context(), "a", ""); status != 500 || !strings.Contains(got, "on fire") {
			t.Errorf("got %d %q", status, got)
		}
		s.fail = nil
		gone, leave := context.WithCancel(t.Context())
		leave()
		s.ask(t, gone, "a", "")
		if status, got := s.ask(t, t.Context(), "a", ""); status != 200 || got != "a" {
			t.Errorf("got %d %q", status, got)
		}
		if err := s.pool.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestTooLarge tests requests with a body of more than auth.MaxBodyBytes. A request with a tenant's token must reach
// the handler of this tenant. A request with an unknown token must reach NoTenantHandler.
func TestTooLarge(t *testing.T) {
	s := newStreet(Options{})
	token := auth.NewToken("a", secretOf("a"), auth.Permissions{})
	token.Tenant = "a"
	server := &Server{
		Pool:            s.pool,
		Guard:           auth.RequestGuard{Tokens: auth.Tokens{token}},
		NoTenantHandler: http.NotFoundHandler(),
		Metrics:         NewMetrics("test", time.Now()),
	}
	for name, want := range map[string]string{"a": "a", "b": "404 page not found\n"} {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost/", nil)
		r.ContentLength = auth.MaxBodyBytes + 1
		r.Header.Set("Authorization", "Bearer "+secretOf(name))
		server.ServeHTTP(w, r)
		if w.Body.String() != want {
			t.Errorf("a large request of %q gets %q, want %q", name, w.Body.String(), want)
		}
	}
	if err := s.pool.Close(); err != nil {
		t.Fatal(err)
	}
}
