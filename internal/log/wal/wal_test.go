// This file tests the log in the way in which other packages use the log. All processes must be able to read what was
// appended. The log must distinguish damage from a torn tail, which is a last record that was not written completely.

package wal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

func testOptions() Options {
	now := time.Unix(1776162225, 0)
	return Options{
		Clock:       func() time.Time { now = now.Add(time.Second); return now },
		Rand:        rand.NewChaCha8([32]byte{1}),
		DigestBody:  func(_ uint8, b []byte) ([32]byte, error) { return sha256.Sum256(b), nil },
		VerifyChain: true,
	}
}

func open(t *testing.T, fsys vfs.FS) *Log {
	t.Helper()
	l, err := Open(fsys, "m.oxbow", testOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// add appends one record of type 1 for each body, all in one append.
func add(t *testing.T, l *Log, bodies ...string) {
	t.Helper()
	if err := l.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	all(t, l)
	var ds []Payload
	for _, b := range bodies {
		ds = append(ds, Payload{Type: 1, TimeUnixNano: l.opts.Clock().UnixNano(), Body: []byte(b)})
	}
	if _, err := l.Append(ds...); err != nil {
		t.Fatal(err)
	}
}

// all reads the remaining records and returns the bodies of the changes.
func all(t *testing.T, l *Log) []string {
	t.Helper()
	bodies, err := read(l)
	if err != nil {
		t.Fatal(err)
	}
	return bodies
}

func read(l *Log) ([]string, error) {
	switch news, err := l.PollChanges(); {
	case err != nil:
		return nil, err
	case news == LogFileReplaced:
		if err := l.Reopen(); err != nil {
			return nil, err
		}
	case news == LogFileGone:
		return nil, ErrVanished
	}
	var bodies []string
	err := l.Read(func(r *Record) error {
		if r.Type < MinTypeOutsideHashChain {
			bodies = append(bodies, fmt.Sprintf("%d %s", r.Seq, r.Body))
		}
		return nil
	})
	return bodies, err
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("records = %q, want %q", got, want)
	}
}

// image returns the bytes of the log file.
func image(t *testing.T, fsys vfs.FS) []byte {
	t.Helper()
	b, err := vfs.ReadFile(fsys, "m.oxbow", 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fsWith returns a file system that contains a log with these bytes.
func fsWith(t *testing.T, b []byte) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem()
	if err := vfs.WriteFile(m, "m.oxbow", b, 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAppendIsRead(t *testing.T) {
	fsys := vfs.NewMem()
	a, b := open(t, fsys), open(t, fsys)
	if a.Exists() {
		t.Fatal("a log was made by opening it")
	}
	add(t, a, "one", "two")
	same(t, all(t, b), "1 one", "2 two")
	add(t, b, "three")
	same(t, all(t, a), "3 three")
	same(t, all(t, a))
	if a.LastChainHash() != b.LastChainHash() || a.LastSeq() != 3 {
		t.Errorf("chain or sequence number differ between two openers")
	}
	same(t, all(t, open(t, fsys)), "1 one", "2 two", "3 three")
}

func TestLargeRecords(t *testing.T) {
	fsys := vfs.NewMem()
	l := open(t, fsys)
	var want []string
	for i, n := range []int{0, 1, 60 << 10, 64 << 10, 1 << 20, 3 << 20, 5} {
		body := string(bytes.Repeat([]byte{byte('a' + i)}, n))
		add(t, l, body)
		want = append(want, fmt.Sprintf("%d %s", i+1, body))
	}
	got := all(t, open(t, fsys))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Error("large records were not read back as written")
	}
	_, err := l.Append(Payload{Type: 1, Body: make([]byte, MaxBody+1)})
	if err == nil {
		t.Error("a body over MaxBody was appended")
	}
}

// If a log ends with bytes that are not a record, the next append saves them in another file and cuts them off. The
// records before them are kept.
func TestTornTail(t *testing.T) {
	base := vfs.NewMem()
	l := open(t, base)
	add(t, l, "one", "two")
	end := l.EndOffset()
	add(t, l, "three, which is the one that is torn")
	img := image(t, base)[:l.EndOffset()]
	for cut := end; cut < int64(len(img)); cut++ {
		torn := append([]byte{}, img[:cut]...)
		torn = append(torn, make([]byte, 100)...)
		fsys := fsWith(t, torn)
		l := open(t, fsys)
		same(t, all(t, l), "1 one", "2 two")
		n, err := l.TornBytes()
		if err != nil || (n == 0) != (cut == end) {
			t.Fatalf("cut at %d: Torn() = %d, %v", cut, n, err)
		}
		add(t, l, "four")
		same(t, all(t, open(t, fsys)), "1 one", "2 two", "3 four")
		lost, err := vfs.ReadFile(fsys, fmt.Sprintf("m.oxbow.lost/3-at-%d.torn", end), 1<<20)
		if cut == end {
			continue
		}
		if err != nil || !bytes.Equal(lost, bytes.TrimRight(torn[end:], "\x00")) {
			t.Fatalf("cut at %d: the torn tail was not kept: %q, %v", cut, lost, err)
		}
	}
}

// TestBitFlips inverts each bit of a small log. Three results are allowed: the log is refused, all records are
// returned, or only the last record is missing. The last record may be missing, because no later record says that it
// was durable.
func TestBitFlips(t *testing.T) {
	base := vfs.NewMem()
	l := open(t, base)
	add(t, l, "one")
	add(t, l, "two", "three")
	add(t, l, "four")
	img := image(t, base)[:l.EndOffset()+8]
	want := all(t, open(t, base))
	refused, short := 0, 0
	for i := range img {
		for bit := range 8 {
			flipped := append([]byte{}, img...)
			flipped[i] ^= 1 << bit
			l, err := Open(fsWith(t, flipped), "m.oxbow", testOptions())
			if err != nil {
				refused++
				continue
			}
			got, err := read(l)
			switch {
			case err != nil:
				var c *CorruptError
				if !errors.As(err, &c) {
					t.Fatalf("byte %d bit %d: %v", i, bit, err)
				}
				refused++
			case fmt.Sprint(got) == fmt.Sprint(want[:3]):
				short++
			case fmt.Sprint(got) != fmt.Sprint(want):
				t.Fatalf("byte %d bit %d: records = %q", i, bit, got)
			}
			_ = l.Close()
		}
	}
	if last := int(RecordOverhead+4) * 8; short > last {
		t.Errorf("%d flips shortened the log, more than the %d bits of its last record", short, last)
	}
	if refused == 0 {
		t.Error("no flip was refused")
	}
	// A seal says that the last record was durable. With it, no inverted bit may shorten the log.
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	sealed := image(t, base)
	for i := HeaderSize; int64(i) < l.endOffset-RecordOverhead; i++ {
		flipped := append([]byte{}, sealed...)
		flipped[i] ^= 1
		l := open(t, fsWith(t, flipped))
		got, err := read(l)
		if err == nil && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("byte %d: a sealed log lost records without a word: %q", i, got)
		}
	}
}

// A damaged seal between two changes is skipped, because a seal contains no change.
func TestDamagedSeal(t *testing.T) {
	fsys := vfs.NewMem()
	l := open(t, fsys)
	add(t, l, "one")
	at := l.EndOffset()
	l.SealLastRecord()
	if l.EndOffset() != at+RecordOverhead {
		t.Fatalf("no seal was written")
	}
	add(t, l, "two")
	add(t, l, "three")
	img := image(t, fsys)
	for i := at; i < at+RecordOverhead; i++ {
		flipped := append([]byte{}, img...)
		flipped[i] ^= 4
		l := open(t, fsWith(t, flipped))
		same(t, all(t, l), "1 one", "2 two", "3 three")
		if g := l.Gaps(); len(g) != 1 || (g[0].IsIncompleteSeal && flipped[at+RecordOverhead-1] != 0) {
			t.Fatalf("byte %d: gaps = %v", i, g)
		}
	}
	for n := range int64(RecordOverhead) { // A crash may leave only the first n bytes of the seal.
		torn := append([]byte{}, img...)
		clear(torn[at+n : at+RecordOverhead])
		l := open(t, fsWith(t, torn))
		same(t, all(t, l), "1 one", "2 two", "3 three")
		if g := l.Gaps(); len(g) > 1 || (len(g) == 1 && !g[0].IsIncompleteSeal) {
			t.Fatalf("%d bytes of a seal are left: gaps = %v", n, g)
		}
	}
}

func TestVanished(t *testing.T) {
	fsys := vfs.NewMem()
	l := open(t, fsys)
	add(t, l, "one")
	if err := fsys.Remove("m.oxbow"); err != nil {
		t.Fatal(err)
	}
	if _, err := read(l); !errors.Is(err, ErrVanished) {
		t.Errorf("reading a removed log: %v, want ErrVanished", err)
	}
	if err := l.Reopen(); !errors.Is(err, ErrVanished) {
		t.Errorf("Reopen() of a removed log = %v, want ErrVanished", err)
	}
}

func TestRewrite(t *testing.T) {
	fsys := vfs.NewMem()
	l, other := open(t, fsys), open(t, fsys)
	add(t, l, "one")
	add(t, l, "two")
	chain := l.LastChainHash()
	add(t, l, "three")
	all(t, other)
	if err := l.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	var third Record
	again := open(t, fsys)
	if err := again.Read(func(r *Record) error {
		third = *r
		third.Body = bytes.Clone(r.Body)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	err := l.Rewrite(2, chain, func(emit func(Record) error) error {
		if err := emit(Record{Seq: 2, Type: TypeBaseSection, Body: []byte("one and two"),
			ChainHash: chain}); err != nil {
			return err
		}
		return emit(third)
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, all(t, l), "3 three")
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	same(t, all(t, other), "3 three") // The log was replaced, so all records are read again.
	add(t, other, "four")
	same(t, all(t, l), "4 four")
	// Damage in the base section is never taken for a torn tail.
	img := image(t, fsys)
	for i := HeaderSize; i < HeaderSize+RecordOverhead; i++ {
		flipped := append([]byte{}, img...)
		flipped[i] ^= 1
		d := open(t, fsWith(t, flipped))
		if _, err := read(d); err == nil {
			t.Fatalf("byte %d of the base section is damaged and nobody says so", i)
		}
	}
}

func TestLockWait(t *testing.T) {
	fsys := vfs.NewMem()
	a, b := open(t, fsys), open(t, fsys)
	if err := a.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if err := b.Lock(t.Context()); !errors.As(err, &busy) {
		t.Fatalf("Lock() = %v, want *BusyError", err)
	}
	if busy.Holder.PID != os.Getpid() || busy.Holder.Since.IsZero() {
		t.Errorf("holder = %+v", busy.Holder)
	}
	b.opts.LockWait = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Lock(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Lock() = %v, want canceled", err)
	}
	if err := a.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := b.Lock(t.Context()); err != nil {
		t.Error(err)
	}
}

// FuzzRead reads damaged logs. Reading must not panic. No record may have a body that is longer than the file or a
// number that is smaller than that of the record before it.
func FuzzRead(f *testing.F) {
	m := vfs.NewMem()
	l, err := Open(m, "m.oxbow", testOptions())
	if err != nil {
		f.Fatal(err)
	}
	if _, err := l.Append(Payload{Type: 1, Body: []byte("one")}, Payload{Type: 1, Body: []byte("two")}); err != nil {
		f.Fatal(err)
	}
	img, err := vfs.ReadFile(m, "m.oxbow", 1<<20)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(img[:l.EndOffset()+20])
	f.Add(img[:l.EndOffset()-5])
	f.Add(img[:HeaderSize])
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := Open(fsWith(t, b), "m.oxbow", testOptions())
		if err != nil {
			return
		}
		last := uint64(0)
		_ = l.Read(func(r *Record) error {
			if len(r.Body) > len(b) {
				t.Fatalf("a body of %d bytes from a file of %d", len(r.Body), len(b))
			}
			if r.Seq < last {
				t.Fatalf("change %d after %d", r.Seq, last)
			}
			last = r.Seq
			return nil
		})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// ordered is a file system that appends the operations on its files to the list did. If the error fail is not nil,
// starting a sync fails with that error.
type ordered struct {
	vfs.FS
	did  []string
	fail error
}

type orderedFile struct {
	vfs.File
	fs *ordered
}

func (o *ordered) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := o.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &orderedFile{f, o}, nil
}

func (f *orderedFile) WriteAt(b []byte, at int64) (int, error) {
	f.fs.did = append(f.fs.did, "write")
	return f.File.WriteAt(b, at)
}

func (f *orderedFile) Sync() error {
	f.fs.did = append(f.fs.did, "sync")
	return f.File.Sync()
}

func (f *orderedFile) StartSync() error {
	f.fs.did = append(f.fs.did, "start")
	return f.fs.fail
}

// TestAppendWhile tests that AppendWhile calls its function argument after the write of the records and before it waits
// for the sync. If the sync cannot be started, AppendWhile does not call the function, and writes the records to
// another file, as after a failed sync.
func TestAppendWhile(t *testing.T) {
	o := &ordered{FS: vfs.NewMem()}
	l := open(t, o)
	add(t, l, "one")
	if err := l.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	appendWhile := func(text string) {
		t.Helper()
		o.did = nil
		_, err := l.AppendWhile(
			func() { o.did = append(o.did, "work") },
			Payload{Type: 1, TimeUnixNano: 1, Body: []byte(text)},
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	appendWhile("two")
	if !slices.Equal(o.did, []string{"write", "start", "work", "sync"}) {
		t.Errorf("an append does %v", o.did)
	}
	was := l.Header()
	o.fail = errors.New("the device is gone")
	appendWhile("three")
	if slices.Contains(o.did, "work") || !slices.Contains(o.did[2:], "write") {
		t.Errorf("an append that cannot be begun does %v", o.did)
	}
	o.did = nil
	if _, err := l.Append(Payload{Type: 1, TimeUnixNano: 1, Body: []byte("four")}); err != nil ||
		!slices.Equal(o.did, []string{"write", "sync"}) {
		t.Errorf("an append with nothing to do meanwhile does %v: %v", o.did, err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	same(t, all(t, open(t, o.FS)), "1 one", "2 two", "3 three", "4 four")
	if l.Header().ID != was.ID {
		t.Error("the log has another identity")
	}
}
