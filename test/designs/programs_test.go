// This file contains small Go programs. The step "run" of a row (a test case) executes such a program. The programs
// test requirements that concern only programs.

package designs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/layouts"
	"github.com/oxbow-memory/oxbow/internal/tree/crmem"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// A program is a small test that is written in Go. The step "run" of a row executes it. It returns a text that the next
// steps of the row can check, and an error if the test fails.
type program func(w *world) (string, error)

func programs() map[string]program {
	return map[string]program{
		"crash":        crashProgram,
		"day":          dayProgram,
		"fault":        faultProgram,
		"standalone":   standaloneProgram,
		"parents":      parentsProgram,
		"ops":          opsProgram,
		"checkpoint":   checkpointProgram,
		"postings":     postingsProgram,
		"resume":       resumeProgram,
		"memory":       inMemoryProgram,
		"build-js":     func(w *world) (string, error) { return buildProgram(w, "js") },
		"build-wasip1": func(w *world) (string, error) { return buildProgram(w, "wasip1") },
	}
}

// openOn initializes a home with the layout w.layout in the file system fsys, and opens the home.
func (w *world) openOn(fsys vfs.FS) (layout.Home, error) {
	d, err := layout.Find(layouts.All(), w.layout)
	if err != nil {
		return nil, err
	}
	o := layout.Options{FS: fsys, Path: "home", Zone: time.UTC, Memory: oxbow.Options{Clock: w.clock}}
	if w.layout == "duragent" {
		o.Agent = "rei"
	}
	if _, err := d.Init(w.detached(), o); err != nil {
		return nil, err
	}
	return d.Open(w.detached(), o)
}

// named returns an entry that each layout can store.
func (w *world) named(name, content string) oxbow.Entry {
	e := oxbow.Entry{Name: name, Content: content}
	if w.layout == "duragent" {
		e.Kind = oxbow.World
	}
	return e
}

// crashProgram writes an entry twice, and crashes the machine at each operation of the second write. After a crash,
// the entry must have the old or the new text. If the write was acknowledged, it must have the new text.
func crashProgram(w *world) (string, error) {
	start := crashfs.New(nil)
	if err := w.writeOn(start.StartProcess(), "old text"); err != nil {
		return "", err
	}
	for at := 1; ; at++ {
		disk := start.Clone()
		disk.StopAt(start.CountOps() + at)
		acknowledged := w.writeOn(disk.StartProcess(), "new text") == nil
		for img, label := range disk.EachCrashFileSystem {
			got, err := w.readOn(img)
			if err != nil {
				return "", fmt.Errorf("crash at operation %d, %s: %w", at, label, err)
			}
			if got != "new text" && (got != "old text" || acknowledged) {
				return "", fmt.Errorf("crash at operation %d, %s: the entry is %q", at, label, got)
			}
		}
		if !disk.HasCrashed() {
			return fmt.Sprintf("crashed at %d operations", at-1), nil
		}
	}
}

func (w *world) writeOn(fsys vfs.FS, text string) error {
	h, err := w.openOn(fsys)
	if err != nil {
		return err
	}
	_, err = h.Memory().Remember(w.detached(), w.named("crash", text))
	if cerr := h.Close(); err == nil && !errors.Is(cerr, crashfs.ErrCrashed) {
		return cerr
	}
	return err
}

func (w *world) readOn(fsys vfs.FS) (string, error) {
	h, err := w.openOn(fsys)
	if err != nil {
		return "", err
	}
	defer h.Close()
	e, err := h.Memory().Get(w.detached(), "crash")
	return strings.TrimSpace(e.Content), err
}

// dayProgram adds an entry to the log of a day, and crashes the machine at each operation. After a crash, the log must
// contain the whole entry or nothing of it.
func dayProgram(w *world) (string, error) {
	start := crashfs.New(nil)
	if err := w.writeOn(start.StartProcess(), "old text"); err != nil {
		return "", err
	}
	const log = ".duragent/agents/rei/memory/daily/2026-04-18.md"
	const whole = "# 2026-04-18\n\n## 09:30\n\nFixed the parser.\n"
	for at := 1; ; at++ {
		disk := start.Clone()
		disk.StopAt(start.CountOps() + at)
		acknowledged := w.rememberDay(disk.StartProcess()) == nil
		for img, label := range disk.EachCrashFileSystem {
			data, err := vfs.ReadFile(img, log, -1)
			isAbsent := errors.Is(err, fs.ErrNotExist) && !acknowledged
			if !isAbsent && (err != nil || string(data) != whole) {
				return "", fmt.Errorf("crash at operation %d, %s: the log is %q, %w", at, label, data, err)
			}
		}
		if !disk.HasCrashed() {
			return fmt.Sprintf("crashed at %d operations", at-1), nil
		}
	}
}

func (w *world) rememberDay(fsys vfs.FS) error {
	h, err := w.openOn(fsys)
	if err != nil {
		return err
	}
	_, err = h.Memory().Remember(w.detached(), oxbow.Entry{Kind: oxbow.Journal, Content: "Fixed the parser.",
		Name: "2026-04-18 09:30"})
	if cerr := h.Close(); err == nil && !errors.Is(cerr, crashfs.ErrCrashed) {
		return cerr
	}
	return err
}

// faultProgram writes a text again and again, each time with a fault at another operation of the disk, until no
// operation remains. The memory must return the text that is stored on the disk. It returns the number of failed writes
// as text.
func faultProgram(w *world) (string, error) {
	start := crashfs.New(nil)
	if err := w.writeOn(start.StartProcess(), "old text"); err != nil {
		return "", err
	}
	failures := 0
	for at := 1; ; at++ {
		disk := start.Clone()
		h, err := w.openOn(disk.StartProcess())
		if err != nil {
			return "", err
		}
		first := disk.CountOps()
		disk.Inject(crashfs.OpFault{FirstOpNumber: first + at, Err: syscall.EIO})
		_, err = h.Memory().Remember(w.detached(), w.named("crash", "new text"))
		struck := slices.ContainsFunc(disk.Log(), func(o crashfs.Op) bool { return o.Err != nil })
		disk.Mend()
		shown, gerr := h.Memory().Get(w.detached(), "crash")
		stored, serr := w.readOn(disk.CopyLiveFiles())
		cerr := h.Close()
		if gerr != nil || serr != nil || cerr != nil {
			return "", errors.Join(gerr, serr, cerr)
		}
		if strings.TrimSpace(shown.Content) != stored {
			return "", fmt.Errorf("fault at operation %d: shown %q, stored %q", at, shown.Content, stored)
		}
		if err != nil {
			failures++
		}
		if !struck {
			return fmt.Sprintf("%d writes failed", failures), nil
		}
	}
}

// standaloneProgram opens a file with the package crmem, which implements the file format, and uses it as a memory
// without a home directory. It returns the content of the entry that it stored and found.
func standaloneProgram(w *world) (string, error) {
	s, err := crmem.Open(w.path("alone.db"), nil)
	if err != nil {
		return "", err
	}
	m := oxbow.New(s, nil)
	defer m.Close()
	if _, err := m.Remember(w.detached(), oxbow.Entry{Name: "rollout", Content: "Ship on Tuesdays."}); err != nil {
		return "", err
	}
	hits, err := m.Recall(w.detached(), oxbow.Query{Text: "tuesdays"})
	if err != nil || len(hits) != 1 {
		return "", fmt.Errorf("%d hits, %w", len(hits), err)
	}
	return hits[0].Entry.Content, nil
}

// parentsProgram writes a store into directories that do not exist.
func parentsProgram(w *world) (string, error) {
	s, err := crmem.Open(filepath.Join(w.home, "a", "b", "c", "memory.db"), nil)
	if err != nil {
		return "", err
	}
	defer s.Close()
	return "", s.Apply(w.detached(), oxbow.Add{Name: "n", Content: "Text."})
}

// opsProgram applies each of the four kinds of operations of the design: Add, Update, Alias and Remove. It returns a
// text with a line for each entry that remains.
func opsProgram(w *world) (string, error) {
	h, err := w.openOn(vfs.NewMem())
	if err != nil {
		return "", err
	}
	defer h.Close()
	s := h.Memory().Store()
	for _, op := range []oxbow.Op{
		oxbow.Add{Name: "a", Content: "one", Aliases: []string{"first"}},
		oxbow.Add{Name: "b", Content: "two"},
		oxbow.Update{Name: "a", Content: "three", Aliases: []string{"third"}},
		oxbow.Alias{Name: "a", Aliases: []string{"fourth"}},
		oxbow.Remove{Name: "b"},
	} {
		if err := s.Apply(w.detached(), op); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	for e, err := range s.Entries(w.detached(), oxbow.Filter{}) {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%d %s %s %s %v\n", e.ID, e.Kind, e.Name, e.Content, e.Aliases)
	}
	if err := s.Apply(w.detached(), oxbow.Update{Name: "b", Content: "gone"}); !errors.Is(err, oxbow.ErrNotFound) {
		return "", fmt.Errorf("an update of a deleted entry returned %w", err)
	}
	return b.String(), nil
}

// checkpointProgram stores an entry in a new home, runs Checkpoint and closes the home. It then reads the home again
// and returns the result of readOn.
func checkpointProgram(w *world) (string, error) {
	fsys := vfs.NewMem()
	h, err := w.openOn(fsys)
	if err != nil {
		return "", err
	}
	if _, err := h.Memory().Remember(w.detached(), w.named("crash", "kept")); err != nil {
		return "", err
	}
	if err := errors.Join(h.Memory().Checkpoint(w.detached()), h.Close()); err != nil {
		return "", err
	}
	return w.readOn(fsys)
}

// postingsProgram searches for a word that only one of many entries contains.
func postingsProgram(w *world) (string, error) {
	h, err := w.openOn(vfs.NewMem())
	if err != nil {
		return "", err
	}
	defer h.Close()
	var ops []oxbow.Op
	for i := range 300 {
		ops = append(ops, oxbow.Add{Name: fmt.Sprint("n", i), Content: fmt.Sprintf("common word%d", i)})
	}
	if err := h.Memory().Apply(w.detached(), ops...); err != nil {
		return "", err
	}
	hits, err := h.Memory().Recall(w.detached(), oxbow.Query{Text: "word77", Limit: 10})
	if err != nil || len(hits) != 1 {
		return "", fmt.Errorf("%d hits, want 1: %w", len(hits), err)
	}
	return hits[0].Entry.Name, nil
}

// resumeProgram compacts a conversation, and resumes it in another session.
func resumeProgram(w *world) (string, error) {
	h, err := w.openOn(vfs.NewMem())
	if err != nil {
		return "", err
	}
	defer h.Close()
	ctx := context.WithoutCancel(w.t.Context())
	first, err := h.Session(ctx, layout.Request{Message: "How do we ship?"})
	if err != nil {
		return "", err
	}
	name, _, err := first.Compact(ctx, "We spoke of shipping.")
	if err != nil {
		return "", err
	}
	second, err := h.Session(ctx, layout.Request{})
	if err != nil {
		return "", err
	}
	c, err := second.Resume(ctx, name)
	return c.Text(), err
}

// inMemoryProgram uses a home in a file system in memory.
func inMemoryProgram(w *world) (string, error) {
	fsys := vfs.NewMem()
	if err := w.writeOn(fsys, "kept in memory"); err != nil {
		return "", err
	}
	return w.readOn(fsys)
}

// buildProgram checks that the packages of the layout do not need a file that is excluded on the system goos with
// WebAssembly. For this, it lists the packages with "go list" and builds nothing. The checks before a change is merged
// build the module for these systems.
func buildProgram(w *world, goos string) (string, error) {
	testenv.RequireProgram(w.t, "go", "https://go.dev/dl")
	cmd := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}{{with .Error}} {{.}}{{end}}",
		"github.com/oxbow-memory/oxbow/layout/"+w.layout)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=wasm")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(strings.TrimSpace(line), " ") {
			return "", fmt.Errorf("GOOS=%s: %s", goos, line)
		}
	}
	return "built", nil
}
