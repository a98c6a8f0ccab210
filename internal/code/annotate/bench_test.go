// This file measures lookups without git, and with a long git history.

//go:build unix

package annotate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// The size of the measured file, of its history and of its annotations.
const (
	benchLines       = 10000
	benchAnnotations = 1000
	benchCommits     = 1500
)

// benchFile is a file that a benchmark edits and annotates.
type benchFile struct {
	rng   *rand.Rand
	lines []string
	fresh int
}

func newBenchFile() *benchFile {
	f := &benchFile{rng: rand.New(rand.NewPCG(4, 7))}
	for range benchLines {
		f.lines = append(f.lines, f.line())
	}
	return f
}

// line returns a random line of code. With a probability of 1/5, the line is a common line, which occurs in many places
// of the file. Otherwise, the line is new.
func (f *benchFile) line() string {
	if f.rng.IntN(5) == 0 {
		return []string{"", "\t}", "}", "\t\treturn err", "\tif err != nil {"}[f.rng.IntN(5)]
	}
	f.fresh++
	return fmt.Sprintf(
		"\tvalue%d := compute(input%d, %d) // step %d",
		f.fresh,
		f.rng.IntN(100),
		f.rng.IntN(1000),
		f.fresh,
	)
}

// edit changes the file at a random line. It replaces between zero and three lines by up to three others: n new lines
// are inserted, and 3-n old lines are removed. Then it adds lines at the end or drops them there, so that the file has
// benchLines lines again.
func (f *benchFile) edit() {
	at, n := f.rng.IntN(len(f.lines)-20), f.rng.IntN(4)
	in := []string{f.line(), f.line(), f.line()}
	f.lines = append(append(append([]string(nil), f.lines[:at]...), in[:n]...), f.lines[at+3-n:]...)
	for len(f.lines) < benchLines {
		f.lines = append(f.lines, f.line())
	}
	f.lines = f.lines[:benchLines]
}

func (f *benchFile) text() string { return strings.Join(f.lines, "\n") + "\n" }

// annotate returns n annotations of blocks of five lines. The first block begins at line first, and the next block
// always begins benchLines/benchAnnotations lines later.
func (f *benchFile) annotate(first, n int) []Record {
	rs := make([]Record, n)
	for i := range rs {
		at := first + i*(benchLines/benchAnnotations)
		rs[i] = Record{File: "f.txt", Span: LineSpan{at, at + 4}, Why: fmt.Sprint("why ", at)}
	}
	return rs
}

// BenchmarkLookup measures lookups of ten lines in a file with 10,000 lines, 1,000 annotations and 1,500 edits. It
// measures three cases. In the case "first", a process does its first lookup. In the case "next", the same process does
// a further lookup. In the case "changed", the process does the first lookup after the file has changed.
//
// Without git, all annotations are made before the edits. With git, each edit is a commit. The annotations are made all
// before the edits (times=1), or in 100 groups between the edits (times=100).
func BenchmarkLookup(b *testing.B) {
	b.Run("git=false", func(b *testing.B) {
		f := newBenchFile()
		m, store := tree(b, map[string]string{"f.txt": f.text()})
		if _, err := store.Add(b.Context(), f.annotate(1, benchAnnotations)...); err != nil {
			b.Fatal(err)
		}
		for range benchCommits {
			f.edit()
		}
		benchLookups(b, func(b *testing.B) *Store {
			store, err := Open(m, nil)
			if err != nil {
				b.Fatal(err)
			}
			return store
		}, func(text string) { put(b, m, "f.txt", text) }, f)
	})
	for _, times := range []int{1, 100} {
		b.Run(fmt.Sprintf("git=true/times=%d", times), func(b *testing.B) {
			g := benchRepo(b)
			f := newBenchFile()
			var history bytes.Buffer
			commits := 0
			commit := func() {
				text := f.text()
				commits++
				fmt.Fprintf(
					&history,
					"commit refs/heads/main\ncommitter A <a@example.com> %d +0000\ndata 1\nx\nM 644 inline "+
						"f.txt\ndata %d\n%s\n",
					noon.Add(time.Duration(commits)*time.Minute).Unix(), len(text), text,
				)
			}
			commit()
			store := g.store(b)
			for i := range times {
				g.write(b, "f.txt", f.text())
				n := benchAnnotations / times
				if _, err := store.Add(b.Context(), f.annotate(1+i*n*(benchLines/benchAnnotations), n)...); err != nil {
					b.Fatal(err)
				}
				for range benchCommits / times {
					f.edit()
					commit()
				}
			}
			g.git(b, &history, "fast-import", "--quiet")
			g.git(b, nil, "repack", "-q", "-a", "-d") // pack the repository, as it would be packed in a clone
			g.git(b, nil, "checkout", "-q", "-f", "main")
			benchLookups(b, g.store, func(text string) { g.write(b, "f.txt", text) }, f)
		})
	}
}

// benchLookups measures lookups of ten lines. The function open opens the store again, and write replaces the file's
// content.
func benchLookups(b *testing.B, open func(*testing.B) *Store, write func(string), f *benchFile) {
	write(f.text())
	look := func(b *testing.B, store *Store) {
		b.Helper()
		found, err := store.Lookup(b.Context(), "f.txt", LineSpan{5000, 5009})
		if err != nil || len(found) == 0 {
			b.Fatal(found, err)
		}
	}
	// Measure processor time, because wall time is not reliable on a machine that does other work.
	var cpu time.Duration
	timed := func(b *testing.B, times *[]time.Duration, store *Store) {
		start, spent := time.Now(), processorTime(b)
		look(b, store)
		*times = append(*times, time.Since(start))
		cpu += processorTime(b) - spent
	}
	report := func(b *testing.B, times []time.Duration) {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(times[0].Microseconds())/1000, "min-ms")
		b.ReportMetric(float64(cpu.Microseconds())/1000/float64(len(times)), "cpu-ms")
		cpu = 0
	}
	b.Run("next", func(b *testing.B) {
		var times []time.Duration
		store := open(b)
		look(b, store)
		for b.Loop() {
			timed(b, &times, store)
		}
		report(b, times)
	})
	b.Run("changed", func(b *testing.B) {
		store := open(b)
		look(b, store)
		n := 0
		var times []time.Duration
		for b.Loop() {
			b.StopTimer()
			n++
			write(fmt.Sprint("change ", n, "\n", f.text()))
			b.StartTimer()
			timed(b, &times, store)
		}
		b.StopTimer()
		report(b, times)
		write(f.text())
	})
	b.Run("first", func(b *testing.B) {
		var times []time.Duration
		for b.Loop() {
			timed(b, &times, open(b))
		}
		report(b, times)
	})
}

// processorTime returns the processor time that this process has used, including all git processes that it started and
// that have ended.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var all time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		all += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return all
}

// gitDir is the directory of a benchmark's repository.
type gitDir string

func benchRepo(b *testing.B) gitDir {
	g := gitDir(b.TempDir())
	g.git(b, nil, "init", "-q", "-b", "main")
	return g
}

func (g gitDir) git(b *testing.B, stdin *bytes.Buffer, args ...string) {
	b.Helper()
	cmd := exec.Command(testenv.RequireProgram(b, "git", "apt install git"), args...)
	cmd.Dir = string(g)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (g gitDir) write(b *testing.B, name, text string) {
	b.Helper()
	if err := os.WriteFile(string(g)+"/"+name, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

func (g gitDir) store(b *testing.B) *Store {
	b.Helper()
	store, err := OpenDir(b.Context(), string(g), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	return store
}
