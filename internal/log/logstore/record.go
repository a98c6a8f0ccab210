// This file encodes changes and entries as the bodies of the log's records. Package wal
// defines the framing around them.
//
// Bodies have the wire format of protocol buffers
// (https://protobuf.dev/programming-guides/encoding), so that common tools can print them.
// Only varints (wire type 0) and length-delimited bytes (wire type 2) are used. Empty
// fields and zeros are omitted. Unknown fields are refused, because a program must not lose
// data that it does not understand.
//
// Body of a change (record type 1) or of a base record (type 128):
//
//	1  source    message, author of the change
//	2  op        message, repeated, in the order in which they are applied
//	3  op id     bytes, the caller's ID that makes a retry harmless
//	4  note      string, reason of the change
//	5  reverts   varint, repeated, the changes that this one undid
//	6  base      32 bytes: SHA-256 of the base that a compaction wrote
//	15  erased    message, in place of an op whose content was erased
//	16  next id   varint, base records only: ID of the next new entry
//	17  seen id   message, base records only, repeated: 1 op id, 2 its change
//
// Op: an entry after the change. A removal has only verb, id, name, kind and prev.
//
//	1  verb      varint: 1 add, 2 update, 3 alias, 4 label, 5 remove, 6 restore
//	2  id        varint
//	3  name      string
//	4  kind      varint, the number of the Kind
//	5  content   string
//	6  alias     string, repeated
//	7  label     message, repeated: 1 key, 2 value
//	8  created   varint, zigzag, seconds since 1970
//	9  created   varint, nanoseconds within the second
//	10  prev      varint, the previous change to an entry with this name
//	11  version   varint, base records only: the change that wrote this version
//	12  updated   varint, zigzag, base records only: its time, nanoseconds
//	13  source    message, base records only: its source
//
// Source: 1 door, 2 actor, 3 session, 4 profile, 5 ref, 6 claimed client, 7 claimed agent,
// all strings.
//
// Erased: 1 SHA-256 of the op's bytes, 2 id, 3 verb, 10 prev.
//
// The chain covers a digest of the body. It is the SHA-256 over the body's fields, with
// each op, erased or not, replaced by the byte 2 and the SHA-256 of the op's bytes. So an
// op can be erased without breaking the chain.

package logstore

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/log/wire"
	"github.com/oxbow-memory/oxbow/store"
)

// typeChange is the record type of a change.
const typeChange = 1

// compactionNote is the prefix of the note in the change that a compaction adds. This
// change has no ops, like the changes that a redaction or recovery adds.
const compactionNote = "compaction: "

// Field numbers of a body.
const (
	fieldSource  = 1
	fieldOp      = 2
	fieldOpID    = 3
	fieldNote    = 4
	fieldReverts = 5
	fieldBase    = 6
	fieldErased  = 15
	fieldNextID  = 16
	fieldSeenID  = 17
)

var verbs = [...]store.Verb{1: store.VerbAdd, store.VerbUpdate, store.VerbAlias, store.VerbLabel, store.VerbRemove,
	store.VerbRestore}

// body is the decoded body of a record.
type body struct {
	source  store.Source
	ops     []loggedOp
	opID    string
	note    string
	reverts []uint64
	base    []byte
	nextID  uint64
	seen    []seenID
}

// stamp sets the version, time and source of a change's entries. Entries of a base already have
// these fields.
func (v *body) stamp(seq uint64, at time.Time) {
	v.source.Time = at
	for _, p := range v.ops {
		if p.entry.Version == 0 {
			p.entry.Version = seq
			p.entry.Updated = at
			p.entry.Source = v.source
		}
	}
}

// loggedOp is an op in the log: an entry after the change or, if the verb is remove, the entry
// that is removed.
type loggedOp struct {
	verb     store.Verb
	entry    *store.Entry
	prev     uint64
	isErased bool
}

// seenID is an op ID and the number of its change.
type seenID struct {
	id  string
	seq uint64
}

// encoder has the bytes of an encoded body and their digest.
type encoder struct {
	body   []byte
	digest [sha256.Size]byte // equals the digest from digestBody

	op  []byte
	sum []byte // input of the digest
}

// encoders has encoders whose memory can be used again.
var encoders = sync.Pool{New: func() any { return new(encoder) }}

// release makes the memory of the encoder available to later calls of encodeBody, unless it is large.
func (c *encoder) release() {
	if cap(c.body) <= 64<<10 {
		encoders.Put(c)
	}
}

// encodeBody encodes a body. The result need not be released.
func encodeBody(v *body) *encoder {
	c := encoders.Get().(*encoder)
	b := slices.Grow(c.body[:0], v.size())
	c.op = appendSource(c.op[:0], &v.source)
	b = wire.AppendBytes(b, fieldSource, c.op)
	sum := append(c.sum[:0], b...)
	for i := range v.ops {
		c.op = appendPut(slices.Grow(c.op[:0], v.ops[i].size()), &v.ops[i])
		b = wire.AppendBytes(b, fieldOp, c.op)
		h := sha256.Sum256(c.op)
		sum = append(append(sum, fieldOp), h[:]...)
	}
	rest := len(b)
	b = wire.AppendString(b, fieldOpID, v.opID)
	b = wire.AppendString(b, fieldNote, v.note)
	for _, s := range v.reverts {
		b = wire.AppendUint(b, fieldReverts, s)
	}
	b = wire.AppendBytes(b, fieldBase, v.base)
	sum = append(sum, b[rest:]...)
	c.body = b
	c.sum = sum
	c.digest = sha256.Sum256(sum)
	return c
}

// size returns the approximate size of the encoded body, which is seldom too low.
func (v *body) size() int {
	n := 256 + len(v.note) + len(v.base) + 10*len(v.reverts)
	for i := range v.ops {
		n += v.ops[i].size()
	}
	return n
}

// appendBase appends the encoded body of a base record.
func appendBase(b []byte, v *body) []byte {
	for i := range v.ops {
		b = wire.AppendBytes(b, fieldOp, appendBasePut(nil, &v.ops[i]))
	}
	b = wire.AppendUint(b, fieldNextID, v.nextID)
	for _, s := range v.seen {
		b = wire.AppendBytes(b, fieldSeenID, wire.AppendUint(wire.AppendString(nil, 1, s.id), 2, s.seq))
	}
	return b
}

// size returns the approximate size of the encoded op, which is seldom too low.
func (p *loggedOp) size() int {
	n := 64 + len(p.entry.Name) + len(p.entry.Content)
	for _, a := range p.entry.Aliases {
		n += len(a) + 4
	}
	for _, l := range p.entry.Labels {
		n += len(l.Key) + len(l.Value) + 8
	}
	return n
}

// appendPut appends the encoded op of a change.
func appendPut(b []byte, p *loggedOp) []byte {
	e := p.entry
	for i, v := range verbs {
		if v == p.verb {
			b = wire.AppendUint(b, 1, uint64(i))
		}
	}
	b = wire.AppendUint(b, 2, e.ID)
	b = wire.AppendString(b, 3, e.Name)
	b = wire.AppendUint(b, 4, uint64(e.Kind))
	if p.verb != store.VerbRemove {
		b = wire.AppendString(b, 5, e.Content)
		for _, a := range e.Aliases {
			b = wire.AppendString(b, 6, a)
		}
		for _, l := range e.Labels {
			b = wire.AppendBytes(b, 7, wire.AppendString(wire.AppendString(nil, 1, l.Key), 2, l.Value))
		}
		b = wire.AppendUint(b, 8, wire.Zigzag(e.Created.Unix()))
		b = wire.AppendUint(b, 9, uint64(e.Created.Nanosecond()))
	}
	return wire.AppendUint(b, 10, p.prev)
}

// appendBasePut appends the encoded op of a base record. The op includes fields that a change
// stores once for all ops.
func appendBasePut(b []byte, p *loggedOp) []byte {
	b = appendPut(b, p)
	b = wire.AppendUint(b, 11, p.entry.Version)
	b = wire.AppendUint(b, 12, wire.Zigzag(p.entry.Updated.UnixNano()))
	return wire.AppendBytes(b, 13, appendSource(nil, &p.entry.Source))
}

// sourceFields returns a source's texts in the order of their field numbers, which count
// from 1.
func sourceFields(s *store.Source) [7]*string {
	return [...]*string{&s.Door, (*string)(&s.Actor), &s.Session, &s.Profile, &s.Ref, &s.Claimed.Client,
		&s.Claimed.Agent}
}

func appendSource(b []byte, s *store.Source) []byte {
	for i, v := range sourceFields(s) {
		b = wire.AppendString(b, i+1, *v)
	}
	return b
}

// decodeBody decodes a record's body. All its strings share a single copy of data.
func decodeBody(data []byte) (*body, error) {
	v := new(body)
	err := wire.Each(string(data), func(f wire.Field) error {
		var err error
		switch f.Num {
		case fieldSource:
			v.source, err = decodeSource(f)
		case fieldOp:
			var p loggedOp
			p, err = decodePut(f)
			v.ops = append(v.ops, p)
		case fieldErased:
			var p loggedOp
			p, err = decodeErased(f)
			v.ops = append(v.ops, p)
		case fieldOpID:
			v.opID = f.Str
		case fieldNote:
			v.note = f.Str
		case fieldReverts:
			v.reverts = append(v.reverts, f.Val)
		case fieldBase:
			v.base = []byte(f.Str)
		case fieldNextID:
			v.nextID = f.Val
		case fieldSeenID:
			var id, seq wire.Field
			id, seq, err = wire.Pair(f.Str)
			v.seen = append(v.seen, seenID{id: id.Str, seq: seq.Val})
		default:
			return f.Unknown()
		}
		return err
	})
	return v, err
}

// decodeOps is like decodeBody, but decodes only the ops whose index is wanted. If wanted is nil, it
// decodes all ops.
func decodeOps(data []byte, wanted func(i int) bool) (*body, error) {
	if wanted == nil {
		return decodeBody(data)
	}
	var part []byte // the fields of the body without the ops that were not wanted
	isSplit := true
	i := -1
	err := wire.EachPart(data, func(num, from, _, end int) error {
		switch num {
		case 0: // do not split the body, because the rest may contain ops
			isSplit = isSplit && end == from
			return nil
		case fieldOp, fieldErased:
			i++
			if !wanted(i) {
				return nil
			}
		}
		part = append(part, data[from:end]...)
		return nil
	})
	if err == nil && isSplit {
		return decodeBody(part)
	}
	v, err := decodeBody(data)
	if err != nil {
		return nil, err
	}
	ops := v.ops
	v.ops = nil
	for i, op := range ops {
		if wanted(i) {
			v.ops = append(v.ops, op)
		}
	}
	return v, nil
}

func decodePut(f wire.Field) (loggedOp, error) {
	e := new(store.Entry)
	p := loggedOp{entry: e}
	var sec int64
	var nsec uint64
	if !f.Bytes {
		return p, f.Unknown()
	}
	err := wire.Each(f.Str, func(f wire.Field) error {
		var err error
		switch f.Num {
		case 1:
			if f.Val >= uint64(len(verbs)) || f.Val == 0 {
				return fmt.Errorf("unknown verb %d", f.Val)
			}
			p.verb = verbs[f.Val]
		case 2:
			e.ID = f.Val
		case 3:
			e.Name = f.Str
		case 4:
			if f.Val > math.MaxUint8 || !store.Kind(f.Val).Valid() {
				return fmt.Errorf("unknown kind %d", f.Val)
			}
			e.Kind = store.Kind(f.Val)
		case 5:
			e.Content = f.Str
		case 6:
			e.Aliases = append(e.Aliases, f.Str)
		case 7:
			var key, value wire.Field
			key, value, err = wire.Pair(f.Str)
			e.Labels = append(e.Labels, store.Label{Key: key.Str, Value: value.Str})
		case 8:
			sec = wire.Unzigzag(f.Val)
		case 9:
			nsec = f.Val
		case 10:
			p.prev = f.Val
		case 11:
			e.Version = f.Val
		case 12:
			e.Updated = time.Unix(0, wire.Unzigzag(f.Val)).UTC()
		case 13:
			e.Source, err = decodeSource(f)
		default:
			return f.Unknown()
		}
		return err
	})
	isComplete := p.verb != "" && e.ID != 0 && e.Name != "" && nsec < 1e9
	if err == nil && !isComplete {
		err = errors.New("an op without verb, id or name")
	}
	if p.verb != store.VerbRemove {
		// older versions of oxbow did not always refuse such times
		e.Created = text.NearestTime(time.Unix(sec, int64(nsec)))
	}
	e.Source.Time = e.Updated
	return p, err
}

func decodeErased(f wire.Field) (loggedOp, error) {
	p := loggedOp{entry: new(store.Entry), isErased: true}
	hashed := false
	err := wire.Each(f.Str, func(f wire.Field) error {
		switch f.Num {
		case 1:
			if len(f.Str) != sha256.Size {
				return errors.New("an erased op without its hash")
			}
			hashed = true
		case 2:
			p.entry.ID = f.Val
		case 3:
			if f.Val >= uint64(len(verbs)) {
				return fmt.Errorf("unknown verb %d", f.Val)
			}
			p.verb = verbs[f.Val]
		case 10:
			p.prev = f.Val
		default:
			return f.Unknown()
		}
		return nil
	})
	if err == nil && !hashed {
		err = errors.New("an erased op without its hash")
	}
	return p, err
}

func decodeSource(f wire.Field) (store.Source, error) {
	var s store.Source
	texts := sourceFields(&s)
	err := wire.Each(f.Str, func(f wire.Field) error {
		if f.Num > len(texts) {
			return f.Unknown()
		}
		*texts[f.Num-1] = f.Str
		return nil
	})
	return s, err
}

// digestBody returns the digest of a body for the chain.
func digestBody(_ uint8, data []byte) ([32]byte, error) {
	h := sha256.New()
	err := wire.Each(string(data), func(f wire.Field) error {
		switch f.Num {
		case fieldOp:
			sum := sha256.Sum256([]byte(f.Str))
			h.Write([]byte{fieldOp})
			h.Write(sum[:])
		case fieldErased:
			h.Write([]byte{fieldOp})
			return wire.Each(f.Str, func(f wire.Field) error {
				if f.Num == 1 {
					h.Write([]byte(f.Str))
				}
				return nil
			})
		default:
			h.Write([]byte(f.Raw))
		}
		return nil
	})
	var sum [32]byte
	h.Sum(sum[:0])
	return sum, err
}

// eachWanted calls fn with the fields of a body, except ops whose entries are not wanted. A nil
// want means that all entries are wanted. In this way, little of a large record is copied. The
// strings of different ops do not share memory.
func eachWanted(body []byte, want func(id uint64) bool, fn func(f wire.Field) error) error {
	return wire.EachPart(body, func(num, from, at, end int) error {
		if num == fieldOp && want != nil {
			if !want(opID(body[at:end])) {
				return nil
			}
		}
		return wire.Each(string(body[from:end]), fn)
	})
}

// opID returns the entry ID in an op, or 0 if the op has none.
func opID(op []byte) uint64 {
	for len(op) > 0 {
		tag, n := binary.Uvarint(op)
		v, m := binary.Uvarint(op[max(n, 0):])
		if n <= 0 || m <= 0 {
			return 0
		}
		if tag == 2<<3 {
			return v
		}
		op = op[n+m:]
		if tag&7 == 2 {
			op = op[min(v, uint64(len(op))):]
		}
	}
	return 0
}

// errStop ends a replay early.
var errStop = errors.New("stop")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// decodeEntries returns the entries that the ops of a record write. If want is nil, it returns all
// of these entries.
func decodeEntries(r *wal.Record, want func(id uint64) bool) ([]*store.Entry, error) {
	var es []*store.Entry
	var source store.Source
	err := eachWanted(r.Body, want, func(f wire.Field) (err error) {
		switch f.Num {
		case fieldSource:
			source, err = decodeSource(f)
		case fieldOp:
			var p loggedOp
			p, err = decodePut(f)
			if p.verb != store.VerbRemove {
				es = append(es, p.entry)
			}
		}
		return err
	})
	source.Time = time.Unix(0, r.Time).UTC()
	for _, e := range es {
		if e.Version == 0 { // entries of a base have these fields already
			e.Version = r.Seq
			e.Updated = source.Time
			e.Source = source
		}
	}
	return es, err
}
