// This file tests faults between a process and the servers: lost acknowledgements, lost requests, changes of the
// leader, and races.

package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/oxbow-memory/oxbow"
)

// faulty is a messageRequester that can cause faults. For a message that publishes changes of a brain (memory), faulty
// calls the function in its field fault. This function may call send to send the message. The function returns the
// answer to the message.
type faulty struct {
	messageRequester
	mu    sync.Mutex
	fault func(send func() (*nats.Msg, error)) (*nats.Msg, error) // nil if every message is sent normally
	sent  int
}

// RequestMsgWithContext implements messageRequester.
func (f *faulty) RequestMsgWithContext(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	send := func() (*nats.Msg, error) { return f.messageRequester.RequestMsgWithContext(ctx, m) }
	f.mu.Lock()
	fault := f.fault
	if strings.HasPrefix(m.Subject, "b.") {
		f.sent++
	} else {
		fault = nil
	}
	f.mu.Unlock()
	if fault == nil {
		return send()
	}
	return fault(send)
}

func (f *faulty) set(fault func(func() (*nats.Msg, error)) (*nats.Msg, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.sent = fault, 0
}

// refusal returns the answer of a server that refuses a message with this error code.
func refusal(code int) (*nats.Msg, error) {
	b, err := json.Marshal(map[string]any{"error": apiError{400, code, "refused"}})
	return &nats.Msg{Data: b}, err
}

// faults opens the brain "b" by two connections to a server. It returns a faulty requester f, the store s whose
// requests go through f, and the store other without faults.
func faults(t *testing.T) (f *faulty, s, other *Store) {
	url := alone(t).URL()
	o := devOptions
	o.WriteWait = 2 * time.Second
	o.ReadWait = 2 * time.Second
	o.maxAttemptTime = 500 * time.Millisecond
	c := connect(t, url, o)
	f = &faulty{messageRequester: c.requestSender.requester}
	c.requestSender.requester = f
	return f, open(t, c, "b"), open(t, connect(t, url, o), "b")
}

// count returns the number of changes of a brain.
func count(t *testing.T, s *Store) int {
	t.Helper()
	n := 0
	for _, err := range s.Log(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestFaults lets the first attempts of a change fail in different ways. The change must be made once, and the error
// must say what is known about it.
func TestFaults(t *testing.T) {
	t.Parallel()
	lose := func(int) (*nats.Msg, error) { return nil, context.DeadlineExceeded }
	for _, tc := range []struct {
		name  string
		fault func(try int, send func() (*nats.Msg, error), other *Store) (*nats.Msg, error)
		want  error
		made  bool
		tries int
	}{
		{"NoFault", func(_ int, send func() (*nats.Msg, error), _ *Store) (*nats.Msg, error) {
			return send()
		}, nil, true, 1},
		{"LostAck", func(try int, send func() (*nats.Msg, error), _ *Store) (*nats.Msg, error) {
			if _, err := send(); try > 1 || err != nil {
				t.Errorf("try %d: %v", try, err)
			}
			return lose(try)
		}, nil, true, 2},
		{"LostRequest", func(try int, send func() (*nats.Msg, error), _ *Store) (*nats.Msg, error) {
			if try < 3 {
				return lose(try)
			}
			return send()
		}, nil, true, 3},
		{"LostAlways", func(try int, _ func() (*nats.Msg, error), _ *Store) (*nats.Msg, error) {
			return lose(try)
		}, oxbow.ErrUnknownOutcome, false, 0},
		{"Away", func(int, func() (*nats.Msg, error), *Store) (*nats.Msg, error) {
			return nil, nats.ErrNoResponders
		}, oxbow.ErrBusy, false, 0},
		{"Busy", func(try int, send func() (*nats.Msg, error), _ *Store) (*nats.Msg, error) {
			if try < 5 {
				return refusal(errorCodeWriteInProgress)
			}
			return send()
		}, nil, true, 5},
		{"FalseMove", func(try int, send func() (*nats.Msg, error), _ *Store) (*nats.Msg, error) {
			if try < 3 {
				// The server reports a wrong sequence number, although no other message was stored.
				return refusal(errorCodeWrongLastSeq)
			}
			return send()
		}, nil, true, 3},
		{"Overtaken", func(try int, send func() (*nats.Msg, error), other *Store) (*nats.Msg, error) {
			if try == 1 {
				if err := other.Apply(context.Background(), oxbow.Add{Name: "theirs"}); err != nil {
					t.Error(err)
				}
			}
			return send()
		}, nil, true, 2},
		{"OvertakenByTheSame", func(try int, send func() (*nats.Msg, error), other *Store) (*nats.Msg, error) {
			if try == 1 {
				if err := other.Apply(context.Background(), oxbow.Add{Name: "a", Content: "theirs"}); err != nil {
					t.Error(err)
				}
			}
			return send()
		}, oxbow.ErrExists, true, 1},
		{"LostAckAndCompacted", func(try int, send func() (*nats.Msg, error), other *Store) (*nats.Msg, error) {
			if try == 1 {
				if _, err := send(); err != nil {
					t.Error(err)
				}
				if err := errors.Join(
					other.Refresh(context.Background()),
					other.brainReplica.publishSnapshot(context.Background()),
				); err != nil {
					t.Error(err)
				}
				return lose(try)
			}
			return send()
		}, nil, true, 2},
		{"Refused", func(int, func() (*nats.Msg, error), *Store) (*nats.Msg, error) {
			return refusal(10077)
		}, errAny, false, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, s, other := faults(t)
			if err := s.Apply(t.Context(), oxbow.Add{Name: "first"}); err != nil {
				t.Fatal(err)
			}
			try := 0
			f.set(func(send func() (*nats.Msg, error)) (*nats.Msg, error) {
				try++
				if try == 2 && tc.name == "LostAck" {
					return send()
				}
				return tc.fault(try, send, other)
			})
			err := s.Apply(t.Context(), oxbow.Add{Name: "a", Content: "ours"})
			if !errors.Is(err, tc.want) && !(tc.want == errAny && err != nil) {
				t.Errorf("Apply() = %v, want %v", err, tc.want)
			}
			if tc.tries > 0 && try != tc.tries {
				t.Errorf("%d tries, want %d", try, tc.tries)
			}
			f.set(nil)
			for _, s := range []*Store{s, other} {
				if _, err := s.Get(t.Context(), "a"); (err == nil) != tc.made {
					t.Errorf("Get() = %v, want that it is there: %t", err, tc.made)
				}
			}
			if err := s.Apply(t.Context(), oxbow.Update{Name: "first", Content: "after"}); err != nil {
				t.Errorf("Apply() after the fault = %v", err)
			}
			if a, b := count(t, s), count(t, other); a != b {
				t.Errorf("the log has %d changes in one process and %d in the other", a, b)
			}
		})
	}
}

var errAny = errors.New("any error")

// TestOpIDAfterUnknownOutcome loses all acknowledgements of a change, which is in the stream nevertheless. Repeating
// the change with the same op ID must change nothing.
func TestOpIDAfterUnknownOutcome(t *testing.T) {
	t.Parallel()
	f, s, other := faults(t)
	f.set(func(send func() (*nats.Msg, error)) (*nats.Msg, error) {
		_, _ = send()
		return nil, context.DeadlineExceeded
	})
	ctx, cancel := context.WithTimeout(oxbow.WithOpID(t.Context(), "once"), 300*time.Millisecond)
	defer cancel()
	err := s.Apply(ctx, oxbow.Add{Name: "a"})
	f.set(nil)
	if err != nil && !errors.Is(err, oxbow.ErrUnknownOutcome) {
		t.Errorf("Apply() = %v", err)
	}
	for _, s := range []*Store{other, s} {
		if err := s.Apply(oxbow.WithOpID(t.Context(), "once"), oxbow.Add{Name: "a"}); err != nil {
			t.Errorf("Apply() again = %v", err)
		}
	}
	if n := count(t, other); n != 1 {
		t.Errorf("%d changes, want 1", n)
	}
}

// TestOpIDOfAnotherCall checks that a call is refused if a different call has used its op ID, and that the replicas
// stay equal.
func TestOpIDOfAnotherCall(t *testing.T) {
	t.Parallel()
	_, s, other := faults(t)
	errs := make([]error, 20)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			ctx := oxbow.WithOpID(t.Context(), oxbow.CallOpID("once", fmt.Sprint(i)))
			errs[i] = []*Store{s, other}[i%2].Apply(ctx, oxbow.Add{Name: fmt.Sprint("e", i)})
		})
	}
	wg.Wait()
	made := 0
	for i, err := range errs {
		if err == nil {
			made++
		} else if !errors.Is(err, oxbow.ErrOpIDUsed) {
			t.Errorf("Apply() %d = %v, want ErrOpIDUsed", i, err)
		}
	}
	if a, b := count(t, s), count(t, other); made != 1 || a != 1 || b != 1 {
		t.Errorf("%d calls were made; the log has %d changes in one process and %d in the other, want 1", made, a, b)
	}
}

// TestTogether tests that changes that wait at the same time are sent together in few messages. Two callers use each op
// ID, and only one change may be stored for it. A change that the store refuses must not prevent the other changes in
// its message.
func TestTogether(t *testing.T) {
	const callers = 40
	f, s, other := faults(t)
	begun, first := make(chan bool, callers), make(chan bool)
	f.set(func(send func() (*nats.Msg, error)) (*nats.Msg, error) {
		begun <- true
		<-first
		return send()
	})
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		if i == 1 {
			<-begun // the first change has its own envelope
		}
		wg.Go(func() {
			errs[i] = s.Apply(
				oxbow.WithOpID(t.Context(), fmt.Sprint(i/2)),
				oxbow.Add{Name: fmt.Sprint("e", i%30), Content: fmt.Sprint(i)},
			)
		})
	}
	for s.brainReplica.waiting() < callers-1 {
		runtime.Gosched()
	}
	close(first)
	wg.Wait()
	f.mu.Lock()
	sent := f.sent
	f.mu.Unlock()
	if sent > 12 {
		t.Errorf("%d changes took %d envelopes", callers, sent)
	}
	for i, err := range errs {
		if err != nil && !errors.Is(err, oxbow.ErrExists) {
			t.Errorf("Apply() %d = %v", i, err)
		}
	}
	if a, b := count(t, s), count(t, other); a != b || a > 20 || a < 15 {
		t.Errorf(
			"the log has %d changes in one process and %d in the other, want one for each op id but those refused",
			a,
			b,
		)
	}
}

func (r *brainReplica) waiting() int {
	r.commitQueue.mu.Lock()
	defer r.commitQueue.mu.Unlock()
	return len(r.commitQueue.waitingRequests)
}
