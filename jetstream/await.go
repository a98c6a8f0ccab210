// This file connects to servers that may still be starting.

package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	api "github.com/nats-io/nats.go/jetstream"
)

// Times for attempts to connect to servers that are still starting.
const (
	maxConnectAttemptTime = 4 * time.Second // maximum duration of one attempt to connect
	pauseBetweenAttempts  = 300 * time.Millisecond
)

// temporaryErrorCodes contains the codes of errors that servers may return while the cluster is starting. The errors
// end when enough servers have started. Enough servers are a majority or, if streams must be created, all servers.
var temporaryErrorCodes = []api.ErrorCode{
	10004, // NATS server: some servers of the cluster have not answered
	10005, // NATS server: too few servers are ready to store a replica of the stream
	10008, // NATS server: the servers have not elected a leader yet
	10009, // NATS server: the server that answered is not the leader
	10023, // NATS server: no server has enough memory or disk space for the stream
	10039, // NATS server: the server does not know the client's account yet
	10006, // NATS server: the cluster of servers has not started yet
}

// Await is like [Connect], but waits for servers that are still starting. It tries again as long as too few servers
// answer, or the servers have not elected a leader. When the reason for waiting changes, Await calls onWaitReason. If
// ctx is done, it returns an error.
func Await(ctx context.Context, nc *nats.Conn, o *Options, onWaitReason func(reason string)) (*Cluster, error) {
	for last := ""; ; {
		try, cancel := context.WithTimeout(ctx, maxConnectAttemptTime)
		c, err := Connect(try, nc, o)
		cancel()
		if err == nil || !isTemporaryError(err) {
			return c, err
		}
		if reason := reasonForWaiting(err); reason != last && ctx.Err() == nil {
			onWaitReason(reason)
			last = reason
		}
		if !sleepUnlessCanceled(ctx, pauseBetweenAttempts) {
			return nil, fmt.Errorf("waiting for the servers: %w: %w", ctx.Err(), err)
		}
	}
}

// isTemporaryError reports whether an error may disappear after more servers have started.
func isTemporaryError(err error) bool {
	if _, ok := errors.AsType[*tooFewServersError](err); ok {
		return true
	}
	if e, ok := errors.AsType[*api.APIError](err); ok {
		return slices.Contains(temporaryErrorCodes, e.ErrorCode)
	}
	if e, ok := errors.AsType[*apiError](err); ok {
		return slices.Contains(temporaryErrorCodes, api.ErrorCode(e.ErrCode))
	}
	return slices.ContainsFunc(
		[]error{nats.ErrNoResponders, nats.ErrTimeout, api.ErrNoStreamResponse, context.DeadlineExceeded},
		func(e error) bool {
			return errors.Is(err, e)
		},
	)
}

// reasonForWaiting returns a text for users that says what Await is waiting for. err is the error of the last attempt
// to connect.
func reasonForWaiting(err error) string {
	if few, ok := errors.AsType[*tooFewServersError](err); ok && few.neededServers < few.totalServers {
		return fmt.Sprintf(
			"waiting for %d of %d servers; %d answer",
			few.neededServers,
			few.totalServers,
			few.answeredServers,
		)
	}
	_, hasTooFew := errors.AsType[*tooFewServersError](err)
	e, isRefused := errors.AsType[*api.APIError](err)
	lacksPeer := isRefused && slices.Contains([]api.ErrorCode{10005, 10023}, e.ErrorCode)
	if hasTooFew || lacksPeer {
		return "waiting for the third server, which a new cluster takes"
	}
	return "waiting for the servers to choose a leader"
}

// tooFewServersError reports that too few servers answer. It matches [ErrSettings].
type tooFewServersError struct{ answeredServers, neededServers, totalServers int }

func (e *tooFewServersError) Error() string {
	return fmt.Sprintf(
		"%v: %d of %d servers answer, and %d must; start the others, or set Dev for one that may lose data",
		ErrSettings,
		e.answeredServers,
		e.totalServers,
		e.neededServers,
	)
}

func (e *tooFewServersError) Unwrap() error { return ErrSettings }
