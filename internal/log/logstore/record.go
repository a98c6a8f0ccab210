// This file encodes changes and entries as the bodies of the log's records. Package wal defines the framing around
// them.
//
// Bodies have the wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding), so that common
// tools can print them. Only varints (wire type 0) and length-delimited bytes (wire type 2) are used. Empty fields and
// zeros are omitted. Unknown fields are refused, because a program must not lose data that it does not understand.
//
// A compaction drops the oldest changes. It replaces them with the base, which consists of base records with the
// entries after these changes.
//
// Body of a change record (type 1) or a base record (type 128):
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
// Source: 1 door (the interface through which the change was made, such as cli), 2 actor, 3 session, 4 profile, 5 ref,
// 6 claimed client, 7 claimed agent, all strings.
//
// Erased: 1 SHA-256 of the op's bytes, 2 id, 3 verb, 10 prev.
//
// The log's hash chain, in which the hash of each change also covers the changes before it, covers a digest of the
// body. The digest is the SHA-256 over the body's fields, with each op, erased or not, replaced by the byte 2 and the
// SHA-256 of the op's bytes. So an op can be erased without breaking the chain.

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

// recordTypeChange is the record type of a change.
const recordTypeChange = 1

// compactionNote is the beginning of the note in the change by which a compaction is recorded. This change does not
// have ops. A redaction or a recovery is recorded by a change without ops, too.
const compactionNote = "compaction: "

// These are the field numbers in the body of a record.
const (
	recordFieldSource             = 1
	recordFieldOp                 = 2
	recordFieldOpID               = 3
	recordFieldNote               = 4
	recordFieldRevertedChanges    = 5
	recordFieldInitialEntriesHash = 6
	recordFieldErasedOp           = 15
	recordFieldNextEntryID        = 16
	recordFieldRememberedOpID     = 17
)

var verbsByCode = [...]store.Verb{
	1: store.VerbAdd,
	store.VerbUpdate,
	store.VerbAlias,
	store.VerbLabel,
	store.VerbRemove,
	store.VerbRestore,
}

// recordBody is the decoded body of a record.
type recordBody struct {
	source             store.Source
	ops                []loggedOp
	opID               string
	note               string
	revertedSeqs       []uint64
	initialEntriesHash []byte
	nextEntryID        uint64
	seenOpIDs          []opIDWithChange
}

// setWriteMetadata sets the version, the time and the source of each entry that a change wrote. seq is the number of
// the change, which becomes the version. An entry whose version is not 0 stays unchanged. A compaction of the log
// copied such an entry, together with its version, time and source.
func (v *recordBody) setWriteMetadata(seq uint64, changeTime time.Time) {
	v.source.Time = changeTime
	for _, p := range v.ops {
		if p.entry.Version == 0 {
			p.entry.Version = seq
			p.entry.Updated = changeTime
			p.entry.Source = v.source
		}
	}
}

// loggedOp is an op as it is logged, that is, one part of a change. It contains the entry after the change. If the verb
// is [store.VerbRemove], it contains the removed entry instead.
type loggedOp struct {
	verb            store.Verb
	entry           *store.Entry
	previousChange  uint64
	isContentErased bool
}

// opIDWithChange is an op ID and the number of the change that was made with it.
type opIDWithChange struct {
	id  string
	seq uint64
}

// bodyEncoder contains an encoded body and its digest.
type bodyEncoder struct {
	body   []byte
	digest [sha256.Size]byte // digest of the encoded change in the field body, as digestBody computes it

	opBuffer    []byte
	digestInput []byte // bytes from which the field digest is computed
}

// encoderPool contains released encoders, whose memory can be reused.
var encoderPool = sync.Pool{New: func() any { return new(bodyEncoder) }}

// release lets later calls of encodeBody reuse the encoder's memory, unless it is large.
func (c *bodyEncoder) release() {
	if cap(c.body) <= 64<<10 {
		encoderPool.Put(c)
	}
}

// encodeBody encodes a body. The caller may release the result after use.
func encodeBody(v *recordBody) *bodyEncoder {
	c := encoderPool.Get().(*bodyEncoder)
	b := slices.Grow(c.body[:0], v.encodedSize())
	c.opBuffer = appendSource(c.opBuffer[:0], &v.source)
	b = wire.AppendBytesField(b, recordFieldSource, c.opBuffer)
	sum := append(c.digestInput[:0], b...)
	for i := range v.ops {
		c.opBuffer = appendOp(slices.Grow(c.opBuffer[:0], v.ops[i].encodedSize()), &v.ops[i])
		b = wire.AppendBytesField(b, recordFieldOp, c.opBuffer)
		h := sha256.Sum256(c.opBuffer)
		sum = append(append(sum, recordFieldOp), h[:]...)
	}
	rest := len(b)
	b = wire.AppendStringField(b, recordFieldOpID, v.opID)
	b = wire.AppendStringField(b, recordFieldNote, v.note)
	for _, s := range v.revertedSeqs {
		b = wire.AppendUintField(b, recordFieldRevertedChanges, s)
	}
	b = wire.AppendBytesField(b, recordFieldInitialEntriesHash, v.initialEntriesHash)
	sum = append(sum, b[rest:]...)
	c.body = b
	c.digestInput = sum
	c.digest = sha256.Sum256(sum)
	return c
}

// encodedSize returns the approximate size of the encoded body in bytes. It is rarely less than the real size.
func (v *recordBody) encodedSize() int {
	n := 256 + len(v.note) + len(v.initialEntriesHash) + 10*len(v.revertedSeqs)
	for i := range v.ops {
		n += v.ops[i].encodedSize()
	}
	return n
}

// appendBaseRecordBody appends to b the encoded body of a record with which a compacted log begins.
func appendBaseRecordBody(b []byte, v *recordBody) []byte {
	for i := range v.ops {
		b = wire.AppendBytesField(b, recordFieldOp, appendInitialEntry(nil, &v.ops[i]))
	}
	b = wire.AppendUintField(b, recordFieldNextEntryID, v.nextEntryID)
	for _, s := range v.seenOpIDs {
		b = wire.AppendBytesField(
			b,
			recordFieldRememberedOpID,
			wire.AppendUintField(wire.AppendStringField(nil, 1, s.id), 2, s.seq),
		)
	}
	return b
}

// encodedSize returns the approximate size of the encoded op in bytes. It is rarely less than the real size.
func (p *loggedOp) encodedSize() int {
	n := 64 + len(p.entry.Name) + len(p.entry.Content)
	for _, a := range p.entry.Aliases {
		n += len(a) + 4
	}
	for _, l := range p.entry.Labels {
		n += len(l.Key) + len(l.Value) + 8
	}
	return n
}

// appendOp appends the encoded op of a change.
func appendOp(b []byte, p *loggedOp) []byte {
	e := p.entry
	for i, v := range verbsByCode {
		if v == p.verb {
			b = wire.AppendUintField(b, 1, uint64(i))
		}
	}
	b = wire.AppendUintField(b, 2, e.ID)
	b = wire.AppendStringField(b, 3, e.Name)
	b = wire.AppendUintField(b, 4, uint64(e.Kind))
	if p.verb != store.VerbRemove {
		b = wire.AppendStringField(b, 5, e.Content)
		for _, a := range e.Aliases {
			b = wire.AppendStringField(b, 6, a)
		}
		var memory [256]byte // This is enough for most labels.
		for _, l := range e.Labels {
			b = wire.AppendBytesField(
				b,
				7,
				wire.AppendStringField(wire.AppendStringField(memory[:0], 1, l.Key), 2, l.Value),
			)
		}
		b = wire.AppendUintField(b, 8, wire.EncodeZigzag(e.Created.Unix()))
		b = wire.AppendUintField(b, 9, uint64(e.Created.Nanosecond()))
	}
	return wire.AppendUintField(b, 10, p.previousChange)
}

// appendInitialEntry appends the encoding of an entry with which the log begins after a compaction. The encoding is
// that of an op, followed by the entry's version, time and source. The ops of a change do not need these three fields,
// because the change's record contains them once for all its ops.
func appendInitialEntry(b []byte, p *loggedOp) []byte {
	b = appendOp(b, p)
	b = wire.AppendUintField(b, 11, p.entry.Version)
	b = wire.AppendUintField(b, 12, wire.EncodeZigzag(p.entry.Updated.UnixNano()))
	return wire.AppendBytesField(b, 13, appendSource(nil, &p.entry.Source))
}

// sourceFields returns pointers to a source's texts, in the order of their field numbers, which start at 1.
func sourceFields(s *store.Source) [7]*string {
	return [...]*string{&s.Door, (*string)(&s.Actor), &s.Session, &s.Profile, &s.Ref, &s.Claimed.Client,
		&s.Claimed.Agent}
}

func appendSource(b []byte, s *store.Source) []byte {
	for i, v := range sourceFields(s) {
		b = wire.AppendStringField(b, i+1, *v)
	}
	return b
}

// decodeBody decodes data, the body of a record. All strings in the result share one copy of data.
func decodeBody(data []byte) (*recordBody, error) {
	v := new(recordBody)
	err := wire.EachField(string(data), func(f wire.Field) error {
		var err error
		switch f.FieldNumber {
		case recordFieldSource:
			v.source, err = decodeSource(f)
		case recordFieldOp:
			var p loggedOp
			p, err = decodeOp(f)
			v.ops = append(v.ops, p)
		case recordFieldErasedOp:
			var p loggedOp
			p, err = decodeErasedOp(f)
			v.ops = append(v.ops, p)
		case recordFieldOpID:
			v.opID = f.BytesValue
		case recordFieldNote:
			v.note = f.BytesValue
		case recordFieldRevertedChanges:
			v.revertedSeqs = append(v.revertedSeqs, f.VarintValue)
		case recordFieldInitialEntriesHash:
			v.initialEntriesHash = []byte(f.BytesValue)
		case recordFieldNextEntryID:
			v.nextEntryID = f.VarintValue
		case recordFieldRememberedOpID:
			var id, seq wire.Field
			id, seq, err = wire.DecodeTwoFields(f.BytesValue)
			v.seenOpIDs = append(v.seenOpIDs, opIDWithChange{id: id.BytesValue, seq: seq.VarintValue})
		default:
			return f.UnknownFieldError()
		}
		return err
	})
	return v, err
}

// decodeOps is like decodeBody, but decodes only the ops with indexes for which isWanted returns true. If isWanted is
// nil, it decodes all ops.
func decodeOps(data []byte, isWanted func(i int) bool) (*recordBody, error) {
	if isWanted == nil {
		return decodeBody(data)
	}
	var part []byte // encoded body without the ops that are not wanted
	isSplit := true
	i := -1
	err := wire.EachFieldOffsets(data, func(num, from, _, end int) error {
		switch num {
		case 0: // The rest of the body cannot be split into fields, so decode the whole body below.
			isSplit = isSplit && end == from
			return nil
		case recordFieldOp, recordFieldErasedOp:
			i++
			if !isWanted(i) {
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
		if isWanted(i) {
			v.ops = append(v.ops, op)
		}
	}
	return v, nil
}

func decodeOp(f wire.Field) (loggedOp, error) {
	e := new(store.Entry)
	p := loggedOp{entry: e}
	var sec int64
	var nsec uint64
	if !f.IsBytes {
		return p, f.UnknownFieldError()
	}
	err := wire.EachField(f.BytesValue, func(f wire.Field) error {
		var err error
		switch f.FieldNumber {
		case 1:
			if f.VarintValue >= uint64(len(verbsByCode)) || f.VarintValue == 0 {
				return fmt.Errorf("unknown verb %d", f.VarintValue)
			}
			p.verb = verbsByCode[f.VarintValue]
		case 2:
			e.ID = f.VarintValue
		case 3:
			e.Name = f.BytesValue
		case 4:
			if f.VarintValue > math.MaxUint8 || !store.Kind(f.VarintValue).Valid() {
				return fmt.Errorf("unknown kind %d", f.VarintValue)
			}
			e.Kind = store.Kind(f.VarintValue)
		case 5:
			e.Content = f.BytesValue
		case 6:
			e.Aliases = append(e.Aliases, f.BytesValue)
		case 7:
			var key, value wire.Field
			key, value, err = wire.DecodeTwoFields(f.BytesValue)
			e.Labels = append(e.Labels, store.Label{Key: key.BytesValue, Value: value.BytesValue})
		case 8:
			sec = wire.DecodeZigzag(f.VarintValue)
		case 9:
			nsec = f.VarintValue
		case 10:
			p.previousChange = f.VarintValue
		case 11:
			e.Version = f.VarintValue
		case 12:
			e.Updated = time.Unix(0, wire.DecodeZigzag(f.VarintValue)).UTC()
		case 13:
			e.Source, err = decodeSource(f)
		default:
			return f.UnknownFieldError()
		}
		return err
	})
	isComplete := p.verb != "" && e.ID != 0 && e.Name != "" && nsec < 1e9
	if err == nil && !isComplete {
		err = errors.New("an op without verb, id or name")
	}
	if p.verb != store.VerbRemove {
		// Clamp the time, because older versions of oxbow did not always refuse times that JSON cannot represent.
		e.Created = text.ClampToJSONTime(time.Unix(sec, int64(nsec)))
	}
	e.Source.Time = e.Updated
	return p, err
}

func decodeErasedOp(f wire.Field) (loggedOp, error) {
	p := loggedOp{entry: new(store.Entry), isContentErased: true}
	hashed := false
	err := wire.EachField(f.BytesValue, func(f wire.Field) error {
		switch f.FieldNumber {
		case 1:
			if len(f.BytesValue) != sha256.Size {
				return errors.New("an erased op without its hash")
			}
			hashed = true
		case 2:
			p.entry.ID = f.VarintValue
		case 3:
			if f.VarintValue >= uint64(len(verbsByCode)) {
				return fmt.Errorf("unknown verb %d", f.VarintValue)
			}
			p.verb = verbsByCode[f.VarintValue]
		case 10:
			p.previousChange = f.VarintValue
		default:
			return f.UnknownFieldError()
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
	err := wire.EachField(f.BytesValue, func(f wire.Field) error {
		if f.FieldNumber > len(texts) {
			return f.UnknownFieldError()
		}
		*texts[f.FieldNumber-1] = f.BytesValue
		return nil
	})
	return s, err
}

// digestBody returns the digest of a body for the hash chain. It is computed from the hash of each op and not from the
// op itself. Therefore it stays the same if an op is erased and only the op's hash remains.
func digestBody(_ uint8, data []byte) ([32]byte, error) {
	h := sha256.New()
	err := wire.EachField(string(data), func(f wire.Field) error {
		switch f.FieldNumber {
		case recordFieldOp:
			sum := sha256.Sum256([]byte(f.BytesValue))
			h.Write([]byte{recordFieldOp})
			h.Write(sum[:])
		case recordFieldErasedOp:
			h.Write([]byte{recordFieldOp})
			return wire.EachField(f.BytesValue, func(f wire.Field) error {
				if f.FieldNumber == 1 {
					h.Write([]byte(f.BytesValue))
				}
				return nil
			})
		default:
			h.Write([]byte(f.EncodedField))
		}
		return nil
	})
	var sum [32]byte
	h.Sum(sum[:0])
	return sum, err
}

// eachWantedField calls fn with each field of a record's body. If a field is an op, eachWantedField first calls
// isWanted with the ID of the op's entry, and skips the field if isWanted returns false. Therefore only a small part of
// a large record is copied. If isWanted is nil, no field is skipped. The strings of different ops do not share memory,
// so each can be freed by itself.
func eachWantedField(body []byte, isWanted func(id uint64) bool, fn func(f wire.Field) error) error {
	return wire.EachFieldOffsets(body, func(num, from, at, end int) error {
		if num == recordFieldOp && isWanted != nil {
			if !isWanted(entryIDOfOp(body[at:end])) {
				return nil
			}
		}
		return wire.EachField(string(body[from:end]), fn)
	})
}

// entryIDOfOp returns the ID of the entry in an encoded op, or 0 if the op lacks an ID.
func entryIDOfOp(op []byte) uint64 {
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

// opHead is the part of a logged op that says which entry it changed. Decoding it does not decode the content.
type opHead struct {
	verb      store.Verb
	entryID   uint64
	prevSeq   uint64
	name      []byte // nil if the op was erased
	isErased  bool
	encodedOp []byte // the encoded op
}

// eachOpHead decodes the head of each op in the body of a record, and calls fn with each head in order. It returns the
// first error of fn, or an error if the body cannot be decoded. A head may share memory with body.
func eachOpHead(body []byte, fn func(op opHead) error) error {
	visit := func(num int, op []byte) error {
		if num != recordFieldOp && num != recordFieldErasedOp {
			return nil
		}
		h, ok := decodeOpHead(op, num == recordFieldErasedOp)
		if !ok {
			return wire.ErrTruncatedField
		}
		return fn(h)
	}
	return wire.EachFieldOffsets(body, func(num, from, at, end int) error {
		if num > 0 {
			return visit(num, body[at:end])
		}
		return wire.EachField(string(body[from:end]), func(f wire.Field) error {
			return visit(f.FieldNumber, []byte(f.BytesValue))
		})
	})
}

// decodeOpHead decodes the head of an encoded op. ok is false if the op is not complete.
func decodeOpHead(op []byte, isErased bool) (h opHead, ok bool) {
	h = opHead{isErased: isErased, encodedOp: op}
	for len(op) > 0 {
		tag, n := binary.Uvarint(op)
		v, m := binary.Uvarint(op[max(n, 0):])
		if n <= 0 || m <= 0 {
			return h, false
		}
		op = op[n+m:]
		if tag&7 != 2 {
			h.setNumericField(tag>>3, v)
			continue
		}
		if v > uint64(len(op)) {
			return h, false
		}
		if tag>>3 == 3 && !isErased {
			h.name = op[:v]
		}
		op = op[v:]
	}
	return h, h.verb != "" && h.entryID != 0
}

// setNumericField sets the field verb, entryID or prevSeq. An encoded op contains these fields as varints with a field
// number. Other field numbers are ignored. The field verb has another field number if the op is erased.
func (h *opHead) setNumericField(fieldNumber, v uint64) {
	verbField := uint64(1)
	if h.isErased {
		verbField = 3
	}
	switch {
	case fieldNumber == verbField && v < uint64(len(verbsByCode)):
		h.verb = verbsByCode[v]
	case fieldNumber == 2:
		h.entryID = v
	case fieldNumber == 10:
		h.prevSeq = v
	}
}

// decodeBodySource returns the source in the body of a record, or a zero Source if the body contains no source.
func decodeBodySource(body []byte) (source store.Source, err error) {
	err = wire.EachFieldOffsets(body, func(num, from, at, end int) error {
		if num != recordFieldSource {
			return nil
		}
		source, err = decodeSource(wire.Field{FieldNumber: num, IsBytes: true, BytesValue: string(body[at:end])})
		return err
	})
	return source, err
}

// errStopReplay is returned by a callback so that no more records of the log are read.
var errStopReplay = errors.New("stop")

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// decodeEntries returns those entries that the record writes and for which isWanted returns true. If isWanted is nil,
// it returns all.
func decodeEntries(r *wal.Record, isWanted func(id uint64) bool) ([]*store.Entry, error) {
	var es []*store.Entry
	var source store.Source
	err := eachWantedField(r.Body, isWanted, func(f wire.Field) (err error) {
		switch f.FieldNumber {
		case recordFieldSource:
			source, err = decodeSource(f)
		case recordFieldOp:
			var p loggedOp
			p, err = decodeOp(f)
			if p.verb != store.VerbRemove {
				es = append(es, p.entry)
			}
		}
		return err
	})
	source.Time = time.Unix(0, r.TimeUnixNano).UTC()
	for _, e := range es {
		// Version, Updated and Source are stored only once for a change. Entries that a compaction kept have their
		// own.
		if e.Version == 0 {
			e.Version = r.Seq
			e.Updated = source.Time
			e.Source = source
		}
	}
	return es, err
}
