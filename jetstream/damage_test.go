// This file tests servers with damaged files. A reader, or an audit (a check of all servers), must find the damage
// before a wrong answer is returned.

package jetstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	api "github.com/nats-io/nats.go/jetstream"
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/remote/opjson"
	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// harmed is a cluster of three servers that stores a brain (memory) of 40 messages. The field victim is the number of
// the server that a test damages.
type harmed struct {
	*trio
	c      *Cluster
	brain  *Store
	victim int
}

const damageEntries = 40

func newHarmed(t *testing.T) *harmed {
	t.Helper()
	tr := threeServers(t)
	c := connectTrio(t, tr.urls, Options{Partitions: 1, minEnvelopesAfterSnapshot: 1000})
	h := &harmed{trio: tr, c: c, brain: open(t, c, "b")}
	for i := range damageEntries {
		if err := h.brain.Apply(
			t.Context(),
			oxbow.Add{Name: fmt.Sprint("e", i), Content: strings.Repeat(fmt.Sprint("text ", i), 50)},
		); err != nil {
			t.Fatal(err)
		}
	}
	leader, _, err := c.findLeader(t.Context(), "BRAIN_00")
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range tr.options {
		if o.Name != leader {
			h.victim = i
		}
	}
	return h
}

// messageFiles returns the files on the victim that contain the messages of the stream.
func (h *harmed) messageFiles(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(
		h.options[h.victim].Dir,
		"jetstream",
		"OXBOW",
		"streams",
		"BRAIN_00",
		"msgs",
		"*.blk",
	))
	if err != nil || len(names) == 0 {
		t.Fatalf("the victim has no files of messages: %v", err)
	}
	return names
}

// restart stops the victim, damages its files, and starts it again.
func (h *harmed) restart(t *testing.T, harm func() error) {
	t.Helper()
	h.servers[h.victim].Shutdown()
	if err := harm(); err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(h.options[h.victim])
	if err != nil {
		t.Fatal(err)
	}
	h.servers[h.victim] = s
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for { // wait until the victim can be made the leader of the stream
		if err := h.c.makeLeader(ctx, "BRAIN_00", h.options[h.victim].Name); err == nil {
			return
		}
		if !sleepUnlessCanceled(ctx, 50*time.Millisecond) {
			t.Fatal("the victim does not come back")
		}
	}
}

// answers reads the brain in a new cluster connection. It returns an error if reading fails. If reading succeeds, the
// answer must contain all damageEntries entries.
func (h *harmed) answers(t *testing.T) error {
	t.Helper()
	c := connectTrio(t, h.urls, Options{})
	s, err := c.Open(t.Context(), "acme", "b")
	if err != nil {
		return err
	}
	defer s.Close()
	n := 0
	for _, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			return err
		}
		n++
	}
	if n != damageEntries {
		t.Errorf("a wrong answer: %d entries of %d", n, damageEntries)
	}
	return nil
}

// flip changes bytes of the named files, to damage them. Each of the places is a position in percent of the file's
// length, and is not negative. flip inverts one bit of the byte at each place. It ignores places at or after the end of
// the file.
func flip(names []string, places ...int) error {
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, p := range places {
			p = p * len(b) / 100
			if p < len(b) {
				b[p] ^= 4
			}
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// TestBitFlips flips bits at several positions in the files of a server. An audit must either find the damage and fence
// the server, so that it no longer leads, or find nothing because the server has repaired itself with the data of the
// other servers. A process that then reads must get the right answer or an error.
func TestBitFlips(t *testing.T) {
	t.Parallel()
	for name, places := range map[string][]int{"Middle": {50}, "Start": {2}, "End": {98}, "Several": {10, 30, 50, 70}} {
		if name != "Several" && *repeats == 1 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			h := newHarmed(t)
			h.restart(t, func() error { return flip(h.messageFiles(t), places...) })
			rep, err := h.c.Audit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			fenced := false
			for _, f := range rep.Findings {
				t.Logf("found: %+v", f)
				if f.Server != h.options[h.victim].Name || !f.Fenced {
					t.Errorf(
						"the finding is of %s, fenced %t; the victim is %s",
						f.Server,
						f.Fenced,
						h.options[h.victim].Name,
					)
				}
				fenced = true
			}
			if !fenced {
				t.Log("the server healed itself from the others")
			}
			if fenced {
				h.auditDisturbed(t)
			}
			if fenced { // make the damaged server the leader again: the next read must move the lead away
				if err := h.c.makeLeader(t.Context(), "BRAIN_00", h.options[h.victim].Name); err != nil {
					t.Fatal(err)
				}
				if _, err := h.brain.Get(t.Context(), "e1"); err != nil {
					t.Errorf("Get() = %v", err)
				}
				if leader, _, err := h.c.findLeader(t.Context(), "BRAIN_00"); err != nil ||
					leader == h.options[h.victim].Name {
					t.Errorf("a read left the lead to %s, %v", leader, err)
				}
			}
			if err := h.answers(t); err != nil {
				t.Errorf("after the audit: %v", err)
			}
			if leader, _, err := h.c.findLeader(t.Context(), "BRAIN_00"); err != nil ||
				(fenced && leader == h.options[h.victim].Name) {
				t.Errorf("the stream is led by %s, %v", leader, err)
			}
		})
	}
}

// interloper sends requests like a second process that does something before certain requests.
type interloper struct {
	messageRequester
	before func(m *nats.Msg)
}

// RequestMsgWithContext implements messageRequester.
func (i *interloper) RequestMsgWithContext(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	i.before(m)
	return i.messageRequester.RequestMsgWithContext(ctx, m)
}

// auditDisturbed starts an audit. While the audit reads from the victim as leader, another process makes another server
// the leader. The audit then cannot finish reading the victim's data. The victim must stay fenced, that is, it must not
// lead the stream.
func (h *harmed) auditDisturbed(t *testing.T) {
	t.Helper()
	victim, conn := h.options[h.victim].Name, h.c.requestSender.requester
	other := connectTrio(t, h.urls, Options{})
	moved := false
	h.c.requestSender.requester = &interloper{conn, func(m *nats.Msg) {
		if m.Subject != "$JS.API.STREAM.MSG.GET.BRAIN_00" || moved {
			return
		}
		if now, _, err := other.findLeader(t.Context(), "BRAIN_00"); err == nil && now == victim {
			moved = true
			if err := other.replaceFencedLeader(t.Context(), "BRAIN_00"); err != nil {
				t.Error(err)
			}
		}
	}}
	rep, err := h.c.Audit(t.Context())
	h.c.requestSender.requester = conn
	if err != nil || !moved || len(rep.Findings) != 1 || rep.Findings[0].Server != victim ||
		!strings.Contains(rep.Findings[0].What, "lost the lead") {
		t.Errorf("Audit() = %+v, %v, moved %t, want that %s lost the lead", rep, err, moved, victim)
	}
	if err := h.c.readLeaderFences(t.Context()); err != nil || !h.c.isFencedFromLeading("BRAIN_00", victim) {
		t.Errorf("%s, which was not read, is not fenced any more (%v)", victim, err)
	}
}

// TestFlipsWithoutAudit flips bits in the message files of one server. No audit has searched for damage. A client must
// notice missing messages, because each message contains the hash of the one before it, and must then read from another
// server.
func TestFlipsWithoutAudit(t *testing.T) {
	t.Parallel()
	h := newHarmed(t)
	h.restart(t, func() error { return flip(h.messageFiles(t), 30, 50) })
	if err := h.answers(t); err != nil {
		t.Errorf("reading by another server: %v", err)
	}
	// A process that had already read everything can continue.
	if err := h.brain.Apply(t.Context(), oxbow.Add{Name: "after"}); err != nil {
		t.Errorf("Apply() = %v", err)
	}
}

// TestReplacedSnapshot replaces all messages of a brain by an earlier message that this package did not write. Each
// call must then fail with ErrCorrupt, in processes that had read later messages and in a process that opens the brain
// only now.
func TestReplacedSnapshot(t *testing.T) {
	t.Parallel()
	_, s, other := faults(t)
	for i := range 10 {
		if err := s.Apply(t.Context(), oxbow.Add{Name: fmt.Sprint("e", i)}); err != nil {
			t.Fatal(err)
		}
	}
	r := s.brainReplica
	if err := r.publishSnapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Apply(t.Context(), oxbow.Add{Name: "more"}), other.Refresh(t.Context())); err != nil {
		t.Fatal(err)
	}
	// Replace all messages by an earlier snapshot, at the tenth envelope.
	old := &envelope{
		Version:          envelopeVersion,
		BrainName:        r.directoryEntry.Name,
		EnvelopeNumber:   3,
		BrainEpoch:       1,
		EnvelopeID:       "x",
		LastChangeBefore: 3,
		Snapshot:         &snapshot{LastChange: 3, InlineFile: []byte("x")},
	}
	data, _, err := old.encodeMessage()
	if err != nil {
		t.Fatal(err)
	}
	m := nats.NewMsg(r.directoryEntry.subjectName())
	m.Data = data
	m.Header.Set(headerRollup, "sub")
	if _, err := r.cluster.natsConn.RequestMsg(m, time.Second); err != nil {
		t.Fatal(err)
	}
	third := open(t, connect(t, r.cluster.natsConn.ConnectedUrl(), devOptions), "b")
	for _, s := range []*Store{s, other, third} {
		if e, err := s.Get(t.Context(), "e1"); !errors.Is(err, oxbow.ErrCorrupt) {
			t.Errorf("Get() = %+v, %v, want ErrCorrupt", e, err)
		}
		if err := s.Apply(t.Context(), oxbow.Add{Name: "new"}); !errors.Is(err, oxbow.ErrCorrupt) {
			t.Errorf("Apply() = %v, want ErrCorrupt", err)
		}
		_ = s.Close()
	}
}

// TestLastMessageGone deletes the last message. A process that has read it must return an error, and not the earlier
// state.
func TestLastMessageGone(t *testing.T) {
	t.Parallel()
	_, s, other := faults(t)
	if err := errors.Join(
		s.Apply(t.Context(), oxbow.Add{Name: "a"}),
		s.Apply(t.Context(), oxbow.Add{Name: "b"}),
		other.Refresh(t.Context()),
	); err != nil {
		t.Fatal(err)
	}
	js, err := api.New(s.brainReplica.cluster.natsConn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), s.brainReplica.directoryEntry.streamName())
	if err == nil {
		err = stream.DeleteMsg(t.Context(), s.brainReplica.lastReadSeq.Load())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{s, other} {
		if _, err := s.Get(t.Context(), "a"); !errors.Is(err, oxbow.ErrCorrupt) ||
			!strings.Contains(err.Error(), "is gone") {
			t.Errorf("Get() = %v, want ErrCorrupt of a message that is gone", err)
		}
		_ = s.Close()
	}
}

// TestMissingStream deletes a stream while brains are open. Reads and writes must return an error, and the stream must
// not be created again.
func TestMissingStream(t *testing.T) {
	t.Parallel()
	_, s, other := faults(t)
	if err := errors.Join(s.Apply(t.Context(), oxbow.Add{Name: "a"}), other.Refresh(t.Context())); err != nil {
		t.Fatal(err)
	}
	js, err := api.New(s.brainReplica.cluster.natsConn)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), s.brainReplica.directoryEntry.streamName()); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{s, other} {
		if _, err := s.Get(t.Context(), "a"); !errors.Is(err, oxbow.ErrCorrupt) {
			t.Errorf("Get() = %v, want ErrCorrupt", err)
		}
		if err := s.Apply(t.Context(), oxbow.Add{Name: "b"}); err == nil || errors.Is(err, oxbow.ErrUnknownOutcome) {
			t.Errorf("Apply() = %v, want an error that is sure", err)
		}
	}
	rep, err := other.brainReplica.cluster.Audit(t.Context())
	if err != nil || len(rep.Findings) != 1 || !strings.Contains(rep.Findings[0].What, "missing") {
		t.Errorf("Audit() = %+v, %v, want the stream", rep, err)
	}
	if _, err := js.Stream(t.Context(), s.brainReplica.directoryEntry.streamName()); !errors.Is(
		err,
		api.ErrStreamNotFound,
	) {
		t.Errorf("the stream is there again: %v", err)
	}
	_ = errors.Join(s.Close(), other.Close())
}

// TestMessageReplaced checks that a process that reads a damaged message for the first time finds each kind of damage.
func TestMessageReplaced(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(e *envelope, data []byte) []byte{
		"Checksum": func(_ *envelope, data []byte) []byte { data[len(data)/2] ^= 1; return data },
		"Number":   func(e *envelope, _ []byte) []byte { e.EnvelopeNumber++; d, _, _ := e.encodeMessage(); return d },
		"Chain":    func(e *envelope, _ []byte) []byte { e.PrevChainHash[0]++; d, _, _ := e.encodeMessage(); return d },
		"Brain":    func(e *envelope, _ []byte) []byte { e.BrainName = "acme.c"; d, _, _ := e.encodeMessage(); return d },
		"State":    func(e *envelope, _ []byte) []byte { e.FileChainHash = "00"; d, _, _ := e.encodeMessage(); return d },
		"Change": func(e *envelope, _ []byte) []byte {
			e.Changes[0].Ops[0] = opjson.Op{}
			d, _, _ := e.encodeMessage()
			return d
		},
		"Short": func(_ *envelope, data []byte) []byte { return data[:20] },
		"Empty": func(*envelope, []byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			_, s, other := faults(t)
			if err := errors.Join(s.Apply(t.Context(), oxbow.Add{Name: "a"}), other.Refresh(t.Context())); err != nil {
				t.Fatal(err)
			}
			r := other.brainReplica
			op, err := opjson.EncodeOp(oxbow.Add{Name: "b"})
			if err != nil {
				t.Fatal(err)
			}
			m, expect, err := r.buildEnvelope([]*commitRequest{{change: requestedChange{Ops: []opjson.Op{op}}}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.cluster.requestSender.publishMessage(
				t.Context(),
				r.directoryEntry.subjectName(),
				harm(m.envelope, m.data),
				expect,
				false,
			); err != nil {
				t.Fatal(err)
			}
			for _, s := range []*Store{s, other} {
				if e, err := s.Get(t.Context(), "a"); !errors.Is(err, oxbow.ErrCorrupt) &&
					!errors.Is(err, oxbow.ErrVersion) {
					t.Errorf("Get() = %+v, %v, want ErrCorrupt", e, err)
				}
				_ = s.Close()
			}
		})
	}
}
