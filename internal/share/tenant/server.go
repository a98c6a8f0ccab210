// The server: which tenant a request is of.

package tenant

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/share/remote"
)

// Server answers requests of all tenants.
type Server struct {
	Pool  *Pool
	Guard auth.Guard // of all tokens

	// Outside answers what is of no tenant: requests of the server's own home, and those
	// that are to be refused.
	Outside http.Handler

	// Visitor returns the tenant of a request without a token, such as by a cookie, and
	// "" where there is none. It must not believe a name that it did not give out.
	Visitor func(http.ResponseWriter, *http.Request) string

	Logger  *slog.Logger // gets what a request failed of and the client is not told; nil discards
	Metrics *Metrics
	Health  *Health // nil where nothing keeps memories from being read

	// Described answers below /.well-known/: the provider of tokens. Nil for none.
	Described http.Handler
}

// ServeHTTP implements [http.Handler]. The doors of the tenant look at the token again,
// with a guard of their own.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := &counted{ResponseWriter: w}
	tenant, end := "", s.Metrics.begin(r.URL.Path)
	defer func() { end(tenant, cmp.Or(answer.code, http.StatusOK)) }()
	switch {
	case s.Described != nil && strings.HasPrefix(r.URL.Path, "/.well-known/"):
		s.Described.ServeHTTP(answer, r)
	case r.URL.Path == "/healthz": // for any host: its answer has nothing of what is served
		s.Health.ServeHTTP(answer, r)
	case r.URL.Path == "/metrics":
		s.serveMetrics(answer, r)
	default:
		tenant = s.tenant(answer, r)
		s.serve(answer, r, tenant)
	}
}

// serveMetrics answers with the metrics, which name all tenants: to a token for them,
// and to one of the server's own home that is bound to nothing.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	t, err := s.Guard.Admit(r)
	if refused, ok := errors.AsType[*auth.RefusedError](err); ok {
		refused.Challenge(w.Header())
		http.Error(w, refused.Reason, refused.Status)
		return
	}
	if !t.Metrics() {
		http.Error(w, "this token is not for metrics; give one the right only=metrics", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_ = s.Metrics.write(w, s.Pool) // the client is gone
}

// serve hands a request to the doors of a tenant, "" for none.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, tenant string) {
	if tenant == "" {
		s.Outside.ServeHTTP(w, r)
		return
	}
	home, release, err := s.Pool.use(r.Context(), tenant)
	if err != nil {
		p := remote.ProblemOf(err)
		p.Report(s.Logger)
		if err == errFull || err == errClosed {
			w.Header().Set("Retry-After", "1")
			p.Status = http.StatusServiceUnavailable
			p.Code = "busy"
			p.Title = "The server is busy"
			p.Remedy = "try again in a moment"
		}
		p.Write(w)
		return
	}
	defer release()
	home.ServeHTTP(w, r)
}

// tenant returns the tenant of a request, "" for none. A token counts before a cookie.
func (s *Server) tenant(w http.ResponseWriter, r *http.Request) string {
	if s.Guard.AdmitSite(r) != nil {
		return ""
	}
	if r.Header.Get("Authorization") != "" {
		t, err := s.Guard.Admit(r)
		if refused, ok := errors.AsType[*auth.RefusedError](err); ok && refused.Status != http.StatusRequestEntityTooLarge {
			return ""
		}
		return t.Tenant // its doors refuse what is too large
	}
	return s.Visitor(w, r)
}
