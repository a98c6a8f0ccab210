// This file declares the routes of a server, and reads requests.

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

// maxRequestBodyBytes is the maximum size, in bytes, of a request that is not a change. A change may have
// maxChangeBodyBytes bytes.
const maxRequestBodyBytes = 4 << 20

// Handler serves the routes below /api/v1/store/. The function open returns the store for a request, and a context
// whose source is recorded with changes. If open returns an error, the request is refused. open is responsible for
// access control, because the handler allows every operation that the store allows.
//
// log receives the details of failures that clients must not see. It may be nil.
func Handler(open func(r *http.Request) (oxbow.Store, context.Context, error), log *slog.Logger) http.Handler {
	h := &handler{open: open, feeds: newEventFeeds(), log: log}
	return http.HandlerFunc(h.serveRequest)
}

type handler struct {
	open  func(r *http.Request) (oxbow.Store, context.Context, error)
	feeds *eventFeeds
	log   *slog.Logger // may be nil
}

// route describes one route of the API.
type route struct {
	method string
	params []string // query parameters that the route allows
	serve  func(c *servedCall) error
}

var routes = map[string]route{
	"about":    {http.MethodGet, nil, (*servedCall).writeStoreCapabilities},
	"entry":    {http.MethodGet, []string{"name", "at"}, (*servedCall).writeEntry},
	"entries":  {http.MethodPost, nil, (*servedCall).writeEntries},
	"apply":    {http.MethodPost, nil, (*servedCall).applyChange},
	"dryrun":   {http.MethodPost, nil, (*servedCall).dryRunChange},
	"check":    {http.MethodGet, nil, (*servedCall).writeCheckReport},
	"stats":    {http.MethodGet, nil, (*servedCall).writeStats},
	"position": {http.MethodGet, nil, (*servedCall).writePosition},
	"since":    {http.MethodGet, []string{"position"}, (*servedCall).writeChangesSincePosition},
	"log":      {http.MethodGet, nil, (*servedCall).writeLog},
	"versions": {http.MethodGet, []string{"name"}, (*servedCall).writeVersions},
	"seqat":    {http.MethodGet, []string{"time"}, (*servedCall).writeSeqAtTime},
	"asof":     {http.MethodGet, []string{"seq"}, (*servedCall).writeStateAfterChange},
	"revert":   {http.MethodPost, nil, (*servedCall).revertChanges},
	"restore":  {http.MethodPost, nil, (*servedCall).restoreEntry},
}

// servedCall is a request that is being handled.
type servedCall struct {
	ctx   context.Context
	w     http.ResponseWriter
	r     *http.Request
	query url.Values
	store oxbow.Store
	feeds *eventFeeds

	logger *slog.Logger // may be nil
}

func (h *handler) serveRequest(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, routePrefix)
	route, ok := routes[name]
	if !ok {
		Problem{Type: "about:blank", Title: "There is no such route", Status: http.StatusNotFound, Code: "no_route",
			Detail: fmt.Sprintf("there is no route %q", text.TruncateWithEllipsis(r.URL.Path, 200))}.Write(w)
		return
	}
	if r.Method != route.method {
		w.Header().Set("Allow", route.method)
		Problem{Type: "about:blank", Title: "The method is another", Status: http.StatusMethodNotAllowed,
			Code:   "method",
			Detail: fmt.Sprintf("%s is asked by %s", name, route.method)}.Write(w)
		return
	}
	if err := h.serveRoute(w, r, route); err != nil {
		p := MakeProblem(err)
		p.LogErrorWithFileNames(h.log)
		p.Write(w)
	}
}

func (h *handler) serveRoute(w http.ResponseWriter, r *http.Request, route route) error {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badRequestError("has a query that cannot be read")
	}
	for key, vs := range q {
		if !slices.Contains(route.params, key) || len(vs) != 1 {
			return badRequestError(
				fmt.Sprintf("has an unknown parameter, or one twice: %q", text.TruncateWithEllipsis(key, 40)),
			)
		}
	}
	store, ctx, err := h.open(r)
	if err != nil {
		return err
	}
	return route.serve(&servedCall{ctx, w, r, q, store, h.feeds, h.log})
}

// unsupportedRequestError returns an error that matches [oxbow.ErrUnsupported]. The caller uses it for a store that
// lacks an optional interface. The parameter feature says which ability the store lacks.
func unsupportedRequestError(feature string) error {
	return fmt.Errorf("%w: %s", oxbow.ErrUnsupported, feature)
}

// readBody decodes the JSON document in the request's body into v.
func (c *servedCall) readBody(v any) error {
	return decodeDocument(http.MaxBytesReader(c.w, c.r.Body, maxRequestBodyBytes), v)
}

// writeAnswer sends v as a JSON document.
func (c *servedCall) writeAnswer(v any) error {
	b, err := encodeJSON(v)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("Cache-Control", "no-store")
	_, _ = c.w.Write(b) // An error means that the client has disconnected, so it is ignored.
	return nil
}

// parseNumber parses a query parameter that contains the number of a change.
func (c *servedCall) parseNumber(key string) (uint64, error) {
	n, err := strconv.ParseUint(c.query.Get(key), 10, 64)
	if err != nil {
		return 0, &oxbow.InvalidError{
			Field:  key,
			Value:  text.TruncateWithEllipsis(c.query.Get(key), 40),
			Reason: "is not the number of a change",
		}
	}
	return n, nil
}

// parseTime parses a query parameter that contains a time.
func (c *servedCall) parseTime(key string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, c.query.Get(key))
	if err != nil {
		return t, &oxbow.InvalidError{
			Field:  key,
			Value:  text.TruncateWithEllipsis(c.query.Get(key), 40),
			Reason: "is not a time such as 2026-04-18T12:00:00Z",
		}
	}
	return t, nil
}

// parsePosition parses a query parameter that contains a position.
func (c *servedCall) parsePosition(key string) (oxbow.Position, error) {
	b, err := base64.RawURLEncoding.DecodeString(c.query.Get(key))
	if err != nil {
		return "", &oxbow.InvalidError{
			Field:  key,
			Value:  text.TruncateWithEllipsis(c.query.Get(key), 40),
			Reason: "is not a position that was answered before",
		}
	}
	return oxbow.Position(b), nil
}
