// This file tests compaction: which messages remain in the stream, when a compaction is refused, and how other
// processes continue.

package jetstream

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	api "github.com/nats-io/nats.go/jetstream"
	"github.com/oxbow-memory/oxbow"
)

// messages returns the number of envelopes of a brain, and the number of its segments.
func messages(t *testing.T, s *Store) (envelopes, segments int) {
	t.Helper()
	js, err := api.New(s.brainReplica.cluster.natsConn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), s.brainReplica.directoryEntry.streamName())
	if err != nil {
		t.Fatal(err)
	}
	for filter, n := range map[string]*int{s.brainReplica.directoryEntry.subjectName(): &envelopes, s.brainReplica.directoryEntry.subjectName() +
		".s.*": &segments} {
		info, err := stream.Info(t.Context(), api.WithSubjectFilter(filter))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range info.State.Subjects {
			*n += int(k)
		}
	}
	return envelopes, segments
}

// same fails the test unless the stores a and b have the same log. It compares the head, which is the hash of the last
// record, the number of the last change, and the number of entries.
func same(t *testing.T, a, b *Store) {
	t.Helper()
	x, err := a.Stats(t.Context())
	y, err2 := b.Stats(t.Context())
	if err != nil || err2 != nil || x.Head != y.Head || x.Last != y.Last || x.Entries != y.Entries {
		t.Errorf("Stats() = %+v, %v in one process and %+v, %v in the other", x, err, y, err2)
	}
}

// TestCompaction tests that a brain (a stored memory) with many changes keeps only few messages in the stream. A
// snapshot replaces the older messages. A client that opens the brain from the snapshot and the remaining messages must
// have the complete history.
func TestCompaction(t *testing.T) {
	t.Parallel()
	url := alone(t).URL()
	one, two := connect(t, url, devOptions), connect(t, url, devOptions)
	a, b := open(t, one, "b"), open(t, two, "b")
	resets := 0
	b.Watch(func(e oxbow.Event) {
		if e.Reset {
			resets++
		}
	})
	if err := a.Apply(t.Context(), oxbow.Add{Name: "first"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if err := a.Apply(t.Context(), oxbow.Add{Name: fmt.Sprint("e", i), Content: "text"}); err != nil {
			t.Fatal(err)
		}
	}
	if n, _ := messages(t, a); n > 2*minEnvelopesAfterSnapshot || n < 2 {
		t.Errorf("%d messages are left of 301", n)
	}
	if a, b := count(t, a), count(t, b); a != 301 || b != 301 || resets != 1 {
		t.Errorf("%d and %d changes, %d resets, want 301, 301 and 1", a, b, resets)
	}
	same(t, a, b)
	third := open(t, connect(t, url, devOptions), "b")
	same(t, a, third)
	if seq, err := third.Revert(t.Context(), 7); err != nil || seq != 302 {
		t.Errorf("Revert() = %d, %v", seq, err)
	}
	same(t, a, third)
	rep, err := one.Audit(t.Context())
	if err != nil || len(rep.Findings) > 0 || rep.Brains != 1 {
		t.Errorf("Audit() = %+v, %v", rep, err)
	}
}

// TestStaleCompactor tests that publishSnapshot fails with errNewerMessageStored if the process has not read the
// stream's last message. A snapshot replaces all older messages.
func TestStaleCompactor(t *testing.T) {
	t.Parallel()
	_, a, b := faults(t)
	if err := errors.Join(
		a.Apply(t.Context(), oxbow.Add{Name: "a"}),
		b.Refresh(t.Context()),
		a.Apply(t.Context(), oxbow.Add{Name: "b"}),
	); err != nil {
		t.Fatal(err)
	}
	if err := b.brainReplica.publishSnapshot(t.Context()); !errors.Is(err, errNewerMessageStored) {
		t.Errorf("publishSnapshot() by a stale process = %v, want errHeadMoved", err)
	}
	if err := a.brainReplica.publishSnapshot(t.Context()); err != nil {
		t.Errorf("publishSnapshot() = %v", err)
	}
	if n, _ := messages(t, a); n != 1 {
		t.Errorf("%d messages, want the snapshot", n)
	}
	same(t, a, b)
	if err := b.Apply(t.Context(), oxbow.Add{Name: "c"}); err != nil {
		t.Error(err)
	}
	same(t, a, b)
}

// noise returns a text that does not compress well.
func noise(r *rand.Rand, n int) string {
	b := make([]byte, n*3/4)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(b)
}

// TestSegments checks that a large brain is stored in segments. Unchanged segments are not stored again, and segments
// that are no longer needed are deleted.
func TestSegments(t *testing.T) {
	t.Parallel()
	url := alone(t).URL()
	a := open(t, connect(t, url, devOptions), "b")
	r := rand.New(rand.NewPCG(1, 2))
	fill := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			if err := a.Apply(
				t.Context(),
				oxbow.Add{Name: fmt.Sprint("e", i), Content: noise(r, 500_000)},
			); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.brainReplica.publishSnapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	fill(0, 20)
	before := a.brainReplica.position.LastSnapshot.FileSegments
	if n, segments := messages(t, a); n != 1 || segments != 3 || len(before) != 3 {
		t.Errorf("%d messages and %d segments, want 1 and 3", n, segments)
	}
	fill(20, 24)
	after := a.brainReplica.position.LastSnapshot.FileSegments
	if n, segments := messages(t, a); n != 1 || segments != 3 || after[0] != before[0] || after[1] != before[1] ||
		after[2] == before[2] {
		t.Errorf("%d messages and %d segments: %v after %v, want the last replaced", n, segments, after, before)
	}
	b := open(t, connect(t, url, devOptions), "b")
	same(t, a, b)
	// A process that reads a damaged segment returns an error.
	js, err := api.New(a.brainReplica.cluster.natsConn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), a.brainReplica.segmentSubject(after[1]), []byte("another")); err != nil {
		t.Fatal(err)
	}
	c := open(t, connect(t, url, devOptions), "b")
	if _, err := c.Get(t.Context(), "e1"); !errors.Is(err, oxbow.ErrCorrupt) {
		t.Errorf("Get() of a brain with a wrong segment = %v, want ErrCorrupt", err)
	}
	_ = c.Close()
	if rep, err := a.brainReplica.cluster.Audit(t.Context()); err != nil || len(rep.Findings) != 1 {
		t.Errorf("Audit() = %+v, %v, want the segment", rep, err)
	}
	same(t, a, b) // both processes already have the file
}
