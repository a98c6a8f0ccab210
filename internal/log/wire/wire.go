// Package wire reads and writes messages in the wire format of protocol buffers
// (https://protobuf.dev/programming-guides/encoding). It supports only varints (wire type
// 0) and length-delimited bytes (wire type 2). Empty fields and zeros are not written.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Field is a field of a message.
type Field struct {
	Num   int
	Bytes bool   // the field is length-delimited; otherwise it is a varint
	Val   uint64 // value of a varint
	Str   string // value of a length-delimited field
	Raw   string // encoded field with its tag
}

// Unknown returns the error for an unknown field.
func (f Field) Unknown() error { return fmt.Errorf("unknown field %d", f.Num) }

// ErrShort is the error of a message that ends within a field.
var ErrShort = errors.New("a field is cut short")

// isTag reports whether a field begins with this tag: the field's number is from 1 to 1<<20, and its
// value is a number (0) or length-delimited (2).
func isTag(tag uint64) bool {
	num, form := tag>>3, tag&7
	return num > 0 && num <= 1<<20 && (form == 0 || form == 2)
}

// Each calls fn for each field of a message, in order, until fn returns an error. The
// strings of the fields share memory with s.
func Each(s string, fn func(f Field) error) error {
	for len(s) > 0 {
		rest := s
		tag, n := uvarint(s)
		if n <= 0 {
			return ErrShort
		}
		f := Field{Num: int(tag >> 3), Bytes: tag&7 == 2}
		s = s[n:]
		if !isTag(tag) {
			return fmt.Errorf("field %d has an unknown form", tag>>3)
		}
		v, n := uvarint(s)
		if n <= 0 {
			return ErrShort
		}
		s = s[n:]
		if f.Bytes {
			if v > uint64(len(s)) {
				return ErrShort
			}
			f.Str, s = s[:v], s[v:]
		} else {
			f.Val = v
		}
		f.Raw = rest[:len(rest)-len(s)]
		if err := fn(f); err != nil {
			return err
		}
	}
	return nil
}

// Pair returns the fields 1 and 2 of a message without other fields. Missing fields are
// zero.
func Pair(s string) (first, second Field, err error) {
	err = Each(s, func(f Field) error {
		switch f.Num {
		case 1:
			first = f
		case 2:
			second = f
		default:
			return f.Unknown()
		}
		return nil
	})
	return first, second, err
}

// EachPart calls fn for each field with three offsets: the start of the field, the start of the
// field's value, and the end. num is 0 for the rest of the body, if this rest starts with a field
// that is not length-delimited.
func EachPart(body []byte, fn func(num, from, at, end int) error) error {
	for from := 0; from < len(body); {
		tag, n := binary.Uvarint(body[from:])
		v, m := binary.Uvarint(body[from+max(n, 0):])
		at := from + n + m
		isDelimited := n > 0 && m > 0 && tag&7 == 2
		if !isDelimited || v > uint64(len(body)-at) {
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

// uvarint is like binary.Uvarint, for a string.
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

// AppendUint appends a varint field unless v is 0.
func AppendUint(b []byte, num int, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(num)<<3), v)
}

// AppendString appends a string field unless s is empty.
func AppendString(b []byte, num int, s string) []byte {
	if s == "" {
		return b
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(num)<<3|2), uint64(len(s)))
	return append(b, s...)
}

// AppendBytes appends a bytes field unless v is empty.
func AppendBytes(b []byte, num int, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(num)<<3|2), uint64(len(v)))
	return append(b, v...)
}

// Zigzag encodes a signed number, so that small absolute values have short varints.
func Zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// Unzigzag decodes a number that Zigzag encoded.
func Unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
