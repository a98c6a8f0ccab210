// This file tests quantiles, numbers, tables, and the description of the machine.

package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	ts := timings{5, 1, 4, 2, 3}
	for _, tt := range []struct {
		q    float64
		want time.Duration
	}{{0, 1}, {.2, 1}, {.21, 2}, {.5, 3}, {.9, 5}, {1, 5}} {
		if got := ts.quantile(tt.q); got != tt.want {
			t.Errorf("quantile(%v) = %v, want %v", tt.q, got, tt.want)
		}
	}
	if ts[0] != 5 {
		t.Error("quantile changed the order of the measurements")
	}
	if got := (timings)(nil).p50(); got != 0 {
		t.Errorf("p50 of nothing = %v, want 0", got)
	}
	var one timings
	want := errors.New("no")
	if err := one.timeCall(func() error { return want }); err != want || len(one) != 1 {
		t.Errorf("add = %v with %d measurements, want the error and 1", err, len(one))
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		in   []float64
		want float64
	}{{nil, 0}, {[]float64{2}, 2}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 4}, 4}} {
		if got := median(tt.in); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestPrint(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{formatDuration(999), "999 ns"},
		{formatDuration(1500), "1.50 µs"},
		{formatDuration(123456), "123 µs"},
		{formatDuration(12345678), "12.3 ms"},
		{formatDuration(2 * time.Second), "2.00 s"},
		{formatRoundedNumber(9.994), "9.99"},
		{formatRoundedNumber(9.996), "10.0"},
		{formatRoundedNumber(99.96), "100"},
		{formatRoundedNumber(1234567), "1,234,567"},
		{formatRoundedNumber(-1234), "-1,234"},
		{formatRoundedNumber(-123), "-123"},
		{formatCount(7), "7"},
		{formatCount(10000), "10,000"},
		{formatRatio(3, 2), "1.50×"},
		{formatRatio(3, 0), "–"},
	} {
		if tt.got != tt.want {
			t.Errorf("printed %q, want %q", tt.got, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	tab := newTable("what", "µs")
	tab.addRow("a", "1.00")
	tab.addRow("longer", "10.0")
	var b strings.Builder
	tab.print(&b)
	want := "| what   |   µs |\n|--------|-----:|\n| a      | 1.00 |\n| longer | 10.0 |\n\n"
	if b.String() != want {
		t.Errorf("table =\n%s\nwant\n%s", b.String(), want)
	}
}

func TestMachine(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"/proc/cpuinfo":              "processor\t: 0\nmodel name\t: Quill 3 @ 1.0GHz\n",
		"/proc/sys/kernel/osrelease": "6.1.2\n",
		"/proc/self/mountinfo":       "22 1 254:0 / / rw - ext4 /dev/vda rw\n",
		"/proc/loadavg":              "0.42 0.50 0.60 1/100 4242\n",
	}
	read := func(name string) ([]byte, error) {
		if s, ok := files[name]; ok {
			return []byte(s), nil
		}
		return nil, errors.New("no such file")
	}
	got := describeMachine("linux", read, dir)
	for _, want := range []string{"core", "Quill 3 @ 1.0GHz", "linux/", " 6.1.2", "go1.", "file system ext4",
		"load 0.42 before"} {
		if !strings.Contains(got, want) {
			t.Errorf("machine = %q, without %q", got, want)
		}
	}
	clear(files)
	if got := describeMachine("linux", read, dir); strings.Contains(got, ", ,") ||
		strings.Contains(got, "file system") {
		t.Errorf("machine that tells nothing = %q", got)
	}
	if got := describeMachine("plan9", nil, dir); !strings.Contains(got, "plan9/") {
		t.Errorf("machine = %q, want it to name the system", got)
	}
}

func TestFileSystem(t *testing.T) {
	const mounts = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:21 / /no rw shared:1 - tmpfs tmpfs rw
24 22 0:22 / /no/such rw shared:2 master:1 - xfs /dev/vdb rw
25 22 0:23 / /no/such rw - btrfs /dev/vdc rw
26 22 0:24 / /no/a\040b rw - vfat /dev/vdd rw
garbage
`
	for _, tt := range []struct{ dir, want string }{
		{"/nowhere", "ext4"},
		{"/no", "tmpfs"},
		{"/no/x", "tmpfs"},
		{"/no/such/dir", "btrfs"},
		{"/no/suchlike", "tmpfs"},
		{"/no/a b/c", "vfat"},
	} {
		if got := fileSystemType(mounts, tt.dir); got != tt.want {
			t.Errorf("fileSystemType(%q) = %q, want %q", tt.dir, got, tt.want)
		}
	}
}
