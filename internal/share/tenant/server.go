// This file passes each request to the home of its tenant.

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

// Server serves the requests of all tenants.
type Server struct {
	Pool  *Pool
	Guard auth.RequestGuard // guard that checks the tokens of all tenants

	// NoTenantHandler serves requests without a tenant. These are requests for the server's own home, and requests
	// that it must refuse.
	NoTenantHandler http.Handler

	// VisitorTenant returns the tenant of a request without a token, for example from a cookie, or "" if the request
	// lacks a tenant. It must accept only names that the program itself has issued.
	VisitorTenant func(http.ResponseWriter, *http.Request) string

	Logger  *slog.Logger // receives details about failures that clients must not see (nil discards them)
	Metrics *Metrics
	Health  *Health // may be nil if memories can always be read

	// MetadataHandler serves the paths below /.well-known/, which describe the provider of tokens. It may be nil.
	MetadataHandler http.Handler
}

// ServeHTTP implements [http.Handler]. The home of the tenant checks the token again with its own guard.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := &statusWriter{ResponseWriter: w}
	tenant, end := "", s.Metrics.beginRequest(r.URL.Path)
	defer func() { end(tenant, cmp.Or(answer.code, http.StatusOK)) }()
	switch {
	case s.MetadataHandler != nil && strings.HasPrefix(r.URL.Path, "/.well-known/"):
		s.MetadataHandler.ServeHTTP(answer, r)
	// Requests with any Host are accepted, because the answer contains nothing about the memories.
	case r.URL.Path == "/healthz":
		s.Health.ServeHTTP(answer, r)
	case r.URL.Path == "/metrics":
		s.serveMetrics(answer, r)
	default:
		tenant = s.findRequestTenant(answer, r)
		s.serveTenant(answer, r, tenant)
	}
}

// serveMetrics serves the metrics, which contain the names of all tenants. The request needs a token for metrics, or a
// token with all rights to the server's own home.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	t, err := s.Guard.Admit(r)
	if refused, ok := errors.AsType[*auth.RefusedError](err); ok {
		refused.SetChallenge(w.Header())
		http.Error(w, refused.Reason, refused.Status)
		return
	}
	if !t.MayReadMetrics() {
		http.Error(w, "this token is not for metrics; give one the right only=metrics", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_ = s.Metrics.writeMetrics(w, s.Pool) // Ignore the error, because the client has disconnected.
}

// serveTenant passes a request to the home of a tenant, or to s.NoTenantHandler if tenant is "".
func (s *Server) serveTenant(w http.ResponseWriter, r *http.Request, tenant string) {
	if tenant == "" {
		s.NoTenantHandler.ServeHTTP(w, r)
		return
	}
	home, release, err := s.Pool.acquireHome(r.Context(), tenant)
	if err != nil {
		p := remote.MakeProblem(err)
		p.LogErrorWithFileNames(s.Logger)
		if err == errAllHomesInUse || err == errPoolClosed {
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

// findRequestTenant returns the tenant of a request. If the request has both a token and a cookie, the token decides.
// findRequestTenant returns "" if the request has no tenant, or if the guard refuses the request.
func (s *Server) findRequestTenant(w http.ResponseWriter, r *http.Request) string {
	if s.Guard.CheckHostAndOrigin(r) != nil {
		return ""
	}
	if r.Header.Get("Authorization") != "" {
		t, err := s.Guard.Admit(r)
		if refused, ok := errors.AsType[*auth.RefusedError](err); ok &&
			refused.Status != http.StatusRequestEntityTooLarge {
			return ""
		}
		return t.Tenant // Ignore that the request may be too large. The home that serves the request refuses it.
	}
	return s.VisitorTenant(w, r)
}
