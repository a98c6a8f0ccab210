// This file serves the OpenAPI 3.1 description of all routes.

package httpapi

import (
	_ "embed"
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
)

//go:embed openapi.json
var openAPIDescription []byte

// serveOpenAPIDescription sends the OpenAPI description. The client needs no token, but the guard g must accept the
// request's host and origin.
func serveOpenAPIDescription(w http.ResponseWriter, r *http.Request, g auth.RequestGuard) error {
	if err := g.CheckHostAndOrigin(r); err != nil {
		return err
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return wrongMethodError(w, r, []string{http.MethodGet, http.MethodHead, http.MethodOptions})
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	if r.Method == http.MethodGet {
		_, _ = w.Write(openAPIDescription) // ignore the error: the client has disconnected
	}
	return nil
}
