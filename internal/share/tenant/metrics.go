// This file counts requests and reports the counts in the text format of Prometheus.

package tenant

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// durationBounds are the upper bounds of the duration histogram, in seconds.
var durationBounds = []float64{.001, .0025, .005, .01, .02, .05, .1, .25, .5, 1, 5}

// Metrics counts the requests of a server. It is safe for concurrent use.
type Metrics struct {
	version   string
	startTime time.Time

	mu         sync.Mutex // guards the fields below
	requests   map[requestKey]int
	durations  map[string]*histogram // durations of the requests to each interface of the server, such as "mcp"
	inProgress int                   // number of requests in progress
}

// requestKey identifies a counter. The counter counts the requests of one tenant to one interface of the server
// (door), such as "mcp", that were answered with one status code.
type requestKey struct {
	tenant, interfaceName string
	code                  int
}

// histogram counts durations. Each duration is counted for the lowest bound that is greater than or equal to the
// duration.
type histogram struct {
	// numbers of durations, by upper bound; the last element counts the durations above the highest bound
	counts [12]int
	sum    float64
	count  int
}

// NewMetrics returns empty metrics for a server of this program version.
func NewMetrics(version string, started time.Time) *Metrics {
	return &Metrics{version: version, startTime: started, requests: map[requestKey]int{},
		durations: map[string]*histogram{}}
}

// interfaceNameForPath returns the name of the interface that serves a URL path, such as "mcp". An interface is also
// called a door.
func interfaceNameForPath(path string) string {
	if strings.HasSuffix(path, "/events") {
		return "events"
	}
	for _, d := range []struct{ prefix, door string }{
		{"/api/v1/store/", "store"},
		{"/api/", "api"},
		{"/mcp", "mcp"},
		{"/ui", "pages"},
	} {
		if strings.HasPrefix(path, d.prefix) {
			return d.door
		}
	}
	return "other"
}

// beginRequest counts a request that is in progress. The caller must call end when the request is finished. The
// durations of event streams are not recorded.
func (m *Metrics) beginRequest(path string) (end func(tenant string, code int)) {
	start, door := time.Now(), interfaceNameForPath(path)
	m.mu.Lock()
	m.inProgress++
	m.mu.Unlock()
	return func(tenant string, code int) {
		took := time.Since(start).Seconds()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.inProgress--
		m.requests[requestKey{tenant, door, code}]++
		if door == "events" {
			return
		}
		h := m.durations[door]
		if h == nil {
			h = &histogram{}
			m.durations[door] = h
		}
		i, _ := slices.BinarySearch(durationBounds, took)
		h.counts[i]++
		h.count++
		h.sum += took
	}
}

// writeMetrics writes all metrics of the server and the pool p.
func (m *Metrics) writeMetrics(w io.Writer, p *Pool) error {
	var b bytes.Buffer
	metric := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	metric("oxbow_build_info", "gauge", "The version that runs.")
	fmt.Fprintf(&b, "oxbow_build_info{version=%s} 1\n", quoteLabel(m.version))
	metric("process_start_time_seconds", "gauge", "When the server started.")
	fmt.Fprintf(&b, "process_start_time_seconds %d\n", m.startTime.Unix())
	// Do not use package runtime/metrics, because it builds a table at each start of the program.
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	metric("go_memory_bytes", "gauge", "Memory mapped by the runtime.")
	fmt.Fprintf(&b, "go_memory_bytes %d\n", stats.Sys)
	metric("go_goroutines", "gauge", "Goroutines.")
	fmt.Fprintf(&b, "go_goroutines %d\n", runtime.NumGoroutine())

	open, opened := p.countHomes()
	metric("oxbow_tenants_open", "gauge", "Tenants whose memory is open.")
	fmt.Fprintf(&b, "oxbow_tenants_open %d\n", open)
	metric("oxbow_tenants_opened_total", "counter", "Times that the memory of a tenant was opened.")
	fmt.Fprintf(&b, "oxbow_tenants_opened_total %d\n", opened)

	m.mu.Lock()
	metric("oxbow_requests_in_flight", "gauge", "Requests under way, streams of events among them.")
	fmt.Fprintf(&b, "oxbow_requests_in_flight %d\n", m.inProgress)
	m.writeRequests(&b, metric)
	m.mu.Unlock()
	_, err := w.Write(b.Bytes())
	return err
}

// writeRequests writes the metrics about requests. The caller must hold m.mu.
func (m *Metrics) writeRequests(b *bytes.Buffer, metric func(name, kind, help string)) {
	metric("oxbow_requests_total", "counter", "Requests by tenant (none is the server's own home), door and status.")
	keys := make([]requestKey, 0, len(m.requests))
	for k := range m.requests {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b requestKey) int {
		return cmp.Or(
			cmp.Compare(a.tenant, b.tenant),
			cmp.Compare(a.interfaceName, b.interfaceName),
			cmp.Compare(a.code, b.code),
		)
	})
	for _, k := range keys {
		fmt.Fprintf(
			b,
			"oxbow_requests_total{tenant=%s,door=%s,code=\"%d\"} %d\n",
			quoteLabel(k.tenant),
			quoteLabel(k.interfaceName),
			k.code,
			m.requests[k],
		)
	}
	metric("oxbow_request_seconds", "histogram", "How long requests took, by door, without streams.")
	for _, door := range []string{"api", "mcp", "other", "pages", "store"} {
		h := m.durations[door]
		if h == nil {
			continue
		}
		below := 0
		for i, n := range h.counts {
			below += n
			le := "+Inf"
			if i < len(durationBounds) {
				le = strconv.FormatFloat(durationBounds[i], 'g', -1, 64)
			}
			fmt.Fprintf(b, "oxbow_request_seconds_bucket{door=%s,le=\"%s\"} %d\n", quoteLabel(door), le, below)
		}
		fmt.Fprintf(
			b,
			"oxbow_request_seconds_sum{door=%s} %g\noxbow_request_seconds_count{door=%s} %d\n",
			quoteLabel(door),
			h.sum,
			quoteLabel(door),
			h.count,
		)
	}
}

// quoteLabel returns a label's value in the form of Prometheus.
func quoteLabel(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// statusWriter is a response writer that records the status code.
type statusWriter struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements [http.ResponseWriter].
func (c *statusWriter) WriteHeader(code int) {
	if c.code == 0 {
		c.code = code
	}
	c.ResponseWriter.WriteHeader(code)
}

// Unwrap lets [http.ResponseController] use the original writer.
func (c *statusWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
