// This file tests the hashes of images. An image is a state in which a crash can leave the files of the simulated disk.

package crashfs

import (
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestSumOfASketch tests that a CrashContent, which describes a possible content of the disk after a crash, has the
// same hash as the file system that it builds. The test computes the hash of all files, and the hash without lock
// files. No content may occur twice.
func TestSumOfASketch(t *testing.T) {
	m := vfs.NewMem()
	must(t, m.Put("d/a", []byte("text"), 0o600, time.Time{}))
	must(t, m.Link("d/a", "d/b"))
	d := New(m)
	p := d.StartProcess()
	write(t, open(t, p, "d/a"), 2, strings.Repeat("longer ", 100))
	must(t, open(t, p, "x.lock").Close())
	write(t, open(t, p, "x.lock"), 0, "me")
	must(t, p.Rename("d/b", "c"))
	skip := func(name string) bool { return strings.HasSuffix(name, ".lock") }
	alls, somes := map[uint64]bool{}, map[uint64]bool{}
	d.EachCrashContent(func(im *CrashContent) bool {
		img := im.BuildFileSystem()
		all, some := HashFiles(img, nil), HashFiles(img, skip)
		if all != im.HashFiles(nil) || some != im.HashFiles(skip) {
			t.Errorf(
				"%s: Sum() = %x and %x, the sketch says %x and %x",
				im.Label(),
				all,
				some,
				im.HashFiles(nil),
				im.HashFiles(skip),
			)
		}
		if alls[all] {
			t.Errorf("%s: an image came twice", im.Label())
		}
		alls[all], somes[some] = true, true
		return true
	})
	if len(alls) < 100 || len(somes) < 50 || len(somes) >= len(alls) {
		t.Errorf("%d images, %d without lock files", len(alls), len(somes))
	}
}

// TestSumTellsApart tests that images have different hashes if they differ in one bit, in length or in place. A
// checksum inside the bytes must not cancel the difference out.
func TestSumTellsApart(t *testing.T) {
	testenv.SkipInShortMode(t)
	seen := map[uint64]string{}
	add := func(what string, put func(m *vfs.Mem)) {
		m := vfs.NewMem()
		put(m)
		sum := HashFiles(m, nil)
		if other, ok := seen[sum]; ok {
			t.Errorf("%s and %s have one number", what, other)
		}
		seen[sum] = what
	}
	file := func(name string, data []byte, mode fs.FileMode) func(*vfs.Mem) {
		return func(m *vfs.Mem) { must(t, m.Put(name, data, mode, time.Time{})) }
	}
	add("nothing", func(*vfs.Mem) {})
	for _, n := range []int{0, 1, 7, 8, 15, 16, 17, 40, 4096} {
		b := make([]byte, n)
		add("zeros", file("a", b, 0o600))
		for bit := range 8 * n {
			c := append([]byte(nil), b...)
			c[bit/8] ^= 1 << (bit % 8)
			add("a bit", file("a", c, 0o600))
			if bit%64 == 0 && n == 4096 {
				add("a checksum", file("a", binary.LittleEndian.AppendUint32(c, crc32.ChecksumIEEE(c)), 0o600))
			}
		}
	}
	add("another name", file("b", nil, 0o600))
	add("another mode", file("a", nil, 0o644))
	add("a directory", func(m *vfs.Mem) { must(t, m.MkdirAll("a", 0o700)) })
	add("two files", func(m *vfs.Mem) { file("a", nil, 0o600)(m); file("b", nil, 0o600)(m) })
	add("two names", func(m *vfs.Mem) { file("a", nil, 0o600)(m); must(t, m.Link("a", "b")) })
}
