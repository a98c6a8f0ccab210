// This file answers an HTTP request. It calls the operation of oxbow that belongs to the route, which is called a verb,
// and builds the response.

package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// verbHandler is the HTTP handler of a route. The context of the request must contain a memoryViewState, which contains
// the caller's rights to see and change entries (see [viewStateContextKey]).
type verbHandler struct {
	*route
	logger *slog.Logger
}

// ServeHTTP executes a request and sends the response.
func (e verbHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	res, err := viewStateFromRequest(r).answerRequest(w, r, e.route)
	if err != nil {
		writeProblem(w, r, err, e.logger)
		return
	}
	for k, v := range res.header {
		w.Header()[k] = v
	}
	if res.body != nil {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(res.body)))
	}
	w.WriteHeader(res.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(res.body) // ignore the error: the client has disconnected
	}
}

// answerRequest calls a route's verb with the request's arguments, and encodes the result. If an earlier request had
// the same idempotency key, it returns the response to that request instead.
func (o *memoryViewState) answerRequest(w http.ResponseWriter, r *http.Request, rt *route) (res *response, err error) {
	if err := o.checkRouteRights(rt); err != nil {
		return nil, err
	}
	args, err := readArguments(w, r, rt)
	if err != nil {
		return nil, err
	}
	first, earlier, err := o.replayCache.beginRequest(r, args)
	if err != nil || earlier != nil {
		return earlier, err
	}
	// End the request even if the verb panics. Otherwise a repetition of the request would wait forever.
	defer func() { o.replayCache.endRequest(first, res) }()
	end, err := o.acquireHeavyCallSlot(r.Context(), rt)
	if err != nil {
		return nil, err
	}
	defer end()
	cursor, err := args.decodeCursor(rt)
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	if key := r.Header.Get(idempotencyKeyHeader); rt.isSingleChange && key != "" {
		ctx, err = o.contextWithIdempotencyKey(ctx, key, rt, args)
		if err != nil {
			return nil, err
		}
	}
	condition, err := requestCondition(r, rt)
	var out any
	switch {
	case err != nil:
	case condition != nil:
		out, err = o.callIfConditionMet(ctx, rt, args, condition)
	default:
		out, err = rt.verb.Call(ctx, o.Workspace, args.values)
	}
	if err != nil {
		return nil, err
	}
	return o.encodeResult(ctx, r, rt, out, cursor)
}

// acquireHeavyCallSlot waits until a request may run. It limits only requests that read and may read many entries. For
// any other request it returns at once. The caller must call release after the verb has returned. If ctx is done during
// the wait, acquireHeavyCallSlot returns the error of ctx.
func (o *memoryViewState) acquireHeavyCallSlot(ctx context.Context, rt *route) (release func(), err error) {
	if !rt.verb.ReadOnly || rt.hasConstantTime {
		return func() {}, nil
	}
	return o.heavyCallSemaphore.acquireSlot(ctx)
}

// encodeResult encodes the result of a verb as a response. If the route is about an entry, it adds headers with the
// entry's version. If the result has pages, it adds the link to the next page. The response lacks a body if the client
// prefers an empty response.
func (o *memoryViewState) encodeResult(
	ctx context.Context,
	r *http.Request,
	rt *route,
	result any,
	c *listCursorEncoder,
) (*response, error) {
	res := &response{status: http.StatusOK, header: http.Header{"Cache-Control": {"no-store"}}}
	if s, ok := result.(verb.CleanedAnswer); ok {
		res.header.Set("Oxbow-Note", strings.Join(strings.Fields(s.SecretsNote), " "))
		result = s.Answer
	}
	if rt.hasEntryNameArgument {
		if done := o.setEntryHeaders(ctx, r, rt, result, res); done {
			return res, nil
		}
	}
	if wantsNoBody(r, rt) {
		res.header.Set("Preference-Applied", "return=minimal")
		if res.status == http.StatusOK {
			res.status = http.StatusNoContent
		}
		return res, nil
	}
	var err error
	res.body, err = encodeJSON(result)
	if err == nil && rt.isPaged {
		err = c.addNextPage(r, res)
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// wantsNoBody reports whether the client asked for a response without a body after a change (Prefer: return=minimal).
func wantsNoBody(r *http.Request, rt *route) bool {
	if rt.verb.ReadOnly {
		return false
	}
	for _, p := range r.Header.Values("Prefer") {
		for s := range strings.SplitSeq(p, ",") {
			if strings.EqualFold(strings.ReplaceAll(strings.TrimSpace(s), `"`, ""), "return=minimal") {
				return true
			}
		}
	}
	return false
}

// setEntryHeaders adds headers about the entry in the result, such as ETag, to res. It returns true if the client
// already has this version of the entry, so that no body needs to be sent.
func (o *memoryViewState) setEntryHeaders(
	ctx context.Context,
	r *http.Request,
	rt *route,
	result any,
	res *response,
) bool {
	name, version, gone := entryInResult(result)
	if gone || name == "" {
		return false
	}
	if e, ok := result.(verb.RememberOut); ok && e.EntryOutcome == "added" {
		res.status = http.StatusCreated
		res.header.Set("Location", basePath+"/entries/"+escapeSegment(name))
	}
	e, ok := writtenEntry(result)
	if !ok {
		e, ok = o.currentEntry(ctx, name, version)
	}
	if !ok || e.Version == 0 {
		return false // The entry or its version is unknown, so the response gets no ETag.
	}
	tag := entityTag(ctx, e)
	res.header.Set("ETag", tag)
	if rt.verb.ReadOnly {
		res.header.Set("Cache-Control", "private, no-cache")
	}
	if rt.verb.ReadOnly && containsTag(r.Header.Values("If-None-Match"), tag) {
		res.status = http.StatusNotModified
		return true
	}
	return false
}

// writtenEntry returns the entry that a call of remember or restore has written, in the version that this call wrote.
// The ETag is computed from this version, because another call may have changed the entry since then. For the result of
// any other verb, writtenEntry returns false.
func writtenEntry(result any) (oxbow.Entry, bool) {
	switch out := result.(type) {
	case verb.RememberOut:
		return out.StoredEntry, true
	case verb.RestoreOut:
		return out.StoredEntry, true
	}
	return oxbow.Entry{}, false
}

// currentEntry reads the entry with the given name. It returns false if the entry cannot be read, or if it no longer
// has the given version.
func (o *memoryViewState) currentEntry(ctx context.Context, name string, version uint64) (oxbow.Entry, bool) {
	m, err := o.openMemory(ctx)
	if err != nil {
		return oxbow.Entry{}, false
	}
	e, err := m.Get(ctx, name)
	return e, err == nil && e.Version == version
}

// entryInResult returns the name and the version of the entry that the result of a verb's call is about. wasRemoved is
// true if the call removed the entry. If the result is not about a single entry, the name is "" and wasRemoved is true.
func entryInResult(result any) (name string, version uint64, wasRemoved bool) {
	switch out := result.(type) {
	case verb.GetOut:
		return out.Name, out.Version, false
	case verb.RememberOut:
		return out.Name, out.Version, false
	case verb.RestoreOut:
		return out.Name, out.Version, false
	case verb.ForgetOut:
		return out.Name, out.Version, out.Forgotten
	}
	return "", 0, true
}
