// This file fuzzes the decoder of record bodies.

package logstore

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/log/wire"
	"github.com/oxbow-memory/oxbow/store"
)

// allocated returns the number of bytes that fn allocates.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func FuzzDecodeBody(f *testing.F) {
	at := time.Unix(1776162225, 5).UTC()
	e := &store.Entry{ID: 3, Name: "a name", Kind: store.World, Content: "what\nwas said", Aliases: []string{"x", "y"},
		Labels: []store.Label{{Key: "project", Value: "p"}, {Key: "tag", Value: "t"}}, Created: at}
	change := &recordBody{source: store.Source{Door: "mcp", Actor: store.Agent, Session: "s"}, opID: "id", note: "why",
		revertedSeqs: []uint64{1, 300},
		ops: []loggedOp{
			{verb: store.VerbAdd, entry: e, previousChange: 7},
			{verb: store.VerbRemove, entry: &store.Entry{ID: 9, Name: "b"}, previousChange: 2},
		}}
	b := encodeBody(change).body
	f.Add(b)
	for _, year := range []int{-5, 20000} {
		far := *e
		far.Created = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		b := encodeBody(&recordBody{ops: []loggedOp{{verb: store.VerbAdd, entry: &far}}}).body
		f.Add(b)
	}
	based := *e
	based.Version, based.Updated = 12, at
	f.Add(appendBaseRecordBody(
		nil,
		&recordBody{
			nextEntryID: 40,
			seenOpIDs:   []opIDWithChange{{"id", 7}},
			ops:         []loggedOp{{verb: store.VerbAdd, entry: &based}},
		},
	))
	f.Add(
		wire.AppendBytesField(
			nil,
			recordFieldErasedOp,
			wire.AppendUintField(wire.AppendBytesField(nil, 1, make([]byte, 32)), 2, 5),
		),
	)
	f.Add(bytes.Repeat([]byte{recordFieldOp<<3 | 2, 0}, 500))
	f.Add(bytes.Repeat([]byte{recordFieldErasedOp<<3 | 2, 0}, 1<<16))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, data []byte) {
		var v *recordBody
		var err error
		used := allocated(func() { v, err = decodeBody(data) })
		if most := uint64(16*len(data) + 1<<20); used > most {
			t.Errorf("decoding %d bytes took %d bytes of memory, the most is %d", len(data), used, most)
		}
		if err != nil {
			return
		}
		// Each body that can be decoded must have a digest.
		if _, err := digestBody(recordTypeChange, data); err != nil {
			t.Errorf("a body that decodes has no digest: %v", err)
		}
		snapshotAlike(t, v, data)
		for _, p := range v.ops {
			if p.isContentErased {
				return // The encoder never writes such a body.
			}
			if y := p.entry.Created.Year(); p.verb != store.VerbRemove && (y < 0 || y > 9999) {
				t.Errorf("an entry was made in the year %d, which JSON has no form for", y)
			}
		}
		if v.nextEntryID != 0 || len(v.seenOpIDs) > 0 {
			return // The body cannot be the body of a change, because a change has neither nextEntryID nor seenOpIDs.
		}
		// Encode the body, decode the result and encode it again. Both encodings must be equal.
		enc := encodeBody(v)
		once, sum := enc.body, enc.digest
		again, err := decodeBody(once)
		if err != nil {
			t.Fatalf("decodeBody(encodeBody(v)) = %v", err)
		}
		enc = encodeBody(again)
		twice, sum2 := enc.body, enc.digest
		if !bytes.Equal(once, twice) || sum != sum2 {
			t.Errorf("encodeBody is not stable: %x, then %x", once, twice)
		}
		if digest, err := digestBody(recordTypeChange, once); err != nil || digest != sum {
			t.Errorf("encodeBody returned the digest %x, digestBody %x, %v", sum, digest, err)
		}
	})
}

// snapshotAlike tests that decoding only the entries of a record gives the same entries as decoding the whole body.
func snapshotAlike(t *testing.T, v *recordBody, data []byte) {
	t.Helper()
	es, err := decodeEntries(&wal.Record{Seq: 9, Body: data}, nil)
	if err != nil {
		t.Fatalf("a body that decodes has no entries: %v", err)
	}
	for _, p := range v.ops {
		if p.isContentErased || p.verb == store.VerbRemove {
			continue
		}
		if len(es) == 0 {
			t.Fatalf("entry %d is missing", p.entry.ID)
		}
		e := es[0]
		if e.ID != p.entry.ID || p.entry.Name != e.Name || !isUnchangedSinceOp(e, p) ||
			(p.entry.Version == 0 && e.Version != 9) ||
			(p.entry.Version != 0 && p.entry.Version != e.Version) {
			t.Errorf("entry %d is %+v, want %+v", e.ID, e, p)
		}
		es = es[1:]
	}
	if len(es) != 0 {
		t.Errorf("%d entries more than ops", len(es))
	}
}

// FuzzDecodeForms tests that decodeLabelSetTable and appendLabelSetLabels do not panic for arbitrary bytes. Label sets
// that were decoded must be valid and must not be longer than their encoded form.
func FuzzDecodeForms(f *testing.F) {
	f.Add(keydir.AppendLengthAndText(
		nil,
		encodeLabelSet(&store.Entry{
			Kind: store.Journal,
			Labels: []store.Label{
				{Key: store.LabelProject, Value: "vtt"},
				{Key: "session", Value: "x"},
				{Key: store.LabelTag, Value: "a"},
			},
		}),
	))
	f.Add([]byte{2, 9, 9})
	f.Fuzz(func(t *testing.T, b []byte) {
		forms, err := decodeLabelSetTable(b)
		var again []byte
		for _, text := range forms.texts {
			again = keydir.AppendLengthAndText(again, text)
			if text == "" || !labelSetKind(text).Valid() {
				t.Errorf("decodeFormTable(%x) has %q", b, text)
				continue
			}
			labels, err := appendLabelSetLabels(nil, text)
			encoded := []byte(text[:1])
			for _, l := range labels {
				encoded = keydir.AppendLengthAndText(keydir.AppendLengthAndText(encoded, l.Key), l.Value)
			}
			if err == nil && len(encoded) > len(text) {
				t.Errorf("appendFormLabels(%q) = %v", text, labels)
			}
		}
		if err == nil && len(again) > len(b) {
			t.Errorf("decodeFormTable(%x) is %x", b, again)
		}
	})
}
