// This file tests how envelopes are encoded and decoded. An envelope is the message that stores changes in a stream.
// The file also tests messages that are not envelopes.

package jetstream

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/remote/opjson"
)

// TestOps checks that each kind of op is decoded as it was encoded, and that an unknown kind is refused.
func TestOps(t *testing.T) {
	labels := []oxbow.Label{{Key: "tag", Value: "a:b, c"}}
	far := time.Date(-300, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, op := range []oxbow.Op{
		oxbow.Add{Name: "a"},
		oxbow.Add{Name: "<b>&amp;\u2028", Kind: oxbow.Kinds()[1], Content: "\x01\u2029\n日本",
			Aliases: []string{"x", "y"}, Labels: labels, Created: far, UniqueAliases: true},
		oxbow.Add{Name: "a", Created: time.Date(20000, 1, 2, 3, 4, 5, 999_999_999, time.UTC)},
		oxbow.Update{Name: "a", Content: "c", Aliases: []string{"x"}, Labels: labels, If: 1<<64 - 1,
			UniqueAliases: true},
		oxbow.Alias{Name: "a", Aliases: []string{"x"}, If: 7},
		oxbow.Relabel{Name: "a", Labels: labels, If: 7},
		oxbow.Remove{Name: "a", If: 7},
	} {
		w, err := opjson.EncodeOp(op)
		if err != nil {
			t.Fatal(err)
		}
		e := &envelope{
			Version:        envelopeVersion,
			BrainName:      "a.b",
			EnvelopeNumber: 1,
			Changes:        []requestedChange{{Ops: []opjson.Op{w}}},
		}
		m, hash, err := e.encodeMessage()
		if err != nil {
			t.Fatal(err)
		}
		got, again, err := decodeEnvelope(m)
		if err != nil || again != hash {
			t.Fatalf("decodeEnvelope() = %v, hash %x, want %x", err, again, hash)
		}
		ops, err := got.Changes[0].decodeOps()
		if err != nil || len(ops) != 1 || !reflect.DeepEqual(ops[0], op) {
			t.Errorf("got %+v, %v, want %+v", ops, err, op)
		}
	}
	if _, err := (&requestedChange{Ops: []opjson.Op{{}}}).decodeOps(); !errors.Is(err, oxbow.ErrVersion) {
		t.Errorf("op() of no kind = %v, want ErrVersion", err)
	}
}

// TestStamps checks that a change gets the source, the note and the op ID of its context, with the same limits as in a
// local file.
func TestStamps(t *testing.T) {
	ctx := oxbow.WithSource(
		t.Context(),
		oxbow.Source{Session: strings.Repeat("s", 300), Ref: "\xff", Time: time.Now()},
	)
	ctx = oxbow.WithNote(oxbow.WithOpID(ctx, "id"), "why\xff")
	var c requestedChange
	if err := c.setOriginOfChange(ctx, oxbow.Source{Door: "library", Profile: "other"}); err != nil {
		t.Fatal(err)
	}
	s := c.Source
	if c.OpID != "id" || c.Note != "why\ufffd" || s.Door != "library" || s.Profile != "" || len(s.Session) > 210 ||
		s.Ref != "\ufffd" || !s.Time.IsZero() {
		t.Errorf("stamp() = %+v", c)
	}
	for _, id := range []string{strings.Repeat("i", 65), "\xff"} {
		if err := c.setOriginOfChange(oxbow.WithOpID(t.Context(), id), oxbow.Source{}); !errors.Is(
			err,
			oxbow.ErrInvalid,
		) {
			t.Errorf("stamp() with op id %q = %v, want ErrInvalid", id, err)
		}
	}
}

// TestFrames tests the errors of decodeEnvelope. A message that was cut off, or whose content is incomplete or
// contradictory, must cause ErrCorrupt. A message of an unknown form or version must cause ErrVersion.
func TestFrames(t *testing.T) {
	e := &envelope{
		Version:        envelopeVersion,
		BrainName:      "a.b",
		EnvelopeNumber: 1,
		Changes: []requestedChange{{Note: strings.Repeat("n",
			2*minCompressedBodyBytes)}},
	}
	large, _, err := e.encodeMessage()
	if err != nil || large[4] != 1 || len(large) > minCompressedBodyBytes {
		t.Fatalf("encode() = %d bytes of form %d, %v, want them compressed", len(large), large[4], err)
	}
	if _, _, err := decodeEnvelope(large); err != nil {
		t.Errorf("decodeEnvelope() = %v", err)
	}
	with := func(e envelope) []byte {
		m, _, err := e.encodeMessage()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for i := range large {
		if _, _, err := decodeEnvelope(large[:i]); !errors.Is(err, oxbow.ErrCorrupt) {
			t.Fatalf("the first %d bytes = %v, want ErrCorrupt", i, err)
		}
	}
	form := bytes.Clone(large)
	form[4] = 9
	for want, m := range map[error][]byte{
		oxbow.ErrVersion:                    form,
		fmt.Errorf("%w", oxbow.ErrVersion):  with(envelope{Version: envelopeVersion + 1, EnvelopeNumber: 1, Changes: e.Changes}),
		fmt.Errorf("%w", oxbow.ErrCorrupt):  with(envelope{Version: envelopeVersion, EnvelopeNumber: 1}),
		fmt.Errorf(" %w", oxbow.ErrCorrupt): with(envelope{Version: envelopeVersion, Changes: e.Changes}),
		fmt.Errorf("  %w", oxbow.ErrCorrupt): with(envelope{
			Version:        envelopeVersion,
			EnvelopeNumber: 1,
			Changes:        e.Changes,
			Snapshot:       &snapshot{},
		}),
	} {
		if _, _, err := decodeEnvelope(m); !errors.Is(err, errors.Unwrap(want)) && !errors.Is(err, want) {
			t.Errorf("decodeEnvelope(%.60q) = %v, want %v", m, err, want)
		}
	}
}

func FuzzDecodeEnvelope(f *testing.F) {
	for _, n := range []int{0, 2 * minCompressedBodyBytes} {
		e := &envelope{
			Version:        envelopeVersion,
			BrainName:      "a.b",
			EnvelopeNumber: 1,
			Changes:        []requestedChange{{Note: strings.Repeat("n", n), Ops: []opjson.Op{{}}}},
		}
		m, _, err := e.encodeMessage()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(m[messageHeadSize:], m[4])
	}
	f.Add([]byte(`{"v":1,"n":1,"snapshot":{"segments":[{"sha256":"00"}]}}`), byte(0))
	f.Fuzz(func(t *testing.T, body []byte, form byte) {
		m := append([]byte(messageMagic+"\x00\x00\x00\x00\x00"), body...)
		m[4] = form
		setChecksum(m)
		e, _, err := decodeEnvelope(m)
		if err != nil {
			if !errors.Is(err, oxbow.ErrCorrupt) && !errors.Is(err, oxbow.ErrVersion) {
				t.Errorf("decodeEnvelope() = %v", err)
			}
			return
		}
		m, _, err = e.encodeMessage()
		if err != nil {
			t.Fatal(err)
		}
		if again, _, err := decodeEnvelope(m); err != nil || !reflect.DeepEqual(again, e) {
			t.Errorf("it comes back as %+v, %v, want %+v", again, err, e)
		}
		for i := range e.Changes {
			_, _ = e.Changes[i].decodeOps()
		}
	})
}
