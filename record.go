// The bodies of the log's records: how a change and its
// entries become bytes. The framing around them is that of internal/wal.
//
// Bodies are in the wire format of protocol buffers
// (https://protobuf.dev/programming-guides/encoding), so that common tools can
// print them: varints (wire type 0) and length-delimited bytes (wire type 2),
// nothing else. A field that is empty or 0 is left out. Unknown fields are
// refused: what a program does not know it must not drop.
//
// Body of a change (record type 1) and of a base record (type 128):
//
//	 1  source    message, who made the change
//	 2  op        message, repeated, in the order applied
//	 3  op id     bytes, the caller's id that makes a retry harmless
//	 4  note      string, why
//	 5  reverts   varint, repeated, the changes that this one undid
//	 6  base      32 bytes: SHA-256 of the base section that a compaction made
//	15  erased    message, in the place of an op whose content was erased
//	16  next id   varint, base records only: the ID that the next entry gets
//	17  seen id   message, base records only, repeated: 1 op id, 2 its change
//
// Op: what an entry is after the change. A removal has only verb, id, name,
// kind and prev.
//
//	 1  verb      varint: 1 add, 2 update, 3 alias, 4 label, 5 remove, 6 restore
//	 2  id        varint
//	 3  name      string
//	 4  kind      varint, the number of the Kind
//	 5  content   string
//	 6  alias     string, repeated
//	 7  label     message, repeated: 1 key, 2 value
//	 8  created   varint, zigzag, seconds since 1970
//	 9  created   varint, nanoseconds within the second
//	10  prev      varint, the last change before this one that touched the name
//	11  version   varint, base records only: the change that wrote this version
//	12  updated   varint, zigzag, base records only: its time, nanoseconds
//	13  source    message, base records only: its source
//
// Source: 1 door, 2 actor, 3 session, 4 profile, 5 ref, 6 claimed client,
// 7 claimed agent, all strings.
//
// Erased: 1 SHA-256 of the op's bytes, 2 id, 3 verb, 10 prev.
//
// The digest that the chain takes of a body is SHA-256 over its fields, with
// each op, erased or not, replaced by the byte 2 and the SHA-256 of the op's
// bytes. So content can be erased and the chain still holds.

package oxbow

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"
)

// typeChange is the record type of a change.
const typeChange = 1

// compactionNote begins the note of the change that a compaction adds. It has no
// ops, as those that a redaction or a recovery adds.
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

var verbs = [...]Verb{1: VerbAdd, VerbUpdate, VerbAlias, VerbLabel, VerbRemove, VerbRestore}

// body is the decoded body of a record.
type body struct {
	source  Source
	ops     []put
	opID    string
	note    string
	reverts []uint64
	base    []byte
	nextID  uint64
	seen    []seenID
}

// put is an op of the log: an entry as the change leaves it, or, when the verb
// is remove, takes it away.
type put struct {
	verb   Verb
	entry  *Entry
	prev   uint64
	erased bool
}

// seenID is an op id and the change that carried it.
type seenID struct {
	id  string
	seq uint64
}

// encodeBody returns the bytes of a body and their digest, as digestBody makes
// it.
func encodeBody(v *body) ([]byte, [32]byte) {
	var c encoder
	c.encode(v)
	return c.body, c.digest
}

// encoder holds the bytes of one body, and their digest, until it encodes the
// next in the same memory.
type encoder struct {
	body   []byte
	digest [sha256.Size]byte

	op  []byte
	sum []byte // what the digest is made from
}

func (c *encoder) encode(v *body) {
	b := slices.Grow(c.body[:0], v.size())
	c.op = appendSource(c.op[:0], &v.source)
	b = appendBytes(b, fieldSource, c.op)
	sum := append(c.sum[:0], b...)
	for i := range v.ops {
		c.op = appendPut(slices.Grow(c.op[:0], v.ops[i].size()), &v.ops[i], false)
		b = appendBytes(b, fieldOp, c.op)
		h := sha256.Sum256(c.op)
		sum = append(append(sum, fieldOp), h[:]...)
	}
	rest := len(b)
	b = appendString(b, fieldOpID, v.opID)
	b = appendString(b, fieldNote, v.note)
	for _, s := range v.reverts {
		b = appendUint(b, fieldReverts, s)
	}
	b = appendBytes(b, fieldBase, v.base)
	sum = append(sum, b[rest:]...)
	c.body, c.sum, c.digest = b, sum, sha256.Sum256(sum)
}

// size is about how many bytes the body takes, and seldom less.
func (v *body) size() int {
	n := 256 + len(v.note) + len(v.base) + 10*len(v.reverts)
	for i := range v.ops {
		n += v.ops[i].size()
	}
	return n
}

// appendBase appends the bytes of a base record's body.
func appendBase(b []byte, v *body) []byte {
	for i := range v.ops {
		b = appendBytes(b, fieldOp, appendPut(nil, &v.ops[i], true))
	}
	b = appendUint(b, fieldNextID, v.nextID)
	for _, s := range v.seen {
		b = appendBytes(b, fieldSeenID, appendUint(appendString(nil, 1, s.id), 2, s.seq))
	}
	return b
}

// size is about how many bytes the op takes, and seldom less.
func (p *put) size() int {
	n := 64 + len(p.entry.Name) + len(p.entry.Content)
	for _, a := range p.entry.Aliases {
		n += len(a) + 4
	}
	for _, l := range p.entry.Labels {
		n += len(l.Key) + len(l.Value) + 8
	}
	return n
}

func appendPut(b []byte, p *put, base bool) []byte {
	e := p.entry
	for i, v := range verbs {
		if v == p.verb {
			b = appendUint(b, 1, uint64(i))
		}
	}
	b = appendUint(b, 2, e.ID)
	b = appendString(b, 3, e.Name)
	b = appendUint(b, 4, uint64(e.Kind))
	if p.verb != VerbRemove {
		b = appendString(b, 5, e.Content)
		for _, a := range e.Aliases {
			b = appendString(b, 6, a)
		}
		for _, l := range e.Labels {
			b = appendBytes(b, 7, appendString(appendString(nil, 1, l.Key), 2, l.Value))
		}
		b = appendUint(b, 8, zigzag(e.Created.Unix()))
		b = appendUint(b, 9, uint64(e.Created.Nanosecond()))
	}
	b = appendUint(b, 10, p.prev)
	if base {
		b = appendUint(b, 11, e.Version)
		b = appendUint(b, 12, zigzag(e.Updated.UnixNano()))
		b = appendBytes(b, 13, appendSource(nil, &e.Source))
	}
	return b
}

func appendSource(b []byte, s *Source) []byte {
	for i, v := range []string{s.Door, string(s.Actor), s.Session, s.Profile, s.Ref, s.Claimed.Client, s.Claimed.Agent} {
		b = appendString(b, i+1, v)
	}
	return b
}

// decodeBody reads the body of a record; its strings share one copy of data.
func decodeBody(data []byte) (*body, error) {
	v := new(body)
	err := eachField(string(data), func(f field) error {
		var err error
		switch f.num {
		case fieldSource:
			v.source, err = decodeSource(f)
		case fieldOp:
			var p put
			p, err = decodePut(f)
			v.ops = append(v.ops, p)
		case fieldErased:
			var p put
			p, err = decodeErased(f)
			v.ops = append(v.ops, p)
		case fieldOpID:
			v.opID = f.str
		case fieldNote:
			v.note = f.str
		case fieldReverts:
			v.reverts = append(v.reverts, f.val)
		case fieldBase:
			v.base = []byte(f.str)
		case fieldNextID:
			v.nextID = f.val
		case fieldSeenID:
			var s seenID
			err = eachField(f.str, func(f field) error {
				switch f.num {
				case 1:
					s.id = f.str
				case 2:
					s.seq = f.val
				default:
					return f.unknown()
				}
				return nil
			})
			v.seen = append(v.seen, s)
		default:
			return f.unknown()
		}
		return err
	})
	return v, err
}

func decodePut(f field) (put, error) {
	e := new(Entry)
	p := put{entry: e}
	var sec int64
	var nsec uint64
	if !f.bytes {
		return p, f.unknown()
	}
	err := eachField(f.str, func(f field) error {
		var err error
		switch f.num {
		case 1:
			if f.val >= uint64(len(verbs)) || f.val == 0 {
				return fmt.Errorf("unknown verb %d", f.val)
			}
			p.verb = verbs[f.val]
		case 2:
			e.ID = f.val
		case 3:
			e.Name = f.str
		case 4:
			if f.val >= uint64(endKind) {
				return fmt.Errorf("unknown kind %d", f.val)
			}
			e.Kind = Kind(f.val)
		case 5:
			e.Content = f.str
		case 6:
			e.Aliases = append(e.Aliases, f.str)
		case 7:
			var l Label
			err = eachField(f.str, func(f field) error {
				switch f.num {
				case 1:
					l.Key = f.str
				case 2:
					l.Value = f.str
				default:
					return f.unknown()
				}
				return nil
			})
			e.Labels = append(e.Labels, l)
		case 8:
			sec = unzigzag(f.val)
		case 9:
			nsec = f.val
		case 10:
			p.prev = f.val
		case 11:
			e.Version = f.val
		case 12:
			e.Updated = time.Unix(0, unzigzag(f.val)).UTC()
		case 13:
			e.Source, err = decodeSource(f)
		default:
			return f.unknown()
		}
		return err
	})
	if err == nil && (p.verb == "" || e.ID == 0 || e.Name == "" || nsec >= 1e9) {
		err = errors.New("an op without verb, id or name")
	}
	if p.verb != VerbRemove {
		e.Created = time.Unix(sec, int64(nsec)).UTC()
	}
	e.Source.Time = e.Updated
	return p, err
}

func decodeErased(f field) (put, error) {
	p := put{entry: new(Entry), erased: true}
	hashed := false
	err := eachField(f.str, func(f field) error {
		switch f.num {
		case 1:
			if len(f.str) != sha256.Size {
				return errors.New("an erased op without its hash")
			}
			hashed = true
		case 2:
			p.entry.ID = f.val
		case 3:
			if f.val >= uint64(len(verbs)) {
				return fmt.Errorf("unknown verb %d", f.val)
			}
			p.verb = verbs[f.val]
		case 10:
			p.prev = f.val
		default:
			return f.unknown()
		}
		return nil
	})
	if err == nil && !hashed {
		err = errors.New("an erased op without its hash")
	}
	return p, err
}

func decodeSource(f field) (Source, error) {
	var s Source
	err := eachField(f.str, func(f field) error {
		switch f.num {
		case 1:
			s.Door = f.str
		case 2:
			s.Actor = Actor(f.str)
		case 3:
			s.Session = f.str
		case 4:
			s.Profile = f.str
		case 5:
			s.Ref = f.str
		case 6:
			s.Claimed.Client = f.str
		case 7:
			s.Claimed.Agent = f.str
		default:
			return f.unknown()
		}
		return nil
	})
	return s, err
}

// digestBody makes the digest that the chain takes of a body.
func digestBody(_ uint8, data []byte) ([32]byte, error) {
	h := sha256.New()
	err := eachField(string(data), func(f field) error {
		switch f.num {
		case fieldOp:
			sum := sha256.Sum256([]byte(f.str))
			h.Write([]byte{fieldOp})
			h.Write(sum[:])
		case fieldErased:
			h.Write([]byte{fieldOp})
			return eachField(f.str, func(f field) error {
				if f.num == 1 {
					h.Write([]byte(f.str))
				}
				return nil
			})
		default:
			h.Write([]byte(f.raw))
		}
		return nil
	})
	var sum [32]byte
	h.Sum(sum[:0])
	return sum, err
}

// field is one field of a message: a number or bytes.
type field struct {
	num   int
	bytes bool
	val   uint64
	str   string
	raw   string // the field with its tag
}

func (f field) unknown() error { return fmt.Errorf("unknown field %d", f.num) }

var errField = errors.New("a field is cut short")

// eachField calls fn with the fields of a message, in order.
func eachField(s string, fn func(f field) error) error {
	for len(s) > 0 {
		rest := s
		tag, n := uvarint(s)
		if n <= 0 {
			return errField
		}
		f := field{num: int(tag >> 3), bytes: tag&7 == 2}
		s = s[n:]
		if !f.bytes && tag&7 != 0 || tag>>3 == 0 || tag>>3 > 1<<20 {
			return fmt.Errorf("field %d has an unknown form", tag>>3)
		}
		v, n := uvarint(s)
		if n <= 0 {
			return errField
		}
		s = s[n:]
		if f.bytes {
			if v > uint64(len(s)) {
				return errField
			}
			f.str, s = s[:v], s[v:]
		} else {
			f.val = v
		}
		f.raw = rest[:len(rest)-len(s)]
		if err := fn(f); err != nil {
			return err
		}
	}
	return nil
}

// eachWanted calls fn with the fields of a body, but for the ops whose entries are
// not wanted, nil for all: of a large record, little is copied. The strings of an op
// share a copy with those of no other.
func eachWanted(body []byte, want func(id uint64) bool, fn func(f field) error) error {
	return eachPart(body, func(num, from, at, end int) error {
		if num == fieldOp && want != nil && !want(opID(body[at:end])) {
			return nil
		}
		return eachField(string(body[from:end]), fn)
	})
}

// eachPart calls fn with where the fields of a body begin, where their values do, and
// where they end; num is 0 for all that follows a field of another form than bytes.
func eachPart(body []byte, fn func(num, from, at, end int) error) error {
	for from := 0; from < len(body); {
		tag, n := binary.Uvarint(body[from:])
		v, m := binary.Uvarint(body[from+max(n, 0):])
		at := from + n + m
		if n <= 0 || m <= 0 || tag&7 != 2 || v > uint64(len(body)-at) {
			return fn(0, from, from, len(body))
		}
		end := at + int(v)
		if err := fn(int(tag>>3), from, at, end); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// opID returns the ID of the entry that an op is about, 0 where there is none.
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
		if op = op[n+m:]; tag&7 == 2 {
			op = op[min(v, uint64(len(op))):]
		}
	}
	return 0
}

// uvarint is binary.Uvarint over a string.
func uvarint(s string) (uint64, int) {
	var x uint64
	for i := 0; i < len(s) && i < binary.MaxVarintLen64; i++ {
		c := s[i]
		if c < 0x80 {
			if i == binary.MaxVarintLen64-1 && c > 1 {
				return 0, -1
			}
			return x | uint64(c)<<(7*i), i + 1
		}
		x |= uint64(c&0x7f) << (7 * i)
	}
	return 0, 0
}

func appendUint(b []byte, num int, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(num)<<3), v)
}

func appendString(b []byte, num int, s string) []byte {
	if s == "" {
		return b
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(num)<<3|2), uint64(len(s)))
	return append(b, s...)
}

func appendBytes(b []byte, num int, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(num)<<3|2), uint64(len(v)))
	return append(b, v...)
}

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// errStop ends a replay early.
var errStop = errors.New("stop")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
