// This file declares the routes of a server and reads the requests.

package remote

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// maxRequest is the maximum size, in bytes, of a request. Changes may have maxApply bytes.
const maxRequest = 4 << 20

// Handler serves the routes below /api/v1/store/. open returns the store for a request and a
// context whose source is stamped on changes, or an error that refuses the request. Access
// control is the responsibility of open, because the handler allows every operation that the
// store allows. log, which may be nil, receives details of failures that clients must not see.
func Handler(open func(r *http.Request) (oxbow.Store, context.Context, error), log *slog.Logger) http.Handler {
	h := &handler{open: open, feeds: newFeeds(), log: log}
	return http.HandlerFunc(h.serve)
}

type handler struct {
	open  func(r *http.Request) (oxbow.Store, context.Context, error)
	feeds *feeds
	log   *slog.Logger // may be nil
}

// route describes a path of the API.
type route struct {
	method string
	params []string // allowed query parameters
	serve  func(c *call) error
}

var routes = map[string]route{
	"about":    {http.MethodGet, nil, (*call).writeAbout},
	"entry":    {http.MethodGet, []string{"name", "at"}, (*call).entry},
	"entries":  {http.MethodPost, nil, (*call).entries},
	"apply":    {http.MethodPost, nil, (*call).apply},
	"dryrun":   {http.MethodPost, nil, (*call).dryRun},
	"check":    {http.MethodGet, nil, (*call).check},
	"stats":    {http.MethodGet, nil, (*call).stats},
	"position": {http.MethodGet, nil, (*call).position},
	"since":    {http.MethodGet, []string{"position"}, (*call).writeSince},
	"log":      {http.MethodGet, nil, (*call).log},
	"versions": {http.MethodGet, []string{"name"}, (*call).versions},
	"seqat":    {http.MethodGet, []string{"time"}, (*call).seqAt},
	"asof":     {http.MethodGet, []string{"seq"}, (*call).asOf},
	"revert":   {http.MethodPost, nil, (*call).revert},
	"restore":  {http.MethodPost, nil, (*call).restore},
}

// call is a request being served.
type call struct {
	ctx   context.Context
	w     http.ResponseWriter
	r     *http.Request
	q     url.Values
	store oxbow.Store
	feeds *feeds

	logger *slog.Logger // may be nil
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, prefix)
	route, ok := routes[name]
	if !ok {
		Problem{Type: "about:blank", Title: "There is no such route", Status: http.StatusNotFound, Code: "no_route",
			Detail: fmt.Sprintf("there is no route %q", text.Clip(r.URL.Path, 200))}.Write(w)
		return
	}
	if r.Method != route.method {
		w.Header().Set("Allow", route.method)
		Problem{Type: "about:blank", Title: "The method is another", Status: http.StatusMethodNotAllowed,
			Code:   "method",
			Detail: fmt.Sprintf("%s is asked by %s", name, route.method)}.Write(w)
		return
	}
	if err := h.run(w, r, route); err != nil {
		p := ProblemOf(err)
		p.Report(h.log)
		p.Write(w)
	}
}

func (h *handler) run(w http.ResponseWriter, r *http.Request, route route) error {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badRequest("has a query that cannot be read")
	}
	for key, vs := range q {
		if !slices.Contains(route.params, key) || len(vs) != 1 {
			return badRequest(fmt.Sprintf("has an unknown parameter, or one twice: %q", text.Clip(key, 40)))
		}
	}
	store, ctx, err := h.open(r)
	if err != nil {
		return err
	}
	return route.serve(&call{ctx, w, r, q, store, h.feeds, h.log})
}

// baseStore returns the store below a memory, because only that store has the optional interfaces.
func (c *call) baseStore() oxbow.Store {
	if m, ok := c.store.(interface{ Store() oxbow.Store }); ok {
		return m.Store()
	}
	return c.store
}

// unsupportedError returns the error for a store without an optional interface.
func unsupportedError(what string) error {
	return fmt.Errorf("%w: %s", oxbow.ErrUnsupported, what)
}

// readBody reads the JSON document in the request.
func (c *call) readBody(v any) error {
	return decodeDocument(http.MaxBytesReader(c.w, c.r.Body, maxRequest), v)
}

// writeAnswer writes a JSON document.
func (c *call) writeAnswer(v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("Cache-Control", "no-store")
	_, _ = c.w.Write(b) // ignore the error: the client has disconnected
	return nil
}

// parseNumber parses a query parameter that is a change number.
func (c *call) parseNumber(key string) (uint64, error) {
	n, err := strconv.ParseUint(c.q.Get(key), 10, 64)
	if err != nil {
		return 0, &oxbow.InvalidError{
			Field:  key,
			Value:  text.Clip(c.q.Get(key), 40),
			Reason: "is not the number of a change",
		}
	}
	return n, nil
}

// parseTime parses a query parameter that is a time.
func (c *call) parseTime(key string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, c.q.Get(key))
	if err != nil {
		return t, &oxbow.InvalidError{
			Field:  key,
			Value:  text.Clip(c.q.Get(key), 40),
			Reason: "is not a time such as 2026-04-18T12:00:00Z",
		}
	}
	return t, nil
}

// parsePlace parses a query parameter that is a position.
func (c *call) parsePlace(key string) (oxbow.Position, error) {
	b, err := base64.RawURLEncoding.DecodeString(c.q.Get(key))
	if err != nil {
		return "", &oxbow.InvalidError{
			Field:  key,
			Value:  text.Clip(c.q.Get(key), 40),
			Reason: "is not a position that was answered before",
		}
	}
	return oxbow.Position(b), nil
}
