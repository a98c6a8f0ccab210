// This file implements the command named "whole". It measures the time of oxbow's commands in a home (the directory of
// a memory) with many entries. The time is measured from the process's start to its end.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func wholeCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	sizes := fl.String("n", "10000,100000", "entries in the home, `N,N…`")
	rounds := fl.Int(
		"rounds",
		5,
		"runs to time of what takes an instant; export, import, dump, load and check run once",
	)
	imported := fl.Bool("imported", false, "the entries were imported, so each change is compared with them")
	only := fl.String("only", "", "commands whose names match `REGEXP`")
	var src textSource
	src.addFlags(fl)
	fl.IntVar(&src.entryBytes, "bytes", entryTextBytes, "approximate size of an entry in bytes")
	b.addDirFlag(fl)
	return func(ctx context.Context) error {
		ns, err := parseNumbers(*sizes)
		if err != nil {
			return err
		}
		wanted, err := regexp.Compile(*only)
		if err != nil {
			return fmt.Errorf("measuring commands: %w", err)
		}
		if *rounds < 1 {
			return errors.New("measuring commands: -rounds must be above 0")
		}
		dir, remove, err := b.tempDir()
		if err != nil {
			return err
		}
		defer remove()
		b.printTitle("whole", dir)
		oxbowPath, err := buildOxbow(ctx, dir, "oxbow", "-trimpath", "-ldflags=-s -w")
		if err != nil {
			return err
		}
		es, from, err := src.readEntries(ctx, 10000)
		if err != nil {
			return err
		}
		head := []string{fmt.Sprintf("median of %d runs; export and below: one run", *rounds)}
		var rows [][]string
		for i, n := range ns {
			head = append(head, formatCount(n)+" entries: time", "processor", "peak memory")
			w := homeCommandsRun{
				homeParentDir:      filepath.Join(dir, strconv.Itoa(i)),
				oxbowPath:          oxbowPath,
				rounds:             *rounds,
				stepNamePattern:    wanted,
				hasImportedEntries: *imported,
			}
			costs, err := w.run(ctx, repeatEntries(es, n))
			if err != nil {
				return fmt.Errorf("commands in a home of %d entries: %w", n, err)
			}
			for j, c := range costs {
				if i == 0 {
					rows = append(rows, []string{c.commandName})
				}
				rows[j] = append(
					rows[j],
					formatDuration(c.elapsedTime),
					formatDuration(c.cpu),
					formatPeakMemory(c.peakMemoryBytes),
				)
			}
		}
		t := newTable(head...)
		for _, r := range rows {
			t.addRow(r...)
		}
		b.emitTable(t)
		b.printf("The entries are from %s. The system's cache holds the files.\n\n", from)
		return nil
	}
}

// homeCommandsRun runs oxbow's commands in a home (the directory of a memory) inside homeParentDir.
type homeCommandsRun struct {
	homeParentDir, oxbowPath string
	rounds                   int
	stepNamePattern          *regexp.Regexp // only steps whose names match this pattern are measured
	hasImportedEntries       bool           // The entries of the home were imported.
}

// commandCost contains a command's median elapsed time, its median processor time, and the highest memory of all
// runs.
type commandCost struct {
	commandName      string
	elapsedTime, cpu time.Duration
	peakMemoryBytes  int64
}

func (w homeCommandsRun) run(ctx context.Context, es []oxbow.Add) ([]commandCost, error) {
	home := filepath.Join(w.homeParentDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	fillCtx := ctx
	if w.hasImportedEntries {
		fillCtx = oxbow.WithSource(ctx, oxbow.Source{Actor: oxbow.Imported})
	}
	if err := fillHome(fillCtx, home, es); err != nil {
		return nil, err
	}
	lines := filepath.Join(w.homeParentDir, "export.jsonl")
	tree := filepath.Join(w.homeParentDir, "tree")
	last := uint64(len(es)+entriesPerFillChange-1) / entriesPerFillChange // number of the last change in the home
	asOf := func(seq uint64) []string {
		return []string{"recall", "--as-of", strconv.FormatUint(seq, 10), "what does it return"}
	}
	noIndex := func() error { return os.RemoveAll(filepath.Join(home, "memory.oxbow.idx")) }
	steps := []struct {
		name   string
		once   bool
		before func() error
		args   []string
	}{
		{"get", false, nil, []string{"get", es[len(es)/2].Name}},
		{"list --limit 20", false, nil, []string{"list", "--limit", "20"}},
		{"log --limit 20", false, nil, []string{"log", "--limit", "20"}},
		{"stats", false, nil, []string{"stats"}},
		{"recall", false, nil, []string{"recall", "what does it return"}},
		{"remember", false, nil, []string{"remember", "whole", "--content", "a change"}},
		{
			"remember what an entry says",
			false,
			nil,
			[]string{"remember", "repeat", "--content", "They say: " + es[len(es)/2].Content},
		},
		{"recall that finds nothing", false, nil, []string{"recall", "zyzzyvaqq"}},
		{"recall of a phrase", false, nil, []string{"recall", `"` + firstWords(es[len(es)/2].Content, 3) + `"`}},
		{"recall as of the change before the last", false, nil, asOf(max(1, last-1))},
		{"recall as of half of the changes", false, nil, asOf(max(1, last/2))},
		{"log from the middle", false, nil, []string{"log", "--offset", strconv.FormatUint(last/2, 10)}},
		{"list from the middle", false, nil, []string{"list", "--offset", strconv.Itoa(len(es) / 2)}},
		{"label list", false, nil, []string{"label", "list"}},
		{"context", false, nil, []string{"context"}},
		{"lineage", false, nil, []string{"lineage", es[len(es)/2].Name}},
		{"doctor", false, nil, []string{"doctor"}},
		{"recall, no index file: scans the entries", true, noIndex, []string{"recall", "what does it return"}},
		{"recall after it: makes the index file", true, nil, []string{"recall", "what does it return"}},
		{"export", true, nil, []string{"export"}},
		{
			"import of that, into an empty home",
			true,
			nil,
			[]string{"--home", filepath.Join(w.homeParentDir, "new"), "import", lines},
		},
		{"dump, the first", true, nil, []string{"dump", tree}},
		{"dump again", true, nil, []string{"dump", tree}},
		{"load, one file edited", true, func() error { return editFile(tree) }, []string{"load", tree}},
		{"check", true, nil, []string{"check"}},
	}
	if err := os.Mkdir(filepath.Join(w.homeParentDir, "new"), 0o700); err != nil {
		return nil, err
	}
	var costs []commandCost
	for _, s := range steps {
		if !w.stepNamePattern.MatchString(s.name) {
			continue
		}
		var clock, cpu timings
		var peak int64
		for i := 0; i <= w.rounds && !(s.once && i > 0); i++ {
			if s.before != nil {
				if err := s.before(); err != nil {
					return nil, err
				}
			}
			took, state, err := w.runOxbow(ctx, home, lines, s.args)
			if err != nil {
				return nil, fmt.Errorf("oxbow %s: %w", s.name, err)
			}
			// If a command is run several times, do not count the first run, because it fills the system's caches.
			if i > 0 || s.once {
				clock, cpu = append(clock, took), append(cpu, state.UserTime()+state.SystemTime())
				peak = max(peak, peakMemoryBytes(state))
			}
		}
		costs = append(costs, commandCost{s.name, clock.p50(), cpu.p50(), peak})
	}
	return costs, nil
}

// firstWords returns the first n consecutive words in a text that consist of ASCII letters and are separated only by
// spaces. If the text does not contain n such words, it returns "it".
func firstWords(content string, n int) string {
	found := strings.FieldsFunc(content, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != ' '
	})
	for _, part := range found {
		if inLine := strings.Fields(part); len(inLine) >= n {
			return strings.Join(inLine[:n], " ")
		}
	}
	return "it"
}

// editFile adds a line to one of the files in the directory dumpDir, as a person who edits a dump would.
func editFile(dumpDir string) error {
	files, err := filepath.Glob(filepath.Join(dumpDir, "notes", "*.md"))
	if err != nil || len(files) == 0 {
		return errors.Join(fmt.Errorf("the dump in %s has no notes", dumpDir), err)
	}
	f, err := os.OpenFile(files[len(files)/2], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("A line that a person added.\n")
	return errors.Join(err, f.Close())
}

// runOxbow runs one oxbow command. If the command is export, its output is written to a file. The parameter exportPath
// is the path of this file.
func (w homeCommandsRun) runOxbow(
	ctx context.Context,
	home, exportPath string,
	args []string,
) (elapsedTime time.Duration, state *os.ProcessState, err error) {
	cmd := exec.CommandContext(ctx, w.oxbowPath, args...)
	cmd.Env = append(minimalEnv(os.Getenv, w.homeParentDir), "OXBOW_HOME="+home)
	var out io.WriteCloser
	if args[0] == "export" {
		out, err = os.Create(exportPath)
		if err != nil {
			return 0, nil, err
		}
		cmd.Stdout = out
	}
	from := time.Now()
	err = cmd.Run()
	elapsedTime = time.Since(from)
	if out != nil {
		err = errors.Join(err, out.Close())
	}
	return elapsedTime, cmd.ProcessState, err
}
