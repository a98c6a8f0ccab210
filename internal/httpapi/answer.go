// Answers: a call of a verb, and what it gave as a response.

package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// answer makes the call that a request is, and sends what it gave.
func (o *room) answer(w http.ResponseWriter, r *http.Request, rt *route, path map[string]string) error {
	args, err := readArguments(w, r, rt, path)
	if err != nil {
		return err
	}
	res, err := o.replays.once(r, args, func() (*response, error) { return o.inTurn(r, rt, args) })
	if err != nil {
		return err
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
		_, _ = w.Write(res.body) // the client is gone
	}
	return nil
}

// inTurn is call, in its turn where it reads much.
func (o *room) inTurn(r *http.Request, rt *route, args *arguments) (*response, error) {
	if rt.verb.ReadOnly && !rt.quick {
		end, err := o.turns.take(r.Context())
		if err != nil {
			return nil, err
		}
		defer end()
	}
	return o.call(r, rt, args)
}

// call makes the call, under the conditions of the request.
func (o *room) call(r *http.Request, rt *route, args *arguments) (*response, error) {
	cursor, err := args.takeCursor(rt)
	if err != nil {
		return nil, err
	}
	ctx, res := r.Context(), &response{status: http.StatusOK, header: http.Header{"Cache-Control": {"no-store"}}}
	if key := r.Header.Get(keyHeader); rt.once && key != "" {
		ctx, err = o.keep(ctx, key, rt, args)
		if err != nil {
			return nil, err
		}
	}
	out, err := o.conditional(ctx, r, rt, args)
	if err != nil {
		return nil, err
	}
	if s, ok := out.(verb.Screened); ok {
		res.header.Set("Oxbow-Note", strings.Join(strings.Fields(s.Note), " "))
		out = s.Answer
	}
	if rt.entry {
		if done := o.describe(ctx, r, rt, out, res); done {
			return res, nil
		}
	}
	if minimal(r, rt) {
		res.header.Set("Preference-Applied", "return=minimal")
		if res.status == http.StatusOK {
			res.status = http.StatusNoContent
		}
		return res, nil
	}
	res.body, err = encode(out)
	if err != nil {
		return nil, err
	}
	if rt.paged {
		err = cursor.addNext(r, res)
	}
	return res, err
}

// minimal reports whether a client wants no body of what it has changed.
func minimal(r *http.Request, rt *route) bool {
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

// describe sets what the headers say of the entry that an answer is about. It reports
// whether the client has that version already, and gets no body.
func (o *room) describe(ctx context.Context, r *http.Request, rt *route, out any, res *response) bool {
	name, version, gone := about(out)
	if gone || name == "" {
		return false
	}
	if e, ok := out.(verb.RememberOut); ok && e.Outcome == "added" {
		res.status = http.StatusCreated
		res.header.Set("Location", base+"/entries/"+escape(name))
	}
	e, ok := written(out)
	if !ok {
		e, ok = o.shown(ctx, name, version)
	}
	if !ok || e.Version == 0 {
		return false // what is in the answer is not known whole
	}
	tag := tagOf(ctx, e)
	res.header.Set("ETag", tag)
	if rt.verb.ReadOnly {
		res.header.Set("Cache-Control", "private, no-cache")
	}
	if rt.verb.ReadOnly && matchesTag(r.Header.Values("If-None-Match"), tag) {
		res.status = http.StatusNotModified
		return true
	}
	return false
}

// written returns the entry as the call of an answer left it, and false if the call only
// reads. Others may have changed the entry since; the tag is that of what this call wrote.
func written(out any) (oxbow.Entry, bool) {
	switch out := out.(type) {
	case verb.RememberOut:
		return out.Written, true
	case verb.RestoreOut:
		return out.Written, true
	}
	return oxbow.Entry{}, false
}

// shown returns the entry that an answer shows, and false if it has changed since.
func (o *room) shown(ctx context.Context, name string, version uint64) (oxbow.Entry, bool) {
	m, err := o.memory(ctx)
	if err != nil {
		return oxbow.Entry{}, false
	}
	e, err := m.Get(ctx, name)
	return e, err == nil && e.Version == version
}

// about returns the entry that an answer is about.
func about(out any) (name string, version uint64, gone bool) {
	switch out := out.(type) {
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
