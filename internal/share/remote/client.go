// The client: a store whose calls are requests.

package remote

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Options change how a store is reached. Nil and zero fields mean the default.
type Options struct {
	// Client sends the requests; by default one of its own, without a limit of
	// time: contexts have it. Redirects are not followed, whatever it says.
	Client *http.Client

	// Rand gives the random bytes of op ids, crypto/rand by default.
	Rand io.Reader

	// Claimed is what the program says of itself, for changes whose context has no
	// source.
	Claimed oxbow.Claim

	// Later waits when the server asks for that, and returns nil for the request to be
	// sent again; an error ends the call with that of the server, in which is a
	// [*LaterError]. Nil ends it at once.
	Later func(ctx context.Context, after time.Duration) error
}

// Store is a store on a server. Of the optional interfaces of a store it has those
// below; what the store on the server cannot do is an error that matches
// [oxbow.ErrUnsupported].
//
// A change that ends with [oxbow.ErrUnknownOutcome] may have been made: its answer
// was lost. An Apply is then sent once more by itself if the store on the server
// keeps op ids, so that it is made once; without an id of its own
// ([oxbow.WithOpID]) it gets one.
type Store struct {
	link    link
	claimed oxbow.Claim
	closed  atomic.Bool
	events  follower

	randMu sync.Mutex // orders reads of rand
	rand   io.Reader
}

var _ interface {
	oxbow.Historian
	oxbow.Watcher
	oxbow.Sequencer
	oxbow.Counter
	oxbow.DryRunner
	oxbow.Checker
} = (*Store)(nil)

// Open returns the store of the server at that address, such as
// http://127.0.0.1:8333, for the token. It sends nothing yet. Errors match
// [oxbow.ErrInvalid].
func Open(address, token string, o *Options) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, &oxbow.InvalidError{Field: "address", Value: text.Clip(address, 200), Reason: "is not that of a server, such as http://127.0.0.1:8333"}
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) || token == "" {
		return nil, &oxbow.InvalidError{Field: "token", Reason: "is empty or not one word of ASCII"} // it is not repeated
	}
	var opts Options
	if o != nil {
		opts = *o
	}
	var client http.Client
	if opts.Client != nil {
		client = *opts.Client
	} else {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = transport.MaxIdleConns // all are of one host
		client.Transport = transport
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s := &Store{link: link{strings.TrimRight(address, "/"), token, &client, opts.Later}, claimed: opts.Claimed, rand: opts.Rand}
	s.events.store, s.events.turn = s, make(chan struct{}, 1)
	s.events.turn <- struct{}{}
	if s.rand == nil {
		s.rand = rand.Reader
	}
	return s, nil
}

// ready reports why the store cannot be used.
func (s *Store) ready(ctx context.Context) error {
	if s.closed.Load() {
		return oxbow.ErrClosed
	}
	return ctx.Err()
}

// Get implements [oxbow.Store].
func (s *Store) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	return s.get(ctx, name, nil)
}

func (s *Store) get(ctx context.Context, name string, at *uint64) (oxbow.Entry, error) {
	if err := s.ready(ctx); err != nil {
		return oxbow.Entry{}, err
	}
	if !named(name) {
		return oxbow.Entry{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	q := url.Values{"name": {name}}
	if at != nil {
		q.Set("at", fmt.Sprint(*at))
	}
	res, err := s.link.get(ctx, "entry", q)
	if err != nil {
		return oxbow.Entry{}, err
	}
	var w wireEntry
	if err := document(res, &w); err != nil {
		return oxbow.Entry{}, err
	}
	if w.ID == 0 {
		return oxbow.Entry{}, fmt.Errorf("%w: it has no entry", errAnswer)
	}
	return oxbow.Entry(w), nil
}

// named reports whether an entry can have that name. Others are not sent.
func named(name string) bool { return utf8.ValidString(name) && len(name) <= oxbow.MaxName }

// Entries implements [oxbow.Store].
func (s *Store) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return s.entries(ctx, f, nil)
}

func (s *Store) entries(ctx context.Context, f oxbow.Filter, at *uint64) iter.Seq2[oxbow.Entry, error] {
	last := uint64(0)
	ask := func() (*http.Response, error) {
		last = 0
		return s.link.post(ctx, "entries", wireEntries{toWireFilter(f), at})
	}
	return stream(ctx, s, ask, func(r *streamReader) (oxbow.Entry, error) {
		e, err := r.entry(last)
		last = e.ID
		return e, err
	})
}

// stream returns what the lines of an answer hold. Next returns io.EOF after the
// last.
func stream[T any](ctx context.Context, s *Store, ask func() (*http.Response, error), next func(*streamReader) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err := s.ready(ctx); err != nil {
			yield(none, err)
			return
		}
		res, err := ask()
		if err != nil {
			yield(none, err)
			return
		}
		defer res.Body.Close()
		r := newStreamReader(res.Body)
		for {
			v, err := next(r)
			if err == io.EOF {
				hangUp(res)
				return
			}
			if err != nil {
				yield(none, err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// stamp returns what a change with the context carries.
func (s *Store) stamp(ctx context.Context) (wireStamp, error) {
	w := wireStamp{OpID: oxbow.OpIDFrom(ctx), Note: strings.ToValidUTF8(oxbow.NoteFrom(ctx), "\ufffd"), Claimed: s.claimed}
	if from, ok := oxbow.SourceFrom(ctx); ok {
		w.Claimed = from.Claimed
	}
	if len(w.OpID) > 64 {
		return w, &oxbow.InvalidError{Field: "op id", Value: text.Clip(w.OpID, 40), Reason: "is longer than 64 bytes"}
	}
	return w, valid("op id", w.OpID)
}

// Apply implements [oxbow.Store].
func (s *Store) Apply(ctx context.Context, ops ...oxbow.Op) error {
	_, err := s.change(ctx, "", ops)
	return err
}

// Commit implements [oxbow.Committer]. The change is empty if the server is of a version
// that does not return changes, or if its answer was cut after it had said that the
// change was made.
func (s *Store) Commit(ctx context.Context, ops ...oxbow.Op) (oxbow.Change, error) {
	return s.change(ctx, returnChange, ops)
}

// change sends a change, with a preference unless it is "".
func (s *Store) change(ctx context.Context, prefer string, ops []oxbow.Op) (oxbow.Change, error) {
	if err := s.ready(ctx); err != nil || len(ops) == 0 {
		return oxbow.Change{}, err
	}
	from := s.events.known()
	body, err := s.applyBody(ctx, ops, from)
	if err != nil {
		return oxbow.Change{}, err
	}
	res, err := s.link.change(ctx, "apply", prefer, body)
	for again := true; again && ctx.Err() == nil; {
		lost, ok := errors.AsType[*lostError](err)
		if !ok || !s.keepsOpIDs(ctx) {
			break
		}
		again = s.link.isLater(lost)
		if again && !s.link.waited(ctx, lost) {
			break
		}
		res, err = s.link.change(ctx, "apply", prefer, body)
		if _, answered := err.(*answer); err != nil && !answered && !again {
			err = lost
		}
	}
	if err != nil {
		return oxbow.Change{}, err
	}
	return s.events.applied(ctx, res, from), nil // the status says that the change was made
}

// applyBody returns the document of a change.
func (s *Store) applyBody(ctx context.Context, ops []oxbow.Op, since *wirePosition) ([]byte, error) {
	stamp, err := s.stamp(ctx)
	if err != nil {
		return nil, err
	}
	stamp.OpID, err = s.opID(stamp.OpID)
	if err != nil {
		return nil, err
	}
	ws, err := encodeOps(ops)
	if err != nil {
		return nil, err
	}
	body, err := encode(wireApply{stamp, ws, since})
	if err == nil && len(body) > maxApply {
		err = &oxbow.InvalidError{Field: "change", Value: text.Bytes(int64(len(body))), Reason: "is more than the " + text.Bytes(maxApply) + " that one change may hold; split it"}
	}
	return body, err
}

// opID returns the id given, or a random one.
func (s *Store) opID(given string) (string, error) {
	var b [16]byte
	s.randMu.Lock()
	defer s.randMu.Unlock()
	if given == "" {
		if _, err := io.ReadFull(s.rand, b[:]); err != nil {
			return "", fmt.Errorf("making an op id: %w", err)
		}
	}
	return cmp.Or(given, base64.RawURLEncoding.EncodeToString(b[:])), nil
}

// keepsOpIDs reports whether a repeat of a change is known to the server as one.
func (s *Store) keepsOpIDs(ctx context.Context) bool {
	var about wireAbout
	res, err := s.link.get(ctx, "about", nil)
	return err == nil && document(res, &about) == nil && about.OpIDs
}

// DryRun implements [oxbow.DryRunner].
func (s *Store) DryRun(ctx context.Context, ops ...oxbow.Op) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	ws, err := encodeOps(ops)
	if err != nil {
		return err
	}
	res, err := s.link.post(ctx, "dryrun", wireApply{Ops: ws})
	if err == nil {
		hangUp(res)
	}
	return err
}

// Check implements [oxbow.Checker].
func (s *Store) Check(ctx context.Context) (oxbow.CheckReport, error) {
	var w wireReport
	err := s.ask(ctx, "check", nil, &w)
	return w.report(), err
}

// Stats implements [oxbow.Counter].
func (s *Store) Stats(ctx context.Context) (oxbow.Stats, error) {
	var w wireStats
	err := s.ask(ctx, "stats", nil, &w)
	return oxbow.Stats(w), err
}

// ask reads the document of a route.
func (s *Store) ask(ctx context.Context, route string, q url.Values, v any) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	res, err := s.link.get(ctx, route, q)
	if err != nil {
		return err
	}
	return document(res, v)
}

// Close implements [oxbow.Store]. The store on the server stays open.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return oxbow.ErrClosed
	}
	s.link.client.CloseIdleConnections()
	return nil
}
