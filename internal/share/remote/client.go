// This file implements the client: a store whose methods send HTTP requests to a server.

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

// Options configure a client. A field that is nil or zero means the default.
type Options struct {
	// Client sends the requests. By default, a new HTTP client without a timeout is used, because each request ends
	// with its context. Redirects are never followed.
	Client *http.Client

	// Rand is the source of random bytes for op IDs. The default is crypto/rand.
	Rand io.Reader

	// ClaimedIdentity is the program's claim about itself. It is recorded with a change if the change's context lacks a
	// source.
	ClaimedIdentity oxbow.Claim

	// WaitForServer is called if the server asks the client to try again after some time. It should wait, and
	// return nil so that the request is sent again. If WaitForServer is nil or returns an error, the call fails
	// with the server's error, which wraps a [*RetryLaterError].
	WaitForServer func(ctx context.Context, after time.Duration) error
}

// Store is a store on a server. It implements the optional store interfaces that are listed below. If the server's
// store does not support a method, the error matches [oxbow.ErrUnsupported].
//
// A change that fails with [oxbow.ErrUnknownOutcome] may have been made, because only its answer was lost. If the
// server's store keeps op IDs, Apply sends such a change a second time, and the op ID ensures that the change is made
// only once. If the context contains no op ID ([oxbow.WithOpID]), Apply creates one.
type Store struct {
	link            serverLink
	claimedIdentity oxbow.Claim
	isClosed        atomic.Bool
	follower        serverFollower

	randMu sync.Mutex // guards rand
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

// Open returns a store on the server at an address such as http://127.0.0.1:8333. Requests authenticate with the
// token. Open sends no request. An error matches [oxbow.ErrInvalid].
func Open(address, token string, o *Options) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil || !isHTTPAddress(u) {
		return nil, &oxbow.InvalidError{
			Field:  "address",
			Value:  text.TruncateWithEllipsis(address, 200),
			Reason: "is not that of a server, such as http://127.0.0.1:8333",
		}
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) || token == "" {
		// The error does not contain the token, because errors are logged.
		return nil, &oxbow.InvalidError{Field: "token", Reason: "is empty or not one word of ASCII"}
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
		// All connections lead to this host, so the host may have as many idle connections as all hosts together.
		transport.MaxIdleConnsPerHost = transport.MaxIdleConns
		client.Transport = transport
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s := &Store{
		link:            serverLink{strings.TrimRight(address, "/"), token, &client, opts.WaitForServer},
		claimedIdentity: opts.ClaimedIdentity,
		rand:            opts.Rand,
	}
	s.follower.store, s.follower.positionLock = s, make(chan struct{}, 1)
	s.follower.positionLock <- struct{}{}
	if s.rand == nil {
		s.rand = rand.Reader
	}
	return s, nil
}

// isHTTPAddress reports whether a URL can be a server's address: it is http or https, without user, query and
// fragment.
func isHTTPAddress(u *url.URL) bool {
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// checkReady returns an error if the store is closed or the context is done.
func (s *Store) checkReady(ctx context.Context) error {
	if s.isClosed.Load() {
		return oxbow.ErrClosed
	}
	return ctx.Err()
}

// Get implements [oxbow.Store].
func (s *Store) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	return s.fetchEntry(ctx, name, nil)
}

func (s *Store) fetchEntry(ctx context.Context, name string, version *uint64) (oxbow.Entry, error) {
	if err := s.checkReady(ctx); err != nil {
		return oxbow.Entry{}, err
	}
	if !isEntryName(name) {
		return oxbow.Entry{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	q := url.Values{"name": {name}}
	if version != nil {
		q.Set("at", fmt.Sprint(*version))
	}
	res, err := s.link.get(ctx, "entry", q)
	if err != nil {
		return oxbow.Entry{}, err
	}
	var w wireEntry
	if err := decodeJSON(res, &w); err != nil {
		return oxbow.Entry{}, err
	}
	if w.ID == 0 {
		return oxbow.Entry{}, fmt.Errorf("%w: it has no entry", errInvalidAnswer)
	}
	return oxbow.Entry(w), nil
}

// isEntryName reports whether an entry can have this name. Other names are not sent to the server.
func isEntryName(name string) bool { return utf8.ValidString(name) && len(name) <= oxbow.MaxName }

// Entries implements [oxbow.Store].
func (s *Store) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return s.streamEntries(ctx, f, nil)
}

func (s *Store) streamEntries(ctx context.Context, f oxbow.Filter, version *uint64) iter.Seq2[oxbow.Entry, error] {
	last := uint64(0)
	ask := func() (*http.Response, error) {
		last = 0
		return s.link.post(ctx, "entries", wireEntriesRequest{toWireFilter(f), version})
	}
	return readAnswerLines(ctx, s, ask, func(r *streamReader) (oxbow.Entry, error) {
		e, err := r.readEntry(last)
		last = e.ID
		return e, err
	})
}

// readAnswerLines yields the values in the lines of a server's answer. The function request sends the request. The
// function readNext reads a value from a line, and returns io.EOF after the last line.
func readAnswerLines[T any](
	ctx context.Context,
	s *Store,
	request func() (*http.Response, error),
	readNext func(*streamReader) (T, error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err := s.checkReady(ctx); err != nil {
			yield(none, err)
			return
		}
		res, err := request()
		if err != nil {
			yield(none, err)
			return
		}
		defer res.Body.Close()
		r := newStreamReader(res.Body)
		for {
			v, err := readNext(r)
			if err == io.EOF {
				closeAnswerBody(res)
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

// newChangeMetadata returns the data, such as the source, that a request for a change contains in addition to the ops.
func (s *Store) newChangeMetadata(ctx context.Context) (wireChangeMetadata, error) {
	w := wireChangeMetadata{
		OpID:            oxbow.OpIDFrom(ctx),
		Note:            strings.ToValidUTF8(oxbow.NoteFrom(ctx), "\ufffd"),
		ClaimedIdentity: s.claimedIdentity,
	}
	if from, ok := oxbow.SourceFrom(ctx); ok {
		w.ClaimedIdentity = from.Claimed
	}
	if len(w.OpID) > 64 {
		return w, &oxbow.InvalidError{
			Field:  "op id",
			Value:  text.TruncateWithEllipsis(w.OpID, 40),
			Reason: "is longer than 64 bytes",
		}
	}
	return w, checkUTF8("op id", w.OpID)
}

// Apply implements [oxbow.Store].
func (s *Store) Apply(ctx context.Context, ops ...oxbow.Op) error {
	_, err := s.sendChange(ctx, "", ops)
	return err
}

// Commit implements [oxbow.Committer]. The returned change is empty if the server is too old to return changes, or if
// the connection was interrupted after the server had reported success.
func (s *Store) Commit(ctx context.Context, ops ...oxbow.Op) (oxbow.Change, error) {
	return s.sendChange(ctx, preferReturnChange, ops)
}

// sendChange sends the ops as one change, and returns the change that the server made, if the answer contains it.
// preferHeader is the value of the request's Prefer header, or "". If the answer is lost and the server keeps op IDs,
// sendChange sends the same request again. It then sends it repeatedly as long as the server asks it to try again
// later.
func (s *Store) sendChange(ctx context.Context, preferHeader string, ops []oxbow.Op) (oxbow.Change, error) {
	if err := s.checkReady(ctx); err != nil || len(ops) == 0 {
		return oxbow.Change{}, err
	}
	from := s.follower.knownPosition()
	body, err := s.encodeApplyRequest(ctx, ops, from)
	if err != nil {
		return oxbow.Change{}, err
	}
	res, err := s.link.sendChangeRequest(ctx, "apply", preferHeader, body)
	for isRetry := true; isRetry && ctx.Err() == nil; {
		isLost, ok := errors.AsType[*lostAnswerError](err)
		if !ok || !s.serverKeepsOpIDs(ctx) {
			break
		}
		isRetry = s.link.canRetryLater(isLost)
		if isRetry && !s.link.waitForServer(ctx, isLost) {
			break
		}
		res, err = s.link.sendChangeRequest(ctx, "apply", preferHeader, body)
		if !isRetry && isWithoutAnswer(err) {
			err = isLost
		}
	}
	if err != nil {
		return oxbow.Change{}, err
	}
	return s.follower.readChangeAnswer(
		ctx,
		res,
		from,
	// The response status shows that the server has made the change, so an error while reading the response must not
	// be returned.
	), nil
}

// isWithoutAnswer reports whether err means that the server sent no answer to a request.
func isWithoutAnswer(err error) bool {
	_, isAnswer := err.(*serverError)
	return err != nil && !isAnswer
}

// encodeApplyRequest returns the body of the request that asks the server to apply ops. If the argument since is not
// nil, the server answers with all changes after this position. The argument since is the position of the last event
// that was passed to the functions that watch this store. encodeApplyRequest returns an error if the body has more than
// maxChangeBodyBytes bytes.
func (s *Store) encodeApplyRequest(ctx context.Context, ops []oxbow.Op, since *wirePosition) ([]byte, error) {
	stamp, err := s.newChangeMetadata(ctx)
	if err != nil {
		return nil, err
	}
	stamp.OpID, err = s.chooseOpID(stamp.OpID)
	if err != nil {
		return nil, err
	}
	ws, err := encodeOps(ops)
	if err != nil {
		return nil, err
	}
	body, err := encodeJSON(wireApplyRequest{stamp, ws, since})
	if err == nil && len(body) > maxChangeBodyBytes {
		err = &oxbow.InvalidError{
			Field: "change",
			Value: text.FormatBytes(int64(len(body))),
			Reason: "is more than the " +
				text.FormatBytes(maxChangeBodyBytes) + " that one change may hold; split it",
		}
	}
	return body, err
}

// chooseOpID returns the op ID of the caller, which is the parameter callerOpID. If the parameter is empty, chooseOpID
// returns a new random ID. It returns an error if it cannot read random bytes.
func (s *Store) chooseOpID(callerOpID string) (string, error) {
	var b [16]byte
	s.randMu.Lock()
	defer s.randMu.Unlock()
	if callerOpID == "" {
		if _, err := io.ReadFull(s.rand, b[:]); err != nil {
			return "", fmt.Errorf("making an op id: %w", err)
		}
	}
	return cmp.Or(callerOpID, base64.RawURLEncoding.EncodeToString(b[:])), nil
}

// serverKeepsOpIDs asks the server whether it stores the operation ID of each change. Such a server does not make a
// change twice if a request is repeated.
func (s *Store) serverKeepsOpIDs(ctx context.Context) bool {
	var about wireStoreCapabilities
	res, err := s.link.get(ctx, "about", nil)
	return err == nil && decodeJSON(res, &about) == nil && about.KeepsOpIDs
}

// DryRun implements [oxbow.DryRunner].
func (s *Store) DryRun(ctx context.Context, ops ...oxbow.Op) error {
	if err := s.checkReady(ctx); err != nil {
		return err
	}
	ws, err := encodeOps(ops)
	if err != nil {
		return err
	}
	res, err := s.link.post(ctx, "dryrun", wireApplyRequest{Ops: ws})
	if err == nil {
		closeAnswerBody(res)
	}
	return err
}

// Check implements [oxbow.Checker].
func (s *Store) Check(ctx context.Context) (oxbow.CheckReport, error) {
	var w wireReport
	err := s.getJSON(ctx, "check", nil, &w)
	return w.toReport(), err
}

// Stats implements [oxbow.Counter].
func (s *Store) Stats(ctx context.Context) (oxbow.Stats, error) {
	var w wireStats
	err := s.getJSON(ctx, "stats", nil, &w)
	return oxbow.Stats(w), err
}

// getJSON sends a GET request and decodes the JSON document in the answer into v.
func (s *Store) getJSON(ctx context.Context, route string, q url.Values, v any) error {
	if err := s.checkReady(ctx); err != nil {
		return err
	}
	res, err := s.link.get(ctx, route, q)
	if err != nil {
		return err
	}
	return decodeJSON(res, v)
}

// Close implements [oxbow.Store]. It does not close the store on the server.
func (s *Store) Close() error {
	if s.isClosed.Swap(true) {
		return oxbow.ErrClosed
	}
	s.link.client.CloseIdleConnections()
	return nil
}
