// The server: which tenant a request is of.

package tenant

import (
	"net/http"

	"github.com/oxbow-memory/oxbow/auth"
	"github.com/oxbow-memory/oxbow/remote"
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
}

// ServeHTTP implements [http.Handler]. The doors of the tenant look at the token again,
// with a guard of their own.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tenant := s.tenant(w, r)
	if tenant == "" {
		s.Outside.ServeHTTP(w, r)
		return
	}
	home, release, err := s.Pool.use(r.Context(), tenant)
	if err != nil {
		p := remote.ProblemOf(err)
		if err == errFull || err == errClosed {
			w.Header().Set("Retry-After", "1")
			p.Status, p.Code, p.Title, p.Remedy = http.StatusServiceUnavailable, "busy", "The server is busy", "try again in a moment"
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
		if err != nil {
			return ""
		}
		return t.Tenant
	}
	return s.Visitor(w, r)
}
