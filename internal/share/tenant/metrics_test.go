// This file tests which tokens can read metrics, and what the metrics count.

package tenant

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
)

func TestMetrics(t *testing.T) {
	s := newStreet(Options{})
	file := "own a-secret-of-own-0123456 ro\na a-secret-of-a-012345678 rw tenant=a\nm a-secret-of-m-012345678 ro " +
		"only=metrics\np a-secret-of-p-012345678 rw project=x\n"
	tokens, _, err := auth.ParseTokens("tokens", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	server := &Server{Pool: s.pool, Guard: auth.RequestGuard{Tokens: tokens}, NoTenantHandler: http.NotFoundHandler(),
		Metrics:       NewMetrics("v1 \"quoted\\\"", time.Unix(7, 0)),
		VisitorTenant: func(http.ResponseWriter, *http.Request) string { return "" }}
	get := func(path, host, secret string) (int, string) {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "http://"+host+path, nil)
		if secret != "" {
			r.Header.Set("Authorization", "Bearer "+secret)
		}
		server.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	if status, got := get("/healthz", "10.0.0.7:8333", ""); status != 200 || got != "ok\n" {
		t.Errorf("/healthz = %d %q", status, got)
	}
	for range 3 {
		if status, got := get("/api/v1/stats", "localhost", "a-secret-of-a-012345678"); status != 200 || got != "a" {
			t.Errorf("a got %d %q", status, got)
		}
	}
	for secret, want := range map[string]int{"": 401, "a-secret-of-a-012345678": 403, "a-secret-of-p-012345678": 403,
		"a-secret-of-own-0123456": 200, "a-secret-of-m-012345678": 200} {
		if status, _ := get("/metrics", "localhost", secret); status != want {
			t.Errorf("/metrics with %q = %d, want %d", secret, status, want)
		}
	}
	_, got := get("/metrics", "localhost", "a-secret-of-m-012345678")
	for _, want := range []string{
		`oxbow_requests_total{tenant="a",door="api",code="200"} 3` +
			"\n", `oxbow_requests_total{tenant="",door="other",code="403"} 2` + "\n",
		`oxbow_request_seconds_bucket{door="api",le="+Inf"} 3` + "\n", `oxbow_request_seconds_count{door="api"} 3` +
			"\n",
		"oxbow_tenants_open 1\n", "oxbow_tenants_opened_total 1\n", "oxbow_requests_in_flight 1\n",
		"process_start_time_seconds 7\n",
		`oxbow_build_info{version="v1 \"quoted\\\""} 1` + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the metrics have no %q:\n%s", want, got)
		}
	}
	if err := s.pool.Close(); err != nil {
		t.Error(err)
	}
}
