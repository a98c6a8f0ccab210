// Package wire encodes and decodes messages in the wire format of protocol buffers
// (https://protobuf.dev/programming-guides/encoding). It supports only varints (wire type 0) and length-delimited
// bytes (wire type 2). Empty bytes and zero numbers are not encoded.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Field is a decoded field of a message.
type Field struct {
	FieldNumber  int
	IsBytes      bool   // the value is in BytesValue (otherwise it is a varint in VarintValue)
	VarintValue  uint64 // value of the field if it is a number (a varint)
	BytesValue   string // value of a length-delimited field
	EncodedField string // the whole encoded field, including its tag
}

// UnknownFieldError returns the error for a field whose number the caller does not know.
func (f Field) UnknownFieldError() error { return fmt.Errorf("unknown field %d", f.FieldNumber) }

// ErrTruncatedField is returned if a message ends inside a field.
var ErrTruncatedField = errors.New("a field is cut short")

// isValidTag reports whether a tag is valid: the field number is from 1 to 1<<20, and the wire type is 0 (varint) or 2
// (length-delimited).
func isValidTag(tag uint64) bool {
	num, form := tag>>3, tag&7
	return num > 0 && num <= 1<<20 && (form == 0 || form == 2)
}

// EachField calls fn for each field of the message, in order. It stops when fn returns an error, and returns the
// error. The strings in the fields share memory with message.
func EachField(message string, fn func(f Field) error) error {
	for len(message) > 0 {
		rest := message
		tag, n := decodeUvarint(message)
		if n <= 0 {
			return ErrTruncatedField
		}
		f := Field{FieldNumber: int(tag >> 3), IsBytes: tag&7 == 2}
		message = message[n:]
		if !isValidTag(tag) {
			return fmt.Errorf("field %d has an unknown form", tag>>3)
		}
		v, n := decodeUvarint(message)
		if n <= 0 {
			return ErrTruncatedField
		}
		message = message[n:]
		if f.IsBytes {
			if v > uint64(len(message)) {
				return ErrTruncatedField
			}
			f.BytesValue, message = message[:v], message[v:]
		} else {
			f.VarintValue = v
		}
		f.EncodedField = rest[:len(rest)-len(message)]
		if err := fn(f); err != nil {
			return err
		}
	}
	return nil
}

// DecodeTwoFields decodes a message that has only the fields 1 and 2. A missing field is zero.
func DecodeTwoFields(message string) (first, second Field, err error) {
	err = EachField(message, func(f Field) error {
		switch f.FieldNumber {
		case 1:
			first = f
		case 2:
			second = f
		default:
			return f.UnknownFieldError()
		}
		return nil
	})
	return first, second, err
}

// EachFieldOffsets calls the function visit for each field of a message. The argument num is the number of the field.
// The remaining arguments are offsets in the message: the field begins at the first offset, its value begins at the
// second, and the field ends at the third.
//
// If a field is invalid or not length-delimited, visit is called for the last time, with num 0. In this last call, the
// first two offsets are where the field begins, and the third offset is the end of the message. EachFieldOffsets
// returns the first error of visit.
func EachFieldOffsets(message []byte, visit func(num, from, at, end int) error) error {
	for from := 0; from < len(message); {
		tag, n := binary.Uvarint(message[from:])
		v, m := binary.Uvarint(message[from+max(n, 0):])
		at := from + n + m
		isDelimited := n > 0 && m > 0 && tag&7 == 2
		if !isDelimited || v > uint64(len(message)-at) {
			return visit(0, from, from, len(message))
		}
		end := at + int(v)
		if err := visit(int(tag>>3), from, at, end); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// decodeUvarint decodes a varint from a string, like binary.Uvarint.
func decodeUvarint(s string) (uint64, int) {
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

// AppendUintField appends a field with a varint. If v is 0, it appends nothing.
func AppendUintField(b []byte, fieldNumber int, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(fieldNumber)<<3), v)
}

// AppendStringField appends a field with a string. If s is empty, it appends nothing.
func AppendStringField(b []byte, fieldNumber int, s string) []byte {
	if s == "" {
		return b
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(fieldNumber)<<3|2), uint64(len(s)))
	return append(b, s...)
}

// AppendBytesField appends a field with bytes. If v is empty, it appends nothing.
func AppendBytesField(b []byte, fieldNumber int, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(fieldNumber)<<3|2), uint64(len(v)))
	return append(b, v...)
}

// EncodeZigzag encodes a signed number as an unsigned number. Numbers near 0, positive or negative, get small
// values, and thus short varints.
func EncodeZigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// DecodeZigzag decodes the result of EncodeZigzag.
func DecodeZigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
