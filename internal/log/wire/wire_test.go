// This file compares the wire format with the bytes in its specification.

package wire

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// TestBytes tests the encoding of fields and of zigzag integers. The first two cases are examples from
// https://protobuf.dev/programming-guides/encoding.
func TestBytes(t *testing.T) {
	for _, tc := range []struct {
		got  []byte
		want string
	}{
		{AppendUintField(nil, 1, 150), "\x08\x96\x01"},
		{AppendStringField(nil, 2, "testing"), "\x12\x07testing"},
		{AppendBytesField(nil, 2, []byte("testing")), "\x12\x07testing"},
		{AppendUintField(AppendStringField(AppendBytesField(nil, 3, nil), 2, ""), 1, 0), ""},
		{AppendUintField(nil, 20, math.MaxUint64), "\xa0\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
	} {
		if string(tc.got) != tc.want {
			t.Errorf("% x, want % x", tc.got, tc.want)
		}
	}
	for v, want := range map[int64]uint64{0: 0, -1: 1, 1: 2, -2: 3, math.MaxInt64: math.MaxUint64 - 1,
		math.MinInt64: math.MaxUint64} {
		if got := EncodeZigzag(v); got != want || DecodeZigzag(got) != v {
			t.Errorf("Zigzag(%d) = %d, want %d; back %d", v, got, want, DecodeZigzag(got))
		}
	}
}

// show returns the fields that EachField passes, and the offsets that EachFieldOffsets passes, as text.
func show(s string) (fields, parts string, err error) {
	err = EachField(s, func(f Field) error {
		fields += fmt.Sprintf("%d %t %d %q %q;", f.FieldNumber, f.IsBytes, f.VarintValue, f.BytesValue, f.EncodedField)
		return nil
	})
	_ = EachFieldOffsets([]byte(s), func(num, from, at, end int) error {
		parts += fmt.Sprint(num, from, at, end, ";")
		return nil
	})
	return fields, parts, err
}

func TestEach(t *testing.T) {
	whole := string(AppendUintField(AppendStringField(nil, 2, "testing"), 1, 150))
	fields, parts, err := show(whole)
	if want := `2 true 0 "testing" "\x12\atesting";1 false 150 "" "\b\x96\x01";`; err != nil || fields != want ||
		parts != "2 0 2 9;0 9 9 12;" {
		t.Errorf("%s\nwant %s\n%s %v", fields, want, parts, err)
	}
	for n := range len(whole) {
		if _, _, err := show(whole[:n]); (err == nil) != (n == 0 || n == 9) ||
			(err != nil && !errors.Is(err, ErrTruncatedField)) {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
	for _, bad := range []string{"\x09\x01\x02\x03\x04\x05\x06\x07\x08", "\x0d\x01\x02\x03\x04", "\x00\x01", "\x0b",
		"\x88\x80\x80\x80\x08\x01", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"} {
		if _, _, err := show(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	stop := errors.New("stop")
	if err := EachField(whole, func(Field) error { return stop }); err != stop {
		t.Errorf("EachField() = %v", err)
	}
	if err := EachFieldOffsets([]byte(whole), func(int, int, int, int) error { return stop }); err != stop {
		t.Errorf("EachFieldOffsets() = %v", err)
	}
}

func TestPair(t *testing.T) {
	for _, tc := range []struct {
		in, text string
		number   uint64
		bad      bool
	}{
		{in: string(AppendUintField(AppendStringField(nil, 1, "project"), 2, 150)), text: "project", number: 150},
		{in: string(AppendStringField(AppendStringField(nil, 1, "a"), 1, "b")), text: "b"},
		{in: ""},
		{in: string(AppendUintField(nil, 3, 1)), bad: true},
		{in: "\x0a\x02a", bad: true},
	} {
		first, second, err := DecodeTwoFields(tc.in)
		if (err != nil) != tc.bad || first.BytesValue != tc.text || second.VarintValue != tc.number {
			t.Errorf("DecodePair(%q) = %q, %d, %v; want %q, %d",
				tc.in, first.BytesValue, second.VarintValue, err, tc.text, tc.number)
		}
	}
}

// FuzzEach checks EachField with random messages. EachField and the helper show must agree on whether a message is
// valid. The encoded fields of a valid message, joined, must equal the message. If the decoded fields are encoded
// again, the result must not be longer than the message. It may be shorter, because a varint in the message may be
// longer than necessary.
func FuzzEach(f *testing.F) {
	f.Add("\x08\x96\x01\x12\x07testing")
	f.Add("\x12\x80\x00")
	f.Fuzz(func(t *testing.T, s string) {
		var b []byte
		raw := ""
		err := EachField(s, func(f Field) error {
			raw += f.EncodedField
			if f.IsBytes {
				b = AppendStringField(b, f.FieldNumber, f.BytesValue)
			} else {
				b = AppendUintField(b, f.FieldNumber, f.VarintValue)
			}
			return nil
		})
		if _, _, perr := show(s); (perr == nil) != (err == nil) {
			t.Fatal("the same message is read and not read")
		}
		if (err == nil && raw != s) || len(b) > len(s) {
			t.Fatalf("%q is read as %q, and written as %q", s, raw, b)
		}
	})
}
