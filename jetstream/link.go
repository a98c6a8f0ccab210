// This file sends requests to the servers and decodes the answers.

package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/oxbow-memory/oxbow"
)

// messageRequester sends requests. A *nats.Conn implements it. Tests use a wrapper that loses
// answers.
type messageRequester interface {
	RequestMsgWithContext(ctx context.Context, m *nats.Msg) (*nats.Msg, error)
}

// These errors are outcomes of an attempt to publish a message.
var (
	// the message was not stored, because another process has stored a newer message of the brain (NATS error 10071)
	errNewerMessageStored = errors.New("the brain has another head")
	// the message was not stored, because the server is storing another message of the brain (NATS error 10164)
	errWriteInProgress = errors.New("another write is under way")
	// the message was not stored, because no server of the stream received it
	errNoServer = errors.New("no server of the stream answers")
	// the message may have been stored, or may be stored later
	errNoReply = errors.New("no answer came")
)

// These are error codes of the servers.
const (
	errorCodeNoMessage       = 10037
	errorCodeWrongLastSeq    = 10071
	errorCodeWriteInProgress = 10164
	errorCodeUnavailable     = 10008
	errorCodeNoStream        = 10059
	errorCodeUnknownServer   = 10044 // the server does not belong to the cluster
	errorCodeMemberChange    = 10202
)

// These are headers that the servers interpret.
const (
	headerExpectSeq = "Nats-Expected-Last-Subject-Sequence"
	// subject whose last message must have the expected sequence (by default the subject of the sent message)
	headerExpectSubject = "Nats-Expected-Last-Subject-Sequence-Subject"
	headerRollup        = "Nats-Rollup"
)

// serverRequestSender sends the requests of a [Cluster] to the servers.
type serverRequestSender struct {
	requester        messageRequester
	maxAttemptTime   time.Duration // maximum time to wait for the answer to an attempt to publish
	maxReadRetryTime time.Duration // maximum time for which a request that only reads is repeated
}

// apiError is the error in an answer.
type apiError struct {
	Code        int    `json:"code"`
	ErrCode     int    `json:"err_code"`
	Description string `json:"description"`
}

func (e *apiError) Error() string { return fmt.Sprintf("%s (%d)", e.Description, e.ErrCode) }

// streamMessage is a message of a stream.
type streamMessage struct {
	Subject string    `json:"subject"`
	Seq     uint64    `json:"seq"`
	Data    []byte    `json:"data"`
	Time    time.Time `json:"time"`
}

// publishMessage stores a message if the last message with the same subject has the sequence number expectedSeq. It
// returns the sequence number of the new message. If replacesAllMessages is set, the new message replaces all messages
// with this subject. publishMessage makes a single attempt. Its errors are those of storeMessage.
func (l serverRequestSender) publishMessage(ctx context.Context, subject string, data []byte, expectedSeq uint64,
	replacesAllMessages bool) (uint64, error) {
	m := nats.NewMsg(subject)
	m.Data = data
	m.Header.Set(headerExpectSeq, strconv.FormatUint(expectedSeq, 10))
	if replacesAllMessages {
		m.Header.Set(headerRollup, "sub")
	}
	return l.storeMessage(ctx, m)
}

// storeMessage stores a message in a stream and returns the message's sequence. It makes a single attempt. If the
// servers did not store the message, the error can be errNewerMessageStored, errWriteInProgress or errNoServer. If it
// is unknown whether the message was stored, the error matches errNoReply.
func (l serverRequestSender) storeMessage(ctx context.Context, m *nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, l.maxAttemptTime)
	defer cancel()
	r, err := l.requester.RequestMsgWithContext(ctx, m)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return 0, errNoServer
	case errors.Is(err, nats.ErrMaxPayload):
		return 0, &oxbow.InvalidError{
			Field:  "change",
			Reason: "is more than a message of the servers may hold; split it",
		}
	case err != nil:
		return 0, fmt.Errorf("%w: %v", errNoReply, err)
	}
	var ack struct {
		Seq   uint64    `json:"seq"`
		Error *apiError `json:"error"`
	}
	err = json.Unmarshal(r.Data, &ack)
	isAck := ack.Seq != 0 || ack.Error != nil
	if err != nil || !isAck {
		return 0, fmt.Errorf("%w: the ack cannot be read: %.80q", errNoReply, r.Data)
	}
	if ack.Error == nil {
		return ack.Seq, nil
	}
	switch ack.Error.ErrCode {
	case errorCodeWrongLastSeq:
		return 0, errNewerMessageStored
	case errorCodeWriteInProgress:
		return 0, errWriteInProgress
	case errorCodeUnavailable:
		return 0, errNoServer
	}
	return 0, fmt.Errorf("the servers refused the write: %w", ack.Error)
}

// lastMessage asks the stream's leader for the last message with a subject. ok is false if the stream does not contain
// such a message.
func (l serverRequestSender) lastMessage(
	ctx context.Context,
	stream, subject string,
) (m streamMessage, ok bool, err error) {
	return l.getMessage(ctx, stream, map[string]any{"last_by_subj": subject})
}

// nextMessage asks the stream's leader for the first message that has the given subject and a sequence number of at
// least minSeq. If no such message exists, ok is false.
func (l serverRequestSender) nextMessage(
	ctx context.Context,
	stream, subject string,
	minSeq uint64,
) (m streamMessage, ok bool,
	err error) {
	return l.getMessage(ctx, stream, map[string]any{"seq": minSeq, "next_by_subj": subject})
}

// getMessage asks the stream's leader for the message that request describes. It waits while the stream has no leader.
// ok is false if the message does not exist.
func (l serverRequestSender) getMessage(
	ctx context.Context,
	stream string,
	request map[string]any,
) (m streamMessage, ok bool,
	err error) {
	var r struct {
		Message *streamMessage `json:"message"`
		Error   *apiError      `json:"error"`
	}
	err = l.requestAPI(ctx, "$JS.API.STREAM.MSG.GET."+stream, request, &r)
	switch {
	case err != nil:
		return m, false, err
	case r.Error != nil && r.Error.ErrCode == errorCodeNoMessage:
		return m, false, nil
	case r.Error != nil && r.Error.ErrCode == errorCodeNoStream:
		return m, false, missingStreamError(stream)
	case r.Error != nil:
		return m, false, fmt.Errorf("stream %s: %w", stream, r.Error)
	case r.Message == nil:
		return m, false, fmt.Errorf("stream %s: an answer without a message", stream)
	}
	return *r.Message, true, nil
}

// missingStreamError returns the error for a stream that no longer exists.
func missingStreamError(stream string) error {
	return fmt.Errorf(
		"%w: stream %s is missing although the directory names it; it is never made again: see by the status whether "+
			"a server forgot it, else restore it from a backup or from the cache directory of a node",
		oxbow.ErrCorrupt,
		stream,
	)
}

// requestAPI sends a request to the JetStream API, and decodes the answer into the variable to which answer points. It
// repeats the request until a server answers or ctx is done. An error that the server reports is decoded into answer,
// and is not returned.
func (l serverRequestSender) requestAPI(ctx context.Context, subject string, request, answer any) error {
	req := nats.NewMsg(subject)
	if request != nil {
		b, err := json.Marshal(request)
		if err != nil {
			return err
		}
		req.Data = b
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		try, cancel := context.WithTimeout(ctx, l.maxAttemptTime)
		r, err := l.requester.RequestMsgWithContext(try, req)
		cancel()
		if err == nil {
			var refused struct {
				Error *apiError `json:"error"`
			}
			err = json.Unmarshal(r.Data, &refused)
			isAnswer := refused.Error == nil || refused.Error.ErrCode != errorCodeUnavailable
			if err == nil && isAnswer {
				return json.Unmarshal(r.Data, answer)
			}
			if refused.Error != nil {
				err = refused.Error
			}
		}
		if errors.Is(err, nats.ErrConnectionClosed) {
			return fmt.Errorf("%w: the connection to the servers is closed", oxbow.ErrClosed)
		}
		if !sleepUnlessCanceled(ctx, pause) {
			return unavailableError(ctx, err)
		}
	}
}

// unavailableError returns the error for a request that no server answered in time.
func unavailableError(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return fmt.Errorf(
		"%w: the servers do not answer (%w); see whether two of three run and reach each other",
		oxbow.ErrBusy,
		err,
	)
}

// sleepUnlessCanceled waits for d. It returns false if the context is done first.
func sleepUnlessCanceled(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// eachMessageInBatch calls fn for at most maxMessages messages of a subject, starting with the sequence number
// firstSeq. It asks any server, which may lack the latest messages. It may stop early without an error. Therefore the
// caller must ask the leader for the last message and read the messages that are missing.
func eachMessageInBatch(
	ctx context.Context,
	nc *nats.Conn,
	stream, subject string,
	firstSeq uint64,
	maxMessages int,
	fn func(m streamMessage) error,
) error {
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	_ = sub.SetPendingLimits(-1, -1)
	req, err := json.Marshal(map[string]any{"seq": firstSeq, "next_by_subj": subject, "batch": maxMessages})
	if err != nil {
		return err
	}
	if err := nc.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, req); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil || m.Header.Get("Status") != "" {
			// Either all messages were read, or no server answered. The caller finds out by asking the leader for the
			// last message.
			return nil
		}
		seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
		if err != nil {
			return nil
		}
		if err := fn(streamMessage{Subject: m.Header.Get("Nats-Subject"), Seq: seq, Data: m.Data}); err != nil {
			return err
		}
	}
}
