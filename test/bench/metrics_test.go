// This file tests that the parser of Prometheus reads the metrics of a server.

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/share/tenant"
)

// emptyHome is the home of a tenant, which is the memory that a server opens for the tenant. In the test, its HTTP
// handler answers each request with the status 404 (not found).
type emptyHome struct{ http.Handler }

func (emptyHome) Close() error { return nil }

func TestMetricsParse(t *testing.T) {
	pool := tenant.New(func(context.Context, string) (tenant.TenantHome, error) {
		return emptyHome{http.NotFoundHandler()}, nil
	}, nil)
	defer pool.Close()
	s := &tenant.Server{
		Pool:            pool,
		NoTenantHandler: http.NotFoundHandler(),
		Metrics:         tenant.NewMetrics("v1 \"quoted\" \\ \n", time.Unix(1e9, 0)),
		VisitorTenant:   func(http.ResponseWriter, *http.Request) string { return "" },
	}
	for i := range 3 {
		token := auth.NewToken(fmt.Sprint("t", i), fmt.Sprint("a-secret-of-number-", i), auth.Permissions{})
		if i > 0 {
			token.Tenant = fmt.Sprint("tenant-", i)
		}
		s.Guard.Tokens = append(s.Guard.Tokens, token)
	}
	get := func(path string, i int) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+
			path, nil)
		r.Header.Set("Authorization", fmt.Sprint("Bearer a-secret-of-number-", i))
		s.ServeHTTP(w, r)
		return w
	}
	for i := range 3 {
		for _, path := range []string{"/api/v1/entries", "/api/v1/store/log", "/mcp", "/ui/", "/ui/events", "/else"} {
			get(path, i)
		}
	}
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(get("/metrics", 0).Body)
	if err != nil {
		t.Fatal(err)
	}
	for name, most := range map[string]int{"oxbow_build_info": 1, "oxbow_requests_total": 18,
		"oxbow_request_seconds": 5, "oxbow_tenants_open": 1, "go_memory_bytes": 1} {
		f := families[name]
		if f == nil || len(f.Metric) != most || f.GetHelp() == "" {
			t.Errorf("%s: %v, want %d", name, f, most)
		}
	}
	for _, m := range families["oxbow_request_seconds"].GetMetric() {
		h := m.GetHistogram()
		last := h.GetBucket()[len(h.GetBucket())-1]
		if h.GetSampleCount() != 3 || last.GetCumulativeCount() != 3 {
			t.Errorf("a histogram of 3 requests: %v", m)
		}
	}
	if v := families["oxbow_build_info"].GetMetric()[0].GetLabel()[0].GetValue(); v != "v1 \"quoted\" \\ \n" {
		t.Errorf("the version is %q", v)
	}
}
